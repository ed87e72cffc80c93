// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sysstat.c - text of sysstat's `sar -u`, `sar -P ALL`, `sar -q`, `mpstat`, `pidstat [-t]`, also
 * pasted. Rows begin with a time or with "Average:", also in other languages; the columns are those
 * of the heading.
 *
 *   sysstat.cpu.CPU.COLUMN	the average row; CPU is "all" or a number, COLUMN without "%"
 *   sysstat.cpu.CPU.COLUMN.max	the largest of the single rows (idle: .min the least)
 *   sysstat.queue.COLUMN, .max	sar -q: runq-sz, plist-sz, ldavg-1, ldavg-5, ldavg-15, blocked
 *   sysstat.task.ID.COLUMN, .max, .comm	pidstat: usr, system, guest, wait, CPU (of tasks as
 *				in top.c)
 *   kernel.release, host.name, cpu.count	of the first line
 */
#include "engine.h"
#include "fact_out.h"

#define MAX_COLUMNS	24
#define MAX_KEYS	20000

enum table { T_NONE, T_CPU, T_QUEUE, T_TASK };

struct extreme { double v; uint64_t no; char text[200]; bool least; };

struct stat_state {
	struct fact_out	out;
	enum table	table;
	unsigned int	n_columns;
	char		columns[MAX_COLUMNS][16];
	struct strtab	keys;		/* of extremes */
	struct extreme	*extremes;
	size_t		cap;
};

/* HH:MM:SS [AM|PM], or a word with a colon at its end: then *average */
static bool row_begin(struct scan *c, bool *average)
{
	struct scan w = scan_token(c), d = w, e;
	uint64_t v;

	*average = false;
	if (scan_left(&w) < 4)
		return false;
	if (is_digit(*w.p)) {
		if (!scan_u64(&d, &v) || !scan_char(&d, ':') || !scan_u64(&d, &v) ||
		    !scan_char(&d, ':') || !scan_u64(&d, &v) || !scan_at_end(&d))
			return false;
		e = *c;
		w = scan_token(&e);
		if (span_is(w.p, scan_left(&w), "AM") || span_is(w.p, scan_left(&w), "PM"))
			*c = e;
		return true;
	}
	if (w.end[-1] == ':') {
		*average = span_is(w.p, scan_left(&w), "Average:") || span_is(w.p, scan_left(&w), "Durchschnitt:") ||
			   span_is(w.p, scan_left(&w), "Durchschn.:") || span_is(w.p, scan_left(&w), "Moyenne:") ||
			   span_is(w.p, scan_left(&w), "Media:");
		return *average;
	}
	return span_is(w.p, scan_left(&w), "Moyenne") && scan_lit(c, " :") ? (*average = true) : false;
}

/* 12.34 or 12,34 */
static bool number(struct scan w, double *v)
{
	char buf[32];
	size_t n = scan_left(&w), i;
	char *end;

	if (!n || n >= sizeof(buf) || !is_digit(*w.p))
		return false;
	for (i = 0; i < n; i++) {
		buf[i] = w.p[i] == ',' ? '.' : w.p[i];
		if (!is_digit(buf[i]) && buf[i] != '.')
			return false;
	}
	buf[n] = '\0';
	*v = strtod(buf, &end);
	return !*end;
}

static bool heading(struct stat_state *st, struct scan c)
{
	enum table table = T_NONE;
	unsigned int n = 0;
	struct scan w;
	bool percent = false;

	for (w = scan_token(&c); scan_left(&w) && n < MAX_COLUMNS; w = scan_token(&c), n++) {
		if (is_digit(*w.p) || scan_left(&w) >= sizeof(st->columns[0]))
			return false;
		if (!n && span_is(w.p, scan_left(&w), "CPU"))
			table = T_CPU;
		else if (!n && span_is(w.p, scan_left(&w), "runq-sz"))
			table = T_QUEUE;
		else if (!n && span_is(w.p, scan_left(&w), "UID"))
			table = T_TASK;
		percent |= *w.p == '%';
		snprintf(st->columns[n], sizeof(st->columns[0]), "%.*s", (int)scan_left(&w), w.p);
	}
	if (table == T_NONE || n < 3 || (table != T_QUEUE && !percent) ||
	    (table == T_TASK && strcmp(st->columns[n - 1], "Command"))) {
		st->table = T_NONE;
		return false;
	}
	st->table = table;
	st->n_columns = n;
	return true;
}

