// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * interrupts.c - /proc/interrupts and /proc/softirqs: counts since boot, a column a CPU.
 *
 *   irq.NAME			sum over the CPUs: irq.NMI, irq.LOC, irq.RES, irq.TLB, irq.PIN ...
 *   irq.NAME.max_cpu, .max	the CPU with most of them and its count
 *   irq.devices		sum over all numbered interrupts
 *   softirq.NAME		of /proc/softirqs
 */
#include "fact_out.h"

#define MAX_CPUS	8192

struct irq_state {
	struct fact_out	out;
	unsigned int	columns;	/* 0: no heading seen yet */
	int		cpus[MAX_CPUS];
	uint64_t	devices;
	struct line	first;		/* a numbered interrupt's line; only no is kept */
	char		first_text[128];
	bool		softirqs;
};

/*            CPU0       CPU1 */
static unsigned int heading(struct scan c, int *cpus)
{
	unsigned int n = 0;
	uint64_t cpu;

	scan_trim(&c);
	if (!scan_blanks(&c))
		return 0;
	while (!scan_at_end(&c)) {
		if (n >= MAX_CPUS || !scan_lit(&c, "CPU") || !scan_u64(&c, &cpu) || cpu > INT32_MAX)
			return 0;
		if (cpus)
			cpus[n] = (int)cpu;
		n++;
		if (!scan_blanks(&c) && !scan_at_end(&c))
			return 0;
	}
	return n;
}

static int irq_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	size_t len;

	return scan_lines(&next, end, &p, &len) && heading(scan_mem(p, len), NULL) ? 85 : 0;
}

static struct error *irq_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct irq_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "interrupts";
	*state = st;
	return NULL;
}

struct row { const char *name; size_t len; uint64_t sum, max; int max_cpu; unsigned int n; };

/* `LOC:  123  456   Local timer interrupts`; numbered ones too */
static bool read_row(const struct irq_state *st, struct scan c, struct row *r)
{
	uint64_t v;

	memset(r, 0, sizeof(*r));
	r->max_cpu = -1;
	scan_blanks(&c);
	r->name = c.p;
	while (c.p < c.end && (is_word(*c.p) || *c.p == '-'))
		c.p++;
	r->len = (size_t)(c.p - r->name);
	if (!r->len || r->len > 24 || !scan_char(&c, ':'))
		return false;
	while (r->n < st->columns) {
		struct scan at = c;

		if (!scan_blanks(&at) || !scan_u64(&at, &v) ||
		    (!scan_at_end(&at) && !is_blank(*at.p)))
			break;
		c = at;
		if (__builtin_add_overflow(r->sum, v, &r->sum))
			return false;
		if (r->max_cpu < 0 || v > r->max) {
			r->max = v;
			r->max_cpu = st->cpus[r->n];
		}
		r->n++;
	}
	/* ERR and MIS have one number for the machine. */
	return r->n == st->columns || (r->n == 1 && r->len == 3);
}

static enum line_result irq_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct irq_state *st = state;
	unsigned int n = heading(scan_line(ln), st->cpus);
	char key[64], name[65];
	struct row r;

	if (n) {
		st->columns = n;
		return LINE_TAKEN;
	}
	if (!ln->len || !st->columns)
		return ln->len || ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (!read_row(st, scan_line(ln), &r)) {
		if (ctx->embedded)
			st->columns = 0;	/* the table is over */
		return LINE_NOT_MINE;
	}
	if (is_digit(*r.name)) {
		st->devices += r.sum;
		if (!st->first.no) {
			st->first = *ln;
			snprintf(st->first_text, sizeof(st->first_text), "%.*s", (int)MIN(ln->len, (size_t)120), ln->s);
		}
		return LINE_TAKEN;
	}
	st->softirqs |= span_is(r.name, r.len, "NET_RX") || span_is(r.name, r.len, "HI") || span_is(r.name, r.len, "TIMER");
	fact_name(name, r.name, r.len);
	snprintf(key, sizeof(key), "%sirq.%.24s", st->softirqs ? "soft" : "", name);
	fact_i64(ctx, &st->out, ln, key, (int64_t)MIN(r.sum, (uint64_t)INT64_MAX));
	if (r.n == st->columns && r.n > 1 && r.sum) {
		snprintf(key, sizeof(key), "%sirq.%.24s.max", st->softirqs ? "soft" : "", name);
		fact_i64(ctx, &st->out, ln, key, (int64_t)MIN(r.max, (uint64_t)INT64_MAX));
		snprintf(key, sizeof(key), "%sirq.%.24s.max_cpu", st->softirqs ? "soft" : "", name);
		fact_i64(ctx, &st->out, ln, key, r.max_cpu);
	}
	return LINE_TAKEN;
}

static struct error *irq_end(struct parse_ctx *ctx, void *state)
{
	struct irq_state *st = state;

	if (st->first.no) {
		st->first.s = st->first_text;
		st->first.len = strlen(st->first_text);
		fact_i64(ctx, &st->out, &st->first, "irq.devices", (int64_t)MIN(st->devices, (uint64_t)INT64_MAX));
	}
	free(st);
	return NULL;
}

static const struct parser interrupts = {
	.name		= "interrupts",
	.kind		= PARSER_LINES,
	.priority	= 92,
	.embed		= true,
	.sniff		= irq_sniff,
	.begin		= irq_begin,
	.line		= irq_line,
	.end		= irq_end,
};
REGISTER(parsers, &interrupts);
