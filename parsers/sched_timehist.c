// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched_timehist.c - what `perf sched timehist` prints, its summaries, and `perf sched map`
 * (tools/perf/builtin-sched.c: timehist_print_sample(), timehist_print_summary(),
 * map_switch_event()).
 *
 *              time    cpu  task name                       wait time  sch delay   run time
 *                           [tid/pid]                          (msec)     (msec)     (msec)
 *   --------------- ------  ------------------------------  ---------  ---------  ---------
 *         18.961568 [0000]  rcu_preempt[15]                     2.775      1.731      9.196
 *
 * A line is a task leaving its CPU; `sch delay` is its wait between waking and getting the CPU,
 * before that run. A preempted task's wait is in `wait time` only: with --state it is known (the
 * last line of that task ends in R), without it is not counted. So the rows of runq_delay have an
 * origin of their own, 'timehist'. Its Wait-time summary (-s --state) has both sums; its Runtime
 * summary has no waits.
 *
 *   *A0  C0      49.145663 secs A0 => perf:198
 *
 * The map says who ran where and no waits: only its span is noted.
 */
#include "engine.h"
#include "scan.h"

#define MAX_TASKS	65536
#define MAX_CPUS	4096

struct hist_task {
	char		comm[64];
	int64_t		tid, waits, total_ns, run_ns, max_ns, max_end_ns, cite;
	char		last_state;
};

struct hist_line {
	int64_t		time_ns, wait_ns, delay_ns, run_ns;
	char		comm[64];
	int64_t		tid;		/* 0: idle */
	char		state;		/* 0: not printed */
};

struct hist_state {
	int64_t		source_id;
	struct strtab	keys;
	struct hist_task *tasks;
	size_t		n, cap;
	int64_t		first_ns, last_ns;
	unsigned int	cpus;
	bool		states, waits, summary;
	enum { NO_TABLE, RUNTIME, WAITTIME } table;
	uint64_t	runs;
	/* perf sched map */
	uint64_t	map_lines;
};

/* "comm[tid]", "comm[tid/pid]" or "<idle>"; a comm may have brackets itself. */
static bool split_task(const char *s, const char *end, char comm[64], int64_t *tid)
{
	const char *open;
	struct scan c;
	int64_t pid;
	size_t len;

	if (span_is(s, (size_t)(end - s), "<idle>")) {
		*tid = 0;
		comm[0] = '\0';
		return true;
	}
	if (end - s < 4 || end[-1] != ']')
		return false;
	open = memrchr(s, '[', (size_t)(end - s));
	if (!open || open == s)
		return false;
	c = scan_mem(open + 1, (size_t)(end - 1 - open - 1));
	if (!scan_i64(&c, tid) || *tid < -1 || *tid > INT32_MAX ||
	    (scan_char(&c, '/') && !scan_i64(&c, &pid)) || !scan_at_end(&c))
		return false;
	len = (size_t)(open - s);
	if (len >= 64)
		return false;
	if (*tid < 0)		/* ":-1[-1/161]": an exited thread, nobody's */
		*tid = 0;
	memcpy(comm, s, len);
	comm[len] = '\0';
	return true;
}

static bool three_ms(struct scan *c, struct hist_line *l)
{
	struct scan t = *c;
	unsigned int a, b, d;

	if (!scan_blanks(&t) || !scan_dec(&t, NSEC_PER_MSEC, &l->wait_ns, &a) || a != 3 ||
	    !scan_blanks(&t) || !scan_dec(&t, NSEC_PER_MSEC, &l->delay_ns, &b) || b != 3 ||
	    !scan_blanks(&t) || !scan_dec(&t, NSEC_PER_MSEC, &l->run_ns, &d) || d != 3 ||
	    !(scan_at_end(&t) || is_blank(*t.p)))
		return false;
	*c = t;
	return true;
}

