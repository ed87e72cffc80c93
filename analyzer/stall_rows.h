/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stall_rows.h - stalls, chains, patterns, their totals and episodes as rows of the case file. */
#ifndef KM_STALL_ROWS_H
#define KM_STALL_ROWS_H

#include "patterns.h"

#define STALL_HIST_BINS	64

/* Durations of all stalls above the floor, by powers of two. */
struct stall_histogram {
	uint64_t	count[STALL_HIST_BINS];
};

static inline void stall_histogram_add(struct stall_histogram *h, uint64_t ns)
{
	h->count[ns ? 63 - __builtin_clzll(ns) : 0]++;
}

/* stall_rows_write() - tables stall, chain_link, pattern, stall_total, histogram ('stall') and episode of this source. */
struct error *stall_rows_write(struct engine *e, struct patterns *p, const struct stall_histogram *h);
/* episodes_write() - table episode from the @n stalls of the source that became rows, and their episode_id. */
struct error *episodes_write(struct engine *e, struct stall **list, size_t n);

#endif
