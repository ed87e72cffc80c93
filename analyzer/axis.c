// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * axis.c - offsets between sources' clocks, and the axes that follow; see axis.h.
 *
 * Sources and the wall clock are the nodes of a graph; what is known of two clocks is an edge with
 * an offset and an uncertainty. Nodes that hang together share an axis: the wall clock where it is
 * among them, else the clock of the first recording. A source's offset is that of the path with
 * the least uncertainty, which adds up along it.
 *
 * ftrace's local clock is sched_clock() without __sched_clock_offset, which perf's default clock
 * and printk's stamps have (kernel/sched/clock.c: sched_clock_cpu() of a stable clock adds it;
 * kernel/trace/trace_clock.c: trace_clock_local() does not). The kernel prints it when it marks the
 * clock stable. An unstable sched clock follows the system's timekeeping instead: then the printed
 * number says nothing.
 */
#include "axis_int.h"
#include "guests.h"
#include "ties.h"

#define OTHER_MACHINE_NS	((int64_t)NSEC_PER_SEC)	/* assumed difference of its wall clock */
#define GUEST_SYNC_NS		(10 * (int64_t)NSEC_PER_USEC)	/* trace-cmd's measurements */
#define TIME_SANE		(INT64_MAX / 4)	/* sums of offsets and a time don't overflow */

static const char *text(sqlite3_stmt *st, int col)
{
	return (const char *)sqlite3_column_text(st, col);
}

static char *text_copy(sqlite3_stmt *st, int col)
{
	return text(st, col) ? xstrdup(text(st, col)) : NULL;
}

static bool is(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

const char *axis_file(const struct axis_source *s)
{
	const char *path = s->path ? s->path : "?", *p = path + strlen(path);
	int parts = 0;

	while (p > path && (p[-1] != '/' || ++parts < 2))
		p--;
	return p;
}

static bool sane(int64_t ns)
{
	return ns <= TIME_SANE && ns >= -TIME_SANE;
}

void axis_edge_add(struct axis *x, size_t a, size_t b, int64_t offset, int64_t uncertainty,
		   int64_t cite, char *how)
{
	if (!sane(offset) || uncertainty < 0 || !sane(uncertainty)) {
		free(how);
		return;
	}
	GROW(x->edges, x->cap_edges, x->n_edges + 1);
	x->edges[x->n_edges++] = (struct axis_edge){ a, b, offset, uncertainty, how, cite };
}

static struct error *load(struct axis *x)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i;

	TRY(case_query(x->db, &st,
		"SELECT s.id, s.member_id, s.path, s.format, s.kernel, s.host, s.side, s.clock, s.first_ns, s.last_ns, "
		"max(coalesce(r.time_resolution_ns, 1), coalesce((SELECT MAX(uncertainty_ns) FROM clock c WHERE c.source_id = s.id AND "
		"c.name = s.clock), 0)), r.source_id IS NOT NULL, s.clock_offset_ns, s.clock_uncertainty_ns, "
		"EXISTS (SELECT 1 FROM coverage c WHERE c.source_id = s.id AND c.event IN ('sched:sched_switch', 'sched_switch') AND "
		"c.scope = 'system' AND c.complete IN ('all', 'lossy')), "
		"(SELECT replace(f.value, '-', '') FROM fact f WHERE f.source_id = s.id AND f.key = 'kernel.boot_id' LIMIT 1) "
		"FROM source s LEFT JOIN recording r ON r.source_id = s.id WHERE s.first_ns IS NOT NULL AND s.last_ns >= s.first_ns AND "
		"s.clock IS NOT NULL ORDER BY r.source_id IS NULL, r.time_resolution_ns, s.id LIMIT ?", "i", (int64_t)AXIS_MAX_SOURCES));
	x->v = xcalloc(AXIS_MAX_SOURCES, sizeof(*x->v));
	while (case_step(x->db, st, &err)) {
		struct axis_source *s = &x->v[x->n++];

		s->id = sqlite3_column_int64(st, 0);
		s->member_id = sqlite3_column_int64(st, 1);
		s->path = text_copy(st, 2);
		s->format = text_copy(st, 3);
		s->kernel = text_copy(st, 4);
		s->host = text_copy(st, 5);
		s->side = text_copy(st, 6);
		s->clock = text_copy(st, 7);
		s->first = sqlite3_column_int64(st, 8);
		s->last = sqlite3_column_int64(st, 9);
		s->resolution = sqlite3_column_int64(st, 10);
		s->recording = sqlite3_column_int(st, 11);
		s->has_wall = sqlite3_column_type(st, 12) != SQLITE_NULL;
		s->wall_offset = sqlite3_column_int64(st, 12);
		s->wall_uncertainty = sqlite3_column_int64(st, 13);
		s->all_switches = sqlite3_column_int(st, 14);
		s->boot_id = text_copy(st, 15);
		if (!s->recording && is(s->format, "dmesg"))	/* printed in us, or in seconds */
			s->resolution = MAX(s->resolution, is(s->clock, "sched") ? (int64_t)NSEC_PER_USEC :
							    (int64_t)NSEC_PER_SEC);
		for (i = 0; i < x->db->n_marks; i++)
			if (x->db->marks[i].source_id == s->id) {
				s->marks = &x->db->marks[i].m;
				s->log = x->db->marks[i].log;
			}
	}
	case_done(st);
	return err;
}