/* The beginning that all lines of events have: time and CPU. */
static bool line_head(struct scan *c, int64_t *time_ns, int64_t *cpu)
{
	unsigned int decimals;

	scan_blanks(c);
	return scan_dec(c, NSEC_PER_SEC, time_ns, &decimals) && decimals == 6 && scan_blanks(c) &&
	       scan_char(c, '[') && scan_i64(c, cpu) && *cpu >= 0 && *cpu < MAX_CPUS &&
	       scan_char(c, ']');
}

static bool parse_hist(const struct line *ln, struct hist_line *l, int64_t *cpu)
{
	struct scan c = scan_line(ln), t;
	const char *name, *end, *p;

	scan_trim(&c);
	if (!line_head(&c, &l->time_ns, cpu))
		return false;
	scan_blanks(&c);
	for (name = c.p; (p = memchr(c.p, ' ', scan_left(&c))); ) {
		end = p;
		c.p = p;
		t = c;
		if (end > name && (end[-1] == ']' || end[-1] == '>') && three_ms(&t, l)) {
			for (p = end; p - name >= 2 && !(p[-1] == ' ' && p[-2] == ' '); p--)
				;	/* -V has the CPUs' letters in front */
			if (p - name >= 2)
				name = p;
			l->state = '\0';
			scan_blanks(&t);
			if (scan_left(&t) == 1 || (scan_left(&t) > 1 && is_blank(t.p[1])))
				l->state = is_alpha(*t.p) ? *t.p : '\0';
			return split_task(name, end, l->comm, &l->tid);
		}
		scan_blanks(&c);
	}
	return false;
}

/* "   18.942374 [0000]  perf[154]      awakened: migration/0[16]" and the like */
static bool is_note(const struct line *ln)
{
	struct scan c = scan_line(ln);
	int64_t time, cpu;

	return line_head(&c, &time, &cpu) && (scan_find(&c, "awakened: ") || scan_find(&c, "migrated: "));
}

/* "  *A0  C0      49.145663 secs A0 => perf:198": columns of CPUs, then the time */
static bool parse_map(const struct line *ln, int64_t *time_ns, unsigned int *cpus)
{
	struct scan c = scan_line(ln);
	const char *from;
	unsigned int decimals;
	bool star = false;

	scan_trim(&c);
	for (*cpus = 0; *cpus < MAX_CPUS; ++*cpus) {
		scan_blanks(&c);
		if (c.p < c.end && is_digit(*c.p))
			break;
		star |= scan_char(&c, '*');
		for (from = c.p; c.p < c.end && !is_blank(*c.p); c.p++)
			;
		if (c.p == from || c.p - from > 3)
			return false;
	}
	if (!star || !*cpus || !scan_dec(&c, NSEC_PER_SEC, time_ns, &decimals) || decimals != 6)
		return false;
	scan_blanks(&c);
	return scan_lit(&c, "secs");
}

static bool is_frame(const struct line *ln)
{
	static const char *const starts[] = {
		"time ", "[tid/pid]", "comm ", "(count)", "Terminated tasks:", "Idle stats:", "Idle stats by callchain", "Samples ",
		"No kallsyms", "Total number of unique tasks:", "<no still running tasks>", "<no terminated tasks>", "INFO: ", "Warning:",
		"Samples do not", "Wait-time summary", "Total ", "CPU  ", "Runtime summary", "No sched_switch events found", "Idle-time",
	};
	struct scan c = scan_line(ln);
	const char *p;
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_at_end(&c))
		return true;
	for (p = c.p; p < c.end && (*p == '-' || *p == ' '); p++)
		;
	if (p == c.end && p - c.p >= 10)
		return true;
	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(c.p, scan_left(&c), starts[i]))
			return true;
	return false;
}

