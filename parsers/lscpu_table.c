// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lscpu_table.c - `lscpu -e` and `-p` with any columns, and `-e -J`: where each CPU lies.
 *
 *   CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE
 *     0    0      0    0 0:0:0:0          yes
 *
 *   # CPU,Core,Socket,Node,,L1d,L1i,L2,L3
 *   0,0,0,0,,0,0,0,0
 *
 * Facts, as far as there are columns: cpu.count (all), cpu.online and cpu.offline (lists),
 * cpu.sockets, cpu.threads_per_core (most CPUs of a core), cpu.core.N.cpus (of cores with several:
 * who are siblings), numa.nodes, numa.node.N.cpus (lists).
 */
#include "fact_out.h"

#define MAX_CPUS	8192
#define MAX_COLUMNS	64

enum column { C_CPU, C_NODE, C_SOCKET, C_CORE, C_ONLINE, N_COLUMN };

static const char *const titles[N_COLUMN] = { "cpu", "node", "socket", "core", "online" };

struct cpu { int32_t v[N_COLUMN]; };	/* -1: not there */

struct table {
	struct fact_out	out;
	enum { T_NONE, T_COLUMNS, T_COMMAS, T_JSON } form;
	enum column	columns[MAX_COLUMNS];	/* N_COLUMN: another */
	size_t		n_columns, n, cap;
	bool		has[N_COLUMN];
	struct cpu	*cpus;
	struct cpu	row;		/* of the object at work */
	struct line	first;		/* only no and off are kept */
	char		first_text[200];
};

static enum column column_of(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < N_COLUMN; i++)
		if (strlen(titles[i]) == len && !strncasecmp(titles[i], s, len))
			return (enum column)i;
	return N_COLUMN;
}

static struct scan next_cell(struct scan *c, bool commas)
{
	struct scan w;

	if (!commas)
		scan_blanks(c);
	w.p = c->p;
	while (c->p < c->end && (commas ? *c->p != ',' : !is_blank(*c->p)))
		c->p++;
	w.end = c->p;
	if (commas)
		scan_char(c, ',');
	return w;
}

/* A heading: "# CPU,Node", or "CPU NODE SOCKET" with at least two of ours in capitals. */
static bool heading(struct table *t, struct scan c)
{
	bool commas = scan_lit(&c, "# "), has[N_COLUMN] = { false };
	enum column columns[MAX_COLUMNS];
	size_t n = 0, ours = 0;

	scan_trim(&c);
	if (commas && !scan_find(&c, "CPU") && !scan_find(&c, "Cpu"))
		return false;
	while (!scan_at_end(&c) && n < MAX_COLUMNS) {
		struct scan w = next_cell(&c, commas);
		const char *p;

		for (p = w.p; p < w.end; p++)
			if (!is_word(*p) && !strchr(":%-", *p))
				return false;
		columns[n] = column_of(w.p, scan_left(&w));
		if (columns[n] < N_COLUMN) {
			if (has[columns[n]] || (!commas && *w.p >= 'a'))
				return false;
			has[columns[n]] = true;
			ours++;
		}
		n++;
	}
	if (!has[C_CPU] || ours < 2 || !scan_at_end(&c))
		return false;
	if (t) {
		t->form = commas ? T_COMMAS : T_COLUMNS;
		memcpy(t->columns, columns, n * sizeof(*columns));
		memcpy(t->has, has, sizeof(has));
		t->n_columns = n;
	}
	return true;
}

static bool cell_value(struct scan w, enum column what, int32_t *v)
{
	uint64_t n;

	if (what == C_ONLINE) {
		*v = span_is(w.p, scan_left(&w), "yes") || span_is(w.p, scan_left(&w), "Y") ||
		     span_is(w.p, scan_left(&w), "true");
		return *v || span_is(w.p, scan_left(&w), "no") || span_is(w.p, scan_left(&w), "N") ||
		       span_is(w.p, scan_left(&w), "false");
	}
	*v = -1;
	if (scan_at_end(&w) || span_is(w.p, scan_left(&w), "-") || span_is(w.p, scan_left(&w), "null"))
		return what != C_CPU;
	if (!scan_u64(&w, &n) || !scan_at_end(&w) || n > 1000000)
		return false;
	*v = (int32_t)n;
	return what != C_CPU || n < MAX_CPUS;
}