static void note_extreme(struct stat_state *st, const struct line *ln, const char *key, double v,
			 bool least)
{
	size_t before = st->keys.n;
	uint32_t id = strtab_id(&st->keys, key, strlen(key));
	struct extreme *x;

	if (id == STRTAB_NONE)
		return;
	GROW(st->extremes, st->cap, st->keys.n);
	x = &st->extremes[id];
	if (st->keys.n == before && (least ? v >= x->v : v <= x->v))
		return;
	x->v = v;
	x->least = least;
	x->no = ln->no;
	snprintf(x->text, sizeof(x->text), "%.*s", (int)MIN(ln->len, sizeof(x->text) - 1), ln->s);
}

static void put_number(struct parse_ctx *ctx, struct stat_state *st, const struct line *ln,
		       const char *key, double v)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%.2f", v);
	fact_line(ctx, &st->out, ln, key, scan_mem(buf, strlen(buf)));
}

static void take_value(struct parse_ctx *ctx, struct stat_state *st, const struct line *ln,
		       const char *prefix, const char *column, struct scan w, bool average)
{
	char key[128];
	double v;

	if (!number(w, &v))
		return;
	snprintf(key, sizeof(key), "sysstat.%s%s", prefix, column + (*column == '%'));
	if (average)
		put_number(ctx, st, ln, key, v);
	else
		note_extreme(st, ln, key, v, !strcmp(column, "%idle"));
}

static bool task_row(struct parse_ctx *ctx, struct stat_state *st, const struct line *ln,
		     struct scan c, bool average)
{
	struct scan words[MAX_COLUMNS] = { { NULL, NULL } }, comm;
	char name[65], prefix[40], key[64];
	int64_t id = -1;
	double cpu = 0;
	unsigned int i;

	for (i = 0; i + 1 < st->n_columns; i++) {
		struct scan w = words[i] = scan_token(&c);

		if (!scan_left(&w))
			return false;
		if (!strcmp(st->columns[i], "PID") || !strcmp(st->columns[i], "TGID") || !strcmp(st->columns[i], "TID"))
			if (*w.p != '-' && (!scan_i64(&w, &id) || !scan_at_end(&w)))
				return false;
		if (!strcmp(st->columns[i], "%CPU") && !number(words[i], &cpu))
			return false;
	}
	scan_blanks(&c);
	scan_lit(&c, "|__");
	comm = c;
	scan_trim(&comm);
	if (id < 0 || !scan_left(&comm))
		return false;
	fact_name(name, comm.p, scan_left(&comm));
	if (cpu < 50 &&
	    (role_of_comm(name, false) == ROLE_OTHER || role_of_comm(name, false) == ROLE_RECORDER))
		return true;
	snprintf(prefix, sizeof(prefix), "task.%" PRId64 ".", id);
	for (i = 0; i + 1 < st->n_columns; i++)
		if (*st->columns[i] == '%' || strstr(st->columns[i], "cswch"))
			take_value(ctx, st, ln, prefix, st->columns[i], words[i], average);
	if (average) {
		snprintf(key, sizeof(key), "sysstat.task.%" PRId64 ".comm", id);
		fact_line(ctx, &st->out, ln, key, comm);
	}
	return true;
}

