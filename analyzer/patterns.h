/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patterns.h - stalls whose chains have one shape, counted; and the stalls that are kept.
 *
 * Every stall above the floor is counted in its pattern by classes of duration, so that the
 * threshold, chosen at the end from those classes' bounds, selects exactly. Kept are the longest
 * STALL_ROWS stalls and the longest of each pattern.
 */
#ifndef KM_PATTERNS_H
#define KM_PATTERNS_H

#include "chain.h"

#define STALL_ROWS	1000
#define PATTERN_MAX	1024		/* further shapes are counted together */
#define STALL_CLASSES	10		/* of duration, between the bounds a threshold can have */

enum stall_kind {
	STALL_EXIT, STALL_VMM, STALL_RUNQ, STALL_BLOCKED, STALL_LATE_WAKE, STALL_RETRY,
	STALL_STORM, STALL_OPERATION
};

struct stall {
	uint64_t	start, end;
	uint64_t	named_ns, known_ns;	/* of it: cause named; state known */
	/* of named_ns: inferred throttles, which the end may not confirm */
	uint64_t	throttled_ns;
	uint64_t	pos, end_pos;		/* events at its begin and end */
	uint64_t	seq;			/* order in which stalls ended */
	uint64_t	hash;
	int64_t		row_id;
	struct exit_info info;			/* the exit that began it */
	uint32_t	task;
	uint32_t	ctx;			/* operation: HCTX of the call */
	uint32_t	pattern;
	uint32_t	refs;
	uint8_t		kind;			/* enum stall_kind */
	/* the account has holes, or the stall was not over when the recording was */
	bool		partial;
	uint32_t	n;
	struct link	links[];
};

struct stall_count {
	uint64_t	n, ns, named_ns, known_ns, throttled_ns;
};

struct pattern {
	uint64_t	hash;
	struct stall_count by_class[STALL_CLASSES];
	struct stall	*worst;
};

struct patterns {
	struct pattern	*p;
	uint32_t	n, cap;
	uint16_t	*hash;			/* open addressing: index + 1 */
	struct stall	*heap[STALL_ROWS];	/* shortest first */
	uint32_t	n_heap;
	uint64_t	bounds[STALL_CLASSES];	/* lower bound of each class */
	unsigned int	n_classes;
	uint64_t	seq;
};

/* patterns_init() - @threshold: the one that is asked for, or 0 for the adaptive one. */
void patterns_init(struct patterns *p, uint64_t threshold);
void patterns_deinit(struct patterns *p);
/* patterns_floor() - shorter stretches are not of interest. */
uint64_t patterns_floor(const struct patterns *p);
/*
 * patterns_add() - count the stall @s, whose links are those of @c, and keep a copy if it is among
 * those to keep.
 */
void patterns_add(struct patterns *p, const struct stall *s, const struct chain *c);
/*
 * patterns_threshold() - the class from which on stalls are selected, as an index into bounds: the
 * highest bound (1, 1.5, 2, 3, 4, 5, 6, 8 or 10 ms) such that the stalls of at least that length
 * hold 90 % of the time of all stalls above the floor. So a few long stalls are not buried under
 * many short ones, and where there are only short ones they are shown.
 */
unsigned int patterns_threshold(const struct patterns *p, uint64_t *threshold);

#endif
