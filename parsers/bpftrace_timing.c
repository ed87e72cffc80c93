// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpftrace_timing.c - what bpftrace scripts print that time kernel functions, and the kernel stacks
 * behind it.
 *
 *   [1704971602] task_numa_work (tid=52035) took 19995 ms
 *   [1704971584] tdp_mmu_zap_leafs (tid=52035) took 2291 ms
 *
 *           tdp_mmu_zap_leafs+5
 *           kvm_unmap_gfn_range+347
 *           ...
 *
 * The line is printed when the function returns, its stamp (`time("[%s] ")`) is cut to whole
 * seconds: a call of d stamped t lies in [t - d, t + 1 s]; start_ns is t - d with
 * time_resolution_ns 1e9. Frames of the tracer itself (bpf_prog_*, bpf_trampoline_*) are dropped. A
 * stack belongs to the timing line it follows; in prose a stack that stands apart
 * ("the stacktrace is the same for all") belongs to the run of lines of the function at its top.
 *
 * Gives span (origin 'bpftrace', parent_id where a call lies inside another of the same task),
 * span_child, stack and span_stat. min_threshold_ns, the length below which the script prints
 * nothing, comes from the script's text where it stands in the same member, else from the
 * durations: three or more calls none of which is below 100 us show that short ones were left out
 * (then the next lower 1, 2 or 5 times a power of ten is taken).
 */
#include "scan.h"

#define MAX_SPANS	20000
#define MAX_FUNCS	256
#define MAX_FRAMES	128
#define PARENT_WINDOW	1024
#define STAMP_NS	((int64_t)NSEC_PER_SEC)
#define MAX_NS		(4000000000LL * STAMP_NS)	/* the year 2096 */
#define SLACK_NS	(2 * STAMP_NS)	/* two stamps, each cut to a second */

struct bt_span {
	uint32_t	func;
	int64_t		tid, time_ns, dur_ns;	/* time_ns: of the return, -1 not stamped */
	int64_t		children_ns;		/* of those that were put below it */
	int64_t		cite, row;
	uint32_t	stack;			/* index + 1 into stacks; 0 none */
	int32_t		parent;			/* index into spans; -1 none */
	uint64_t	line;
};

struct bt_func {
	int64_t		count, total_ns, min_ns, max_ns;
	int64_t		threshold_ns;	/* of the script's text; -1 none seen */
	int64_t		tasks;
};

struct bt_state {
	int64_t		source_id;
	struct strtab	funcs, stacks, tids;
	struct bt_func	f[MAX_FUNCS];
	struct bt_span	*spans;
	size_t		n_spans, cap_spans;
	/* the stack being read */
	char		*frames;
	size_t		frames_len, frames_cap;
	unsigned int	n_frames;
	bool		adjacent;	/* only blank lines since the last timing line */
	/* the script's text */
	bool		in_script;
	uint32_t	script_func;
	int64_t		first_ns, last_ns;
};

/*
 * Which function calls which, for lines that come without a stack. From the kernel's mm/ and
 * virt/kvm.
 */
static const struct { const char *child, *parent; } known_calls[] = {
	{ "tdp_mmu_zap_leafs", "task_numa_work" },
	{ "kvm_tdp_mmu_unmap_gfn_range", "task_numa_work" },
	{ "kvm_unmap_gfn_range", "task_numa_work" },
	{ "kvm_mmu_notifier_invalidate_range_start", "task_numa_work" },
	{ "__mmu_notifier_invalidate_range_start", "task_numa_work" },
	{ "change_protection", "task_numa_work" },
	{ "change_prot_numa", "task_numa_work" },
	{ "tdp_mmu_zap_leafs", "kvm_mmu_notifier_invalidate_range_start" },
	{ "kvm_unmap_gfn_range", "kvm_mmu_notifier_invalidate_range_start" },
	{ "cgroup_attach_task_all", "kvm_vm_worker_thread" },
	{ "synchronize_rcu", "cgroup_attach_task_all" },
};

struct bt_line {
	const char	*func;
	size_t		func_len;
	int64_t		tid, dur_ns, time_ns;
};

