// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvm_stat_log.c - `kvm_stat -l` and its CSV form (-c, also appended to a file with -L): what each
 * counter grew by between two rows.
 *
 *   kvm_exit kvm_exit(HLT) kvm_entry
 *   2026-12-01 10:20:30       123         4       123
 *
 *   timestamp,kvm_exit,kvm_exit(HLT),kvm_entry
 *   2026-12-01 10:20:30,123,4,123
 *
 * (tools/kvm/kvm_stat/kvm_stat: StdFormat, CSVFormat, log(). The columns' names are printed again
 * every 20 rows; before Linux 5.7 rows had no date; with -z rows of zeros are left out.) Times are
 * of the host's local clock. The distance of two rows is the least there is (option -s).
 *
 *   kvmstat.NAME.delta	growth over the whole log; snapshot: its first and last row
 *   kvmstat.NAME.per_s, kvmstat.NAME.per_s.max	mean, and of the row with most
 */
#include <time.h>

#include "fact_out.h"

#define MAX_COLUMNS	4096

struct column { int64_t sum, max, first_cite, max_cite; };

struct stat_log {
	struct fact_out	out;
	bool		csv;
	struct strtab	names;
	struct column	columns[MAX_COLUMNS];	/* by the name's id */
	uint32_t	order[MAX_COLUMNS];	/* of the rows */
	size_t		n_order;
	int64_t		values[MAX_COLUMNS];	/* of the row at work */
	int64_t		rows, first_ns, last_ns, step_ns, first_cite, last_cite;
};

static bool is_name(const char *s, size_t len)
{
	size_t i;

	if (!len || len > 64 || !is_alpha(*s))
		return false;
	for (i = 0; i < len; i++)
		if (!is_word(s[i]) && !memchr("()-.:/+", s[i], 7))
			return false;
	return true;
}

/* The next name of a heading. */
static bool next_name(struct scan *c, bool csv, const char **s, size_t *len)
{
	if (!csv)
		scan_blanks(c);
	*s = c->p;
	while (c->p < c->end && (csv ? *c->p != ',' : !is_blank(*c->p)))
		c->p++;
	*len = (size_t)(c->p - *s);
	scan_char(c, csv ? ',' : ' ');
	return is_name(*s, *len);
}

/* Names of KVM's counters: how many a heading has, of which @known that kvm_stat surely has. */
static size_t heading(struct scan c, bool *csv, unsigned int *known)
{
	static const char *const sure[] = { "kvm_exit", "kvm_entry", "exits", "halt_exits", "mmu_cache_miss", "halt_wakeup",
					    "kvm_mmio", "pf_fixed", "exit_userspace", "kvm_s390_handle_diag", "remote_tlb_flush" };
	size_t len, n = 0, i;
	const char *s;

	*known = 0;
	scan_trim(&c);
	*csv = scan_lit(&c, "timestamp,");
	while (!scan_at_end(&c)) {
		if (!next_name(&c, *csv, &s, &len))
			return 0;
		n++;
		for (i = 0; i < ARRAY_SIZE(sure); i++)
			*known += span_is(s, len, sure[i]);
	}
	return n;
}

static void take_heading(struct parse_ctx *ctx, struct stat_log *st, struct scan c)
{
	size_t len;
	const char *s;

	scan_trim(&c);
	if (st->csv)
		scan_to(&c, ",");
	st->n_order = 0;
	while (!scan_at_end(&c) && next_name(&c, st->csv, &s, &len)) {
		uint32_t id = strtab_id(&st->names, s, len);

		if (id == STRTAB_NONE || st->n_order >= MAX_COLUMNS) {
			parse_remark(ctx, true, "more than %d columns: the rest is left out", MAX_COLUMNS);
			break;
		}
		st->order[st->n_order++] = id;
	}
}

