// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_timeline.c - the vCPUs' states over time with their stalls, one figure a recording.
 *
 * A row is a vCPU (or a task with long operations). Its slices are columns in which the eight
 * states stand above each other by their share, one <path> a state; neighbours of the same height
 * are one rectangle. Stalls are marks above the row; those whose chain is on the page are links.
 * x runs from 0 to UNITS over the recording; the script zooms by changing the viewBox. Slices are
 * averages; inside of stalls, where one zooms to, the links of the longest ones' chains say exactly
 * what was when, and are drawn over them.
 */
#include "html.h"

#include <math.h>

#define UNITS		100000
#define ROW		36
#define BAND		24	/* height of the states in a row */
#define BAND_Y		9
#define LEVELS		24	/* heights are multiples of BAND / LEVELS */
#define FIGURES_MAX	4
#define ROWS_MAX	32
#define COLUMNS_MAX	6000	/* of all figures; more slices are put together */
#define MINOR_MAX	400	/* marks of stalls without a chain here, a row */
#define EXACT_MAX	3000	/* links of all figures */

struct row {
	int64_t		vcpu, tid;	/* vcpu 0: a task's operations */
	char		*name;
};

struct figure {
	int64_t		source, from, to;
	struct row	rows[ROWS_MAX];
	size_t		n;
	size_t		left;		/* rows not shown */
	int64_t		merge;		/* slices a column */
	int64_t		exact;		/* links a row */
	int		digits;		/* of x behind the point: about 1 us, where there is room */
};

/* A rectangle of one state that goes on while its neighbours have the same height. */
struct run {
	double		x, end;
	int		y, height;
};

struct band {
	struct run	runs[8];
	FILE		*out[8];
	char		*text[8];
	size_t		size[8];
};

/* From the bottom: what is as it should be, then what is not. */
static const size_t order[8] = { 0, 3, 1, 2, 4, 5, 6, 7 };

static double x_of(const struct figure *f, double t)
{
	double x = f->to > f->from ? (t - (double)f->from) / ((double)f->to - (double)f->from) : 0;

	return UNITS * (x < 0 ? 0 : x > 1 ? 1 : x);
}

static int digits_of(int64_t span)
{
	int digits = (int)ceil(log10((double)span / UNITS / 1000));

	return digits < 0 ? 0 : digits > 3 ? 3 : digits;
}

static void end_run(struct band *b, size_t k)
{
	struct run *r = &b->runs[k];

	if (r->height > 0 && r->end > r->x)
		fprintf(b->out[k], "M%.0f %dH%.0fv%dH%.0fz", r->x, r->y, r->end, r->height, r->x);
	r->height = 0;
}

static void put_column(struct band *b, double x, double end, const int64_t ns[8])
{
	int64_t whole = 0, below = 0;
	size_t i;

	for (i = 0; i < 8; i++)
		whole += ns[i];
	for (i = 0; i < 8 && whole > 0; i++) {
		size_t k = order[i];
		int from = (int)((double)below / (double)whole * LEVELS + 0.5);
		int to = (int)((double)(below + ns[k]) / (double)whole * LEVELS + 0.5);
		int height = (to - from) * BAND / LEVELS, y = BAND_Y + BAND - to * BAND / LEVELS;
		struct run *r = &b->runs[k];

		below += ns[k];
		if (r->height == height && r->y == y && fabs(r->end - x) < 2) {
			r->end = end;
			continue;
		}
		end_run(b, k);
		*r = (struct run){ .x = x, .end = end, .y = y, .height = height };
	}
}

static struct error *put_states(struct html *h, const struct figure *f, size_t row)
{
	int64_t ns[8] = { 0 }, start = 0, end = 0, n = 0;
	struct band b = { 0 };
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t k;

	TRY(case_query(h->ctx->db, &st, "SELECT start_ns, duration_ns, guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, blocked_ns, "
		       "unknown_ns, lost_ns FROM state_slice WHERE vcpu_id = ? ORDER BY start_ns", "i", f->rows[row].vcpu));
	for (k = 0; k < 8; k++)
		b.out[k] = open_memstream(&b.text[k], &b.size[k]);
	while (case_step(h->ctx->db, st, &err)) {
		if (!n)
			start = sqlite3_column_int64(st, 0);
		end = sqlite3_column_int64(st, 0) + sqlite3_column_int64(st, 1);
		for (k = 0; k < 8; k++)
			ns[k] += sqlite3_column_int64(st, 2 + (int)k);
		if (++n < f->merge)
			continue;
		put_column(&b, x_of(f, (double)start), x_of(f, (double)end), ns);
		memset(ns, 0, sizeof(ns));
		n = 0;
	}
	if (n)
		put_column(&b, x_of(f, (double)start), x_of(f, (double)end), ns);
	case_done(st);
	for (k = 0; k < 8; k++) {
		end_run(&b, k);
		fclose(b.out[k]);
		if (b.size[k])
			html_rawf(h, "<path class=\"s-%s\" d=\"%s\"/>\n", html_states[k].class, b.text[k]);
		free(b.text[k]);
	}
	return err;
}

