// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_plots.c - the case's plots: run-queue delays, waits and long calls over time, binned
 * counters (table series).
 */
#include "html.h"

#include "plot.h"

#define BINS_MAX	64
#define CURVES_MAX	PLOT_COLOURS
#define POINTS_MAX	1500
#define SOURCES_MAX	3
#define SERIES_BINS	512

struct curve {
	struct plot_point points[BINS_MAX + 1];
	size_t		n;
	char		*name;
	double		total, none;	/* waits, and those of no length */
};

/* One source's histogram of run-queue delays: all vCPUs as bars, each vCPU's share below as steps.
 */
static struct error *delay_curves(struct html *h, int64_t source, struct curve *all,
				  struct curve *each, size_t *n)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	int64_t last = -1;

	TRY(case_query(h->ctx->db, &st, "SELECT subject_id, low_ns, high_ns, count FROM histogram g WHERE source_id = ? AND name = 'runq' AND "
		       "picked((SELECT vm_id FROM vcpu v WHERE v.id = g.subject_id), subject_id) ORDER BY subject_id, low_ns", "i", source));
	while (case_step(h->ctx->db, st, &err)) {
		int64_t subject = sqlite3_column_int64(st, 0);
		double low = (double)sqlite3_column_int64(st, 1),
		       high = (double)sqlite3_column_int64(st, 2),
		       count = (double)sqlite3_column_int64(st, 3);
		struct curve *c;
		size_t i;

		if (low <= 0) {		/* no wait at all: has no place on a logarithmic axis */
			all->none += count;
			continue;
		}
		for (i = 0; i < all->n && all->points[i].x < low; i++)
			;
		if (i == all->n || all->points[i].x > low) {
			if (all->n == BINS_MAX)
				continue;
			memmove(&all->points[i + 1], &all->points[i],
				(all->n++ - i) * sizeof(all->points[0]));
			all->points[i] = (struct plot_point){ .x = low, .x_end = high };
		}
		all->points[i].y += count;
		all->total += count;
		if (subject != last && *n < CURVES_MAX)
			each[(*n)++].name = text_vcpu(&h->text, subject);
		else if (subject != last)
			subject = -1;
		if (subject < 0)
			continue;
		last = subject;
		c = &each[*n - 1];
		if (!c->n)
			c->points[c->n++] = (struct plot_point){ .x = low };
		if (c->n > BINS_MAX)
			continue;
		c->total += count;
		c->points[c->n] = (struct plot_point){ .x = high, .y = c->total };
		c->n++;
	}
	case_done(st);
	return err;
}

static void put_delays(struct html *h, int64_t source, struct curve *all, struct curve *each,
		       size_t n)
{
	struct plot_series bars = { .name = "waits", .kind = PLOT_BARS, .points = all->points, .n = all->n }, steps[CURVES_MAX];
	_cleanup_free_ char *title = xasprintf("Waits by length, %s", text_source(&h->text, source)),
			    *title_cdf = xasprintf("Share of waits up to a length, %s", text_source(&h->text, source));
	struct plot p = {
		.title = title, .x = { .label = all->none > 0 ? "wait for a CPU (those below 2 ns are left out)" : "wait for a CPU",
				       .unit = PLOT_NS, .log = true },
		.y = { .label = "waits", .log = true, .min = 1, .max = 1 }, .series = &bars, .n_series = 1,
	};
	size_t i, k;

	svg_plot(h->out, &p);
	for (i = 0; i < n; i++) {
		for (k = 0; k < each[i].n; k++)
			each[i].points[k].y /= each[i].total;
		steps[i] = (struct plot_series){.name = each[i].name,
						.kind = PLOT_STEPS,
						.colour = (int)i,
						.points = each[i].points,
						.n = each[i].n};
	}
	p = (struct plot){ .title = title_cdf, .x = p.x, .y = { .label = "share", .unit = PLOT_SHARE, .min = 0, .max = 1 }, .series = steps, .n_series = n };
	svg_plot(h->out, &p);
}

struct error *html_delay_plots(struct html *h)
{
	size_t i, k, shown = 0;

	html_raw(h, "<div class=\"plots\">\n");
	for (i = 0; i < json_object_array_length(h->text.sources) && shown < SOURCES_MAX; i++) {
		int64_t source = js_int(json_object_array_get_idx(h->text.sources, i), "id");
		struct curve *c = xcalloc(CURVES_MAX + 1, sizeof(*c));
		size_t n = 0;
		struct error *err = delay_curves(h, source, c, c + 1, &n);

		if (!err && n) {
			put_delays(h, source, c, c + 1, n);
			shown++;
		}
		for (k = 0; k <= CURVES_MAX; k++)
			free(c[k].name);
		free(c);
		TRY(err);
	}
	html_raw(h, "</div>\n");
	return NULL;
}

/* Points of several kinds from SQL: columns kind, x, y, name; kinds are dense from 0. */
struct cloud {
	struct plot_point *points[PLOT_COLOURS];
	size_t		n[PLOT_COLOURS], cap[PLOT_COLOURS], all;
	char		*name[PLOT_COLOURS];
};

