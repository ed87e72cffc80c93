// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring_events.c - a binary ftrace recording's CPUs merged by (time, CPU), their records as events;
 * see ring.h.
 */
#include "ring.h"
#include "symbols.h"

static bool is_probe(const char *system)
{
	return !strcmp(system, "kprobes") || !strcmp(system, "fprobes") || !strcmp(system, "uprobes") ||
	       !strncmp(system, "probe", 5);
}

/*
 * Declare the event type at its first occurrence: what never occurs is not in the coverage
 * (ring.h).
 */
static void bind(struct ring *r, struct ring_type *t, uint16_t id)
{
	const struct tp_format *f = t->format;
	enum event_kind kind = f ? tp_kind(f) : EV_OTHER;
	uint32_t func = STRTAB_NONE;
	const char *missing;

	t->bound = true;
	if (!f) {
		_cleanup_free_ char *name = xasprintf("tracepoint:%u", id);

		t->ev = stream_event_type(r->s, NULL, name, EV_OTHER, COV_SEEN, COV_ALL,
					  COV_SYSTEM);
		return;
	}
	if (t->special == RING_CALL)
		kind = EV_FUNC_ENTER;
	else if (t->special == RING_RETURN)
		kind = EV_FUNC_EXIT;
	else if (is_probe(f->system)) {
		enum event_kind by_name = stream_probe_kind(r->s, f->name, &func);

		kind = kind == EV_OTHER ? by_name : kind;
	} else if (kind == EV_SYSCALL_ENTER || kind == EV_SYSCALL_EXIT) {
		const char *call = f->name + (kind == EV_SYSCALL_ENTER ? strlen("sys_enter_") :
					      strlen("sys_exit_"));

		func = strtab_id(&r->s->strings, call, strlen(call));
	}
	t->ev = stream_event_type(r->s, NULL, f->name, kind, COV_SEEN, COV_ALL, COV_SYSTEM);
	if (t->ev == EVENT_TYPE_NONE)
		return;
	if (!r->s->types[t->ev].count) {
		r->s->types[t->ev].kind = kind;	/* not what another system calls so */
		r->s->types[t->ev].func = func;
	}
	t->dec = tp_decoder_create(f, t->special == RING_EVENT ? kind : EV_OTHER, func, &missing);
	if (missing) {
		r->s->types[t->ev].kind = EV_OTHER;
		parse_remark(r->ctx, true, "%s:%s has no field %s: it is only counted", f->system,
			     f->name, missing);
	}
	t->quick = t->dec && t->special == RING_EVENT && !r->swap;
}

static struct event *pseudo(struct ring *r, enum event_kind kind, uint64_t time, uint64_t pos)
{
	struct event *ev = stream_next(r->s);

	memset(ev, 0, sizeof(*ev));
	ev->time = time;
	ev->pos = pos;
	ev->kind = (uint8_t)kind;
	ev->ev = EVENT_TYPE_NONE;
	ev->tid = -1;
	ev->cpu = EVENT_CPU_NONE;
	return ev;
}

static void push_lost(struct ring *r, struct ring_cpu *c, uint64_t time)
{
	struct event *ev = pseudo(r, EV_LOST, time, c->lost_pos);

	ev->cpu = (uint16_t)c->cpu;
	ev->a[0] = c->n_lost;
	stream_push(r->s);
	c->lost = false;
	c->n_lost = 0;
}

/* The names of tasks as they were when recording ended: as good as any until the events tell. */
static void push_comms(struct ring *r)
{
	size_t i;

	for (i = 0; i < r->n_comms; i++) {
		const struct ring_comm *c = &r->comms[i];
		struct event *ev;

		if (!c->tid || !strcmp(c->comm, "<...>"))
			continue;
		ev = pseudo(r, EV_TASK, 0, 0);
		ev->tid = c->tid;
		comm_words(&ev->a[0], c->comm, strlen(c->comm));
		ev->b[0] = c->tgid < 0 ? EVENT_U32_NONE : (uint32_t)c->tgid;
		ev->b[1] = TASK_SYNTH;
		stream_push(r->s);
	}
}

static uint64_t value_of(const struct tp_field *fl, const uint8_t *rec, size_t len)
{
	uint64_t v = 0;

	if (fl)
		tp_value(fl, rec, len, 0, &v);
	return v;
}

static void special(struct ring *r, struct ring_type *t, const uint8_t *rec, size_t len,
		    struct event *ev)
{
	uint64_t called, left;

