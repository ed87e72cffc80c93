// SPDX-License-Identifier: GPL-2.0-or-later
/* history.c - the pool of segments; see history.h. */
#include "history.h"

#define KVM_IOCTL_TYPE	0xae	/* linux/kvm.h: KVMIO */

uint32_t hist_kvm_ioctl(const struct event *ev)
{
	/* numbers of ioctl: x86-64 16, arm64 and riscv 29, i386, ppc and s390 54 (asm/unistd.h) */
	if (ev->kind == EV_SYS_ENTER && ev->b[0] != 16 && ev->b[0] != 29 && ev->b[0] != 54)
		return 0;
	/* _IOC: type in bits 8 to 15; direction and size above */
	return (ev->a[1] >> 8 & 0xff) == KVM_IOCTL_TYPE && ev->a[1] <= UINT32_MAX
		       ? (uint32_t)ev->a[1] & 0xffff
		       : 0;
}

struct hist_cpu *hist_cpu(struct history *h, uint16_t cpu)
{
	if (unlikely(cpu == EVENT_CPU_NONE))
		return NULL;
	if (unlikely(cpu >= h->n_cpus)) {
		h->cpus = xrealloc(h->cpus, (cpu + 1u) * sizeof(*h->cpus));
		while (h->n_cpus <= cpu)
			h->cpus[h->n_cpus++] =
				(struct hist_cpu){ .last = HIST_NONE, .task = TASK_NONE };
	}
	return &h->cpus[cpu];
}

struct hist_task *hist_task(struct history *h, uint32_t idx)
{
	if (unlikely(idx == TASK_NONE))
		return NULL;
	if (unlikely(idx >= h->n_tasks)) {
		size_t n = MAX((size_t)idx + 1, h->n_tasks * 2);

		h->tasks = xrealloc(h->tasks, n * sizeof(*h->tasks));
		memset(h->tasks + h->n_tasks, 0, (n - h->n_tasks) * sizeof(*h->tasks));
		for (; h->n_tasks < n; h->n_tasks++) {
			h->tasks[h->n_tasks].last = HIST_NONE;
			h->tasks[h->n_tasks].cpu = EVENT_CPU_NONE;
		}
	}
	return &h->tasks[idx];
}

const struct hist_seg *hist_seg(const struct history *h, uint64_t seq)
{
	if (seq == HIST_NONE || seq >= h->n || h->n - seq > HIST_SEGS)
		return NULL;
	return &h->segs[seq & (HIST_SEGS - 1)];
}

/* The full sequence number of a backward link @low in the segment with number @seq. */
static uint64_t link_seq(uint64_t seq, uint32_t low)
{
	uint32_t back = (uint32_t)seq - low;

	return back && back <= seq ? seq - back : HIST_NONE;
}

/* The slot of a probed function: its own, a free one, or NULL when there are too many of them. */
static struct hist_probe *probe_slot(const struct history *h, uint32_t func)
{
	uint32_t i, at = func * 0x9e3779b1u;

	for (i = 0; i < 8; i++) {
		const struct hist_probe *p = &h->probes[(at + i) & (HIST_PROBES - 1)];

		if (!p->func || p->func == func + 1)
			return (struct hist_probe *)p;
	}
	return NULL;
}

static bool func_counts(const struct history *h, uint32_t ctx)
{
	const struct hist_probe *p;

	if (HCTX_TYPE(ctx) != HCTX_FUNC)
		return true;
	p = probe_slot(h, HCTX_VALUE(ctx));
	return !p || !p->func || p->returns || p->enters < HIST_PROBE_TRIES;
}

uint32_t hist_ctx(const struct history *h, uint32_t idx)
{
	const struct hist_task *t;
	unsigned int n;

	if (idx == TASK_NONE || idx >= h->n_tasks)
		return 0;
	t = &h->tasks[idx];
	for (n = MIN((unsigned int)t->n_funcs, (unsigned int)HIST_FUNCS); n; n--)
		if (func_counts(h, t->func[n - 1]))
			return t->func[n - 1];
	return t->sysctx;
}

