// SPDX-License-Identifier: GPL-2.0-or-later
/* perf_script_line.c - one line of `perf script` split; see perf_script_line.h. */
#include "perf_script_line.h"

#include "trace_line.h"

#define COMM_MAX	15
#define TIME_WITHIN	200	/* the time is looked for in so many bytes */
#define EVENT_MAX	120

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "SEC.FRACTION:" that ends at the colon @colon; returns where it begins. */
static const char *time_before(const char *s, const char *colon, struct perf_script_line *l)
{
	const char *p = colon, *dot;
	uint64_t sec = 0, frac = 0;

	while (p > s && is_digit(p[-1]) && colon - p < 10)
		p--;
	if ((colon - p != 6 && colon - p != 9) || p - s < 2 || p[-1] != '.')
		return NULL;
	dot = p - 1;
	for (; p < colon; p++)
		frac = frac * 10 + (uint64_t)(*p - '0');
	l->decimals = (uint8_t)(colon - dot - 1);
	for (p = dot; p > s && is_digit(p[-1]) && dot - p < 11; p--)
		;
	if (p == dot || dot - p > 10 || (p > s && !blank(p[-1])))
		return NULL;
	for (colon = p; colon < dot; colon++)
		sec = sec * 10 + (uint64_t)(*colon - '0');
	l->time = sec * NSEC_PER_SEC + frac * (l->decimals == 6 ? 1000 : 1);
	return p;
}

/* Letters of a sample's mode, "K", "G", "Cp" ..., padded to six columns. */
static const char *skip_misc(const char *s, const char *end)
{
	const char *p = end;

	while (p > s && strchr("KUHGgMESFDdpC", p[-1]) && end - p < 6)
		p--;
	if (p == end || p == s || !blank(p[-1]))
		return end;
	while (p > s && blank(p[-1]))
		p--;
	return p > s && (p[-1] == ']' || is_digit(p[-1])) ? p : end;
}

/* "[003]" before @end */
static const char *skip_cpu(const char *s, const char *end, uint16_t *cpu)
{
	const char *p = end;
	uint32_t n = 0, scale = 1;

	*cpu = EVENT_CPU_NONE;
	if (end - s < 3 || end[-1] != ']')
		return end;
	for (p = end - 1; p > s && is_digit(p[-1]) && end - p < 6; p--) {
		n += (uint32_t)(p[-1] - '0') * scale;
		scale *= 10;
	}
	if (p == end - 1 || p == s || p[-1] != '[' || (p - 1 > s && !blank(p[-2])) ||
	    n >= EVENT_CPU_NONE)
		return end;
	*cpu = (uint16_t)n;
	for (p--; p > s && blank(p[-1]); p--)
		;
	return p;
}

/* "TID", "PID/TID" or "-1", the last word before @end. */
static const char *skip_ids(const char *s, const char *end, struct perf_script_line *l)
{
	const char *p = end, *q;
	int64_t v;

	l->pid = l->tid = -1;
	while (p > s && !blank(p[-1]) && end - p < 24)
		p--;
	if (p == end || (p > s && !blank(p[-1])))
		return end;
	q = p;
	if (!read_dec(&q, end, &v) || v > INT32_MAX || v < -1)
		return end;
	if (q == end) {
		l->tid = (int32_t)v;
	} else if (*q == '/') {
		l->pid = (int32_t)v;
		q++;
		if (!read_dec(&q, end, &v) || q != end || v > INT32_MAX || v < -1) {
			l->pid = -1;
			return end;
		}
		l->tid = (int32_t)v;
	} else {
		return end;
	}
	while (p > s && blank(p[-1]))
		p--;
	return p;
}

/* --Latency cuts the comm to eight bytes and prints the CPU bare: "CPU 0/KV   169   0". */
static const char *skip_latency(const char *s, const char *end, struct perf_script_line *l)
{
	struct perf_script_line t;
	const char *p = skip_ids(s, end, &t);

	if (p == end || p == s || p - s > 8 || t.pid >= 0 || l->tid < 0 || l->tid > 999)
		return end;
	l->latency = true;
	l->cpu = (uint16_t)l->tid;
	l->tid = t.tid;
	return p;
}

static bool split_left(const char *s, const char *end, struct perf_script_line *l)
{
	while (end > s && blank(end[-1]))
		end--;
	end = skip_misc(s, end);
	end = skip_cpu(s, end, &l->cpu);
	end = skip_ids(s, end, l);
	while (s < end && blank(*s))
		s++;
	l->latency = false;
	if (l->cpu == EVENT_CPU_NONE && l->pid < 0)
		end = skip_latency(s, end, l);
	if (l->tid < 0 && l->cpu == EVENT_CPU_NONE && s < end)
		return false;	/* words and a time: anything */
	l->comm_len = MIN((size_t)(end - s), (size_t)COMM_MAX);
	l->comm = l->comm_len && *s != ':' && !(l->latency && l->comm_len == 8) ? s : NULL;
	return true;
}