/* A row of a summary: "comm[tid/pid]  PARENT  COUNT  numbers ..." */
static bool parse_summary(const struct line *ln, struct hist_task *t, int64_t v[6], size_t *n)
{
	struct scan c = scan_line(ln);
	const char *name, *end;
	int64_t parent;

	scan_trim(&c);
	scan_blanks(&c);
	name = c.p;
	for (end = c.p; (end = memchr(end, ']', (size_t)(c.end - end))); end++) {
		c.p = end + 1;
		if (split_task(name, c.p, t->comm, &t->tid) && scan_blanks(&c) &&
		    scan_i64(&c, &parent) && scan_blanks(&c) && scan_i64(&c, &t->waits) &&
		    t->waits >= 0 && scan_blanks(&c))
			break;
	}
	if (!end)
		return false;
	for (*n = 0; *n < 6; ++*n) {
		if (!scan_dec(&c, NSEC_PER_MSEC, &v[*n], NULL))
			break;
		scan_blanks(&c);
	}
	return scan_at_end(&c) && *n >= 5;
}

static bool open_source(struct parse_ctx *ctx, struct hist_state *st)
{
	struct error *err;

	if (st->source_id)
		return true;
	err = ctx_source(ctx, &st->source_id, "perf sched timehist");
	if (!err)
		return true;
	parse_remark(ctx, true, "%s", err->what);
	error_free(err);
	return false;
}

static struct hist_task *task_of(struct hist_state *st, const char *comm, int64_t tid)
{
	char key[96];
	int n = snprintf(key, sizeof(key), "%" PRId64 "/%s", tid, comm);
	uint32_t id = strtab_id(&st->keys, key, MIN((size_t)n, sizeof(key) - 1));

	if (id == STRTAB_NONE)
		return NULL;
	if (id >= st->n) {
		GROW(st->tasks, st->cap, (size_t)id + 1);
		memset(&st->tasks[id], 0, sizeof(st->tasks[id]));
		st->n = (size_t)id + 1;
		snprintf(st->tasks[id].comm, sizeof(st->tasks[id].comm), "%s", comm);
		st->tasks[id].tid = tid;
		st->tasks[id].max_ns = -1;
	}
	return &st->tasks[id];
}

static enum line_result take_run(struct parse_ctx *ctx, struct hist_state *st,
				 const struct line *ln, const struct hist_line *l, int64_t cpu)
{
	struct hist_task *t;
	int64_t wait = l->delay_ns;

	if (!open_source(ctx, st))
		return LINE_SKIPPED;
	st->runs++;
	st->states |= l->state != '\0';
	if (st->first_ns < 0)
		st->first_ns = l->time_ns;
	st->last_ns = MAX(st->last_ns, l->time_ns);
	st->cpus = MAX(st->cpus, (unsigned int)cpu + 1);
	if (!l->tid)
		return LINE_TAKEN;
	t = task_of(st, l->comm, l->tid);
	if (!t) {
		parse_remark(ctx, true, "more than %d tasks in a perf sched timehist: the rest is left out", MAX_TASKS);
		return LINE_SKIPPED;
	}
	/* preempted: it waited all the time; perf 6.1 has W for R+ */
	if (t->last_state == 'R' || t->last_state == 'W')
		wait = l->wait_ns;
	t->last_state = l->state;
	if (__builtin_add_overflow(t->run_ns, l->run_ns, &t->run_ns))
		t->run_ns = INT64_MAX;
	if (!wait)
		return LINE_TAKEN;
	st->waits = true;
	t->waits++;
	if (__builtin_add_overflow(t->total_ns, wait, &t->total_ns))
		t->total_ns = INT64_MAX;
	if (wait > t->max_ns) {
		/*
		 * Waits grow: cite when one is much longer, so that a long list makes few
		 * citations.
		 */
		if (wait / 2 >= t->max_ns || wait >= 10 * (int64_t)NSEC_PER_MSEC)
			t->cite = ctx_cite(ctx, ln, l->time_ns);
		t->max_ns = wait;
		t->max_end_ns = l->time_ns - l->run_ns;
	}
	return LINE_TAKEN;
}

