// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_spans.c - when the sources were there: a bar each on the axis they share (table axis), and
 * why the others are on none; and what the input can answer.
 */
#include "text.h"

#include "escape.h"
#include "questions.h"

#define SPANS_SHOWN	24
#define ALONE_NAMED	4
#define NAME_COLUMNS	25
#define OTHER_COLUMNS	54	/* of the chart, besides the bar */
#define BAR_MIN		12
#define BAR_MAX		72

struct span {
	struct json_object *s;
	int64_t		axis, from, to, uncertainty;
};

struct spans {
	struct span	*v;
	size_t		n, cap;
};

static int by_axis_and_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->axis != y->axis)
		return x->axis < y->axis ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return js_int(x->s, "id") < js_int(y->s, "id") ? -1 : 1;
}

static void collect(struct text *t, struct spans *l)
{
	size_t i;

	for (i = 0; i < json_object_array_length(t->sources); i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);
		struct span sp = { .s = s, .axis = js_int(s, "axis"), .uncertainty = js_int(s, "axis_uncertainty_ns") };

		if (!js_has(s, "axis_offset_ns") ||
		    __builtin_add_overflow(js_int(s, "first_ns"), js_int(s, "axis_offset_ns"), &sp.from) ||
		    __builtin_add_overflow(js_int(s, "last_ns"), js_int(s, "axis_offset_ns"), &sp.to) ||
		    sp.to < sp.from || sp.from < -INT64_MAX / 2 || sp.to > INT64_MAX / 2)
			continue;
		GROW(l->v, l->cap, l->n + 1);
		l->v[l->n++] = sp;
	}
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_axis_and_time);
}

