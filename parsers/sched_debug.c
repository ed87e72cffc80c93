// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched_debug.c - /sys/kernel/debug/sched/debug (/proc/sched_debug before Linux 5.13), of all
 * versions (kernel/sched/debug.c).
 *
 *   kernel.release		version line
 *   sched.clock_stable		1 | 0
 *   sched.cpu.N.nr_running, .nr_switches, .nr_uninterruptible, .curr_tid
 *   sched.cfs.throttled, sched.rt.throttled	groups' run queues that are throttled at this moment
 *   sched.cfs.GROUP.throttled_cpus, sched.rt.GROUP.throttled_cpus	on which CPUs
 *   sched.cfs.GROUP.min_shares_cpus	where the group's entity has the least weight there
 *				is (2, 3) although tasks of it are runnable
 *   task.ID.comm, .state, .processor, .run_ns, .wait_ns, .switches, .cgroup	of threads of VMs,
 *				of running and of blocked (D) ones
 *
 * Its head has three clocks of one moment: ktime (monotonic), sched_clk (ftrace's local clock) and
 * cpu_clk (perf's and the kernel log's); their differences are rows of `clock`, where the clock is
 * stable. (sched_debug_header() reads them one after the other.)
 *
 * A task's row: state, name, id, vruntime, then on newer kernels E or N (eligible), deadline, slice
 * and sum-exec, always the number of switches and the priority, then wait-time, on older ones
 * sum-exec; at the end its group's path. Times are ms with six digits: ns.
 */
#include "fact_out.h"

#define MAX_GROUPS	4096
#define MAX_TOKENS	40
#define LIST_MAX	200
#define CLOCK_STEP_NS	10000	/* between the readings of two clocks; they take less */
#define LEAST_WEIGHT	3

enum section { S_NONE, S_HEAD, S_CPU, S_CFS, S_RT, S_OTHER, S_TASKS };

struct group { char throttled[LIST_MAX], least[LIST_MAX]; int64_t throttled_cite, least_cite; };

struct sched_debug {
	struct fact_out	out;
	enum section	section;
	int64_t		cpu;
	/* the run queue at work */
	char		path[256];
	int64_t		running, weight, throttled, cite;
	struct strtab	names;		/* "c" or "r" and the path */
	struct group	*groups;
	size_t		n_groups, cap;
	int64_t		n_throttled[2], n_queues[2], head_cite;
	int64_t		ktime, sched_clk, cpu_clk, stable;	/* ns; -1 unknown */
	bool		exec_runtime;	/* the old table: vruntime stands where wait-time does */
};

static void list_add(char list[LIST_MAX], int64_t cpu)
{
	size_t len = strlen(list);

	if (len + 12 < LIST_MAX)
		snprintf(list + len, LIST_MAX - len, "%s%" PRId64, len ? "," : "", cpu);
}

static struct group *group_of(struct sched_debug *d, char kind)
{
	char name[sizeof(d->path) + 2];
	uint32_t id;

	snprintf(name, sizeof(name), "%c%s", kind, *d->path ? d->path : "/");
	id = strtab_id(&d->names, name, strlen(name));
	if (id == STRTAB_NONE)
		return NULL;
	if (id >= d->n_groups) {
		GROW(d->groups, d->cap, (size_t)id + 1);
		d->n_groups = (size_t)id + 1;
		memset(&d->groups[id], 0, sizeof(d->groups[id]));
	}
	return &d->groups[id];
}

/* The run queue's fields are over. */
static void end_queue(struct parse_ctx *ctx, struct sched_debug *d)
{
	bool rt = d->section == S_RT;
	struct group *g;

	if (d->section != S_CFS && !rt)
		return;
	d->n_queues[rt]++;
	d->n_throttled[rt] += d->throttled > 0;
	if (d->throttled <= 0 && (d->running <= 0 || d->weight < 0 || d->weight > LEAST_WEIGHT))
		return;
	g = group_of(d, rt ? 'r' : 'c');
	if (!g) {
		parse_remark(ctx, true, "more than %d groups: the rest is left out", MAX_GROUPS);
		return;
	}
	if (d->throttled > 0) {
		list_add(g->throttled, d->cpu);
		if (!g->throttled_cite)
			g->throttled_cite = d->cite;
	}
	if (d->running > 0 && d->weight >= 0 && d->weight <= LEAST_WEIGHT) {
		list_add(g->least, d->cpu);
		if (!g->least_cite)
			g->least_cite = d->cite;
	}
}

static void begin_queue(struct sched_debug *d, enum section s, int64_t cpu, struct scan path)
{
	d->section = s;
	d->cpu = cpu;
	d->running = d->weight = d->throttled = -1;
	d->cite = 0;
	snprintf(d->path, sizeof(d->path), "%.*s", (int)MIN(scan_left(&path), sizeof(d->path) - 1), path.p);
}

/* A heading; false when the line is none. */
static bool take_heading(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln)
{
	static const struct { const char *lit; enum section s; } queues[] = {
		{ "cfs_rq[", S_CFS }, { "rt_rq[", S_RT }, { "dl_rq[", S_OTHER },
	};
	struct scan c = scan_line(ln);
	int64_t cpu;
	size_t i;

	scan_trim(&c);
	if (scan_lit(&c, "cpu#") && scan_i64(&c, &cpu) && cpu < 65536 && (scan_at_end(&c) || *c.p == ',')) {
		end_queue(ctx, d);
		begin_queue(d, S_CPU, cpu, scan_mem("", 0));
		return true;
	}
	c = scan_line(ln);
	scan_trim(&c);
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		if (scan_lit(&c, queues[i].lit)) {
			if (!scan_i64(&c, &cpu) || cpu < 0 || cpu > 65535 || !scan_lit(&c, "]:"))
				return false;
			end_queue(ctx, d);
			begin_queue(d, queues[i].s, cpu, c);
			return true;
		}
	if (starts_with(c.p, scan_left(&c), "runnable tasks:")) {
		end_queue(ctx, d);
		d->section = S_TASKS;
		return true;
	}
	if (starts_with(c.p, scan_left(&c), "sysctl_sched")) {
		end_queue(ctx, d);
		d->section = S_OTHER;
		return true;
	}
	return false;
}

/* Sched Debug Version: v0.11, 6.1.0-50-amd64 #1 */
static bool take_version(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln)
{
	struct scan c = scan_line(ln);
	_cleanup_free_ char *release = NULL;
	const char *from;

	if (!scan_lit(&c, "Sched Debug Version: v") || !scan_to(&c, ", "))
		return false;
	from = c.p;
	while (c.p < c.end && !is_blank(*c.p))
		c.p++;
	d->section = S_HEAD;
	d->head_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	if (c.p == from)
		return true;
	release = xstrndup(from, MIN((size_t)(c.p - from), (size_t)256));
	fact_put(ctx, &d->out, "kernel.release", release, strlen(release), d->head_cite);
	if (d->out.source_id)
		fact_failed(ctx, case_insert(ctx->db, NULL, "UPDATE source SET kernel = ? WHERE id = ?", "si", release, d->out.source_id));
	return true;
}

static void head_field(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln,
		       struct scan name, struct scan v)
{
	int64_t *to = NULL;

	if (span_is(name.p, scan_left(&name), "ktime"))
		to = &d->ktime;
	else if (span_is(name.p, scan_left(&name), "sched_clk"))
		to = &d->sched_clk;
	else if (span_is(name.p, scan_left(&name), "cpu_clk"))
		to = &d->cpu_clk;
	if (to && !scan_dec(&v, NSEC_PER_MSEC, to, NULL))
		*to = -1;
	if (span_is(name.p, scan_left(&name), "sched_clock_stable()") && scan_i64(&v, &d->stable))
		fact_i64(ctx, &d->out, ln, "sched.clock_stable", d->stable);
}

static bool cpu_field(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln,
		      struct scan name, struct scan v)
{
	static const struct { const char *name, *key; } fields[] = {
		{ ".nr_running", "nr_running" }, { ".nr_switches", "nr_switches" },
		{ ".nr_uninterruptible", "nr_uninterruptible" }, { ".curr->pid", "curr_tid" },
	};
	char key[64];
	int64_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!span_is(name.p, scan_left(&name), fields[i].name) || !scan_i64(&v, &n))
			continue;
		snprintf(key, sizeof(key), "sched.cpu.%" PRId64 ".%s", d->cpu, fields[i].key);
		fact_i64(ctx, &d->out, ln, key, n);
		return true;
	}
	return false;
}

