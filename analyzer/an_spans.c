// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_spans.c - function calls with their durations, from function_graph and from kprobe/kretprobe
 * pairs: all calls into span_stat, the longest of each function into span with what their callees
 * took (span_child).
 *
 * Each task has a stack of open calls. A return closes the innermost open call of its function and
 * drops what is open above it: calls whose return was never recorded (a probe without its
 * kretprobe, a cut trace). A loss on a CPU drops the stacks, as a call must not be paired across
 * it.
 */
#include "engine.h"
#include "topn.h"

#define MAX_DEPTH	64	/* open calls kept per task; beyond it the outermost is dropped */
#define MAX_CHILDREN	16	/* callees told apart per open call: the longest */
#define MAX_PER_FUNC	8	/* spans kept per function */
#define MAX_FUNCS                                                                                  \
	8000 /* functions whose calls are kept and written; the rest is not told apart             \
	      */
#define MAX_ROWS	6000
#define ANCESTORS	3

struct child {
	uint32_t	func, count;
	uint64_t	total, max;
};

struct frame {
	uint64_t	start, pos, serial, off_start;
	uint32_t	func, n_children;
	uint16_t	cpu;
	bool		graph;		/* from function_graph: the exit carries the duration */
	struct child	*children;	/* MAX_CHILDREN, kept with the slot once allocated */
};

struct call_stack {
	struct frame	*frames;	/* MAX_DEPTH slots once allocated */
	size_t		depth;
	uint64_t off_ns, out_ns; /* time off CPU so far; since when it is off (0: on or unknown) */
	bool		off_known;	/* a switch of this task has been seen */
};

struct kept {
	uint64_t	duration;	/* rank */
	uint64_t	start, pos, serial, off_ns;
	uint64_t	ancestors[ANCESTORS];
	uint32_t	func, task, n_children;
	uint16_t	cpu;
	bool		graph, off_known;
	struct child	children[MAX_CHILDREN];
};

struct func_stat {
	uint64_t	count, total, min, max;
	bool		graph;
	struct topn	top;
};

struct spans {
	struct call_stack *by_task;
	size_t		n_tasks;
	struct call_stack *by_cpu;	/* function_graph without a task column */
	size_t		n_cpus;
	struct func_stat *funcs;	/* by function string id, as far as seen */
	size_t		n_funcs, used_funcs;
	uint64_t	serial;
};

static void *spans_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct spans));
}

static struct call_stack *stack_in(struct call_stack **v, size_t *n, size_t i)
{
	GROW_ZERO(*v, *n, i);
	return &(*v)[i];
}

static struct call_stack *stack_of(struct engine *e, struct spans *s, const struct event *ev,
				   uint32_t *task)
{
	*task = engine_task(e, ev->tid);
	if (*task != TASK_NONE && !task_is_idle(*task))
		return stack_in(&s->by_task, &s->n_tasks, *task);
	if (ev->cpu != EVENT_CPU_NONE)
		return stack_in(&s->by_cpu, &s->n_cpus, ev->cpu);
	return NULL;
}

static struct func_stat *stat_of(struct spans *s, uint32_t func)
{
	if (unlikely(func >= s->n_funcs && func >= STREAM_MAX_STRINGS))
		return NULL;
	GROW_ZERO(s->funcs, s->n_funcs, func);
	return &s->funcs[func];
}

static void add_child(struct frame *f, const struct child *c)
{
	struct child *least = NULL;
	uint32_t i;

	if (!f->children)
		f->children = xmalloc(MAX_CHILDREN * sizeof(*f->children));
	for (i = 0; i < f->n_children; i++) {
		struct child *x = &f->children[i];

		if (x->func == c->func) {
			x->count += c->count;
			x->total += c->total;
			x->max = MAX(x->max, c->max);
			return;
		}
		if (!least || x->total < least->total)
			least = x;
	}
	if (f->n_children < MAX_CHILDREN)
		f->children[f->n_children++] = *c;
	else if (least && least->total < c->total)
		*least = *c;
}

