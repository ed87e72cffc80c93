// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_trace.c - what `perf trace` prints, and the summary of `perf trace -s`
 * (tools/perf/builtin-trace.c: trace__fprintf_entry_head(), trace__sys_exit(),
 * thread__dump_stats()).
 *
 *      20.357 (168.388 ms): createvm/472 ioctl(fd: 4</dev/kvm>, cmd: KVM_CREATE_VM)       = 5
 *    1845.239 (         ): createvm/478 ioctl(fd: 4</dev/kvm>, cmd: KVM_CREATE_VM)        ...
 *    1845.239 (274.865 ms): createvm/478  ... [continued]: ioctl())                        = 5
 *
 * The first column is the call's beginning in ms since the first event. Of a single thread the
 * comm/tid is left out. Gives spans and syscall_stat as strace does (origin 'perf trace'); of a
 * summary, which perf rounds to microseconds, syscall_stat. Where a text has both, the calls
 * themselves count.
 */
#include "call_log.h"
#include "scan.h"

#define MAX_PENDING	1024
#define MAX_NAME	96
#define MAX_ROWS	65536

struct trace_call {
	char		name[MAX_NAME], task[24], result[48];
	int64_t		tid;		/* -1 not printed */
	int64_t		time_ns;	/* -1: "?" */
	int64_t		dur_ns;		/* -1 none printed */
	/* other: an event that is no system call */
	bool		unfinished, continued, failed, other;
};

struct sum_row {
	char		name[48];
	int64_t		calls, errors, total_ns, min_ns, max_ns;
};

struct pending {
	int64_t		tid;
	char		name[MAX_NAME];
};

struct trace_state {
	int64_t		source_id;
	struct call_log	log;
	struct pending	*pending;
	size_t		n_pending, cap_pending;
	int64_t		first_ns, last_ns;
	uint64_t	calls, rows;
	/* summary: "comm (tid), 204 events, 28.6%" */
	bool		in_summary, in_task;
	int64_t		tid;
};

/* The two columns in front, "   20.357 (168.388 ms): " */
static bool head(struct scan *c, struct trace_call *l)
{
	unsigned int decimals;

	scan_blanks(c);
	l->time_ns = l->dur_ns = -1;
	if (!scan_char(c, '?') &&
	    (!scan_dec(c, NSEC_PER_MSEC, &l->time_ns, &decimals) || decimals != 3))
		return false;
	if (!scan_blanks(c) || !scan_char(c, '('))
		return false;
	scan_blanks(c);
	if (scan_dec(c, NSEC_PER_MSEC, &l->dur_ns, &decimals)) {
		scan_blanks(c);
		if (decimals != 3 || !scan_lit(c, "ms"))
			return false;
	}
	scan_blanks(c);
	return scan_lit(c, "):") && scan_blanks(c);
}

static bool at_call(struct scan c)
{
	const char *s;
	size_t len;

	scan_blanks(&c);
	if (scan_lit(&c, "... [continued]: "))
		return true;
	if (!scan_word(&c, &s, &len))
		return false;
	return c.p < c.end && (*c.p == '(' || *c.p == ':' || *c.p == '[' || starts_with(c.p, scan_left(&c), " ["));
}

/* "comm/tid " before the call; a comm may have blanks and slashes. */
static void task(struct scan *c, struct trace_call *l)
{
	const char *from = c->p, *slash = c->p;
	struct scan t;

	l->tid = -1;
	l->task[0] = '\0';
	while ((slash = memchr(slash, '/', MIN((size_t)(c->end - slash), (size_t)40)))) {
		t = scan_mem(slash + 1, (size_t)(c->end - slash - 1));
		if (slash > from && scan_i64(&t, &l->tid) && l->tid >= 0 && l->tid <= INT32_MAX &&
		    scan_blanks(&t) && at_call(t)) {
			snprintf(l->task, sizeof(l->task), "%.*s", (int)MIN(slash - from, (ptrdiff_t)23), from);
			*c = t;
			return;
		}
		l->tid = -1;
		slash++;
	}
}

