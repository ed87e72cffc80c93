// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_report.c - the tables of `perf report --stdio` (tools/perf/ui/stdio/hist.c), with or without
 * --header, sample counts (-n), children and call graphs.
 *
 *   # Samples: 1K of event 'kvm:kvm_page_fault'
 *   # Event count (approx.): 1695
 *   #
 *   # Overhead  Command          Symbol
 *   # ........  ...............  ....................
 *   #
 *      100.00%  qemu-system-x86  [k] npf_interception
 *               |
 *               ---npf_interception
 *                  kvm_arch_vcpu_ioctl_run
 *
 * Each row is a row of stack_count: its frames are the symbol and, where the graph below it goes
 * from it, the callers that all of its samples share. Every way through a graph is a row of `stack`
 * besides. The columns lie where the dotted line says. Counts are exact where perf prints them
 * (-n), else its share of the samples.
 */
#include "perf_text_header.h"
#include "scan.h"

#define MAX_COLUMNS	16
#define MAX_STACKS	50000
#define MAX_FRAMES	128
#define FRAMES_TEXT	6000

enum column {
	COL_OTHER,
	COL_OVERHEAD,
	COL_CHILDREN,
	COL_SELF,
	COL_SAMPLES,
	COL_PID,
	COL_SYMBOL,
	N_COL
};

struct frame {
	char		name[120];
	unsigned int	column;
};

struct report {
	int64_t		source_id;
	struct perf_text_header head;
	/* the table at work */
	char		event[128];
	uint64_t	samples, event_count;
	bool		exact;			/* samples is no rounded figure */
	char		titles[400];		/* the line that the dotted one may follow */
	struct { unsigned int from, to; enum column what; } columns[MAX_COLUMNS];
	size_t		n_columns;
	bool		children;
	/* the row at work and its graph */
	bool		in_row, branched, other_order;
	char		symbol[120];
	int64_t		tid, count, cite;
	struct frame	path[MAX_FRAMES];
	size_t		depth, trunk;		/* trunk: frames before the first branch */
	char		trunk_text[FRAMES_TEXT];
	struct strtab	stacks;
	int64_t		*ids;
	size_t		n_ids, cap_ids;
	uint64_t	rows;
};

static bool title_line(const char *s, size_t len)
{
	struct scan c = scan_mem(s, len);

	return scan_lit(&c, "# ") && (scan_find(&c, "Overhead") || (scan_find(&c, "Children") && scan_find(&c, "Self")));
}

static bool dots_line(const char *s, size_t len)
{
	size_t i, dots = 0;

	if (len < 6 || s[0] != '#' || s[1] != ' ')
		return false;
	for (i = 2; i < len; i++) {
		if (s[i] != '.' && s[i] != ' ')
			return false;
		dots += s[i] == '.';
	}
	return dots >= 4;
}

static enum column column_of(const char *s, size_t len)
{
	static const struct { const char *title; enum column what; } known[] = {
		{ "Overhead", COL_OVERHEAD }, { "Children", COL_CHILDREN }, { "Self", COL_SELF }, { "Samples", COL_SAMPLES },
		{ "Pid:Command", COL_PID }, { "Tid:Command", COL_PID }, { "Symbol", COL_SYMBOL }, { "Symbols", COL_SYMBOL },
	};
	struct scan c = scan_mem(s, len);
	size_t i;

	scan_blanks(&c);
	scan_trim(&c);
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (span_is(c.p, scan_left(&c), known[i].title))
			return known[i].what;
	return COL_OTHER;
}

/* Columns by the dotted line, named by the line before it. */
static void set_columns(struct report *r, const char *s, size_t len)
{
	size_t i = 2, titles = strlen(r->titles), from, next;

	r->n_columns = 0;
	r->children = false;
	while (i < len && r->n_columns < MAX_COLUMNS) {
		while (i < len && s[i] != '.')
			i++;
		from = i;
		while (i < len && s[i] == '.')
			i++;
		if (i == from)
			break;
		for (next = i; next < len && s[next] != '.'; next++)
			;
		r->columns[r->n_columns].from = (unsigned int)from;
		r->columns[r->n_columns].to = next < len ? (unsigned int)i : UINT32_MAX;
		if (next >= len)
			next = titles;
		r->columns[r->n_columns].what =
			from < titles ? column_of(r->titles + from, MIN(next, titles) - from)
				      : COL_OTHER;
		r->children |= r->columns[r->n_columns++].what == COL_CHILDREN;
	}
}

