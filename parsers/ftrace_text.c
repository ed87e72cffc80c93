// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ftrace_text.c - text traces: tracefs' trace and trace_pipe, and `trace-cmd report`.
 *
 * A line is split by trace_line.c, its event's text read by trace_fields.c; here are headers,
 * losses, stack blocks, the function tracer's lines, and what makes a member such a trace. The text
 * does not name its clock: seconds with a fraction are taken as the "local" clock that tracefs uses
 * by default (as "wall" beyond 10^9 s), bare numbers and the latency format's relative times as
 * "unknown".
 */
#include "fgraph_call.h"
#include "text_record.h"
#include "trace_line.h"

#define STACK_TEXT	8000
#define WALL_FROM_NS	(1000000000ULL * NSEC_PER_SEC)

struct ftrace {
	struct text_record	rec;
	struct text_event	*kernel_stack, *user_stack, *function;
	bool			trace_cmd, latency, header;
	/* a stack block that is being read */
	bool			in_stack, stack_user;
	uint64_t		stack_time, stack_pos;
	int32_t			stack_tid;
	uint16_t		stack_cpu;
	uint8_t			stack_flags;
	size_t			stack_len, stack_frames;
	char			stack[STACK_TEXT];
};

/* The line of an event without blanks around, its name and fields. */
static void ftrace_fields(void *priv, const struct event *ev,
			  void (*emit)(void *arg, const char *name, const struct field_value *v),
			  void *arg)
{
	struct trace_line t;
	size_t len, name_len;
	const char *fields, *s = text_record_text(priv, ev->pos, &len);

	if (!s || !(trace_line_split(s, len, &t) || trace_line_split_latency(s, len, &t) ||
		    trace_line_split_wide(s, len, &t)))
		return;
	name_len = trace_line_name(&t, &fields);
	if (!name_len)
		fields = t.rest;
	text_event_fields(t.rest, name_len, fields, (size_t)(t.rest + t.rest_len - fields), emit,
			  arg);
}

static const struct stream_ops ftrace_ops = {
	.cite_text = text_record_cite,
	.fields = ftrace_fields,
	.lines_of = text_record_lines_of,
};

static bool ftrace_open(struct ftrace *f, const struct trace_line *t)
{
	struct source_desc *d = &f->rec.desc;

	if (likely(f->rec.s))
		return !f->rec.err;
	d->format = f->trace_cmd ? "trace-cmd report" : "ftrace";
	if (t->fraction < 0)
		d->clock = "unknown";
	else
		d->clock = t->time >= WALL_FROM_NS ? "wall" : "local";
	d->time_resolution_ns = t->fraction >= 9 || t->fraction == TIME_BARE ? 1 : 1000;
	return text_record_open(&f->rec);
}

/* A frame as "func", out of " => func <ffff...>", "=> func (ffff...)", " => func+0x1/0x2 [mod]". */
static void stack_frame(struct ftrace *f, const char *s, size_t len)
{
	size_t n;

	while (len && (*s == ' ' || *s == '\t' || *s == '=' || *s == '>')) {
		s++;
		len--;
	}
	for (n = 0; n < len && s[n] != ' ' && s[n] != '+' && s[n] != '\t'; n++)
		;
	if (n > 2 && *s == '<')		/* "<00007f...>" of a user stack */
		s++, n -= 2;
	if (!n || f->stack_frames >= STACK_MAX_FRAMES || f->stack_len + n + 1 > sizeof(f->stack))
		return;
	if (f->stack_len)
		f->stack[f->stack_len++] = '\n';
	memcpy(f->stack + f->stack_len, s, n);
	f->stack_len += n;
	f->stack_frames++;
}

/*
 * The stack belongs to the event before it; what counts the block itself (trace-cmd's kernel_stack)
 * comes after, so that nothing stands between.
 */
static void stack_end(struct ftrace *f)
{
	struct text_event *d = f->stack_user ? f->user_stack : f->kernel_stack;
	struct stream *s = f->rec.s;
	struct event ev = { .time = f->stack_time, .pos = f->stack_pos, .cpu = f->stack_cpu,
			    .tid = f->stack_tid, .flags = f->stack_flags,
			    .ev = EVENT_TYPE_NONE, .kind = EV_STACK };

	f->in_stack = false;
	ev.b[0] = stream_stack_text_id(s, f->stack, f->stack_len);
	if (!f->stack_user && ev.b[0] != EVENT_U32_NONE) {
		*stream_next(s) = ev;
		stream_push(s);
	}
	text_event_decode(f->rec.te, d, "", 0, &ev);
	*stream_next(s) = ev;
	stream_push(s);
}

