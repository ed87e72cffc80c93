// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_chain.c - a stall's causal chain, drawn: a lane per thread, links as blocks, an arrow where
 * the path passes from one thread to another; and the same as a table with citations.
 *
 * The leaves of the chain tile the stall, so the path is the leaves in order of time. A link that
 * is explained by others is drawn pale behind them.
 */
#include "html.h"

#include "escape.h"

#define WIDTH		960
#define LEFT		156	/* where the lanes begin; their names stand before */
#define RIGHT		952
#define TOP		8
#define LANE		38
#define BLOCK		24
#define LANES_MAX	10	/* the last one is for all others */
#define LINKS_DRAWN	600
#define LINKS_LISTED	30
#define ARROW_GAP	5.0
#define CHAR_WIDTH	6.3

const char *html_link_class(const char *kind)
{
	static const char *const kinds[] = {
		"running", "host", "vmm", "runnable", "preempted", "throttled", "blocked", "irq",
		"timer", "retry-loop", "folded", "unknown", "lost",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i], kind))
			return kinds[i];
	return "unknown";
}

struct lane {
	int64_t		tid;
	const char	*task;
};

struct drawing {
	struct json_object *stall;
	size_t		n;		/* links drawn */
	struct lane	lanes[LANES_MAX];
	size_t		n_lanes, others;
	int64_t		from, length;
};

static size_t lane_of(struct drawing *d, struct json_object *link)
{
	int64_t tid = js_int(link, js_has(link, "tid") ? "tid" : "_");
	size_t i;

	if (!js_has(link, "task") && !js_has(link, "tid"))
		return 0;
	for (i = 0; i < d->n_lanes; i++)
		if (d->lanes[i].tid == tid && (tid || !strcmp(d->lanes[i].task, js_str(link, "task"))))
			return i;
	if (d->n_lanes == LANES_MAX) {
		d->others++;
		return LANES_MAX - 1;
	}
	d->lanes[d->n_lanes++] = (struct lane){ .tid = tid, .task = js_str(link, "task") };
	return i;
}

static double x_of(const struct drawing *d, int64_t t)
{
	double x = d->length > 0 ? ((double)t - (double)d->from) / (double)d->length : 0;

	return LEFT + (x < 0 ? 0 : x > 1 ? 1 : x) * (RIGHT - LEFT);
}

static bool has_children(struct drawing *d, size_t i)
{
	/* depth first: a child stands right behind its parent */
	return js_has(js_at(d->stall, "links", i + 1), "parent") &&
	       js_int(js_at(d->stall, "links", i + 1), "parent") == js_int(js_at(d->stall, "links", i), "id");
}

static void put_block(struct html *h, struct drawing *d, size_t i)
{
	struct json_object *link = js_at(d->stall, "links", i);
	_cleanup_free_ char *says = text_link_phrase(link, INT64_MIN);
	double x = x_of(d, js_int(link, "start_ns")), end = x_of(d, js_int(link, "start_ns") + js_int(link, "duration_ns"));
	double y = TOP + (double)lane_of(d, link) * LANE, w = MAX(end - x, 0.8);
	bool parent = has_children(d, i);
	char time[HUMAN_MAX];
	size_t room;

	if (parent) {
		html_rawf(h, "<rect class=\"back k-%s\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>\n",
			  html_link_class(js_str(link, "kind")), x, y + 1, w, LANE - 6);
		return;
	}
	html_rawf(h, "<g class=\"k-%s\"><title>%zu. %s: ", html_link_class(js_str(link, "kind")), i + 1,
		  human_ns(time, js_int(link, "duration_ns")));
	html_cut(h, says, 160);
	html_rawf(h, "</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>", x, y + 4, w, BLOCK);
	room = (size_t)(w > 8 ? (w - 8) / CHAR_WIDTH : 0);
	if (room >= 3) {
		html_rawf(h, "<text x=\"%.1f\" y=\"%.0f\"><tspan class=\"no\">%zu</tspan>", x + 5, y + 20, i + 1);
		if (room >= 12) {
			html_raw(h, " ");
			html_cut(h, says, room - 4);
		}
		html_raw(h, "</text>");
	}
	html_raw(h, "</g>\n");
}

static void put_arrows(struct html *h, struct drawing *d)
{
	size_t i, before = SIZE_MAX;
	double last = -1000;

	for (i = 0; i < d->n; i++) {
		struct json_object *link = js_at(d->stall, "links", i);
		size_t lane = lane_of(d, link);
		double x = x_of(d, js_int(link, "start_ns"));

		if (has_children(d, i))
			continue;
		if (before != SIZE_MAX && lane != before && x - last >= ARROW_GAP) {
			bool down = lane > before;

			html_rawf(h, "<path class=\"arrow\" d=\"M%.1f %.0fV%.0f\"/>\n", x,
				  TOP + (double)before * LANE + (down ? 4 + BLOCK : 4),
				  TOP + (double)lane * LANE + (down ? 3 : 5 + BLOCK));
			last = x;
		}
		before = lane;
	}
}

static void put_lanes(struct html *h, struct drawing *d)
{
	size_t i;

	for (i = 0; i < d->n_lanes; i++) {
		_cleanup_free_ char *name = NULL;

		if (i == LANES_MAX - 1 && d->others)
			name = xstrdup("other threads");
		else if (d->lanes[i].tid)
			name = xasprintf("%.*s:%" PRId64, (int)display_cut(d->lanes[i].task, 24), d->lanes[i].task, d->lanes[i].tid);
		else
			name = xstrdup(d->lanes[i].task);
		html_rawf(h, "<path class=\"lane\" d=\"M%d %zuH%d\"/><text class=\"who\" x=\"%d\" y=\"%zu\">", LEFT,
			  TOP + i * LANE + 16, RIGHT, LEFT - 10, TOP + i * LANE + 20);
		html_cut(h, name, 22);
		html_raw(h, "</text>\n");
	}
}

