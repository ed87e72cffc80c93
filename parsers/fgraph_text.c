// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fgraph_text.c - the function_graph tracer's text, with any choice of its columns:
 *
 *   [TIME |] [CPU)] [COMM-PID |] [FLAGS |] [MARK DURATION |]  FUNCTION
 *
 * FUNCTION is "f() {", "f();", "}", each indented by two blanks a level, "} / * f * /" where the
 * entry is not above, an event as a comment, or an interrupt's arrow. COMM is cut to 7 bytes by the
 * kernel. Where tasks are not printed, the separators "prev => next" tell which task a CPU runs.
 * Durations include sleeping (option sleep-time) and a task may change CPU inside a function, so
 * open functions are kept per task where it is known, else per CPU. Without a TIME column the clock
 * is "none" and all times are 0: only durations mean something. (kernel:
 * kernel/trace/trace_functions_graph.c)
 */
#include "fgraph_call.h"
#include "text_record.h"
#include "trace_line.h"

#define DEPTH_MAX	64	/* the kernel's FTRACE_RETFUNC_DEPTH is 50 */
#define STACKS		1024	/* open functions of so many tasks and CPUs */
#define CPU_KEY(cpu)	(INT32_MIN + (int32_t)(cpu))
#define CPUS_KEPT	1024
#define COMM_CUT	7	/* TRACE_GRAPH_PROCINFO_LENGTH leaves so much of a comm */

/* Functions that are open in one task (key tid) or on one CPU (key CPU_KEY). */
struct open_calls {
	int32_t		key;
	uint32_t generation; /* of struct fgraph when it was made; else it is free */
	uint32_t	func[DEPTH_MAX];	/* string ids; EVENT_U32_NONE unknown */
};

struct fgraph {
	struct text_record	rec;
	struct text_event	*entry, *exit;
	struct open_calls	*stacks;	/* direct-mapped by key */
	uint32_t		generation;	/* stacks of others are void */
	int32_t			cpu_tid[CPUS_KEPT];	/* by separators; -1 unknown */
	bool			header;		/* "# tracer: function_graph" was seen */
	char			last_func[128];	/* its string id is last_id */
	size_t			last_len;
	uint32_t		last_id;
};

struct fgraph_line {
	const char	*comm;		/* NULL: no such column */
	size_t		comm_len;
	const char	*func;		/* behind the last column's bar, with indentation */
	size_t		func_len;
	uint64_t	time, duration;
	int32_t		tid;
	uint16_t	cpu;
	uint8_t		flags;
	bool		has_time, absolute, has_duration, irq;
};

/* "235.850845 |" or "123 us |" at *p: absolute or relative time. */
static bool read_time_column(const char **p, const char *end, struct fgraph_line *l)
{
	const char *s = *p, *q;
	int64_t whole, frac = 0;
	size_t digits = 0;

	if (!read_dec(&s, end, &whole) || whole < 0 || s == end)
		return false;
	if (*s == '.') {
		q = ++s;
		if (!read_dec(&s, end, &frac) || frac < 0)
			return false;
		digits = (size_t)(s - q);
		if (whole > 10000000000LL || (digits != 6 && digits != 9))
			return false;
		l->absolute = true;
		l->time = (uint64_t)whole * NSEC_PER_SEC +
			  (uint64_t)frac * (digits == 6 ? 1000 : 1);
	} else if (starts_with(s, (size_t)(end - s), " us")) {
		s += 3;
		if (whole > INT64_MAX / 1000)
			return false;
		l->time = (uint64_t)whole * NSEC_PER_USEC;
	} else {
		return false;
	}
	skip_blanks(&s, end);
	if (s == end || *s != '|')
		return false;
	*p = s + 1;
	l->has_time = true;
	return true;
}

/* "createv-808", "CPU 0/K-186" without blanks around. */
static bool read_task(const char *s, const char *end, struct fgraph_line *l)
{
	const char *p = end;
	int64_t tid;

	while (p > s && is_digit(p[-1]))
		p--;
	if (p == end || end - p > 10 || p < s + 2 || p[-1] != '-')
		return false;
	l->comm = s;
	l->comm_len = (size_t)(p - 1 - s);
	if (!read_dec(&p, end, &tid) || tid > INT32_MAX || l->comm_len > 16)
		return false;
	l->tid = (int32_t)tid;
	return true;
}

