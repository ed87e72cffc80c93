// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plots_snapshots.c - what the host's counters say as plots: KSM, NUMA balancing, throttled groups.
 * These were read at a few points of time that are known by name only (before, after), so an axis
 * has counters by name and a series is a snapshot, or what happened between two. See plots.h.
 */
#include "plots.h"

#define BARS_MAX	5	/* counters whose names have room side by side */

struct table {
	char		*names[BARS_MAX], *series[PLOT_COLOURS];
	size_t		n_names, n_series;
	struct plot_point points[PLOT_COLOURS][BARS_MAX];
	size_t		n[PLOT_COLOURS], all;
};

/*
 * Columns: the counter's name, the snapshot's, the value; rows in the order wanted. The first
 * columns' values become the axis, the second's the series.
 */
static const struct counters {
	const char	*name, *title, *y_label, *sql;
	enum plot_unit	unit;
	bool		log;
} plots[] = {
	{ "numa-balancing", "NUMA balancing between snapshots", "pages",
	  "SELECT substr(key, 13, length(key) - 18), snapshot, num FROM fact WHERE key IN ('vmstat.numa_pte_updates.delta', 'vmstat.numa_hint_faults.delta', "
	  "'vmstat.numa_hint_faults_local.delta', 'vmstat.numa_pages_migrated.delta') AND num > 0 AND side <> 'guest' ORDER BY instr('pte hin pag', substr(key, 13, 3)), "
	  "key, id", PLOT_NUMBER, true },
	{ "ksm", "Pages of KSM by snapshot", "pages",
	  "SELECT substr(key, 5), coalesce(snapshot, ''), num FROM fact WHERE key IN ('ksm.pages_shared', 'ksm.pages_sharing', 'ksm.pages_unshared', "
	  "'ksm.pages_volatile', 'ksm.pages_skipped') AND num > 0 AND side <> 'guest' ORDER BY key, snapshot <> 'before', id", PLOT_NUMBER, true },
	{ "throttled-groups", "Time that groups were throttled, by snapshot", "throttled (all CPUs)",
	  "SELECT path, coalesce(snapshot, ''), throttled_ns FROM cgroup WHERE throttled_ns > 0 ORDER BY MAX(throttled_ns) OVER (PARTITION BY path) DESC, "
	  "path, snapshot <> 'before', id", PLOT_NS, false },
};

/* The index of @name among @names, which it joins where there is room; -1 where there is none. */
static int index_of(char **names, size_t *n, size_t max, const char *name)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	if (*n == max)
		return -1;
	names[(*n)++] = xstrdup(name);
	return (int)i;
}

static struct error *gather(struct text *t, const struct counters *c, struct table *b)
{
	bool seen[PLOT_COLOURS][BARS_MAX] = { { false } };
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(t->ctx->db, &st, c->sql, ""));
	while (case_step(t->ctx->db, st, &err)) {
		const char *name = (const char *)sqlite3_column_text(st, 0),
			   *snapshot = (const char *)sqlite3_column_text(st, 1);
		int k = name ? index_of(b->names, &b->n_names, BARS_MAX, name) : -1,
		    s = k < 0 ? -1 : index_of(b->series, &b->n_series, PLOT_COLOURS,
					      snapshot ? snapshot : "");

		/* of two files of one name the first */
		if (s < 0 || seen[s][k])
			continue;
		seen[s][k] = true;
		b->points[s][b->n[s]++] = (struct plot_point){
			.x = k, .y = sqlite3_column_double(st, 2)
		};
		b->all++;
	}
	case_done(st);
	return err;
}

/* Bars of one counter stand side by side. */
static void place(struct table *b)
{
	double width = 0.8 / (double)b->n_series;
	size_t s, i;

	for (s = 0; s < b->n_series; s++)
		for (i = 0; i < b->n[s]; i++) {
			struct plot_point *p = &b->points[s][i];

			p->x += (double)s * width - 0.4;
			p->x_end = p->x + width;
		}
}

static struct error *put(const struct counters *c, struct table *b, plot_fn fn, void *arg)
{
	struct plot_series series[PLOT_COLOURS];
	struct plot p = {
		.name = c->name, .title = c->title, .series = series, .n_series = b->n_series,
		.x = { .label = "", .min = -0.5, .max = (double)b->n_names - 0.5,
		       .names = (const char *const *)b->names, .n_names = b->n_names },
		.y = { .label = c->y_label, .unit = c->unit, .log = c->log },
	};
	size_t s;

	place(b);
	for (s = 0; s < b->n_series; s++)
		series[s] = (struct plot_series){ .name = *b->series[s] ? b->series[s] : "the only one",
						  .kind = PLOT_BARS, .colour = (int)s,
						  .points = b->points[s], .n = b->n[s] };
	return fn(arg, &p);
}

struct error *plots_snapshots(struct text *t, plot_fn fn, void *arg)
{
	struct error *err = NULL;
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(plots) && !err; k++) {
		struct table b = { .n_names = 0 };

		err = gather(t, &plots[k], &b);
		if (!err && b.all >= 2)	/* one number is no plot */
			err = put(&plots[k], &b, fn, arg);
		for (i = 0; i < b.n_names; i++)
			free(b.names[i]);
		for (i = 0; i < b.n_series; i++)
			free(b.series[i]);
	}
	return err;
}