static struct scan cell(const struct report *r, const struct line *ln, enum column what)
{
	struct scan c = scan_mem(ln->s, 0);
	size_t i;

	for (i = 0; i < r->n_columns; i++) {
		if (r->columns[i].what != what || r->columns[i].from >= ln->len)
			continue;
		c.p = ln->s + r->columns[i].from;
		c.end = ln->s + MIN((size_t)r->columns[i].to, ln->len);
		scan_blanks(&c);
		scan_trim(&c);
		break;
	}
	return c;
}

static bool percent(struct scan c, double *pct)
{
	int64_t v;

	if (!scan_dec(&c, 1000000, &v, NULL) || !scan_char(&c, '%'))
		return false;
	*pct = (double)v / 1e6;
	return *pct <= 100.0;
}

static bool open_source(struct parse_ctx *ctx, struct report *r)
{
	struct error *err = perf_text_header_source(ctx, &r->head, &r->source_id, "perf report");

	if (!err)
		return true;
	parse_remark(ctx, true, "%s", err->what);
	error_free(err);
	return false;
}

/* The row of table stack with these frames. */
static int64_t stack_row(struct parse_ctx *ctx, struct report *r, const char *frames)
{
	uint32_t id = strtab_id(&r->stacks, frames, strlen(frames));
	struct error *err;

	if (id == STRTAB_NONE) {
		parse_remark(ctx, true, "more than %d different stacks: the rest is left out", MAX_STACKS);
		return 0;
	}
	if (id >= r->n_ids) {
		GROW(r->ids, r->cap_ids, (size_t)id + 1);
		r->ids[id] = 0;
		r->n_ids = (size_t)id + 1;
	}
	if (r->ids[id])
		return r->ids[id];
	err = case_stack(ctx->db, &r->ids[id], r->source_id, frames, "\n");
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return r->ids[id];
}

/* The first @n frames of the path as text, top first. */
static void path_text(const struct report *r, size_t n, char text[FRAMES_TEXT])
{
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < n; i++) {
		const char *name = r->path[i].name;

		if (len + strlen(name) + 2 > FRAMES_TEXT)
			break;
		len += (size_t)sprintf(text + len, "%s%s", len ? "\n" : "", name);
	}
}

/* A way through the graph is complete. */
static void leaf(struct parse_ctx *ctx, struct report *r)
{
	char text[FRAMES_TEXT];

	if (!r->branched) {
		r->branched = true;
		r->trunk = r->depth;
		path_text(r, r->trunk, r->trunk_text);
	}
	if (r->other_order || r->depth < 2)
		return;
	path_text(r, r->depth, text);
	stack_row(ctx, r, text);
}

static void end_row(struct parse_ctx *ctx, struct report *r)
{
	struct error *err;
	int64_t stack;

	if (!r->in_row)
		return;
	if (r->depth)
		leaf(ctx, r);
	stack = stack_row(ctx, r, r->trunk > 1 && !r->other_order ? r->trunk_text : r->symbol);
	r->in_row = false;
	if (!stack)
		return;
	err = case_insert(ctx->db, NULL, "INSERT INTO stack_count(source_id, stack_id, event, tid, count) VALUES(?,?,?,?,?)",
			  "iisIi", r->source_id, stack, r->event, r->tid >= 0 ? &r->tid : NULL, r->count);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
}

/* A row; false where the line has no share in its column. */
static bool take_row(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	struct scan c = cell(r, ln, r->children ? COL_SELF : COL_OVERHEAD), sym, n;
	double pct;

	if (!percent(c, &pct))
		return false;
	end_row(ctx, r);
	sym = cell(r, ln, COL_SYMBOL);
	if (scan_left(&sym) > 4 && sym.p[0] == '[' && sym.p[2] == ']' && sym.p[3] == ' ')
		sym.p += 4;
	if (!scan_left(&sym) || pct <= 0 || !open_source(ctx, r))
		return true;
	r->rows++;
	snprintf(r->symbol, sizeof(r->symbol), "%.*s", (int)MIN(scan_left(&sym), sizeof(r->symbol) - 1), sym.p);
	n = cell(r, ln, COL_SAMPLES);
	if (!scan_i64(&n, &r->count))
		r->count = MAX((int64_t)((double)r->samples * pct / 100 + 0.5), (int64_t)1);
	n = cell(r, ln, COL_PID);
	if (!scan_i64(&n, &r->tid) || r->tid > INT32_MAX)
		r->tid = -1;
	r->in_row = true;
	r->branched = r->other_order = false;
	r->depth = r->trunk = 0;
	return true;
}