/* The request of an ioctl: "cmd: KVM_CREATE_VM", "cmd: (READ, 0xae, 0x80, 0)", "cmd: 0xae01". */
static void ioctl_name(struct scan c, struct trace_call *l)
{
	const char *s, *name = NULL;
	char digits[3] = "";
	size_t len;

	if (!scan_to(&c, "cmd: "))
		return;
	if (scan_word(&c, &s, &len)) {
		snprintf(l->name, sizeof(l->name), "ioctl:%.*s", (int)MIN(len, (size_t)60), s);
		return;
	}
	if ((*c.p == '(' && scan_to(&c, "0xae, 0x")) || scan_lit(&c, "0xae")) {
		for (len = 0;
		     len < 2 && c.p < c.end && (is_digit(*c.p) || (*c.p >= 'a' && *c.p <= 'f'));
		     len++)
			digits[len] = *c.p++;
		name = len ? kvm_ioctl_name(strtoul(digits, NULL, 16)) : NULL;
	}
	if (name)
		snprintf(l->name, sizeof(l->name), "ioctl:%s", name);
}

/* The last ")  = RESULT"; false where there is none. */
static bool result(const struct scan *c, struct trace_call *l)
{
	const char *p, *q;
	struct scan r;

	for (p = c->end - 1; p > c->p + 1; p--) {
		if (*p != '=' || !is_blank(p[-1]) || (p + 1 < c->end && !is_blank(p[1])))
			continue;
		for (q = p; q > c->p && is_blank(q[-1]); q--)
			;
		if (q > c->p && q[-1] == ')')
			break;
	}
	if (p <= c->p + 1)
		return false;
	r = scan_mem(p + 1, (size_t)(c->end - p - 1));
	scan_blanks(&r);
	l->failed = starts_with(r.p, scan_left(&r), "-1 E");
	snprintf(l->result, sizeof(l->result), "%.*s", (int)MIN(scan_left(&r), sizeof(l->result) - 1), r.p);
	return true;
}

static bool parse_call(const struct line *ln, struct trace_call *l)
{
	struct scan c = scan_line(ln);
	const char *s;
	size_t len;

	memset(l, 0, sizeof(*l));
	scan_trim(&c);
	if (!head(&c, l))
		return false;
	task(&c, l);
	scan_blanks(&c);
	l->continued = scan_lit(&c, "... [continued]: ");
	if (!scan_word(&c, &s, &len) || len > 60)
		return false;
	snprintf(l->name, sizeof(l->name), "%.*s", (int)len, s);
	if (!scan_char(&c, '(')) {
		l->other = c.p < c.end && (*c.p == ':' || *c.p == '[' || *c.p == ' ');
		return l->other;
	}
	if (span_is(s, len, "ioctl"))
		ioctl_name(c, l);
	if (result(&c, l))
		return true;
	l->unfinished = c.end - c.p >= 3 && !memcmp(c.end - 3, "...", 3);
	return l->unfinished;
}

/* "   wait4                 21      1   666.574     0.021    31.742   138.355     28.28%" */
static bool parse_row(const struct line *ln, struct sum_row *r)
{
	int64_t ms[4];
	struct scan c = scan_line(ln), t;
	unsigned int decimals;
	const char *s;
	size_t len, i;

	scan_trim(&c);
	scan_blanks(&c);
	if (!scan_word(&c, &s, &len) || len >= sizeof(r->name) || !scan_blanks(&c) ||
	    !scan_i64(&c, &r->calls) || r->calls < 1 || !scan_blanks(&c))
		return false;
	t = c;
	r->errors = 0;
	if (scan_i64(&t, &r->errors) && scan_blanks(&t))	/* older perf has no such column */
		c = t;
	else
		r->errors = 0;
	for (i = 0; i < 4; i++) {
		if (!scan_dec(&c, NSEC_PER_MSEC, &ms[i], &decimals) || decimals != 3)
			return false;
		scan_blanks(&c);
	}
	if (!scan_dec(&c, 100, &(int64_t){ 0 }, NULL) || !scan_char(&c, '%') || !scan_at_end(&c) ||
	    r->errors > r->calls)
		return false;
	snprintf(r->name, sizeof(r->name), "%.*s", (int)len, s);
	r->total_ns = ms[0];
	r->min_ns = ms[1];
	r->max_ns = ms[3];
	return true;
}

