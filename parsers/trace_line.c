// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_line.c - one line of a text trace split; see trace_line.h. */
#include "trace_line.h"

#define COMM_MAX	15
#define COMM_COLUMN	16	/* "%16s-%-7d" */
#define ANCHOR_WITHIN	200	/* "[CPU]" is looked for in so many bytes */

/* Values of hex digits and the letters of event names, by byte. */
const uint8_t trace_chars[256] = {
	[0 ... '-' - 1] = HEX_NONE,
	['-'] = HEX_NONE | NAME_CHAR,
	['.'] = HEX_NONE | NAME_CHAR,
	['/'] = HEX_NONE,
	['0'] = NAME_CHAR | 0,
	['1'] = NAME_CHAR | 1,
	['2'] = NAME_CHAR | 2,
	['3'] = NAME_CHAR | 3,
	['4'] = NAME_CHAR | 4,
	['5'] = NAME_CHAR | 5,
	['6'] = NAME_CHAR | 6,
	['7'] = NAME_CHAR | 7,
	['8'] = NAME_CHAR | 8,
	['9'] = NAME_CHAR | 9,
	['9' + 1 ... 'A' - 1] = HEX_NONE,
	['A'] = NAME_CHAR | 10,
	['B'] = NAME_CHAR | 11,
	['C'] = NAME_CHAR | 12,
	['D'] = NAME_CHAR | 13,
	['E'] = NAME_CHAR | 14,
	['F'] = NAME_CHAR | 15,
	['G' ... 'Z'] = HEX_NONE | NAME_CHAR,
	['Z' + 1 ... '_' - 1] = HEX_NONE,
	['_'] = HEX_NONE | NAME_CHAR,
	['`'] = HEX_NONE,
	['a'] = NAME_CHAR | 10,
	['b'] = NAME_CHAR | 11,
	['c'] = NAME_CHAR | 12,
	['d'] = NAME_CHAR | 13,
	['e'] = NAME_CHAR | 14,
	['f'] = NAME_CHAR | 15,
	['g' ... 'z'] = HEX_NONE | NAME_CHAR,
	['z' + 1 ... 255] = HEX_NONE,
};

/*
 * Letters by position: irqs-off, need-resched, [lazy], hardirq/softirq, depths. Those of the
 * interrupt level occur nowhere else, and depths are digits. (kernel: trace_print_lat_fmt())
 */
uint8_t trace_flags(const char *s, size_t len)
{
	uint8_t f = EVF_KNOWN;
	size_t i;

	if (len < 3 || len > 12)
		return 0;
	switch (s[0]) {
	case 'd':
	case 'D':
		f |= EVF_IRQS_OFF;
		break;
	case '.':
	case 'b':
	case 'X':
		break;
	default:
		return 0;
	}
	switch (s[1]) {
	case 'N':
	case 'B':
		f |= EVF_NEED_RESCHED | EVF_PREEMPT_RESCHED;
		break;
	case 'n':
	case 'b':
		f |= EVF_NEED_RESCHED;
		break;
	case 'p':
		f |= EVF_PREEMPT_RESCHED;
		break;
	case '.':
	case 'L':
	case 'l':
		break;
	default:
		return 0;
	}
	for (i = 2; i < len; i++) {
		switch (s[i]) {
		case 'h':
			f |= EVF_HARDIRQ;
			break;
		case 's':
			f |= EVF_SOFTIRQ;
			break;
		case 'H':
			f |= EVF_HARDIRQ | EVF_SOFTIRQ;
			break;
		case 'z':
			f |= EVF_NMI;
			break;
		case 'Z':
			f |= EVF_NMI | EVF_HARDIRQ;
			break;
		case '.':
		case '#':
		case 'N':
		case 'L':
		case 'n':
		case 'l':
		case 'p':
			break;
		default:
			if (hex_value(s[i]) < 0)
				return 0;
		}
	}
	return f;
}

