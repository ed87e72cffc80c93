// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvm_stat.c - the tables of `perf kvm stat report` (tools/perf/builtin-kvm.c, print_result()).
 *
 *   Analyze events for all VMs, all VCPUs:
 *
 *   VM-EXIT    Samples  Samples%     Time%    Min Time    Max Time         Avg time
 *
 *        io        182    57.05%    40.19%      0.00us 294363.30us  16395.07us ( +-  20.98% )
 *
 *   Total Samples:319, Total events handled time:7425268.15us.
 *
 * Older perf prints no least and longest time. Gives rows of exit_stat (origin 'table'). The
 * average has two decimals of a microsecond, so the total is that times the count; without an
 * average it is the share of the table's total. perf prints 0.00us as the least time where a vCPU
 * had no such event: unknown here.
 */
#include "scan.h"

#define MAX_ROWS	20000
#define MAX_SOURCES	64
#define UNKNOWN		-1

enum { VMEXIT, MMIO, IOPORT, MSR, N_EVENTS };

static const struct {
	const char	*title, *event;
} tables[N_EVENTS] = {
	[VMEXIT] = { "VM-EXIT", "vmexit" },
	[MMIO] = { "MMIO Access", "mmio" },
	[IOPORT] = { "IO Port Access", "ioport" },
	[MSR] = { "MSR Access", "msr" },
};

struct stat_row {
	char		reason[64];
	int64_t		count;
	double		time_pct, dev_pct;	/* UNKNOWN where not printed */
	int64_t		min_ns, max_ns, avg_ns;
	int64_t		cite;
};

struct stat_state {
	int64_t		source_id;		/* 0: not yet */
	unsigned int	sources;
	bool		open;			/* a table's header was seen */
	unsigned int	event;			/* of the open table */
	int64_t		vcpu;			/* of the open table; UNKNOWN: all */
	int8_t		seen[N_EVENTS];		/* in this source: 1 all vCPUs, 2 single ones */
	uint64_t	vcpus[N_EVENTS];	/* those single ones, below 64 */
	struct stat_row	*rows;
	size_t		n, cap;
	uint64_t	all;			/* rows of the member */
};

/* A number with a unit of time: "294363.30us". */
static bool time_word(struct scan *c, int64_t *ns)
{
	static const struct { const char *unit; uint64_t ns; } units[] = {
		{ "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC }, { "ns", 1 }, { "s", NSEC_PER_SEC },
	};
	const char *from = c->p;
	size_t i;

	scan_blanks(c);
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		struct scan t = *c;

		if (scan_dec(&t, units[i].ns, ns, NULL) && scan_lit(&t, units[i].unit) &&
		    (scan_at_end(&t) || is_blank(*t.p) || *t.p == '.')) {
			*c = t;
			return true;
		}
	}
	c->p = from;
	return false;
}

/* "57.05%" */
static bool percent_word(struct scan *c, double *pct)
{
	const char *from = c->p;
	int64_t v;

	scan_blanks(c);
	if (scan_dec(c, 1000000, &v, NULL) && scan_char(c, '%')) {
		*pct = (double)v / 1e6;
		return true;
	}
	c->p = from;
	return false;
}

/* What stands behind the name: count, shares, times, deviation. */
static bool parse_numbers(struct scan c, struct stat_row *r)
{
	int64_t times[3];
	size_t n = 0;
	double pct;

	r->min_ns = r->max_ns = r->avg_ns = UNKNOWN;
	r->time_pct = r->dev_pct = UNKNOWN;
	scan_blanks(&c);
	if (!scan_i64(&c, &r->count) || r->count < 1 || !percent_word(&c, &pct))
		return false;
	percent_word(&c, &r->time_pct);
	while (n < 3 && time_word(&c, &times[n]))
		n++;
	if (n == 1)
		r->avg_ns = times[0];
	if (n >= 2) {
		r->min_ns = times[0];
		r->max_ns = times[1];
	}
	if (n == 3)
		r->avg_ns = times[2];
	scan_blanks(&c);
	if (scan_char(&c, '(')) {
		scan_blanks(&c);
		if (!scan_lit(&c, "+-") || !percent_word(&c, &r->dev_pct))
			return false;
		scan_blanks(&c);
		if (!scan_char(&c, ')'))
			return false;
	}
	scan_blanks(&c);
	return scan_at_end(&c) && (n || r->time_pct >= 0);
}

static bool parse_row(const struct line *ln, struct stat_row *r)
{
	struct scan c = scan_line(ln);
	const char *name, *end;

	scan_trim(&c);
	scan_blanks(&c);
	name = c.p;
	while (c.p < c.end && c.p - name < 100) {
		for (; c.p < c.end && !is_blank(*c.p); c.p++)
			;
		end = c.p;
		if (end > name && (size_t)(end - name) < sizeof(r->reason) && parse_numbers(c, r)) {
			memcpy(r->reason, name, (size_t)(end - name));
			r->reason[end - name] = '\0';
			return true;
		}
		scan_blanks(&c);
	}
	return false;
}