	ev->b[0] = ring_func(r, value_of(t->func, rec, len));
	if (t->special == RING_FUNCTION)
		return;
	ev->b[1] = (uint32_t)value_of(t->depth, rec, len);
	ev->kind = t->special == RING_CALL ? EV_FUNC_ENTER : EV_FUNC_EXIT;
	called = value_of(t->calltime, rec, len);
	left = value_of(t->rettime, rec, len);
	ev->a[0] = t->special == RING_RETURN && left > called ? left - called : 0;
}

static void push_stack(struct ring *r, const struct ring_cpu *c, const struct ring_type *t,
		       const struct event *of)
{
	uint64_t ips[STACK_MAX_FRAMES];
	size_t n = ring_frames(r, t->format, c->rec, c->len, ips, STACK_MAX_FRAMES);
	struct event *ev;

	if (!n)
		return;
	ev = pseudo(r, EV_STACK, c->time, c->pos);
	ev->tid = of->tid;
	ev->cpu = of->cpu;
	ev->b[0] = stream_stack_id(r->s, ips, n, SYM_SPACE_NONE);
	stream_push(r->s);
}

/* Whatever may have to be done for a record. */
static void deliver_any(struct ring *r, struct ring_cpu *c)
{
	const uint8_t *rec = c->rec;
	struct ring_type *t;
	struct event one, *ev;
	uint32_t id;

	if (unlikely(c->lost))
		push_lost(r, c, c->time);
	id = r->type_size == 2 ? ring_load16(rec + r->type_at, r->swap) :
	     ring_load32(rec + r->type_at, r->swap) & 0xffff;
	t = r->types[id];
	if (unlikely(!t || !t->format)) {
		r->unknown_ids++;
		if (!t)
			t = ring_add_type(r, (uint16_t)id);
	}
	if (unlikely(!t->bound))
		bind(r, t, (uint16_t)id);
	if (unlikely(t->ev == EVENT_TYPE_NONE))
		return;
	one.tid = (int32_t)ring_load32(rec + r->pid_at, r->swap);
	one.cpu = c->cpu < EVENT_CPU_NONE ? (uint16_t)c->cpu : EVENT_CPU_NONE;
	if (unlikely(t->special == RING_STACK))
		push_stack(r, c, t, &one);
	if (unlikely(r->swap && t->format && c->len <= TP_MAX_RECORD)) {
		memcpy(r->scratch, rec, c->len);
		tp_swap(t->format, r->scratch, c->len);
		rec = r->scratch;
	}
	ev = stream_next(r->s);
	ev->time = c->time;
	ev->pos = c->pos;
	ev->tid = one.tid;
	ev->cpu = one.cpu;
	ev->ev = t->ev;
	if (likely(t->dec)) {
		if (unlikely(!tp_decode(t->dec, r->s, rec, c->len, ev)))
			r->short_records++;
		if (unlikely(t->special > RING_STACK))
			special(r, t, rec, c->len, ev);
	} else {
		memset(ev->a, 0, sizeof(ev->a));
		memset(ev->b, 0, sizeof(ev->b));
		ev->kind = EV_OTHER;
		ev->flags = 0;
	}
	stream_push(r->s);
}

/* What has to be done for most. */
static inline void deliver(struct ring *r, struct ring_cpu *c)
{
	const uint32_t id = r->type_size == 2 ? ring_load16(c->rec + r->type_at, false) :
			    ring_load32(c->rec + r->type_at, false) & 0xffff;
	const struct ring_type *t = r->types[id];
	struct event *ev;

	if (unlikely(c->lost || !t || !t->quick)) {
		deliver_any(r, c);
		return;
	}
	ev = stream_next(r->s);
	ev->time = c->time;
	ev->pos = c->pos;
	ev->cpu = c->cpu < EVENT_CPU_NONE ? (uint16_t)c->cpu : EVENT_CPU_NONE;
	ev->tid = (int32_t)ring_load32(c->rec + r->pid_at, false);
	ev->ev = t->ev;
	if (unlikely(!tp_decode(t->dec, r->s, c->rec, c->len, ev)))
		r->short_records++;
	stream_push(r->s);
}

static inline bool cpu_before(const struct ring_cpu *a, const struct ring_cpu *b)
{
	return a->time != b->time ? a->time < b->time : a->cpu < b->cpu;
}

