// SPDX-License-Identifier: GPL-2.0-or-later
/* human.c - numbers as people read them; see human.h. */
#include "human.h"

#include <math.h>
#include <time.h>

#define WALL_CLOCK_NS	1000000000000000000LL	/* 2001-09-09; 31 years as an uptime */

struct unit {
	double		size;
	const char	*name;
};

/* The unit is the largest that @v reaches after rounding to three digits. */
static char *three_digits(char buf[HUMAN_MAX], double v, const struct unit *units, size_t n)
{
	size_t i;

	for (i = n; i-- > 1;)
		if (v / units[i].size >= 0.9995)
			break;
	v /= units[i].size;
	if (!i)
		snprintf(buf, HUMAN_MAX, "%.0f %s", v, units[i].name);
	else
		snprintf(buf, HUMAN_MAX, "%.*f %s",
			 v < 9.995   ? 2
			 : v < 99.95 ? 1
				     : 0,
			 v, units[i].name);
	return buf;
}

char *human_ns(char buf[HUMAN_MAX], int64_t ns)
{
	static const struct unit small[] = {
		{ 1, "ns" }, { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" }
	};
	static const struct unit large[] = {
		{ 1e9, "s" }, { 60e9, "min" }, { 3600e9, "h" }, { 86400e9, "d" }
	};
	char *p = buf;
	double v = (double)ns;

	if (ns < 0) {
		*p++ = '-';
		v = -v;
	}
	if (v < 600e9)
		three_digits(p, v, small, ARRAY_SIZE(small));
	else
		three_digits(p, v, large, v < 7200e9 ? 2 : v < 172800e9 ? 3 : 4);
	return buf;
}

char *human_time(char buf[HUMAN_MAX], int64_t ns)
{
	int64_t us = ns / 1000, sec;
	struct tm tm;
	time_t t;
	size_t n;

	if (ns < WALL_CLOCK_NS) {
		snprintf(buf, HUMAN_MAX, "%s%" PRId64 ".%06" PRId64 " s", ns < 0 ? "-" : "",
			 us < 0 ? -(us / 1000000) : us / 1000000,
			 us < 0 ? -(us % 1000000) : us % 1000000);
		return buf;
	}
	sec = us / 1000000;
	t = (time_t)sec;
	if (!gmtime_r(&t, &tm)) {
		snprintf(buf, HUMAN_MAX, "%" PRId64 " ns", ns);
		return buf;
	}
	n = strftime(buf, HUMAN_MAX, "%Y-%m-%d %H:%M:%S", &tm);
	if (us % 1000000)
		n += (size_t)snprintf(buf + n, HUMAN_MAX - n, ".%06" PRId64, us % 1000000);
	snprintf(buf + n, HUMAN_MAX - n, " UTC");
	return buf;
}

char *human_count(char buf[HUMAN_MAX], int64_t n)
{
	char digits[24];
	char *p = buf;
	int len, i;

	len = snprintf(digits, sizeof(digits), "%" PRIu64, n < 0 ? -(uint64_t)n : (uint64_t)n);
	if (n < 0)
		*p++ = '-';
	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

char *human_bytes(char buf[HUMAN_MAX], int64_t n)
{
	static const struct unit units[] = {
		{ 1, "B" }, { 1e3, "kB" }, { 1e6, "MB" }, { 1e9, "GB" }, { 1e12, "TB" }
	};

	return three_digits(buf, n < 0 ? 0 : (double)n, units, ARRAY_SIZE(units));
}

char *human_share(char buf[HUMAN_MAX], int64_t part, int64_t whole)
{
	double pct;

	buf[0] = '\0';
	if (whole <= 0)
		return buf;
	pct = 100.0 * (double)part / (double)whole;
	if (part > 0 && pct < 0.05)
		snprintf(buf, HUMAN_MAX, "<0.1 %%");
	else if (pct < 0.05)
		snprintf(buf, HUMAN_MAX, "0 %%");
	else
		snprintf(buf, HUMAN_MAX, "%.*f %%", pct < 9.95 ? 1 : 0, pct);
	return buf;
}

char *human_percent(char buf[HUMAN_MAX], int64_t part, int64_t whole)
{
	char *blank;

	human_share(buf, part, whole);
	blank = strchr(buf, ' ');
	if (blank)
		strcpy(blank, "%");
	return buf;
}