/* An exact rectangle; what is narrower than a pixel has an outline by its style to be seen. */
static void put_box(FILE *out, const struct figure *f, int64_t start, int64_t length, int y,
		    int height)
{
	double x = x_of(f, (double)start), w = x_of(f, (double)start + (double)length) - x;

	fprintf(out, "M%.*f %dh%.*fv%dh-%.*fz", f->digits, x, y, f->digits, w, height, f->digits, w);
}

static void put_mark(FILE *out, const struct figure *f, int64_t start, int64_t length)
{
	put_box(out, f, start, length, 2, 5);
}

/* The links that tile the row's longest stalls, one <path> a kind. */
static struct error *put_exact(struct html *h, const struct figure *f, size_t row)
{
	const struct row *r = &f->rows[row];
	const char *last = NULL;
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st,
		"WITH l AS (SELECT l.kind, l.start_ns, l.duration_ns FROM stall s JOIN chain_link l ON l.stall_id = s.id WHERE s.source_id = ?1 AND "
		"(?2 <> 0 AND s.vcpu_id = ?2 OR ?2 = 0 AND s.vcpu_id IS NULL AND s.tid = ?3) AND picked(s.vm_id, s.vcpu_id) AND l.depth = 0 "
		"ORDER BY s.duration_ns DESC, s.id, l.seq LIMIT ?4) SELECT kind, start_ns, duration_ns FROM l ORDER BY kind, start_ns", "iiii",
		f->source, r->vcpu, r->tid, f->exact));
	while (case_step(h->ctx->db, st, &err)) {
		const char *kind = html_link_class((const char *)sqlite3_column_text(st, 0));

		if (!last || strcmp(kind, last))
			html_rawf(h, "%s<path class=\"exact k-%s\" d=\"", last ? "\"/>\n" : "", kind);
		put_box(h->out, f, sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2), BAND_Y,
			BAND);
		last = kind;
	}
	if (last)
		html_raw(h, "\"/>\n");
	case_done(st);
	return err;
}

static struct error *put_stalls(struct html *h, const struct figure *f, size_t row)
{
	const struct row *r = &f->rows[row];
	_cleanup_free_ char *minor = NULL, *links = NULL;
	size_t size = 0, size_links = 0, n = 0;
	FILE *out = open_memstream(&minor, &size), *real = h->out;
	char length[HUMAN_MAX], at[HUMAN_MAX];
	struct error *err = NULL;
	sqlite3_stmt *st;

	h->out = open_memstream(&links, &size_links);
	TRY(case_query(h->ctx->db, &st, "SELECT id, start_ns, duration_ns, kind FROM stall WHERE source_id = ?1 AND (?2 <> 0 AND vcpu_id = ?2 OR "
		       "?2 = 0 AND vcpu_id IS NULL AND tid = ?3) AND picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id", "iii", f->source, r->vcpu, r->tid));
	while (case_step(h->ctx->db, st, &err)) {
		int64_t id = sqlite3_column_int64(st, 0), start = sqlite3_column_int64(st, 1),
			ns = sqlite3_column_int64(st, 2);

		if (!html_is_drawn(h, id)) {
			if (n++ < MINOR_MAX)
				put_mark(out, f, start, ns);
			continue;
		}
		html_rawf(h, "<a href=\"#stall-%" PRId64 "\" aria-label=\"Stall %" PRId64 ", %s at %s: its causal chain\">"
			  "<path class=\"mark\" d=\"", id, id, human_ns(length, ns), human_time(at, start));
		put_mark(h->out, f, start, ns);
		html_raw(h, "\"/><path class=\"reach\" d=\"");
		put_box(h->out, f, start, ns, BAND_Y, BAND);
		html_rawf(h, "\"/><title>#%" PRId64 ": %s</title></a>\n", id, length);
	}
	case_done(st);
	fclose(out);
	fclose(h->out);
	h->out = real;
	if (size)
		html_rawf(h, "<path class=\"minor\" d=\"%s\"/>\n", minor);
	html_raw(h, links);
	return err;
}

