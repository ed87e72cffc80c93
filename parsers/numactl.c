// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numactl.c - output of `numactl -H`, also pasted into a mail that wraps its CPU lists.
 *
 *   available: 2 nodes (0-1)
 *   node 0 cpus: 0 1 2 3
 *   node 0 size: 128649 MB
 *   node 0 free: 124293 MB
 *   node distances:
 *   node   0   1
 *     0:  10  21
 *
 * Facts:
 *
 *   numa.nodes                number of nodes
 *   numa.node.N.cpus          list of CPUs as ranges: 0-15,32-47
 *   numa.node.N.size_mb       MB
 *   numa.node.N.free_mb       MB
 *   numa.distance.A.B         10 is local
 */
#include "scan.h"

#define MAX_NODES	1024
#define MAX_CPUS	8192

struct numa_state {
	int64_t		source_id;
	/* the CPU list being read */
	bool		in_cpus;
	uint64_t	node, cpus_line;
	int64_t		cpus_cite;
	uint16_t	cpus[MAX_CPUS];
	size_t		n_cpus;
	/* the columns of the distance table */
	bool		in_distances;
	uint16_t	columns[MAX_NODES];
	size_t		n_columns;
};

static bool node_line(struct scan *c, uint64_t *node, const char *what)
{
	struct scan d = *c;

	if (!scan_lit(&d, "node ") || !scan_u64(&d, node) || *node >= MAX_NODES || !scan_lit(&d, what))
		return false;
	*c = d;
	return true;
}

static bool available_line(struct scan *c, uint64_t *nodes)
{
	struct scan d = *c;

	if (!scan_lit(&d, "available: ") || !scan_u64(&d, nodes) || *nodes > MAX_NODES || !scan_lit(&d, " nodes ("))
		return false;
	*c = d;
	return true;
}

/* Numbers with blanks between, nothing else. */
static bool only_numbers(struct scan c)
{
	uint64_t v;

	do {
		scan_blanks(&c);
		if (!scan_u64(&c, &v))
			return false;
	} while (scan_blanks(&c));
	return scan_at_end(&c);
}

static bool distance_row(struct scan *c, uint64_t *node)
{
	struct scan d = *c;

	scan_blanks(&d);
	if (!scan_u64(&d, node) || *node >= MAX_NODES || !scan_char(&d, ':') || !only_numbers(d))
		return false;
	*c = d;
	return true;
}

static int numa_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	uint64_t n;

	return available_line(&c, &n) && scan_find(&c, "node distances:") ? 85 : 0;
}

static struct error *numa_begin(struct parse_ctx *ctx __unused, void **state)
{
	*state = xcalloc(1, sizeof(struct numa_state));
	return NULL;
}

static struct error *fact(struct parse_ctx *ctx, struct numa_state *st, int64_t cite,
			  const char *key, const char *value)
{
	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "numactl"));
	return case_fact(ctx->db, st->source_id, ctx->side, key, value, ctx->snapshot, cite);
}

static struct error *number(struct parse_ctx *ctx, struct numa_state *st, const struct line *ln,
			    const char *key, uint64_t v)
{
	char value[24];

	snprintf(value, sizeof(value), "%" PRIu64, v);
	return fact(ctx, st, ctx_cite(ctx, ln, CASE_NO_TIME), key, value);
}

/* The list of CPUs is complete: write it as ranges. */
static struct error *flush_cpus(struct parse_ctx *ctx, struct numa_state *st)
{
	_cleanup_free_ char *text = NULL;
	char key[48];
	size_t i, j, len = 0;

	if (!st->in_cpus)
		return NULL;
	st->in_cpus = false;
	text = xmalloc(st->n_cpus * 12 + 1);
	text[0] = '\0';
	for (i = 0; i < st->n_cpus; i = j) {
		for (j = i + 1; j < st->n_cpus && st->cpus[j] == st->cpus[j - 1] + 1; j++)
			;
		len += (size_t)sprintf(text + len, j - i > 1 ? "%s%u-%u" : "%s%u", i ? "," : "", st->cpus[i], st->cpus[j - 1]);
	}
	snprintf(key, sizeof(key), "numa.node.%" PRIu64 ".cpus", st->node);
	return fact(ctx, st, st->cpus_cite, key, text);
}

