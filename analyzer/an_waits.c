// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_waits.c - the longest run-queue waits of vCPU threads, with an exact account of who had the
 * CPU meanwhile.
 *
 * A wait begins when a vCPU thread is switched out while still runnable (preempted) or is woken,
 * and ends when it is switched in. Meanwhile its CPU's time is split at every sched_switch there:
 * idle, per other task, or unknown (before the CPU's first switch, or where the task switched out
 * is not the one switched in before). A switch costs O(1) plus one addition per vCPU thread
 * waiting on that CPU, at most MAX_OPEN of them; waits beyond that have their idle time exact
 * (from the CPU's idle clock) and the rest in one sum.
 *
 * "Refills" count how often the CPU went from idle for over a millisecond to a given task inside
 * the wait: with a quota and nothing else to run, that is a period's refill. A sibling that has
 * the CPU over many refills while this thread waits is the MIN_SHARES bug; a CPU that idles
 * through the wait is plain throttling; others running is overcommit.
 */
#include "an_waits.h"

#define MAX_OPEN	32			/* waits with a full account on one CPU */
#define MAX_SHARES	12			/* tasks told apart in one wait */
#define KEEP_ALL	200			/* longest waits of the recording */
#define KEEP_TASK	8			/* and of each thread */
#define MAX_THREADS	4096			/* vCPU threads with lists of their own */
#define MAX_ROWS	1000
#define MAX_JUMPS	200			/* rows of reweight_jump */
#define MAX_SE		1024			/* entities at MIN_SHARES at one time */
#define BUCKETS		48			/* of the histogram, powers of two */
#define REFILL_IDLE	NSEC_PER_MSEC
#define PLACING		(100 * NSEC_PER_USEC)	/* a migration this soon belongs to the wake-up */
#define MIN_SHARES	2			/* kernel/sched/sched.h */
#define JUMP_MIN	(100 * NSEC_PER_MSEC)	/* of vruntime, to flag the wait that follows */
#define JUMP_NEAR	(20 * NSEC_PER_MSEC)	/* from the reweight to the wait, at most */

enum began { BEGAN_PREEMPTED, BEGAN_WOKEN };

struct share {
	uint32_t	task;
	uint32_t	refills;
	uint64_t	ns;
};

struct wait {
	uint64_t	start, end;
	uint64_t	start_pos, end_pos;
	uint64_t	charged;	/* accounted up to here */
	uint64_t	idle_mark;	/* coarse: the CPU's idle clock at the start there */
	uint64_t	idle, rest, unknown;
	uint32_t	task;
	uint16_t	cpu;		/* EVENT_CPU_NONE: unknown */
	uint8_t		began;		/* enum began */
	bool		placed;		/* its sched_wakeup has come: later migrations are moves */
	bool		moved;
	bool		jump;
	bool		unfinished;
	bool		coarse;
	uint8_t		n_shares;
	struct share	shares[MAX_SHARES];
};

struct thread {
	uint32_t	task;
	bool		waiting;
	struct wait	cur;
	uint64_t	jump_ns;	/* last vruntime jump seen while it ran; TIME_NONE none */
	uint64_t	hist[BUCKETS];
	struct wait	*top[KEEP_TASK];	/* longest first */
	unsigned int	n_top;
	struct wait_return *returns;
	size_t		n_kept, cap_kept;
	struct wait_returns sum;
};

struct wcpu {
	uint32_t	task;		/* switched in last; TASK_NONE unknown */
	uint64_t	since;
	uint64_t	idle;		/* clock: idle time up to `since` */
	uint32_t	open[MAX_OPEN];	/* threads waiting here */
	unsigned int	n_open;
};

/* A group entity at MIN_SHARES. */
struct low_se {
	uint64_t	se, time, pos, vruntime, low;
};

struct jump {
	uint64_t	se, down, up, down_pos, up_pos, low, weight;
	int64_t		jump;
};

struct waits {
	struct thread	*threads;
	size_t		n_threads, cap_threads;
	uint32_t	*slot;		/* task index -> thread + 1 */
	size_t		n_slots;
	struct wcpu	*cpus;
	uint32_t	n_cpus;
	struct wait	*heap[KEEP_ALL];	/* smallest first */
	size_t		n_heap;
	struct low_se	low[MAX_SE];
	size_t		n_low;
	struct jump	jumps[MAX_JUMPS];
	size_t		n_jumps;
	uint64_t	lost_ns;	/* of the last loss */
};

static void *waits_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct waits));
}

