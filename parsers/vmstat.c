// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmstat.c - /proc/vmstat and /proc/meminfo. Facts:
 *
 *   vmstat.KEY        counters since boot (pages or events) under the kernel's names: numa_*,
 *                     ksm_*, cow_ksm, pgmigrate*, thp_*, compact_*, swap_ra*, pswp*, pgmajfault,
 *                     pgscan_direct*, pgsteal_direct*, allocstall*, balloon_*, oom_kill ...
 *   meminfo.KEY_kb    kB, under the kernel's names: meminfo.MemTotal_kb, meminfo.MemAvailable_kb
 *   meminfo.KEY       counts, such as HugePages_Total
 *
 * Differences of two snapshots are KEY.delta (analyzer/snapshots.c).
 */
#include "scan.h"

static const char *const vmstat_keys[] = {
	"numa_", "ksm_", "cow_ksm", "pgmigrate", "thp_", "compact_", "swap_ra", "pswp", "pgmajfault", "pgscan_direct", "pgsteal_direct",
	"allocstall", "oom_kill", "nr_free_pages", "drop_pagecache", "zone_reclaim", "balloon_",
};

struct facts_state {
	int64_t		source_id;
};

static bool vmstat_pair(const struct line *ln, const char **key, size_t *len, struct scan *value)
{
	struct scan c = scan_line(ln);
	uint64_t v;

	scan_trim(&c);
	if (!scan_word(&c, key, len) || *len > 64 || !scan_char(&c, ' '))
		return false;
	*value = c;
	scan_char(&c, '-');
	return scan_u64(&c, &v) && scan_at_end(&c);
}

static bool meminfo_pair(const struct line *ln, const char **key, size_t *len, struct scan *value,
			 bool *kb)
{
	struct scan c = scan_line(ln);
	uint64_t v;

	scan_trim(&c);
	*key = c.p;
	while (c.p < c.end && (is_word(*c.p) || *c.p == '(' || *c.p == ')'))
		c.p++;
	*len = (size_t)(c.p - *key);
	if (!*len || *len > 64 || !scan_char(&c, ':') || !scan_blanks(&c))
		return false;
	*value = c;
	if (!scan_u64(&c, &v))
		return false;
	value->end = c.p;
	*kb = scan_lit(&c, " kB");
	return scan_at_end(&c);
}

static bool vmstat_test(const struct line *ln)
{
	struct scan v;
	const char *key;
	size_t len;

	return vmstat_pair(ln, &key, &len, &v);
}

static bool meminfo_test(const struct line *ln)
{
	struct scan v;
	const char *key;
	size_t len;
	bool kb;

	return meminfo_pair(ln, &key, &len, &v, &kb);
}

/*
 * nr_free_pages is the first line on every kernel since 2.6.21; an excerpt made with grep has numa_
 * or ksm_ lines only.
 */
static int vmstat_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	unsigned int n;

	if (!scan_lit(&c, "nr_free_pages ") && !scan_lit(&c, "numa_") && !scan_lit(&c, "ksm_") && !scan_lit(&c, "thp_"))
		return 0;
	return sniff_lines(s, vmstat_test, &n) == 100 ? 80 : 0;
}

static int meminfo_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	unsigned int n;

	return scan_lit(&c, "MemTotal:") && sniff_lines(s, meminfo_test, &n) >= 95 ? 80 : 0;
}

static struct error *facts_begin(struct parse_ctx *ctx __unused, void **state)
{
	*state = xcalloc(1, sizeof(struct facts_state));
	return NULL;
}

static enum line_result store(struct parse_ctx *ctx, struct facts_state *st, const struct line *ln,
			      const char *format, const char *key, const struct scan *value)
{
	_cleanup_free_ char *text = xstrndup(value->p, scan_left(value));
	struct error *err = NULL;

	if (!st->source_id)
		err = ctx_source(ctx, &st->source_id, format);
	if (!err)
		err = case_fact(ctx->db, st->source_id, ctx->side, key, text, ctx->snapshot,
				ctx_cite(ctx, ln, CASE_NO_TIME));
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static enum line_result vmstat_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct scan value;
	const char *key;
	char name[96];
	size_t len, i;

	if (!vmstat_pair(ln, &key, &len, &value))
		return ln->len ? LINE_NOT_MINE : LINE_SKIPPED;
	for (i = 0; i < ARRAY_SIZE(vmstat_keys); i++)
		if (starts_with(key, len, vmstat_keys[i]))
			break;
	if (i == ARRAY_SIZE(vmstat_keys))
		return LINE_SKIPPED;
	snprintf(name, sizeof(name), "vmstat.%.*s", (int)len, key);
	return store(ctx, state, ln, "vmstat", name, &value);
}

static enum line_result meminfo_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct scan value;
	const char *key;
	char name[96];
	size_t len;
	bool kb;

	if (!meminfo_pair(ln, &key, &len, &value, &kb))
		return ln->len ? LINE_NOT_MINE : LINE_SKIPPED;
	snprintf(name, sizeof(name), "meminfo.%.*s%s", (int)len, key, kb ? "_kb" : "");
	return store(ctx, state, ln, "meminfo", name, &value);
}

static struct error *facts_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser vmstat = {
	.name		= "vmstat",
	.kind		= PARSER_LINES,
	.priority	= 90,
	.sniff		= vmstat_sniff,
	.begin		= facts_begin,
	.line		= vmstat_line,
	.end		= facts_end,
};
REGISTER(parsers, &vmstat);

static const struct parser meminfo = {
	.name		= "meminfo",
	.kind		= PARSER_LINES,
	.priority	= 91,
	.sniff		= meminfo_sniff,
	.begin		= facts_begin,
	.line		= meminfo_line,
	.end		= facts_end,
};
static const void *const __attribute__((used, section("km_parsers"))) km_meminfo_entry = &meminfo;