static void stack_begin(struct ftrace *f, const struct line *ln, const struct trace_line *t,
			bool user)
{
	struct text_event **d = user ? &f->user_stack : &f->kernel_stack;

	if (!*d)
		*d = text_event_special(f->rec.te, user ? "user_stack" : "kernel_stack", EV_OTHER);
	f->in_stack = true;
	f->stack_user = user;
	f->stack_time = t->time;
	f->stack_pos = ln->off;
	f->stack_cpu = t->cpu;
	f->stack_tid = t->tid;
	f->stack_flags = t->flags;
	f->stack_len = f->stack_frames = 0;
}

/* "func <-parent" of the function tracer, "func+0x1/0x2 <-parent"; trace-cmd's plugin: "function:  func <-- parent". */
static const char *function_end(const char *s, size_t len)
{
	const char *p = s, *end = s + len;

	while (p < end && *p != ' ' && *p != ':' && *p != '(')
		p++;
	if (p == s || p == end)
		return NULL;
	if (starts_with(p, (size_t)(end - p), " [")) {
		const char *mod = memchr(p, ']', (size_t)(end - p));

		return mod && starts_with(mod + 1, (size_t)(end - mod - 1), " <-") ? p : NULL;
	}
	return starts_with(p, (size_t)(end - p), " <-") ? p : NULL;
}

static enum line_result take_function(struct ftrace *f, const struct line *ln,
				      const struct trace_line *t, const char *to)
{
	const char *plus = memchr(t->rest, '+', (size_t)(to - t->rest));
	struct event *ev;

	if (!f->function)
		f->function = text_event_special(f->rec.te, "function", EV_OTHER);
	ev = text_record_event(&f->rec, ln, t->time, t->cpu, t->tid, t->flags);
	text_event_decode(f->rec.te, f->function, t->rest, t->rest_len, ev);
	ev->b[0] = strtab_id(&f->rec.s->strings, t->rest, (size_t)((plus ? plus : to) - t->rest));
	stream_push(f->rec.s);
	return LINE_TAKEN;
}

/* trace-cmd's "funcgraph_entry:   1.234 us   |  func();": the task is printed, so the engine pairs them. */
static bool take_fgraph(struct ftrace *f, const char *fields, size_t len, struct event *ev)
{
	const char *end = fields + len, *bar = memchr(fields, '|', len);
	struct fgraph_call call;
	uint64_t ns = 0;

	if (!bar || !fgraph_call(bar + 1, (size_t)(end - bar - 1), &call) || call.comment)
		return false;
	fgraph_duration(fields, (size_t)(bar - fields), &ns);
	ev->kind = call.kind;
	ev->a[0] = ns;
	ev->b[0] = call.func ? strtab_id(&f->rec.s->strings, call.func, call.func_len)
			     : EVENT_U32_NONE;
	ev->b[1] = call.depth;
	return true;
}

/* The feed counts and remarks such lines; in a member of this format they are evidence lost. */
static enum line_result not_mine(struct ftrace *f)
{
	if (!f->rec.ctx->embedded)
		f->rec.ctx->partly = true;
	return LINE_NOT_MINE;
}

/* What carries no "NAME: ": stacks, the function tracer, system calls. */
static enum line_result take_unnamed(struct ftrace *f, const struct line *ln,
				     const struct trace_line *t)
{
	bool user = starts_with(t->rest, t->rest_len, "<user stack trace");
	const char *fields, *to;
	struct text_event *d;
	struct event *ev;

	if (user || starts_with(t->rest, t->rest_len, "<stack trace")) {
		stack_begin(f, ln, t, user);
		return LINE_TAKEN;
	}
	to = function_end(t->rest, t->rest_len);
	if (to)
		return take_function(f, ln, t, to);
	d = text_syscall(f->rec.te, t->rest, t->rest_len, &fields);
	if (!d)
		return not_mine(f);
	ev = text_record_event(&f->rec, ln, t->time, t->cpu, t->tid, t->flags);
	if (!text_event_decode(f->rec.te, d, fields, (size_t)(t->rest + t->rest_len - fields), ev))
		text_record_bad_field(&f->rec, ln, ev->ev);
	stream_push(f->rec.s);
	return LINE_TAKEN;
}

