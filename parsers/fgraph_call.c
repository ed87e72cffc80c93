// SPDX-License-Identifier: GPL-2.0-or-later
/* fgraph_call.c - durations and calls of function_graph; see fgraph_call.h. */
#include "fgraph_call.h"

#include "trace_line.h"

bool fgraph_duration(const char *s, size_t len, uint64_t *ns)
{
	static const uint32_t scale[4] = { 1000, 100, 10, 1 };
	const char *end = s + len, *q;
	int64_t whole, frac = 0;

	if (s < end && *s && strchr("+!#*@$", *s))
		s++;
	skip_blanks(&s, end);
	if (!read_dec(&s, end, &whole) || whole < 0 || whole > INT64_MAX / 1000000)
		return false;
	*ns = (uint64_t)whole * NSEC_PER_USEC;
	if (s < end && *s == '.') {
		q = ++s;
		if (!read_dec(&s, end, &frac) || frac < 0 || s - q > 3)
			return false;
		*ns += (uint64_t)frac * scale[s - q];
	}
	return starts_with(s, (size_t)(end - s), " us");
}

/* Length of the name in "f() {", "f [kvm]();", "f(arg=1);": up to the blank or parenthesis. */
static size_t func_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] != ' ' && s[n] != '(' && s[n] != ';' && s[n] != '+')
		n++;
	return n;
}

/* The function in "} / * func [kvm] ret=0x0 * /"; since 6.5 there may be "= 0x0" alone. */
static void exit_name(const char *s, size_t len, struct fgraph_call *c)
{
	const char *tail = memmem(s, len, "/* ", 3), *end = s + len;
	size_t n;

	if (!tail)
		return;
	tail += 3;
	n = func_len(tail, (size_t)(end - tail));
	if (!n || *tail == '=' || starts_with(tail, n, "ret="))
		return;
	c->func = tail;
	c->func_len = n;
}

bool fgraph_call(const char *s, size_t len, struct fgraph_call *c)
{
	const char *p = s, *end = s + len;

	memset(c, 0, sizeof(*c));
	skip_blanks(&p, end);
	while (end > p && end[-1] == ' ')
		end--;
	c->depth = p - s > 2 ? (uint32_t)(p - s - 2) / 2 : 0;
	len = (size_t)(end - p);
	if (!len)
		return false;
	if (*p == '}') {
		c->kind = EV_FUNC_EXIT;
		exit_name(p, len, c);
		return true;
	}
	if (starts_with(p, len, "/* ")) {
		c->kind = EV_OTHER;
		c->comment = p + 3;
		c->comment_len = len - 3;
		if (c->comment_len > 3 && !memcmp(end - 3, " */", 3))
			c->comment_len -= 3;
		return true;
	}
	c->func = p;
	c->func_len = func_len(p, len);
	if (!c->func_len)
		return false;
	if (end[-1] == '{')
		c->kind = EV_FUNC_ENTER;
	else if (memchr(p, ';', len))
		c->kind = EV_FUNC_LEAF;
	else
		return false;
	return true;
}
