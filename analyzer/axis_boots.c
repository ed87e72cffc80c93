// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * axis_boots.c - which sources are of one boot of one machine.
 *
 * Certain: two recordings that have the same runs of context switches, two logs with the same lines
 * at times that differ by one amount, the same boot id, recordings out of one file.
 *
 * Excluded: sides, boot ids, host names or kernel releases differ; two recordings of all context
 * switches that overlap on the same clock and have fewer than a tenth in common; two logs on the
 * same clock with the same lines at other times; a log that names threads, at a time that a
 * recording covers, none of which the recording has.
 *
 * Else sources are taken to be of one boot when something names it (the host, the kernel's release,
 * threads of the same number and name) and nothing in the input excludes it: where two sources that
 * both fit exclude each other, the input holds more than one boot, and none that fits both is
 * given to either.
 */
#include "axis_int.h"

#define TOLERANCE_NS	(5 * (int64_t)NSEC_PER_MSEC)
#define MIN_AGREE	8
#define LOG_TOLERANCE_NS (2 * (int64_t)NSEC_PER_SEC)
#define MIN_LOG_LINES	12
#define MIN_OVERLAP_MARKS 48	/* with fewer in the overlap nothing is concluded */

/* What is known of a pair. */
struct fit {
	bool		same;		/* certain */
	bool		named;
	const char	*not;		/* why it can't be: words, or NULL */
};

