// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top.c - `top -b`, `top -bH` (procps), also pasted. Decimal points may be commas.
 *
 *   top.load1, .load5, .load15
 *   top.cpu.us, .sy, .ni, .id, .wa, .hi, .si, .st	percent of all CPUs
 *   top.task.ID.cpu_percent, .comm, .state
 *		vCPU threads, VMMs, vhost, KVM's and the host's kernel threads, and whatever takes
 *		half a CPU or more
 *
 * Rounds are snapshots "1", "2" ... where there is more than one. The first round's CPU figures are
 * means since the boot or the task's start: man top(1).
 */
#include "engine.h"
#include "fact_out.h"

#define MAX_COLUMNS	40

struct top_state {
	struct fact_out	out;
	int		pid, cpu, state, command;	/* columns; command -1: no heading seen */
	unsigned int	rounds;
	char		label[16];
};

static bool is_summary(const struct line *ln)
{
	struct scan c = scan_line(ln);

	return scan_lit(&c, "top - ") && !scan_at_end(&c) && is_digit(*c.p) && scan_find(&c, "load average: ");
}

/* 12.3 or 12,3, in tenths */
static bool scan_tenths(struct scan *c, int64_t *v)
{
	uint64_t whole, frac;

	if (!scan_u64(c, &whole) || whole > 10000000)
		return false;
	*v = (int64_t)whole * 10;
	if (scan_left(c) >= 2 && (*c->p == '.' || *c->p == ',') && is_digit(c->p[1])) {
		c->p++;
		*v += *c->p - '0';
		if (!scan_u64(c, &frac))
			return false;
	}
	return true;
}

static void put_tenths(struct parse_ctx *ctx, struct top_state *st, const struct line *ln,
		       const char *key, int64_t v)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%" PRId64 ".%d", v / 10, (int)(v % 10));
	fact_line(ctx, &st->out, ln, key, scan_mem(buf, strlen(buf)));
}

/* load average: 3.12, 2.80, 2.70   or   3,12, 2,80, 2,70 */
static void take_load(struct parse_ctx *ctx, struct top_state *st, const struct line *ln)
{
	static const char *const keys[] = { "top.load1", "top.load5", "top.load15" };
	struct scan c = scan_line(ln);
	size_t i;

	scan_to(&c, "load average: ");
	for (i = 0; i < 3; i++) {
		char buf[16];
		size_t n = 0;

		while (n < sizeof(buf) - 1 && c.p < c.end &&
		       (is_digit(*c.p) ||
			((*c.p == '.' || *c.p == ',') && c.p + 1 < c.end && is_digit(c.p[1])))) {
			buf[n++] = *c.p == ',' ? '.' : *c.p;
			c.p++;
		}
		if (n)
			fact_line(ctx, &st->out, ln, keys[i], scan_mem(buf, n));
		if (!scan_lit(&c, ", "))
			break;
	}
}

/* %Cpu(s):  5.3 us,  2.1 sy, ...   or of old   Cpu(s):  5.3%us,  2.1%sy */
static bool take_cpu(struct parse_ctx *ctx, struct top_state *st, const struct line *ln)
{
	static const char names[][3] = { "us", "sy", "ni", "id", "wa", "hi", "si", "st" };
	struct scan c = scan_line(ln);
	char key[24];
	int64_t v;
	size_t i;

	if (!scan_lit(&c, "%Cpu(s):") && !scan_lit(&c, "Cpu(s):"))
		return false;
	for (;;) {
		scan_blanks(&c);
		if (!scan_tenths(&c, &v))
			break;
		scan_char(&c, '%');
		scan_blanks(&c);
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (scan_lit(&c, names[i]))
				break;
		if (i == ARRAY_SIZE(names))
			break;
		snprintf(key, sizeof(key), "top.cpu.%s", names[i]);
		put_tenths(ctx, st, ln, key, v);
		if (!scan_char(&c, ','))
			break;
	}
	return true;
}

/* PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND */
static bool take_heading(struct top_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln), w;
	int i, pid = -1, cpu = -1, state = -1, command = -1;

	for (i = 0, w = scan_token(&c); scan_left(&w) && i < MAX_COLUMNS; w = scan_token(&c), i++) {
		if (span_is(w.p, scan_left(&w), "PID"))
			pid = i;
		else if (span_is(w.p, scan_left(&w), "%CPU"))
			cpu = i;
		else if (span_is(w.p, scan_left(&w), "S"))
			state = i;
		else if (span_is(w.p, scan_left(&w), "COMMAND"))
			command = i;
	}
	if (pid < 0 || cpu < 0 || state < 0 || command != i - 1)
		return false;
	st->pid = pid;
	st->cpu = cpu;
	st->state = state;
	st->command = command;
	return true;
}

static bool take_task(struct parse_ctx *ctx, struct top_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln), w, state = { NULL, NULL }, comm;
	int64_t pid = -1, tenths = -1;
	char name[65], key[64];
	enum task_role role;
	int i;

	scan_trim(&c);
	for (i = 0; i < st->command; i++) {
		w = scan_token(&c);
		if (!scan_left(&w))
			return false;
		if (i == st->state)
			state = w;
		if ((i == st->pid && (!scan_i64(&w, &pid) || pid <= 0)) ||
		    (i == st->cpu && !scan_tenths(&w, &tenths)))
			return false;
	}
	scan_blanks(&c);
	comm = c;
	if (!scan_left(&comm) || pid <= 0 || tenths < 0)
		return false;
	fact_name(name, comm.p, scan_left(&comm));
	role = role_of_comm(name, false);
	if (tenths < 500 && (role == ROLE_OTHER || role == ROLE_RECORDER ||
			     (!tenths && role != ROLE_VCPU && role != ROLE_VMM)))
		return true;
	snprintf(key, sizeof(key), "top.task.%" PRId64 ".cpu_percent", pid);
	put_tenths(ctx, st, ln, key, tenths);
	snprintf(key, sizeof(key), "top.task.%" PRId64 ".comm", pid);
	fact_line(ctx, &st->out, ln, key, comm);
	snprintf(key, sizeof(key), "top.task.%" PRId64 ".state", pid);
	fact_line(ctx, &st->out, ln, key, state);
	return true;
}

static enum line_result top_line_of(struct parse_ctx *ctx, struct top_state *st,
				    const struct line *ln)
{
	struct scan c = scan_line(ln);

	if (is_summary(ln)) {
		st->command = -1;
		st->rounds++;
		take_load(ctx, st, ln);
		return LINE_TAKEN;
	}
	if (!st->rounds)
		return LINE_NOT_MINE;
	if (!ln->len)
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (take_cpu(ctx, st, ln) || take_heading(st, ln))
		return LINE_TAKEN;
	if (st->command >= 0 &&
	    take_task(ctx, st, ln)) /* with -c, command lines are there to be read, too */
		return scan_find(&c, " -name ") ? LINE_NOT_MINE : LINE_TAKEN;
	if (scan_lit(&c, "Tasks: ") || scan_lit(&c, "Threads: ") || scan_lit(&c, "MiB ") || scan_lit(&c, "KiB ") || scan_lit(&c, "GiB ") ||
	    scan_lit(&c, "Mem: ") || scan_lit(&c, "Swap: "))
		return LINE_SKIPPED;
	if (ctx->embedded)
		st->command = -1;
	return LINE_NOT_MINE;
}

static enum line_result top_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct top_state *st = state;
	const char *before = ctx->snapshot;
	enum line_result r;

	if (!before && st->rounds + is_summary(ln) > 0) {
		snprintf(st->label, sizeof(st->label), "%u", st->rounds + is_summary(ln));
		ctx->snapshot = st->label;
	}
	r = top_line_of(ctx, st, ln);
	ctx->snapshot = before;
	return r;
}

static int top_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };

	while (ln.no++ < 5 && scan_lines(&next, end, &ln.s, &ln.len))
		if (is_summary(&ln))
			return 85;
	return 0;
}

static struct error *top_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct top_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "top";
	st->command = -1;
	*state = st;
	return NULL;
}

static struct error *top_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser top = {
	.name		= "top",
	.kind		= PARSER_LINES,
	.priority	= 88,
	.embed		= true,
	.sniff		= top_sniff,
	.begin		= top_begin,
	.line		= top_line,
	.end		= top_end,
};
REGISTER(parsers, &top);