/* "VM-EXIT  Samples  Samples% ..."; the tail may have been wrapped away. */
static int title_of(const struct line *ln)
{
	struct scan c = scan_line(ln), t;
	size_t i;

	scan_blanks(&c);
	for (i = 0; i < N_EVENTS; i++) {
		t = c;
		if (scan_lit(&t, tables[i].title) && scan_blanks(&t) && scan_lit(&t, "Samples"))
			return (int)i;
	}
	return -1;
}

static bool is_scope(const struct line *ln, int64_t *vcpu)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	*vcpu = UNKNOWN;
	if (!scan_lit(&c, "Analyze events for "))
		return false;
	if (scan_to(&c, "VCPU ") && (!scan_i64(&c, vcpu) || *vcpu < 0 || *vcpu > 65535))
		*vcpu = UNKNOWN;
	return true;
}

static bool is_total(const struct line *ln, int64_t *samples, int64_t *total_ns)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	*samples = *total_ns = UNKNOWN;
	if (!scan_lit(&c, "Total Samples:") || !scan_i64(&c, samples))
		return false;
	if (scan_to(&c, "handled time:"))
		time_word(&c, total_ns);
	return true;
}

static bool is_frame(const struct line *ln)
{
	static const char *const starts[] = { "Samples", "Time%", "Min Time", "Max Time", "Avg time", "Time ", "Warning:" };
	struct scan c = scan_line(ln);
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_at_end(&c) || scan_find(&c, "out of order events recorded"))
		return true;
	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(c.p, scan_left(&c), starts[i]))
			return true;
	return false;
}

/* Rows of one source are added up by reports: the same counted twice needs two. */
static struct error *source_for(struct parse_ctx *ctx, struct stat_state *st)
{
	int8_t kind = st->vcpu == UNKNOWN ? 1 : 2;
	uint64_t bit = st->vcpu >= 0 && st->vcpu < 64 ? 1ULL << st->vcpu : 0;
	bool again = (st->seen[st->event] && (st->seen[st->event] != kind || kind == 1)) ||
		     st->vcpus[st->event] & bit;
	_cleanup_free_ char *path = NULL;

	if (st->source_id && (!again || st->sources >= MAX_SOURCES)) {
		if (again)
			parse_remark(ctx, true, "more than %d tables of one kind: the rest is added to the last", MAX_SOURCES);
	} else {
		path = st->sources ? xasprintf("%s#%u", ctx->m->path, st->sources + 1) : xstrdup(ctx->m->path);
		TRY(case_source(ctx->db, &st->source_id, ctx->m->id, path, "perf kvm stat", ctx->side));
		st->sources++;
		memset(st->seen, 0, sizeof(st->seen));
		memset(st->vcpus, 0, sizeof(st->vcpus));
	}
	st->seen[st->event] = kind;
	st->vcpus[st->event] |= bit;
	return NULL;
}

static struct error *store_row(struct parse_ctx *ctx, const struct stat_state *st,
			       const struct stat_row *r, int64_t table_ns)
{
	double mean = (double)r->avg_ns, n = (double)r->count, dev = mean * r->dev_pct / 100;
	int64_t total = UNKNOWN;

	if (r->avg_ns >= 0 && __builtin_mul_overflow(r->avg_ns, r->count, &total))
		total = UNKNOWN;
	else if (r->avg_ns < 0 && table_ns >= 0 && r->time_pct >= 0 && r->time_pct <= 100)
		total = (int64_t)((double)table_ns * r->time_pct / 100);
	if (r->avg_ns < 0)
		mean = total >= 0 ? (double)total / n : 0;
	return case_insert(
		ctx->db, NULL,
		"INSERT INTO exit_stat(source_id, origin, event, vcpu, reason, count, total_ns, min_ns, max_ns, mean, m2, "
		"cite_id) VALUES(?,'table',?,?,?,?,?,?,?,?,nullif(?,-1.0),?)",
		"isIsiIIIddI", st->source_id, tables[st->event].event,
		st->vcpu >= 0 ? &st->vcpu : NULL, r->reason, r->count, total >= 0 ? &total : NULL,
		r->min_ns > 0 ? &r->min_ns : NULL, r->max_ns >= 0 ? &r->max_ns : NULL, mean,
		r->avg_ns >= 0 && r->dev_pct >= 0 ? dev * dev * n * (n - 1) : -1.0,
		r->cite > 0 ? &r->cite : NULL);
}

