// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bugzilla.c - `-f bugzilla`: a ticket as plain text in 78 columns, for Bugzilla, mail and every
 * tracker without markup. Lines that must stay as they are (quotes, commands, tables in columns)
 * are indented and may be longer.
 */
#include "ticket.h"

#include "escape.h"

#define LIMIT	65535	/* Bugzilla's MAX_COMMENT_LENGTH */
#define COLUMNS	78

static char *joined(const struct doc_block *b, size_t from, size_t n)
{
	char *all = xstrdup("");
	size_t i;

	for (i = from; i < from + n && i < b->n; i++) {
		char *more = xasprintf("%s%s", all, b->runs[i].s);

		free(all);
		all = more;
	}
	return all;
}

/* @s from column @col on, broken at blanks; further lines begin at @hang. */
static void wrap(FILE *out, int col, int hang, const char *s)
{
	bool start = true;

	while (*s) {
		size_t len = strcspn(s, " ");
		_cleanup_free_ char *word = xstrndup(s, len);
		int w = (int)display_width(word);

		if (col + !start + w > COLUMNS && col > hang) {
			fprintf(out, "\n%*s", hang, "");
			col = hang;
			start = true;
		}
		fprintf(out, "%s%s", start ? "" : " ", word);
		col += w + !start;
		start = false;
		s += len + strspn(s + len, " ");
	}
	fputc('\n', out);
}

static void put_head(FILE *out, const struct doc_block *b)
{
	_cleanup_free_ char *s = joined(b, 0, b->n);
	int i, n = (int)MIN(display_width(s), (size_t)COLUMNS);

	wrap(out, 0, 0, s);
	for (i = 0; i < n; i++)
		fputc(b->level == 1 ? '=' : '-', out);
	fputc('\n', out);
}

static void put_table(FILE *out, const struct doc_block *b)
{
	size_t i, k;

	for (i = b->columns; i + b->columns <= b->n; i += b->columns) {
		int col = fprintf(out, "  ");

		for (k = 0; k + 1 < b->columns; k++) {
			fprintf(out, "%s%s", k ? " " : "", b->runs[i + k].s);
			col += (k > 0) + (int)display_width(b->runs[i + k].s);
		}
		fputs(": ", out);
		wrap(out, col + 2, 6, b->runs[i + k].s);
	}
}

static void put_lines(FILE *out, const char *s)
{
	while (*s) {
		size_t len = strcspn(s, "\n");

		fprintf(out, "    %.*s\n", (int)len, s);
		s += len + (s[len] == '\n');
	}
}

static void bugzilla_block(FILE *out, const struct doc *d, size_t i)
{
	const struct doc_block *b = &d->blocks[i];
	_cleanup_free_ char *s = joined(b, 0, b->n);
	size_t last = doc_last_shown(d, i);

	if (last != SIZE_MAX && !(b->kind == DOC_ITEM && d->blocks[last].kind == DOC_ITEM) &&
	    !(b->kind == DOC_CODE && d->blocks[last].kind != DOC_HEAD))
		fputc('\n', out);
	switch (b->kind) {
	case DOC_HEAD:
		put_head(out, b);
		break;
	case DOC_ITEM:
		fprintf(out, "%*s* ", 2 * b->level - 2, "");
		wrap(out, 2 * b->level, 2 * b->level, s);
		break;
	case DOC_TABLE:
		put_table(out, b);
		break;
	case DOC_CODE:
		put_lines(out, s);
		break;
	case DOC_PARA:
	default:
		wrap(out, 0, 0, s);
		break;
	}
}

static struct error *bugzilla_render(struct report_ctx *ctx)
{
	static const struct doc_style style = { "Bugzilla", LIMIT, bugzilla_block };
	struct doc d = { 0 };
	struct error *err = ticket_build(ctx, &d);

	if (!err)
		err = doc_write(&d, &style, ctx->out);
	doc_free(&d);
	return err;
}

static const struct report bugzilla_report = {
	.format = "bugzilla",
	.render = bugzilla_render,
};
REGISTER(reports, &bugzilla_report);