static void put_axis(struct html *h, const struct figure *f)
{
	char buf[HUMAN_MAX];
	int k;

	html_raw(h, "<svg class=\"tl-axis\" width=\"100%\" height=\"24\" aria-hidden=\"true\">");
	for (k = 0; k <= 4; k++)
		html_rawf(h, "<line x1=\"%d%%\" x2=\"%d%%\" y2=\"5\"/><text class=\"a%d\" x=\"%d%%\" y=\"18\">%s%s</text>", 25 * k, 25 * k, k, 25 * k,
			  k ? "+" : "", k ? human_ns(buf, (f->to - f->from) / 4 * k) : human_time(buf, f->from));
	html_raw(h, "</svg>\n");
}

static void put_tools(struct html *h)
{
	static const char *const buttons[][3] = {
		{ "in", "+", "Zoom in" }, { "out", "−", "Zoom out" }, { "left", "◀", "Earlier" },
		{ "right", "▶", "Later" }, { "all", "All", "Show all" },
	};
	size_t i;

	html_raw(h, "<div class=\"tl-tools\" hidden>");
	for (i = 0; i < ARRAY_SIZE(buttons); i++)
		html_rawf(h, "<button type=\"button\" data-do=\"%s\" aria-label=\"%s\" title=\"%s\">%s</button>", buttons[i][0], buttons[i][2],
			  buttons[i][2], buttons[i][1]);
	html_raw(h, "<output></output></div>\n");
}

static struct error *put_figure(struct html *h, const struct figure *f, size_t number)
{
	char from[HUMAN_MAX], length[HUMAN_MAX];
	size_t i;

	html_rawf(h, "<figure class=\"tl\" data-from=\"%" PRId64 "\" data-to=\"%" PRId64 "\">\n<figcaption>", f->from, f->to);
	html_name(h, text_source(&h->text, f->source), 60);
	html_rawf(h, ": %s from %s</figcaption>\n", human_ns(length, f->to - f->from), human_time(from, f->from));
	put_tools(h);
	html_raw(h, "<div class=\"tl-body\"><ul class=\"tl-names\">\n");
	for (i = 0; i < f->n; i++) {
		html_raw(h, "<li>");
		html_name(h, f->rows[i].name, 24);
		html_raw(h, "</li>\n");
	}
	html_rawf(h, "</ul><div class=\"tl-view\" tabindex=\"0\" role=\"group\" aria-label=\"Timeline %zu: vCPU states and stalls over time. Keys: plus and "
		  "minus zoom, arrows move, 0 shows all; Tab goes to the marked stalls. The table of vCPUs and the list of stalls say the same in "
		  "words.\">\n<svg class=\"tl-svg\" viewBox=\"0 0 %d %zu\" width=\"100%%\" height=\"%zu\" preserveAspectRatio=\"none\">\n", number, UNITS,
		  f->n * ROW, f->n * ROW);
	for (i = 0; i < f->n; i++) {
		html_rawf(h, "<g transform=\"translate(0 %zu)\"><rect class=\"bed\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", i * ROW, BAND_Y, UNITS, BAND);
		if (f->rows[i].vcpu)
			TRY(put_states(h, f, i));
		TRY(put_exact(h, f, i));
		TRY(put_stalls(h, f, i));
		html_raw(h, "</g>\n");
	}
	html_raw(h, "</svg>\n");
	put_axis(h, f);
	html_raw(h, "</div></div>\n");
	if (f->left)
		html_rawf(h, "<p class=\"note\">and %zu more rows that stalled less</p>\n", f->left);
	html_raw(h, "</figure>\n");
	return NULL;
}

static void put_legend(struct html *h)
{
	size_t i;

	html_raw(h, "<ul class=\"legend\" aria-label=\"Legend\">\n");
	for (i = 0; i < 8; i++)
		html_rawf(h, "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"s-%s\" width=\"14\" height=\"14\"/></svg><b>%s</b> %s</li>\n",
			  html_states[i].class, html_states[i].name, html_states[i].words);
	html_raw(h, "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"mark\" y=\"4\" width=\"14\" height=\"5\"/></svg>"
		    "<b>stall</b> with its chain below: click or Enter opens it</li>\n"
		    "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"minor\" y=\"4\" width=\"14\" height=\"5\"/></svg>"
		    "<b>stall</b> one of a pattern</li>\n"
		    "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"k-throttled\" width=\"14\" height=\"14\"/></svg>"
		    "<b>throttled</b> in a stall: held by its group’s quota</li>\n"
		    "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"k-running\" width=\"14\" height=\"14\"/></svg>"
		    "<b>running</b> in a stall: an operation on its CPU</li>\n</ul>\n"
		    "<p class=\"note\">Columns are averages of a stretch of time. Inside of the longest stalls the states are exact, in the colours of "
		    "their chains below.</p>\n"
		    "<p class=\"note tl-hint\" hidden>Drag selects a stretch to zoom to; the wheel zooms once the timeline has the focus (or with Ctrl); "
		    "keys: + − arrows 0.</p>\n");
}