/* "SEC.FRACTION:" or "NUMBER:" */
static bool read_time(const char **p, const char *end, struct trace_line *t)
{
	static const uint32_t scale[10] = { 1000000000, 100000000, 10000000, 1000000, 100000,
					    10000, 1000, 100, 10, 1 };
	const char *s = *p, *from = s;
	uint64_t sec = 0, frac = 0;
	ptrdiff_t n;

	while (s < end && is_digit(*s))
		sec = sec * 10 + (uint64_t)(*s++ - '0');
	n = s - from;
	if (!n || n > 19 || s == end)
		return false;
	if (*s == ':') {
		t->fraction = TIME_BARE;
		t->time = sec;
		*p = s + 1;
		return true;
	}
	if (*s++ != '.' || n > 10)
		return false;
	for (from = s; s < end && is_digit(*s); s++)
		frac = frac * 10 + (uint64_t)(*s - '0');
	n = s - from;
	if (n < 3 || n > 9 || s == end || *s != ':')
		return false;
	t->fraction = (int8_t)n;
	t->time = sec * NSEC_PER_SEC + frac * scale[n];
	*p = s + 1;
	return true;
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What follows "[CPU]": blanks, flags where the recorder had them, the time, a blank or the end. */
static bool split_right(const char *p, const char *end, struct trace_line *t)
{
	skip_blanks(&p, end);
	if (p == end)
		return false;
	t->flags = 0;
	if (!is_digit(*p)) {
		const char *f = p;

		while (p < end && !is_blank(*p) && p - f < 13)
			p++;
		t->flags = trace_flags(f, (size_t)(p - f));
		if (!t->flags)
			return false;
		skip_blanks(&p, end);
	}
	if (!read_time(&p, end, t) || (p < end && *p != ' ' && *p != '\t'))
		return false;
	skip_blanks(&p, end);
	t->rest = p;
	t->rest_len = (size_t)(end - p);
	return true;
}

/* "(  143)" or "(-----)" that ends before @p; moves *p before it. */
static bool read_tgid(const char *s, const char **p, int32_t *tgid)
{
	const char *q = *p - 1;		/* at ')' */
	uint32_t n = 0, mult = 1;
	int digits = 0, dashes = 0;

	while (q > s && q[-1] != '(') {
		char c = *--q;

		if (is_digit(c) && !dashes && digits < 9) {
			n += (uint32_t)(c - '0') * mult;
			mult *= 10;
			digits++;
		} else if (c == '-' && !digits) {
			dashes++;
		} else if (c != ' ') {
			return false;
		}
	}
	if (q == s || (!digits && !dashes))
		return false;
	*tgid = digits ? (int32_t)n : -1;
	*p = q - 1;
	return true;
}

/* The comm and "-tid" that end before @p. */
static bool split_comm(const char *s, const char *p, struct trace_line *t)
{
	uint64_t tid = 0, mult = 1;
	const char *to;
	int digits = 0;

	while (p > s && is_digit(p[-1]) && digits < 10) {
		tid += (uint64_t)(*--p - '0') * mult;
		mult *= 10;
		digits++;
	}
	if (!digits || tid > INT32_MAX || p == s || *--p != '-' || p == s || p[-1] == ' ')
		return false;
	to = p;
	if (to - s > COMM_COLUMN)
		s = to - COMM_COLUMN;	/* the file's or instance's name in front */
	while (*s == ' ' || *s == '\t')
		s++;
	if (to - s > COMM_MAX)
		s = to - COMM_MAX;
	t->tid = (int32_t)tid;
	t->comm = s;
	t->comm_len = (uint8_t)(to - s);
	return true;
}

static bool split_left(const char *s, const char *p, struct trace_line *t)
{
	while (p > s && is_blank(p[-1]))
		p--;
	t->tgid = -1;
	if (p > s && p[-1] == ')') {
		const char *q = p;

		if (read_tgid(s, &q, &t->tgid)) {
			while (q > s && is_blank(q[-1]))
				q--;
			return split_comm(s, q, t);
		}
	}
	return split_comm(s, p, t);
}

bool trace_line_split(const char *s, size_t len, struct trace_line *t)
{
	const char *end = s + len, *p = s, *q;
	const char *limit = s + MIN(len, (size_t)ANCHOR_WITHIN);

	while ((p = memchr(p, '[', (size_t)(limit - p)))) {
		uint32_t cpu = 0;

		for (q = p + 1; q < end && is_digit(*q) && q - p < 6; q++)
			cpu = cpu * 10 + (uint32_t)(*q - '0');
		if (q > p + 1 && end - q > 2 && q[0] == ']' && is_blank(q[1]) && p > s &&
		    is_blank(p[-1]) && cpu < EVENT_CPU_NONE && split_right(q + 1, end, t) &&
		    split_left(s, p, t)) {
			t->cpu = (uint16_t)cpu;
			return true;
		}
		p++;
	}
	return false;
}

/* "17us", "0us+", "4us!", then " :" or ":"; returns where the number begins. */
static const char *find_us(const char *s, const char *end, const char **rest)
{
	const char *limit = s + MIN(end - s, (ptrdiff_t)100), *p = s, *q;

	while ((p = memchr(p, 'u', (size_t)(limit - p)))) {
		if (p > s && is_digit(p[-1]) && end - p > 3 && p[1] == 's') {
			q = p + 2;
			if (strchr("+!#*@$", *q))
				q++;
			while (q < end && *q == ' ')
				q++;
			if (q < end && *q == ':') {
				*rest = q + 1;
				while (p > s && is_digit(p[-1]))
					p--;
				return p;
			}
		}
		p++;
	}
	return NULL;
}

bool trace_line_split_latency(const char *s, size_t len, struct trace_line *t)
{
	const char *end = s + len, *rest, *us = find_us(s, end, &rest), *p, *q;
	uint32_t cpu = 0;
	int64_t n;

	if (!us || end - rest < 2 || *rest != ' ')
		return false;
	for (p = us; p > s && p[-1] == ' '; p--)
		;
	for (q = p; q > s && q[-1] != ' '; q--)
		;
	/* q..p is CPU and flags together */
	for (rest++; q < p && is_digit(*q) && cpu < EVENT_CPU_NONE; q++)
		cpu = cpu * 10 + (uint32_t)(*q - '0');
	t->flags = trace_flags(q, (size_t)(p - q));
	if (!t->flags || cpu >= EVENT_CPU_NONE)
		return false;
	while (q > s && is_digit(q[-1]))
		q--;
	if (!split_left(s, q, t))
		return false;
	p = us;
	if (!read_dec(&p, end, &n) || n < 0 || n > INT64_MAX / 1000)
		return false;
	t->time = (uint64_t)n * NSEC_PER_USEC;
	t->fraction = TIME_LATENCY;
	t->cpu = (uint16_t)cpu;
	skip_blanks(&rest, end);
	t->rest = rest;
	t->rest_len = (size_t)(end - rest);
	return true;
}

/* The word that ends before *@p, which moves to its begin; false when there is none. */
static bool word_before(const char *s, const char **p, const char **to)
{
	while (*p > s && is_blank((*p)[-1]))
		(*p)--;
	*to = *p;
	while (*p > s && !is_blank((*p)[-1]))
		(*p)--;
	return *p < *to;
}

static bool number_before(const char *s, const char **p, bool hex, uint64_t *v)
{
	const char *to, *from;
	int64_t n = 0;

	if (!word_before(s, p, &to) || to - *p > 16)
		return false;
	from = *p;
	if (hex)
		return read_hex(&from, to, v) && from == to;
	if (*from == '-' || !read_dec(&from, to, &n) || from != to)
		return false;
	*v = (uint64_t)n;
	return true;
}

/* enum trace_flag_type of include/linux/trace_events.h as our flags */
static uint8_t flag_bits(uint64_t bits)
{
	static const struct { uint8_t bit, flag; } map[] = {
		{ 0x01, EVF_IRQS_OFF }, { 0x04, EVF_NEED_RESCHED }, { 0x08, EVF_HARDIRQ },
		{ 0x10, EVF_SOFTIRQ }, { 0x20, EVF_PREEMPT_RESCHED }, { 0x40, EVF_NMI },
	};
	uint8_t flags = EVF_KNOWN;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(map); i++)
		if (bits & map[i].bit)
			flags |= map[i].flag;
	return flags;
}