static void add_cpus(struct numa_state *st, struct scan c)
{
	uint64_t v;

	for (;;) {
		scan_blanks(&c);
		if (!scan_u64(&c, &v) || v >= MAX_CPUS || st->n_cpus >= MAX_CPUS)
			return;
		st->cpus[st->n_cpus++] = (uint16_t)v;
	}
}

static struct error *distances(struct parse_ctx *ctx, struct numa_state *st, const struct line *ln,
			       uint64_t node, struct scan c)
{
	char key[64];
	uint64_t v;
	size_t i;

	for (i = 0; i < st->n_columns; i++) {
		scan_blanks(&c);
		if (!scan_u64(&c, &v))
			return NULL;
		snprintf(key, sizeof(key), "numa.distance.%" PRIu64 ".%u", node, st->columns[i]);
		TRY(number(ctx, st, ln, key, v));
	}
	return NULL;
}

static struct error *understand(struct parse_ctx *ctx, struct numa_state *st, const struct line *ln,
				enum line_result *result)
{
	struct scan c = scan_line(ln);
	char key[48];
	uint64_t node, v;

	scan_trim(&c);
	*result = LINE_TAKEN;
	if (st->in_cpus && ln->no <= st->cpus_line + 64 && !scan_at_end(&c) && only_numbers(c)) {
		add_cpus(st, c);
		return NULL;
	}
	TRY(flush_cpus(ctx, st));
	if (available_line(&c, &v))
		return number(ctx, st, ln, "numa.nodes", v);
	if (node_line(&c, &node, " cpus:")) {
		st->in_cpus = true;
		st->node = node;
		st->n_cpus = 0;
		st->cpus_line = ln->no;
		st->cpus_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
		add_cpus(st, c);
		return NULL;
	}
	if (node_line(&c, &node, " size: ") && scan_u64(&c, &v) && scan_lit(&c, " MB")) {
		snprintf(key, sizeof(key), "numa.node.%" PRIu64 ".size_mb", node);
		return number(ctx, st, ln, key, v);
	}
	if (node_line(&c, &node, " free: ") && scan_u64(&c, &v) && scan_lit(&c, " MB")) {
		snprintf(key, sizeof(key), "numa.node.%" PRIu64 ".free_mb", node);
		return number(ctx, st, ln, key, v);
	}
	if (st->source_id && scan_lit(&c, "node distances:")) {
		st->in_distances = true;
		st->n_columns = 0;
		return NULL;
	}
	if (st->in_distances && scan_lit(&c, "node ")) {
		for (st->n_columns = 0; scan_blanks(&c),
		    scan_u64(&c, &v) && v < MAX_NODES && st->n_columns < MAX_NODES;)
			st->columns[st->n_columns++] = (uint16_t)v;
		return NULL;
	}
	if (st->in_distances && st->n_columns && distance_row(&c, &node))
		return distances(ctx, st, ln, node, c);
	st->in_distances = false;
	scan_blanks(&c);
	*result = scan_at_end(&c) && !ctx->embedded ? LINE_SKIPPED : LINE_NOT_MINE;
	return NULL;
}

static enum line_result numa_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	enum line_result result = LINE_NOT_MINE;
	struct error *err = understand(ctx, state, ln, &result);

	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return result;
}

static struct error *numa_end(struct parse_ctx *ctx, void *state)
{
	struct error *err = flush_cpus(ctx, state);

	free(state);
	return err;
}

static const struct parser numactl = {
	.name		= "numactl",
	.kind		= PARSER_LINES,
	.priority	= 80,
	.embed		= true,
	.sniff		= numa_sniff,
	.begin		= numa_begin,
	.line		= numa_line,
	.end		= numa_end,
};
REGISTER(parsers, &numactl);