static void clear_row(struct cpu *row)
{
	size_t i;

	for (i = 0; i < N_COLUMN; i++)
		row->v[i] = -1;
}

static void add_cpu(struct table *t, const struct cpu *row, const struct line *ln)
{
	if (t->n >= MAX_CPUS)
		return;
	if (!t->n) {
		t->first = *ln;
		snprintf(t->first_text, sizeof(t->first_text), "%.*s",
			 (int)MIN(ln->len, sizeof(t->first_text) - 1), ln->s);
	}
	GROW(t->cpus, t->cap, t->n + 1);
	t->cpus[t->n++] = *row;
}

static bool take_row(struct table *t, const struct line *ln)
{
	struct scan c = scan_line(ln);
	struct cpu row;
	size_t i;

	scan_trim(&c);
	clear_row(&row);
	for (i = 0; i < t->n_columns; i++) {
		struct scan w = next_cell(&c, t->form == T_COMMAS);

		if (t->columns[i] < N_COLUMN &&
		    !cell_value(w, t->columns[i], &row.v[t->columns[i]]))
			return false;
	}
	if (!scan_at_end(&c) || row.v[C_CPU] < 0)
		return false;
	add_cpu(t, &row, ln);
	return true;
}

/* "cpu": 0, "node": 0 ... of an object, which ends with its brace. */
static bool take_json(struct table *t, const struct line *ln)
{
	struct scan c = scan_line(ln), w;
	bool any = false;

	while (!scan_at_end(&c)) {
		enum column what;

		if (*c.p == '}' && t->row.v[C_CPU] >= 0) {
			add_cpu(t, &t->row, ln);
			clear_row(&t->row);
		}
		if (!scan_char(&c, '"')) {
			c.p++;
			continue;
		}
		w.p = c.p;
		if (!scan_to(&c, "\""))
			break;
		w.end = c.p - 1;
		what = column_of(w.p, scan_left(&w));
		scan_blanks(&c);
		if (!scan_char(&c, ':') || what == N_COLUMN)
			continue;
		while (c.p < c.end && (is_blank(*c.p) || *c.p == '"'))
			c.p++;
		w.p = c.p;
		while (c.p < c.end && (is_word(*c.p) || *c.p == '-'))
			c.p++;
		w.end = c.p;
		scan_char(&c, '"');
		if (cell_value(w, what, &t->row.v[what]))
			any = t->has[what] = true;
	}
	return any;
}

static bool is_json(const struct scan *c)
{
	struct scan f = *c;

	scan_blanks(&f);
	return scan_char(&f, '{') || scan_lit(&f, "\"cpus\"");
}

static enum line_result table_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct table *t = state;
	struct scan c = scan_line(ln);

	if (t->form == T_JSON)
		return take_json(t, ln) ? LINE_TAKEN : LINE_SKIPPED;
	if (t->form && take_row(t, ln))
		return LINE_TAKEN;
	if (!t->n && heading(t, c))
		return LINE_TAKEN;
	if (!ctx->embedded && !t->form && is_json(&c)) {
		t->form = T_JSON;
		clear_row(&t->row);
		return take_json(t, ln) ? LINE_TAKEN : LINE_SKIPPED;
	}
	if (ctx->embedded) {
		if (ln->len)
			t->form = T_NONE;	/* the table is over */
		return LINE_NOT_MINE;
	}
	return !ln->len || *ln->s == '#' ? LINE_SKIPPED : LINE_NOT_MINE;
}

static struct error *table_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->out.format = "lscpu";
	*state = t;
	return NULL;
}