/* A call has ended: count it, keep it if it is long, and add it and its callees to its caller. */
static void finish(struct spans *s, struct call_stack *st, const struct frame *f, uint64_t duration,
		   uint32_t task)
{
	struct func_stat *stat = stat_of(s, f->func);
	struct child self = { .func = f->func, .count = 1, .total = duration, .max = duration };
	uint32_t i;

	if (!stat)
		return;
	if (!stat->count++) {
		stat->min = duration;
		stat->graph = f->graph;
		topn_init(&stat->top, sizeof(struct kept),
			  s->used_funcs++ < MAX_FUNCS ? MAX_PER_FUNC : 0);
	}
	stat->total += duration;
	stat->min = MIN(stat->min, duration);
	stat->max = MAX(stat->max, duration);
	if (stat->top.max && topn_wants(&stat->top, duration)) {
		struct kept k = { .duration = duration,
				  .start = f->start,
				  .pos = f->pos,
				  .serial = f->serial,
				  .off_ns = st->off_ns - f->off_start,
				  .func = f->func,
				  .task = task,
				  .n_children = f->n_children,
				  .cpu = f->cpu,
				  .graph = f->graph,
				  .off_known = st->off_known };

		for (i = 0; i < ANCESTORS && i < st->depth; i++)
			k.ancestors[i] = st->frames[st->depth - 1 - i].serial;
		if (f->n_children)
			memcpy(k.children, f->children, f->n_children * sizeof(*f->children));
		topn_add(&stat->top, &k);
	}
	if (!st->depth)
		return;
	add_child(&st->frames[st->depth - 1], &self);
	for (i = 0; i < f->n_children; i++)
		add_child(&st->frames[st->depth - 1], &f->children[i]);
}

static void push(struct engine *e, struct spans *s, struct call_stack *st, const struct event *ev,
		 bool graph)
{
	struct frame *f;

	if (!st->frames)
		st->frames = xcalloc(MAX_DEPTH, sizeof(*st->frames));
	if (st->depth == MAX_DEPTH) {
		struct child *spare = st->frames[0].children;

		memmove(st->frames, st->frames + 1, (MAX_DEPTH - 1) * sizeof(*st->frames));
		st->frames[--st->depth].children = spare;
	}
	f = &st->frames[st->depth++];
	f->start = e->now;
	f->pos = ev->pos;
	f->serial = ++s->serial;
	f->off_start = st->off_ns;
	f->func = ev->b[0];
	f->cpu = ev->cpu;
	f->graph = graph;
	f->n_children = 0;
}

static void pop(struct engine *e, struct spans *s, struct call_stack *st, const struct event *ev,
		uint32_t task, bool graph)
{
	size_t i = st->depth;
	uint64_t duration;
	struct frame *f;
	uint32_t c;

	while (i && !(st->frames[i - 1].graph == graph &&
		      (ev->b[0] == EVENT_U32_NONE || st->frames[i - 1].func == ev->b[0])))
		i--;
	if (!i)
		return;		/* began before the recording */
	f = &st->frames[i - 1];
	/* what ran below a call whose return was never recorded ran below this one too */
	for (; st->depth > i; st->depth--)
		for (c = 0; c < st->frames[st->depth - 1].n_children; c++)
			add_child(f, &st->frames[st->depth - 1].children[c]);
	st->depth = i - 1;
	duration = graph && ev->a[0] ? ev->a[0] : e->now - f->start;
	finish(s, st, f, duration, task);
}

static void leaf(struct engine *e, struct spans *s, struct call_stack *st, const struct event *ev,
		 uint32_t task)
{
	struct frame f = { .start = e->now,
			   .pos = ev->pos,
			   .serial = ++s->serial,
			   .off_start = st->off_ns,
			   .func = ev->b[0],
			   .cpu = ev->cpu,
			   .graph = true };

	finish(s, st, &f, ev->a[0], task);
}

static void on_switch(struct engine *e, struct spans *s, const struct event *ev)
{
	uint32_t prev = engine_task(e, (int32_t)ev->a[2]), next = engine_task(e, (int32_t)ev->b[0]);
	struct call_stack *st;

	if (prev != TASK_NONE && !task_is_idle(prev)) {
		st = stack_in(&s->by_task, &s->n_tasks, prev);
		st->out_ns = e->now;
		st->off_known = true;
	}
	if (next != TASK_NONE && !task_is_idle(next)) {
		st = stack_in(&s->by_task, &s->n_tasks, next);
		if (st->out_ns)
			st->off_ns += e->now - st->out_ns;
		/* with a call open it must have gone off unseen */
		else if (!st->depth)
			st->off_known = true;
		st->out_ns = 0;
	}
}