static bool unnamed_is_mine(const struct trace_line *t)
{
	return starts_with(t->rest, t->rest_len, "<stack trace") || starts_with(t->rest, t->rest_len, "<user stack trace") ||
	       starts_with(t->rest, t->rest_len, "sys_") || function_end(t->rest, t->rest_len);
}

static enum line_result take_event(struct ftrace *f, const struct line *ln,
				   const struct trace_line *t)
{
	const char *fields;
	size_t name_len = trace_line_name(t, &fields), len;
	struct text_event *d;
	struct event *ev;

	if (!name_len && f->rec.ctx->embedded && !unnamed_is_mine(t))
		return LINE_NOT_MINE;
	if (!ftrace_open(f, t))
		return LINE_TAKEN;
	text_record_task(&f->rec, ln, t->time, t->tid, t->tgid, t->comm, t->comm_len);
	if (unlikely(!name_len))
		return take_unnamed(f, ln, t);
	len = (size_t)(t->rest + t->rest_len - fields);
	if (unlikely(*t->rest == 'k' && starts_with(fields, len, "<stack trace") && starts_with(t->rest, name_len, "kernel_stack"))) {
		stack_begin(f, ln, t, false);
		return LINE_TAKEN;
	}
	if (unlikely(*t->rest == 'u' && starts_with(t->rest, name_len, "user_stack"))) {
		stack_begin(f, ln, t, true);
		return LINE_TAKEN;
	}
	d = text_event(f->rec.te, NULL, 0, t->rest, name_len, fields, len);
	ev = text_record_event(&f->rec, ln, t->time, t->cpu, t->tid, t->flags);
	if (unlikely(!text_event_decode(f->rec.te, d, fields, len, ev)))
		text_record_bad_field(&f->rec, ln, ev->ev);
	if (unlikely(*t->rest == 'f' && starts_with(t->rest, name_len, "funcgraph_")))
		take_fgraph(f, fields, len, ev);
	stream_push(f->rec.s);
	return LINE_TAKEN;
}

/* A new header after events: another recording in the same member. */
static void restart(struct ftrace *f)
{
	struct parse_ctx *ctx = f->rec.ctx;
	struct error *err;

	if (!text_record_restarts(&f->rec))
		return;
	err = text_record_close(&f->rec);
	text_record_init(&f->rec, ctx, "ftrace", &ftrace_ops);
	f->rec.err = err;
	f->kernel_stack = f->user_stack = f->function = NULL;
	f->trace_cmd = f->latency = false;
}

static void read_cpus(struct ftrace *f, const char *s, size_t len)
{
	const char *p = memmem(s, len, "#P:", 3), *end = s + len;
	int64_t n;

	if (!p)
		return;
	p += 3;
	if (read_dec(&p, end, &n) && n > 0 && n < EVENT_CPU_NONE)
		f->rec.desc.cpus = (int)n;
}

/* "# entries-in-buffer/entries-written: 3/2161   #P:2": what was written and is no more is lost before the first event. */
static void read_entries(struct ftrace *f, const struct line *ln, const char *s, size_t len)
{
	const char *p = s + strlen("# entries-in-buffer/entries-written:"), *end = s + len;
	int64_t in, written;

	read_cpus(f, s, len);
	skip_blanks(&p, end);
	if (!read_dec(&p, end, &in) || p == end || *p++ != '/' || !read_dec(&p, end, &written))
		return;
	if (in >= 0 && written > in)
		text_record_lost(&f->rec, ln, EVENT_CPU_NONE, (uint64_t)(written - in));
}

