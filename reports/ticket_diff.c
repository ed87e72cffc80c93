// SPDX-License-Identifier: GPL-2.0-or-later
/* ticket_diff.c - `diff` as a ticket: a headline and a table a section. */
#include "config.h"
#include "ticket.h"

#include "diff_rows.h"

#define ROWS_SHOWN	12

struct error *ticket_diff_title(struct report_ctx *ctx, char **ret)
{
	struct diff_rows rows = { 0 };
	struct error *err = diff_rows_load(ctx, ROWS_SHOWN, &rows);
	_cleanup_free_ char *line = NULL;

	if (!err) {
		line = diff_headline(&rows);
		*ret = xasprintf("KVM, two cases compared: %s", line);
	}
	diff_rows_free(&rows);
	return err;
}

static void put_rows(struct doc *d, const struct diff_rows *rows)
{
	const char *section = NULL;
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++) {
		const struct diff_row *r = &rows->r[i];

		if (r->section != section) {
			section = r->section;
			d->weight = (int)n++;
			doc_add(d, DOC_HEAD, 2);
			doc_text(d, "%s", section);
			doc_table(d, 4);
			doc_cell(d, DOC_PLAIN, "what");
			doc_cell(d, DOC_PLAIN, "good");
			doc_cell(d, DOC_PLAIN, "bad");
			doc_cell(d, DOC_PLAIN, "change");
		}
		doc_cell(d, DOC_LITERAL, r->name);
		doc_cell(d, DOC_PLAIN, r->good);
		doc_cell(d, DOC_PLAIN, r->bad);
		doc_cell(d, DOC_PLAIN, r->change);
	}
}

struct error *ticket_diff_build(struct report_ctx *ctx, struct doc *d)
{
	struct diff_rows rows = { 0 };
	struct error *err = diff_rows_load(ctx, ROWS_SHOWN, &rows);
	_cleanup_free_ char *line = NULL;

	if (!err) {
		line = diff_headline(&rows);
		doc_add(d, DOC_HEAD, 1);
		doc_text(d, "KVM, two cases compared: %s", line);
		put_rows(d, &rows);
		d->weight = 0;
		doc_add(d, DOC_PARA, 0);
		doc_text(d, "By kvmortem %s (`kvmortem diff`). Shares and rates are of the vCPUs' own time; what only one recorder was asked for is "
			 "not compared.", KM_VERSION);
		if (rows.left_out)
			doc_text(d, " %zu smaller differences are not shown (-v shows all).", rows.left_out);
	}
	diff_rows_free(&rows);
	return err;
}