/* " createvm (423), 204 events, 28.6%"; the total of all threads has no number */
static bool parse_task(const struct line *ln, int64_t *tid)
{
	struct scan c = scan_line(ln), t;
	const char *p;
	int64_t n;

	*tid = -1;
	scan_trim(&c);
	if (c.p >= c.end || c.end[-1] != '%' || !scan_find(&c, " events, "))
		return false;
	t = c;
	if (!scan_to(&t, "), ")) {
		scan_blanks(&c);
		return scan_lit(&c, "total, ");
	}
	for (p = t.p - 3; p > c.p && is_digit(p[-1]); p--)
		;
	if (p == c.p || p[-1] != '(')
		return false;
	n = -1;
	t = scan_mem(p, (size_t)(c.end - p));
	if (!scan_i64(&t, &n) || n > INT32_MAX)
		return false;
	*tid = n;
	return true;
}

static bool is_title(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	scan_blanks(&c);
	return starts_with(c.p, scan_left(&c), "Summary of events") && scan_left(&c) < 40;
}

static bool is_frame(const struct line *ln)
{
	static const char *const starts[] = { "syscall ", "(msec)", "(%)", "-----", "LOST ", "Warning:", "[" };
	struct scan c = scan_line(ln);
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_at_end(&c))
		return true;
	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(c.p, scan_left(&c), starts[i]))
			return true;
	return false;
}

static bool open_source(struct parse_ctx *ctx, struct trace_state *st)
{
	struct error *err = st->source_id ? NULL : ctx_source(ctx, &st->source_id, "perf trace");

	if (!err)
		return true;
	parse_remark(ctx, true, "%s", err->what);
	error_free(err);
	return false;
}

static void remember(struct parse_ctx *ctx, struct trace_state *st, const struct trace_call *l)
{
	size_t i;

	for (i = 0; i < st->n_pending && st->pending[i].tid != l->tid; i++)
		;
	if (i == st->n_pending) {
		if (i >= MAX_PENDING) {
			parse_remark(ctx, true, "more than %d unfinished calls at once: some are left out", MAX_PENDING);
			return;
		}
		GROW(st->pending, st->cap_pending, i + 1);
		st->n_pending++;
	}
	st->pending[i].tid = l->tid;
	memcpy(st->pending[i].name, l->name, sizeof(l->name));
}

/* The arguments stand on the call's first line only: take an ioctl's request from there. */
static void recall(struct trace_state *st, struct trace_call *l)
{
	size_t i, n = strlen(l->name);

	for (i = 0; i < st->n_pending; i++) {
		struct pending *p = &st->pending[i];

		if (p->tid != l->tid)
			continue;
		if (!strncmp(p->name, l->name, n) && (!p->name[n] || p->name[n] == ':'))
			memcpy(l->name, p->name, sizeof(l->name));
		*p = st->pending[--st->n_pending];
		return;
	}
}

static enum line_result take_call(struct parse_ctx *ctx, struct trace_state *st,
				  const struct line *ln, struct trace_call *l)
{
	struct call call = { .name = l->name,
			     .task = l->task,
			     .result = l->result,
			     .tid = l->tid,
			     .time_ns = l->time_ns,
			     .dur_ns = l->dur_ns,
			     .cite_ns = l->time_ns >= 0 ? l->time_ns : CASE_NO_TIME,
			     .failed = l->failed };

	if (l->other || !open_source(ctx, st))
		return LINE_SKIPPED;
	if (l->time_ns >= 0) {
		st->first_ns = st->first_ns < 0 ? l->time_ns : MIN(st->first_ns, l->time_ns);
		st->last_ns = MAX(st->last_ns, l->time_ns);
	}
	if (l->unfinished) {
		remember(ctx, st, l);
		return LINE_TAKEN;
	}
	if (l->continued)
		recall(st, l);
	if (l->dur_ns < 0)
		/* begun before the trace, or a child's return from clone() */
		return LINE_SKIPPED;
	st->calls++;
	call_log_add(ctx, &st->log, ln, &call);
	return LINE_TAKEN;
}