/* [EPOCH] FUNC (tid=N) took M ms|us|ns|s */
static bool parse_timing(const struct line *ln, struct bt_line *l)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 }, { "s", NSEC_PER_SEC },
	};
	struct scan c = scan_line(ln), num;
	int64_t v;
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	l->time_ns = -1;
	if (scan_char(&c, '[')) {
		if (!scan_dec(&c, NSEC_PER_SEC, &l->time_ns, NULL) || !scan_char(&c, ']') ||
		    !scan_blanks(&c))
			return false;
		/* no date: counts from somewhere else */
		if (l->time_ns < 1000000 * STAMP_NS || l->time_ns > MAX_NS)
			l->time_ns = -1;
	}
	if (!scan_word(&c, &l->func, &l->func_len) || l->func_len > 128 || !scan_lit(&c, " (tid=") ||
	    !scan_i64(&c, &l->tid) || l->tid < 0 || l->tid > INT32_MAX || !scan_lit(&c, ") took "))
		return false;
	num = c;
	if (!scan_dec(&c, 1, &v, NULL) || !scan_blanks(&c))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (span_is(c.p, scan_left(&c), units[i].name))
			return scan_dec(&num, units[i].ns, &l->dur_ns, NULL) && l->dur_ns <= MAX_NS;
	return false;
}

/*
 * `func+123`, also `func+0x7b/0x200`, with a module in brackets; a bare address inside an open
 * block.
 */
static bool parse_frame(const struct line *ln, bool open, const char **s, size_t *len)
{
	struct scan c = scan_line(ln);
	const char *from;
	uint64_t off;

	scan_trim(&c);
	scan_blanks(&c);
	from = c.p;
	if (open && scan_lit(&c, "0xffff")) {
		while (c.p < c.end && (is_digit(*c.p) || (*c.p >= 'a' && *c.p <= 'f')))
			c.p++;
		*s = from;
		*len = (size_t)(c.p - from);
		return scan_at_end(&c);
	}
	while (c.p < c.end && (is_word(*c.p) || *c.p == '.'))
		c.p++;
	if (c.p == from || is_digit(*from) || c.p - from > 128 || !scan_char(&c, '+') ||
	    !scan_u64(&c, &off))
		return false;
	*s = from;
	*len = (size_t)(c.p - from);
	if (scan_blanks(&c) && scan_char(&c, '[') && !(scan_to(&c, "]")))
		return false;
	return scan_at_end(&c);
}

static bool blank_line(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	return scan_at_end(&c);
}

static bool sniff_test(const struct line *ln)
{
	struct bt_line l;
	const char *s;
	size_t len;

	return parse_timing(ln, &l) || parse_frame(ln, true, &s, &len) || blank_line(ln) ||
	       starts_with(ln->s, ln->len, "Attaching ") || starts_with(ln->s, ln->len, "Lost ");
}

static int bt_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, timings = 0;
	struct bt_line l;

	while (!timings && scan_lines(&next, end, &ln.s, &ln.len))
		timings += parse_timing(&ln, &l);
	return timings && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static struct error *bt_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct bt_state *st = xcalloc(1, sizeof(*st));
	size_t i;

	strtab_init(&st->funcs, MAX_FUNCS);
	strtab_init(&st->stacks, MAX_SPANS);
	strtab_init(&st->tids, MAX_SPANS);
	for (i = 0; i < MAX_FUNCS; i++) {
		st->f[i].threshold_ns = -1;
		st->f[i].min_ns = INT64_MAX;
	}
	st->first_ns = -1;
	*state = st;
	return NULL;
}

/* Frame @i of a stack text without its offset. */
static bool frame_is(const char *frames, const char *func, bool top_only)
{
	size_t n = strlen(func);
	const char *p = frames;

	while (*p) {
		if (!strncmp(p, func, n) && p[n] == '+')
			return true;
		if (top_only)
			return false;
		p = strchrnul(p, '\n');
		if (*p)
			p++;
	}
	return false;
}

/* The block of frames is over: give it to the spans it belongs to. */
static void close_stack(struct bt_state *st)
{
	uint32_t id;
	size_t i;

	if (st->n_frames >= 3 && st->frames_len) {
		st->frames[st->frames_len - 1] = '\0';	/* the last newline */
		id = strtab_id(&st->stacks, st->frames, st->frames_len - 1);
		if (id != STRTAB_NONE && st->adjacent && st->n_spans) {
			st->spans[st->n_spans - 1].stack = id + 1;
		} else if (id != STRTAB_NONE) {
			for (i = st->n_spans; i > 0 && !st->spans[i - 1].stack; i--) {
				if (!frame_is(st->frames,
					      strtab_str(&st->funcs, st->spans[i - 1].func), true))
					break;
				st->spans[i - 1].stack = id + 1;
			}
		}
	}
	st->n_frames = 0;
	st->frames_len = 0;
	st->adjacent = false;
}

