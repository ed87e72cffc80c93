/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_script_line.h - one line of `perf script` split, whatever fields were asked for (-F), as
 * long as time and event are among them.
 *
 *   COMM  [PID/]TID  [[CPU]]  [MISC]  TIME: [PERIOD] EVENT: TEXT
 *   COMM8 TID CPU TIME: EVENT: TEXT			(--Latency)
 *
 * A comm may hold blanks, colons, slashes and digits; so the split is anchored at the time, a
 * number with six or nine decimals and a colon. (perf: perf_sample__fprintf_start() and
 * process_event() of tools/perf/builtin-script.c.)
 */
#ifndef KM_PERF_SCRIPT_LINE_H
#define KM_PERF_SCRIPT_LINE_H

#include "event.h"

struct perf_script_line {
	const char	*comm;		/* NULL where not printed, or not known to perf (":123") */
	size_t		comm_len;	/* at most 15 */
	int32_t		pid, tid;	/* -1 not printed */
	uint16_t	cpu;		/* EVENT_CPU_NONE not printed */
	uint8_t		decimals;	/* of the time: 6 or 9 */
	/* --Latency's columns: a comm of eight bytes may be cut and is not told */
	bool		latency;
	uint64_t	time;		/* ns */
	uint64_t	period;		/* 0 not printed */
	const char	*event;		/* "kvm:kvm_exit", "cpu-clock", "cycles:ppp" */
	size_t		event_len;	/* 0: a side-band record stands in @text */
	/* of the part before a tracepoint's colon; 0 for other events */
	size_t		system_len;
	const char	*text;		/* what follows "EVENT: ", blanks skipped */
	size_t		text_len;
};

/*
 * perf_script_split() - split the @len bytes at @s; false when they are no such line. Reads nothing
 * beyond.
 */
bool perf_script_split(const char *s, size_t len, struct perf_script_line *l);

/*
 * perf_script_split_untimed() - the same of a line without a time (-F without time; perf before 3.3
 * by default): "COMM [PID/]TID [[CPU]] [PERIOD] EVENT:". A word that ends in a colon must stand
 * behind a TID or a CPU, or alone at the line's head. @time and @decimals are 0.
 */
bool perf_script_split_untimed(const char *s, size_t len, struct perf_script_line *l);

/*
 * perf_script_frame() - is this a line of a call chain, "HEX [SYMBOL[+0xOFF]] (DSO)"? Sets the
 * address and the symbol's name (*len 0 when unknown).
 */
bool perf_script_frame(const char *s, size_t n, uint64_t *ip, const char **name, size_t *len);

#endif