static struct error *gather(struct html *h, struct cloud *c, const char *sql, int64_t source)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st, sql, "i", source));
	while (case_step(h->ctx->db, st, &err)) {
		int kind = sqlite3_column_int(st, 0);
		const char *name = (const char *)sqlite3_column_text(st, 3);

		if (kind < 0 || kind >= PLOT_COLOURS || c->all >= POINTS_MAX)
			continue;
		GROW(c->points[kind], c->cap[kind], c->n[kind] + 1);
		c->points[kind][c->n[kind]++] = (struct plot_point){
			.x = sqlite3_column_double(st, 1), .y = sqlite3_column_double(st, 2)};
		if (!c->name[kind])
			c->name[kind] = xstrdup(name ? name : "");
		c->all++;
	}
	case_done(st);
	return err;
}

static size_t cloud_series(const struct cloud *c, enum plot_kind kind, struct plot_series *s)
{
	size_t i, n = 0;

	for (i = 0; i < PLOT_COLOURS; i++)
		if (c->n[i]) {
			s[n] = (struct plot_series){ .name = c->name[i],
						     .kind = kind,
						     .colour = (int)i };
			s[n].points = c->points[i];
			s[n].n = c->n[i];
			n++;
		}
	return n;
}

static void cloud_free(struct cloud *c)
{
	size_t i;

	for (i = 0; i < PLOT_COLOURS; i++) {
		free(c->points[i]);
		free(c->name[i]);
	}
}

static const struct over_time {
	const char	*title, *y_label, *sql;
	enum plot_kind	kind;
	enum plot_unit	unit;
	bool		log;
} plots[] = {
	{ "MMU roots over time", "root loads a second", NULL, PLOT_STEPS, PLOT_NUMBER, false },
	{ "The longest waits of vCPUs for a CPU, by who had it meanwhile", "wait",
	  "SELECT CASE WHEN idle_ns * 2 > duration_ns THEN 0 WHEN sibling_ns * 4 > duration_ns THEN 1 ELSE 2 END, start_ns, duration_ns, "
	  "CASE WHEN idle_ns * 2 > duration_ns THEN 'it idled: throttled' WHEN sibling_ns * 4 > duration_ns THEN 'threads of the same VM' "
	  "ELSE 'others' END FROM runq_wait WHERE source_id = ? AND picked(vm_id, vcpu_id) ORDER BY duration_ns DESC",
	  PLOT_POINTS, PLOT_NS, true },
	{ "Long calls over time", "duration",
	  "WITH f AS (SELECT func, row_number() OVER (ORDER BY MAX(duration_ns) DESC, func) - 1 AS k FROM span WHERE source_id = ?1 AND start_ns IS NOT NULL "
	  "GROUP BY func) SELECT f.k, s.start_ns, s.duration_ns, s.func FROM span s JOIN f ON f.func = s.func WHERE s.source_id = ?1 AND s.start_ns IS NOT NULL "
	  "AND f.k < 5 ORDER BY s.duration_ns DESC", PLOT_POINTS, PLOT_NS, true },
};

static const char series_sql[] =
	"WITH n AS (SELECT name, row_number() OVER (ORDER BY name) - 1 AS k FROM series WHERE source_id = ?1 GROUP BY name) "
	"SELECT n.k, s.t_ns, SUM(s.value) * 1e9 / MAX(s.bin_ns, 1), s.name FROM series s JOIN n ON n.name = s.name WHERE s.source_id = ?1 "
	"GROUP BY s.name, s.t_ns ORDER BY s.name, s.t_ns";

static struct error *put_over_time(struct html *h, const struct over_time *o, struct json_object *s,
				   size_t *shown)
{
	_cleanup_free_ char *title = xasprintf("%s, %s", o->title, text_path(&h->text, js_str(s, "path")));
	struct plot_series series[PLOT_COLOURS];
	struct cloud c = { 0 };
	struct error *err = gather(h, &c, o->sql ? o->sql : series_sql, js_int(s, "id"));
	struct plot p = {
		.title = title, .series = series, .n_series = cloud_series(&c, o->kind, series),
		.x = { .label = "time on the recording’s clock", .unit = PLOT_TIME, .min = (double)js_int(s, "first_ns"), .max = (double)js_int(s, "last_ns") },
		.y = { .label = o->y_label, .unit = o->unit, .log = o->log },
	};

	if (!err && p.n_series && c.all >= 3) {
		if (!(*shown)++) {
			html_section(h, "plots", "Over time");
			html_raw(h, "<div class=\"plots\">\n");
		}
		svg_plot(h->out, &p);
	}
	cloud_free(&c);
	return err;
}

struct error *html_plots(struct html *h)
{
	size_t i, k, shown = 0, of_kind;

	for (k = 0; k < ARRAY_SIZE(plots); k++)
		for (i = 0, of_kind = shown;
		     i < json_object_array_length(h->text.sources) && shown - of_kind < SOURCES_MAX;
		     i++) {
			struct json_object *s = json_object_array_get_idx(h->text.sources, i);

			if (js_int(s, "events") || js_has(s, "first_ns"))
				TRY(put_over_time(h, &plots[k], s, &shown));
		}
	if (shown) {
		html_raw(h, "</div>\n");
		html_section_end(h);
	}
	return NULL;
}
