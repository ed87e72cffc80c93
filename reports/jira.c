// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jira.c - `-f jira`: a ticket in Jira's wiki markup (Text Formatting Notation).
 *
 * Special characters are escaped by a backslash; names stand in {{...}}, lines in {noformat}, which
 * nothing can be escaped in: the word itself is broken up there.
 */
#include "ticket.h"

#include <ctype.h>

#define LIMIT	32767	/* Jira's default limit of a text field (jira.text.field.character.limit) */

/* Between two letters or digits these mean themselves; elsewhere they begin or end a style. */
static bool is_style(const char *text, const char *s)
{
	return strchr("*_-+^~", *s) && !(s > text && isalnum((unsigned char)s[-1]) &&
					 isalnum((unsigned char)s[1]));
}

static void put_escaped(FILE *out, const char *text)
{
	const char *s;

	for (s = text; *s; s++) {
		if (strchr("\\{}[]|?!#@", *s) || (*s == ':' && s[1] == '/') || is_style(text, s))
			fputc('\\', out);
		fputc(*s, out);
	}
}

static void put_run(FILE *out, const struct doc_run *r)
{
	if (!*r->s)
		return;
	fputs(r->look == DOC_BOLD ? "*" : r->look == DOC_LITERAL ? "{{" : "", out);
	put_escaped(out, r->s);
	fputs(r->look == DOC_BOLD ? "*" : r->look == DOC_LITERAL ? "}}" : "", out);
}

static void put_runs(FILE *out, const struct doc_block *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		put_run(out, &b->runs[i]);
	fputc('\n', out);
}

static void put_table(FILE *out, const struct doc_block *b)
{
	size_t i, k;

	for (i = 0; i + b->columns <= b->n; i += b->columns) {
		const char *bar = i ? "|" : "||";

		for (k = 0; k < b->columns; k++) {
			fputs(bar, out);
			put_run(out, &b->runs[i + k]);
			if (!*b->runs[i + k].s)
				fputc(' ', out); /* an empty cell is taken for a head's bar */
		}
		fprintf(out, "%s\n", bar);
	}
}

static void put_lines(FILE *out, const char *s)
{
	const char *word;

	fputs("{noformat}\n", out);
	for (; (word = strcasestr(s, "{noformat")); s = word + 1)
		fprintf(out, "%.*s{ ", (int)(word - s), s);
	fprintf(out, "%s{noformat}\n", s);
}

static void jira_block(FILE *out, const struct doc *d, size_t i)
{
	const struct doc_block *b = &d->blocks[i];
	size_t last = doc_last_shown(d, i);

	if (last != SIZE_MAX && !(b->kind == DOC_ITEM && d->blocks[last].kind == DOC_ITEM))
		fputc('\n', out);
	switch (b->kind) {
	case DOC_HEAD:
		fprintf(out, "h%d. ", b->level + 1);
		put_runs(out, b);
		break;
	case DOC_ITEM:
		fputs(b->level == 1 ? "* " : "** ", out);
		put_runs(out, b);
		break;
	case DOC_TABLE:
		put_table(out, b);
		break;
	case DOC_CODE:
		put_lines(out, b->n ? b->runs[0].s : "");
		break;
	case DOC_PARA:
	default:
		put_runs(out, b);
		break;
	}
}

static struct error *jira_render(struct report_ctx *ctx)
{
	static const struct doc_style style = { "Jira", LIMIT, jira_block };
	struct doc d = { 0 };
	struct error *err = ticket_build(ctx, &d);

	if (!err)
		err = doc_write(&d, &style, ctx->out);
	doc_free(&d);
	return err;
}

static const struct report jira_report = {
	.format = "jira",
	.ending = ".jira",
	.render = jira_render,
};
REGISTER(reports, &jira_report);