static struct wcpu *cpu_of(struct waits *w, uint16_t n)
{
	if (unlikely(n == EVENT_CPU_NONE))
		return NULL;
	if (unlikely(n >= w->n_cpus)) {
		w->cpus = xrealloc(w->cpus, (n + 1u) * sizeof(*w->cpus));
		while (w->n_cpus <= n) {
			memset(&w->cpus[w->n_cpus], 0, sizeof(*w->cpus));
			w->cpus[w->n_cpus++].task = TASK_NONE;
		}
	}
	return &w->cpus[n];
}

/* The thread record of @task, NULL where it is no vCPU thread. */
static struct thread *thread_of(struct engine *e, struct waits *w, uint32_t task)
{
	struct thread *t;

	if (unlikely(task >= w->n_slots && task >= e->n_tasks))
		return NULL;
	GROW_ZERO(w->slot, w->n_slots, task);
	if (w->slot[task])
		return &w->threads[w->slot[task] - 1];
	if (likely(e->tasks[task].vcpu == VCPU_NONE) || w->n_threads >= MAX_THREADS)
		return NULL;
	GROW(w->threads, w->cap_threads, w->n_threads + 1);
	t = &w->threads[w->n_threads];
	memset(t, 0, sizeof(*t));
	t->task = task;
	t->jump_ns = TIME_NONE;
	w->slot[task] = (uint32_t)++w->n_threads;
	return t;
}

static struct share *share_of(struct wait *wt, uint32_t task)
{
	unsigned int i;

	for (i = 0; i < wt->n_shares; i++)
		if (wt->shares[i].task == task)
			return &wt->shares[i];
	if (wt->n_shares == MAX_SHARES)
		return NULL;
	wt->shares[wt->n_shares] = (struct share){ .task = task };
	return &wt->shares[wt->n_shares++];
}

static void charge(struct wait *wt, uint32_t who, uint64_t now)
{
	uint64_t ns = now - wt->charged;
	struct share *s;

	wt->charged = now;
	if (who == TASK_NONE) {
		wt->unknown += ns;
	} else if (task_is_idle(who)) {
		wt->idle += ns;
	} else {
		s = share_of(wt, who);
		if (s)
			s->ns += ns;
		else
			wt->rest += ns;
	}
}

static uint64_t idle_clock(const struct wcpu *cpu, uint64_t now)
{
	return cpu->idle +
	       (cpu->task != TASK_NONE && task_is_idle(cpu->task) ? now - cpu->since : 0);
}

/* The wait of @t goes on (or begins) on CPU @n at @now. */
static void enter_cpu(struct waits *w, struct thread *t, uint16_t n, uint64_t now)
{
	struct wcpu *cpu = cpu_of(w, n);
	struct wait *wt = &t->cur;

	wt->cpu = n;
	wt->charged = now;
	if (!cpu)
		return;
	wt->coarse = cpu->n_open == MAX_OPEN;
	if (wt->coarse)
		wt->idle_mark = idle_clock(cpu, now);
	else
		cpu->open[cpu->n_open++] = (uint32_t)(t - w->threads);
}

/* Account the wait of @t up to @now and take it off its CPU. */
static void leave_cpu(struct waits *w, struct thread *t, uint64_t now)
{
	struct wcpu *cpu = cpu_of(w, t->cur.cpu);
	struct wait *wt = &t->cur;
	unsigned int i;

	if (!cpu) {
		charge(wt, TASK_NONE, now);
		return;
	}
	if (wt->coarse) {
		uint64_t idle = idle_clock(cpu, now) - wt->idle_mark, all = now - wt->charged;

		wt->idle += MIN(idle, all);
		wt->rest += all - MIN(idle, all);
		wt->charged = now;
		return;
	}
	charge(wt, cpu->task, now);
	for (i = 0; i < cpu->n_open; i++)
		if (cpu->open[i] == (uint32_t)(t - w->threads))
			cpu->open[i] = cpu->open[--cpu->n_open];
}