static void add_frame(struct bt_state *st, const char *s, size_t len)
{
	if (st->n_frames++ >= MAX_FRAMES || starts_with(s, len, "bpf_prog_") || starts_with(s, len, "bpf_trampoline_"))
		return;
	GROW(st->frames, st->frames_cap, st->frames_len + len + 1);
	memcpy(st->frames + st->frames_len, s, len);
	st->frames[st->frames_len + len] = '\n';
	st->frames_len += len + 1;
}

/*
 * The script's own source: the probe `kretfunc:vmlinux:FUNC` or `kretprobe:FUNC`, then `if ($diff >
 * 500000000)`.
 */
static void read_script(struct bt_state *st, const struct line *ln)
{
	static const char *const probes[] = { "kretfunc:", "kretprobe:", "fexit:" };
	struct scan c = scan_line(ln);
	const char *s;
	uint64_t v;
	size_t len, i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct scan d = c;

		if (!scan_to(&d, probes[i]) || !scan_word(&d, &s, &len))
			continue;
		while (scan_char(&d, ':') && scan_word(&d, &s, &len))
			;
		st->script_func = strtab_id(&st->funcs, s, len);
		st->in_script = st->script_func != STRTAB_NONE;
		c = d;
	}
	if (st->in_script && scan_to(&c, " > ") && scan_u64(&c, &v) && v <= INT64_MAX && scan_char(&c, ')')) {
		st->f[st->script_func].threshold_ns = (int64_t)v;
		st->in_script = false;
	}
}

static enum line_result add_span(struct parse_ctx *ctx, struct bt_state *st, const struct line *ln,
				 const struct bt_line *l)
{
	uint32_t func = strtab_id(&st->funcs, l->func, l->func_len);
	struct bt_span *s;
	struct bt_func *f;
	char key[40];
	size_t known;
	int n;

	if (func == STRTAB_NONE) {
		parse_remark(ctx, true, "more than %d different functions timed: the rest is left out", MAX_FUNCS);
		return LINE_SKIPPED;
	}
	f = &st->f[func];
	f->count++;
	if (__builtin_add_overflow(f->total_ns, l->dur_ns, &f->total_ns))
		f->total_ns = INT64_MAX;
	f->min_ns = MIN(f->min_ns, l->dur_ns);
	f->max_ns = MAX(f->max_ns, l->dur_ns);
	known = st->tids.n;
	n = snprintf(key, sizeof(key), "%u/%" PRId64, func, l->tid);
	strtab_id(&st->tids, key, (size_t)n);
	f->tasks += st->tids.n > known;
	if (l->time_ns >= 0) {
		int64_t start = l->time_ns - l->dur_ns;	/* both are positive */

		st->first_ns = st->first_ns < 0 ? start : MIN(st->first_ns, start);
		st->last_ns = MAX(st->last_ns, l->time_ns);
	}
	if (st->n_spans >= MAX_SPANS) {
		parse_remark(ctx, true, "the first %d timed calls are listed one by one, all are counted", MAX_SPANS);
		return LINE_TAKEN;
	}
	GROW(st->spans, st->cap_spans, st->n_spans + 1);
	s = &st->spans[st->n_spans++];
	memset(s, 0, sizeof(*s));
	s->func = func;
	s->tid = l->tid;
	s->time_ns = l->time_ns;
	s->dur_ns = l->dur_ns;
	s->parent = -1;
	s->line = ln->no;
	s->cite = ctx_cite(ctx, ln, l->time_ns >= 0 ? l->time_ns : CASE_NO_TIME);
	return LINE_TAKEN;
}

static enum line_result bt_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct bt_state *st = state;
	struct bt_line l;
	const char *s;
	size_t len;

	if (parse_timing(ln, &l)) {
		close_stack(st);
		if (!st->source_id) {
			struct error *err = ctx_source(ctx, &st->source_id, "bpftrace");

			if (err) {
				parse_remark(ctx, true, "%s", err->what);
				error_free(err);
				return LINE_SKIPPED;
			}
		}
		st->adjacent = true;
		return add_span(ctx, st, ln, &l);
	}
	if (blank_line(ln)) {
		if (st->n_frames)
			close_stack(st);
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	}
	if (st->n_spans && parse_frame(ln, st->n_frames > 0, &s, &len)) {
		if (!st->n_frames && ln->no > st->spans[st->n_spans - 1].line + 3)
			st->adjacent = false;
		add_frame(st, s, len);
		return LINE_TAKEN;
	}
	if (st->n_frames)
		close_stack(st);
	st->adjacent = false;
	read_script(st, ln);
	return !ctx->embedded && (starts_with(ln->s, ln->len, "Attaching ") || starts_with(ln->s, ln->len, "Lost ")) ?
	       LINE_SKIPPED : LINE_NOT_MINE;
}

