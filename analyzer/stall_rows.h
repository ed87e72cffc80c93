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

/*
 * stall_rows_write() - tables stall, chain_link, pattern, stall_total, histogram ('stall') and
 * episode of this source.
 */
struct error *stall_rows_write(struct engine *e, struct patterns *p,
			       const struct stall_histogram *h);
/*
 * retry_stalls_write() - retry loops (table retry_loop) of at least @threshold ns as stalls of kind
 * retry-loop with one link and a pattern per exit reason, counted into @c. Only loops whose page is
 * known: without kvm_page_fault the same rip may well fault on one page after another. The exits
 * inside a loop are hardly ever long, but where they are, they are stalls of their own too.
 */
struct error *retry_stalls_write(struct engine *e, uint64_t threshold, struct stall_count *c);
/*
 * storms_write() - storms of exits as stalls of kind exit-storm with one link and a pattern each,
 * counted into @c: bins (17 ms at least) in which a vCPU exits at least 20,000 times a second and
 * eight times as often as the median of its VM's bins with exits, with half of the time or more in
 * their handling. Halts do not count.
 */
struct error *storms_write(struct engine *e, struct stall_count *c);
/*
 * episodes_write() - table episode from the @n stalls of the source that became rows, and their
 * episode_id.
 */
struct error *episodes_write(struct engine *e, struct stall **list, size_t n);

#endif
