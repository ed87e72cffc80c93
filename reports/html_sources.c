// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_sources.c - what was sent in: hosts, recordings and other sources on the time axes they
 * share, with their losses.
 */
#include "html.h"

#define ROWS_SHOWN	40
#define LOSS_MARKS	200
#define MEMBERS_SHOWN	200

struct span {
	struct json_object *s;
	int64_t		axis, from, to;
	bool		alone;
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

static size_t collect(struct html *h, struct span **ret)
{
	size_t i, n = 0, cap = 0;
	struct span *v = NULL;

	for (i = 0; i < json_object_array_length(h->text.sources); i++) {
		struct json_object *s = json_object_array_get_idx(h->text.sources, i);
		struct span sp = { .s = s, .axis = js_int(s, "axis"), .alone = !js_has(s, "axis_offset_ns") };

		if (!js_has(s, "axis") || !js_has(s, "first_ns") || !js_has(s, "last_ns") ||
		    __builtin_add_overflow(js_int(s, "first_ns"), js_int(s, "axis_offset_ns"), &sp.from) ||
		    __builtin_add_overflow(js_int(s, "last_ns"), js_int(s, "axis_offset_ns"), &sp.to) ||
		    sp.to < sp.from || sp.from < -INT64_MAX / 2 || sp.to > INT64_MAX / 2)
			continue;
		GROW(v, cap, n + 1);
		v[n++] = sp;
	}
	if (n)
		qsort(v, n, sizeof(*v), by_axis_and_time);
	*ret = v;
	return n;
}

static double percent(int64_t t, int64_t from, int64_t to)
{
	double p = to > from ? 100.0 * ((double)t - (double)from) / ((double)to - (double)from) : 0;

	return p < 0 ? 0 : p > 100 ? 100 : p;
}

static struct error *put_losses(struct html *h, const struct span *sp, int64_t from, int64_t to)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st, "SELECT time_ns FROM loss WHERE source_id = ? AND time_ns IS NOT NULL ORDER BY id LIMIT ?",
		       "ii", js_int(sp->s, "id"), (int64_t)LOSS_MARKS));
	while (case_step(h->ctx->db, st, &err))
		html_rawf(h, "<rect class=\"loss\" x=\"%.2f%%\" width=\"2\" height=\"16\"/>",
			  percent(sqlite3_column_int64(st, 0) + (sp->from - js_int(sp->s, "first_ns")), from, to));
	case_done(st);
	return err;
}

static struct error *put_row(struct html *h, const struct span *sp, int64_t from, int64_t to)
{
	double x = percent(sp->from, from, to), end = percent(sp->to, from, to);
	char buf[HUMAN_MAX], u[HUMAN_MAX];

	html_raw(h, "<tr><th scope=\"row\">");
	html_name(h, text_path(&h->text, js_str(sp->s, "path")), 48);
	html_raw(h, "</th><td>");
	html_name(h, js_str(sp->s, "format"), 24);
	html_raw(h, "</td><td class=\"span\"><svg height=\"16\" width=\"100%\" aria-hidden=\"true\">"
		    "<rect class=\"track\" width=\"100%\" height=\"16\"/>");
	html_rawf(h, "<rect class=\"there\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"3\" height=\"10\"/>", x, MAX(end - x, 0.4));
	TRY(put_losses(h, sp, from, to));
	html_raw(h, "</svg></td>");
	html_num(h, human_time(buf, js_int(sp->s, "first_ns")));
	html_num(h, human_ns(buf, sp->to - sp->from));
	html_num(h, js_int(sp->s, "events") ? human_count(buf, js_int(sp->s, "events")) : "");
	html_num(h, js_int(sp->s, "lost") > 0 ? human_count(buf, js_int(sp->s, "lost")) : "");
	html_num(h, js_int(sp->s, "axis_uncertainty_ns") > 0 ? human_ns(u, js_int(sp->s, "axis_uncertainty_ns")) : "");
	html_row_end(h);
	return NULL;
}