static struct wait *wait_begin(struct thread *t, enum began began, uint64_t time, uint64_t pos)
{
	struct wait *wt = &t->cur;

	t->waiting = true;
	memset(wt, 0, offsetof(struct wait, shares));
	wt->start = time;
	wt->start_pos = pos;
	wt->task = t->task;
	wt->began = (uint8_t)began;
	wt->placed = true;
	wt->jump = began == BEGAN_PREEMPTED && t->jump_ns != TIME_NONE &&
		   time - t->jump_ns <= JUMP_NEAR;
	t->jump_ns = TIME_NONE;
	return wt;
}

/*
 * A thread is known as a vCPU's only from its first name or guest entry on: a wait that the core
 * has seen begin before that is taken up now, its CPU account so far unknown. Not over a loss.
 */
static void wait_catch_up(struct engine *e, struct waits *w, struct thread *t, uint16_t cpu)
{
	const struct task *task = &e->tasks[t->task];
	struct wait *wt;

	if (task->state == SCHED_WOKEN && task->wake.time != TIME_NONE &&
	    task->wake.time >= w->lost_ns)
		wt = wait_begin(t, BEGAN_WOKEN, task->wake.time, task->wake.pos);
	else if (task->state == SCHED_PREEMPTED && task->since >= w->lost_ns)
		wt = wait_begin(t, BEGAN_PREEMPTED, task->since, task->out_pos);
	else
		return;
	wt->unknown = e->now - wt->start;
	enter_cpu(w, t, cpu, e->now);
}

/* Forget the wait of @t: it was switched in unseen. */
static void wait_drop(struct waits *w, struct thread *t, uint64_t now)
{
	leave_cpu(w, t, now);
	t->waiting = false;
}

static void heap_sink(struct wait **h, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, l = 2 * i + 1, r = l + 1;
		struct wait *tmp;

		if (l < n && h[l]->end - h[l]->start < h[least]->end - h[least]->start)
			least = l;
		if (r < n && h[r]->end - h[r]->start < h[least]->end - h[least]->start)
			least = r;
		if (least == i)
			return;
		tmp = h[i];
		h[i] = h[least];
		h[least] = tmp;
		i = least;
	}
}

static void keep_overall(struct waits *w, const struct wait *wt)
{
	size_t i;

	if (w->n_heap < KEEP_ALL) {
		w->heap[w->n_heap] = xmalloc(sizeof(*wt));
		*w->heap[w->n_heap++] = *wt;
		for (i = w->n_heap / 2; w->n_heap == KEEP_ALL && i-- > 0;)
			heap_sink(w->heap, w->n_heap, i);
		return;
	}
	if (wt->end - wt->start <= w->heap[0]->end - w->heap[0]->start)
		return;
	*w->heap[0] = *wt;
	heap_sink(w->heap, w->n_heap, 0);
}

static void keep_of_thread(struct thread *t, const struct wait *wt)
{
	uint64_t ns = wt->end - wt->start;
	struct wait *slot;
	unsigned int i;

	if (t->n_top == KEEP_TASK) {
		slot = t->top[KEEP_TASK - 1];
		if (ns <= slot->end - slot->start)
			return;
		i = KEEP_TASK - 1;
	} else {
		slot = xmalloc(sizeof(*slot));
		i = t->n_top++;
	}
	for (; i > 0 && t->top[i - 1]->end - t->top[i - 1]->start < ns; i--)
		t->top[i] = t->top[i - 1];
	*slot = *wt;
	t->top[i] = slot;
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int b = ns ? 63u - (unsigned int)__builtin_clzll(ns) : 0;

	return MIN(b, BUCKETS - 1u);
}

