// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched_latency.c - the table of `perf sched latency` (perf's tools/perf/builtin-sched.c,
 * output_lat_thread()).
 *
 *   CPU 0/KVM:169 | 1017.314 ms | 114 | avg: 73.665 ms | max: 255.795 ms | max start: 124.1 ...
 *
 * Older perf ends in `| max at: 124.350997 s` (the switch-in, so the delay's end), with `Switches`
 * where newer ones say `Count`; what people paste may lack the pid and the last columns. `-p`
 * prints `comm:pid`, else threads of one name are merged into `comm:(n)`. Times with three decimals
 * of a millisecond become ns exactly; the average is perf's own quotient, so total_delay_ns stays
 * unknown.
 *
 * Gives rows in runq_delay (origin 'table'), tid NULL where merged or not printed. Times are perf's
 * clock: sched, unless the recording used -k, which the table does not tell.
 */
#include "engine.h"
#include "scan.h"

#define MAX_ROWS	20000

struct lat_row {
	char		comm[128];
	int64_t		tid;		/* -1: merged or not printed */
	int64_t		runtime_ns, switches, avg_ns, max_ns;
	int64_t		start_ns, end_ns;	/* -1 not known */
};

struct lat_state {
	int64_t		source_id;	/* 0: not yet */
	uint64_t	rows;
	bool		clock_said;
};

static bool ms_column(struct scan *c, const char *name, int64_t *ns)
{
	scan_blanks(c);
	if (*name && !scan_lit(c, name))
		return false;
	scan_blanks(c);
	if (!scan_dec(c, NSEC_PER_MSEC, ns, NULL))
		return false;
	scan_blanks(c);
	if (!scan_lit(c, "ms"))
		return false;
	scan_blanks(c);
	return scan_char(c, '|') || scan_at_end(c);
}

static bool s_column(struct scan *c, const char *name, int64_t *ns)
{
	const char *from = c->p;

	scan_blanks(c);
	if (scan_lit(c, name)) {
		scan_blanks(c);
		if (scan_dec(c, NSEC_PER_SEC, ns, NULL)) {
			scan_blanks(c);
			if (scan_char(c, 's')) {
				scan_blanks(c);
				scan_char(c, '|');
				return true;
			}
		}
	}
	c->p = from;
	return false;
}

/* `comm:pid`, `comm:(n)` or just `comm`; a comm may have colons, slashes and blanks itself. */
static bool split_task(const char *s, const char *end, struct lat_row *r)
{
	const char *p = end;
	size_t len;
	int64_t tid;

	r->tid = -1;
	if (p > s && p[-1] == ')') {
		for (p--; p > s && is_digit(p[-1]); p--)
			;
		if (p - s >= 3 && p[-1] == '(' && p[-2] == ':')
			end = p - 2;
	} else {
		while (p > s && is_digit(p[-1]))
			p--;
		if (p < end && p - s >= 2 && p[-1] == ':') {
			struct scan c = scan_mem(p, (size_t)(end - p));

			if (!scan_i64(&c, &tid) || tid > INT32_MAX)
				return false;
			r->tid = tid;
			end = p - 1;
		}
	}
	len = (size_t)(end - s);
	if (!len || len >= sizeof(r->comm))
		return false;
	memcpy(r->comm, s, len);
	r->comm[len] = '\0';
	return true;
}

static bool parse_row(const struct line *ln, struct lat_row *r)
{
	struct scan c = scan_line(ln);
	const char *name, *bar;
	uint64_t n;

	scan_trim(&c);
	scan_blanks(&c);
	name = c.p;
	bar = memchr(c.p, '|', scan_left(&c));
	if (!bar)
		return false;
	c.p = bar + 1;
	while (bar > name && is_blank(bar[-1]))
		bar--;
	if (!ms_column(&c, "", &r->runtime_ns))
		return false;
	scan_blanks(&c);
	if (!scan_u64(&c, &n) || n > INT64_MAX)
		return false;
	r->switches = (int64_t)n;
	scan_blanks(&c);
	if (!scan_char(&c, '|') || !ms_column(&c, "avg:", &r->avg_ns) || !ms_column(&c, "max:", &r->max_ns))
		return false;
	r->start_ns = r->end_ns = -1;
	if (s_column(&c, "max at:", &r->end_ns)) {
		r->start_ns = r->end_ns - r->max_ns;
	} else if (s_column(&c, "max start:", &r->start_ns)) {
		if (!s_column(&c, "max end:", &r->end_ns))
			return false;
	}
	if (r->max_ns == 0)	/* perf prints 0.000000 s where there was no delay */
		r->start_ns = r->end_ns = -1;
	return split_task(name, bar, r);
}

/* Header, rules and footer of the table: they say nothing, but are no strangers. */
static bool is_frame(const struct line *ln)
{
	static const char *const starts[] = {
		"TOTAL:", "INFO: ", "Task  ", "Warning:", "Processed ",
	};
	struct scan c = scan_line(ln);
	const char *p;
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_at_end(&c))
		return true;
	for (p = c.p; p < c.end && (*p == '-' || *p == '='); p++)
		;
	if (p == c.end && p - c.p >= 10)
		return true;
	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(c.p, scan_left(&c), starts[i]))
			return true;
	return false;
}