/* Sources of one axis, or one source on its own clock. */
static struct error *put_axis(struct html *h, const struct span *v, size_t n)
{
	static const char *const heads[] = { "source", "format", "when", ">from", ">length", ">events", ">lost", ">±" };
	_cleanup_free_ char *caption = NULL;
	int64_t from = v[0].from, to = v[0].to;
	char whole[HUMAN_MAX], start[HUMAN_MAX];
	size_t i;

	for (i = 0; i < n; i++) {
		from = MIN(from, v[i].from);
		to = MAX(to, v[i].to);
	}
	caption = v[0].alone ? xasprintf("On a clock of its own (%s): %s from %s", js_str(v[0].s, "axis_why"),
					 human_ns(whole, to - from), human_time(start, from))
			     : xasprintf("On one axis, the clock “%s”: %s from %s", js_str(v[0].s, "axis_clock"),
					 human_ns(whole, to - from), human_time(start, from));
	html_table(h, caption, heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < ROWS_SHOWN; i++)
		TRY(put_row(h, &v[i], from, to));
	html_table_end(h);
	if (i < n)
		html_rawf(h, "<p class=\"note\">and %zu more sources (<code>kvmortem info</code>)</p>\n", n - i);
	return NULL;
}

/* One line for each distinct machine that the sources name. */
static void put_hosts(struct html *h)
{
	_cleanup_free_ char *before = NULL;
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(h->text.sources); i++) {
		struct json_object *s = json_object_array_get_idx(h->text.sources, i);
		_cleanup_free_ char *line = NULL;

		if (js_has(s, "host"))
			text_join(&line, ", ", "%s", js_str(s, "host"));
		if (js_has(s, "kernel"))
			text_join(&line, ", ", "kernel %s", js_str(s, "kernel"));
		if (js_has(s, "arch"))
			text_join(&line, ", ", "%s", js_str(s, "arch"));
		if (js_int(s, "cpus") > 0)
			text_join(&line, ", ", "%" PRId64 " CPU%s", js_int(s, "cpus"), js_int(s, "cpus") == 1 ? "" : "s");
		if (!line || (before && !strcmp(before, line)))
			continue;
		html_raw(h, n++ ? "" : "<dl class=\"facts\">\n");
		html_rawf(h, "<div><dt>%s</dt><dd>", strcmp(js_str(s, "side"), "guest") ? "Host" : "Guest");
		html_says(h, line);
		html_raw(h, "</dd></div>\n");
		free(before);
		before = xstrdup(line);
	}
	if (n)
		html_raw(h, "</dl>\n");
}

static struct error *put_members(struct html *h)
{
	static const char *const heads[] = { "file", "format", ">size", "read", "remark" };
	_cleanup_json_ struct json_object *members = NULL;
	char buf[HUMAN_MAX];
	size_t i, n;

	TRY(model_array(h->ctx, MODEL_MEMBERS, NULL, NULL, &members));
	n = json_object_array_length(members);
	html_rawf(h, "<details><summary>All %zu file%s</summary>\n", n, n == 1 ? "" : "s");
	html_table(h, "Files of the case", heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < MEMBERS_SHOWN; i++) {
		struct json_object *m = json_object_array_get_idx(members, i);

		html_row(h);
		html_head(h, text_path(&h->text, js_str(m, "path")));
		html_cell(h, js_str(m, "format"));
		html_num(h, js_has(m, "bytes") ? human_bytes(buf, js_int(m, "bytes")) : "");
		html_cell(h, js_str(m, "status"));
		html_cell(h, js_str(m, "message"));
		html_row_end(h);
	}
	html_table_end(h);
	if (i < n)
		html_rawf(h, "<p class=\"note\">and %zu more (<code>kvmortem info -v</code>)</p>\n", n - i);
	html_raw(h, "</details>\n");
	return NULL;
}

struct error *html_sources(struct html *h)
{
	struct error *err = NULL;
	struct span *v;
	size_t n, i, k;

	html_section(h, "sources", "What was sent in");
	put_hosts(h);
	n = collect(h, &v);
	for (i = 0; i < n && !err; i = k) {
		for (k = i + 1; k < n && !v[i].alone && v[k].axis == v[i].axis; k++)
			;
		err = put_axis(h, v + i, k - i);
	}
	free(v);
	if (!err)
		err = put_members(h);
	html_section_end(h);
	return err;
}