/* The wait is over at @now (or the recording is); its CPU account has been closed. */
static void wait_end(struct waits *w, struct thread *t, uint64_t pos, uint64_t now)
{
	struct wait *wt = &t->cur;

	t->waiting = false;
	wt->end = now;
	wt->end_pos = pos;
	t->sum.wait_ns += now - wt->start;
	t->sum.idle_ns += wt->idle;
	if (!wt->unfinished)
		t->hist[bucket_of(now - wt->start)]++;
	keep_overall(w, wt);
	keep_of_thread(t, wt);
}

static void note_return(struct thread *t, uint64_t idle, const struct event *ev, uint64_t now)
{
	if (!t->sum.n++)
		t->sum.first_ns = now;
	t->sum.last_ns = now;
	if (t->n_kept >= WAITS_RETURNS)
		return;
	GROW(t->returns, t->cap_kept, t->n_kept + 1);
	t->returns[t->n_kept++] =
		(struct wait_return){ .time = now, .pos = ev->pos, .idle_ns = idle };
}

/* The waiting thread @t is switched in on @ev->cpu, where @cpu_task had been since @since. */
static void wait_over(struct waits *w, struct thread *t, const struct wcpu *cpu,
		      const struct event *ev, uint64_t now)
{
	struct wait *wt = &t->cur;

	if (wt->cpu != ev->cpu) {
		/* It was moved unseen: nothing is known of where it waited. */
		leave_cpu(w, t, now);
		wt->idle = wt->rest = 0;
		wt->n_shares = 0;
		wt->unknown = now - wt->start;
		wt->cpu = EVENT_CPU_NONE;
	} else {
		leave_cpu(w, t, now);
		if (cpu && cpu->task != TASK_NONE && task_is_idle(cpu->task)) {
			uint64_t idle = now - MAX(cpu->since, wt->start);

			if (idle >= WAITS_IDLE_MIN && !wt->moved)
				note_return(t, idle, ev, now);
		}
	}
	wait_end(w, t, ev->pos, now);
}

static void waits_switch(struct engine *e, struct waits *w, const struct event *ev)
{
	uint32_t prev = engine_task(e, (int32_t)ev->a[2]), next = engine_task(e, (int32_t)ev->b[0]);
	struct wcpu *cpu = cpu_of(w, ev->cpu);
	struct thread *t;
	unsigned int i;

	if (cpu && cpu->task != prev)
		cpu->task = TASK_NONE;	/* not the one switched in last: who ran is unknown */
	t = next == TASK_NONE ? NULL : thread_of(e, w, next);
	if (t && !t->waiting)
		wait_catch_up(e, w, t, ev->cpu);
	if (t && t->waiting)
		wait_over(w, t, cpu, ev, e->now);
	if (cpu) {
		bool refill = cpu->task != TASK_NONE && task_is_idle(cpu->task) &&
			      e->now - cpu->since > REFILL_IDLE && next != TASK_NONE &&
			      !task_is_idle(next);

		for (i = 0; i < cpu->n_open; i++) {
			struct wait *wt = &w->threads[cpu->open[i]].cur;
			struct share *s;

			charge(wt, cpu->task, e->now);
			s = refill ? share_of(wt, next) : NULL;
			if (s)
				s->refills++;
		}
		cpu->idle = idle_clock(cpu, e->now);
		cpu->task = next;
		cpu->since = e->now;
	}
	t = prev == TASK_NONE || prev == next ? NULL : thread_of(e, w, prev);
	if (!t)
		return;
	if (t->waiting)
		wait_drop(w, t, e->now);
	if (!(ev->a[3] & ~(uint64_t)TSTATE_PREEMPTED)) {
		wait_begin(t, BEGAN_PREEMPTED, e->now, ev->pos);
		enter_cpu(w, t, ev->cpu, e->now);
	}
	t->jump_ns = TIME_NONE;
}

static uint16_t cpu_number(uint32_t n)
{
	return n < EVENT_CPU_NONE ? (uint16_t)n : EVENT_CPU_NONE;
}

static void waits_move(struct waits *w, struct thread *t, uint16_t cpu, uint64_t now)
{
	struct wait *wt = &t->cur;

	if (wt->cpu == cpu || cpu == EVENT_CPU_NONE)
		return;
	leave_cpu(w, t, now);
	if (wt->placed && now - wt->start > PLACING)
		wt->moved = true;
	enter_cpu(w, t, cpu, now);
}