static void put_axis(struct html *h, struct drawing *d)
{
	size_t y = TOP + d->n_lanes * LANE, k;
	char time[HUMAN_MAX];

	for (k = 0; k <= 4; k++)
		html_rawf(
			h,
			"<path class=\"tick\" d=\"M%.1f %zuv5\"/><text class=\"at a%zu\" x=\"%.1f\" y=\"%zu\">%s%s</text>\n",
			LEFT + (double)(RIGHT - LEFT) * (double)k / 4, y, k,
			LEFT + (double)(RIGHT - LEFT) * (double)k / 4, y + 18, k ? "+" : "",
			k ? human_ns(time, d->length / 4 * (int64_t)k) : human_time(time, d->from));
	html_rawf(h, "<path class=\"tick\" d=\"M%d %zuH%d\"/>\n", LEFT, y, RIGHT);
}

static void put_drawing(struct html *h, struct json_object *stall)
{
	struct drawing d = {
		.stall = stall,
		.n = MIN(js_len(stall, "links"), (size_t)LINKS_DRAWN),
		.lanes = { { .tid = js_int(stall, "tid"), .task = js_str(stall, "task") } },
		.n_lanes = 1,
		.from = js_int(stall, "start_ns"),
		.length = js_int(stall, "duration_ns"),
	};
	int64_t id = js_int(stall, "id");
	size_t i;

	for (i = 0; i < d.n; i++)
		lane_of(&d, js_at(stall, "links", i));
	html_rawf(h, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Drawn chain of stall %" PRId64 "\">"
		  "<svg class=\"chain\" role=\"img\" viewBox=\"0 0 %d %zu\" aria-label=\"The path of stall %" PRId64
		  " through %zu thread%s; the table below says the same in words\">\n",
		  id, WIDTH, TOP + d.n_lanes * LANE + 24, id, d.n_lanes, d.n_lanes == 1 ? "" : "s");
	put_lanes(h, &d);
	for (i = 0; i < d.n; i++)
		if (has_children(&d, i))
			put_block(h, &d, i);
	for (i = 0; i < d.n; i++)
		if (!has_children(&d, i))
			put_block(h, &d, i);
	put_arrows(h, &d);
	put_axis(h, &d);
	html_raw(h, "</svg></div>\n");
}

static void put_link(struct html *h, struct json_object *stall, size_t i)
{
	struct json_object *link = js_at(stall, "links", i);
	_cleanup_free_ char *says = text_link_phrase(link, js_int(stall, "tid"));
	char buf[HUMAN_MAX];

	html_rawf(h, "<tr><td class=\"n\">%zu</td><td class=\"n\">%s</td>", i + 1, human_ns(buf, js_int(link, "duration_ns")));
	html_share(h, js_int(link, "duration_ns"), js_int(stall, "duration_ns"));
	html_rawf(h, "<td class=\"kind\"><svg class=\"swatch\" aria-hidden=\"true\"><rect class=\"k-%s\" width=\"12\" height=\"12\"/></svg>%s</td><td class=\"wide d%" PRId64 "\">",
		  html_link_class(js_str(link, "kind")), html_link_class(js_str(link, "kind")), MIN(js_int(link, "depth"), (int64_t)6));
	html_name(h, says, 160);
	html_raw(h, "</td><td>");
	html_cites(h, js_get(link, "cites"), 2, true);
	html_raw(h, "</td></tr>\n");
}

static void put_links(struct html *h, struct json_object *stall)
{
	static const char *const heads[] = { ">no", ">time", ">share", "kind", "what", "where it says so" };
	_cleanup_free_ char *caption = xasprintf("The links of stall %" PRId64, js_int(stall, "id"));
	size_t n = js_len(stall, "links"), i;

	html_raw(h, "<div class=\"links\">");
	html_table(h, caption, heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < LINKS_LISTED; i++)
		put_link(h, stall, i);
	html_table_end(h);
	html_raw(h, "</div>\n");
	if (i < n)
		html_rawf(h, "<p class=\"note\">and %zu more links (<code>kvmortem chain --stall %" PRId64 "</code> shows all)</p>\n",
			  n - i, js_int(stall, "id"));
}

void html_chain(struct html *h, struct json_object *stall)
{
	_cleanup_free_ char *line = text_stall_line(&h->text, stall),
			    *ties = text_ties(&h->text, "stall_id", js_int(stall, "id"));
	int64_t id = js_int(stall, "id");

	html_rawf(h, "<details class=\"stall\"%s><summary><span class=\"id\">#%" PRId64 "</span> ",
		  h->n_drawn && h->drawn[0] == id ? " open" : "", id);
	html_name(h, line, 240);
	html_rawf(h, "</summary>\n<div id=\"stall-%" PRId64 "\" tabindex=\"-1\">\n", id);
	if (*js_str(stall, "cause") || js_len(stall, "cites")) {
		html_raw(h, "<p>");
		if (*js_str(stall, "cause")) {
			html_raw(h, "Because: ");
			html_name(h, js_str(stall, "cause"), 300);
			html_raw(h, " ");
		}
		html_cites(h, js_get(stall, "cites"), 2, false);
		html_raw(h, "</p>\n");
	}
	if (ties) {
		html_raw(h, "<p>This was ");
		html_name(h, ties, 400);
		html_raw(h, "</p>\n");
	}
	if (js_len(stall, "links")) {
		put_drawing(h, stall);
		put_links(h, stall);
	}
	html_raw(h, "</div></details>\n");
}
