// SPDX-License-Identifier: GPL-2.0-or-later
/* text_diff.c - `diff` on the terminal: a table a section. */
#include "text.h"

#include "diff_rows.h"

#define ROWS_SHOWN	8

static void put_section(struct text *t, const struct diff_rows *rows, size_t from, size_t to)
{
	static const struct table_column columns[] = {
		{ "good", TABLE_RIGHT | TABLE_CUT }, { "bad", TABLE_RIGHT | TABLE_CUT }, { "change", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "what", TABLE_CUT },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	size_t i;

	text_heading(t, "%s", rows->r[from].section);
	for (i = from; i < to; i++) {
		table_cell(table, rows->r[i].good);
		table_cell(table, rows->r[i].bad);
		table_cell(table, rows->r[i].change);
		table_cell(table, rows->r[i].name);
	}
	text_table(t, table, 2);
}

struct error *text_diff(struct text *t)
{
	struct diff_rows rows = { 0 };
	struct error *err = diff_rows_load(t->ctx, ROWS_SHOWN, &rows);
	_cleanup_free_ char *line = NULL;
	size_t i, from;

	if (!err) {
		line = diff_headline(&rows);
		text_item(t, 0, 0, t->bold, "Good against bad:", "%s.", line);
		for (from = 0; from < rows.n; from = i) {
			for (i = from + 1; i < rows.n && rows.r[i].section == rows.r[from].section;
			     i++)
				;
			put_section(t, &rows, from, i);
		}
		if (rows.left_out)
			text_para(t, 0, 0, "%zu smaller differences are not shown (-v shows all).", rows.left_out);
	}
	diff_rows_free(&rows);
	return err;
}
