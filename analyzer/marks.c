// SPDX-License-Identifier: GPL-2.0-or-later
/* marks.c - moments by which sources are recognised to have seen the same; see marks.h. */
#include "marks.h"

#include "casefile.h"

uint64_t marks_hash_bytes(uint64_t h, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		h = marks_hash(h, (uint8_t)s[i]);
	return marks_hash(h, len);
}

/* Keep half of the hashes. */
static void thin(struct marks *m)
{
	size_t i, k = 0;

	m->mask = m->mask << 1 | 1;
	for (i = 0; i < m->n; i++)
		if (!(m->v[i].hash & m->mask))
			m->v[k++] = m->v[i];
	m->n = k;
}

void marks_add(struct marks *m, uint64_t hash, int64_t time)
{
	if (hash & m->mask)
		return;
	while (m->n >= MARKS_MAX && m->mask != UINT64_MAX)
		thin(m);
	if (hash & m->mask || m->n >= MARKS_MAX)
		return;
	GROW(m->v, m->cap, m->n + 1);
	m->v[m->n++] = (struct mark){ hash, time };
}

void marks_deinit(struct marks *m)
{
	free(m->v);
	memset(m, 0, sizeof(*m));
}

static int by_hash(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void sort_once(struct marks *m)
{
	size_t i, j, k = 0;

	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), by_hash);
	for (i = 0; i < m->n; i = j) {
		for (j = i + 1; j < m->n && m->v[j].hash == m->v[i].hash; j++)
			;
		if (j == i + 1)
			m->v[k++] = m->v[i];
	}
	m->n = k;
}

void marks_give(struct case_db *db, int64_t source_id, bool log, struct marks *m)
{
	sort_once(m);
	if (m->n) {
		GROW(db->marks, db->cap_marks, db->n_marks + 1);
		db->marks[db->n_marks++] = (struct source_marks){ source_id, log, *m };
	} else {
		free(m->v);
	}
	memset(m, 0, sizeof(*m));
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d) || d == INT64_MIN)
		return INT64_MAX;
	return d < 0 ? -d : d;
}

void marks_compare(struct marks_match *ret, const struct marks *a, const struct marks *b,
		   int64_t tolerance)
{
	_cleanup_free_ int64_t *diff = xcalloc(MIN(a->n, b->n) + 1, sizeof(*diff));
	uint64_t mask = a->mask | b->mask;
	size_t i = 0, j = 0, n = 0, k;

	memset(ret, 0, sizeof(*ret));
	while (i < a->n && j < b->n) {
		if (a->v[i].hash < b->v[j].hash)
			i++;
		else if (a->v[i].hash > b->v[j].hash)
			j++;
		else if (!__builtin_sub_overflow(b->v[j++].time, a->v[i++].time, &diff[n]))
			n++;
	}
	ret->a = marks_within(a, mask, INT64_MIN, INT64_MAX);
	ret->b = marks_within(b, mask, INT64_MIN, INT64_MAX);
	ret->common = n;
	if (!n)
		return;
	qsort(diff, n, sizeof(*diff), by_value);
	ret->offset = diff[n / 2];
	ret->low = ret->offset;
	for (k = 0; k < n; k++) {
		int64_t d = distance(diff[k], ret->offset);

		ret->at_once += distance(diff[k], 0) <= tolerance;
		if (d > tolerance)
			continue;
		ret->agree++;
		ret->spread = MAX(ret->spread, d);
		ret->low = MIN(ret->low, diff[k]);
	}
}

size_t marks_within(const struct marks *m, uint64_t mask, int64_t from, int64_t to)
{
	size_t i, n = 0;

	for (i = 0; i < m->n; i++)
		n += !(m->v[i].hash & mask) && m->v[i].time >= from && m->v[i].time <= to;
	return n;
}