static void axis_deinit(struct axis *x)
{
	size_t i;

	for (i = 0; i < x->n; i++) {
		free(x->v[i].path);
		free(x->v[i].format);
		free(x->v[i].kernel);
		free(x->v[i].host);
		free(x->v[i].side);
		free(x->v[i].clock);
		free(x->v[i].boot_id);
		free(x->v[i].alone);
	}
	for (i = 0; i < x->n_edges; i++)
		free(x->edges[i].how);
	free(x->edges);
	free(x->v);
}

/*
 * dmesg makes its dates from the time of day at which it runs and the sched clock, which drifts;
 * another machine's wall clock may differ.
 */
static void stamped_edge(struct axis *x, size_t i)
{
	const struct axis_source *s = &x->v[i];
	bool other = is(s->format, "ping") || is(s->side, "guest");
	int64_t length, uncertainty = s->resolution;

	if (is(s->format, "dmesg") && !__builtin_sub_overflow(s->last, s->first, &length))
		uncertainty += length / DRIFT;
	axis_edge_add(x, i, x->n, 0, uncertainty + (other ? OTHER_MACHINE_NS : 0), 0,
		      xstrdup(other ? "wall-clock stamps, of another machine's clock (1 s is assumed)" :
				      "wall-clock stamps"));
}

static void wall_edges(struct axis *x)
{
	size_t i;

	for (i = 0; i < x->n; i++) {
		const struct axis_source *s = &x->v[i];

		if (is(s->clock, "wall"))
			stamped_edge(x, i);
		else if (s->has_wall)
			axis_edge_add(x, i, x->n, s->wall_offset, s->wall_uncertainty, 0,
				      xstrdup("the recording itself gives the wall clock"));
	}
}

/* Sources of one boot whose clocks are the same one. */
static void same_clock_edges(struct axis *x)
{
	static const struct { const char *clock, *words; } clocks[] = {
		{ "sched", "the same clock: perf's default, ftrace's global and printk's are the kernel's sched clock" },
		{ "mono", "the same clock: CLOCK_MONOTONIC" }, { "boot", "the same clock: CLOCK_BOOTTIME" },
		{ "mono_raw", "the same clock: CLOCK_MONOTONIC_RAW" }, { "local", "the same clock: ftrace's local" },
	};
	size_t i, k, c;

	for (i = 0; i < x->n; i++)
		for (k = 0; k < i; k++) {
			int64_t step = MAX(x->v[i].resolution, x->v[k].resolution);

			if (x->v[k].boot != x->v[i].boot || !is(x->v[k].clock, x->v[i].clock))
				continue;
			for (c = 0; c < ARRAY_SIZE(clocks); c++)
				if (is(x->v[i].clock, clocks[c].clock))
					axis_edge_add(x, k, i, 0, step > 1 ? step : 0, 0,
						      xstrdup(clocks[c].words));
			break;
		}
}

static bool sched_unstable(struct axis *x, size_t log)
{
	return case_int(x->db, 0, "SELECT COUNT(*) FROM fact WHERE source_id = ? AND key = 'clocksource.unstable' AND value = 'tsc'", "i",
			x->v[log].id) > 0;
}

/* "sched_clock: Marking stable" in a log: the local clock of that boot is known. */
static struct error *local_edges(struct axis *x)
{
	struct error *err = NULL;
	size_t log, i;

