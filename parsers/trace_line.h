/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_line.h - one line of a text trace split into who, where, when and what.
 *
 *   COMM-TID  [(TGID)] [CPU] [FLAGS] TIME: NAME: FIELDS	(tracefs, trace-cmd report)
 *   COMM-TID  CPUFLAGS Nus[+!*#@$]: NAME: FIELDS		(latency format)
 *   COMM-TID  CPUFLAGS TIME: NAME: FIELDS		(trace-cmd report -l)
 *   COMM TID CPU FLAGS DEPTH N [US] MSms (+MSms): NAME: FIELDS	(latency format, verbose)
 *
 * A comm may hold blanks, colons, dashes, brackets; so the split is anchored at "[CPU]" followed by
 * a time, and the tid is what stands behind the last dash before it. (kernel:
 * trace_print_context(), trace_print_lat_context() of kernel/trace/trace_output.c)
 */
#ifndef KM_TRACE_LINE_H
#define KM_TRACE_LINE_H

#include "event.h"

/* Values of trace_line.fraction that are no number of digits. */
#define TIME_BARE	-1	/* a number without a point */
#define TIME_LATENCY	-2	/* latency format: us since its start */

struct trace_line {
	const char	*comm;		/* into the line; "<...>" where the recorder did not know it */
	const char	*rest;		/* what follows "TIME: ", blanks skipped */
	uint64_t	time;		/* ns, or the bare number (ticks, or ns) */
	size_t		rest_len;
	int32_t		tid;
	int32_t		tgid;		/* -1 unknown */
	uint16_t	cpu;
	uint8_t		comm_len;	/* at most 15 */
	uint8_t		flags;		/* enum event_flag; EVF_KNOWN: the line has the column */
	int8_t		fraction;	/* digits behind the point of the time */
};

/*
 * trace_line_split() - split the @len bytes at @s; false when they are no such line. Reads nothing
 * beyond; O(len).
 */
bool trace_line_split(const char *s, size_t len, struct trace_line *t);
/* trace_line_split_latency() - the same for the latency format. */
bool trace_line_split_latency(const char *s, size_t len, struct trace_line *t);

/*
 * trace_line_split_wide() - the latency format that has the time since boot: with option verbose
 * (flags in decimal, depth, count and time in hex; ticks where the clock has no us), and trace-cmd
 * report -l.
 */
bool trace_line_split_wide(const char *s, size_t len, struct trace_line *t);

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

/* Values of hex digits (low five bits; HEX_NONE: none) and which bytes event names are made of. */
#define HEX_NONE	0x10
#define NAME_CHAR	0x80
extern const uint8_t trace_chars[256];

/*
 * Small readers: each moves *p and is true when it read something. They never pass @end. Numbers
 * too long for 64 bits wrap.
 */
static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline int hex_value(char c)
{
	uint8_t v = trace_chars[(uint8_t)c] & 0x1f;

	return v & HEX_NONE ? -1 : v;
}

/*
 * Eight lower-case hex digits at once; false when one is none. Bytes of the word are checked and
 * joined in parallel.
 */
static inline bool hex8(const char *s, uint32_t *v)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t x, letter, nib;

	memcpy(&x, s, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	letter = x >> 6 & ones;
	nib = (x & 0x0f * ones) + 9 * letter;
	if (nib + 0x30 * ones + 0x27 * letter != x || nib & 0xf0 * ones ||
	    ((nib + 6 * ones) >> 4 & ones) != letter)
		return false;
	nib = (nib | nib >> 4) & 0x00ff00ff00ff00ffULL;
	nib = (nib | nib >> 8) & 0x0000ffff0000ffffULL;
	*v = (uint32_t)(nib | nib >> 16);
	return true;
}

/* read_dec() - [-]digits */
static inline bool read_dec(const char **p, const char *end, int64_t *v)
{
	const char *s = *p;
	bool neg = s < end && *s == '-';
	uint64_t n = 0;
	const char *from;

	s += neg;
	for (from = s; s < end && is_digit(*s); s++)
		n = n * 10 + (uint64_t)(*s - '0');
	if (s == from)
		return false;
	*p = s;
	*v = (int64_t)(neg ? 0 - n : n);
	return true;
}

/* read_hex() - [0x]hex digits */
static inline bool read_hex(const char **p, const char *end, uint64_t *v)
{
	const char *s = *p, *from;
	uint64_t n = 0;
	uint32_t v8;
	int d;

	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (from = s; end - s >= 8 && hex8(s, &v8); s += 8)
		n = n << 32 | v8;
	for (; s < end && (d = hex_value(*s)) >= 0; s++)
		n = n << 4 | (uint64_t)d;
	if (s == from)
		return false;
	*p = s;
	*v = n;
	return true;
}

/* read_num() - 0x... as hex, else [-]decimal; bare hex where letters follow */
static inline bool read_num(const char **p, const char *end, uint64_t *v)
{
	const char *s = *p, *q;
	int64_t i;

	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		return read_hex(p, end, v);
	q = s;
	if (read_dec(&q, end, &i) && (q == end || hex_value(*q) < 0)) {
		*p = q;
		*v = (uint64_t)i;
		return true;
	}
	return read_hex(p, end, v);
}

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