static void queue_field(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln,
			struct scan name, struct scan v)
{
	/* the first that is there counts; the hierarchy's before the group's own */
	static const char *const running[] = { ".h_nr_queued", ".h_nr_running", ".nr_running", ".nr_queued" };
	int64_t n;
	size_t i;

	if (!scan_i64(&v, &n))
		return;
	for (i = 0; i < ARRAY_SIZE(running); i++)
		if (span_is(name.p, scan_left(&name), running[i]))
			d->running = MAX(d->running, n);
	if (span_is(name.p, scan_left(&name), ".se->load.weight")) {
		d->weight = n;
		if (n <= LEAST_WEIGHT && !d->cite)
			d->cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	} else if (span_is(name.p, scan_left(&name), ".throttled") || span_is(name.p, scan_left(&name), ".rt_throttled")) {
		d->throttled = n;
		if (n > 0)
			d->cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	}
}

/* NAME<blanks>: VALUE */
static bool take_field(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln)
{
	struct scan name = scan_line(ln), v;
	const char *colon = memchr(ln->s, ':', ln->len);

	if (!colon || d->section == S_NONE || d->section == S_TASKS)
		return false;
	v = scan_mem(colon + 1, (size_t)(name.end - colon - 1));
	name.end = colon;
	scan_blanks(&name);
	scan_trim(&name);
	scan_blanks(&v);
	if (d->section == S_HEAD)
		head_field(ctx, d, ln, name, v);
	else if (scan_at_end(&name) || *name.p != '.')
		return false;
	else if (d->section == S_CPU)
		cpu_field(ctx, d, ln, name, v);
	else
		queue_field(ctx, d, ln, name, v);
	return true;
}