	for (log = 0; log < x->n && !err; log++) {
		sqlite3_stmt *st;

		if (!is(x->v[log].clock, "sched") || x->v[log].recording || sched_unstable(x, log))
			continue;
		TRY(case_query(x->db, &st, "SELECT offset_ns, cite_id FROM clock WHERE source_id = ? AND name = 'local' AND "
			       "offset_ns IS NOT NULL ORDER BY rowid LIMIT 1", "i", x->v[log].id));
		if (case_step(x->db, st, &err)) {
			int64_t off = sqlite3_column_int64(st, 0), unc,
				cite = sqlite3_column_int64(st, 1);

			for (i = 0; i < x->n; i++) {
				if (x->v[i].boot != x->v[log].boot || !is(x->v[i].clock, "local"))
					continue;
				unc = MAX(x->v[i].resolution, x->v[log].resolution);
				axis_edge_add(x, i, log, off, unc, cite,
					      xasprintf("ftrace's local clock, which lacks the offset that %s gives in its line "
							"\"sched_clock: Marking stable\"", axis_file(&x->v[log])));
			}
		}
		case_done(st);
	}
	return err;
}

/*
 * A guest's trace.dat has had its times turned into the host's while it was read (option
 * TIME_SHIFT, tsc2nsec); the host's file is the one whose trace id it names and that names its own.
 */
static struct error *guest_edges(struct axis *x)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i, k;

	TRY(case_query(x->db, &st, GUEST_PAIRS, ""));
	while (case_step(x->db, st, &err)) {
		int64_t guest = sqlite3_column_int64(st, 0), host = sqlite3_column_int64(st, 1);

		for (i = 0; i < x->n; i++)
			for (k = 0; k < x->n; k++)
				if (x->v[i].member_id == guest && x->v[k].member_id == host &&
				    x->v[i].recording && x->v[k].recording &&
				    is(x->v[i].clock, x->v[k].clock))
					axis_edge_add(x, i, k, 0, GUEST_SYNC_NS, 0,
						      xasprintf("trace-cmd traced it as guest \"%s\" of %s and measured its clock against the host's",
								text(st, 2), axis_file(&x->v[k])));
	}
	case_done(st);
	return err;
}

/* ---- paths ---- */

struct place {
	bool		known, settled;
	size_t		axis;		/* number of the axis, from 1 */
	int64_t		offset, uncertainty;
	const struct axis_edge *by;
};

static void relax(struct place *p, const struct axis_edge *e, size_t from, size_t to)
{
	int64_t step = to == e->a ? e->offset : -e->offset, offset, unc;

	/* the axis's time is t + offset; at @to: t_from = t_to + (from - to) */
	/* all of these are sane, so sums of two don't overflow */
	offset = p[from].offset + step;
	unc = p[from].uncertainty + e->uncertainty;
	if (!sane(offset) || !sane(unc))
		return;
	if (p[to].settled || (p[to].known && p[to].uncertainty <= unc))
		return;
	p[to] = (struct place){ true, false, p[from].axis, offset, unc, e };
}

static void spread_from(const struct axis *x, struct place *p, size_t root, size_t number)
{
	size_t i;

	p[root] = (struct place){ .known = true, .axis = number };
	for (;;) {
		size_t best = SIZE_MAX;

		for (i = 0; i <= x->n; i++)
			if (p[i].known && !p[i].settled &&
			    (best == SIZE_MAX || p[i].uncertainty < p[best].uncertainty))
				best = i;
		if (best == SIZE_MAX)
			return;
		p[best].settled = true;
		for (i = 0; i < x->n_edges; i++) {
			const struct axis_edge *e = &x->edges[i];

			if (e->a == best)
				relax(p, e, best, e->b);
			else if (e->b == best)
				relax(p, e, best, e->a);
		}
	}
}

static size_t neighbours(const struct axis *x, const struct place *p, size_t i)
{
	size_t k, n = 0;

	for (k = 0; k < x->n; k++)
		n += k != i && p[k].axis == p[i].axis;
	return n;
}

