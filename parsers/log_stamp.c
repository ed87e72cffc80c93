// SPDX-License-Identifier: GPL-2.0-or-later
/* log_stamp.c - the forms in which kernel log lines come; see log_stamp.h. */
#include "log_stamp.h"

#define MAX_BOOT_NS	(1000000000LL * (int64_t)NSEC_PER_SEC)	/* larger: a date, as ping -D's */

/*
 * Abbreviated months as `dmesg -T` and journalctl write them: strftime's %b in English, German,
 * French, Spanish, Italian, Portuguese, Dutch; older glibc has no full stops. A full stop behind
 * any of them is skipped. Where one name begins with another, the longer one is first.
 */
static const struct { const char *name; int64_t month; } months[] = {
	{ "Jan", 1 }, { "Feb", 2 }, { "Mar", 3 }, { "Apr", 4 }, { "May", 5 }, { "Jun", 6 },
	{ "Jul", 7 }, { "Aug", 8 }, { "Sep", 9 }, { "Oct", 10 }, { "Nov", 11 }, { "Dec", 12 },
	{ "Mär", 3 }, { "Mai", 5 }, { "Okt", 10 }, { "Dez", 12 },
	{ "janv", 1 }, { "févr", 2 }, { "mars", 3 }, { "avril", 4 }, { "avr", 4 }, { "mai", 5 }, { "juin", 6 },
	{ "juil", 7 }, { "août", 8 }, { "sept", 9 }, { "oct", 10 }, { "nov", 11 }, { "déc", 12 },
	{ "ene", 1 }, { "feb", 2 }, { "mar", 3 }, { "abr", 4 }, { "may", 5 }, { "jun", 6 }, { "jul", 7 }, { "ago", 8 }, { "sep", 9 },
	{ "dic", 12 }, { "gen", 1 }, { "apr", 4 }, { "mag", 5 }, { "giu", 6 }, { "lug", 7 }, { "set", 9 }, { "ott", 10 },
	{ "jan", 1 }, { "fev", 2 }, { "out", 10 }, { "dez", 12 }, { "mrt", 3 }, { "mei", 5 }, { "aug", 8 }, { "okt", 10 }, { "dec", 12 },
};

static bool digits(struct scan *c, size_t n, int64_t *v)
{
	size_t i;

	*v = 0;
	if (scan_left(c) < n)
		return false;
	for (i = 0; i < n; i++) {
		if (!is_digit(c->p[i]))
			return false;
		*v = *v * 10 + (c->p[i] - '0');
	}
	c->p += n;
	return true;
}

/*
 * Days from 1970-01-01 to a date of the proleptic Gregorian calendar; the year starts in March for
 * the count.
 */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d -
	       1 - 719468;
}

/* A month's name is over; its full stop is skipped. */
static bool month_ends(struct scan *c)
{
	scan_char(c, '.');
	return !scan_at_end(c) && is_blank(*c->p);
}

static bool month(struct scan *c, int64_t *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(months); i++) {
		struct scan d = *c;

		if (scan_lit(&d, months[i].name) && month_ends(&d)) {
			*m = months[i].month;
			*c = d;
			return true;
		}
	}
	return false;
}

/* HH:MM:SS[.frac] */
static bool clock_time(struct scan *c, int64_t *ns)
{
	int64_t h, m, s;

	if (!digits(c, 2, &h) || !scan_char(c, ':') || !digits(c, 2, &m) || !scan_char(c, ':') ||
	    scan_left(c) < 2 || !is_digit(c->p[0]) || !is_digit(c->p[1]) ||
	    (scan_left(c) > 2 && is_digit(c->p[2])) || !scan_dec(c, NSEC_PER_SEC, &s, NULL))
		return false;
	*ns = (h * 3600 + m * 60) * (int64_t)NSEC_PER_SEC + s;
	return h < 24 && m < 60 && s < 62 * (int64_t)NSEC_PER_SEC;
}

