// SPDX-License-Identifier: GPL-2.0-or-later
/* diff_rows.c - differences as words; see diff_rows.h. */
#include "diff_rows.h"

#include <math.h>

static const struct {
	const char	*id, *heading;
	double		least;		/* effect below which a row is told with -v only */
} sections[] = {
	{ "verdict", "Verdicts", 0 },
	{ "fact", "Settings of the hosts", 0.1 },
	{ "state", "Where the vCPUs' time went", 0.005 },
	{ "pattern", "Patterns of stalls, by their part of the vCPUs' time", 0.005 },
	{ "exit", "Exits, per second of a vCPU", 0.003 },
	{ "delay", "Waits for a CPU", 0.001 },
	{ "call", "Long calls", 0.001 },
	{ "root", "TDP roots", 0.01 },
	{ "event", "Events per second", 0.5 },
};

static char *value_words(const char *unit, sqlite3_stmt *st, int text, int num)
{
	double v = sqlite3_column_double(st, num);
	char buf[HUMAN_MAX];

	if (!strcmp(unit, "text"))
		return xstrdup(sqlite3_column_text(st, text) ? (const char *)sqlite3_column_text(st, text) : "(not there)");
	if (sqlite3_column_type(st, num) == SQLITE_NULL)
		return xstrdup("(not there)");
	if (!strcmp(unit, "share") || !strcmp(unit, "ratio"))
		return xasprintf("%.*f %%", v < 0.0995 ? 1 : 0, v * 100);
	if (!strcmp(unit, "ns"))
		return xstrdup(human_ns(buf, (int64_t)v));
	if (v >= 100)
		return xstrdup(human_count(buf, (int64_t)(v + 0.5)));
	return xasprintf("%.*f", v < 10 ? 2 : 1, v);
}

static char *change_words(const char *unit, sqlite3_stmt *st)
{
	double g = sqlite3_column_double(st, 4), b = sqlite3_column_double(st, 5);
	bool both = sqlite3_column_type(st, 4) != SQLITE_NULL &&
		    sqlite3_column_type(st, 5) != SQLITE_NULL;

	if (!strcmp(unit, "text") || !both)
		return xstrdup("");
	if (!strcmp(unit, "share") || !strcmp(unit, "ratio"))
		return xasprintf("%+.1f points", (b - g) * 100);
	if (g <= 0 || b <= 0)
		return xstrdup(g <= 0 && b <= 0 ? "" : g <= 0 ? "new" : "gone");
	if (b >= g)
		return xasprintf("x %.*f", b / g < 10 ? 2 : 0, b / g);
	return xasprintf("/ %.*f", g / b < 10 ? 2 : 0, g / b);
}

static struct error *load_section(struct report_ctx *ctx, size_t i, size_t max,
				  struct diff_rows *rows)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t n = 0;

	TRY(case_query(ctx->db, &st, "SELECT name, unit, good, bad, good_num, bad_num, effect FROM difference WHERE section = ? "
		       "ORDER BY effect DESC, name", "s", sections[i].id));
	while (case_step(ctx->db, st, &err)) {
		const char *unit = (const char *)sqlite3_column_text(st, 1);
		struct diff_row *r;

		if (!ctx->opt->verbose &&
		    (n >= max || sqlite3_column_double(st, 6) < sections[i].least)) {
			rows->left_out++;
			continue;
		}
		n++;
		GROW(rows->r, rows->cap, rows->n + 1);
		r = &rows->r[rows->n++];
		r->section = sections[i].heading;
		r->name = xstrdup((const char *)sqlite3_column_text(st, 0));
		r->good = value_words(unit, st, 2, 4);
		r->bad = value_words(unit, st, 3, 5);
		r->change = change_words(unit, st);
		r->effect = sqlite3_column_double(st, 6);
	}
	case_done(st);
	return err;
}

struct error *diff_rows_load(struct report_ctx *ctx, size_t max, struct diff_rows *rows)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		TRY(load_section(ctx, i, max, rows));
	return NULL;
}

void diff_rows_free(struct diff_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->n; i++) {
		free(rows->r[i].name);
		free(rows->r[i].good);
		free(rows->r[i].bad);
		free(rows->r[i].change);
	}
	free(rows->r);
	memset(rows, 0, sizeof(*rows));
}

char *diff_headline(const struct diff_rows *rows)
{
	const struct diff_row *most = NULL;
	size_t i;

	for (i = 0; i < rows->n; i++) {
		const struct diff_row *r = &rows->r[i];

		if (r->section == sections[0].heading)
			return xasprintf("%s: %s in the good case, %s in the bad one", r->name, r->good, r->bad);
		if ((r->section == sections[2].heading || r->section == sections[3].heading) &&
		    (!most || r->effect > most->effect))
			most = r;
	}
	if (!most)
		return xstrdup(rows->n ? "no verdict and no time of a vCPU differs noticeably" : "nothing differs noticeably");
	return xasprintf("most differs: %s, %s in the good case, %s in the bad one", most->name, most->good, most->bad);
}