/* Columns up to the function. False when this is no such line. */
static bool split(const char *s, size_t len, struct fgraph_line *l)
{
	const char *p = s, *end = s + len, *bar, *to, *q;
	int64_t cpu;

	memset(l, 0, sizeof(*l));
	l->tid = -1;
	l->cpu = EVENT_CPU_NONE;
	skip_blanks(&p, end);
	read_time_column(&p, end, l);
	skip_blanks(&p, end);
	q = p;
	if (read_dec(&q, end, &cpu) && cpu >= 0 && cpu < EVENT_CPU_NONE && q < end && *q == ')') {
		l->cpu = (uint16_t)cpu;
		p = q + 1;
	} else if (!l->has_time) {
		return false;
	}
	for (;;) {
		bar = memchr(p, '|', (size_t)(end - p));
		if (!bar || bar - p > 60)
			return false;
		skip_blanks(&p, bar);
		for (to = bar; to > p && to[-1] == ' '; to--)
			;
		if (to == p) {
			break;			/* no duration here */
		} else if (fgraph_duration(p, (size_t)(to - p), &l->duration)) {
			l->has_duration = true;
			break;
		} else if (*p == '=' || *p == '<') {
			l->irq = starts_with(p, (size_t)(to - p), "==========>") ||
				 starts_with(p, (size_t)(to - p), "<==========");
			if (!l->irq)
				return false;
			break;
		} else if (!l->comm && read_task(p, to, l)) {
			p = bar + 1;
		} else if (!l->flags && (l->flags = trace_flags(p, (size_t)(to - p)))) {
			p = bar + 1;
		} else {
			return false;
		}
	}
	l->func = bar + 1;
	l->func_len = (size_t)(end - l->func);
	return true;
}

static struct open_calls *calls_of(struct fgraph *f, int32_t key, bool make)
{
	struct open_calls *c = &f->stacks[(uint32_t)key % STACKS];

	if (c->key == key && c->generation == f->generation)
		return c;
	if (!make)
		return NULL;
	c->key = key;
	c->generation = f->generation;
	memset(c->func, 0xff, sizeof(c->func));
	return c;
}

static uint32_t func_id(struct fgraph *f, const char *s, size_t len)
{
	if (len == f->last_len && !memcmp(s, f->last_func, len))
		return f->last_id;
	f->last_id = strtab_id(&f->rec.s->strings, s, len);
	f->last_len = len < sizeof(f->last_func) ? len : SIZE_MAX;
	if (len < sizeof(f->last_func))
		memcpy(f->last_func, s, len);
	return f->last_id;
}

static bool fgraph_open(struct fgraph *f, const struct fgraph_line *l)
{
	if (likely(f->rec.s))
		return !f->rec.err;
	f->rec.desc.clock = !l->has_time ? "none" : l->absolute ? "local" : "unknown";
	if (!text_record_open(&f->rec))
		return false;
	f->entry = text_event_special(f->rec.te, "funcgraph_entry", EV_FUNC_ENTER);
	f->exit = text_event_special(f->rec.te, "funcgraph_exit", EV_FUNC_EXIT);
	return true;
}

/*
 * The task's name, cut to 7 bytes: only where nothing longer with that beginning is known. "<idle>" and "<...>" are no names.
 */
static void tell_task(struct fgraph *f, const struct line *ln, uint64_t time, int32_t tid,
		      const char *comm, size_t len)
{
	const struct text_task *t;

	if (tid <= 0 || !len || *comm == '<')
		return;
	t = &f->rec.tasks[(uint32_t)tid % TEXT_TASK_SLOTS];
	if (len == COMM_CUT && t->tid == tid && !memcmp(t->comm, comm, COMM_CUT))
		return;
	text_record_task(&f->rec, ln, time, tid, -1, comm, len);
}

static void push_call(struct fgraph *f, const struct line *ln, const struct fgraph_line *l,
		      int32_t tid, enum event_kind kind, uint32_t func, size_t depth)
{
	struct event *ev = text_record_event(&f->rec, ln, l->time, l->cpu, tid, l->flags);

	text_event_decode(f->rec.te, kind == EV_FUNC_EXIT ? f->exit : f->entry, "", 0, ev);
	ev->kind = (uint8_t)kind;
	ev->a[0] = l->duration;
	ev->b[0] = func;
	ev->b[1] = (uint32_t)depth;
	stream_push(f->rec.s);
}

/* An event that was enabled besides stands as a comment: "sched_switch: prev_comm=...". */
static enum line_result take_comment(struct fgraph *f, const struct line *ln,
				     const struct fgraph_line *l, int32_t tid,
				     const struct fgraph_call *call)
{
	struct trace_line t = { .rest = call->comment, .rest_len = call->comment_len };
	const char *fields;
	size_t n = trace_line_name(&t, &fields), len;
	struct text_event *d;
	struct event *ev;

	if (!n)
		return LINE_SKIPPED;	/* trace_printk() */
	len = (size_t)(t.rest + t.rest_len - fields);
	d = text_event(f->rec.te, NULL, 0, t.rest, n, fields, len);
	ev = text_record_event(&f->rec, ln, l->time, l->cpu, tid, l->flags);
	if (!text_event_decode(f->rec.te, d, fields, len, ev))
		text_record_bad_field(&f->rec, ln, ev->ev);
	if (!l->has_time)	/* counted; without a time it tells neither order nor waits */
		ev->kind = EV_OTHER;
	stream_push(f->rec.s);
	return LINE_TAKEN;
}