static bool plain_row(struct parse_ctx *ctx, struct stat_state *st, const struct line *ln,
		      struct scan c, bool average)
{
	struct scan words[MAX_COLUMNS] = { { NULL, NULL } };
	char prefix[40];
	unsigned int i;
	double v;

	for (i = 0; i < st->n_columns; i++) {
		words[i] = scan_token(&c);
		if (!number(words[i], &v) && !(i == 0 && span_is(words[i].p, scan_left(&words[i]), "all")))
			return false;
	}
	scan_blanks(&c);
	if (!scan_at_end(&c))
		return false;
	snprintf(prefix, sizeof(prefix), "%s", "queue.");
	if (st->table == T_CPU)
		snprintf(prefix, sizeof(prefix), "cpu.%.*s.", (int)MIN(scan_left(&words[0]), (size_t)16), words[0].p);
	for (i = st->table == T_CPU; i < st->n_columns; i++)
		take_value(ctx, st, ln, prefix, st->columns[i], words[i], average);
	return true;
}

/* Linux 6.1.0-50-amd64 (node1) 	01/04/2024 	_x86_64_	(8 CPU) */
static bool title(struct scan c, struct scan *release, struct scan *host, struct scan *cpus)
{
	if (!scan_lit(&c, "Linux "))
		return false;
	*release = scan_token(&c);
	if (!scan_left(release) || !is_digit(*release->p) || !scan_lit(&c, " (") || !scan_find(&c, ")"))
		return false;
	host->p = c.p;
	host->end = scan_find(&c, ")");
	scan_to(&c, ")");
	*cpus = c;
	return scan_to(cpus, "_(") || (scan_to(cpus, "_") && scan_to(cpus, "("));
}

static enum line_result stat_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct stat_state *st = state;
	struct scan c = scan_line(ln), release, host, cpus;
	bool average;
	uint64_t n;

	scan_trim(&c);
	if (title(c, &release, &host, &cpus)) {
		fact_line(ctx, &st->out, ln, "kernel.release", release);
		fact_line(ctx, &st->out, ln, "host.name", host);
		if (scan_u64(&cpus, &n) && n < 100000)
			fact_i64(ctx, &st->out, ln, "cpu.count", (int64_t)n);
		return LINE_TAKEN;
	}
	if (!row_begin(&c, &average))
		return ln->len || ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (heading(st, c))
		return LINE_TAKEN;
	if (st->table == T_TASK && task_row(ctx, st, ln, c, average))
		return LINE_TAKEN;
	if ((st->table == T_CPU || st->table == T_QUEUE) && plain_row(ctx, st, ln, c, average))
		return LINE_TAKEN;
	return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
}

static int stat_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	struct scan release, host, cpus;
	size_t len;

	while (scan_lines(&next, end, &p, &len)) {
		if (len)
			return title(scan_mem(p, len), &release, &host, &cpus) ? 85 : 0;
	}
	return 0;
}

static struct error *stat_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct stat_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "sysstat";
	strtab_init(&st->keys, MAX_KEYS);
	*state = st;
	return NULL;
}

static struct error *stat_end(struct parse_ctx *ctx, void *state)
{
	struct stat_state *st = state;
	uint32_t i;

	for (i = 0; i < st->keys.n; i++) {
		const struct extreme *x = &st->extremes[i];
		_cleanup_free_ char *key = xasprintf("%s.%s", strtab_str(&st->keys, i), x->least ? "min" : "max");
		struct line ln = { .s = x->text, .len = strlen(x->text), .no = x->no };

		put_number(ctx, st, &ln, key, x->v);
	}
	strtab_deinit(&st->keys);
	free(st->extremes);
	free(st);
	return NULL;
}

static const struct parser sysstat = {
	.name		= "sysstat",
	.kind		= PARSER_LINES,
	.priority	= 89,
	.embed		= true,
	.sniff		= stat_sniff,
	.begin		= stat_begin,
	.line		= stat_line,
	.end		= stat_end,
};
REGISTER(parsers, &sysstat);