/* ---- tasks ---- */

static bool pure(struct scan w, int64_t *v)
{
	return scan_i64(&w, v) && scan_at_end(&w);
}

/* 1234.567890 ms: ns. */
static bool millis(struct scan w, int64_t *ns)
{
	bool minus = scan_char(&w, '-');
	unsigned int decimals;

	if (!scan_dec(&w, NSEC_PER_MSEC, ns, &decimals) || decimals != 6 || !scan_at_end(&w))
		return false;
	*ns = minus ? -*ns : *ns;
	return true;
}

struct row {
	char		state;
	bool		current;
	struct scan	comm, path;
	int64_t		tid, run_ns, wait_ns, switches;
};

static size_t tokens(struct scan c, struct scan w[MAX_TOKENS])
{
	size_t n = 0;

	scan_trim(&c);
	while (n < MAX_TOKENS && !scan_at_end(&c)) {
		scan_blanks(&c);
		w[n].p = c.p;
		while (c.p < c.end && !is_blank(*c.p))
			c.p++;
		w[n++].end = c.p;
	}
	return n;
}

static bool read_row(const struct sched_debug *d, const struct line *ln, struct row *r)
{
	struct scan w[MAX_TOKENS], last;
	size_t n = tokens(scan_line(ln), w), id, i;
	int64_t ns, prio;

	if (n < 7)
		return false;
	memset(r, 0, sizeof(*r));
	i = scan_char(&w[0], '>') ? 1 : 0;	/* the one running */
	r->current = i || (*ln->s == 'R' && ln->len > 1 && is_blank(ln->s[1]));
	r->state = scan_left(&w[0]) == 1 && strchr("RSDTtXZIPKW", *w[0].p) ? *w[0].p : '\0';
	i = r->state ? 1 : 0;	/* before 4.15 only the running one has a letter */
	for (id = i + 1; id + 5 < n; id++)
		if (pure(w[id], &r->tid) && millis(w[id + 1], &ns))
			break;
	if (id + 5 >= n || r->tid < 0 || r->tid > INT32_MAX)
		return false;
	r->comm = scan_mem(w[i].p, (size_t)(w[id - 1].end - w[i].p));
	for (i = id + 2; i + 2 < n; i++)
		if (pure(w[i], &r->switches) && pure(w[i + 1], &prio))
			break;
	if (i + 2 >= n || !millis(w[i + 2], &r->wait_ns))
		return false;
	/* eligible, deadline, slice, sum-exec before the switches; or sum-exec behind wait-time */
	id = i > id + 4 ? i - 1 : i + 3;
	if (id >= n || !millis(w[id], &r->run_ns))
		return false;
	if (d->exec_runtime)
		r->wait_ns = -1;
	last = w[n - 1];
	r->path = scan_mem(last.p, *last.p == '/' ? scan_left(&last) : 0);
	return true;
}