static enum line_result take_call(struct fgraph *f, const struct line *ln,
				  const struct fgraph_line *l)
{
	uint32_t func = EVENT_U32_NONE;
	struct fgraph_call call;
	int32_t tid = l->tid;
	struct open_calls *c;

	if (l->irq)
		return LINE_SKIPPED;
	if (!fgraph_call(l->func, l->func_len, &call))
		return LINE_NOT_MINE;
	if (!fgraph_open(f, l))
		return LINE_TAKEN;
	if (tid < 0 && !l->comm && l->cpu < CPUS_KEPT)
		tid = f->cpu_tid[l->cpu];
	if (l->comm)
		tell_task(f, ln, l->time, tid, l->comm, l->comm_len);
	if (call.comment)
		return take_comment(f, ln, l, tid, &call);
	if (call.func)
		func = func_id(f, call.func, call.func_len);
	if (tid > 0)
		c = calls_of(f, tid, true);
	else
		c = l->cpu != EVENT_CPU_NONE ? calls_of(f, CPU_KEY(l->cpu), true) : NULL;
	if (c && call.depth < DEPTH_MAX && call.kind != EV_FUNC_LEAF) {
		if (func == EVENT_U32_NONE)
			func = c->func[call.depth];
		c->func[call.depth] = call.kind == EV_FUNC_ENTER ? func : EVENT_U32_NONE;
	}
	push_call(f, ln, l, tid, (enum event_kind)call.kind, func, call.depth);
	return LINE_TAKEN;
}

/* Trim @s..@end and read "comm-pid". */
static bool separator_task(const char *s, const char *end, struct fgraph_line *l)
{
	skip_blanks(&s, end);
	while (end > s && end[-1] == ' ')
		end--;
	return read_task(s, end, l);
}

/* " 1)   l1init-143   =>   rcu_pre-15": the CPU goes over to another task. */
static bool take_separator(struct fgraph *f, const char *s, size_t len)
{
	const char *p = s, *end = s + len, *arrow = memmem(s, len, " => ", 4);
	struct fgraph_line prev = { .tid = -1 }, next = { .tid = -1 };
	int64_t cpu;

	if (!arrow)
		return false;
	skip_blanks(&p, end);
	if (!read_dec(&p, end, &cpu) || cpu < 0 || cpu >= EVENT_CPU_NONE || p == end || *p != ')' ||
	    p > arrow || !separator_task(p + 1, arrow, &prev) ||
	    !separator_task(arrow + 4, end, &next))
		return false;
	if (cpu >= CPUS_KEPT)
		return true;
	if (f->cpu_tid[cpu] < 0 && prev.tid > 0) {
		/* what was open on the CPU was that task's */
		const struct open_calls *on_cpu = calls_of(f, CPU_KEY(cpu), false);
		struct open_calls *c;
		uint32_t open[DEPTH_MAX];

		if (on_cpu) {
			memcpy(open, on_cpu->func, sizeof(open));
			c = calls_of(f, prev.tid, true);
			memcpy(c->func, open, sizeof(open));
		}
	}
	f->cpu_tid[cpu] = next.tid;
	return true;
}

static bool take_separator_line(struct fgraph *f, const struct line *ln)
{
	const char *arrow, *p, *end;
	struct fgraph_line next;

	if (!take_separator(f, ln->s, ln->len))
		return false;
	if (f->rec.s && !f->rec.err) {
		end = ln->s + ln->len;
		arrow = memmem(ln->s, ln->len, " => ", 4);
		p = arrow + 4;
		if (separator_task(p, end, &next))
			tell_task(f, ln, f->rec.last_time, next.tid, next.comm, next.comm_len);
	}
	return true;
}

static void reset(struct fgraph *f)
{
	size_t i;

	f->generation++;
	for (i = 0; i < CPUS_KEPT; i++)
		f->cpu_tid[i] = -1;
	f->last_len = SIZE_MAX;
}

