// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_script.c - the text of `perf script`, with or without its header.
 *
 * The events are those of the perf.data it was made from, less those that perf leaves out: samples
 * taken in guest mode (the timer interrupt's wake-ups right after an exit) are printed with
 * --guest-code only. So only events that no interrupt handler raises count as complete. What
 * follows an event's name is the kernel's print format (trace_fields.h); call chains stand below
 * the line, one frame a line, and end at a blank line.
 */
#include "perf_script_line.h"
#include "perf_text_header.h"
#include "text_record.h"
#include "trace_line.h"

#define STACK_TEXT	8000

struct perf_script {
	struct text_record	rec;
	struct perf_text_header	head;
	/* filled in the batch, not pushed: its call chain may follow */
	struct event		*pending;
	bool			sample;		/* the pending one is a sample, not a tracepoint */
	size_t			stack_len, frames;
	char			stack[STACK_TEXT];
};

static const char *word_before(const char *s, const char *p)
{
	while (p > s && p[-1] == ' ')
		p--;
	while (p > s && p[-1] != ' ')
		p--;
	return p;
}

/* The tracepoint's text without "ADDRESS symbol (dso)" that -F +ip,sym,dso puts behind it. */
static size_t text_len(const struct perf_script_line *l)
{
	const char *s = l->text, *end = s + l->text_len, *p, *q;

	while (end > s && end[-1] == ' ')
		end--;
	p = end;
	if (end - s < 24)
		return (size_t)(end - s);
	if (p[-1] == ')') {	/* the file's name may have blanks */
		q = word_before(s, p);
		while (q > s && *q != '(')
			q = word_before(s, q);
		p = q;
	}
	q = word_before(s, word_before(s, p));
	for (p = q; p < end && hex_value(*p) >= 0; p++)
		;
	if (p - q < 12 || p - q > 16 || p == end || *p != ' ' || q == s)
		return (size_t)(end - s);
	for (p++; p < end && *p == ' '; p++)
		;
	return p < end && *p != '(' && !memchr(p, '=', (size_t)(end - p)) ? (size_t)(q - 1 - s)
									  : (size_t)(end - s);
}

static void script_fields(void *priv, const struct event *ev,
			  void (*emit)(void *arg, const char *name, const struct field_value *v),
			  void *arg)
{
	struct perf_script_line l;
	const char *name;
	size_t len, skip;
	const char *s = text_record_text(priv, ev->pos, &len);

	if (!s || !perf_script_split(s, len, &l) || !l.event_len)
		return;
	skip = l.system_len ? l.system_len + 1 : 0;
	name = l.event + skip;
	text_event_fields(name, l.event_len - skip, l.text, text_len(&l), emit, arg);
}

static const struct stream_ops script_ops = {
	.cite_text = text_record_cite,
	.fields = script_fields,
	.lines_of = text_record_lines_of,
};

/*
 * Events of task context: an interrupt taken from the guest, whose samples perf leaves out, has
 * none.
 */
static bool task_context(const char *system, const char *name)
{
	static const char *const systems[] = { "kvm", "kvmmmu", "raw_syscalls", "syscalls" };
	size_t i;

	for (i = 0; system && i < ARRAY_SIZE(systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return system && !strcmp(system, "sched") &&
	       (!strcmp(name, "sched_switch") || !strncmp(name, "sched_process_", 14));
}

/* Tell the stream of the events that were asked for, seen or not. */
static void declare(struct perf_script *f)
{
	bool filtered = perf_text_header_has_arg(&f->head, "--filter") ||
			perf_text_header_has_arg(&f->head, "--exclude-perf");
	enum cov_scope scope = perf_text_header_scope(&f->head);
	size_t i;

	for (i = 0; i < f->head.n_events; i++) {
		const struct perf_text_event *e = &f->head.events[i];
		const char *colon = strchr(e->name, ':');
		_cleanup_free_ char *system = e->tracepoint && colon
						      ? xstrndup(e->name, (size_t)(colon - e->name))
						      : NULL;
		enum cov_complete complete = COV_ALL;

		if (e->carrier)
			continue;
		if (e->sampled)
			complete = COV_SAMPLED;
		else if (filtered || e->no_kernel || !task_context(system, system ? colon + 1 : ""))
			complete = COV_FILTERED;
		stream_event_type(f->rec.s, system, system ? colon + 1 : e->name,
				  e->tracepoint ? EV_OTHER : EV_SAMPLE, COV_LISTED, complete,
				  scope);
	}
}

static bool host_events(const struct perf_script *f, const struct perf_script_line *l)
{
	size_t i;

	if (l && l->system_len == 3 && !memcmp(l->event, "kvm", 3))
		return true;
	for (i = 0; i < f->head.n_events; i++)
		if (!strncmp(f->head.events[i].name, "kvm:", 4))
			return true;
	return false;
}

static bool script_open(struct perf_script *f, const struct perf_script_line *l)
{
	struct source_desc *d = &f->rec.desc;

	if (likely(f->rec.s))
		return !f->rec.err;
	d->kernel = f->head.release;
	d->arch = f->head.arch;
	d->host = f->head.host;
	d->command = f->head.cmdline;
	d->cpus = f->head.cpus;
	d->clock = perf_text_header_clock(&f->head);
	d->time_resolution_ns = l && l->decimals == 9 ? 1 : 1000;
	d->has_clock_offset = f->head.has_wall;
	d->clock_offset_ns = f->head.wall_offset_ns;
	d->clock_uncertainty_ns = f->head.has_wall ? NSEC_PER_USEC : 0;
	if ((!d->side || !strcmp(d->side, "unknown")) && host_events(f, l))
		d->side = "host";
	if (!text_record_open(&f->rec))
		return false;
	declare(f);
	f->rec.err = perf_text_header_facts(f->rec.ctx, &f->head, f->rec.s->source_id, d->side);
	return !f->rec.err;
}

/* Push the event that waited for its call chain. */
static void push_pending(struct perf_script *f)
{
	struct stream *s = f->rec.s;
	struct event *ev = f->pending, chain;
	uint32_t id = EVENT_U32_NONE;

	if (!ev)
		return;
	f->pending = NULL;
	if (f->frames)
		id = stream_stack_text_id(s, f->stack, f->stack_len);
	if (f->sample)
		ev->b[0] = id;
	chain = *ev;
	stream_push(s);
	if (id == EVENT_U32_NONE || f->sample)
		return;
	chain.ev = EVENT_TYPE_NONE;
	chain.kind = EV_STACK;
	memset(chain.a, 0, sizeof(chain.a));
	chain.b[0] = id;
	chain.b[1] = 0;
	*stream_next(s) = chain;
	stream_push(s);
}

static void add_frame(struct perf_script *f, uint64_t ip, const char *name, size_t len)
{
	char hex[24];

	if (!len) {
		len = (size_t)snprintf(hex, sizeof(hex), "0x%" PRIx64, ip);
		name = hex;
	}
	if (f->sample && !f->frames)
		f->pending->a[0] = ip;
	if (f->frames >= STACK_MAX_FRAMES || f->stack_len + len + 1 > sizeof(f->stack))
		return;
	if (f->stack_len)
		f->stack[f->stack_len++] = '\n';
	memcpy(f->stack + f->stack_len, name, len);
	f->stack_len += len;
	f->frames++;
}

/*
 * A sample that is no tracepoint's: "cpu-clock:  ffffffff9744e8cb native_safe_halt+0xb
 * ([kernel.kallsyms])".
 */
static void fill_sample(struct perf_script *f, const struct perf_script_line *l, struct event *ev)
{
	char name[128];
	const char *sym;
	uint64_t ip;
	size_t len;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(l->event_len, sizeof(name) - 1), l->event);
	text_event_decode(f->rec.te, text_event_special(f->rec.te, name, EV_SAMPLE), "", 0, ev);
	memset(ev->a, 0, sizeof(ev->a));
	ev->b[0] = EVENT_U32_NONE;
	ev->b[1] = 0;
	ev->kind = EV_SAMPLE;
	f->sample = true;
	if (l->text_len && perf_script_frame(l->text - 1, l->text_len + 1, &ip, &sym, &len))
		add_frame(f, ip, sym, len);
}

static void fill_tracepoint(struct perf_script *f, const struct line *ln,
			    const struct perf_script_line *l, struct event *ev)
{
	size_t len = text_len(l);
	struct text_event *d;

	d = text_event(f->rec.te, l->event, l->system_len, l->event + l->system_len + 1,
		       l->event_len - l->system_len - 1, l->text, len);
	f->sample = false;
	if (!text_event_decode(f->rec.te, d, l->text, len, ev))
		text_record_bad_field(&f->rec, ln, ev->ev);
}

/* Records that perf prints among the samples: --show-lost-events, --show-task-events ... */
static enum line_result side_band(struct perf_script *f, const struct line *ln,
				  const struct perf_script_line *l)
{
	const char *s = l->text, *end = s + l->text_len, *p;
	int64_t n;

	if (!starts_with(s, l->text_len, "PERF_RECORD_LOST"))
		return LINE_SKIPPED;
	p = memmem(s, l->text_len, "lost ", 5);
	if (!p)
		return LINE_NOT_MINE;
	p += 5;
	if (!read_dec(&p, end, &n) || n < 0)
		return LINE_NOT_MINE;
	push_pending(f);
	text_record_lost(&f->rec, ln, l->cpu, (uint64_t)n);
	return LINE_TAKEN;
}

static enum line_result take_event(struct perf_script *f, const struct line *ln,
				   const struct perf_script_line *l)
{
	struct event *ev;

	if (f->rec.ctx->embedded && (!l->system_len || l->tid < 0 || !l->comm))
		return LINE_NOT_MINE;
	if (!script_open(f, l))
		return LINE_TAKEN;
	push_pending(f);
	text_record_task(&f->rec, ln, l->time, l->tid, l->pid, l->comm ? l->comm : "<...>",
			 l->comm ? l->comm_len : 5);
	ev = text_record_event(&f->rec, ln, l->time, l->cpu, l->tid, 0);
	f->pending = ev;
	f->stack_len = f->frames = 0;
	if (l->system_len)
		fill_tracepoint(f, ln, l, ev);
	else
		fill_sample(f, l, ev);
	return LINE_TAKEN;
}

/* Another header behind events: the next recording in the same text. */
static void restart(struct perf_script *f)
{
	struct error *err;

	push_pending(f);
	if (!text_record_restarts(&f->rec))
		return;
	err = text_record_close(&f->rec);
	text_record_init(&f->rec, f->rec.ctx, "perf script", &script_ops);
	f->rec.err = err;
	perf_text_header_free(&f->head);
}

static enum line_result script_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct perf_script *f = state;
	struct perf_script_line l;
	const char *name;
	uint64_t ip;
	size_t len;

	if (perf_script_split(ln->s, ln->len, &l))
		return l.event_len ? take_event(f, ln, &l) : side_band(f, ln, &l);
	if (f->pending && perf_script_frame(ln->s, ln->len, &ip, &name, &len)) {
		add_frame(f, ip, name, len);
		return LINE_TAKEN;
	}
	if (!ln->len)
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if (*ln->s == '#' && perf_text_header_is(ln->s, ln->len)) {
		if (ctx->embedded && !f->head.n_lines && !starts_with(ln->s, ln->len, "# captured on"))
			return LINE_NOT_MINE;
		if (f->rec.s)
			restart(f);
		perf_text_header_line(ctx, &f->head, ln);
		return LINE_TAKEN;
	}
	if (*ln->s == '#' && !ctx->embedded)
		return LINE_SKIPPED;
	if (!ctx->embedded)
		ctx->partly = true;
	return LINE_NOT_MINE;
}

static struct error *script_begin(struct parse_ctx *ctx, void **state)
{
	struct perf_script *f = xcalloc(1, sizeof(*f));

	text_record_init(&f->rec, ctx, "perf script", &script_ops);
	perf_text_header_init(&f->head);
	*state = f;
	return NULL;
}

static struct error *script_end(struct parse_ctx *ctx, void *state)
{
	struct perf_script *f = state;
	struct error *err;

	push_pending(f);
	/* a header and no events: who was recorded is known all the same */
	if (!f->rec.s && !f->rec.err && f->head.n_lines && !ctx->embedded)
		script_open(f, NULL);
	err = text_record_close(&f->rec);
	perf_text_header_free(&f->head);
	free(f);
	return err;
}

static int script_sniff(const struct sniff *sn)
{
	const char *p = (const char *)sn->head, *end = p + sn->len, *nl, *name;
	unsigned int lines = 0, good = 0, header = 0, frames = 0;
	struct perf_script_line l;
	uint64_t ip;
	size_t len, n;

	for (; p < end && lines + frames < 200; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl && sn->size > sn->len)
			break;		/* cut by the sniffing limit */
		if (!nl)
			nl = end;
		n = (size_t)(nl - p);
		if (n && p[n - 1] == '\r')
			n--;
		if (!n)
			continue;
		if (*p == '#') {
			if (memmem(p, n, "Overhead", 8) || memmem(p, n, "# To display the perf.data header", 33))
				return 0;	/* perf report's */
			header += perf_text_header_is(p, n);
		} else if (perf_script_split(p, n, &l)) {
			lines++;
			good++;
		} else if (good && perf_script_frame(p, n, &ip, &name, &len)) {
			frames++;
		} else {
			lines++;
		}
	}
	if (!good)
		return !lines && header >= 5 ? 60 : 0;
	return good * 4 >= lines * 3 ? 88 : 0;
}

static bool script_wants_more(const char *s, size_t len)
{
	struct perf_script_line l;
	size_t skip;

	if (!perf_script_split(s, len, &l) || !l.system_len)
		return false;
	skip = l.system_len + 1;
	return text_event_cut(l.event + skip, l.event_len - skip, l.text, l.text_len);
}

static const struct parser perf_script = {
	.name = "perf script",
	.kind = PARSER_LINES,
	.priority = 22,
	.embed = true,
	.sniff = script_sniff,
	.begin = script_begin,
	.line = script_line,
	.end = script_end,
	.wants_more = script_wants_more,
};
REGISTER(parsers, &perf_script);