/* Threads of VMs, and who runs or is blocked now. */
static bool wanted(const struct row *r)
{
	struct scan c = r->comm;

	if (r->current || r->state == 'D')
		return true;
	return (scan_lit(&c, "CPU ") && scan_find(&c, "/KVM")) || scan_lit(&c, "qemu") || scan_lit(&c, "kvm") ||
	       scan_lit(&c, "vhost") || scan_lit(&c, "fc_vcpu");
}

static bool take_task(struct parse_ctx *ctx, struct sched_debug *d, const struct line *ln)
{
	struct scan head = scan_line(ln);
	struct row r;
	size_t i;

	if (d->section != S_TASKS)
		return false;
	if (scan_find(&head, "task") && scan_find(&head, "PID ")) {
		d->exec_runtime = scan_find(&head, "exec-runtime");
		return true;
	}
	if (!read_row(d, ln, &r))
		return false;
	if (wanted(&r)) {
		const struct { const char *name; int64_t v; } numbers[] = {
			{ "processor", d->cpu }, { "run_ns", r.run_ns },
			{ "wait_ns", r.wait_ns }, { "switches", r.switches },
		};
		char key[64], state = r.state ? r.state : 'R';
		int64_t cite = ctx_cite(ctx, ln, CASE_NO_TIME);

		snprintf(key, sizeof(key), "task.%" PRId64 ".comm", r.tid);
		fact_put(ctx, &d->out, key, r.comm.p, scan_left(&r.comm), cite);
		if (r.state || r.current) {
			snprintf(key, sizeof(key), "task.%" PRId64 ".state", r.tid);
			fact_put(ctx, &d->out, key, &state, 1, cite);
		}
		for (i = 0; i < ARRAY_SIZE(numbers); i++) {
			char text[24];

			if (numbers[i].v < 0)
				continue;
			snprintf(key, sizeof(key), "task.%" PRId64 ".%s", r.tid, numbers[i].name);
			snprintf(text, sizeof(text), "%" PRId64, numbers[i].v);
			fact_put(ctx, &d->out, key, text, strlen(text), cite);
		}
		if (scan_left(&r.path) > 1) {
			snprintf(key, sizeof(key), "task.%" PRId64 ".cgroup", r.tid);
			fact_put(ctx, &d->out, key, r.path.p, scan_left(&r.path), cite);
		}
	}
	return true;
}

