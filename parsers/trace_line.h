/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_line.h - one line of a text trace split into who, where, when and what.
 *
 *   COMM-TID  [(TGID)] [CPU] [FLAGS] TIME: NAME: FIELDS	(tracefs, trace-cmd report)
 *   COMM-TID  CPUFLAGS Nus[+!*#@$]: NAME: FIELDS		(latency format)
 *
 * A comm may hold blanks, colons, dashes, brackets; so the split is anchored at "[CPU]" followed by a time, and the tid is what stands
 * behind the last dash before it. (kernel: trace_print_context(), trace_print_lat_context() of kernel/trace/trace_output.c)
 */
#ifndef KM_TRACE_LINE_H
#define KM_TRACE_LINE_H

#include "event.h"

struct trace_line {
	const char	*comm;		/* into the line; "<...>" where the recorder did not know it */
	const char	*rest;		/* what follows "TIME: ", blanks skipped */
	uint64_t	time;		/* ns, or the bare number where it has no fraction (ticks, or ns) */
	size_t		rest_len;
	int32_t		tid;
	int32_t		tgid;		/* -1 unknown */
	uint16_t	cpu;
	uint8_t		comm_len;	/* at most 15 */
	uint8_t		flags;		/* enum event_flag; EVF_KNOWN set when the line has the column */
	int8_t		fraction;	/* digits behind the point of the time; -1: a bare number; -2: latency format, us since its start */
};

/* trace_line_split() - split the @len bytes at @s; false when they are no such line. Reads nothing beyond; O(len). */
bool trace_line_split(const char *s, size_t len, struct trace_line *t);
/* trace_line_split_latency() - the same for the latency format. */
bool trace_line_split_latency(const char *s, size_t len, struct trace_line *t);

/* trace_flags() - flag letters ("d.h1.", "dNs4", ".......") as enum event_flag with EVF_KNOWN; 0 when it is none. */
uint8_t trace_flags(const char *s, size_t len);

/*
 * trace_line_name() - the event's name at the start of t->rest: NAME followed by ": " (or ":" at the end). Sets *fields to what
 * follows. Returns the name's length, 0 when there is none ("func <-parent", "<stack trace>", "sys_x(...)").
 */
size_t trace_line_name(const struct trace_line *t, const char **fields);

/*
 * trace_lost_line() - "CPU:1 [LOST 2157 EVENTS]" (kernel), "CPU:1 [2157 EVENTS DROPPED]" and "CPU:1 [EVENTS DROPPED]" (trace-cmd).
 * *events is 0 where the number is not told.
 */
bool trace_lost_line(const char *s, size_t len, uint16_t *cpu, uint64_t *events);

/* Small readers: each moves *p and is true when it read something. They never pass @end. */
bool read_dec(const char **p, const char *end, int64_t *v);	/* [-]digits */
bool read_hex(const char **p, const char *end, uint64_t *v);	/* [0x]hex digits */
bool read_num(const char **p, const char *end, uint64_t *v);	/* 0x... hex, else [-]decimal; bare hex when letters follow */
static inline void skip_blanks(const char **p, const char *end)
{
	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
}

static inline bool starts_with(const char *s, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && !memcmp(s, prefix, n);
}

#endif