/* Wait-time summary: run-time, sleep, iowait, preempt, delay. */
static enum line_result take_summary(struct parse_ctx *ctx, struct hist_state *st,
				     const struct line *ln, const struct hist_task *row,
				     const int64_t v[6])
{
	int64_t total, avg, cite, vcpu = comm_vcpu_number(row->comm) >= 0;
	struct error *err;

	st->summary = true;
	if (st->table != WAITTIME || !open_source(ctx, st))
		return LINE_SKIPPED;
	if (st->runs)
		return LINE_SKIPPED;	/* the list before it has said so already */
	if (__builtin_add_overflow(v[3], v[4], &total))
		total = INT64_MAX;
	avg = row->waits ? total / row->waits : 0;
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	err = case_insert(ctx->db, NULL,
			  "INSERT INTO runq_delay(source_id, origin, task, tid, oncpu_ns, switches, total_delay_ns, avg_delay_ns, vcpu, "
			  "cite_id) VALUES(?,'timehist',?,?,?,?,?,?,?,?)",
			  "isiiiiiiI", st->source_id, row->comm, row->tid, v[0], row->waits, total, avg, vcpu,
			  cite > 0 ? &cite : NULL);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	st->waits = true;
	return LINE_TAKEN;
}

/* What the tail of a summary says of the whole host. */
static bool take_fact(struct parse_ctx *ctx, struct hist_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln), value;
	char key[48] = "", text[32];
	struct error *err;
	int64_t cpu, v;

	scan_trim(&c);
	scan_blanks(&c);
	value = c;
	if (scan_lit(&c, "CPU")) {
		scan_blanks(&c);
		if (!scan_i64(&c, &cpu) || cpu < 0 || cpu >= MAX_CPUS)
			return false;
		value = c;
		if (scan_to(&value, " entire time window"))
			snprintf(key, sizeof(key), "perf.sched.cpu.%" PRId64 ".idle_pct", cpu);
		else if (scan_to(&c, "idle for ") && scan_to(&c, "("))
			value = c;
		else
			return false;
		if (*key)
			value = scan_mem("100", 3);
		snprintf(key, sizeof(key), "perf.sched.cpu.%" PRId64 ".idle_pct", cpu);
	} else if (scan_lit(&c, "Total number of context switches:")) {
		snprintf(key, sizeof(key), "perf.sched.context_switches");
		value = c;
	} else if (scan_lit(&c, "Total run time (msec):")) {
		snprintf(key, sizeof(key), "perf.sched.run_ms");
		value = c;
	} else if (scan_lit(&c, "Total scheduling time (msec):")) {
		snprintf(key, sizeof(key), "perf.sched.span_ms");
		value = c;
	} else {
		return false;
	}
	scan_blanks(&value);
	c = value;
	if (!scan_dec(&value, 1000, &v, NULL) || value.p - c.p >= (ptrdiff_t)sizeof(text) ||
	    !open_source(ctx, st))
		return false;
	memcpy(text, c.p, (size_t)(value.p - c.p));
	text[value.p - c.p] = '\0';
	err = case_fact(ctx->db, st->source_id, ctx->side, key, text, ctx->snapshot,
			ctx_cite(ctx, ln, CASE_NO_TIME));
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return true;
}

static bool note_table(struct hist_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	if (scan_lit(&c, "Runtime summary"))
		st->table = RUNTIME;
	else if (scan_lit(&c, "Wait-time summary"))
		st->table = WAITTIME;
	else
		return false;
	return true;
}

static enum line_result hist_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct hist_state *st = state;
	struct hist_task row = { .tid = 0 };
	struct hist_line l;
	int64_t v[6], time, cpu;
	unsigned int cpus;
	size_t n;

	if (parse_hist(ln, &l, &cpu))
		return take_run(ctx, st, ln, &l, cpu);
	if (note_table(st, ln))
		return ctx->embedded ? LINE_TAKEN : LINE_SKIPPED;
	if (st->table && parse_summary(ln, &row, v, &n))
		return take_summary(ctx, st, ln, &row, v);
	if (st->table && take_fact(ctx, st, ln))
		return LINE_TAKEN;
	if (ctx->embedded)
		return LINE_NOT_MINE;
	if (parse_map(ln, &time, &cpus)) {
		if (!st->map_lines++)
			st->first_ns = time;
		st->last_ns = MAX(st->last_ns, time);
		st->cpus = MAX(st->cpus, cpus);
		return LINE_SKIPPED;
	}
	return is_note(ln) || is_frame(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
}