static int within(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

/* "|   ====     |" : where in the axis's time from @from to @to the source was there. */
static void bar_of(const struct span *s, int64_t from, int64_t to, int width, char *bar)
{
	double whole = to > from ? (double)to - (double)from : 1;
	int begin = (int)(((double)s->from - (double)from) / whole * width),
	    end = (int)(((double)s->to - (double)from) / whole * width), i;

	begin = within(begin, 0, width - 1);
	end = within(end, begin, width - 1);
	bar[0] = bar[width + 1] = '|';
	for (i = 0; i < width; i++)
		bar[i + 1] = i >= begin && i <= end ? '=' : ' ';
	bar[width + 2] = '\0';
}

/* Of a long path the end tells more. */
static void cell_name(struct text *t, struct table *table, const char *path)
{
	_cleanup_free_ char *clean = NULL;
	const char *p = text_path(t, path);

	clean = escape_terminal(p, strlen(p));
	p = clean;
	while (display_width(p) > NAME_COLUMNS)
		for (p++; (*p & 0xc0) == 0x80; p++)
			;
	table_cellf(table, "%s%s", p > clean ? "…" : "", p);
}

static int bar_width(const struct text *t)
{
	return within(t->width - OTHER_COLUMNS, BAR_MIN, BAR_MAX);
}

/* The @n sources of one axis. */
static void put_axis(struct text *t, const struct span *v, size_t n)
{
	static const struct table_column columns[] = {
		{ "source", TABLE_CUT }, { "when", TABLE_LEFT }, { "length", TABLE_RIGHT },
		{ "+-", TABLE_RIGHT | TABLE_HIDE_EMPTY | TABLE_OPTIONAL },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	size_t shown = t->verbose ? n : MIN(n, (size_t)SPANS_SHOWN), i;
	int64_t from = v[0].from, to = v[0].to;
	const char *clock = js_str(v[0].s, "axis_clock");
	char start[HUMAN_MAX], whole[HUMAN_MAX], buf[HUMAN_MAX], bar[BAR_MAX + 3];

	for (i = 0; i < n; i++) {
		from = MIN(from, v[i].from);
		to = MAX(to, v[i].to);
	}
	text_para(t, 2, 4, "On %s%s%s, %s from %s:", strcmp(clock, "wall") ? "the clock \"" : "the wall clock",
		  strcmp(clock, "wall") ? clock : "", strcmp(clock, "wall") ? "\"" : "", human_ns(whole, to - from),
		  human_time(start, from));
	for (i = 0; i < shown; i++) {
		cell_name(t, table, js_str(v[i].s, "path"));
		bar_of(&v[i], from, to, bar_width(t), bar);
		table_cell(table, bar);
		table_cell(table, human_ns(buf, v[i].to - v[i].from));
		table_cell(table, v[i].uncertainty > 0 ? human_ns(buf, v[i].uncertainty) : "");
	}
	text_table(t, table, 4);
	if (shown < n)
		text_para(t, 4, 4, "and %zu more (-v shows all)", n - shown);
	for (i = 0; t->verbose && i < n; i++)
		text_para(t, 4, 6, "%s: %s", text_path(t, js_str(v[i].s, "path")), js_str(v[i].s, "axis_why"));
}

/* Sources on an axis of their own, those of one reason together. */
static size_t put_alone(struct text *t)
{
	size_t i, k, n = json_object_array_length(t->sources), said = 0;
	_cleanup_free_ bool *done = xcalloc(n + 1, sizeof(*done));

	for (i = 0; i < n; i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);
		_cleanup_free_ char *names = NULL;
		size_t count = 0;

		if (done[i] || !js_has(s, "axis") || js_has(s, "axis_offset_ns"))
			continue;
		for (k = i; k < n; k++) {
			struct json_object *o = json_object_array_get_idx(t->sources, k);
			char from[HUMAN_MAX], to[HUMAN_MAX];

			if (!js_has(o, "axis") || js_has(o, "axis_offset_ns") || strcmp(js_str(o, "axis_why"), js_str(s, "axis_why")))
				continue;
			done[k] = true;
			if (count++ < ALONE_NAMED || t->verbose)
				text_join(&names, ", ", "%s (%s to %s)", text_path(t, js_str(o, "path")),
					  human_time(from, js_int(o, "first_ns")), human_time(to, js_int(o, "last_ns")));
		}
		if (count > ALONE_NAMED && !t->verbose)
			text_join(&names, "", " and %zu more", count - ALONE_NAMED);
		text_para(t, 2, 4, "On %s own clock: %s. Why: %s.", count == 1 ? "its" : "each its", names,
			  js_str(s, "axis_why"));
		said++;
	}
	return said;
}

struct error *text_spans(struct text *t)
{
	struct spans l = { 0 };
	size_t i, k, alone = 0;

	for (i = 0; i < json_object_array_length(t->sources); i++)
		alone += js_has(json_object_array_get_idx(t->sources, i), "axis");
	if (!alone)
		return NULL;
	collect(t, &l);
	text_heading(t, "Time spans");
	for (i = 0; i < l.n; i = k) {
		for (k = i + 1; k < l.n && l.v[k].axis == l.v[i].axis; k++)
			;
		put_axis(t, l.v + i, k - i);
	}
	put_alone(t);
	free(l.v);
	return NULL;
}

struct error *text_questions(struct text *t)
{
	static const char *const order[] = { "yes", "partly", "no" };
	_cleanup_json_ struct json_object *all = NULL;
	size_t i, k;

	TRY(questions_array(t->ctx, &all));
	text_heading(t, "What this evidence can answer, and what it cannot");
	for (k = 0; k < ARRAY_SIZE(order); k++)
		for (i = 0; i < json_object_array_length(all); i++) {
			struct json_object *q = json_object_array_get_idx(all, i);

			if (!strcmp(js_str(q, "answer"), order[k]))
				text_item(t, 2, 10, k ? k == 1 ? t->yellow : t->red : t->green, order[k], "%s (%s)",
					  js_str(q, "question"), js_str(q, "because"));
		}
	return NULL;
}
