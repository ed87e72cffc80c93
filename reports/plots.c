// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plots.c - the case's plots as data: run-queue delays, exits, roots, throttling, waits and long
 * calls over time (tables histogram, series and others). See plots.h.
 */
#include "plots.h"

#define BINS_MAX	64
#define CURVES_MAX	PLOT_COLOURS
#define POINTS_MAX	1500

struct curve {
	struct plot_point points[BINS_MAX + 1];
	size_t		n;
	char		*name;
	double		total, none;	/* waits, and those of no length */
};

/* One source's histogram of run-queue delays: all vCPUs as bars, each vCPU's share below as steps.
 */
static struct error *delay_curves(struct text *t, int64_t source, struct curve *all,
				  struct curve *each, size_t *n)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	int64_t last = -1;

	TRY(case_query(t->ctx->db, &st, "SELECT subject_id, low_ns, high_ns, count FROM histogram g WHERE source_id = ? AND name = 'runq' AND "
		       "picked((SELECT vm_id FROM vcpu v WHERE v.id = g.subject_id), subject_id) ORDER BY subject_id, low_ns", "i", source));
	while (case_step(t->ctx->db, st, &err)) {
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
			each[(*n)++].name = text_vcpu(t, subject);
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

static struct error *put_delays(struct text *t, int64_t source, struct curve *all,
				struct curve *each, size_t n, plot_fn fn, void *arg)
{
	struct plot_series bars = { .name = "waits", .kind = PLOT_BARS, .points = all->points, .n = all->n }, steps[CURVES_MAX];
	_cleanup_free_ char *title = xasprintf("Waits by length, %s", text_source(t, source)),
			    *title_cdf = xasprintf("Share of waits up to a length, %s", text_source(t, source)),
			    *name = xasprintf("waits-%" PRId64, source), *name_cdf = xasprintf("waits-cdf-%" PRId64, source);
	struct plot p = {
		.name = name, .title = title,
		.x = { .label = all->none > 0 ? "wait for a CPU (those below 2 ns are left out)" : "wait for a CPU",
		       .unit = PLOT_NS, .log = true },
		.y = { .label = "waits", .log = true, .min = 1, .max = 1 }, .series = &bars, .n_series = 1,
	};
	size_t i, k;

	TRY(fn(arg, &p));
	for (i = 0; i < n; i++) {
		for (k = 0; k < each[i].n; k++)
			each[i].points[k].y /= each[i].total;
		steps[i] = (struct plot_series){.name = each[i].name,
						.kind = PLOT_STEPS,
						.colour = (int)i,
						.points = each[i].points,
						.n = each[i].n};
	}
	p = (struct plot){ .name = name_cdf, .title = title_cdf, .x = p.x, .y = { .label = "share", .unit = PLOT_SHARE, .min = 0, .max = 1 },
			   .series = steps, .n_series = n };
	return fn(arg, &p);
}

struct error *plots_delays(struct text *t, size_t max_sources, plot_fn fn, void *arg)
{
	size_t i, k, shown = 0;

	for (i = 0; i < json_object_array_length(t->sources) && shown < max_sources; i++) {
		int64_t source = js_int(json_object_array_get_idx(t->sources, i), "id");
		struct curve *c = xcalloc(CURVES_MAX + 1, sizeof(*c));
		size_t n = 0;
		struct error *err = delay_curves(t, source, c, c + 1, &n);

		if (!err && n) {
			err = put_delays(t, source, c, c + 1, n, fn, arg);
			shown++;
		}
		for (k = 0; k <= CURVES_MAX; k++)
			free(c[k].name);
		free(c);
		TRY(err);
	}
	return NULL;
}

/* Points of several kinds from SQL: columns kind, x, y, name; kinds are dense from 0. */
struct cloud {
	struct plot_point *points[PLOT_COLOURS];
	size_t		n[PLOT_COLOURS], cap[PLOT_COLOURS], all;
	char		*name[PLOT_COLOURS];
};

static struct error *gather(struct text *t, struct cloud *c, enum plot_kind shape,
			    const char *sql, int64_t source)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(t->ctx->db, &st, sql, "i", source));
	while (case_step(t->ctx->db, st, &err)) {
		int kind = sqlite3_column_int(st, 0);
		const char *name = (const char *)sqlite3_column_text(st, 3);
		double x, y;

		if (kind < 0 || kind >= PLOT_COLOURS || c->all >= POINTS_MAX)
			continue;
		GROW(c->points[kind], c->cap[kind], c->n[kind] + 1);
		x = sqlite3_column_double(st, 1);
		y = sqlite3_column_double(st, 2);
		c->points[kind][c->n[kind]++] = (struct plot_point){
			.x = x, .y = y, .x_end = shape == PLOT_BARS ? x + y : 0,
		};
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

/*
 * Series as rates: four of the narrow bins are one where there are many of them. What of the names
 * is wanted follows.
 */
#define RATES(names)                                                                               \
	"WITH n AS (SELECT name, row_number() OVER (ORDER BY name) - 1 AS k, CASE WHEN COUNT(*) > 200 THEN 4 ELSE 1 END * MAX(MAX(bin_ns), 1) AS w " \
	"FROM series WHERE source_id = ?1 AND name " names " GROUP BY name) "                      \
	"SELECT n.k, MIN(s.t_ns), SUM(s.value) * 1e9 / MAX(SUM(s.bin_ns), 1), s.name FROM series s JOIN n ON n.name = s.name "                        \
	"WHERE s.source_id = ?1 GROUP BY s.name, s.t_ns / n.w ORDER BY s.name, 2"

/* Bars over time: a bar stands from the beginning of a stretch to its end and is as high as it is
 * long. */
static const struct over_time {
	const char	*name, *title, *y_label, *sql;
	enum plot_kind	kind;
	enum plot_unit	unit;
	bool		log;
} plots[] = {
	{ "exits", "VM exits over time, all and the commonest reasons", "exits a second", RATES("GLOB 'exits*'"), PLOT_STEPS, PLOT_NUMBER, false },
	{ "roots", "MMU roots over time", "root loads a second", RATES("NOT GLOB 'exits*'"), PLOT_STEPS, PLOT_NUMBER, false },
	{ "throttled", "When vCPUs in stalls were held throttled", "held for",
	  "WITH l AS (SELECT s.vcpu_id, l.start_ns, l.duration_ns FROM chain_link l JOIN stall s ON s.id = l.stall_id WHERE s.source_id = ?1 AND l.depth = 0 "
	  "AND l.kind = 'throttled' AND s.vcpu_id IS NOT NULL AND picked(s.vm_id, s.vcpu_id)), "
	  "v AS (SELECT vcpu_id, row_number() OVER (ORDER BY SUM(duration_ns) DESC, vcpu_id) - 1 AS k FROM l GROUP BY vcpu_id) "
	  "SELECT MIN(v.k, 5), l.start_ns, l.duration_ns, CASE WHEN v.k >= 5 THEN 'other vCPUs' ELSE coalesce('vCPU ' || c.vcpu, 'thread ' || c.tid, 'a vCPU') END "
	  "FROM l JOIN v ON v.vcpu_id = l.vcpu_id LEFT JOIN vcpu c ON c.id = l.vcpu_id ORDER BY l.duration_ns DESC, l.start_ns", PLOT_BARS, PLOT_NS, false },
	{ "longest-waits", "The longest waits of vCPUs for a CPU, by who had it meanwhile", "wait",
	  "SELECT CASE WHEN idle_ns * 2 > duration_ns THEN 0 WHEN sibling_ns * 4 > duration_ns THEN 1 ELSE 2 END, start_ns, duration_ns, "
	  "CASE WHEN idle_ns * 2 > duration_ns THEN 'it idled: throttled' WHEN sibling_ns * 4 > duration_ns THEN 'threads of the same VM' "
	  "ELSE 'others' END FROM runq_wait WHERE source_id = ? AND picked(vm_id, vcpu_id) ORDER BY duration_ns DESC",
	  PLOT_POINTS, PLOT_NS, true },
	{ "calls", "Long calls over time", "duration",
	  "WITH f AS (SELECT func, row_number() OVER (ORDER BY MAX(duration_ns) DESC, func) - 1 AS k FROM span WHERE source_id = ?1 AND start_ns IS NOT NULL "
	  "GROUP BY func) SELECT f.k, s.start_ns, s.duration_ns, s.func FROM span s JOIN f ON f.func = s.func WHERE s.source_id = ?1 AND s.start_ns IS NOT NULL "
	  "AND f.k < 5 ORDER BY s.duration_ns DESC", PLOT_POINTS, PLOT_NS, true },
};

static struct error *put_over_time(struct text *t, const struct over_time *o,
				   struct json_object *s, plot_fn fn, void *arg, size_t *shown)
{
	_cleanup_free_ char *title = xasprintf("%s, %s", o->title, text_path(t, js_str(s, "path"))),
			    *name = xasprintf("%s-%" PRId64, o->name, js_int(s, "id"));
	struct plot_series series[PLOT_COLOURS];
	struct cloud c = { 0 };
	struct error *err = gather(t, &c, o->kind, o->sql, js_int(s, "id"));
	struct plot p = {
		.name = name, .title = title,
		.series = series, .n_series = cloud_series(&c, o->kind, series),
		.x = {
			.label = "time on the recording’s clock", .unit = PLOT_TIME,
			.min = (double)js_int(s, "first_ns"), .max = (double)js_int(s, "last_ns"),
		},
		.y = { .label = o->y_label, .unit = o->unit, .log = o->log },
	};

	if (!err && p.n_series && c.all >= 3) {
		err = fn(arg, &p);
		++*shown;
	}
	cloud_free(&c);
	return err;
}

struct error *plots_over_time(struct text *t, size_t max_sources, plot_fn fn, void *arg)
{
	size_t i, k, shown;

	for (k = 0; k < ARRAY_SIZE(plots); k++)
		for (i = 0, shown = 0;
		     i < json_object_array_length(t->sources) && shown < max_sources; i++) {
			struct json_object *s = json_object_array_get_idx(t->sources, i);

			if (js_int(s, "events") || js_has(s, "first_ns"))
				TRY(put_over_time(t, &plots[k], s, fn, arg, &shown));
		}
	return plots_snapshots(t, fn, arg);
}