static void waits_wakeup(struct engine *e, struct waits *w, const struct event *ev)
{
	uint32_t task = engine_task(e, (int32_t)ev->b[0]);
	struct thread *t = task == TASK_NONE ? NULL : thread_of(e, w, task);
	uint8_t state;

	if (likely(!t))
		return;
	if (t->waiting) {
		if (ev->kind != EV_SCHED_WAKING && !t->cur.placed) {
			waits_move(w, t, cpu_number(ev->b[1]), e->now);
			t->cur.placed = true;
		}
		return;
	}
	state = e->tasks[task].state;
	if (state == SCHED_BLOCKED || state == SCHED_UNKNOWN || state == SCHED_DEAD) {
		wait_begin(t, BEGAN_WOKEN, e->now, ev->pos)->placed = ev->kind != EV_SCHED_WAKING;
		enter_cpu(w, t, cpu_number(ev->b[1]), e->now);
	} else {
		wait_catch_up(e, w, t, cpu_number(ev->b[1]));
	}
}

static void waits_migrate(struct engine *e, struct waits *w, const struct event *ev)
{
	uint32_t task = engine_task(e, (int32_t)ev->b[0]);
	struct thread *t = task == TASK_NONE ? NULL : thread_of(e, w, task);

	if (t && t->waiting)
		waits_move(w, t, cpu_number(ev->b[1]), e->now);
}

static void add_jump(struct waits *w, const struct jump *j)
{
	size_t i, least = 0;

	if (w->n_jumps < MAX_JUMPS) {
		w->jumps[w->n_jumps++] = *j;
		return;
	}
	for (i = 1; i < w->n_jumps; i++)
		if (w->jumps[i].jump < w->jumps[least].jump)
			least = i;
	if (j->jump > w->jumps[least].jump)
		w->jumps[least] = *j;
}

/* reweight_entity(): a0 = se, a1 = old weight, a2 = new weight, a3 = vruntime (before it) */
static void waits_reweight(struct engine *e, struct waits *w, const struct event *ev)
{
	size_t i;

	for (i = 0; i < w->n_low && w->low[i].se != ev->a[0]; i++)
		;
	if (ev->a[1] > MIN_SHARES && ev->a[2] && ev->a[2] <= MIN_SHARES) {
		if (i == MAX_SE)
			i = 0;	/* more groups at once than this looks at: forget one */
		else if (i == w->n_low)
			w->n_low++;
		w->low[i] = (struct low_se){ ev->a[0], e->now, ev->pos, ev->a[3], ev->a[2] };
	} else if (i < w->n_low && ev->a[2] > MIN_SHARES) {
		const struct low_se *l = &w->low[i];
		struct jump j = { .se = l->se,
				  .down = l->time,
				  .up = e->now,
				  .down_pos = l->pos,
				  .up_pos = ev->pos,
				  .low = l->low,
				  .weight = ev->a[2],
				  .jump = (int64_t)(ev->a[3] - l->vruntime) };
		uint32_t task = engine_task(e, ev->tid);
		struct thread *t = task == TASK_NONE ? NULL : thread_of(e, w, task);

		add_jump(w, &j);
		if (t && j.jump >= (int64_t)JUMP_MIN)
			t->jump_ns = e->now;
		w->low[i] = w->low[--w->n_low];
	}
}

static void waits_event(struct engine *e, void *state, const struct event *ev)
{
	struct waits *w = state;

	switch (ev->kind) {
	case EV_SCHED_SWITCH:
		waits_switch(e, w, ev);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		waits_wakeup(e, w, ev);
		break;
	case EV_SCHED_MIGRATE:
		waits_migrate(e, w, ev);
		break;
	case EV_PROBE_REWEIGHT:
		waits_reweight(e, w, ev);
		break;
	default:
		break;
	}
}