/* May the call @child with its stack be inside one of function @func? */
static bool may_call(const struct bt_state *st, const struct bt_span *child, uint32_t func)
{
	const char *c = strtab_str(&st->funcs, child->func), *p = strtab_str(&st->funcs, func);
	size_t i;

	if (func == child->func)
		return false;

	if (child->stack)
		return frame_is(strtab_str(&st->stacks, child->stack - 1), p, false);
	for (i = 0; i < ARRAY_SIZE(known_calls); i++)
		if (!strcmp(known_calls[i].child, c) && !strcmp(known_calls[i].parent, p))
			return true;
	return false;
}

/*
 * Does @child fit into what @parent's other children have left, and into its time as far as the
 * stamps tell?
 */
static bool lies_inside(const struct bt_span *child, const struct bt_span *parent)
{
	int64_t room = parent->dur_ns - parent->children_ns;

	/* durations are printed cut to whole units, so a child may look longer by some */
	if (child->dur_ns > room + room / 64 + (int64_t)NSEC_PER_USEC)
		return false;
	if (child->time_ns < 0 || parent->time_ns < 0)
		return true;
	return child->time_ns <= parent->time_ns + STAMP_NS &&
	       child->time_ns - child->dur_ns >= parent->time_ns - parent->dur_ns - SLACK_NS;
}

/*
 * A span near child @i, @step lines of the output away in one direction, that it lies inside; -1
 * none.
 */
static int32_t find_parent(const struct bt_state *st, size_t i, int step, bool past_full)
{
	const struct bt_span *child = &st->spans[i];
	uint8_t may[MAX_FUNCS] = { 0 };	/* 0 not yet asked, 1 no, 2 yes */
	size_t j, n;

	for (n = 0, j = i; n < PARENT_WINDOW && (step > 0 ? j + 1 < st->n_spans : j > 0); n++) {
		const struct bt_span *p = &st->spans[j += (size_t)step];

		if (p->tid != child->tid)
			continue;
		if (!may[p->func])
			may[p->func] = may_call(st, child, p->func) ? 2 : 1;
		if (may[p->func] == 1)
			continue;
		if (lies_inside(child, p))
			return (int32_t)j;
		if (!past_full)
			return -1;
	}
	return -1;
}

/*
 * A call is printed when it returns, so the parent's line is the next fitting one of its task
 * below; in prose, where somebody quotes the parent first, the nearest one above.
 */
static void find_parents(struct bt_state *st, bool embedded)
{
	size_t i;

	for (i = 0; i < st->n_spans; i++) {
		int32_t found = find_parent(st, i, 1, embedded);

		if (found < 0 && embedded)
			found = find_parent(st, i, -1, true);
		if (found < 0)
			continue;
		st->spans[i].parent = found;
		st->spans[found].children_ns += st->spans[i].dur_ns;
	}
}

static int64_t round_threshold(int64_t ns)
{
	int64_t p = 1;

	while (p <= ns / 10)
		p *= 10;
	return ns >= 5 * p ? 5 * p : ns >= 2 * p ? 2 * p : p;
}

static struct error *store_stats(struct parse_ctx *ctx, struct bt_state *st)
{
	size_t i;

	for (i = 0; i < st->funcs.n; i++) {
		const struct bt_func *f = &st->f[i];
		int64_t threshold = f->threshold_ns;

		if (!f->count)
			continue;
		if (threshold < 0 && f->count >= 3 && f->min_ns >= 100 * (int64_t)NSEC_PER_USEC)
			threshold = round_threshold(f->min_ns);
		TRY(case_insert(
			ctx->db, NULL,
			"INSERT INTO span_stat(source_id, func, origin, parent, count, total_ns, min_ns, max_ns, tasks, min_threshold_ns)"
			" VALUES(?,?,'bpftrace','',?,?,?,?,?,?)",
			"isiiiiiI", st->source_id, strtab_str(&st->funcs, (uint32_t)i), f->count,
			f->total_ns, f->min_ns, f->max_ns, f->tasks,
			threshold >= 0 ? &threshold : NULL));
	}
	return NULL;
}