static void spans_event(struct engine *e, void *state, const struct event *ev)
{
	struct spans *s = state;
	struct call_stack *st;
	uint32_t task;

	if (ev->kind == EV_SCHED_SWITCH) {
		on_switch(e, s, ev);
		return;
	}
	st = stack_of(e, s, ev, &task);
	if (!st)
		return;
	switch (ev->kind) {
	case EV_PROBE_ENTER:
	case EV_PROBE_ROOT:
		push(e, s, st, ev, false);
		break;
	case EV_PROBE_RETURN:
		pop(e, s, st, ev, task, false);
		break;
	case EV_FUNC_ENTER:
		push(e, s, st, ev, true);
		break;
	case EV_FUNC_EXIT:
		pop(e, s, st, ev, task, true);
		break;
	case EV_FUNC_LEAF:
		leaf(e, s, st, ev, task);
		break;
	default:
		break;
	}
}

static void spans_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct spans *s = state;
	size_t i;

	(void)e;
	for (i = 0; i < s->n_tasks; i++) {
		s->by_task[i].depth = 0;
		s->by_task[i].out_ns = 0;
	}
	for (i = 0; i < s->n_cpus; i++)
		if (cpu == EVENT_CPU_NONE || cpu == i)
			s->by_cpu[i].depth = 0;
}

struct row_ref {
	const struct kept *k;
	int64_t		id;
};

