// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rtla.c - `rtla osnoise top`, `rtla timerlat top` and `rtla timerlat hist` (the kernel's
 * tools/tracing/rtla): the last table of a text counts.
 *
 *   rtla.osnoise.cpu.N.noise, .max_noise, .max_single	microseconds
 *   rtla.osnoise.cpu.N.hw, .nmi, .irq, .softirq, .thread	interferences counted
 *   rtla.timerlat.cpu.N.irq_max_us, .irq_avg_us, .thread_max_us, .thread_avg_us
 */
#include "fact_out.h"

#define MAX_COLUMNS	64

enum table { T_NONE, T_OSNOISE, T_TIMERLAT, T_HIST };

struct rtla_state {
	struct fact_out	out;
	enum table	table;
	unsigned int	n_columns;
	struct { bool thread; int cpu; } columns[MAX_COLUMNS];	/* of hist */
};

static struct scan next_word(struct scan *c)
{
	struct scan w;

	while (c->p < c->end && (is_blank(*c->p) || *c->p == '|'))
		c->p++;
	w.p = c->p;
	while (c->p < c->end && !is_blank(*c->p) && *c->p != '|')
		c->p++;
	w.end = c->p;
	return w;
}

/* Index   IRQ-000   Thr-000   IRQ-001 ... */
static bool hist_heading(struct rtla_state *st, struct scan c)
{
	struct scan w = next_word(&c);
	uint64_t cpu;

	if (!span_is(w.p, scan_left(&w), "Index"))
		return false;
	for (st->n_columns = 0; st->n_columns < MAX_COLUMNS; st->n_columns++) {
		w = next_word(&c);
		if (!scan_left(&w))
			break;
		st->columns[st->n_columns].thread = scan_lit(&w, "Thr-");
		if ((!st->columns[st->n_columns].thread && !scan_lit(&w, "IRQ-")) || !scan_u64(&w, &cpu) || cpu > 65535)
			return false;
		st->columns[st->n_columns].cpu = (int)cpu;
	}
	return st->n_columns > 0;
}

static enum table heading(struct rtla_state *st, struct scan c)
{
	struct scan all = c, w = next_word(&c);

	if (span_is(w.p, scan_left(&w), "CPU")) {
		if (scan_find(&all, "Noise") && scan_find(&all, "Max Single"))
			return T_OSNOISE;
		w = next_word(&c);
		if (span_is(w.p, scan_left(&w), "COUNT") && scan_find(&all, " cur ") && scan_find(&all, " max"))
			return T_TIMERLAT;
	}
	return hist_heading(st, all) ? T_HIST : T_NONE;
}

static void put(struct parse_ctx *ctx, struct rtla_state *st, const struct line *ln,
		const char *tool, int cpu, const char *name, struct scan v)
{
	char key[64];

	snprintf(key, sizeof(key), "rtla.%s.cpu.%d.%s", tool, cpu, name);
	fact_line(ctx, &st->out, ln, key, v);
}

/* CPU #PERIOD NUMBER...; all words are numbers but may be "-" */
static bool top_row(struct parse_ctx *ctx, struct rtla_state *st, const struct line *ln)
{
	static const char *const osnoise[] = { NULL, "noise", "available_percent", "max_noise", "max_single", "hw", "nmi", "irq", "softirq",
					       "thread" };
	static const char *const timerlat[] = { NULL, NULL, "irq_avg_us", "irq_max_us", NULL, NULL, "thread_avg_us", "thread_max_us" };
	const char *const *names = st->table == T_OSNOISE ? osnoise : timerlat;
	size_t n = st->table == T_OSNOISE ? ARRAY_SIZE(osnoise) : ARRAY_SIZE(timerlat), i;
	struct scan c = scan_line(ln), w = next_word(&c), num;
	uint64_t cpu;
	int64_t v;

	if (!scan_u64(&w, &cpu) || !scan_at_end(&w) || cpu > 65535)
		return false;
	w = next_word(&c);
	if (!scan_char(&w, '#'))
		return false;
	for (i = 0; i < n; i++) {
		w = num = next_word(&c);
		if (names[i] && scan_dec(&num, 100000, &v, NULL) && scan_at_end(&num))
			put(ctx, st, ln, st->table == T_OSNOISE ? "osnoise" : "timerlat", (int)cpu, names[i], w);
	}
	return true;
}

static bool hist_row(struct parse_ctx *ctx, struct rtla_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln), w = next_word(&c), num;
	bool max = span_is(w.p, scan_left(&w), "max:"), avg = span_is(w.p, scan_left(&w), "avg:");
	uint64_t v;
	unsigned int i;

	if (!max && !avg) {
		num = w;
		return span_is(w.p, scan_left(&w), "over:") || span_is(w.p, scan_left(&w), "count:") ||
		       span_is(w.p, scan_left(&w), "min:") || (scan_u64(&num, &v) && scan_at_end(&num));
	}
	for (i = 0; i < st->n_columns; i++) {
		static const char *const names[2][2] = { { "irq_avg_us", "irq_max_us" }, { "thread_avg_us", "thread_max_us" } };

		w = num = next_word(&c);
		if (scan_u64(&num, &v) && scan_at_end(&num))
			put(ctx, st, ln, "timerlat", st->columns[i].cpu, names[st->columns[i].thread][max], w);
	}
	return true;
}

static enum line_result rtla_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct rtla_state *st = state;
	enum table table = heading(st, scan_line(ln));

	if (table) {
		st->table = table;
		return LINE_TAKEN;
	}
	if (!ln->len || !st->table)
		return ln->len || ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (st->table == T_HIST ? hist_row(ctx, st, ln) : top_row(ctx, st, ln))
		return LINE_TAKEN;
	if (ctx->embedded)
		st->table = T_NONE;
	return LINE_NOT_MINE;
}

static int rtla_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	struct rtla_state st = { .table = T_NONE };
	unsigned int lines = 0;
	size_t len;

	while (lines++ < 10 && scan_lines(&next, end, &p, &len))
		if (heading(&st, scan_mem(p, len)))
			return 85;
	return 0;
}

static struct error *rtla_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct rtla_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "rtla";
	*state = st;
	return NULL;
}

static struct error *rtla_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser rtla = {
	.name		= "rtla",
	.kind		= PARSER_LINES,
	.priority	= 87,
	.embed		= true,
	.sniff		= rtla_sniff,
	.begin		= rtla_begin,
	.line		= rtla_line,
	.end		= rtla_end,
};
REGISTER(parsers, &rtla);