static void fgraph_fields(void *priv, const struct event *ev,
			  void (*emit)(void *arg, const char *name, const struct field_value *v),
			  void *arg)
{
	struct fgraph_line l;
	struct fgraph_call call;
	size_t len;
	const char *s = text_record_text(priv, ev->pos, &len);
	struct field_value v = { .type = FIELD_STR };

	if (!s || !split(s, len, &l) || !fgraph_call(l.func, l.func_len, &call))
		return;
	if (call.comment) {
		struct trace_line t = { .rest = call.comment, .rest_len = call.comment_len };
		const char *fields;
		size_t n = trace_line_name(&t, &fields);

		if (n)
			text_event_fields(t.rest, n, fields, (size_t)(t.rest + t.rest_len - fields),
					  emit, arg);
		return;
	}
	if (call.func) {
		v.s = call.func;
		v.len = call.func_len;
		emit(arg, "func", &v);
	}
	v.type = FIELD_UINT;
	v.i = (int64_t)(v.u = call.depth);
	emit(arg, "depth", &v);
	if (l.has_duration) {
		v.i = (int64_t)(v.u = l.duration);
		emit(arg, "duration_ns", &v);
	}
}

static const struct stream_ops fgraph_ops = {
	.cite_text = text_record_cite,
	.fields = fgraph_fields,
	.lines_of = text_record_lines_of,
};

static enum line_result take_header(struct fgraph *f, const char *s, size_t len)
{
	struct parse_ctx *ctx = f->rec.ctx;

	if (starts_with(s, len, "# tracer: function_graph")) {
		if (text_record_restarts(&f->rec)) {	/* another recording in the same member */
			struct error *err = text_record_close(&f->rec);

			text_record_init(&f->rec, ctx, "function_graph", &fgraph_ops);
			f->rec.err = err;
			reset(f);
		}
		f->header = true;
		return LINE_SKIPPED;
	}
	if (starts_with(s, len, "# tracer: "))
		f->header = false;
	return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
}

static enum line_result fgraph_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct fgraph *f = state;
	const char *s = ln->s, *end = ln->s + ln->len;
	enum line_result r = LINE_NOT_MINE;
	struct fgraph_line l;
	uint64_t events;
	uint16_t cpu;

	if (likely(split(ln->s, ln->len, &l)))
		r = take_call(f, ln, &l);
	if (likely(r != LINE_NOT_MINE))
		return r;
	skip_blanks(&s, end);
	if (s == end)
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (*s == '#')
		return take_header(f, s, (size_t)(end - s));
	if ((!ctx->embedded || f->rec.s) && take_separator_line(f, ln))
		return LINE_SKIPPED;
	if (starts_with(s, (size_t)(end - s), "------------------------------------------"))
		return f->rec.s || f->header ? LINE_SKIPPED : LINE_NOT_MINE;
	if (f->rec.s && trace_lost_line(ln->s, ln->len, &cpu, &events)) {
		text_record_lost(&f->rec, ln, cpu, events);
		reset(f);
		return LINE_TAKEN;
	}
	if (!ctx->embedded)
		ctx->partly = true;
	return LINE_NOT_MINE;
}

static struct error *fgraph_begin(struct parse_ctx *ctx, void **state)
{
	struct fgraph *f = xcalloc(1, sizeof(*f));

	text_record_init(&f->rec, ctx, "function_graph", &fgraph_ops);
	f->stacks = xcalloc(STACKS, sizeof(*f->stacks));
	reset(f);
	*state = f;
	return NULL;
}

static struct error *fgraph_end(struct parse_ctx *ctx, void *state)
{
	struct fgraph *f = state;
	struct error *err;

	/* traced, and nothing happened: a source without events */
	if (f->header && !f->rec.s && !ctx->embedded)
		text_record_open(&f->rec);
	err = text_record_close(&f->rec);
	free(f->stacks);
	free(f);
	return err;
}

static int fgraph_sniff(const struct sniff *sn)
{
	const char *p = (const char *)sn->head, *end = p + sn->len, *nl;
	unsigned int lines = 0, good = 0;
	struct fgraph_call call;
	struct fgraph_line l;

	if (starts_with(p, sn->len, "# tracer: function_graph"))
		return 95;
	for (; p < end && lines < 100; p = nl + 1) {
		size_t len;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl && sn->size > sn->len)
			break;
		if (!nl)
			nl = end;
		len = (size_t)(nl - p);
		if (len && p[len - 1] == '\r')
			len--;
		if (!len || *p == '#' || starts_with(p, len, " ------"))
			continue;
		lines++;
		if (!split(p, len, &l))
			continue;
		good += l.irq || fgraph_call(l.func, l.func_len, &call);
	}
	return good >= 2 && good * 4 >= lines * 3 ? 80 : 0;
}

static const struct parser fgraph_parser = {
	.name = "function_graph",
	.kind = PARSER_LINES,
	.priority = 22,
	.embed = true,
	.sniff = fgraph_sniff,
	.begin = fgraph_begin,
	.line = fgraph_line,
	.end = fgraph_end,
};
REGISTER(parsers, &fgraph_parser);