static int longest_first(const void *a, const void *b)
{
	const struct kept *x = ((const struct row_ref *)a)->k, *y = ((const struct row_ref *)b)->k;

	if (x->duration != y->duration)
		return x->duration < y->duration ? 1 : -1;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_serial(const void *a, const void *b)
{
	const struct kept *x = ((const struct row_ref *)a)->k, *y = ((const struct row_ref *)b)->k;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

static struct error *write_span(struct engine *e, struct row_ref *ref)
{
	const struct kept *k = ref->k;
	const struct task *t = k->task != TASK_NONE ? &e->tasks[k->task] : NULL;
	struct event ev = { .time = k->start,
			    .pos = k->pos,
			    .cpu = k->cpu,
			    .tid = t ? t->tid : -1,
			    .kind = k->graph ? EV_FUNC_ENTER : EV_PROBE_ENTER,
			    .ev = EVENT_TYPE_NONE };
	bool timed = !e->s->desc.clock || strcmp(e->s->desc.clock, "none");
	int64_t vm = t && t->vm != VM_NONE ? e->vms[t->vm].row_id : 0, task_id = t ? t->row_id : 0,
		tid = t ? t->tid : 0;
	int64_t cpu = k->cpu, off = (int64_t)k->off_ns, start = (int64_t)k->start, stack = 0,
		cite = engine_cite(e, &ev);
	uint64_t ips[STACK_MAX_FRAMES];
	char comm[24];
	uint32_t i;

	if (e->s->ops && e->s->ops->stack) {
		size_t n = e->s->ops->stack(e->s->ops_priv, &ev, ips, STACK_MAX_FRAMES);

		while (n && ips[0] >> 63 && !(ips[n - 1] >> 63))	/* the user's */
			n--;
		if (n)
			stack = stream_stack_row(e->s, stream_stack_id(e->s, ips, n,
								       SYM_SPACE_NONE));
	}
	TRY(case_insert(e->db, &ref->id,
			"INSERT INTO span(source_id, func, origin, vm_id, task_id, task, tid, cpu, "
			"start_ns, duration_ns,"
			" time_resolution_ns, offcpu_ns, stack_id, cite_id) "
			"VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			"issIIsIIIiiIII", e->s->source_id, strtab_str(&e->s->strings, k->func),
			k->graph ? "fgraph" : "kprobe", vm ? &vm : NULL, task_id ? &task_id : NULL,
			t ? engine_comm(t, comm) : NULL, t ? &tid : NULL,
			k->cpu != EVENT_CPU_NONE ? &cpu : NULL, timed ? &start : NULL,
			(int64_t)k->duration, (int64_t)MAX(e->s->desc.time_resolution_ns, 1u),
			k->off_known ? &off : NULL, stack ? &stack : NULL, cite ? &cite : NULL));
	for (i = 0; i < k->n_children; i++)
		TRY(case_insert(e->db, NULL,
				"INSERT INTO span_child(span_id, func, count, total_ns, max_ns) "
				"VALUES(?,?,?,?,?)",
				"isiii", ref->id, strtab_str(&e->s->strings, k->children[i].func),
				(int64_t)k->children[i].count, (int64_t)k->children[i].total,
				(int64_t)k->children[i].max));
	return NULL;
}

/* A stored span's parent is the nearest of its ancestors that is stored too. */
static struct error *link_parents(struct engine *e, struct row_ref *refs, size_t n)
{
	size_t i, a;

	qsort(refs, n, sizeof(*refs), by_serial);
	for (i = 0; i < n; i++) {
		for (a = 0; a < ANCESTORS && refs[i].k->ancestors[a]; a++) {
			struct kept key = { .serial = refs[i].k->ancestors[a] };
			struct row_ref probe = { .k = &key }, *hit;

			hit = bsearch(&probe, refs, n, sizeof(*refs), by_serial);
			if (!hit || !hit->id || !refs[i].id)
				continue;
			TRY(case_insert(e->db, NULL, "UPDATE span SET parent_id=? WHERE id=?", "ii", hit->id, refs[i].id));
			break;
		}
	}
	return NULL;
}

static struct error *spans_flush(struct engine *e, void *state)
{
	struct spans *s = state;
	_cleanup_free_ struct row_ref *refs = NULL;
	size_t n = 0, cap = 0, i, k, funcs = 0;

	for (i = 0; i < s->n_funcs && funcs < MAX_FUNCS; i++) {
		const struct func_stat *f = &s->funcs[i];

		if (!f->count)
			continue;
		funcs++;
		TRY(case_insert(e->db, NULL,
				"INSERT INTO span_stat(source_id, func, origin, parent, count, total_ns, min_ns, max_ns)"
				" VALUES(?,?,?,'',?,?,?,?)", "issiiii", e->s->source_id, strtab_str(&e->s->strings, (uint32_t)i),
				f->graph ? "fgraph" : "kprobe", (int64_t)f->count, (int64_t)f->total, (int64_t)f->min,
				(int64_t)f->max));
		for (k = 0; k < f->top.n; k++) {
			GROW(refs, cap, n + 1);
			refs[n++] = (struct row_ref){ .k = (const struct kept *)f->top.recs + k };
		}
	}
	if (!n)
		return NULL;
	qsort(refs, n, sizeof(*refs), longest_first);
	n = MIN(n, (size_t)MAX_ROWS);
	for (i = 0; i < n; i++)
		TRY(write_span(e, &refs[i]));
	return link_parents(e, refs, n);
}

static void free_stacks(struct call_stack *v, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; v[i].frames && k < MAX_DEPTH; k++)
			free(v[i].frames[k].children);
		free(v[i].frames);
	}
	free(v);
}

static void spans_destroy(void *state)
{
	struct spans *s = state;
	size_t i;

	free_stacks(s->by_task, s->n_tasks);
	free_stacks(s->by_cpu, s->n_cpus);
	for (i = 0; i < s->n_funcs; i++)
		topn_deinit(&s->funcs[i].top);
	free(s->funcs);
	free(s);
}

static const struct analysis spans_analysis = {
	.name = "spans",
	.priority = 60,
	.pairs = true,
	.kinds = KIND(PROBE_ENTER) | KIND(PROBE_RETURN) | KIND(PROBE_ROOT) | KIND(FUNC_ENTER) |
		 KIND(FUNC_EXIT) | KIND(FUNC_LEAF) | KIND(SCHED_SWITCH),
	.begin = spans_begin,
	.event = spans_event,
	.lost = spans_lost,
	.flush = spans_flush,
	.destroy = spans_destroy,
};
REGISTER(analyses, &spans_analysis);