/* What is between "[US] " and the event: "31454075.761ms (+0.015ms): ", "5 (+2): " of ticks. */
static bool skip_elapsed(const char **p, const char *end, bool *ticks)
{
	const char *s = *p, *close;
	int64_t v;

	if (!read_dec(&s, end, &v) || v < 0)
		return false;
	*ticks = s < end && *s == ' ';
	if (!*ticks) {
		if (*s++ != '.' || !read_dec(&s, end, &v) || !starts_with(s, (size_t)(end - s), "ms"))
			return false;
		s += 2;
	}
	if (!starts_with(s, (size_t)(end - s), " (+"))
		return false;
	close = memmem(s, MIN((size_t)(end - s), (size_t)40), "): ", 3);
	if (!close)
		return false;
	*p = close + 3;
	return true;
}

static bool split_verbose(const char *s, size_t len, struct trace_line *t)
{
	const char *end = s + len, *p = s, *left, *to;
	const char *limit = s + MIN(len, (size_t)ANCHOR_WITHIN);
	uint64_t stamp, v, cpu, tid, bits;
	bool ticks;

	while ((p = memchr(p, '[', (size_t)(limit - p)))) {
		left = p++;
		to = p;
		if (p == end || hex_value(*p) < 0 || !read_hex(&to, end, &stamp) || to - p < 8 ||
		    to - p > 16 || !starts_with(to, (size_t)(end - to), "] "))
			continue;
		to += 2;
		if (!skip_elapsed(&to, end, &ticks) || !number_before(s, &left, true, &v) ||
		    !number_before(s, &left, true, &v) || !number_before(s, &left, false, &bits) ||
		    !number_before(s, &left, false, &cpu) || !number_before(s, &left, false, &tid))
			continue;
		while (left > s && is_blank(left[-1]))
			left--;
		while (s < left && is_blank(*s))
			s++;
		if (left == s || cpu >= EVENT_CPU_NONE || tid > INT32_MAX ||
		    (!ticks && stamp > INT64_MAX / 1000))
			return false;
		t->comm = MAX(s, left - COMM_MAX);
		t->comm_len = (uint8_t)(left - t->comm);
		t->tid = (int32_t)tid;
		t->tgid = -1;
		t->cpu = (uint16_t)cpu;
		t->flags = flag_bits(bits);
		t->time = ticks ? stamp : stamp * NSEC_PER_USEC;
		t->fraction = ticks ? TIME_BARE : 6;
		skip_blanks(&to, end);
		t->rest = to;
		t->rest_len = (size_t)(end - to);
		return true;
	}
	return false;
}

