// SPDX-License-Identifier: GPL-2.0-or-later
/* sig_says.c - the sentences of evidence: placeholders filled from a row's columns. */
#include <ctype.h>

#include "sig.h"

enum says_format {
	SAYS_PLAIN,
	SAYS_MS,
	SAYS_US,
	SAYS_S,
	SAYS_DUR,
	SAYS_PCT,
	SAYS_INT,
	SAYS_NUM,
	SAYS_NFORMATS
};

static const char *const format_names[SAYS_NFORMATS] = { "",	"ms",  "us",  "s",
							 "dur", "pct", "int", "num" };

/*
 * The placeholder at *s (which points at '{'): name, format, and *s behind '}'. False when it is
 * none: no name that SQL could have given a column. "{{" stands for a brace.
 */
static bool placeholder(const char **s, char *name, size_t size, enum says_format *fmt)
{
	const char *p = *s + 1;
	size_t n = 0, f;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	if (!n || n >= size)
		return false;
	memcpy(name, p, n);
	name[n] = 0;
	p += n;
	*fmt = SAYS_PLAIN;
	if (*p == ':') {
		p++;
		n = strcspn(p, "}");
		for (f = 1; f < SAYS_NFORMATS; f++)
			if (strlen(format_names[f]) == n && !strncmp(p, format_names[f], n))
				break;
		if (f == SAYS_NFORMATS)
			return false;
		*fmt = (enum says_format)f;
		p += n;
	}
	if (*p != '}')
		return false;
	*s = p + 1;
	return true;
}

/* Three significant digits, no exponent: 0.52, 12.3, 1234. */
static void number(FILE *f, double v, const char *unit)
{
	double a = v < 0 ? -v : v;

	fprintf(f, "%.*f%s",
		a >= 100 || v == (double)(int64_t)v ? 0
		: a >= 10			    ? 1
		: a >= 1			    ? 2
						    : 3,
		v, unit);
}

static void duration(FILE *f, double ns)
{
	double a = ns < 0 ? -ns : ns;

	if (a < 1e3)
		number(f, ns, " ns");
	else if (a < 1e6)
		number(f, ns / 1e3, " us");
	else if (a < 1e9)
		number(f, ns / 1e6, " ms");
	else
		number(f, ns / 1e9, " s");
}

static void value(FILE *f, sqlite3_stmt *st, int col, enum says_format fmt)
{
	double v = sqlite3_column_double(st, col);

	switch (fmt) {
	case SAYS_MS:
		number(f, v / 1e6, " ms");
		break;
	case SAYS_US:
		number(f, v / 1e3, " us");
		break;
	case SAYS_S:
		number(f, v / 1e9, " s");
		break;
	case SAYS_DUR:
		duration(f, v);
		break;
	case SAYS_PCT:
		fprintf(f, "%.*f %%", v * 100 < 10 || (v > 0.99 && v < 1) ? 1 : 0, v * 100);
		break;
	case SAYS_INT:
		fprintf(f, "%.0f", v);
		break;
	case SAYS_NUM:
		fprintf(f, "%.1f", v);
		break;
	default:
		if (sqlite3_column_type(st, col) == SQLITE_FLOAT)
			number(f, v, "");
		else
			fputs((const char *)sqlite3_column_text(st, col), f);
	}
}

char *says_fill(const char *says, sqlite3_stmt *st)
{
	char *buf = NULL;
	size_t len = 0;
	bool null = false;
	FILE *f = open_memstream(&buf, &len);

	if (!f)
		return NULL;
	for (const char *s = says; *s && !null;) {
		char name[64];
		enum says_format fmt;

		if (s[0] == '{' && s[1] == '{') {
			fputc('{', f);
			s += 2;
		} else if (s[0] == '{' && placeholder(&s, name, sizeof(name), &fmt)) {
			int col = sql_column(st, name);

			if (col < 0 || sqlite3_column_type(st, col) == SQLITE_NULL)
				null = true;
			else
				value(f, st, col, fmt);
		} else {
			fputc(*s++, f);
		}
	}
	fclose(f);
	if (!null)
		return buf;
	free(buf);
	return NULL;
}

char *says_check(const char *says, sqlite3_stmt *st)
{
	for (const char *s = says; *s;) {
		char name[64];
		enum says_format fmt;

		if (s[0] == '{' && s[1] == '{') {
			s += 2;
		} else if (*s == '{') {
			const char *at = s;

			if (!placeholder(&s, name, sizeof(name), &fmt))
				return xasprintf(
					"says: '%.24s' is no placeholder ({column} or {column:ms|us|s|dur|pct|int|num})",
					at);
			if (sql_column(st, name) < 0)
				return xasprintf("says: placeholder {%s} has no column", name);
		} else {
			s++;
		}
	}
	return NULL;
}