/* A tracepoint's "SYSTEM:NAME", and not the modifiers of a counter, "cycles:ppp". */
static size_t system_of(const char *s, size_t len)
{
	const char *colon = memchr(s, ':', len), *p;
	bool plain = false;

	if (!colon || colon == s)
		return 0;
	for (p = s; p < colon; p++)
		if (!(trace_chars[(uint8_t)*p] & NAME_CHAR))
			return 0;
	for (p = colon + 1; p < s + len; p++) {
		if (!(trace_chars[(uint8_t)*p] & NAME_CHAR) && *p != ':')
			return 0;
		plain |= !strchr("ukhGHpPSDIWeb:", *p);
	}
	return plain ? (size_t)(colon - s) : 0;
}

static bool split_right(const char *p, const char *end, struct perf_script_line *l)
{
	const char *name, *q;
	int64_t period;

	skip_blanks(&p, end);
	l->period = 0;
	l->event = l->text = p;
	l->event_len = l->system_len = 0;
	l->text_len = (size_t)(end - p);
	if (starts_with(p, l->text_len, "PERF_RECORD_"))
		return true;
	q = p;
	if (read_dec(&q, end, &period) && q < end && blank(*q) && period >= 0) {
		l->period = (uint64_t)period;
		p = q;
		skip_blanks(&p, end);
	}
	for (name = p; p < end && !blank(*p); p++)
		;
	if (p - name < 2 || p - name > EVENT_MAX || p[-1] != ':' || is_digit(*name) ||
	    *name == '(' || *name == '[')
		return false;
	l->event = name;
	l->event_len = (size_t)(p - 1 - name);
	l->system_len = system_of(name, l->event_len);
	skip_blanks(&p, end);
	l->text = p;
	l->text_len = (size_t)(end - p);
	return true;
}

bool perf_script_split(const char *s, size_t len, struct perf_script_line *l)
{
	const char *end = s + len, *limit = s + MIN(len, (size_t)TIME_WITHIN), *p = s, *from;

	while ((p = memchr(p, ':', (size_t)(limit - p)))) {
		if ((p + 1 == end || blank(p[1])) && p - s >= 8 && is_digit(p[-1])) {
			from = time_before(s, p, l);
			if (from)
				return split_right(p + 1, end, l) && split_left(s, from, l);
		}
		p++;
	}
	return false;
}

/* "250000 " before @end, behind a TID or CPU: the period. */
static const char *skip_period(const char *s, const char *end, struct perf_script_line *l)
{
	const char *p = end, *left;
	uint16_t cpu;

	while (p > s && is_digit(p[-1]) && end - p < 19)
		p--;
	if (p == end || p == s || !blank(p[-1]))
		return end;
	for (left = p; left > s && blank(left[-1]); left--)
		;
	if (skip_cpu(s, left, &cpu) == left && skip_ids(s, left, l) == left)
		return end;
	l->period = strtoull(p, NULL, 10);
	return left;
}

bool perf_script_split_untimed(const char *s, size_t len, struct perf_script_line *l)
{
	const char *end = s + len, *limit = s + MIN(len, (size_t)TIME_WITHIN), *p = s, *name, *left;

	for (; (p = memchr(p, ':', (size_t)(limit - p))); p++) {
		if (p + 1 < end && !blank(p[1]))
			continue;
		for (name = p; name > s && !blank(name[-1]); name--)
			;
		for (left = name; left > s && blank(left[-1]); left--)
			;
		*l = (struct perf_script_line){ 0 };
		if (hex_value(*name) >= 0 && p - name < 4)	/* an address, a time of day */
			return false;
		if (!split_right(name, end, l) || !l->event_len)
			continue;
		left = skip_period(s, left, l);
		while (s < left && blank(*s))
			s++;
		if (left == s) {
			l->pid = l->tid = -1;
			l->cpu = EVENT_CPU_NONE;
			return true;
		}
		return split_left(s, left, l) && !l->latency;
	}
	return false;
}

bool perf_script_frame(const char *s, size_t n, uint64_t *ip, const char **name, size_t *len)
{
	const char *p = s, *end = s + n, *from, *to, *q;

	while (end > p && (blank(end[-1]) || end[-1] == '\r'))
		end--;
	skip_blanks(&p, end);
	if (p == end || hex_value(*p) < 0)
		return false;
	from = p;
	if (!read_hex(&p, end, ip) || p - from > 18)
		return false;
	/* frames are indented; some forms and trackers eat that, but leave "ADDRESS SYMBOL (DSO)" */
	if (from == s && (p - from < 6 || p == end || end[-1] != ')'))
		return false;
	*name = p;
	*len = 0;
	if (p == end)
		return true;
	if (!blank(*p))
		return false;
	skip_blanks(&p, end);
	if (*p == '(')		/* no symbols asked for */
		return end[-1] == ')';
	for (to = p; to < end && !(blank(*to) && end - to > 1 && to[1] == '('); to++)
		;
	/* "native_safe_halt+0xb"; C++ names have blanks and parentheses */
	for (q = to; q > p && q[-1] != '+'; q--)
		;
	if (q > p && starts_with(q, (size_t)(to - q), "0x"))
		to = q - 1;
	if (!starts_with(p, (size_t)(end - p), "[unknown]")) {
		*name = p;
		*len = (size_t)(to - p);
	}
	return true;
}