static uint32_t losses_at(const struct history *h, uint16_t cpu)
{
	return h->losses_any + (cpu < h->n_cpus ? h->cpus[cpu].losses : 0);
}

/* What the open segment of @idx will say it was in. */
static uint32_t seg_ctx(const struct history *h, uint32_t idx)
{
	uint32_t ctx = hist_ctx(h, idx);

	return ctx || h->tasks[idx].state != HIST_RUN ? ctx : h->tasks[idx].work;
}

/* The stack of the last sample taken in the open running segment. */
static uint32_t last_sample(const struct hist_task *t)
{
	return t->sample_time && t->sample_time >= t->since ? t->sample_stack : TASK_NONE;
}

/* The next slot of the pool; h->n counts it. */
static struct hist_seg *next_seg(struct history *h)
{
	/* A long recording takes the whole pool at once: its memory does not depend on its length.
	 */
	if (unlikely(h->n == HIST_SHORT))
		memset(h->segs + HIST_SHORT, 0, (HIST_SEGS - HIST_SHORT) * sizeof(*h->segs));
	return &h->segs[h->n++ & (HIST_SEGS - 1)];
}

/*
 * What the waker was in: an interrupt on its CPU where the flags say so, or where the form has no
 * flags and one is being handled.
 */
static void set_wake_ctx(const struct history *h, struct hist_seg *s, const struct event *wake)
{
	uint32_t irq = hist_irq(h, wake->cpu);

	s->wflags = wake->flags;
	if (irq && !(wake->flags & EVF_KNOWN))
		s->wflags |= HCTX_TYPE(irq) == HCTX_SOFTIRQ ? EVF_KNOWN | EVF_SOFTIRQ
							    : EVF_KNOWN | EVF_HARDIRQ;
	s->wctx = irq && s->wflags & (EVF_HARDIRQ | EVF_SOFTIRQ) ? irq : hist_ctx(h, s->waker);
}

/*
 * End the open segment of @t at @now by the event at @pos and begin one in @state. @wake: the event
 * that wakes it.
 */
static void turn(struct history *h, uint32_t idx, struct hist_task *t, enum hist_state state,
		 uint16_t cpu, uint64_t pos, const struct event *wake, uint32_t waker)
{
	uint64_t now = h->e->now, seq = h->n;
	bool lost = t->state != HIST_RUN && t->losses != losses_at(h, t->cpu);

	if (t->seen && now > t->since) {
		struct hist_seg *s = next_seg(h);
		struct hist_cpu *c = t->state == HIST_RUN ? hist_cpu(h, t->cpu) : NULL;

		*s = (struct hist_seg){ .start = t->since,
					.end = now,
					.pos = t->pos,
					.end_pos = pos,
					.task = idx,
					.prev = (uint32_t)(t->last == HIST_NONE ? seq : t->last),
					.cprev = (uint32_t)seq,
					.waker = TASK_NONE,
					.cpu = t->cpu,
					.state = lost ? HIST_LOST : t->state };
		if (t->state == HIST_BLOCK) {
			s->ctx = t->ctx;
			s->bstate = t->bstate;
			if (wake) {
				s->waker = waker;
				s->wcpu = wake->cpu;
				set_wake_ctx(h, s, wake);
				s->wkind = wake->kind;
			} else {
				s->wcpu = EVENT_CPU_NONE;
			}
		} else {
			s->ctx = seg_ctx(h, idx);
			if (t->state == HIST_WAIT)
				s->waker = t->enq_ns;
			else if (t->state == HIST_RUN)
				s->waker = last_sample(t);
		}
		if (c) {
			s->cprev = (uint32_t)(c->last == HIST_NONE ? seq : c->last);
			c->last = seq;
		}
		t->last = seq;
	}
	t->seen = true;
	t->state = state;
	t->since = now;
	t->pos = pos;
	t->cpu = cpu;
	t->ctx = hist_ctx(h, idx);
	t->enq_ns = 0;
	t->work = 0;
	t->losses = losses_at(h, cpu);
}