/* A line of the graph: "|--95.68%--g_free", "---npf_interception", "   kvm_vcpu_ioctl". */
static void take_graph(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	struct scan c = scan_line(ln), t;
	unsigned int column;
	bool branch = false;
	int64_t v;

	scan_trim(&c);
	while (c.p < c.end && (is_blank(*c.p) || *c.p == '|'))
		c.p++;
	if (c.end - c.p >= 3 && c.p[0] == '-' && c.p[1] == '-') {
		branch = true;
		while (c.p < c.end && *c.p == '-')
			c.p++;
		t = c;
		if (scan_dec(&t, 100, &v, NULL) && scan_lit(&t, "%--"))
			c = t;
		scan_blanks(&c);
	}
	if (scan_at_end(&c) || scan_left(&c) >= sizeof(r->path[0].name) || span_is(c.p, scan_left(&c), "[...]"))
		return;
	column = (unsigned int)(c.p - ln->s);
	if (branch && r->depth && (!r->branched || r->path[r->depth - 1].column >= column)) {
		if (r->path[r->depth - 1].column >= column) {
			leaf(ctx, r);
		} else {
			r->branched = true;
			r->trunk = r->depth;
			path_text(r, r->trunk, r->trunk_text);
		}
	}
	while (r->depth && (branch ? r->path[r->depth - 1].column >= column
				   : r->path[r->depth - 1].column > column))
		r->depth--;
	if (r->depth >= MAX_FRAMES)
		return;
	snprintf(r->path[r->depth].name, sizeof(r->path[0].name), "%.*s", (int)scan_left(&c), c.p);
	r->path[r->depth].column = column;
	if (!r->depth)	/* from the callers down, or of inclusive entries: not from the symbol */
		r->other_order = r->children || strcmp(r->path[0].name, r->symbol);
	r->depth++;
}

/* "1K", "16M", "845": the number and whether perf rounded it. */
static bool short_number(struct scan *c, uint64_t *n, uint64_t *unit)
{
	static const struct {
		char letter;
		uint64_t unit;
	} units[] = { { 'K', 1000 }, { 'M', 1000000 }, { 'G', 1000000000 } };
	size_t i;

	*unit = 1;
	if (!scan_u64(c, n))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (scan_char(c, units[i].letter))
			*unit = units[i].unit;
	return !__builtin_mul_overflow(*n, *unit, n) && *n <= INT64_MAX;
}

/* "# Samples: 16K of event 'kvm:kvm_entry'" begins a table. */
static bool take_samples(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	struct scan c = scan_line(ln);
	const char *quote;
	uint64_t unit;

	scan_trim(&c);
	if (!scan_lit(&c, "# Samples: ") || !short_number(&c, &r->samples, &unit) || !scan_to(&c, "of event"))
		return false;
	end_row(ctx, r);
	scan_char(&c, 's');
	scan_blanks(&c);
	if (!scan_char(&c, '\''))
		return false;
	quote = memrchr(c.p, '\'', scan_left(&c));
	if (!quote)
		quote = c.end;
	snprintf(r->event, sizeof(r->event), "%.*s", (int)MIN(quote - c.p, (ptrdiff_t)sizeof(r->event) - 1), c.p);
	r->exact = unit == 1;
	r->n_columns = 0;
	r->cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	return true;
}

/*
 * perf rounds samples down to 1000s; of events that were all taken the count of events is their
 * number.
 */
