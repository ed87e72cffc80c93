// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proc_sched.c - the scheduler's and the CPUs' counters: /proc/schedstat, /proc/stat, debugfs
 * sched/features.
 *
 *   schedstat.cpu.N.run_ns, .wait_ns	ns that tasks ran, and stood runnable, on CPU N
 *   stat.cpu.user, .nice, .system, .idle, .iowait, .irq, .softirq, .steal, .guest
 *					ticks of 1/100 s of all CPUs
 *   stat.ctxt, stat.processes, stat.procs_running, stat.procs_blocked
 *   sched.feature.NAME			y | n: of sched/features (NO_NAME)
 *
 * Formats: Documentation/scheduler/sched-stats.rst (version 11 and later), proc(5),
 * kernel/sched/debug.c.
 */
#include "fact_out.h"

static int64_t cite_line(struct parse_ctx *ctx, const char *s, size_t len)
{
	return ctx_cite_at(ctx, (uint64_t)(s - (const char *)ctx->m->data), s, len);
}

/* ---- /proc/schedstat ---- */

static int schedstat_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	uint64_t v;

	return scan_lit(&c, "version ") && scan_u64(&c, &v) && v >= 11 && v < 100 && scan_lit(&c, "\ntimestamp ") ? 90 : 0;
}

/* cpuN 0 0 0 0 0 0 RUN WAIT SLICES: the last three of nine */
static struct error *schedstat_parse(struct parse_ctx *ctx)
{
	struct fact_out out = { .format = "schedstat" };
	const char *next = (const char *)ctx->m->data, *end = next + ctx->m->size, *s;
	uint64_t cpu;
	size_t len;

	while (scan_lines(&next, end, &s, &len)) {
		struct scan c = scan_mem(s, len), w[9];
		char key[48];
		int64_t cite;
		int i;

		if (!scan_lit(&c, "cpu") || !scan_u64(&c, &cpu) || cpu > 65535)
			continue;
		for (i = 0; i < 9; i++)
			w[i] = scan_token(&c);
		if (!scan_left(&w[8]))
			continue;
		cite = cite_line(ctx, s, len);
		snprintf(key, sizeof(key), "schedstat.cpu.%" PRIu64 ".run_ns", cpu);
		fact_put(ctx, &out, key, w[6].p, scan_left(&w[6]), cite);
		snprintf(key, sizeof(key), "schedstat.cpu.%" PRIu64 ".wait_ns", cpu);
		fact_put(ctx, &out, key, w[7].p, scan_left(&w[7]), cite);
	}
	return NULL;
}

static const struct parser schedstat = {
	.name		= "schedstat",
	.kind		= PARSER_VALUE,
	.sniff		= schedstat_sniff,
	.parse		= schedstat_parse,
};
REGISTER(parsers, &schedstat);

/* ---- /proc/stat ---- */

static int stat_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	uint64_t v;

	return scan_lit(&c, "cpu  ") && scan_u64(&c, &v) && scan_find(&c, "\ncpu0 ") && scan_find(&c, "\nintr ") ? 90 : 0;
}

static struct error *stat_parse(struct parse_ctx *ctx)
{
	static const char *const ticks[] = { "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice" };
	static const char *const others[] = { "ctxt", "processes", "procs_running", "procs_blocked", "btime" };
	struct fact_out out = { .format = "stat" };
	const char *next = (const char *)ctx->m->data, *end = next + ctx->m->size, *s;
	size_t len, i;

	while (scan_lines(&next, end, &s, &len)) {
		struct scan c = scan_mem(s, len), name = scan_token(&c), w;
		char key[48];

		if (span_is(name.p, scan_left(&name), "cpu")) {
			int64_t cite = cite_line(ctx, s, len);

			for (i = 0; i < ARRAY_SIZE(ticks); i++) {
				w = scan_token(&c);
				snprintf(key, sizeof(key), "stat.cpu.%s", ticks[i]);
				if (scan_left(&w))
					fact_put(ctx, &out, key, w.p, scan_left(&w), cite);
			}
		}
		for (i = 0; i < ARRAY_SIZE(others); i++) {
			if (!span_is(name.p, scan_left(&name), others[i]))
				continue;
			w = scan_token(&c);
			snprintf(key, sizeof(key), "stat.%s", others[i]);
			fact_put(ctx, &out, key, w.p, scan_left(&w), cite_line(ctx, s, len));
		}
	}
	return NULL;
}

static const struct parser stat = {
	.name		= "stat",
	.kind		= PARSER_VALUE,
	.sniff		= stat_sniff,
	.parse		= stat_parse,
};
static const void *const __attribute__((used, section("km_parsers"))) km_stat_entry = &stat;

/* ---- sched/features ---- */

static int features_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len), w;
	unsigned int known = 0, n = 0;

	if (s->len < s->size || s->size > 4096)
		return 0;
	scan_trim(&c);
	while (!scan_at_end(&c)) {
		w = scan_token(&c);
		if (!scan_left(&w))
			break;
		n++;
		known += span_is(w.p, scan_left(&w), "TTWU_QUEUE") || span_is(w.p, scan_left(&w), "NO_TTWU_QUEUE") ||
			 span_is(w.p, scan_left(&w), "WAKEUP_PREEMPTION") || span_is(w.p, scan_left(&w), "NO_HRTICK") ||
			 span_is(w.p, scan_left(&w), "NONTASK_CAPACITY") || span_is(w.p, scan_left(&w), "PLACE_LAG");
		for (; w.p < w.end; w.p++)
			if (!(*w.p == '_' || (*w.p >= 'A' && *w.p <= 'Z') || is_digit(*w.p)))
				return 0;
	}
	return known && n >= 5 ? 90 : 0;
}

static struct error *features_parse(struct parse_ctx *ctx)
{
	struct fact_out out = { .format = "sched features" };
	struct scan c = scan_mem((const char *)ctx->m->data, ctx->m->size), w;
	int64_t cite;

	scan_trim(&c);
	cite = cite_line(ctx, c.p, scan_left(&c));
	for (w = scan_token(&c); scan_left(&w); w = scan_token(&c)) {
		bool off = scan_lit(&w, "NO_");
		char key[96];

		snprintf(key, sizeof(key), "sched.feature.%.*s", (int)MIN(scan_left(&w), (size_t)64), w.p);
		fact_put(ctx, &out, key, off ? "n" : "y", 1, cite);
	}
	return NULL;
}

static const struct parser features = {
	.name		= "sched features",
	.kind		= PARSER_VALUE,
	.sniff		= features_sniff,
	.parse		= features_parse,
};
static const void *const __attribute__((used, section("km_parsers"))) km_features_entry = &features;