/* 2026-11-30T18:02:20,123456+00:00 */
static bool iso_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	int64_t y, m, day, t, frac = 0, zh = 0, zm = 0, step = (int64_t)NSEC_PER_SEC;
	bool minus;

	if (!digits(&d, 4, &y) || !scan_char(&d, '-') || !digits(&d, 2, &m) ||
	    !scan_char(&d, '-') || !digits(&d, 2, &day) || y < 1970 || y > 2200 || m < 1 ||
	    m > 12 || day < 1 || day > 31)
		return false;
	if ((!scan_char(&d, 'T') && !scan_char(&d, ' ')) || !clock_time(&d, &t))
		return false;
	if (scan_char(&d, ','))
		for (; d.p < d.end && is_digit(*d.p); d.p++) {
			step /= 10;
			frac += step * (*d.p - '0');
		}
	if (!scan_char(&d, 'Z') && d.p < d.end && (*d.p == '+' || *d.p == '-')) {
		minus = *d.p++ == '-';
		if (!digits(&d, 2, &zh))
			return false;
		scan_char(&d, ':');
		digits(&d, 2, &zm);
		t += (minus ? 1 : -1) * (zh * 3600 + zm * 60) * (int64_t)NSEC_PER_SEC;
	}
	*ns = days_of(y, m, day) * 86400 * (int64_t)NSEC_PER_SEC + t + frac;
	*c = d;
	return true;
}

/* "Mon", "Do", "jeu.", "sáb": two to four letters of any alphabet */
static bool weekday(struct scan *c)
{
	const char *from = c->p;

	while (c->p < c->end && c->p - from < 12 &&
	       (is_alpha(*c->p) || (unsigned char)*c->p >= 0x80))
		c->p++;
	if (c->p - from < 2 || c->p - from > 8)
		return false;
	scan_char(c, '.');
	return !scan_at_end(c) && is_blank(*c->p);
}

/*
 * Thu 2024-01-04 10:33:10[.123456] CET: journalctl -o short-full. Zones other than UTC are not
 * known.
 */
static bool full_stamp(struct scan *c, int64_t *ns, enum stamp *stamp)
{
	struct scan d = *c;

	if (scan_at_end(&d) || is_digit(*d.p) || !weekday(&d) || !scan_blanks(&d) ||
	    !iso_stamp(&d, ns) || !scan_char(&d, ' '))
		return false;
	*stamp = scan_lit(&d, "UTC ") ? STAMP_ISO : STAMP_LOCAL;
	if (*stamp == STAMP_LOCAL) {
		while (d.p < d.end && (is_word(*d.p) || *d.p == '+' || *d.p == '-'))
			d.p++;
		if (!scan_char(&d, ' '))
			return false;
	}
	*c = d;
	return true;
}

/* 1704364390.123456: journalctl -o short-unix; nothing but a date of this century has ten digits */
static bool unix_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	unsigned int decimals = 0;

	if (!scan_dec(&d, NSEC_PER_SEC, ns, &decimals) || decimals != 6 || *ns < MAX_BOOT_NS ||
	    !scan_char(&d, ' '))
		return false;
	*c = d;
	return true;
}

/* [Mon Nov 30 18:02:20 2026] without the brackets */
static bool ctime_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	int64_t m, day, t, y;
	uint64_t v;

	if (!weekday(&d))
		return false;
	if (!scan_blanks(&d) || !month(&d, &m) || !scan_blanks(&d) || !scan_u64(&d, &v) || v < 1 ||
	    v > 31)
		return false;
	day = (int64_t)v;
	if (!scan_blanks(&d) || !clock_time(&d, &t) || !scan_blanks(&d) || !digits(&d, 4, &y) ||
	    y < 1970 || y > 2200)
		return false;
	*ns = days_of(y, m, day) * 86400 * (int64_t)NSEC_PER_SEC + t;
	*c = d;
	return true;
}

/* Jan 04 10:33:10[.123456] : ns since the beginning of a year without leap day. */
static bool syslog_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	int64_t m, t;
	uint64_t day;

	if (!month(&d, &m) || !scan_blanks(&d) || !scan_u64(&d, &day) || day < 1 || day > 31 ||
	    !scan_blanks(&d) || !clock_time(&d, &t) || !scan_blanks(&d))
		return false;
	*ns = (days_of(2001, m, (int64_t)day) - days_of(2001, 1, 1)) * 86400 *
		      (int64_t)NSEC_PER_SEC +
	      t;
	*c = d;
	return true;
}