static struct error *hist_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct hist_state *st = xcalloc(1, sizeof(*st));

	strtab_init(&st->keys, MAX_TASKS);
	st->first_ns = -1;
	*state = st;
	return NULL;
}

static struct error *store(struct parse_ctx *ctx, const struct hist_state *st)
{
	size_t i;

	if (!st->runs)
		return NULL;
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'sched', first_ns = ?, last_ns = ?, cpus = ? WHERE id = ?", "iiii",
			st->first_ns, st->last_ns, (int64_t)st->cpus, st->source_id));
	TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss", st->source_id,
			"sched", "perf's default clock; a recording with -k would have another"));
	for (i = 0; i < st->n; i++) {
		const struct hist_task *t = &st->tasks[i];
		int64_t start = t->max_end_ns - t->max_ns, vcpu = comm_vcpu_number(t->comm) >= 0;

		TRY(case_insert(
			ctx->db, NULL,
			"INSERT INTO runq_delay(source_id, origin, task, tid, oncpu_ns, switches, total_delay_ns, avg_delay_ns, "
			"max_delay_ns, max_delay_start_ns, max_delay_end_ns, vcpu, cite_id) "
			"VALUES(?,'timehist',?,?,?,?,?,?,?,?,?,?,?)",
			"isiiiiiiIIiI", st->source_id, t->comm, t->tid, t->run_ns, t->waits,
			t->total_ns, t->waits ? t->total_ns / t->waits : 0, MAX(t->max_ns, 0),
			t->waits ? &start : NULL, t->waits ? &t->max_end_ns : NULL, vcpu,
			t->cite > 0 ? &t->cite : NULL));
	}
	return NULL;
}

static struct error *hist_end(struct parse_ctx *ctx, void *state)
{
	struct hist_state *st = state;
	struct error *err = store(ctx, st);

	if (st->map_lines && !st->runs) {
		parse_remark(ctx, false, "perf sched map from %.6f to %.6f s, %u CPUs: who ran where, without the waits; "
			     "send the perf.data or its perf script text", (double)st->first_ns / 1e9, (double)st->last_ns / 1e9, st->cpus);
		ctx->ignored = true;
	} else if (st->runs && !st->states) {
		parse_remark(ctx, false, "waits of preempted tasks are not in it: recorded with --state they would be");
	} else if (st->summary && !st->waits) {
		parse_remark(ctx, false, "a Runtime summary has no waits: perf sched timehist --state -s has");
	}
	strtab_deinit(&st->keys);
	free(st->tasks);
	free(st);
	return err;
}

static bool sniff_test(const struct line *ln)
{
	struct hist_line l;
	struct hist_task t;
	int64_t v[6], cpu;
	unsigned int cpus;
	size_t n;

	return parse_hist(ln, &l, &cpu) || parse_map(ln, &v[0], &cpus) ||
	       parse_summary(ln, &t, v, &n) || is_note(ln) || is_frame(ln);
}

static int hist_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct hist_state st = { .table = NO_TABLE };
	struct line ln = { .no = 0 };
	unsigned int n, found = 0, cpus;
	struct hist_line l;
	int64_t v;

	while (!found && scan_lines(&next, end, &ln.s, &ln.len)) {
		struct scan c = scan_line(&ln);

		found = note_table(&st, &ln) || parse_hist(&ln, &l, &v) ||
			parse_map(&ln, &v, &cpus) ||
			(scan_find(&c, "wait time") && scan_find(&c, "sch delay"));
	}
	return found && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static const struct parser sched_timehist = {
	.name		= "perf sched timehist",
	.kind		= PARSER_LINES,
	.priority	= 24,
	.embed		= true,
	.sniff		= hist_sniff,
	.begin		= hist_begin,
	.line		= hist_line,
	.end		= hist_end,
};
REGISTER(parsers, &sched_timehist);