static bool is(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool differ(const char *a, const char *b)
{
	return a && b && *a && *b && strcmp(a, b);
}

bool axis_switches_agree(const struct marks_match *m)
{
	return m->agree >= MIN_AGREE && m->agree >= m->common - m->common / 10;
}

/*
 * Boots of one machine print much the same lines at much the same times; what tells them apart are
 * the few that differ. Logs of one boot have nearly all lines in common.
 */
bool axis_logs_agree(const struct marks_match *m)
{
	size_t smaller = MIN(m->a, m->b);

	return m->agree >= MIN_LOG_LINES && m->agree >= smaller - smaller / 20;
}

/* Clocks that have one value at one time on one boot. */
static bool same_clock(const struct axis_source *a, const struct axis_source *b)
{
	return is(a->clock, b->clock) && (is(a->clock, "sched") || is(a->clock, "mono") ||
					  is(a->clock, "boot") || is(a->clock, "mono_raw"));
}

static void compare_switches(struct axis *x, size_t i, size_t k, struct fit *f)
{
	struct axis_source *a = &x->v[i], *b = &x->v[k];
	int64_t from = MAX(a->first, b->first), to = MIN(a->last, b->last);
	struct marks_match m;
	uint64_t mask;
	size_t overlap;

	marks_compare(&m, a->marks, b->marks, TOLERANCE_NS);
	if (axis_switches_agree(&m)) {
		int64_t unc = m.spread + MAX(a->resolution, b->resolution);

		f->same = true;
		if (same_clock(a, b) && m.offset <= unc && m.offset >= -unc)
			m.offset = 0;
		axis_edge_add(x, i, k, m.offset, unc, 0,
			      xasprintf("%zu runs of context switches that %s has too", m.agree, axis_file(b)));
		return;
	}
	if (!same_clock(a, b) || !a->all_switches || !b->all_switches || from >= to)
		return;
	mask = a->marks->mask | b->marks->mask;
	overlap = marks_within(a->marks, mask, from, to);
	overlap = MIN(overlap, marks_within(b->marks, mask, from, to));
	if (overlap >= MIN_OVERLAP_MARKS && m.at_once < overlap / 10)
		f->not = "both recorded the same seconds since boot, but not the same context switches";
}

static int64_t length_of(const struct axis_source *s)
{
	int64_t length;

	return __builtin_sub_overflow(s->last, s->first, &length) ? INT64_MAX / 4 : length;
}

static void compare_logs(struct axis *x, size_t i, size_t k, struct fit *f)
{
	struct axis_source *a = &x->v[i], *b = &x->v[k];
	int64_t tolerance = same_clock(a, b) ? 1000 : LOG_TOLERANCE_NS, unc;
	struct marks_match m;

	marks_compare(&m, a->marks, b->marks, tolerance);
	if (same_clock(a, b) && m.at_once >= 3 && m.at_once * 2 > m.common) {
		f->same = true;
		return;
	}
	if (same_clock(a, b)) {
		if (m.common >= MIN_LOG_LINES)
			f->not = "both logs have the same lines at different times since boot";
		return;
	}
	if (!axis_logs_agree(&m))
		return;
	/* A stamp put on receipt is late, never early. */
	unc = m.spread + MAX(a->resolution, b->resolution) +
	      MAX(length_of(a), length_of(b)) / DRIFT;
	f->same = true;
	axis_edge_add(x, i, k, m.low, unc, 0, xasprintf("%zu lines that %s has too", m.agree, axis_file(b)));
}

/* Does @log name threads while @rec recorded, and has @rec seen them? */
static void compare_tasks(struct axis *x, const struct axis_source *log,
			  const struct axis_source *rec, struct fit *f)
{
	int64_t named, seen;

	if (!is(log->clock, "sched") || !is(rec->clock, "sched") || !rec->all_switches)
		return;
	named = case_int(x->db, 0, "SELECT COUNT(*) FROM log_line WHERE source_id = ? AND tid > 0 AND time_ns BETWEEN ? AND ?",
			 "iii", log->id, rec->first, rec->last);
	if (named <= 0)
		return;
	seen = case_int(x->db, 0, "SELECT COUNT(*) FROM log_line WHERE source_id = ?1 AND tid > 0 AND time_ns BETWEEN ?2 AND ?3 "
			"AND tid IN (SELECT tid FROM task WHERE source_id = ?4 UNION SELECT tgid FROM task WHERE source_id = ?4)", "iiii",
			log->id, rec->first, rec->last, rec->id);
	if (seen)
		f->named = true;
	else
		f->not = "the log names threads that the recording of that time does not have";
}

/* Threads of programs with the same number and name: two are no accident on a host in use. */
static void shared_tasks(struct axis *x, const struct axis_source *a, const struct axis_source *b,
			 struct fit *f)
{
	if (case_int(x->db, 0, "SELECT COUNT(*) FROM task a JOIN task b ON b.tid = a.tid AND b.comm = a.comm AND b.source_id = ?2 "
		     "WHERE a.source_id = ?1 AND a.tid > 100 AND a.comm IS NOT NULL AND a.role NOT IN ('idle', 'kworker', 'kthread', 'migration')",
		     "ii", a->id, b->id) >= 2)
		f->named = true;
}

static struct fit fit_of(struct axis *x, size_t i, size_t k)
{
	struct axis_source *a = &x->v[i], *b = &x->v[k];
	struct fit f = { 0 };

	if (a->member_id == b->member_id && a->recording && b->recording)
		f.same = true;
	else if ((is(a->side, "guest") || is(b->side, "guest")) && strcmp(a->side, b->side))
		f.not = "one is of the host, the other of a guest or not known to be";
	else if (differ(a->boot_id, b->boot_id))
		f.not = "their boot ids differ";
	else if (differ(a->host, b->host))
		f.not = "their host names differ";
	else if (differ(a->kernel, b->kernel))
		f.not = "their kernels differ";
	if (f.not || f.same)
		return f;
	f.same = is(a->boot_id, b->boot_id);
	f.named = is(a->host, b->host) || is(a->kernel, b->kernel);
	if (a->marks && b->marks && a->log == b->log)
		(a->log ? compare_logs : compare_switches)(x, i, k, &f);
	if (a->log && b->recording && !f.not)
		compare_tasks(x, a, b, &f);
	if (b->log && a->recording && !f.not)
		compare_tasks(x, b, a, &f);
	if (a->recording && b->recording && !f.named && !f.same && !f.not)
		shared_tasks(x, a, b, &f);
	if (is(a->boot_id, b->boot_id))
		f.not = NULL;
	return f;
}

static size_t root_of(const size_t *up, size_t i)
{
	while (up[i] != i)
		i = up[i];
	return i;
}

static void unite(size_t *up, size_t i, size_t k)
{
	size_t a = root_of(up, i), b = root_of(up, k);

	if (a != b)
		up[MAX(a, b)] = MIN(a, b);
}

/* Sources that may be of one boot, and two among them that can't. */
static void settle(struct axis *x, const struct fit *fits, const size_t *sure, size_t *up)
{
	_cleanup_free_ bool *done = xcalloc(x->n + 1, sizeof(*done));
	size_t i, k, n = x->n, a, b;

	for (a = 0; a < n; a++) {
		const char *why = NULL;
		size_t one = 0, other = 0;

		if (done[root_of(up, a)])
			continue;
		done[root_of(up, a)] = true;
		for (i = 0; i < n && !why; i++)
			for (k = i + 1; k < n && !why; k++)
				if (root_of(up, i) == root_of(up, a) &&
				    root_of(up, k) == root_of(up, a) &&
				    fits[i * n + k].not) {
					why = fits[i * n + k].not;
					one = i;
					other = k;
				}
		for (b = 0; b < n; b++) {
			if (root_of(up, b) != root_of(up, a))
				continue;
			x->v[b].boot = why ? sure[b] : root_of(up, a);
			if (why)
				x->v[b].alone = xasprintf("the input holds more than one boot (%s and %s: %s), and nothing tells of "
							  "which this is", axis_file(&x->v[one]), axis_file(&x->v[other]), why);
		}
	}
}

/* Sources that are left alone because of one that excludes them: say of which. */
static void say_excluded(struct axis *x, const struct fit *fits)
{
	size_t i, k, n = x->n, mates;

	for (i = 0; i < n; i++) {
		const struct axis_source *other = NULL;
		const char *why = NULL;

		for (k = 0, mates = 0; k < n; k++) {
			const struct fit *f = &fits[MIN(i, k) * n + MAX(i, k)];

			mates += k != i && x->v[k].boot == x->v[i].boot;
			if (k != i && f->not && !why) {
				why = f->not;
				other = &x->v[k];
			}
		}
		if (why && !mates && !x->v[i].alone)
			x->v[i].alone = xasprintf("not of the boot of %s (%s)", axis_file(other), why);
	}
}

struct error *axis_find_boots(struct axis *x)
{
	_cleanup_free_ size_t *sure = xcalloc(x->n + 1, sizeof(*sure)),
			      *up = xcalloc(x->n + 1, sizeof(*up));
	_cleanup_free_ struct fit *fits = xcalloc(x->n * x->n + 1, sizeof(*fits));
	size_t i, k, n = x->n;

	for (i = 0; i < n; i++)
		sure[i] = up[i] = i;
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++) {
			fits[i * n + k] = fit_of(x, i, k);
			if (fits[i * n + k].same)
				unite(sure, i, k);
		}
	for (i = 0; i < n; i++)
		sure[i] = root_of(sure, i);
	for (i = 0; i < n; i++) {
		unite(up, i, sure[i]);
		for (k = i + 1; k < n; k++)
			if (fits[i * n + k].named && !fits[i * n + k].not)
				unite(up, i, k);
	}
	settle(x, fits, sure, up);
	say_excluded(x, fits);
	return NULL;
}