static enum line_result take_comment(struct ftrace *f, const struct line *ln, const char *s,
				     size_t len)
{
	uint16_t cpu;
	int64_t n;

	if (starts_with(s, len, "# tracer: ")) {
		if (starts_with(s, len, "# tracer: function_graph"))
			return LINE_NOT_MINE;
		restart(f);
		f->header = true;
		return LINE_SKIPPED;
	}
	if (starts_with(s, len, "# entries-in-buffer/entries-written:")) {
		if (f->rec.s)
			restart(f);	/* its "# tracer:" line is missing */
		read_entries(f, ln, s, len);
		return LINE_TAKEN;
	}
	if (starts_with(s, len, "##### CPU ")) {
		const char *p = s + strlen("##### CPU "), *end = s + len;

		if (!read_dec(&p, end, &n) || n < 0 || n >= EVENT_CPU_NONE ||
		    !starts_with(p, (size_t)(end - p), " buffer started"))
			return LINE_NOT_MINE;
		cpu = (uint16_t)n;
		text_record_lost(&f->rec, ln, cpu, 0);
		return LINE_TAKEN;
	}
	if (starts_with(s, len, "# latency:") || memmem(s, len, "latency trace", 13)) {
		f->latency = true;
		read_cpus(f, s, len);
	}
	return f->rec.ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
}

/* What trace-cmd prints before and between events. */
static bool trace_cmd_line(struct ftrace *f, const char *s, size_t len)
{
	const char *p, *end = s + len;
	int64_t n;

	if (starts_with(s, len, "cpus=")) {
		p = s + 5;
		if (!read_dec(&p, end, &n) || p != end || n <= 0 || n >= EVENT_CPU_NONE)
			return false;
		if (f->rec.s)
			restart(f);
		f->rec.desc.cpus = (int)n;
		f->trace_cmd = true;
		return true;
	}
	if (starts_with(s, len, "CPU ") && len > 9 && !memcmp(end - 9, " is empty", 9))
		return true;
	return starts_with(s, len, "version = ") && !f->rec.s;
}

static enum line_result take_other(struct ftrace *f, const struct line *ln, const char *s,
				   size_t len)
{
	struct trace_line t;
	uint64_t events;
	uint16_t cpu;

	if (!len)
		return f->rec.ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (*s == '#')
		return take_comment(f, ln, s, len);
	if (trace_lost_line(s, len, &cpu, &events)) {
		text_record_lost(&f->rec, ln, cpu, events);
		return LINE_TAKEN;
	}
	if (trace_cmd_line(f, s, len))
		return LINE_SKIPPED;
	if ((f->latency || !f->rec.ctx->embedded) && trace_line_split_latency(ln->s, ln->len, &t))
		return take_event(f, ln, &t);
	if (trace_line_split_wide(ln->s, ln->len, &t))
		return take_event(f, ln, &t);
	if (f->latency && (starts_with(s, len, "=> ") || starts_with(s, len, "--") || starts_with(s, len, "=========>")))
		return LINE_SKIPPED;
	return not_mine(f);
}

static enum line_result ftrace_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct ftrace *f = state;
	const char *s = ln->s, *end = ln->s + ln->len;
	struct trace_line t;

	(void)ctx;
	if (unlikely(f->in_stack)) {
		skip_blanks(&s, end);
		if (starts_with(s, (size_t)(end - s), "=> ")) {
			stack_frame(f, s, (size_t)(end - s));
			return LINE_TAKEN;
		}
		stack_end(f);
		s = ln->s;
	}
	if (likely(trace_line_split(s, ln->len, &t)))
		return take_event(f, ln, &t);
	skip_blanks(&s, end);
	return take_other(f, ln, s, (size_t)(end - s));
}

static struct error *ftrace_begin(struct parse_ctx *ctx, void **state)
{
	struct ftrace *f = xcalloc(1, sizeof(*f));

	text_record_init(&f->rec, ctx, "ftrace", &ftrace_ops);
	*state = f;
	return NULL;
}

static struct error *ftrace_end(struct parse_ctx *ctx, void *state)
{
	struct ftrace *f = state;
	struct error *err;

	if (f->in_stack && !f->rec.err)
		stack_end(f);
	/* traced, and nothing happened: a source without events */
	if (f->header && !f->rec.s && !ctx->embedded)
		text_record_open(&f->rec);
	err = text_record_close(&f->rec);
	free(f);
	return err;
}

