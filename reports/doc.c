// SPDX-License-Identifier: GPL-2.0-or-later
/* doc.c - blocks of a report and the size that a tracker takes; see doc.h. */
#include "doc.h"

#include <stdarg.h>

#include "escape.h"
#include "utf8.h"

#define RUN_MAX		4000	/* bytes of one run: a case's string is no essay */

void doc_add(struct doc *d, enum doc_kind kind, int level)
{
	GROW(d->blocks, d->cap, d->n + 1);
	d->blocks[d->n++] = (struct doc_block){ .kind = kind, .level = level, .weight = d->weight };
}

static void add_run(struct doc *d, enum doc_look look, char *s)
{
	struct doc_block *b = &d->blocks[d->n - 1];

	GROW(b->runs, b->cap, b->n + 1);
	b->runs[b->n++] = (struct doc_run){ .look = look, .s = s };
}

/* A copy in one line, cut where it is too long; blanks at its ends are kept. */
static char *one_line(const char *s)
{
	_cleanup_free_ char *body = escape_prose(s);
	size_t len = strlen(s), cut = display_cut(body, RUN_MAX);
	bool before = len && s[0] == ' ', after = len > 1 && s[len - 1] == ' ' && *body;

	return xasprintf("%s%.*s%s%s", before ? " " : "", (int)cut, body, body[cut] ? "…" : "",
			 after ? " " : "");
}

void doc_text(struct doc *d, const char *fmt, ...)
{
	_cleanup_free_ char *raw = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) < 0)
		raw = NULL;
	va_end(ap);
	add_run(d, DOC_PLAIN, one_line(raw ? raw : ""));
}

void doc_bold(struct doc *d, const char *s)
{
	add_run(d, DOC_BOLD, one_line(s));
}

void doc_literal(struct doc *d, const char *s)
{
	add_run(d, DOC_LITERAL, one_line(s));
}

void doc_lines(struct doc *d, const char *s)
{
	char *all = xstrdup("");

	while (*s) {
		size_t len = strcspn(s, "\n");
		_cleanup_free_ char *line = escape_terminal(s, len);
		char *more;

		while (*line && line[strlen(line) - 1] == ' ')
			line[strlen(line) - 1] = '\0';
		more = xasprintf("%s%s\n", all, line);
		free(all);
		all = more;
		s += len + (s[len] == '\n');
	}
	add_run(d, DOC_LITERAL, all);
}

void doc_table(struct doc *d, size_t columns)
{
	doc_add(d, DOC_TABLE, 0);
	d->blocks[d->n - 1].columns = columns;
}

void doc_cell(struct doc *d, enum doc_look look, const char *s)
{
	add_run(d, look, one_line(s));
}

void doc_free(struct doc *d)
{
	size_t i, k;

	for (i = 0; i < d->n; i++) {
		for (k = 0; k < d->blocks[i].n; k++)
			free(d->blocks[i].runs[k].s);
		free(d->blocks[i].runs);
	}
	free(d->blocks);
	memset(d, 0, sizeof(*d));
}

size_t doc_last_shown(const struct doc *d, size_t i)
{
	while (i--)
		if (!d->blocks[i].out)
			return i;
	return SIZE_MAX;
}

/* A heading of which nothing is left says nothing. */
static void drop_empty_heads(struct doc *d)
{
	size_t i, next;

	for (i = 0; i < d->n; i++) {
		if (d->blocks[i].kind != DOC_HEAD || d->blocks[i].level < 2 || d->blocks[i].out)
			continue;
		for (next = i + 1; next < d->n && d->blocks[next].out; next++)
			;
		d->blocks[i].out = next == d->n || d->blocks[next].kind == DOC_HEAD;
	}
}

/* Leave out the block that matters least: of the highest weight the last; false: none is left. */
static bool drop_one(struct doc *d)
{
	size_t i, at = SIZE_MAX;

	for (i = 0; i < d->n; i++)
		if (!d->blocks[i].out && d->blocks[i].weight &&
		    (at == SIZE_MAX || d->blocks[i].weight >= d->blocks[at].weight))
			at = i;
	if (at == SIZE_MAX)
		return false;
	d->blocks[at].out = true;
	return true;
}

static struct error *print_all(const struct doc *d, const struct doc_style *style, char **ret)
{
	size_t len, i;
	FILE *f = open_memstream(ret, &len);

	if (!f)
		return error_io("report");
	for (i = 0; i < d->n; i++)
		if (!d->blocks[i].out)
			style->block(f, d, i);
	return fclose(f) ? error_io("report") : NULL;
}

static void set_note(struct doc *d, size_t at, const struct doc_style *style, size_t dropped)
{
	struct doc_run *run = &d->blocks[at].runs[0];

	free(run->s);
	run->s = xasprintf("Left out to stay within the %zu characters that %s takes: %zu less important "
			   "parts. `kvmortem -v` and its HTML page have them all.", style->limit,
			   style->tracker, dropped);
	d->blocks[at].out = false;
}

/* How long it gets depends on the style: it is printed, and what is too much dropped, until it
 * fits. */
struct error *doc_write(struct doc *d, const struct doc_style *style, FILE *out)
{
	_cleanup_free_ char *text = NULL;
	size_t dropped = 0, note = d->n;
	bool more = true;

	d->weight = 0;
	doc_add(d, DOC_PARA, 0);
	doc_text(d, " ");
	d->blocks[note].out = true;
	TRY(print_all(d, style, &text));
	while (more && strlen(text) > style->limit) {
		size_t step = 1 + (strlen(text) - style->limit) / 2000;

		for (; step && (more = drop_one(d)); step--)
			dropped++;
		drop_empty_heads(d);
		set_note(d, note, style, dropped);
		free(text);
		text = NULL;
		TRY(print_all(d, style, &text));
	}
	/* what is never left out is short; a case made to be long is cut */
	fwrite(text, 1, strlen(text) > style->limit ? utf8_cut(text, style->limit) : strlen(text),
	       out);
	return NULL;
}
