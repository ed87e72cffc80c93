/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - moments by which two sources are recognised to have seen the same.
 *
 * A mark is the hash of something that happens once (a run of context switches on one CPU, the text
 * of a kernel log line) and the time at which a source has it. Two sources that both saw it differ
 * in that mark's time by the difference of their clocks. Which marks are kept depends on their hash
 * alone, so two sources keep the same ones, however long either is: of all hashes those whose
 * low bits are zero, of as many bits as it takes to stay below MARKS_MAX.
 */
#ifndef KM_MARKS_H
#define KM_MARKS_H

#include "base.h"

struct case_db;

#define MARKS_MAX	4096

struct mark {
	uint64_t	hash;
	int64_t		time;		/* ns on the source's clock */
};

struct marks {
	struct mark	*v;
	size_t		n, cap;
	uint64_t	mask;		/* bits that are zero in every hash kept */
};

/* What a source saw, by the kind of thing. Owned by the case file, which frees it. */
struct source_marks {
	int64_t		source_id;
	bool		log;		/* lines of a log; else context switches */
	struct marks	m;		/* sorted by hash, each hash once */
};

/* marks_hash() - mix @x into @h (0 at first). */
static inline uint64_t marks_hash(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* marks_hash_bytes() - the same for @len bytes. */
uint64_t marks_hash_bytes(uint64_t h, const char *s, size_t len);
/* marks_add() - offer a mark. */
void marks_add(struct marks *m, uint64_t hash, int64_t time);
/* marks_deinit() - free what marks_add() grew. */
void marks_deinit(struct marks *m);
/*
 * marks_give() - hand @m over to the case file as what @source_id saw. What occurred twice is
 * dropped: it tells no moment. @m is empty afterwards.
 */
void marks_give(struct case_db *db, int64_t source_id, bool log, struct marks *m);

/* How two sources' marks compare. */
struct marks_match {
	size_t		a, b;		/* marks that could have matched: both would keep them */
	size_t		common;		/* hashes in both */
	size_t		agree;		/* of these within the tolerance of the median */
	int64_t		offset;		/* median of b's time minus a's */
	int64_t		spread;		/* largest distance from the median of those that agree */
	int64_t		low;		/* smallest difference of those that agree */
	size_t		at_once;	/* of the common ones those within the tolerance of 0 */
};

/*
 * marks_compare() - times of @b minus times of @a. @tolerance is how far from the median a
 * difference may lie to agree. Differences that do not fit into int64_t are left out.
 */
void marks_compare(struct marks_match *ret, const struct marks *a, const struct marks *b,
		   int64_t tolerance);
/* marks_within() - number of marks from @from to @to that both would keep. */
size_t marks_within(const struct marks *m, uint64_t mask, int64_t from, int64_t to);

#endif