static void cpu_takes(struct history *h, uint16_t cpu, uint32_t task)
{
	struct hist_cpu *c = hist_cpu(h, cpu);

	if (c) {
		c->task = task;
		c->since = h->e->now;
		c->n_irq = 0;	/* whoever is switched to is in no interrupt */
	}
}

/* Idle tasks run on every CPU at once (tid 0): their segments hang on the CPU, not on a task. */
static void idle_leaves(struct history *h, uint16_t cpu, uint64_t pos)
{
	struct hist_cpu *c = hist_cpu(h, cpu);
	uint64_t seq = h->n;

	if (!c || c->task != 0 || h->e->now <= c->since)
		return;
	*next_seg(h) = (struct hist_seg){
		.start = c->since,
		.end = h->e->now,
		.pos = pos,
		.end_pos = pos,
		.task = 0,
		.prev = (uint32_t)seq,
		.cprev = (uint32_t)(c->last == HIST_NONE ? seq : c->last),
		.waker = TASK_NONE,
		.cpu = cpu,
		.state = HIST_RUN,
	};
	c->last = seq;
}

/*
 * A running task turns up elsewhere: when it left its CPU was not recorded, so nothing is known of
 * either since then.
 */
static void left_unseen(struct history *h, uint32_t idx, struct hist_task *t)
{
	struct hist_cpu *c;

	if (!t->seen || t->state != HIST_RUN)
		return;
	t->state = HIST_UNKNOWN;
	c = hist_cpu(h, t->cpu);
	if (c && c->task == idx)
		c->task = TASK_NONE;
}

static void on_switch(struct history *h, const struct event *ev)
{
	uint32_t prev = engine_task(h->e, (int32_t)ev->a[2]),
		 next = engine_task(h->e, (int32_t)ev->b[0]);
	uint64_t st = ev->a[3];

	if (prev != TASK_NONE && !task_is_idle(prev)) {
		struct hist_task *t = hist_task(h, prev);
		enum hist_state state = HIST_BLOCK;

		if (!(st & ~(uint64_t)TSTATE_PREEMPTED))
			state = HIST_PREEMPT;
		else if (st & (TSTATE_DEAD | TSTATE_ZOMBIE))
			state = HIST_DEAD;
		if (t->cpu != ev->cpu)
			left_unseen(h, prev, t);
		turn(h, prev, t, state, ev->cpu, ev->pos, NULL, TASK_NONE);
		t->bstate = (uint8_t)st;
	} else if (prev == 0) {
		idle_leaves(h, ev->cpu, ev->pos);
	}
	if (next != TASK_NONE && !task_is_idle(next)) {
		struct hist_task *t = hist_task(h, next);

		left_unseen(h, next, t);
		/* it was moved, and when is not known unless migrations are recorded */
		if (t->seen && (t->state == HIST_WAIT || t->state == HIST_PREEMPT) &&
		    t->cpu != ev->cpu && t->losses == losses_at(h, t->cpu)) {
			t->cpu = h->e->seen & KIND(SCHED_MIGRATE) ? ev->cpu : EVENT_CPU_NONE;
			t->losses = losses_at(h, t->cpu);
		}
		turn(h, next, t, HIST_RUN, ev->cpu, ev->pos, NULL, TASK_NONE);
	}
	cpu_takes(h, ev->cpu, next);
}