static enum line_result take_row(struct parse_ctx *ctx, struct trace_state *st,
				 const struct line *ln, const struct sum_row *r)
{
	struct error *err;
	int64_t cite;

	if (st->calls || !open_source(ctx, st))
		return LINE_SKIPPED;
	if (st->rows++ >= MAX_ROWS) {
		parse_remark(ctx, true, "more than %d rows in a perf trace summary: the rest is left out", MAX_ROWS);
		return LINE_SKIPPED;
	}
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	err = case_insert(ctx->db, NULL,
			  "INSERT INTO syscall_stat(source_id, name, tid, count, errors, total_ns, min_ns, max_ns, cite_id)"
			  " VALUES(?,?,?,?,?,?,?,?,?)",
			  "isIiiiiiI", st->source_id, r->name, st->tid >= 0 ? &st->tid : NULL, r->calls, r->errors,
			  r->total_ns, r->min_ns, r->max_ns, cite > 0 ? &cite : NULL);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static enum line_result perf_trace_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct trace_state *st = state;
	struct trace_call l;
	struct sum_row r;
	int64_t tid;

	if (parse_call(ln, &l)) {
		if (ctx->embedded && (l.other || l.tid < 0))
			return LINE_NOT_MINE;
		return take_call(ctx, st, ln, &l);
	}
	if (is_title(ln)) {
		st->in_summary = true;
		return LINE_TAKEN;
	}
	if (st->in_summary && parse_task(ln, &tid)) {
		st->tid = tid;
		st->in_task = true;
		return LINE_TAKEN;
	}
	if ((st->in_task || !ctx->embedded) && parse_row(ln, &r))
		return take_row(ctx, st, ln, &r);
	return is_frame(ln) && (!ctx->embedded || (st->in_task && ln->len)) ? LINE_SKIPPED
									    : LINE_NOT_MINE;
}

static struct error *trace_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct trace_state *st = xcalloc(1, sizeof(*st));

	call_log_init(&st->log);
	st->first_ns = st->tid = -1;
	*state = st;
	return NULL;
}

static struct error *store(struct parse_ctx *ctx, struct trace_state *st)
{
	if (!st->source_id)
		return NULL;
	if (st->first_ns >= 0) {
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'relative', first_ns = ?, last_ns = ? WHERE id = ?", "iii",
				st->first_ns, st->last_ns, st->source_id));
		TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss", st->source_id,
				"relative", "since perf trace's first event"));
	}
	return call_log_store(ctx, &st->log, st->source_id, "perf trace", NSEC_PER_USEC);
}

static struct error *trace_end(struct parse_ctx *ctx, void *state)
{
	struct trace_state *st = state;
	struct error *err = store(ctx, st);

	call_log_free(&st->log);
	free(st->pending);
	free(st);
	return err;
}

static bool sniff_test(const struct line *ln)
{
	struct trace_call l;
	struct sum_row r;
	int64_t tid;

	return parse_call(ln, &l) || parse_row(ln, &r) || parse_task(ln, &tid) || is_title(ln) ||
	       is_frame(ln);
}

static int trace_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, found = 0;
	struct trace_call l;

	while (!found && scan_lines(&next, end, &ln.s, &ln.len))
		found += is_title(&ln) || (parse_call(&ln, &l) && !l.other);
	return found && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static const struct parser perf_trace = {
	.name		= "perf trace",
	.kind		= PARSER_LINES,
	.priority	= 28,
	.embed		= true,
	.sniff		= trace_sniff,
	.begin		= trace_begin,
	.line		= perf_trace_line,
	.end		= trace_end,
};
REGISTER(parsers, &perf_trace);
