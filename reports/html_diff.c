// SPDX-License-Identifier: GPL-2.0-or-later
/* html_diff.c - `diff` as a page: the headline and a table a section. */
#include "html.h"

#include "diff_rows.h"

#define ROWS_SHOWN	20

static void put_rows(struct html *h, const struct diff_rows *rows, size_t from, size_t to)
{
	static const char *const heads[] = { "what", ">good", ">bad", ">change" };
	_cleanup_free_ char *id = xasprintf("diff-%zu", from);
	size_t i;

	html_section(h, id, rows->r[from].section);
	html_table(h, rows->r[from].section, heads, ARRAY_SIZE(heads));
	for (i = from; i < to; i++) {
		html_row(h);
		html_raw(h, "<td class=\"wide\">");
		html_name(h, rows->r[i].name, 240);
		html_raw(h, "</td>");
		html_num(h, rows->r[i].good);
		html_num(h, rows->r[i].bad);
		html_num(h, rows->r[i].change);
		html_row_end(h);
	}
	html_table_end(h);
	html_section_end(h);
}

struct error *html_diff(struct html *h)
{
	struct diff_rows rows = { 0 };
	struct error *err = diff_rows_load(h->ctx, ROWS_SHOWN, &rows);
	_cleanup_free_ char *line = NULL;
	size_t i, from;

	if (!err) {
		line = diff_headline(&rows);
		html_section(h, "differences", "Good against bad");
		html_raw(h, "<p>");
		html_says(h, line);
		html_raw(h, "</p>\n");
		html_section_end(h);
		for (from = 0; from < rows.n; from = i) {
			for (i = from + 1; i < rows.n && rows.r[i].section == rows.r[from].section;
			     i++)
				;
			put_rows(h, &rows, from, i);
		}
		if (rows.left_out)
			html_rawf(h, "<p class=\"note\">%zu smaller differences are not shown (<code>-v</code> shows all).</p>\n",
				  rows.left_out);
	}
	diff_rows_free(&rows);
	return err;
}