/* `<6>`, `kern  :info  : ` */
static void skip_level(struct scan *c)
{
	struct scan d = *c;
	uint64_t v;

	if (scan_char(&d, '<') && scan_u64(&d, &v) && v < 256 && scan_char(&d, '>')) {
		*c = d;
		return;
	}
	d = *c;
	if (scan_lit(&d, "kern") && scan_blanks(&d) && scan_char(&d, ':') && d.p < d.end && is_alpha(*d.p)) {
		while (d.p < d.end && is_alpha(*d.p))
			d.p++;
		scan_blanks(&d);
		if (scan_lit(&d, ": "))
			*c = d;
	}
}

/* `host kernel: `, what syslog and the journal put before the text. */
static bool skip_host(struct scan *c)
{
	struct scan d = *c;

	while (d.p < d.end && !is_blank(*d.p) && *d.p != ':')
		d.p++;
	if (d.p == c->p || !scan_blanks(&d) || !scan_lit(&d, "kernel:"))
		return false;
	scan_char(&d, ' ');
	*c = d;
	return true;
}

/* `host systemd[1]: ` */
static bool is_daemon(struct scan c)
{
	uint64_t pid;

	while (c.p < c.end && !is_blank(*c.p) && *c.p != ':' && *c.p != '[')
		c.p++;
	if (!scan_char(&c, ' ') || scan_at_end(&c) || !is_alpha(*c.p))
		return false;
	while (c.p < c.end && (is_word(*c.p) || *c.p == '-' || *c.p == '.' || *c.p == '@'))
		c.p++;
	return scan_char(&c, '[') && scan_u64(&c, &pid) && scan_lit(&c, "]: ");
}

/* [   12.345678] or [   12.345678][    T1] */
static bool boot_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	unsigned int decimals = 0;

	if (!scan_char(&d, '['))
		return false;
	scan_blanks(&d);
	if (!scan_dec(&d, NSEC_PER_SEC, ns, &decimals) || decimals != 6 || *ns > MAX_BOOT_NS ||
	    !scan_char(&d, ']'))
		return false;
	*c = d;
	if (scan_char(&d, '[')) {
		scan_blanks(&d);
		if ((scan_char(&d, 'T') || scan_char(&d, 'C')) && scan_to(&d, "]"))
			*c = d;
	}
	scan_char(c, ' ');
	return true;
}

void log_split(const struct line *ln, struct log_entry *e)
{
	struct scan c = scan_line(ln), d;
	int64_t ns = 0;

	memset(e, 0, sizeof(*e));
	e->time_ns = CASE_NO_TIME;
	scan_trim(&c);
	skip_level(&c);
	d = c;
	if (boot_stamp(&c, &ns)) {
		e->stamp = STAMP_BOOT;
		e->kernel = skip_host(&c) ||
			    !is_daemon(c); /* short-monotonic has daemons' lines, too */
	} else if (scan_char(&d, '[') && ctime_stamp(&d, &ns) && scan_char(&d, ']')) {
		c = d;
		scan_char(&c, ' ');
		e->stamp = STAMP_LOCAL;
		e->kernel = true;
	} else if (iso_stamp(&c, &ns)) {
		e->stamp = STAMP_ISO;
		scan_blanks(&c);
		e->kernel = skip_host(&c);
	} else if (full_stamp(&c, &ns, &e->stamp) ||
		   (unix_stamp(&c, &ns) && (e->stamp = STAMP_ISO))) {
		e->kernel = skip_host(&c);
		if (!e->kernel)
			e->stamp = STAMP_NONE;	/* ping -D and others have such times, too */
	} else if (syslog_stamp(&c, &ns)) {
		e->stamp = STAMP_SYSLOG;
		e->kernel = skip_host(&c);
	}
	if (e->stamp) {
		int64_t boot;

		e->time_ns = ns;
		if (e->stamp != STAMP_BOOT && e->kernel && boot_stamp(&c, &boot)) {
			e->stamp = STAMP_BOOT; /* `Jan 04 .. host kernel: [  12.3] text`: the better
						  clock of the two */
			e->time_ns = boot;
		}
	}
	e->text = c;
}