/* Share of lines that are events, over the first ones; headers do not count. @trace_cmd: did it begin with "cpus="? */
static int sniff_lines(const struct sniff *sn, bool *trace_cmd)
{
	const char *p = (const char *)sn->head, *end = p + sn->len, *nl;
	unsigned int lines = 0, good = 0;
	struct trace_line t;
	uint64_t events;
	uint16_t cpu;
	bool header = false;

	*trace_cmd = false;
	for (; p < end && lines < 200; p = nl + 1) {
		size_t len;

		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl && sn->size > sn->len)
			break;		/* cut by the sniffing limit */
		if (!nl)
			nl = end;
		len = (size_t)(nl - p);
		if (len && p[len - 1] == '\r')
			len--;
		if (!lines && starts_with(p, len, "# tracer: function_graph"))
			return 0;
		if (starts_with(p, len, "# tracer: ") && !lines) {
			header = true;
		} else if (starts_with(p, len, "cpus=") && !lines && len < 16) {
			*trace_cmd = true;
			lines++;
			good++;
		} else if (len && *p != '#' && !starts_with(p, len, "=> ") && !starts_with(p, len, " => ")) {
			lines++;
			good += trace_line_split(p, len, &t) ||
				trace_lost_line(p, len, &cpu, &events) ||
				trace_line_split_latency(p, len, &t) ||
				trace_line_split_wide(p, len, &t);
		}
	}
	if (header)
		return !lines || good * 2 >= lines ? 95 : 0;
	if (good < (*trace_cmd ? 2u : 1u) || good * 4 < lines * 3)
		return 0;
	return *trace_cmd ? 95 : 80;
}

static int ftrace_sniff(const struct sniff *sn)
{
	bool trace_cmd;
	int score = sniff_lines(sn, &trace_cmd);

	return trace_cmd ? 0 : score;
}

static int trace_cmd_sniff(const struct sniff *sn)
{
	bool trace_cmd;
	int score = sniff_lines(sn, &trace_cmd);

	return trace_cmd ? score : 0;
}

/* "comm-123 [000] d...", "comm-123   [015] d.... 95922.997039:": a head that goes on in the next line. */
static bool cut_head(const char *s, size_t len)
{
	const char *end = s + len, *p = s, *q;

	while ((p = memchr(p, '[', (size_t)(end - p)))) {
		for (q = p + 1; q < end && *q >= '0' && *q <= '9'; q++)
			;
		if (q > p + 2 && q < end && *q == ']' && p > s + 3 && p[-1] == ' ') {
			const char *d = p - 1, *to;

			while (d > s && (*d == ' ' || *d == ')' || *d == '(') && d[-1] != '-')
				d--;
			for (to = d; d > s && *d >= '0' && *d <= '9'; d--)
				;
			if (d == to || *d != '-' || d == s || d[-1] == ' ')
				return false;
			for (q++; q < end && *q != ' '; q++)
				;
			/* what follows: flags, part of a time; no text yet */
			for (; q < end; q++)
				if (!strchr(" .0123456789:dDbNnpBLlhHsSzZ", *q))
					return false;
			return true;
		}
		p++;
	}
	return false;
}

static bool ftrace_wants_more(const char *s, size_t len)
{
	struct trace_line t;
	const char *fields;
	size_t name_len;

	if (!trace_line_split(s, len, &t))
		return cut_head(s, len);
	if (!t.rest_len)
		return true;
	name_len = trace_line_name(&t, &fields);
	return name_len &&
	       text_event_cut(t.rest, name_len, fields, (size_t)(t.rest + t.rest_len - fields));
}

static const struct parser ftrace_parser = {
	.name = "ftrace",
	.kind = PARSER_LINES,
	.priority = 20,
	.embed = true,
	.sniff = ftrace_sniff,
	.begin = ftrace_begin,
	.line = ftrace_line,
	.end = ftrace_end,
	.wants_more = ftrace_wants_more,
};
REGISTER(parsers, &ftrace_parser);

/* The same lines under trace-cmd's header: `trace-cmd report`. */
static const struct parser trace_cmd_parser = {
	.name = "trace-cmd report",
	.kind = PARSER_LINES,
	.priority = 21,
	.embed = false,
	.sniff = trace_cmd_sniff,
	.begin = ftrace_begin,
	.line = ftrace_line,
	.end = ftrace_end,
};
REGISTER(parsers, &trace_cmd_parser);
