/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topn.h - the N longest of many, without allocating after the first: a min-heap over fixed-size
 * records whose first member is the uint64_t they are ranked by. Equal ranks keep the earlier one,
 * so results do not depend on the heap's shape.
 */
#ifndef KM_TOPN_H
#define KM_TOPN_H

#include "base.h"

struct topn {
	uint8_t		*recs;		/* n records of size bytes */
	size_t		size, n, max;
};

static inline void topn_init(struct topn *t, size_t size, size_t max)
{
	*t = (struct topn){ .size = size, .max = max };
}

static inline uint64_t topn_rank(const struct topn *t, size_t i)
{
	uint64_t v;

	memcpy(&v, t->recs + i * t->size, sizeof(v));
	return v;
}

/* topn_wants() - would a record of @rank be kept? The cheap test before building one. */
static inline bool topn_wants(const struct topn *t, uint64_t rank)
{
	return t->n < t->max || rank > topn_rank(t, 0);
}

/* topn_add() - keep a copy of @rec if it is among the N largest. O(log N). */
void topn_add(struct topn *t, const void *rec);
/* topn_sort() - largest first (the container is no heap afterwards: read only). */
void topn_sort(struct topn *t, int (*tie)(const void *, const void *));
void topn_deinit(struct topn *t);

#endif