static enum line_result debug_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct sched_debug *d = state;
	struct scan c = scan_line(ln);

	scan_trim(&c);
	if (take_version(ctx, d, ln) ||
	    ((d->section || !ctx->embedded) && take_heading(ctx, d, ln)) ||
	    take_field(ctx, d, ln) || take_task(ctx, d, ln))
		return LINE_TAKEN;
	if (ctx->embedded)
		return LINE_NOT_MINE;
	return scan_at_end(&c) || (d->section == S_TASKS && *c.p == '-') ?
	       LINE_SKIPPED : LINE_NOT_MINE;
}

static struct error *debug_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct sched_debug *d = xcalloc(1, sizeof(*d));

	d->out.format = "sched debug";
	d->ktime = d->sched_clk = d->cpu_clk = d->stable = -1;
	strtab_init(&d->names, MAX_GROUPS);
	*state = d;
	return NULL;
}

static struct error *clock_row(struct parse_ctx *ctx, const struct sched_debug *d, const char *name,
			       const char *relation, const int64_t *offset)
{
	return case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation, offset_ns, uncertainty_ns, cite_id) VALUES(?,?,?,?,?,?)",
			   "issIiI", d->out.source_id, name, relation, offset, (int64_t)CLOCK_STEP_NS,
			   d->head_cite > 0 ? &d->head_cite : NULL);
}

static struct error *store_clocks(struct parse_ctx *ctx, const struct sched_debug *d)
{
	int64_t local = d->cpu_clk - d->sched_clk, mono = d->cpu_clk - d->ktime;

	if (d->cpu_clk < 0 || d->stable != 1)
		return NULL;
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'sched', first_ns = ?, last_ns = ? WHERE id = ?", "iii", d->cpu_clk,
			d->cpu_clk, d->out.source_id));
	TRY(clock_row(ctx, d, "sched", "cpu_clk of the head: the kernel's sched clock", NULL));
	if (d->sched_clk >= 0)
		TRY(clock_row(ctx, d, "local", "offset_ns is to be added to ftrace's local clock to get the sched clock", &local));
	if (d->ktime >= 0)
		TRY(clock_row(ctx, d, "mono", "offset_ns is to be added to CLOCK_MONOTONIC to get the sched clock", &mono));
	return NULL;
}

static void put_list(struct parse_ctx *ctx, struct sched_debug *d, uint32_t i, const char *what,
		     const char *list, int64_t cite)
{
	bool rt = *d->names.strings[i] == 'r';
	_cleanup_free_ char *key = xasprintf("sched.%s.%.*s.%s", rt ? "rt" : "cfs", (int)d->names.lens[i] - 1, d->names.strings[i] + 1, what);

	if (*list)
		fact_put(ctx, &d->out, key, list, strlen(list), cite);
}

static struct error *debug_end(struct parse_ctx *ctx, void *state)
{
	struct sched_debug *d = state;
	struct error *err = NULL;
	char text[24];
	uint32_t i;

	end_queue(ctx, d);
	for (i = 0; i < d->n_groups; i++) {
		put_list(ctx, d, i, "throttled_cpus", d->groups[i].throttled, d->groups[i].throttled_cite);
		put_list(ctx, d, i, "min_shares_cpus", d->groups[i].least, d->groups[i].least_cite);
	}
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%" PRId64, d->n_throttled[i]);
		if (d->n_queues[i] && d->head_cite)
			fact_put(ctx, &d->out, i ? "sched.rt.throttled" : "sched.cfs.throttled", text, strlen(text), d->head_cite);
	}
	if (d->out.source_id)
		err = store_clocks(ctx, d);
	strtab_deinit(&d->names);
	free(d->groups);
	free(d);
	return err;
}

static int debug_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);

	return scan_lit(&c, "Sched Debug Version: v") ? 95 : 0;
}

static const struct parser sched_debug = {
	.name		= "sched debug",
	.kind		= PARSER_LINES,
	.priority	= 91,
	.embed		= true,
	.sniff		= debug_sniff,
	.begin		= debug_begin,
	.line		= debug_line,
	.end		= debug_end,
};
REGISTER(parsers, &sched_debug);