/* The rows of a recording: vCPUs, those that stalled longest first where there are many; then
 * tasks. */
static struct error *find_rows(struct html *h, struct figure *f)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st,
		"SELECT vcpu, tid, name FROM (SELECT v.id AS vcpu, v.tid AS tid, NULL AS name, v.vm_id AS vm, v.vcpu AS no, 0 AS kind, "
		"(SELECT SUM(duration_ns) FROM stall s WHERE s.vcpu_id = v.id) AS stalled FROM vcpu v WHERE v.source_id = ?1 AND picked(v.vm_id, v.id) "
		"AND EXISTS (SELECT 1 FROM state_slice l WHERE l.vcpu_id = v.id) "
		"UNION ALL SELECT NULL, tid, task, vm_id, tid, 1, SUM(duration_ns) FROM stall WHERE source_id = ?1 AND vcpu_id IS NULL AND tid IS NOT NULL "
		"AND picked(vm_id, vcpu_id) GROUP BY tid) ORDER BY kind, stalled DESC, vm, no", "i", f->source));
	while (case_step(h->ctx->db, st, &err)) {
		struct row *r = &f->rows[f->n];

		if (f->n == ROWS_MAX) {
			f->left++;
			continue;
		}
		*r = (struct row){.vcpu = sqlite3_column_int64(st, 0),
				  .tid = sqlite3_column_int64(st, 1)};
		if (r->vcpu) {
			_cleanup_free_ char *vcpu = text_vcpu(&h->text, r->vcpu);

			r->name = strncmp(vcpu, "vCPU", 4) ? xasprintf("thread %" PRId64, r->tid) : xstrdup(vcpu);
		} else {
			r->name = xasprintf("%s:%" PRId64, (const char *)sqlite3_column_text(st, 2), r->tid);
		}
		f->n++;
	}
	case_done(st);
	return err;
}

/* The recordings of verdicts first, then those that stalled most. */
static struct error *find_figures(struct html *h, struct figure *f, size_t *n, size_t *left)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st,
		"SELECT s.id, s.first_ns, s.last_ns FROM source s WHERE s.first_ns IS NOT NULL AND s.last_ns > s.first_ns AND "
		"(EXISTS (SELECT 1 FROM state_slice l WHERE l.source_id = s.id AND l.unknown_ns < l.duration_ns) OR EXISTS (SELECT 1 FROM stall t WHERE t.source_id = s.id)) "
		"ORDER BY (SELECT MIN(v.id) FROM verdict v WHERE v.source_id = s.id AND v.verdict IN ('match', 'likely', 'possible')) IS NULL, "
		"(SELECT MIN(v.id) FROM verdict v WHERE v.source_id = s.id AND v.verdict IN ('match', 'likely', 'possible')), "
		"(SELECT SUM(duration_ns) FROM stall t WHERE t.source_id = s.id) DESC, s.id", ""));
	while (case_step(h->ctx->db, st, &err)) {
		if (*n == FIGURES_MAX) {
			++*left;
			continue;
		}
		f[(*n)++] = (struct figure){.source = sqlite3_column_int64(st, 0),
					    .from = sqlite3_column_int64(st, 1),
					    .to = sqlite3_column_int64(st, 2)};
	}
	case_done(st);
	return err;
}

struct error *html_timeline(struct html *h)
{
	struct figure *f = xcalloc(FIGURES_MAX, sizeof(*f));
	size_t n = 0, left = 0, rows = 0, i, k;
	int64_t slices = case_int(h->ctx->db, 0, "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM state_slice GROUP BY vcpu_id)", "");
	struct error *err = find_figures(h, f, &n, &left);

	for (i = 0; i < n && !err; i++) {
		err = find_rows(h, &f[i]);
		rows += f[i].n;
	}
	if (rows && !err) {
		html_section(h, "timeline", "Timeline");
		put_legend(h);
		for (i = 0; i < n && !err; i++) {
			f[i].merge = MAX(slices * (int64_t)rows / COLUMNS_MAX, (int64_t)1);
			f[i].exact = (int64_t)(EXACT_MAX / rows);
			f[i].digits = digits_of(f[i].to - f[i].from);
			err = f[i].n ? put_figure(h, &f[i], i + 1) : NULL;
		}
		if (left)
			html_rawf(h, "<p class=\"note\">and %zu more recording%s (analyse one alone to see it)</p>\n", left, left == 1 ? "" : "s");
		html_section_end(h);
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < f[i].n; k++)
			free(f[i].rows[k].name);
	free(f);
	return err;
}