/* A fact: the list of the CPUs whose column @what is @value ("0-3,8"); how many they are. */
static size_t put_list(struct parse_ctx *ctx, struct table *t, const char *key, enum column what,
		       int32_t value, size_t at_least)
{
	_cleanup_free_ bool *in = xcalloc(MAX_CPUS + 1, sizeof(*in));
	char text[4000];
	size_t i, from, n = 0, len = 0;

	for (i = 0; i < t->n; i++)
		if (t->cpus[i].v[what] == value && t->cpus[i].v[C_CPU] >= 0) {
			n += !in[t->cpus[i].v[C_CPU]];
			in[t->cpus[i].v[C_CPU]] = true;
		}
	for (i = 0; i < MAX_CPUS && len + 16 < sizeof(text); i++) {
		if (!in[i])
			continue;
		for (from = i; in[i + 1]; i++)
			;
		len += (size_t)snprintf(text + len, sizeof(text) - len, i > from ? "%s%zu-%zu" : "%s%zu", len ? "," : "", from, i);
	}
	if (n && n >= at_least)
		fact_line(ctx, &t->out, &t->first, key, scan_mem(text, len));
	return n;
}

/* Each value of a column once, ascending: a fact each; how many values there are. */
static size_t each_value(struct parse_ctx *ctx, struct table *t, enum column what, const char *key,
			 size_t at_least, size_t *most)
{
	int32_t value = -1, next;
	size_t i, n = 0, cpus;
	char name[48];

	for (;;) {
		next = INT32_MAX;
		for (i = 0; i < t->n; i++)
			if (t->cpus[i].v[what] > value)
				next = MIN(next, t->cpus[i].v[what]);
		if (next == INT32_MAX)
			return n;
		value = next;
		n++;
		if (!key)
			continue;
		snprintf(name, sizeof(name), "%s.%d.cpus", key, value);
		cpus = put_list(ctx, t, name, what, value, at_least);
		if (most)
			*most = MAX(*most, cpus);
	}
}

static struct error *table_end(struct parse_ctx *ctx, void *state)
{
	struct table *t = state;
	size_t n, threads = 0;

	t->first.s = t->first_text;
	t->first.len = strlen(t->first_text);
	if (t->n) {
		fact_i64(ctx, &t->out, &t->first, "cpu.count", (int64_t)t->n);
		if (t->has[C_ONLINE]) {
			put_list(ctx, t, "cpu.online", C_ONLINE, 1, 1);
			put_list(ctx, t, "cpu.offline", C_ONLINE, 0, 1);
		}
		n = each_value(ctx, t, C_SOCKET, NULL, 0, NULL);
		if (n)
			fact_i64(ctx, &t->out, &t->first, "cpu.sockets", (int64_t)n);
		if (each_value(ctx, t, C_CORE, "cpu.core", 2, &threads))
			fact_i64(ctx, &t->out, &t->first, "cpu.threads_per_core", (int64_t)threads);
		n = each_value(ctx, t, C_NODE, "numa.node", 1, NULL);
		if (n)
			fact_i64(ctx, &t->out, &t->first, "numa.nodes", (int64_t)n);
	} else if (!ctx->embedded) {
		parse_remark(ctx, false, "lscpu: a heading without CPUs");
	}
	free(t->cpus);
	free(t);
	return NULL;
}

static int table_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	struct scan all = scan_mem(next, MIN(s->len, (size_t)256));
	unsigned int n = 0;
	size_t len;

	if (is_json(&all))
		return scan_find(&all, "\"cpus\"") && scan_find(&all, "\"cpu\"") ? 85 : 0;
	while (n++ < 6 && scan_lines(&next, end, &p, &len)) {
		if (heading(NULL, scan_mem(p, len)))
			return 85;
		if (!len || *p != '#')
			break;
	}
	return 0;
}

static const struct parser lscpu_table = {
	.name		= "lscpu",
	.kind		= PARSER_LINES,
	.priority	= 92,
	.embed		= true,
	.sniff		= table_sniff,
	.begin		= table_begin,
	.line		= table_line,
	.end		= table_end,
};
REGISTER(parsers, &lscpu_table);
