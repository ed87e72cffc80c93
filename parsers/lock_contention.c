// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock_contention.c - the table of `perf lock contention` (tools/perf/builtin-lock.c), with -l
 * (locks) and -t (tasks), also with -v's stacks between the rows:
 *
 *    contended   total wait     max wait     avg wait         type   caller
 *
 *          238      1.41 ms     29.20 us      5.94 us     spinlock   update_blocked_averages+0x4c
 *
 * Gives rows of lock_contention. The columns are those of the heading.
 */
#include "fact_out.h"

#define MAX_ROWS	20000

enum column {
	C_NONE,
	C_COUNT,
	C_TOTAL,
	C_MAX,
	C_MIN,
	C_AVG,
	C_TYPE,
	C_CALLER,
	C_ADDRESS,
	C_SYMBOL,
	C_PID,
	C_COMM
};

static const struct { const char *title; enum column column; } titles[] = {
	{ "contended", C_COUNT }, { "total wait", C_TOTAL }, { "max wait", C_MAX }, { "min wait", C_MIN }, { "avg wait", C_AVG },
	{ "type", C_TYPE }, { "caller", C_CALLER }, { "address", C_ADDRESS }, { "symbol", C_SYMBOL }, { "pid", C_PID }, { "comm", C_COMM },
};

struct lock_state {
	struct fact_out	out;
	enum column	columns[16];
	unsigned int	n_columns;
	uint64_t	rows;
};

static unsigned int heading(struct scan c, enum column columns[16])
{
	unsigned int n = 0;
	bool times = false;
	size_t i;

	scan_trim(&c);
	for (scan_blanks(&c); !scan_at_end(&c) && n < 16; scan_blanks(&c)) {
		for (i = 0; i < ARRAY_SIZE(titles); i++)
			if (scan_lit(&c, titles[i].title))
				break;
		if (i == ARRAY_SIZE(titles) || (!scan_at_end(&c) && !is_blank(*c.p)))
			return 0;
		columns[n++] = titles[i].column;
		times |= titles[i].column == C_TOTAL;
	}
	return n >= 4 && times && columns[0] == C_COUNT ? n : 0;
}

/* 1.41 ms */
static bool scan_time(struct scan *c, int64_t *ns)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ " ns", 1 }, { " us", NSEC_PER_USEC }, { " ms", NSEC_PER_MSEC }, { " s", NSEC_PER_SEC }, { " m", 60 * NSEC_PER_SEC },
	};
	struct scan number = *c;
	int64_t v;
	size_t i;

	if (!scan_dec(c, 100, &v, NULL))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		struct scan unit = *c;

		if (scan_lit(&unit, units[i].name) && (scan_at_end(&unit) || is_blank(*unit.p))) {
			*c = unit;
			break;
		}
	}
	if (i == ARRAY_SIZE(units))
		return false;
	if (units[i].ns == 60 * NSEC_PER_SEC || units[i].ns == 1) {
		int64_t whole;

		if (!scan_dec(&number, 1000, &whole, NULL) ||
		    __builtin_mul_overflow(whole, (int64_t)units[i].ns, &whole))
			return false;
		*ns = whole / 1000;
		return true;
	}
	return scan_dec(&number, units[i].ns, ns, NULL);
}

struct row { int64_t count, ns[C_AVG + 1], tid; struct scan type, caller; };

static bool read_row(const struct lock_state *st, struct scan c, struct row *r)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->ns[C_TOTAL] = r->ns[C_MAX] = r->ns[C_AVG] = -1;
	r->tid = -1;
	scan_trim(&c);
	for (i = 0; i < st->n_columns; i++) {
		enum column col = st->columns[i];
		struct scan w;

		scan_blanks(&c);
		w = c;
		if (col == C_COUNT) {
			if (!scan_i64(&c, &r->count))
				return false;
		} else if (col >= C_TOTAL && col <= C_AVG) {
			if (!scan_time(&c, &r->ns[col]))
				return false;
		} else if (i + 1 == st->n_columns) {
			if (scan_left(&c) || !scan_left(&r->caller))
				r->caller = c;
			c.p = c.end;
		} else {
			while (c.p < c.end && !is_blank(*c.p))
				c.p++;
			w.end = c.p;
			if (col == C_TYPE)
				r->type = w;
			else if (col == C_PID && !scan_i64(&w, &r->tid))
				return false;
			else if (col == C_ADDRESS)
				r->caller = w;
		}
	}
	return scan_left(&r->caller) > 0 && r->count > 0;
}

static int lock_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	enum column columns[16];
	unsigned int lines = 0;
	size_t len;

	while (lines++ < 20 && scan_lines(&next, end, &p, &len))
		if (heading(scan_mem(p, len), columns))
			return 85;
	return 0;
}

static struct error *lock_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct lock_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "perf lock contention";
	*state = st;
	return NULL;
}

static void store_row(struct parse_ctx *ctx, struct lock_state *st, const struct line *ln,
		      const struct row *r)
{
	_cleanup_free_ char *type =
		scan_left(&r->type) ? xstrndup(r->type.p, scan_left(&r->type)) : NULL;
	_cleanup_free_ char *caller =
		xstrndup(r->caller.p, MIN(scan_left(&r->caller), (size_t)256));
	int64_t cite;

	if (st->rows++ >= MAX_ROWS) {
		parse_remark(ctx, true, "more than %d rows: the rest is left out", MAX_ROWS);
		return;
	}
	if (!fact_source(ctx, &st->out))
		return;
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	fact_failed(
		ctx,
		case_insert(
			ctx->db, NULL,
			"INSERT INTO lock_contention(source_id, type, caller, tid, count, total_ns, max_ns, avg_ns, snapshot,"
			" cite_id) VALUES(?,?,?,?,?,?,?,?,?,?)",
			"issIiiIIsI", st->out.source_id, type, caller, r->tid >= 0 ? &r->tid : NULL,
			r->count, r->ns[C_TOTAL], r->ns[C_MAX] >= 0 ? &r->ns[C_MAX] : NULL,
			r->ns[C_AVG] >= 0 ? &r->ns[C_AVG] : NULL, ctx->snapshot,
			cite > 0 ? &cite : NULL));
}

static enum line_result lock_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct lock_state *st = state;
	enum column columns[16];
	unsigned int n = heading(scan_line(ln), columns);
	struct scan c = scan_line(ln);
	struct row r;

	if (n) {
		memcpy(st->columns, columns, sizeof(columns));
		st->n_columns = n;
		return LINE_TAKEN;
	}
	if (!ln->len || !st->n_columns)
		return ln->len || ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (read_row(st, c, &r)) {
		store_row(ctx, st, ln, &r);
		return LINE_TAKEN;
	}
	scan_blanks(&c);
	if (scan_lit(&c, "0x") && !scan_at_end(&c))
		return LINE_SKIPPED;	/* a frame of -v */
	if (scan_lit(&c, "=== output for debug") || scan_lit(&c, "bad: ") || scan_lit(&c, "bad rate: ") || scan_lit(&c, "histogram of"))
		return LINE_SKIPPED;
	if (ctx->embedded)
		st->n_columns = 0;
	return LINE_NOT_MINE;
}

static struct error *lock_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser lock_contention = {
	.name		= "perf lock contention",
	.kind		= PARSER_LINES,
	.priority	= 72,
	.embed		= true,
	.sniff		= lock_sniff,
	.begin		= lock_begin,
	.line		= lock_line,
	.end		= lock_end,
};
REGISTER(parsers, &lock_contention);