static void sift_down(struct ring *r, size_t i)
{
	uint32_t *heap = r->heap, cpu = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= r->heap_n)
			break;
		if (child + 1 < r->heap_n &&
		    cpu_before(&r->cpus[heap[child + 1]], &r->cpus[heap[child]]))
			child++;
		if (!cpu_before(&r->cpus[heap[child]], &r->cpus[cpu]))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = cpu;
}

static void merge(struct ring *r)
{
	uint64_t n = 0;

	while (r->heap_n) {
		struct ring_cpu *c = &r->cpus[r->heap[0]];
		const struct ring_cpu *second = NULL;
		bool more;

		if (r->heap_n > 1)
			second = &r->cpus[r->heap[1]];
		if (r->heap_n > 2 && cpu_before(&r->cpus[r->heap[2]], second))
			second = &r->cpus[r->heap[2]];
		do {
			deliver(r, c);
			more = ring_next(r, c);
		} while (more && (!second || cpu_before(c, second)) && (++n & 0xffff));
		if (stream_interrupted())
			return;
		if (!more)
			r->heap[0] = r->heap[--r->heap_n];
		if (r->heap_n)
			sift_down(r, 0);
	}
}

static void unbind(struct ring *r)
{
	size_t i;

	for (i = 0; i < r->n_ids; i++) {
		struct ring_type *t = r->types[r->ids[i]];

		tp_decoder_free(t->dec);
		t->dec = NULL;
		t->bound = t->quick = false;
		t->ev = EVENT_TYPE_NONE;
	}
	memset(r->funcs, 0, sizeof(r->funcs));
}

/* The recording's own symbols, where it has call chains to be named. */
static void give_symbols(struct ring *r)
{
	const struct sym_list_desc d = { .kind = SYM_LIST_KALLSYMS, .path = r->s->desc.path,
					 .side = r->s->desc.side, .source_id = r->s->source_id };
	_cleanup_error_ struct error *err = NULL;

	if (!r->s->stacks.n || !r->kallsyms.len)
		return;
	err = symbols_add_list(r->ctx->db, &d, r->kallsyms.s, r->kallsyms.len);
	if (err)
		parse_remark(r->ctx, false, "call chains stay addresses: %s", err->what);
}

void ring_run(struct ring *r)
{
	size_t i;

	unbind(r);
	r->plain = !r->swap && !r->big_endian && !r->mult && !r->n_shifts;
	push_comms(r);
	r->heap = xrealloc(r->heap, (r->n_cpus + 1) * sizeof(*r->heap));
	for (r->heap_n = i = 0; i < r->n_cpus; i++)
		if (ring_next(r, &r->cpus[i]))
			r->heap[r->heap_n++] = (uint32_t)i;
	for (i = r->heap_n / 2; i-- > 0; )
		sift_down(r, i);
	merge(r);
	for (i = 0; i < r->n_cpus; i++)
		if (r->cpus[i].lost && !stream_interrupted())
			push_lost(r, &r->cpus[i], r->s->last_ns);
	give_symbols(r);
}

void ring_remarks(const struct ring *r, bool cut)
{
	struct parse_ctx *ctx = r->ctx;

	if (r->bad_formats)
		parse_remark(ctx, true, "event formats that are not understood: %" PRIu64
			     ": their events are only counted", r->bad_formats);
	if (r->bad_chunks)
		parse_remark(ctx, true, "compressed pieces of trace data that are damaged: %" PRIu64
			     ": their events are missing", r->bad_chunks);
	if (r->bad_pages)
		parse_remark(ctx, true, "damaged ring buffer pages: %" PRIu64 ", first at byte %" PRIu64
			     ": what could not be read of them is taken for lost events", r->bad_pages,
			     r->bad_page_pos);
	if (r->cut_pages && !cut)
		parse_remark(ctx, true, "ring buffer pages cut by their CPU's end of data: %" PRIu64
			     ": events up to there are read", r->cut_pages);
	if (r->bad_times)
		parse_remark(ctx, true, "events left out for impossible times: %" PRIu64, r->bad_times);
	if (r->short_records)
		parse_remark(ctx, true, "records shorter than their format says: %" PRIu64,
			     r->short_records);
	if (r->unknown_ids)
		parse_remark(ctx, true, "events whose format is missing (%" PRIu64 ") are counted as "
			     "tracepoint:ID, with time, CPU and task only", r->unknown_ids);
}