static void on_wakeup(struct history *h, const struct event *ev)
{
	uint32_t idx = engine_task(h->e, (int32_t)ev->b[0]), waker = engine_task(h->e, ev->tid);
	struct hist_task *t;
	uint16_t cpu;

	if (idx == TASK_NONE || task_is_idle(idx))
		return;
	t = hist_task(h, idx);
	cpu = ev->b[1] < EVENT_CPU_NONE ? (uint16_t)ev->b[1] : t->cpu;
	/* who is runnable isn't woken: it ran and slept again unseen */
	if (t->seen && t->state == HIST_WAIT && ev->kind == EV_SCHED_WAKING)
		t->state = HIST_UNKNOWN;
	if (t->seen && t->state == HIST_WAIT) {
		uint64_t d = h->e->now - t->since;

		if (ev->kind != EV_SCHED_WAKING && !t->enq_ns) {
			t->enq_ns = d < UINT32_MAX ? (uint32_t)d : UINT32_MAX;
			if (cpu != t->cpu && d <= NSEC_PER_MSEC)
				t->cpu = cpu;		/* the CPU that select_task_rq() chose */
		}
		return;
	}
	if (t->seen && (t->state == HIST_RUN || t->state == HIST_PREEMPT))
		return;
	if (ev->kind == EV_SCHED_WAKEUP_NEW && (!t->seen || t->state == HIST_DEAD)) {
		/*
		 * a new task (or tid): before this there was none, and whoever creates it decides
		 * when it begins
		 */
		t->seen = true;
		t->state = HIST_BLOCK;
		t->bstate = HIST_NEW_TASK;
		t->since = 0;
		t->pos = ev->pos;
		t->n_funcs = 0;
		t->sysctx = t->ctx = 0;
		t->losses = losses_at(h, t->cpu);
		t->last = HIST_NONE;
	}
	turn(h, idx, t, HIST_WAIT, cpu, ev->pos, ev, waker);
}

static void on_migrate(struct history *h, const struct event *ev)
{
	uint32_t idx = engine_task(h->e, (int32_t)ev->b[0]);
	struct hist_task *t;

	if (idx == TASK_NONE || task_is_idle(idx) || ev->b[1] >= EVENT_CPU_NONE)
		return;
	t = hist_task(h, idx);
	if (!t->seen || t->cpu == ev->b[1])
		return;
	if (t->state == HIST_PREEMPT ||
	    (t->state == HIST_WAIT && h->e->now - t->since > NSEC_PER_MSEC))
		turn(h, idx, t, (enum hist_state)t->state, (uint16_t)ev->b[1], ev->pos, NULL,
		     TASK_NONE);
	else if (t->state == HIST_WAIT)
		t->cpu = (uint16_t)ev->b[1];
}

void hist_push(struct history *h, uint32_t idx, uint32_t ctx)
{
	struct hist_task *t = hist_task(h, idx);

	if (t->n_funcs < HIST_FUNCS) {
		t->func[t->n_funcs] = ctx;
		t->func_start[t->n_funcs] = h->e->now;
	}
	if (t->n_funcs < UINT16_MAX)
		t->n_funcs++;
}

static void func_done(struct hist_task *t, uint32_t ctx, uint64_t start, uint64_t end)
{
	/* what lies before the mark has been told already */
	start = MAX(start, t->mark);
	if (start < end &&
	    (t->best_start < t->mark || end - start > t->best_end - t->best_start)) {
		t->best_func = ctx;
		t->best_start = start;
		t->best_end = end;
	}
}

bool hist_long_func(struct history *h, uint32_t idx, uint64_t from, uint64_t to, uint32_t *func,
		    uint64_t *ns)
{
	struct hist_task *t = hist_task(h, idx);
	uint64_t start = 0, end = 0;
	unsigned int n;

	if (!t)
		return false;
	if (t->best_end > t->best_start && t->best_start >= t->mark) {
		start = MAX(t->best_start, from);
		end = MIN(t->best_end, to);
		*func = t->best_func;
	}
	for (n = MIN((unsigned int)t->n_funcs, (unsigned int)HIST_FUNCS); n; n--) {
		uint64_t s = MAX(t->func_start[n - 1], from);

		/* still open: the innermost that had most of the time */
		if (s < to && (end <= start || to - s > end - start) &&
		    func_counts(h, t->func[n - 1])) {
			start = s;
			end = to;
			*func = t->func[n - 1];
		}
	}
	t->mark = h->e->now;
	if (end <= start)
		return false;
	*ns = end - start;
	return true;
}

