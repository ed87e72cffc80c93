/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan.h - a bounds-checked cursor over one line of text, for the parsers of tables and logs.
 *
 * Every function that recognises something moves the cursor behind it and returns true, or leaves
 * it where it was and returns false. Nothing allocates, nothing needs a NUL.
 */
#ifndef KM_SCAN_H
#define KM_SCAN_H

#include "parser.h"

struct scan {
	const char	*p, *end;
};

static inline struct scan scan_line(const struct line *ln)
{
	return (struct scan){ ln->s, ln->s + ln->len };
}

static inline struct scan scan_mem(const char *s, size_t len)
{
	return (struct scan){ s, s + len };
}

static inline size_t scan_left(const struct scan *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t';
}

static inline bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static inline bool is_alpha(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static inline bool is_word(char ch)
{
	return is_alpha(ch) || is_digit(ch);
}

/* scan_blanks() - skip blanks; returns how many. */
static inline size_t scan_blanks(struct scan *c)
{
	const char *from = c->p;

	while (c->p < c->end && is_blank(*c->p))
		c->p++;
	return (size_t)(c->p - from);
}

/* scan_token() - skip blanks, then take all up to the next blank or the end; may be empty. */
static inline struct scan scan_token(struct scan *c)
{
	struct scan w;

	scan_blanks(c);
	for (w.p = c->p; c->p < c->end && !is_blank(*c->p); c->p++)
		;
	w.end = c->p;
	return w;
}

/* scan_trim() - drop blanks at the end. */
static inline void scan_trim(struct scan *c)
{
	while (c->end > c->p && (is_blank(c->end[-1]) || c->end[-1] == '\r' || c->end[-1] == '\n'))
		c->end--;
}

static inline bool scan_char(struct scan *c, char ch)
{
	if (c->p >= c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

static inline bool scan_lit(struct scan *c, const char *lit)
{
	size_t n = strlen(lit);

	if (scan_left(c) < n || memcmp(c->p, lit, n))
		return false;
	c->p += n;
	return true;
}

static inline bool scan_at_end(const struct scan *c)
{
	return c->p >= c->end;
}

/* scan_u64() - decimal digits; false where there is none or it does not fit. */
static inline bool scan_u64(struct scan *c, uint64_t *ret)
{
	const char *p = c->p;
	uint64_t v = 0;

	if (p >= c->end || !is_digit(*p))
		return false;
	for (; p < c->end && is_digit(*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	c->p = p;
	*ret = v;
	return true;
}

/* scan_i64() - as scan_u64(), up to INT64_MAX, with an optional minus. */
static inline bool scan_i64(struct scan *c, int64_t *ret)
{
	const char *from = c->p;
	bool minus = scan_char(c, '-');
	uint64_t v;

	if (!scan_u64(c, &v) || v > INT64_MAX) {
		c->p = from;
		return false;
	}
	*ret = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

/*
 * scan_dec() - a decimal number with an optional fraction, times @unit (a power of ten up to 1e9):
 * exact as long as the fraction has no more digits than @unit has zeros; further digits are cut.
 * @decimals, where not NULL, gets the number of fraction digits. False on overflow of int64_t.
 */
static inline bool scan_dec(struct scan *c, uint64_t unit, int64_t *ret, unsigned int *decimals)
{
	const char *from = c->p;
	uint64_t v, frac = 0, step = unit;
	unsigned int n = 0;

	if (!scan_u64(c, &v) || __builtin_mul_overflow(v, unit, &v))
		goto no;
	if (c->end - c->p >= 2 && *c->p == '.' && is_digit(c->p[1])) {
		for (c->p++; c->p < c->end && is_digit(*c->p); c->p++, n++) {
			step /= 10;
			frac += step * (uint64_t)(*c->p - '0');
		}
	}
	if (__builtin_add_overflow(v, frac, &v) || v > INT64_MAX)
		goto no;
	if (decimals)
		*decimals = n;
	*ret = (int64_t)v;
	return true;
no:
	c->p = from;
	return false;
}

/* scan_word() - letters, digits and underscores, not beginning with a digit. */
static inline bool scan_word(struct scan *c, const char **s, size_t *len)
{
	const char *from = c->p;

	if (c->p >= c->end || !is_alpha(*c->p))
		return false;
	while (c->p < c->end && is_word(*c->p))
		c->p++;
	*s = from;
	*len = (size_t)(c->p - from);
	return true;
}

/* scan_find() - first place of @lit at or behind the cursor, or NULL; the cursor stays. */
static inline const char *scan_find(const struct scan *c, const char *lit)
{
	return scan_left(c) ? memmem(c->p, scan_left(c), lit, strlen(lit)) : NULL;
}

/* scan_to() - move behind the first @lit. */
static inline bool scan_to(struct scan *c, const char *lit)
{
	const char *at = scan_find(c, lit);

	if (!at)
		return false;
	c->p = at + strlen(lit);
	return true;
}

static inline bool span_is(const char *s, size_t len, const char *lit)
{
	return strlen(lit) == len && !memcmp(s, lit, len);
}

static inline bool starts_with(const char *s, size_t len, const char *lit)
{
	size_t n = strlen(lit);

	return len >= n && !memcmp(s, lit, n);
}

/* str_ends() - does @s end in @tail? */
static inline bool str_ends(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && !memcmp(s + n - t, tail, t);
}

/*
 * scan_lines() - the next line of a member's head: [*p, *p + *len) without its end; false at the
 * end.
 */
static inline bool scan_lines(const char **next, const char *end, const char **s, size_t *len)
{
	const char *nl;

	if (*next >= end)
		return false;
	nl = memchr(*next, '\n', (size_t)(end - *next));
	*s = *next;
	*len = (size_t)((nl ? nl : end) - *next);
	*next = nl ? nl + 1 : end;
	if (*len && (*s)[*len - 1] == '\r')
		--*len;
	return true;
}

/*
 * sniff_lines() - how many of the first non-blank lines of a member (at most 200) @test accepts, in
 * percent; the last line is left out where the head is cut. @n gets their number.
 */
static inline int sniff_lines(const struct sniff *sn, bool (*test)(const struct line *),
			      unsigned int *n)
{
	const char *next = (const char *)sn->head, *end = next + sn->len;
	unsigned int all = 0, good = 0;
	struct line ln = { .no = 0 };

	while (all < 200 && scan_lines(&next, end, &ln.s, &ln.len)) {
		if (next >= end && sn->len < sn->size && all)
			break;
		ln.no++;
		if (!ln.len)
			continue;
		all++;
		good += test(&ln);
	}
	*n = good;
	return all ? (int)(good * 100 / all) : 0;
}

#endif
