// SPDX-License-Identifier: GPL-2.0-or-later
/* timespec.c - times and sizes on the command line; see options.h. */
#include "options.h"

#include <time.h>

#define SECONDS_MAX	9000000000LL	/* in ns this stays inside int64_t */

/* Digits at *p (at least @min, at most @max) as a number. */
static bool digits(const char **p, const char *end, int min, int max, int64_t *ret)
{
	int64_t v = 0;
	int n = 0;

	while (*p < end && **p >= '0' && **p <= '9' && n < max) {
		v = v * 10 + (**p - '0');
		(*p)++;
		n++;
	}
	*ret = v;
	return n >= min;
}

/* ".678": a fraction of a second in ns; digits beyond the ninth are read and dropped. */
static bool fraction(const char **p, const char *end, int64_t *ns)
{
	int64_t unit = 100000000;

	*ns = 0;
	if (*p >= end || **p != '.')
		return true;
	(*p)++;
	if (*p >= end || **p < '0' || **p > '9')
		return false;
	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		*ns += (**p - '0') * unit;
		unit /= 10;
	}
	return true;
}

static bool seconds(const char *p, const char *end, int64_t *ns)
{
	int64_t s, f;

	if (!digits(&p, end, 1, 10, &s) || !fraction(&p, end, &f) || p != end || s > SECONDS_MAX)
		return false;
	*ns = s * (int64_t)NSEC_PER_SEC + f;
	return true;
}

static bool literal(const char **p, const char *end, char a, char b)
{
	if (*p >= end || (**p != a && **p != b))
		return false;
	(*p)++;
	return true;
}

static bool zone(const char **p, const char *end, int64_t *offset_s)
{
	int64_t h, m = 0;
	int sign;

	*offset_s = 0;
	if (*p == end || literal(p, end, 'Z', 'z'))
		return true;
	if (**p != '+' && **p != '-')
		return false;
	sign = *(*p)++ == '-' ? -1 : 1;
	if (!digits(p, end, 2, 2, &h))
		return false;
	literal(p, end, ':', ':');
	if (*p < end && !digits(p, end, 2, 2, &m))
		return false;
	*offset_s = sign * (h * 3600 + m * 60);
	return h <= 14 && m < 60;
}

/* RFC 3339, with a blank allowed for the T. */
static bool wall_clock(const char *p, const char *end, int64_t *ns)
{
	int64_t y, mo, d, h, mi, s = 0, f, off;
	struct tm tm = { 0 };

	if (!digits(&p, end, 4, 4, &y) || !literal(&p, end, '-', '-') ||
	    !digits(&p, end, 2, 2, &mo) || !literal(&p, end, '-', '-') ||
	    !digits(&p, end, 2, 2, &d) || !literal(&p, end, 'T', ' ') ||
	    !digits(&p, end, 2, 2, &h) || !literal(&p, end, ':', ':') ||
	    !digits(&p, end, 2, 2, &mi))
		return false;
	if (literal(&p, end, ':', ':') && !digits(&p, end, 2, 2, &s))
		return false;
	if (!fraction(&p, end, &f) || !zone(&p, end, &off) || p != end)
		return false;
	if (y < 1970 || y > 2200 || mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 ||
	    s > 60)
		return false;
	tm.tm_year = (int)y - 1900;
	tm.tm_mon = (int)mo - 1;
	tm.tm_mday = (int)d;
	tm.tm_hour = (int)h;
	tm.tm_min = (int)mi;
	tm.tm_sec = (int)s;
	*ns = ((int64_t)timegm(&tm) - off) * (int64_t)NSEC_PER_SEC + f;
	return true;
}

struct error *time_spec_parse(struct time_spec *t, const char *s, size_t len)
{
	const char *end = s + len;

	memset(t, 0, sizeof(*t));
	if (!len)
		return NULL;
	if (*s == '+' && seconds(s + 1, end, &t->ns))
		t->kind = TIME_SPEC_RELATIVE;
	else if (seconds(s, end, &t->ns))
		t->kind = TIME_SPEC_ABSOLUTE;
	else if (wall_clock(s, end, &t->ns))
		t->kind = TIME_SPEC_WALL;
	else
		return error_new(ERR_USAGE, "not a time: '%.*s' (12345.678, +1.5 or 2024-01-04T10:33:10+01:00)",
				 (int)MIN(len, (size_t)80), s);
	return NULL;
}

struct error *time_window_parse(struct time_spec *from, struct time_spec *to, const char *s)
{
	const char *comma = strchr(s, ',');

	if (!comma || (comma == s && !comma[1]))
		return error_new(ERR_USAGE, "--time needs FROM,TO (either may be left out): '%.80s'", s);
	TRY(time_spec_parse(from, s, (size_t)(comma - s)));
	TRY(time_spec_parse(to, comma + 1, strlen(comma + 1)));
	if (from->kind == to->kind && from->kind != TIME_SPEC_NONE && from->ns > to->ns)
		return error_new(ERR_USAGE, "--time ends before it begins: '%.80s'", s);
	return NULL;
}

static struct error *apply(const struct time_spec *t, const struct source_desc *desc, uint64_t *ns,
			   bool *rel, bool *has)
{
	bool wall = desc->clock && !strcmp(desc->clock, "wall");

	*has = t->kind != TIME_SPEC_NONE;
	*rel = t->kind == TIME_SPEC_RELATIVE;
	*ns = (uint64_t)t->ns;
	if (t->kind != TIME_SPEC_WALL || wall)
		return NULL;
	if (desc->has_clock_offset) {
		/* Before the clock's own zero: at its zero. */
		*ns = t->ns > desc->clock_offset_ns
			      ? (uint64_t)t->ns - (uint64_t)desc->clock_offset_ns
			      : 0;
		return NULL;
	}
	return error_new(ERR_INPUT, "--time: no wall clock is known for this recording (its clock: %s); give seconds of "
			 "its own clock, or +seconds since its first event", desc->clock ? desc->clock : "unknown");
}

struct error *time_window_apply(struct stream_time *ret, const char *s,
				const struct source_desc *desc)
{
	struct time_spec from = { 0 }, to = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (!s)
		return NULL;
	TRY(time_window_parse(&from, &to, s));
	TRY(apply(&from, desc, &ret->from_ns, &ret->from_rel, &ret->has_from));
	TRY(apply(&to, desc, &ret->to_ns, &ret->to_rel, &ret->has_to));
	ret->set = true;
	return NULL;
}

struct error *size_parse(uint64_t *ret, const char *s, const char *option)
{
	static const char units[] = "KMGT";
	char *end = (char *)s;
	double v;
	const char *u;
	unsigned int shift = 0;

	errno = 0;
	v = *s >= '0' && *s <= '9' ? strtod(s, &end) : -1;
	if (v < 0 || errno)
		goto bad;
	u = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
	if (u && *u) {
		shift = 10 * (unsigned int)(u - units + 1);
		end++;
		if (!strcmp(end, "iB") || !strcmp(end, "B"))
			end += strlen(end);
	}
	if (*end || v * (double)(1ULL << shift) >= 9e18)
		goto bad;
	*ret = (uint64_t)(v * (double)(1ULL << shift));
	return NULL;
bad:
	return error_new(ERR_USAGE, "%s needs a size such as 512M or 2G: '%.80s'", option, s);
}