/* Why nothing relates to source @i. */
static char *why_alone(struct axis *x, size_t i)
{
	static const char *const usable[] = { "sched", "local", "mono", "mono_raw", "boot", "wall" };
	const struct axis_source *s = &x->v[i];
	bool clock_known = false;
	size_t k, mates = 0;

	for (k = 0; k < ARRAY_SIZE(usable); k++)
		clock_known |= is(s->clock, usable[k]);
	for (k = 0; k < x->n; k++)
		mates += k != i && x->v[k].boot == s->boot;
	if (x->n == 1)
		return xstrdup("the only source with times");
	if (!clock_known)
		return xasprintf("how its clock (\"%s\") relates to others is not known", s->clock);
	if (s->alone)
		return xstrdup(s->alone);
	if (is(s->clock, "local") && mates) {
		for (k = 0; k < x->n; k++)
			if (x->v[k].boot == s->boot && !x->v[k].recording && sched_unstable(x, k))
				return xasprintf("ftrace's local clock: the TSC was unstable in that boot (%s), so its offset to the other "
						 "clocks is not known, and no other recording has the same context switches", axis_file(&x->v[k]));
		return xstrdup("ftrace's local clock: its offset to the other clocks stands in the kernel log's line \"sched_clock: Marking stable\", "
			       "which is not there, and no other recording has the same context switches");
	}
	if (!mates)
		return xstrdup("nothing in the input is known to be of the same boot, or gives the wall clock");
	return xasprintf("no source of the same boot has a clock whose relation to this one (\"%s\") is known", s->clock);
}

static struct error *write_source(struct axis *x, const struct place *p, size_t i,
				  const char *clock)
{
	const struct axis_source *s = &x->v[i];
	bool alone = !neighbours(x, p, i) && strcmp(clock, "wall");
	_cleanup_free_ char *why = alone ? why_alone(x, i) : NULL;
	int64_t cite = p[i].by ? p[i].by->cite : 0;
	int64_t boot = (int64_t)s->boot + 1;
	const char *words = why ? why : p[i].by ? p[i].by->how : "the axis is its own clock";

	TRY(case_insert(x->db, NULL, "INSERT INTO axis(source_id, axis, clock, boot, offset_ns, uncertainty_ns, why, cite_id) "
			"VALUES(?,?,?,?,?,?,?,?)", "iisiIIsI", s->id, (int64_t)p[i].axis, clock, boot, alone ? NULL : &p[i].offset,
			alone ? NULL : &p[i].uncertainty, words, cite > 0 ? &cite : NULL));
	if (alone || !p[i].by)
		return NULL;
	TRY(case_insert(x->db, NULL, "INSERT INTO clock(source_id, name, relation, offset_ns, uncertainty_ns, cite_id) VALUES(?,?,?,?,?,?)",
			"issiiI", s->id, clock, words, p[i].offset, p[i].uncertainty, cite > 0 ? &cite : NULL));
	if (strcmp(clock, "wall") || is(s->clock, "wall") || s->has_wall)
		return NULL;
	return case_insert(x->db, NULL, "UPDATE source SET clock_offset_ns = ?, clock_uncertainty_ns = ? WHERE id = ?", "iii",
			   p[i].offset, p[i].uncertainty, s->id);
}

static struct error *write_axes(struct axis *x)
{
	_cleanup_free_ struct place *p = xcalloc(x->n + 1, sizeof(*p));
	_cleanup_free_ const char **clock = xcalloc(x->n + 2, sizeof(*clock));
	static const char *const roots[] = { "sched", "mono", "boot" };
	size_t i, number = 1, round;

	clock[number] = "wall";
	spread_from(x, p, x->n, number);
	for (round = 0; round <= ARRAY_SIZE(roots); round++)
		for (i = 0; i < x->n; i++) {
			if (p[i].known ||
			    (round < ARRAY_SIZE(roots) && !is(x->v[i].clock, roots[round])))
				continue;
			clock[++number] = x->v[i].clock;
			spread_from(x, p, i, number);
		}
	for (i = 0; i < x->n; i++)
		TRY(write_source(x, p, i, clock[p[i].axis]));
	return NULL;
}

struct error *axis_relate(struct case_db *db)
{
	struct axis x = { .db = db };
	struct error *err = load(&x);

	if (!err)
		err = axis_find_boots(&x);
	if (!err) {
		wall_edges(&x);
		same_clock_edges(&x);
		err = local_edges(&x);
	}
	if (!err)
		err = guest_edges(&x);
	if (!err)
		err = guests_map(db);
	if (!err)
		err = write_axes(&x);
	axis_deinit(&x);
	return err ? err : ties_write(db);
}