void hist_pop(struct history *h, uint32_t idx, uint32_t ctx)
{
	struct hist_task *t = hist_task(h, idx);
	unsigned int n = MIN((unsigned int)t->n_funcs, (unsigned int)HIST_FUNCS);

	/*
	 * a return without its entry, or entries whose return was not recorded: unwind to the one
	 * that matches
	 */
	if (t->n_funcs > HIST_FUNCS && t->func[HIST_FUNCS - 1] != ctx) {
		t->n_funcs--;
		return;
	}
	while (n && t->func[n - 1] != ctx)
		n--;
	if (!n)
		return;
	func_done(t, ctx, t->func_start[n - 1], h->e->now);
	t->n_funcs = (uint16_t)(n - 1);
}

/* function_graph gives depths: what is at or below the depth of a new call has ended. */
static void func_graph(struct history *h, uint32_t idx, const struct event *ev)
{
	struct hist_task *t = hist_task(h, idx);

	if (ev->kind == EV_FUNC_LEAF) {
		if (ev->a[0])
			func_done(t, HCTX(HCTX_FUNC, ev->b[0]), h->e->now,
				  h->e->now + ev->a[0]);
		return;
	}
	if (ev->kind == EV_FUNC_ENTER) {
		if (ev->b[1] < t->n_funcs)
			t->n_funcs = (uint16_t)ev->b[1];
		hist_push(h, idx, HCTX(HCTX_FUNC, ev->b[0]));
		return;
	}
	if (ev->b[1] < t->n_funcs)
		t->n_funcs = (uint16_t)(ev->b[1] + 1);
	if (t->n_funcs && t->n_funcs <= HIST_FUNCS)
		func_done(t, t->func[t->n_funcs - 1], t->func_start[t->n_funcs - 1], h->e->now);
	if (t->n_funcs)
		t->n_funcs--;
}

static void on_probe(struct history *h, uint32_t idx, const struct event *ev)
{
	struct hist_probe *p = probe_slot(h, ev->b[0]);

	if (p) {
		p->func = ev->b[0] + 1;
		if (ev->kind == EV_PROBE_RETURN)
			p->returns = true;
		else if (p->enters < HIST_PROBE_TRIES)
			p->enters++;
	}
	if (ev->kind == EV_PROBE_RETURN)
		hist_pop(h, idx, HCTX(HCTX_FUNC, ev->b[0]));
	else if (func_counts(h, HCTX(HCTX_FUNC, ev->b[0])))
		hist_push(h, idx, HCTX(HCTX_FUNC, ev->b[0]));
}

static void on_current(struct history *h, const struct event *ev)
{
	uint32_t idx = engine_task(h->e, ev->tid), request;
	struct hist_task *t;

	if (idx == TASK_NONE || task_is_idle(idx))
		return;
	t = hist_task(h, idx);
	switch (ev->kind) {
	case EV_PROBE_ENTER:
	case EV_PROBE_RETURN:
		on_probe(h, idx, ev);
		break;
	case EV_FUNC_ENTER:
	case EV_FUNC_EXIT:
	case EV_FUNC_LEAF:
		func_graph(h, idx, ev);
		break;
	case EV_SYS_ENTER:
	case EV_SYSCALL_ENTER:
		request = hist_kvm_ioctl(ev);
		t->sysctx = request ? HCTX(HCTX_IOCTL, request) :
			    HCTX(ev->kind == EV_SYS_ENTER ? HCTX_SYSCALL : HCTX_SYSNAME, ev->b[0]);
		break;
	case EV_SYS_EXIT:
	case EV_SYSCALL_EXIT:
		t->sysctx = 0;
		t->n_funcs = 0;		/* back in user space: no kernel function is open */
		break;
	case EV_SAMPLE:
		t->sample_time = h->e->now;
		t->sample_stack = ev->b[0];
		break;
	default:
		break;
	}
}