/* Waits on a CPU that lost events are dropped: whether they went on is not known. */
static void waits_lost(struct engine *e, void *state, uint16_t n)
{
	struct waits *w = state;
	size_t i;
	uint32_t c;

	w->lost_ns = e->now;
	for (i = 0; i < w->n_threads; i++) {
		struct thread *t = &w->threads[i];

		if (n == EVENT_CPU_NONE || t->cur.cpu == n || t->cur.cpu == EVENT_CPU_NONE)
			t->waiting = false;
	}
	for (c = 0; c < w->n_cpus; c++) {
		if (n != EVENT_CPU_NONE && n != c)
			continue;
		w->cpus[c].n_open = 0;
		w->cpus[c].task = TASK_NONE;
	}
}

bool waits_returns(const void *state, size_t i, struct wait_returns *ret)
{
	const struct waits *w = state;
	const struct thread *t;

	if (i >= w->n_threads)
		return false;
	t = &w->threads[i];
	*ret = t->sum;
	ret->task = t->task;
	ret->kept = t->returns;
	ret->n_kept = t->n_kept;
	return true;
}

static bool is_sibling(const struct engine *e, uint32_t a, uint32_t b)
{
	return e->tasks[a].vm != VM_NONE && e->tasks[a].vm == e->tasks[b].vm;
}

static struct error *write_wait(struct engine *e, const struct wait *wt)
{
	static const char *const began_names[] = { "preempted", "woken" };
	const struct task *t = &e->tasks[wt->task];
	const struct share *top = NULL, *sib = NULL;
	uint64_t sibling = 0, other = wt->rest;
	int64_t refills = 0, cpu = wt->cpu, top_tid = 0, sib_tid = 0, top_ns = 0;
	uint64_t times[2] = { wt->start, wt->end }, pos[2] = { wt->start_pos, wt->end_pos };
	_cleanup_free_ char *cites = engine_cites(e, times, pos, wt->unfinished ? 1 : 2);
	char comm[24], top_comm[24], sib_comm[24];
	unsigned int i;

	for (i = 0; i < wt->n_shares; i++) {
		const struct share *s = &wt->shares[i];

		if (!top || s->ns > top->ns)
			top = s;
		if (!is_sibling(e, wt->task, s->task)) {
			other += s->ns;
			continue;
		}
		sibling += s->ns;
		refills += s->refills;
		if (!sib || s->ns > sib->ns)
			sib = s;
	}
	if (top) {
		top_tid = e->tasks[top->task].tid;
		top_ns = (int64_t)top->ns;
		engine_comm(&e->tasks[top->task], top_comm);
	}
	if (sib) {
		sib_tid = e->tasks[sib->task].tid;
		engine_comm(&e->tasks[sib->task], sib_comm);
	}
	return case_insert(
		e->db, NULL,
		"INSERT INTO runq_wait(source_id, vm_id, vcpu_id, task_id, task, tid, cpu, start_ns, duration_ns,"
		" began, idle_ns, sibling_ns, other_ns, unknown_ns, top_task, top_tid, top_ns, sibling_task,"
		" sibling_tid, refills, weight_jump, unfinished, cites)"
		" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iIIisiIiisiiiisIIsIiiis", e->s->source_id,
		t->vm == VM_NONE ? NULL : &e->vms[t->vm].row_id,
		t->vcpu == VCPU_NONE ? NULL : &e->vcpus[t->vcpu].row_id, t->row_id,
		engine_comm(t, comm), (int64_t)t->tid,
		wt->cpu == EVENT_CPU_NONE || wt->moved ? NULL : &cpu, (int64_t)wt->start,
		(int64_t)(wt->end - wt->start), began_names[wt->began], (int64_t)wt->idle,
		(int64_t)sibling, (int64_t)other, (int64_t)wt->unknown, top ? top_comm : NULL,
		top ? &top_tid : NULL, top ? &top_ns : NULL, sib ? sib_comm : NULL,
		sib ? &sib_tid : NULL, refills, (int64_t)wt->jump, (int64_t)wt->unfinished, cites);
}

