// SPDX-License-Identifier: GPL-2.0-or-later
/* topn.c - the N longest of many; see topn.h. */
#include "topn.h"

static void swap_recs(struct topn *t, size_t a, size_t b)
{
	uint8_t *x = t->recs + a * t->size, *y = t->recs + b * t->size;
	size_t i;

	for (i = 0; i < t->size; i++) {
		uint8_t c = x[i];

		x[i] = y[i];
		y[i] = c;
	}
}

static void sift_down(struct topn *t, size_t i)
{
	for (;;) {
		size_t l = 2 * i + 1, least = i;

		if (l < t->n && topn_rank(t, l) < topn_rank(t, least))
			least = l;
		if (l + 1 < t->n && topn_rank(t, l + 1) < topn_rank(t, least))
			least = l + 1;
		if (least == i)
			return;
		swap_recs(t, i, least);
		i = least;
	}
}

void topn_add(struct topn *t, const void *rec)
{
	uint64_t rank;
	size_t i;

	memcpy(&rank, rec, sizeof(rank));
	if (!t->max || !topn_wants(t, rank))
		return;
	if (!t->recs)
		t->recs = xmalloc(t->max * t->size);
	if (t->n == t->max) {
		memcpy(t->recs, rec, t->size);
		sift_down(t, 0);
		return;
	}
	i = t->n++;
	memcpy(t->recs + i * t->size, rec, t->size);
	while (i && topn_rank(t, i) < topn_rank(t, (i - 1) / 2)) {
		swap_recs(t, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static int by_rank(const void *a, const void *b, void *arg)
{
	int (*tie)(const void *, const void *) = *(int (**)(const void *, const void *))arg;
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	if (x != y)
		return x < y ? 1 : -1;
	return tie ? tie(a, b) : 0;
}

void topn_sort(struct topn *t, int (*tie)(const void *, const void *))
{
	if (t->n)
		qsort_r(t->recs, t->n, t->size, by_rank, &tie);
}

void topn_deinit(struct topn *t)
{
	free(t->recs);
	memset(t, 0, sizeof(*t));
}