static void history_event(struct engine *e, void *state, const struct event *ev)
{
	struct history *h = state;

	(void)e;
	switch (ev->kind) {
	case EV_SCHED_SWITCH:
		on_switch(h, ev);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		on_wakeup(h, ev);
		break;
	case EV_SCHED_MIGRATE:
		on_migrate(h, ev);
		break;
	default:
		if (hist_span_event(h, ev))
			break;
		on_current(h, ev);
		break;
	}
}

/*
 * Events are missing between the last one of @cpu and now: what ran there is known up to that last
 * one.
 */
static void lose_cpu(struct history *h, uint16_t cpu)
{
	struct hist_cpu *c = hist_cpu(h, cpu);
	uint64_t now = h->e->now;

	if (!c)
		return;
	c->losses++;
	c->n_irq = 0;
	if (cpu < h->e->n_cpus && h->e->cpus[cpu].last_ns >= c->since)
		h->e->now = h->e->cpus[cpu].last_ns;
	if (c->task != TASK_NONE && c->task != 0) {
		struct hist_task *t = hist_task(h, c->task);

		t->n_funcs = 0;
		t->sysctx = 0;
		if (t->state == HIST_RUN && t->cpu == cpu)
			turn(h, c->task, t, HIST_LOST, cpu, t->pos, NULL, TASK_NONE);
	} else if (c->task == 0) {
		idle_leaves(h, cpu, 0);
	}
	c->task = TASK_NONE;
	h->e->now = now;
}

static void history_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct history *h = state;
	size_t i;

	(void)e;
	if (cpu != EVENT_CPU_NONE) {
		lose_cpu(h, cpu);
		return;
	}
	h->losses_any++;
	for (i = 0; i < h->n_cpus; i++)
		lose_cpu(h, (uint16_t)i);
}

static bool clip(struct hist_seg *s, uint64_t from, uint64_t to)
{
	s->start = MAX(s->start, from);
	s->end = MIN(s->end, to);
	return s->end > s->start;
}

/* Most segments lie inside as they are; only those at the ends are copied. */
static inline bool give(const struct hist_seg *s, uint64_t seq, uint64_t from, uint64_t to,
			hist_fn fn, void *arg)
{
	struct hist_seg c;

	if (likely(s->start >= from && s->end <= to))
		return fn(arg, s, seq);
	c = *s;
	return !clip(&c, from, to) || fn(arg, &c, seq);
}

enum hist_end hist_walk(const struct history *h, uint32_t idx, uint64_t from, uint64_t to,
			uint64_t *budget, hist_fn fn, void *arg)
{
	const struct hist_task *t;
	const struct hist_seg *s;
	struct hist_seg c;
	uint64_t seq;

	if (idx == TASK_NONE || idx >= h->n_tasks || !h->tasks[idx].seen)
		return HIST_EDGE;
	t = &h->tasks[idx];
	if (t->since < to) {
		bool lost = t->state != HIST_RUN && t->losses != losses_at(h, t->cpu);

		c = (struct hist_seg){ .start = t->since,
				       .end = to,
				       .pos = t->pos,
				       .end_pos = t->pos,
				       .task = idx,
				       .waker = t->state == HIST_WAIT  ? t->enq_ns
						: t->state == HIST_RUN ? last_sample(t)
								       : TASK_NONE,
				       .cpu = t->cpu,
				       .ctx = t->state == HIST_BLOCK ? t->ctx : seg_ctx(h, idx),
				       .wcpu = EVENT_CPU_NONE,
				       .state = lost ? HIST_LOST : t->state,
				       .bstate = t->bstate };
		if (clip(&c, from, to) && !fn(arg, &c, HIST_NONE))
			return HIST_COVERED;
		if (t->since <= from)
			return HIST_COVERED;
	}
	for (seq = t->last; (s = hist_seg(h, seq)) != NULL; seq = link_seq(seq, s->prev)) {
		if (!*budget || s->task != idx)
			return HIST_CUT;
		--*budget;
		if (!give(s, seq, from, to, fn, arg))
			return HIST_COVERED;
		if (s->start <= from)
			return HIST_COVERED;
	}
	return seq == HIST_NONE ? HIST_EDGE : HIST_CUT;
}

