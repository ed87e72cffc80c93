// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * markdown.c - `-f markdown`: a ticket for GitHub and GitLab (GitHub Flavored Markdown).
 *
 * Nothing that comes from a case may become markup, a mention, an issue reference or a link: text
 * is escaped, names are code spans. Sources: the GFM specification (backslash escapes, entity
 * references, code spans, fences, tables, autolinks).
 */
#include "ticket.h"

#define LIMIT	65535	/* GitHub takes 65,536 characters in an issue's or a comment's body */

static void put_plain(FILE *out, const char *text)
{
	const char *s;

	for (s = text; *s; s++) {
		bool www = *s == '.' && s - text >= 3 && !strncasecmp(s - 3, "www", 3);

		if (*s == '@' || (*s == ':' && s[1] == '/') || www)
			fprintf(out, "&#%d;", *s); /* no mention, no link */
		else if (*s == '&')
			fputs("&amp;", out);
		else if (*s == '<')
			fputs("&lt;", out);
		else
			fprintf(out, "%s%c", strchr("\\`*_{}[]()>#+!|~$", *s) ? "\\" : "", *s);
	}
}

static size_t longest_ticks(const char *s)
{
	size_t longest = 0, n;

	for (; *s; s += n ? n : 1) {
		n = strspn(s, "`");
		longest = MAX(longest, n);
	}
	return longest;
}

static void put_ticks(FILE *out, size_t n)
{
	while (n--)
		fputc('`', out);
}

/* In a table a pipe ends the cell even inside a code span, unless it is escaped. */
static void put_code(FILE *out, const char *s, bool in_table)
{
	size_t ticks = longest_ticks(s) + 1;
	bool pad = *s == '`' || (*s && s[strlen(s) - 1] == '`');

	if (!*s)
		return;
	put_ticks(out, ticks);
	if (pad)
		fputc(' ', out);
	for (; *s; s++) {
		if (in_table && *s == '|')
			fputc('\\', out);
		fputc(*s, out);
	}
	if (pad)
		fputc(' ', out);
	put_ticks(out, ticks);
}

static void put_run(FILE *out, const struct doc_run *r, bool in_table)
{
	switch (r->look) {
	case DOC_BOLD:
		fputs("**", out);
		put_plain(out, r->s);
		fputs("**", out);
		break;
	case DOC_LITERAL:
		put_code(out, r->s, in_table);
		break;
	case DOC_PLAIN:
	default:
		put_plain(out, r->s);
		break;
	}
}

static void put_runs(FILE *out, const struct doc_block *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		put_run(out, &b->runs[i], false);
	fputc('\n', out);
}

static void put_table(FILE *out, const struct doc_block *b)
{
	size_t i, k;

	for (i = 0; i + b->columns <= b->n; i += b->columns) {
		for (k = 0; k < b->columns; k++) {
			fputs("| ", out);
			put_run(out, &b->runs[i + k], true);
			fputc(' ', out);
		}
		fputs("|\n", out);
		for (k = 0; !i && k < b->columns; k++)
			fputs(k + 1 < b->columns ? "| --- " : "| --- |\n", out);
	}
}

static void put_fence(FILE *out, const struct doc_block *b, bool in_item)
{
	const char *s = b->n ? b->runs[0].s : "", *indent = in_item ? "  " : "";
	size_t ticks = MAX(longest_ticks(s) + 1, (size_t)3);

	fputs(indent, out);
	put_ticks(out, ticks);
	fputs("text\n", out);
	while (*s) {
		size_t len = strcspn(s, "\n");

		fprintf(out, "%s%.*s\n", indent, (int)len, s);
		s += len + (s[len] == '\n');
	}
	fputs(indent, out);
	put_ticks(out, ticks);
	fputc('\n', out);
}

static void markdown_block(FILE *out, const struct doc *d, size_t i)
{
	const struct doc_block *b = &d->blocks[i];
	size_t last = doc_last_shown(d, i);
	bool after_item = last != SIZE_MAX && d->blocks[last].kind == DOC_ITEM;

	if (last != SIZE_MAX && !(b->kind == DOC_ITEM && after_item) &&
	    !(b->kind == DOC_CODE && after_item))
		fputc('\n', out);
	switch (b->kind) {
	case DOC_HEAD:
		fputs(b->level == 1 ? "# " : "## ", out);
		put_runs(out, b);
		break;
	case DOC_ITEM:
		fprintf(out, "%*s- ", 2 * (b->level - 1), "");
		put_runs(out, b);
		break;
	case DOC_TABLE:
		put_table(out, b);
		break;
	case DOC_CODE:
		put_fence(out, b, after_item);
		break;
	case DOC_PARA:
	default:
		put_runs(out, b);
		break;
	}
}

static struct error *markdown_render(struct report_ctx *ctx)
{
	static const struct doc_style style = { "GitHub", LIMIT, markdown_block };
	struct doc d = { 0 };
	struct error *err = ticket_build(ctx, &d);

	if (!err)
		err = doc_write(&d, &style, ctx->out);
	doc_free(&d);
	return err;
}

static const struct report markdown_report = {
	.format = "markdown",
	.ending = ".md",
	.render = markdown_render,
};
REGISTER(reports, &markdown_report);