static int by_duration(const void *a, const void *b)
{
	const struct wait *x = *(const struct wait *const *)a, *y = *(const struct wait *const *)b;
	uint64_t dx = x->end - x->start, dy = y->end - y->start;

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static struct error *write_waits(struct engine *e, struct waits *w)
{
	size_t i, k, n = 0, rows = 0;
	_cleanup_free_ const struct wait **all =
		xcalloc(w->n_heap + w->n_threads * KEEP_TASK + 1, sizeof(*all));

	for (i = 0; i < w->n_heap; i++)
		all[n++] = w->heap[i];
	for (i = 0; i < w->n_threads; i++)
		for (k = 0; k < w->threads[i].n_top; k++)
			all[n++] = w->threads[i].top[k];
	if (n)
		qsort(all, n, sizeof(*all), by_duration);
	for (i = 0; i < n && rows < MAX_ROWS; i++) {
		if (i && !by_duration(&all[i - 1], &all[i]))
			continue;	/* in both lists */
		TRY(write_wait(e, all[i]));
		rows++;
	}
	return NULL;
}

static struct error *write_jumps(struct engine *e, const struct waits *w)
{
	size_t i;

	for (i = 0; i < w->n_jumps; i++) {
		const struct jump *j = &w->jumps[i];
		uint64_t times[2] = { j->down, j->up }, pos[2] = { j->down_pos, j->up_pos };
		_cleanup_free_ char *cites = engine_cites(e, times, pos, 2);

		TRY(case_insert(
			e->db, NULL,
			"INSERT INTO reweight_jump(source_id, se, down_ns, up_ns, low_weight, weight, vruntime_jump_ns, cites)"
			" VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
			"ixiiiiis", e->s->source_id, j->se, (int64_t)j->down, (int64_t)j->up,
			(int64_t)j->low, (int64_t)j->weight, j->jump, cites));
	}
	return NULL;
}

static struct error *write_histogram(struct engine *e, const struct waits *w)
{
	size_t i;
	unsigned int b;

	for (i = 0; i < w->n_threads; i++) {
		const struct task *t = &e->tasks[w->threads[i].task];

		for (b = 0; b < BUCKETS && t->vcpu != VCPU_NONE; b++) {
			if (!w->threads[i].hist[b])
				continue;
			TRY(case_insert(
				e->db, NULL,
				"INSERT INTO histogram(source_id, name, subject_id, low_ns, high_ns, count)"
				" VALUES(?, 'runq', ?, ?, ?, ?)",
				"iiiii", e->s->source_id, e->vcpus[t->vcpu].row_id,
				b ? (int64_t)1 << b : 0, (int64_t)1 << (b + 1),
				(int64_t)w->threads[i].hist[b]));
		}
	}
	return NULL;
}

static struct error *waits_flush(struct engine *e, void *state)
{
	struct waits *w = state;
	size_t i;

	for (i = 0; i < w->n_threads; i++) {
		struct thread *t = &w->threads[i];

		if (!t->waiting)
			continue;
		leave_cpu(w, t, e->last_ns);
		t->cur.unfinished = true;
		wait_end(w, t, t->cur.start_pos, e->last_ns);
	}
	TRY(write_waits(e, w));
	TRY(write_jumps(e, w));
	return write_histogram(e, w);
}

static void waits_destroy(void *state)
{
	struct waits *w = state;
	size_t i;
	unsigned int k;

	for (i = 0; i < w->n_heap; i++)
		free(w->heap[i]);
	for (i = 0; i < w->n_threads; i++) {
		for (k = 0; k < w->threads[i].n_top; k++)
			free(w->threads[i].top[k]);
		free(w->threads[i].returns);
	}
	free(w->threads);
	free(w->slot);
	free(w->cpus);
	free(w);
}

static const struct analysis an_waits = {
	.name		= "waits",
	.priority	= 220,
	.pairs		= true,
	.kinds		= KIND(SCHED_SWITCH) | KIND(SCHED_WAKING) | KIND(SCHED_WAKEUP) |
			  KIND(SCHED_WAKEUP_NEW) | KIND(SCHED_MIGRATE) | KIND(PROBE_REWEIGHT),
	.begin		= waits_begin,
	.event		= waits_event,
	.lost		= waits_lost,
	.flush		= waits_flush,
	.destroy	= waits_destroy,
};
REGISTER(analyses, &an_waits);