/*
 * The running segment of @cpu that ends at @to or later, close before number @before: segments are
 * in the order of their ends, so whoever asks for the time up to the end of segment @before need
 * not come all the way from now. HIST_NONE: not found there.
 */
static uint64_t running_before(const struct history *h, uint16_t cpu, uint64_t before, uint64_t to,
			       uint64_t *budget)
{
	const struct hist_seg *s;
	unsigned int steps;

	for (steps = 0; steps < HIST_NEAR && before-- && *budget; steps++, --*budget) {
		s = hist_seg(h, before);
		if (!s || s->end < to)
			break;
		if (s->state == HIST_RUN && s->cpu == cpu)
			return before;
	}
	return HIST_NONE;
}

enum hist_end hist_walk_cpu(const struct history *h, uint16_t cpu, uint64_t from, uint64_t to,
			    uint64_t before, uint64_t *budget, hist_fn fn, void *arg)
{
	const struct hist_cpu *cc;
	const struct hist_seg *s;
	struct hist_seg c;
	uint64_t seq;

	if (cpu >= h->n_cpus)
		return HIST_EDGE;
	cc = &h->cpus[cpu];
	seq = before == HIST_NONE ? HIST_NONE : running_before(h, cpu, before, to, budget);
	if (seq == HIST_NONE)
		seq = cc->last;
	else
		goto closed;
	if (cc->task != TASK_NONE && cc->since < to) {
		c = (struct hist_seg){ .start = cc->since,
				       .end = to,
				       .task = cc->task,
				       .waker = TASK_NONE,
				       .cpu = cpu,
				       .state = HIST_RUN };
		if (clip(&c, from, to) && !fn(arg, &c, HIST_NONE))
			return HIST_COVERED;
		if (cc->since <= from)
			return HIST_COVERED;
	}
closed:
	for (; (s = hist_seg(h, seq)) != NULL; seq = link_seq(seq, s->cprev)) {
		if (!*budget || s->cpu != cpu || s->state != HIST_RUN)
			return HIST_CUT;
		--*budget;
		if (!give(s, seq, from, to, fn, arg))
			return HIST_COVERED;
		if (s->start <= from)
			return HIST_COVERED;
	}
	return seq == HIST_NONE ? HIST_EDGE : HIST_CUT;
}

static void *history_begin(struct engine *e)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->e = e;
	h->segs = xcalloc(HIST_SEGS,
			  sizeof(*h->segs)); /* fresh pages: only what is used costs memory */
	return h;
}

static void history_destroy(void *state)
{
	struct history *h = state;

	free(h->segs);
	free(h->tasks);
	free(h->cpus);
	free(h);
}

static const struct analysis history_analysis = {
	.name = "history",
	.priority = 10,
	.kinds = KIND(SCHED_SWITCH) | KIND(SCHED_WAKING) | KIND(SCHED_WAKEUP) |
		 KIND(SCHED_WAKEUP_NEW) | KIND(SCHED_MIGRATE) | KIND(PROBE_ENTER) |
		 KIND(PROBE_RETURN) | KIND(FUNC_ENTER) | KIND(FUNC_EXIT) | KIND(FUNC_LEAF) |
		 KIND(SYS_ENTER) | KIND(SYS_EXIT) | KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT) |
		 KIND(SAMPLE) | KIND(WQ_QUEUE) | KIND(WQ_START) | KIND(WQ_END) |
		 KIND(IRQ_ENTRY) | KIND(IRQ_EXIT) | KIND(SOFTIRQ_ENTRY) | KIND(SOFTIRQ_EXIT),
	.begin = history_begin,
	.counted = hist_span_kinds,
	.event = history_event,
	.lost = history_lost,
	.destroy = history_destroy,
};
REGISTER(analyses, &history_analysis);
