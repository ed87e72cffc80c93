// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smi.c - what measures the time that the hardware takes from all CPUs: texts of the kernel's hwlat
 * tracer (kernel/trace/trace_output.c), `turbostat` (its column SMI) and `perf stat -e msr/smi/`.
 *
 *   hwlat.samples, hwlat.max_us	#12  inner/outer(us): 2152/1933  ts:1578801212.559 count:6
 *   turbostat.smi			SMIs, added up over the rows of the whole machine
 *   perf.stat.smi			SMIs:  12      msr/smi/
 */
#include "fact_out.h"

#define MAX_COLUMNS	256

struct smi_state {
	struct fact_out	out;
	uint64_t	samples, max_us, smis;	/* of hwlat; of turbostat */
	int64_t		cite_max, cite_smi;
	unsigned int	column;		/* of SMI, from 1; 0: no heading seen */
	bool		per_cpu;	/* the machine's row begins with "-" */
};

static bool number(struct scan w, uint64_t *v)
{
	return scan_u64(&w, v) && scan_at_end(&w);
}

/* #12    inner/outer(us): 2152/1933  ts:... */
static bool hwlat(struct scan c, uint64_t *us)
{
	uint64_t inner, outer;

	if (!scan_to(&c, "inner/outer(us):"))
		return false;
	scan_blanks(&c);
	if (!scan_u64(&c, &inner) || !scan_char(&c, '/') || !scan_u64(&c, &outer))
		return false;
	*us = MAX(inner, outer);
	return *us < 1000000000;
}

/* Package Core CPU Avg_MHz Busy% ... IRQ SMI ...: the column of SMI from 1, or 0. */
static unsigned int heading(struct scan c, bool *per_cpu)
{
	unsigned int i, at = 0;
	bool busy = false;

	*per_cpu = false;
	for (i = 1; i <= MAX_COLUMNS; i++) {
		struct scan w = scan_token(&c);
		size_t len = scan_left(&w);

		if (!len)
			break;
		if (span_is(w.p, len, "SMI"))
			at = i;
		else if (span_is(w.p, len, "Busy%"))
			busy = true;
		else if (span_is(w.p, len, "CPU") || span_is(w.p, len, "Core"))
			*per_cpu = true;
	}
	return busy ? at : 0;
}

static bool machine_row(const struct smi_state *st, struct scan c, uint64_t *smis)
{
	struct scan w = { NULL, NULL };
	unsigned int i;

	for (i = 1; i <= st->column; i++) {
		w = scan_token(&c);
		if (i == 1 && st->per_cpu && !span_is(w.p, scan_left(&w), "-"))
			return false;
	}
	return number(w, smis) && *smis < UINT32_MAX;
}

/* "     1,204      msr/smi/", as perf stat prints it. */
static bool perf_stat(struct scan c, uint64_t *smis)
{
	struct scan w = scan_token(&c), name = scan_token(&c);

	if (!span_is(name.p, scan_left(&name), "msr/smi/") || !scan_left(&w))
		return false;
	for (*smis = 0; w.p < w.end; w.p++) {
		if (*w.p == ',')
			continue;
		if (!is_digit(*w.p) || *smis > UINT32_MAX)
			return false;
		*smis = *smis * 10 + (uint64_t)(*w.p - '0');
	}
	return true;
}

static enum line_result smi_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct smi_state *st = state;
	struct scan c = scan_line(ln);
	bool per_cpu;
	uint64_t v;
	unsigned int column;

	if (!ln->len)
		return LINE_SKIPPED;
	if (hwlat(c, &v)) {
		st->samples++;
		if (!st->cite_max || v > st->max_us) {
			st->max_us = v;
			st->cite_max = ctx_cite(ctx, ln, -1);
		}
		return LINE_TAKEN;
	}
	if (perf_stat(c, &v)) {
		fact_i64(ctx, &st->out, ln, "perf.stat.smi", (int64_t)v);
		return LINE_TAKEN;
	}
	column = heading(c, &per_cpu);
	if (column) {
		st->column = column;
		st->per_cpu = per_cpu;
		return LINE_TAKEN;
	}
	if (st->column && machine_row(st, c, &v)) {
		st->smis += v;
		if (!st->cite_smi || v)
			st->cite_smi = ctx_cite(ctx, ln, -1);
		return LINE_TAKEN;
	}
	return LINE_SKIPPED;	/* comments of ftrace, rows of one CPU, other counters */
}

static int smi_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	size_t len;
	bool per_cpu, tool = false;
	uint64_t v;

	while (scan_lines(&next, end, &p, &len)) {
		struct scan c = scan_mem(p, len), text = c;

		scan_blanks(&text);
		if (scan_at_end(&text) || *text.p == '#')
			continue;
		if (hwlat(c, &v) || heading(c, &per_cpu) || (tool && perf_stat(c, &v)))
			return 97;	/* above that of any trace text */
		/* Both tools say what they are first. */
		tool = tool || scan_find(&c, "turbostat version") ||
		       scan_find(&c, "Performance counter stats for");
		if (!tool)
			return 0;
	}
	return 0;
}

static struct error *smi_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct smi_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "smi";
	*state = st;
	return NULL;
}

static void put(struct parse_ctx *ctx, struct smi_state *st, const char *key, uint64_t v,
		int64_t cite)
{
	char buf[24];
	int n = snprintf(buf, sizeof(buf), "%" PRIu64, v);

	fact_put(ctx, &st->out, key, buf, (size_t)n, cite);
}

static struct error *smi_end(struct parse_ctx *ctx, void *state)
{
	struct smi_state *st = state;

	if (st->samples) {
		put(ctx, st, "hwlat.samples", st->samples, st->cite_max);
		put(ctx, st, "hwlat.max_us", st->max_us, st->cite_max);
	}
	if (st->cite_smi)
		put(ctx, st, "turbostat.smi", st->smis, st->cite_smi);
	free(st);
	return NULL;
}

static const struct parser smi = {
	.name		= "smi",
	.kind		= PARSER_LINES,
	.priority	= 95,
	.sniff		= smi_sniff,
	.begin		= smi_begin,
	.line		= smi_line,
	.end		= smi_end,
};
REGISTER(parsers, &smi);