/* "trace-cm-342     1dNh1.   213.892687: sched_stat_runtime:   comm=..." */
static bool split_report_latency(const char *s, size_t len, struct trace_line *t)
{
	const char *end = s + len, *p = s, *q, *to;
	const char *limit = s + MIN(len, (size_t)ANCHOR_WITHIN);
	uint32_t cpu = 0;

	/* the first colon behind digits and a point, and what stands before it */
	while ((p = memchr(p, ':', (size_t)(limit - p)))) {
		q = p++;
		while (q > s && (is_digit(q[-1]) || q[-1] == '.'))
			q--;
		to = q;
		if (q + 5 > p || q == s || !is_blank(q[-1]) || !memchr(q, '.', (size_t)(p - q)) ||
		    !read_time(&q, end, t) || (q < end && !is_blank(*q)))
			continue;
		skip_blanks(&q, end);
		t->rest = q;
		t->rest_len = (size_t)(end - q);
		q = to;
		if (!word_before(s, &q, &to))
			return false;
		for (; q < to && is_digit(*q) && cpu < EVENT_CPU_NONE; q++)
			cpu = cpu * 10 + (uint32_t)(*q - '0');
		t->flags = trace_flags(q, (size_t)(to - q));
		if (!t->flags || cpu >= EVENT_CPU_NONE || !is_digit(q[-1]))
			return false;
		while (q > s && is_digit(q[-1]))
			q--;
		t->cpu = (uint16_t)cpu;
		return q > s && is_blank(q[-1]) && split_left(s, q, t);
	}
	return false;
}

bool trace_line_split_wide(const char *s, size_t len, struct trace_line *t)
{
	return split_report_latency(s, len, t) || split_verbose(s, len, t);
}

size_t trace_line_name(const struct trace_line *t, const char **fields)
{
	const char *s = t->rest, *end = s + t->rest_len, *p = s;

	while (p < end && trace_chars[(uint8_t)*p] & NAME_CHAR)
		p++;
	if (p == s || p == end || *p != ':' || (p + 1 < end && p[1] != ' ' && p[1] != '\t'))
		return 0;
	*fields = p + 1;
	skip_blanks(fields, end);
	return (size_t)(p - s);
}

bool trace_lost_line(const char *s, size_t len, uint16_t *cpu, uint64_t *events)
{
	const char *p = s, *end = s + len;
	int64_t n = 0, c;

	skip_blanks(&p, end);
	if (!starts_with(p, (size_t)(end - p), "CPU:"))
		return false;
	p += 4;
	if (!read_dec(&p, end, &c) || c < 0 || c >= EVENT_CPU_NONE)
		return false;
	if (starts_with(p, (size_t)(end - p), " [LOST ")) {
		p += strlen(" [LOST ");
		if (!read_dec(&p, end, &n) || !starts_with(p, (size_t)(end - p), " EVENTS]"))
			return false;
	} else if (starts_with(p, (size_t)(end - p), " [EVENTS DROPPED]")) {
		n = 0;
	} else if (starts_with(p, (size_t)(end - p), " [")) {
		p += 2;
		if (!read_dec(&p, end, &n) || !starts_with(p, (size_t)(end - p), " EVENTS DROPPED]"))
			return false;
	} else {
		return false;
	}
	*cpu = (uint16_t)c;
	*events = n > 0 ? (uint64_t)n : 0;
	return true;
}