static bool sniff_test(const struct line *ln)
{
	struct lat_row r;

	return parse_row(ln, &r) || is_frame(ln);
}

static int lat_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	struct lat_row r;
	unsigned int n, rows = 0;

	while (rows < 1 && scan_lines(&next, end, &ln.s, &ln.len))
		rows += parse_row(&ln, &r);
	return rows && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static struct error *lat_begin(struct parse_ctx *ctx __unused, void **state)
{
	*state = xcalloc(1, sizeof(struct lat_state));
	return NULL;
}

static struct error *lat_store(struct parse_ctx *ctx, struct lat_state *st, const struct line *ln,
			       const struct lat_row *r)
{
	int64_t cite, vcpu = comm_vcpu_number(r->comm) >= 0;

	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "perf sched latency"));
	if (r->end_ns >= 0 && !st->clock_said) {
		st->clock_said = true;
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'sched' WHERE id = ?", "i", st->source_id));
		TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss",
				st->source_id, "sched", "perf's default clock; a recording with -k would have another"));
	}
	cite = ctx_cite(ctx, ln, r->end_ns >= 0 ? r->end_ns : CASE_NO_TIME);
	return case_insert(
		ctx->db, NULL,
		"INSERT INTO runq_delay(source_id, origin, task, tid, runtime_ns, switches, avg_delay_ns, max_delay_ns,"
		" max_delay_start_ns, max_delay_end_ns, vcpu, cite_id) VALUES(?,'table',?,?,?,?,?,?,?,?,?,?)",
		"isIiiiiIIiI", st->source_id, r->comm, r->tid >= 0 ? &r->tid : NULL, r->runtime_ns,
		r->switches, r->avg_ns, r->max_ns, r->start_ns >= 0 ? &r->start_ns : NULL,
		r->end_ns >= 0 ? &r->end_ns : NULL, vcpu, cite > 0 ? &cite : NULL);
}

static enum line_result lat_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct lat_state *st = state;
	struct error *err;
	struct lat_row r;

	if (!parse_row(ln, &r))
		return !ctx->embedded && is_frame(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
	if (st->rows++ >= MAX_ROWS) {
		parse_remark(ctx, true, "more than %d rows in a perf sched latency table: the rest is left out", MAX_ROWS);
		return LINE_SKIPPED;
	}
	err = lat_store(ctx, st, ln, &r);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static struct error *lat_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

/*
 * A row that ends behind its runtime, count or average: `CPU 0/KVM:169 | 1017.314 ms | 114 |
 * avg: 73.665 ms |`.
 */
static bool lat_wants_more(const char *s, size_t len)
{
	struct scan c = scan_mem(s, len);
	int64_t ns;

	scan_trim(&c);
	if (!scan_to(&c, "|") || !ms_column(&c, "", &ns) || scan_left(&c) > 60)
		return false;
	return !scan_find(&c, "max:") || (scan_to(&c, "max start:") && !scan_find(&c, "max end:"));
}

static const struct parser sched_latency = {
	.name		= "perf sched latency",
	.kind		= PARSER_LINES,
	.priority	= 20,
	.embed		= true,
	.sniff		= lat_sniff,
	.begin		= lat_begin,
	.line		= lat_line,
	.end		= lat_end,
	.wants_more	= lat_wants_more,
};
REGISTER(parsers, &sched_latency);
