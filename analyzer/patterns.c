// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patterns.c - counting stalls by the shape of their chains, and keeping the ones that matter; see
 * patterns.h.
 */
#include "patterns.h"

#define HASH_SIZE	(4 * PATTERN_MAX)	/* a power of two */

void patterns_init(struct patterns *p, uint64_t threshold)
{
	static const uint64_t bounds_us[] = {
		1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 10000
	};
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->hash = xcalloc(HASH_SIZE, sizeof(*p->hash));
	if (threshold) {
		p->bounds[p->n_classes++] = threshold;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(bounds_us); i++)
		p->bounds[p->n_classes++] = bounds_us[i] * NSEC_PER_USEC;
}

static void put(struct stall *s)
{
	if (s && !--s->refs)
		free(s);
}

void patterns_deinit(struct patterns *p)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		put(p->p[i].worst);
	for (i = 0; i < p->n_heap; i++)
		put(p->heap[i]);
	free(p->p);
	free(p->hash);
}

uint64_t patterns_floor(const struct patterns *p)
{
	return p->bounds[0];
}

/*
 * Index of the pattern with @hash, made when new; the last one takes all shapes beyond PATTERN_MAX.
 */
static uint32_t pattern_of(struct patterns *p, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> 32) & (HASH_SIZE - 1);

	for (; p->hash[at]; at = (at + 1) & (HASH_SIZE - 1))
		if (p->p[p->hash[at] - 1].hash == hash)
			return p->hash[at] - 1u;
	if (p->n == PATTERN_MAX)
		return PATTERN_MAX - 1;
	GROW(p->p, p->cap, p->n + 1);
	memset(&p->p[p->n], 0, sizeof(p->p[p->n]));
	p->p[p->n].hash = hash;
	p->hash[at] = (uint16_t)(p->n + 1);
	return p->n++;
}

static uint64_t length(const struct stall *s)
{
	return s->end - s->start;
}

/* Longer first; of equal ones the earlier. */
static bool shorter(const struct stall *a, const struct stall *b)
{
	return length(a) < length(b) || (length(a) == length(b) && a->seq > b->seq);
}

static void sift(struct patterns *p, uint32_t i)
{
	for (;;) {
		uint32_t l = 2 * i + 1, m = i;
		struct stall *s;

		if (l < p->n_heap && shorter(p->heap[l], p->heap[m]))
			m = l;
		if (l + 1 < p->n_heap && shorter(p->heap[l + 1], p->heap[m]))
			m = l + 1;
		if (m == i)
			return;
		s = p->heap[i];
		p->heap[i] = p->heap[m];
		p->heap[m] = s;
		i = m;
	}
}

static void keep(struct patterns *p, struct stall *s)
{
	uint32_t i;

	s->refs++;
	if (p->n_heap == STALL_ROWS) {
		put(p->heap[0]);
		p->heap[0] = s;
		sift(p, 0);
		return;
	}
	p->heap[p->n_heap] = s;
	for (i = p->n_heap++; i && shorter(p->heap[i], p->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		struct stall *t = p->heap[i];

		p->heap[i] = p->heap[(i - 1) / 2];
		p->heap[(i - 1) / 2] = t;
	}
}

void patterns_add(struct patterns *p, const struct stall *s, const struct chain *c)
{
	uint32_t at = pattern_of(p, s->hash);
	struct pattern *pat = &p->p[at];
	uint64_t ns = length(s), seq = p->seq++;
	unsigned int class = 0;
	bool longest, worst;
	struct stall *copy;

	while (class + 1 < p->n_classes && ns >= p->bounds[class + 1])
		class++;
	pat->by_class[class].n++;
	pat->by_class[class].ns += ns;
	pat->by_class[class].named_ns += s->named_ns;
	pat->by_class[class].known_ns += s->known_ns;
	pat->by_class[class].throttled_ns += s->throttled_ns;
	worst = !pat->worst || ns > length(pat->worst);
	longest = p->n_heap < STALL_ROWS || ns > length(p->heap[0]);
	if (!worst && !longest)
		return;
	copy = xmalloc(sizeof(*copy) + c->n * sizeof(*c->links));
	*copy = *s;
	copy->seq = seq;
	copy->pattern = at;
	copy->refs = 0;
	copy->n = c->n;
	memcpy(copy->links, c->links, c->n * sizeof(*c->links));
	if (worst) {
		put(pat->worst);
		pat->worst = copy;
		copy->refs++;
	}
	if (longest)
		keep(p, copy);
}

unsigned int patterns_threshold(const struct patterns *p, uint64_t *threshold)
{
	uint64_t by_class[STALL_CLASSES] = { 0 }, total = 0, above = 0;
	unsigned int class;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		for (class = 0; class < p->n_classes; class++)
			by_class[class] += p->p[i].by_class[class].ns;
	for (class = 0; class < p->n_classes; class++)
		total += by_class[class];
	for (class = p->n_classes; class--; ) {
		above += by_class[class];
		if (!class || above / 9 * 10 >= total)
			break;
	}
	*threshold = p->bounds[class];
	return class;
}