/* 2026-12-01 10:20:30 as ns of a clock whose zone is not known. */
static bool stamp(struct scan *c, int64_t *ns)
{
	uint64_t v[6];
	struct scan f = *c;
	struct tm tm = { .tm_mon = 0 };
	size_t i;

	for (i = 0; i < 6; i++)
		if (!scan_u64(&f, &v[i]) || v[i] > 9999 || (i < 5 && !scan_char(&f, "-- ::"[i])))
			return false;
	if (v[0] < 2000 || v[0] >= 2200 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31)
		return false;
	if (v[3] > 23 || v[4] > 59 || v[5] > 60)
		return false;
	tm.tm_year = (int)v[0] - 1900;
	tm.tm_mon = (int)v[1] - 1;
	tm.tm_mday = (int)v[2];
	tm.tm_hour = (int)v[3];
	tm.tm_min = (int)v[4];
	tm.tm_sec = (int)v[5];
	*c = f;
	*ns = (int64_t)timegm(&tm) * (int64_t)NSEC_PER_SEC;
	return true;
}

/* A row's numbers; false where they are not as many as the columns. */
static bool read_row(struct scan c, size_t n, bool *csv, int64_t *ns, int64_t *values)
{
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	*ns = CASE_NO_TIME;
	if (stamp(&c, ns) && scan_at_end(&c))
		return false;
	*csv = !scan_at_end(&c) && *c.p == ',';
	for (i = 0; i < n; i++) {
		if (*csv ? !scan_char(&c, ',') : !scan_blanks(&c) && (i || *ns != CASE_NO_TIME))
			return false;
		if (!scan_i64(&c, &values[i]))
			return false;
	}
	return scan_at_end(&c);
}

static void note_time(struct stat_log *st, int64_t ns)
{
	if (ns == CASE_NO_TIME)
		return;
	if (st->last_ns == CASE_NO_TIME) {
		st->first_ns = ns;
	} else {
		int64_t step = ns - st->last_ns;

		if (step > 0 && (!st->step_ns || step < st->step_ns))
			st->step_ns = step;
	}
	st->last_ns = ns;
}

static bool take_row(struct parse_ctx *ctx, struct stat_log *st, const struct line *ln)
{
	int64_t *values = st->values, ns, cite;
	size_t i;

	if (!st->n_order || !read_row(scan_line(ln), st->n_order, &st->csv, &ns, values))
		return false;
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	if (!st->rows++)
		st->first_cite = cite;
	st->last_cite = cite;
	note_time(st, ns);
	for (i = 0; i < st->n_order; i++) {
		struct column *col = &st->columns[st->order[i]];

		if (values[i] <= 0)
			continue;
		if (!col->sum)
			col->first_cite = cite;
		if (__builtin_add_overflow(col->sum, values[i], &col->sum))
			col->sum = INT64_MAX;
		if (values[i] > col->max) {
			col->max = values[i];
			col->max_cite = cite;
		}
	}
	return true;
}

static enum line_result log_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct stat_log *st = state;
	unsigned int known;
	bool csv;

	if (take_row(ctx, st, ln))
		return LINE_TAKEN;
	if (heading(scan_line(ln), &csv, &known) >= 2 && (known || (csv && !ctx->embedded))) {
		st->csv = csv;
		take_heading(ctx, st, scan_line(ln));
		return LINE_TAKEN;
	}
	if (!ln->len && !ctx->embedded)
		return LINE_SKIPPED;
	if (ctx->embedded)
		st->n_order = 0;	/* the table is over */
	return LINE_NOT_MINE;
}

static struct error *log_begin(struct parse_ctx *ctx, void **state)
{
	struct stat_log *st = xcalloc(1, sizeof(*st));

	st->out.format = "kvm_stat";
	st->out.side = fact_host_side(ctx);
	st->first_ns = st->last_ns = CASE_NO_TIME;
	strtab_init(&st->names, MAX_COLUMNS);
	*state = st;
	return NULL;
}