static bool take_count(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	struct scan c = scan_line(ln);
	struct error *err = NULL;
	char key[160], text[24];
	uint64_t unit;

	if (!scan_lit(&c, "# Event count (approx.): ") || !*r->event || !scan_u64(&c, &r->event_count) ||
	    !open_source(ctx, r))
		return false;
	unit = r->samples >= 1000000 ? 1000000 : 1000;
	if (!r->exact && r->event_count >= r->samples && r->event_count - r->samples < unit) {
		r->samples = r->event_count;
		r->exact = true;
	}
	if (r->exact) {
		err = case_insert(ctx->db, NULL, "INSERT INTO event_count(source_id, event, count) VALUES(?,?,?)", "isi",
				  r->source_id, r->event, (int64_t)r->samples);
	} else {
		snprintf(key, sizeof(key), "perf.samples.%s", r->event);
		snprintf(text, sizeof(text), "%" PRIu64, r->samples);
		err = case_fact(ctx->db, r->source_id, ctx->side, key, text, ctx->snapshot,
				r->cite);
	}
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return true;
}

static bool take_lost(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	struct scan c = scan_line(ln);
	struct error *err;
	int64_t n;

	if (!scan_lit(&c, "# Total Lost Samples: ") || !scan_i64(&c, &n) || n < 0)
		return false;
	if (!n || !open_source(ctx, r))
		return true;
	err = case_loss(ctx->db, r->source_id, -1, CASE_NO_TIME, n, "samples lost, as perf report counted",
			ctx_cite(ctx, ln, CASE_NO_TIME));
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return true;
}

static enum line_result take_comment(struct parse_ctx *ctx, struct report *r, const struct line *ln)
{
	if (take_samples(ctx, r, ln) || take_count(ctx, r, ln) || take_lost(ctx, r, ln))
		return LINE_TAKEN;
	if (dots_line(ln->s, ln->len) && *r->titles) {
		set_columns(r, ln->s, ln->len);
		*r->titles = '\0';
		return LINE_SKIPPED;
	}
	if (title_line(ln->s, ln->len)) {
		snprintf(r->titles, sizeof(r->titles), "%.*s", (int)MIN(ln->len, sizeof(r->titles) - 1), ln->s);
		return LINE_SKIPPED;
	}
	if (!*r->event && perf_text_header_line(ctx, &r->head, ln))
		return LINE_TAKEN;
	return LINE_SKIPPED;
}

static enum line_result report_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct report *r = state;
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	scan_trim(&c);
	if (scan_at_end(&c))
		return LINE_SKIPPED;
	if (*ln->s == '#')
		return take_comment(ctx, r, ln);
	if (take_row(ctx, r, ln))
		return LINE_TAKEN;
	if (r->n_columns && (*ln->s == ' ' || *ln->s == '\t')) {
		if (r->in_row && c.p - ln->s >= 8)
			take_graph(ctx, r, ln);
		return LINE_SKIPPED;
	}
	return starts_with(c.p, scan_left(&c), "Error:") || starts_with(c.p, scan_left(&c), "Warning:") ||
	       scan_find(&c, "has no samples") ? LINE_SKIPPED : LINE_NOT_MINE;
}

static struct error *report_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct report *r = xcalloc(1, sizeof(*r));

	strtab_init(&r->stacks, MAX_STACKS);
	perf_text_header_init(&r->head);
	*state = r;
	return NULL;
}

static struct error *report_end(struct parse_ctx *ctx, void *state)
{
	struct report *r = state;

	end_row(ctx, r);
	if (r->head.n_lines)
		open_source(ctx, r);
	if (!r->rows)
		parse_remark(ctx, false, "a perf report without rows that have a symbol");
	perf_text_header_free(&r->head);
	strtab_deinit(&r->stacks);
	free(r->ids);
	free(r);
	return NULL;
}

static int report_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	bool samples = false, title = false;
	size_t len;

	while (scan_lines(&next, end, &p, &len)) {
		struct scan c = scan_mem(p, len);

		if (scan_find(&c, "# To display the perf.data header info"))
			return 90;
		samples |= scan_lit(&c, "# Samples: ") && scan_find(&c, "of event");
		title |= title_line(p, len);
		if (samples && title)
			return 90;
	}
	return 0;
}

static const struct parser perf_report = {
	.name		= "perf report",
	.kind		= PARSER_LINES,
	.priority	= 60,
	.sniff		= report_sniff,
	.begin		= report_begin,
	.line		= report_line,
	.end		= report_end,
};
REGISTER(parsers, &perf_report);
