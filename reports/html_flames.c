// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_flames.c - sampled stacks as a flame graph: callers above, what they call below; the width
 * is the number of samples.
 */
#include "html.h"

#include "escape.h"

#define WIDTH		960.0
#define ROW		18
#define DEPTH_MAX	48
#define NODES_MAX	6000
#define STACKS_MAX	20000
#define WIDTH_MIN	1.2	/* narrower ones are left out */
#define DRAWN_MAX	900
#define EVENTS_MAX	2
#define LISTED		12

struct node {
	char		*name;
	int64_t		count;
	uint32_t	child, next;	/* index, 0: none */
};

struct flames {
	struct node	*v;
	size_t		n, cap, drawn, depth;
};

static uint32_t child_of(struct flames *t, uint32_t parent, const char *name, size_t len)
{
	uint32_t i, last = 0;

	for (i = t->v[parent].child; i; last = i, i = t->v[i].next)
		if (strlen(t->v[i].name) == len && !memcmp(t->v[i].name, name, len))
			return i;
	if (t->n == NODES_MAX)
		return 0;
	GROW(t->v, t->cap, t->n + 1);
	t->v[t->n] = (struct node){ .name = xstrndup(name, len) };
	if (last)
		t->v[last].next = (uint32_t)t->n;
	else
		t->v[parent].child = (uint32_t)t->n;
	return (uint32_t)t->n++;
}

/* @frames: one a line, the innermost first. */
static void add_stack(struct flames *t, const char *frames, int64_t count)
{
	const char *end = frames + strlen(frames);
	uint32_t at = 0;
	int depth = 0;

	t->v[0].count += count;
	while (end > frames && depth++ < DEPTH_MAX) {
		const char *from = end;

		while (from > frames && from[-1] != '\n')
			from--;
		if (from < end) {
			at = child_of(t, at, from, (size_t)(end - from));
			if (!at)
				return;
			t->v[at].count += count;
		}
		end = from > frames ? from - 1 : frames;
	}
}

static void put_node(struct html *h, struct flames *t, uint32_t at, double x, size_t depth)
{
	double w = (double)t->v[at].count / (double)t->v[0].count * WIDTH, left = x;
	char buf[HUMAN_MAX], share[HUMAN_MAX];
	uint32_t i;

	if (w < WIDTH_MIN || t->drawn++ >= DRAWN_MAX)
		return;
	t->depth = MAX(t->depth, depth + 1);
	html_rawf(h, "<g class=\"f%u\"><title>", (unsigned int)(strlen(t->v[at].name) + (unsigned char)t->v[at].name[0]) % 4);
	html_cut(h, t->v[at].name, 100);
	html_textf(h, ": %s samples, %s", human_count(buf, t->v[at].count), human_share(share, t->v[at].count, t->v[0].count));
	html_rawf(h, "</title><rect x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>",
		  x, depth * ROW, w, ROW - 1);
	if (w > 34) {
		html_rawf(h, "<text x=\"%.1f\" y=\"%zu\">", x + 3, depth * ROW + 13);
		html_cut(h, t->v[at].name, (size_t)((w - 6) / 6.4));
		html_raw(h, "</text>");
	}
	html_raw(h, "</g>\n");
	for (i = t->v[at].child; i; i = t->v[i].next) {
		put_node(h, t, i, left, depth + 1);
		left += (double)t->v[i].count / (double)t->v[0].count * WIDTH;
	}
}

/* The innermost functions by samples: what a reader without the picture needs. */
static struct error *put_list(struct html *h, const char *event)
{
	static const char *const heads[] = { "innermost function", ">samples", ">share" };
	int64_t all = case_int(h->ctx->db, 0, "SELECT SUM(count) FROM stack_count WHERE event = ?", "s", event);
	struct error *err = NULL;
	char buf[HUMAN_MAX];
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st, "SELECT s.top, SUM(c.count) FROM stack_count c JOIN stack s ON s.id = c.stack_id WHERE c.event = ? "
		       "GROUP BY s.top ORDER BY 2 DESC, 1 LIMIT ?", "si", event, (int64_t)LISTED));
	html_table(h, "Where the samples were", heads, ARRAY_SIZE(heads));
	while (case_step(h->ctx->db, st, &err)) {
		html_row(h);
		html_head(h, (const char *)sqlite3_column_text(st, 0));
		html_num(h, human_count(buf, sqlite3_column_int64(st, 1)));
		html_share(h, sqlite3_column_int64(st, 1), all);
		html_row_end(h);
	}
	case_done(st);
	html_table_end(h);
	return err;
}

static struct error *put_graph(struct html *h, const char *event)
{
	_cleanup_free_ char *graph = NULL;
	struct flames t = { 0 };
	struct error *err = NULL;
	FILE *real = h->out;
	char count[HUMAN_MAX];
	sqlite3_stmt *st;
	size_t size = 0, i;

	TRY(case_query(h->ctx->db, &st, "SELECT s.frames, SUM(c.count) FROM stack_count c JOIN stack s ON s.id = c.stack_id WHERE c.event = ? "
		       "GROUP BY s.id ORDER BY 2 DESC, s.id LIMIT ?", "si", event, (int64_t)STACKS_MAX));
	GROW(t.v, t.cap, 1);
	t.v[t.n++] = (struct node){ .name = xstrdup("all") };
	while (case_step(h->ctx->db, st, &err))
		if (sqlite3_column_text(st, 0) && sqlite3_column_int64(st, 1) > 0)
			add_stack(&t, (const char *)sqlite3_column_text(st, 0),
				  sqlite3_column_int64(st, 1));
	case_done(st);
	h->out = open_memstream(&graph, &size);
	if (t.v[0].count)
		put_node(h, &t, 0, 0, 0);
	fclose(h->out);
	h->out = real;
	html_raw(h, "<h3>");
	html_name(h, event, 60);
	html_rawf(h, ": %s stacks</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Flame graph\"><svg class=\"flame\" role=\"img\" "
		  "viewBox=\"0 0 %.0f %zu\" aria-label=\"Flame graph, outermost functions on top; the table below lists the innermost functions\">\n",
		  human_count(count, t.v[0].count), WIDTH, MAX(t.depth, (size_t)1) * ROW);
	html_raw(h, graph);
	html_raw(h, "</svg></div>\n");
	for (i = 0; i < t.n; i++)
		free(t.v[i].name);
	free(t.v);
	return err ? err : put_list(h, event);
}

struct error *html_flames(struct html *h)
{
	char *events[EVENTS_MAX] = { NULL };
	struct error *err = NULL;
	size_t n = 0, i;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st, "SELECT event FROM stack_count GROUP BY event ORDER BY SUM(count) DESC, event LIMIT ?", "i", (int64_t)EVENTS_MAX));
	while (n < EVENTS_MAX && case_step(h->ctx->db, st, &err))
		events[n++] = xstrdup((const char *)sqlite3_column_text(st, 0));
	case_done(st);
	if (n && !err)
		html_section(h, "flames", "Sampled stacks");
	for (i = 0; i < n; i++) {
		if (!err)
			err = put_graph(h, events[i]);
		free(events[i]);
	}
	if (n && !err)
		html_section_end(h);
	return err;
}