static struct error *put(struct parse_ctx *ctx, struct stat_log *st, const char *name,
			 const char *what, double v, const char *span, int64_t cite)
{
	_cleanup_free_ char *key = xasprintf("kvmstat.%s.%s", name, what);
	char text[40], cites[64];

	snprintf(text, sizeof(text), "%.*f", v < 100 && v != (double)(int64_t)v ? 1 : 0, v);
	snprintf(cites, sizeof(cites), "[%" PRId64 ",%" PRId64 "]", st->first_cite, st->last_cite);
	return case_insert(ctx->db, NULL, "INSERT INTO fact(source_id, side, key, value, num, snapshot, cite_id, cites) VALUES(?,?,?,?,?,?,?,?)",
			   "isssdsIs", st->out.source_id, st->out.side, key, text, v, span, cite > 0 ? &cite : NULL, cites);
}

/* Counters that grew, and those that are known to have stood still. */
static struct error *store(struct parse_ctx *ctx, struct stat_log *st)
{
	int64_t step = st->step_ns ? st->step_ns : (int64_t)NSEC_PER_SEC;
	double step_s = (double)step / NSEC_PER_SEC, all_s = (double)st->rows * step_s;
	char span[64] = "log", stamps[2][24];
	uint32_t i;

	if (st->first_ns != CASE_NO_TIME) {
		int64_t ns[2] = { st->first_ns, st->last_ns };

		for (i = 0; i < 2; i++) {
			time_t t = (time_t)(ns[i] / (int64_t)NSEC_PER_SEC);
			struct tm tm;

			strftime(stamps[i], sizeof(stamps[i]), i ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
		}
		snprintf(span, sizeof(span), "%s..%s", stamps[0], stamps[1]);
		if (st->last_ns > st->first_ns)	/* rows of zeros may be left out */
			all_s = step_s + (double)(st->last_ns - st->first_ns) / NSEC_PER_SEC;
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = 'wall-local', first_ns = ?, last_ns = ? WHERE id = ?", "iii",
				st->first_ns, MAX(st->first_ns, st->last_ns), st->out.source_id));
	}
	for (i = 0; i < st->names.n; i++) {
		const struct column *col = &st->columns[i];
		char name[65];

		fact_name(name, st->names.strings[i], st->names.lens[i]);
		TRY(put(ctx, st, name, "delta", (double)col->sum, span, col->sum ? col->first_cite : st->first_cite));
		if (!col->sum)
			continue;
		TRY(put(ctx, st, name, "per_s", (double)col->sum / all_s, span, col->first_cite));
		TRY(put(ctx, st, name, "per_s.max", (double)col->max / step_s, span, col->max_cite));
	}
	return NULL;
}

static struct error *log_end(struct parse_ctx *ctx, void *state)
{
	struct stat_log *st = state;
	struct error *err = NULL;

	if (st->rows && fact_source(ctx, &st->out))
		err = store(ctx, st);
	else if (!st->rows && !ctx->embedded)
		parse_remark(ctx, false, "kvm_stat: column names without rows");
	strtab_deinit(&st->names);
	free(st);
	return err;
}

/* A heading, and a row that has as many numbers; or a heading alone with the CSV form's word. */
static int log_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	int64_t values[MAX_COLUMNS], ns;
	struct line ln = { .s = "" };
	unsigned int known;
	bool csv, row_csv;
	size_t n;

	while (scan_lines(&next, end, &ln.s, &ln.len))
		if (ln.len)
			break;
	n = heading(scan_line(&ln), &csv, &known);
	if (n < 2 || n > MAX_COLUMNS || (!known && !csv))
		return 0;
	if (!scan_lines(&next, end, &ln.s, &ln.len))
		return csv && known ? 80 : 0;
	return read_row(scan_line(&ln), n, &row_csv, &ns, values) && row_csv == csv &&
	       (ns != CASE_NO_TIME || known) ? 85 : 0;
}

static const struct parser kvm_stat_log = {
	.name		= "kvm_stat log",
	.kind		= PARSER_LINES,
	.priority	= 93,
	.embed		= true,
	.sniff		= log_sniff,
	.begin		= log_begin,
	.line		= log_line,
	.end		= log_end,
};
REGISTER(parsers, &kvm_stat_log);