static struct error *store_stacks(struct parse_ctx *ctx, const struct bt_state *st, int64_t *rows)
{
	size_t i;

	for (i = 0; i < st->stacks.n; i++) {
		TRY(case_stack(ctx->db, &rows[i], st->source_id, st->stacks.strings[i], "+\n"));
	}
	return NULL;
}

static int by_parent(const void *a, const void *b)
{
	const struct bt_span *x = *(const struct bt_span *const *)a,
			     *y = *(const struct bt_span *const *)b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->func < y->func ? -1 : x->func > y->func;
}

/* span_child: the children of each span, summed per function. */
static struct error *store_children(struct parse_ctx *ctx, struct bt_state *st)
{
	_cleanup_free_ struct bt_span **v = xcalloc(st->n_spans, sizeof(*v));
	size_t i, j, n = 0;

	for (i = 0; i < st->n_spans; i++)
		if (st->spans[i].parent >= 0)
			v[n++] = &st->spans[i];
	qsort(v, n, sizeof(*v), by_parent);
	for (i = 0; i < n; i = j) {
		int64_t total = 0, max = 0;

		for (j = i; j < n && !by_parent(&v[i], &v[j]); j++) {
			total += v[j]->dur_ns;
			max = MAX(max, v[j]->dur_ns);
		}
		TRY(case_insert(ctx->db, NULL, "INSERT INTO span_child(span_id, func, count, total_ns, max_ns) VALUES(?,?,?,?,?)",
				"isiii", st->spans[v[i]->parent].row, strtab_str(&st->funcs, v[i]->func), (int64_t)(j - i), total, max));
	}
	return NULL;
}

static struct error *bt_store(struct parse_ctx *ctx, struct bt_state *st)
{
	_cleanup_free_ int64_t *stack_rows = xcalloc(st->stacks.n, sizeof(*stack_rows));
	size_t i;

	if (st->first_ns >= 0) {
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'wall', first_ns = ?, last_ns = ? WHERE id = ?", "iii",
				st->first_ns, st->last_ns, st->source_id));
		TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation, uncertainty_ns) VALUES(?,?,?,?)", "issi",
				st->source_id, "wall", "seconds since 1970, stamped when the function returned", STAMP_NS));
	}
	TRY(store_stacks(ctx, st, stack_rows));
	for (i = 0; i < st->n_spans; i++) {
		struct bt_span *s = &st->spans[i];
		int64_t start = s->time_ns - s->dur_ns, resolution = s->time_ns >= 0 ? STAMP_NS : 1;
		const int64_t *stack = s->stack ? &stack_rows[s->stack - 1] : NULL;

		TRY(case_insert(
			ctx->db, &s->row,
			"INSERT INTO span(source_id, func, origin, tid, start_ns, duration_ns, time_resolution_ns, stack_id, cite_id)"
			" VALUES(?,?,'bpftrace',?,?,?,?,?,?)",
			"isiIiiII", st->source_id, strtab_str(&st->funcs, s->func), s->tid,
			s->time_ns >= 0 ? &start : NULL, s->dur_ns, resolution, stack,
			s->cite > 0 ? &s->cite : NULL));
	}
	for (i = 0; i < st->n_spans; i++)
		if (st->spans[i].parent >= 0)
			TRY(case_insert(ctx->db, NULL, "UPDATE span SET parent_id = ? WHERE id = ?", "ii",
					st->spans[st->spans[i].parent].row, st->spans[i].row));
	if (st->n_spans)
		TRY(store_children(ctx, st));
	return store_stats(ctx, st);
}

static struct error *bt_end(struct parse_ctx *ctx, void *state)
{
	struct bt_state *st = state;
	struct error *err = NULL;

	close_stack(st);
	if (st->source_id) {
		find_parents(st, ctx->embedded);
		err = bt_store(ctx, st);
	}
	strtab_deinit(&st->funcs);
	strtab_deinit(&st->stacks);
	strtab_deinit(&st->tids);
	free(st->spans);
	free(st->frames);
	free(st);
	return err;
}

static const struct parser bpftrace_timing = {
	.name		= "bpftrace timing",
	.kind		= PARSER_LINES,
	.priority	= 40,
	.embed		= true,
	.sniff		= bt_sniff,
	.begin		= bt_begin,
	.line		= bt_line,
	.end		= bt_end,
};
REGISTER(parsers, &bpftrace_timing);
