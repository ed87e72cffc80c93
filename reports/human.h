/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * human.h - numbers as people read them: durations with three digits, times of a trace, counts,
 * sizes.
 */
#ifndef KM_HUMAN_H
#define KM_HUMAN_H

#include "base.h"

#define HUMAN_MAX	40	/* enough for every function here */

/*
 * human_ns() - a duration with three significant digits: "0 ns", "999 ns", "64.5 us", "256 ms",
 * "1.33 s", "17.3 min", "26.0 h", "3.10 d".
 */
char *human_ns(char buf[HUMAN_MAX], int64_t ns);
/*
 * human_time() - a point of time: seconds with microseconds as trace tools print them ("21.593569
 * s"); a wall clock (later than 2001, as no uptime is) as "2024-01-04 09:31:22.922522 UTC", whole
 * seconds without the zeros.
 */
char *human_time(char buf[HUMAN_MAX], int64_t ns);
/* human_count() - with a comma between groups of three digits. */
char *human_count(char buf[HUMAN_MAX], int64_t n);
/* human_bytes() - "512 B", "4.59 MB" (powers of 1000). */
char *human_bytes(char buf[HUMAN_MAX], int64_t n);
/*
 * human_share() - @part of @whole in percent: "0 %", "<0.1 %", "0.4 %", "41 %"; "" where @whole is
 * 0.
 */
char *human_share(char buf[HUMAN_MAX], int64_t part, int64_t whole);
/* human_percent() - the same without the blank, for narrow tables: "41%". */
char *human_percent(char buf[HUMAN_MAX], int64_t part, int64_t whole);

#endif