/* The table is over: its total is known now, or never. */
static struct error *close_table(struct parse_ctx *ctx, struct stat_state *st, int64_t samples,
				 int64_t table_ns)
{
	int64_t sum = 0;
	size_t i;

	if (!st->open)
		return NULL;
	st->open = false;
	if (st->n || samples >= 0)
		TRY(source_for(ctx, st));
	for (i = 0; i < st->n; i++) {
		TRY(store_row(ctx, st, &st->rows[i], table_ns));
		if (__builtin_add_overflow(sum, st->rows[i].count, &sum))
			sum = INT64_MAX;
	}
	st->n = 0;
	if (samples >= 0 && sum != samples)
		parse_remark(ctx, true, "a perf kvm stat table's rows hold %" PRId64 " of the %" PRId64 " samples it counts", sum, samples);
	return NULL;
}

static void must(struct parse_ctx *ctx, struct error *err)
{
	if (!err)
		return;
	parse_remark(ctx, true, "%s", err->what);
	error_free(err);
}

static enum line_result take_row(struct parse_ctx *ctx, struct stat_state *st,
				 const struct line *ln, struct stat_row *r)
{
	if (!st->open) {	/* the header was not copied */
		size_t len = strlen(r->reason);

		if (ctx->embedded)
			return LINE_NOT_MINE;
		st->event = VMEXIT;
		if (str_ends(r->reason, ":PIN") || str_ends(r->reason, ":POUT"))
			st->event = IOPORT;
		else if (len > 4 && r->reason[0] == '0' && r->reason[1] == 'x')
			st->event = MMIO;
		st->open = true;
	}
	if (st->all++ >= MAX_ROWS) {
		parse_remark(ctx, true, "more than %d rows in perf kvm stat tables: the rest is left out", MAX_ROWS);
		return LINE_SKIPPED;
	}
	r->cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	GROW(st->rows, st->cap, st->n + 1);
	st->rows[st->n++] = *r;
	return LINE_TAKEN;
}

static enum line_result stat_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct stat_state *st = state;
	int64_t samples, total_ns, vcpu;
	struct scan c = scan_line(ln);
	struct stat_row r;
	int title;

	if (parse_row(ln, &r))
		return take_row(ctx, st, ln, &r);
	title = title_of(ln);
	if (title >= 0) {
		must(ctx, close_table(ctx, st, UNKNOWN, UNKNOWN));
		st->open = true;
		st->event = (unsigned int)title;
		return LINE_TAKEN;
	}
	if (is_scope(ln, &vcpu)) {
		must(ctx, close_table(ctx, st, UNKNOWN, UNKNOWN));
		st->vcpu = vcpu;
		return LINE_TAKEN;
	}
	if (st->open && is_total(ln, &samples, &total_ns)) {
		must(ctx, close_table(ctx, st, samples, total_ns));
		return LINE_TAKEN;
	}
	scan_blanks(&c);
	if (st->source_id && scan_lit(&c, "Lost events: ") && scan_i64(&c, &samples) && samples > 0) {
		must(ctx, case_loss(ctx->db, st->source_id, -1, CASE_NO_TIME, samples, "events lost, as perf kvm stat counted",
				    ctx_cite(ctx, ln, CASE_NO_TIME)));
		return LINE_TAKEN;
	}
	return is_frame(ln) && (!ctx->embedded || st->open) && ln->len ? LINE_SKIPPED
								       : LINE_NOT_MINE;
}

static struct error *stat_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct stat_state *st = xcalloc(1, sizeof(*st));

	st->vcpu = UNKNOWN;
	*state = st;
	return NULL;
}

static struct error *stat_end(struct parse_ctx *ctx, void *state)
{
	struct stat_state *st = state;
	struct error *err = close_table(ctx, st, UNKNOWN, UNKNOWN);

	free(st->rows);
	free(st);
	return err;
}

static bool sniff_test(const struct line *ln)
{
	int64_t a, b;
	struct stat_row r;

	return parse_row(ln, &r) || title_of(ln) >= 0 || is_scope(ln, &a) || is_total(ln, &a, &b) ||
	       is_frame(ln);
}

static int stat_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, found = 0;
	struct stat_row r;

	while (!found && scan_lines(&next, end, &ln.s, &ln.len))
		found += title_of(&ln) >= 0 || (parse_row(&ln, &r) && r.dev_pct >= 0);
	return found && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

/* A title without its last columns, or a row that ends behind its shares or one or two times. */
static bool stat_wants_more(const char *s, size_t len)
{
	struct line ln = { .s = s, .len = len };
	struct stat_row r;
	struct scan c = scan_mem(s, len);

	if (title_of(&ln) >= 0)
		return !scan_find(&c, "Avg time") && len < 120;
	if (parse_row(&ln, &r))
		return r.dev_pct < 0 && r.time_pct >= 0;
	return scan_find(&c, "us ( +-") && !scan_find(&c, "% )") && len < 160;
}

static const struct parser kvm_stat = {
	.name		= "perf kvm stat",
	.kind		= PARSER_LINES,
	.priority	= 23,
	.embed		= true,
	.sniff		= stat_sniff,
	.begin		= stat_begin,
	.line		= stat_line,
	.end		= stat_end,
	.wants_more	= stat_wants_more,
};
REGISTER(parsers, &kvm_stat);
