// SPDX-License-Identifier: GPL-2.0-or-later
/* chain.c - building chains from the history pool; see chain.h. */
#include "chain.h"

void chain_start(struct chain *c, struct history *h)
{
	c->h = h;
	c->n = 0;
	c->reserve = 0;
	c->budget = CHAIN_STEPS;
	c->partial = false;
}

/* Are there @need links beyond those that are promised to what comes later? */
static bool room(const struct chain *c, uint32_t need)
{
	return c->n + c->reserve + need <= CHAIN_LINKS;
}

static struct link *add(struct chain *c, enum link_kind kind, uint16_t parent, uint64_t start,
			uint64_t end, uint32_t task)
{
	struct link *l = &c->links[c->n++];

	memset(l, 0, sizeof(*l));
	l->kind = (uint8_t)kind;
	l->parent = parent;
	l->depth = parent == LINK_ROOT ? 0 : (uint8_t)(c->links[parent].depth + 1);
	l->start = start;
	l->end = end;
	l->task = task;
	l->cpu = EVENT_CPU_NONE;
	l->cite_time[0] = l->cite_time[1] = TIME_NONE;
	return l;
}

static void cite(struct link *l, uint64_t t0, uint64_t p0, uint64_t t1, uint64_t p1)
{
	l->cite_time[0] = t0;
	l->cite_pos[0] = p0;
	if (p1 != p0) {
		l->cite_time[1] = t1;
		l->cite_pos[1] = p1;
	}
}

/* What ran on a CPU while a task waited for it. */
struct tenant_scan {
	struct link	*l;
	uint64_t	enqueued;	/* idle before this is the wake-up's own way, no throttle */
	uint64_t	throttled;	/* idle for long, after it */
	uint64_t	covered, next;	/* next: where the segment delivered before begins */
	uint64_t	idle_to;	/* end of the idle stretch that is being collected */
};

static void share_add(struct link *l, uint32_t task, uint64_t ns)
{
	unsigned int i, least = 0;

	for (i = 0; i < CHAIN_SHARES; i++) {
		if (l->wait.ns[i] && l->wait.who[i] == task) {
			l->wait.ns[i] += ns;
			return;
		}
	}
	for (i = 0; i < CHAIN_SHARES; i++)
		if (l->wait.ns[i] < l->wait.ns[least])
			least = i;
	/*
	 * the smallest of the named gives way to a larger newcomer; ties keep the one that is there
	 */
	if (l->wait.ns[least] < ns) {
		if (l->wait.ns[least]) {
			l->wait.other += l->wait.ns[least];
			l->wait.n_other++;
		}
		l->wait.who[least] = task;
		l->wait.ns[least] = ns;
	} else {
		l->wait.other += ns;
		l->wait.n_other++;
	}
}

static bool on_tenant(void *arg, const struct hist_seg *s, uint64_t seq)
{
	struct tenant_scan *t = arg;
	uint64_t ns = s->end - s->start;

	(void)seq;
	t->covered += ns;
	if (s->task == 0) {
		uint64_t from = MAX(s->start, t->enqueued);

		t->l->wait.idle += ns;
		if (s->end > from && s->end - from > CHAIN_IDLE_NS)
			t->throttled += s->end - from;
	} else if (s->task == t->l->task) {
		t->covered -= ns; /* its own time there can't be part of its wait: not known */
	} else {
		share_add(t->l, s->task, ns);
	}
	return true;
}

static void sort_shares(struct link *l)
{
	unsigned int i, k;

	for (i = 0; i < CHAIN_SHARES; i++)
		for (k = i + 1; k < CHAIN_SHARES; k++)
			if (l->wait.ns[k] > l->wait.ns[i]) {
				uint64_t ns = l->wait.ns[i];
				uint32_t who = l->wait.who[i];

				l->wait.ns[i] = l->wait.ns[k];
				l->wait.who[i] = l->wait.who[k];
				l->wait.ns[k] = ns;
				l->wait.who[k] = who;
			}
}

/*
 * The alternation of a throttled group: what ran, what was idle, as children of the wait at index
 * @parent.
 */
struct alternation {
	struct {
		uint64_t start, end;
		uint32_t task;
		bool idle;
		uint64_t pos;
	} tile[4 * CHAIN_TILES]; /* newest first */
	uint32_t	n, gaps;
	uint64_t	enqueued;
	bool		full;
};

static bool on_alternate(void *arg, const struct hist_seg *s, uint64_t seq)
{
	struct alternation *a = arg;
	bool idle = s->task == 0 && s->end > MAX(s->start, a->enqueued) &&
		    s->end - MAX(s->start, a->enqueued) > CHAIN_IDLE_NS;

	(void)seq;
	if (a->n && !idle && !a->tile[a->n - 1].idle && a->tile[a->n - 1].start == s->end) {
		/*
		 * short idle gaps and changes between tasks are one stretch of a busy CPU, under
		 * its longest task
		 */
		if (s->task && s->end - s->start > a->tile[a->n - 1].end - a->tile[a->n - 1].start)
			a->tile[a->n - 1].task = s->task;
		a->tile[a->n - 1].start = s->start;
		return true;
	}
	if (a->n == ARRAY_SIZE(a->tile)) {
		a->full = true;
		return false;
	}
	a->gaps += a->n && a->tile[a->n - 1].start != s->end;
	a->tile[a->n].start = s->start;
	a->tile[a->n].end = s->end;
	a->tile[a->n].task = s->task;
	a->tile[a->n].idle = idle;
	a->tile[a->n++].pos = s->pos;
	return true;
}

static void alternate(struct chain *c, uint16_t parent, uint64_t enqueued)
{
	struct link *p = &c->links[parent], *l;
	struct alternation a = { .n = 0, .enqueued = enqueued };
	uint64_t at = p->start;
	uint32_t i;

	hist_walk_cpu(c->h, p->cpu, p->start, p->end, HIST_NONE, &c->budget, on_alternate, &a);
	if (a.n < 2 || !room(c, a.n + a.gaps + 2))
		return;
	for (i = a.n; i--; at = a.tile[i].end) {
		if (a.tile[i].start > at) {
			/*
			 * before the tiles that fit: the same alternation, or a part of which
			 * nothing is known
			 */
			l = add(c, a.full && i == a.n - 1 ? LK_FOLDED : LK_UNKNOWN, parent, at,
				a.tile[i].start, p->task);
			l->cpu = p->cpu;
			if (l->kind == LK_FOLDED) {
				l->fold.wait = l->end - l->start;
				l->fold.reason = l->fold.user_reason = EVENT_U32_NONE;
				l->fold.n = 1;
				l->named_ns = l->end - l->start;
			}
		}
		l = add(c,
			a.tile[i].idle	 ? LK_THROTTLED
			: a.tile[i].task ? LK_RUNNING
					 : LK_RUNNABLE,
			parent, a.tile[i].start, a.tile[i].end,
			a.tile[i].idle ? p->task : a.tile[i].task);
		l->cpu = p->cpu;
		l->named_ns = l->end - l->start;
		if (a.tile[i].idle) {
			l->flags |= LF_INFERRED;
			l->wait.idle = l->end - l->start;
		} else if (!a.tile[i].task) {
			l->task = p->task;
			l->wait.idle = l->end - l->start;
		} else {
			l->run.stack = EVENT_U32_NONE;
		}
		if (!a.tile[i].idle && a.tile[i].task && a.tile[i].pos) {
			cite(l, l->start, a.tile[i].pos, l->start, a.tile[i].pos);
		}
	}
	if (p->end > at)
		add(c, LK_UNKNOWN, parent, at, p->end, p->task)->cpu = p->cpu;
}

/*
 * A runnable task that doesn't run: behind whom. @enq_ns: from the wake-up to the enqueue, where
 * that was seen.
 */
static void add_wait(struct chain *c, uint16_t parent, uint32_t task, uint16_t cpu, uint64_t start,
		     uint64_t end, bool preempted, uint64_t enq_ns, uint64_t pos, uint64_t end_pos)
{
	uint16_t at = (uint16_t)c->n;
	struct link *l = add(c, preempted ? LK_PREEMPTED : LK_RUNNABLE, parent, start, end, task);
	struct tenant_scan t = { .l = l, .enqueued = start + MIN(enq_ns, end - start) };
	uint64_t ns = end - start;

	l->cpu = cpu;
	cite(l, start, pos, end, end_pos);
	if (hist_walk_cpu(c->h, cpu, start, end, HIST_NONE, &c->budget, on_tenant, &t) ==
	    HIST_CUT) {
		l->flags |= LF_CUT;
		c->partial = true;
	}
	sort_shares(l);
	l->wait.unknown = ns - MIN(t.covered, ns);
	l->named_ns = ns - l->wait.unknown;
	if (t.throttled * 10 >= ns * 9) {
		l->kind = LK_THROTTLED;
		l->flags |= LF_INFERRED | (preempted ? LF_PREEMPT : 0);
	} else if (t.throttled && t.throttled * 20 > ns) {
		alternate(c, at, t.enqueued);
	}
}

/*
 * What is named in a folded link: waits behind tasks that are known, sleeps that an interrupt
 * ended, and of other sleeps the time in which their waker ran or was runnable.
 */
#define FOLD_WINDOWS	64

struct fold_scan {
	struct hist_seg	w[FOLD_WINDOWS];
	uint64_t	seq[FOLD_WINDOWS];
	uint32_t	n;
};

static bool on_window(void *arg, const struct hist_seg *s, uint64_t seq)
{
	struct fold_scan *f = arg;

	if (s->state == HIST_WAIT || s->state == HIST_PREEMPT ||
	    (s->state == HIST_BLOCK && s->waker != TASK_NONE)) {
		f->seq[f->n] = seq;
		f->w[f->n++] = *s;
	}
	return f->n < FOLD_WINDOWS;
}

static bool on_active(void *arg, const struct hist_seg *s, uint64_t seq)
{
	(void)seq;
	if (s->state == HIST_RUN || s->state == HIST_WAIT || s->state == HIST_PREEMPT)
		*(uint64_t *)arg += s->end - s->start;
	return true;
}

static void name_fold(struct chain *c, struct link *l)
{
	struct fold_scan f = { .n = 0 };
	struct link sum = { .task = l->task };
	struct tenant_scan t = { .l = &sum };
	uint64_t named = 0;
	uint32_t i;

	l->fold.who = TASK_NONE;
	hist_walk(c->h, l->task, l->start, l->end, &c->budget, on_window, &f);
	for (i = 0; i < f.n; i++) {
		const struct hist_seg *s = &f.w[i];

		if (s->state != HIST_BLOCK)
			hist_walk_cpu(c->h, s->cpu, s->start, s->end, f.seq[i], &c->budget,
				      on_tenant, &t);
		else if (s->waker == 0 || s->wflags & (EVF_HARDIRQ | EVF_SOFTIRQ | EVF_NMI))
			named += s->end - s->start;
		else if (s->waker != l->task)
			hist_walk(c->h, s->waker, s->start, s->end, &c->budget, on_active, &named);
	}
	sort_shares(&sum);
	if (sum.wait.ns[0]) {
		l->fold.who = sum.wait.who[0];
		l->fold.who_ns = sum.wait.ns[0];
	}
	l->named_ns = MIN(l->named_ns + named + t.covered, l->end - l->start);
}

static void add_task(struct chain *c, uint16_t parent, uint32_t task, uint64_t from, uint64_t to);

/*
 * A form without flags names the interrupted task as the waker. Who waits for a grace period is
 * woken by RCU's callback, which runs in softirq unless RCU's own threads run it.
 */
static bool rcu_softirq(const struct chain *c, const struct hist_seg *s)
{
	char comm[24];

	return !(s->wflags & EVF_KNOWN) && HCTX_TYPE(s->ctx) == HCTX_FUNC &&
	       HCTX_VALUE(s->ctx) < STREAM_RCU_WAITS && s->waker != TASK_NONE &&
	       strncmp(engine_comm(&c->h->e->tasks[s->waker], comm), "rcu", 3);
}

/* A sleep: why, until woken by whom, and what the waker did meanwhile. */
static void add_block(struct chain *c, uint16_t parent, const struct hist_seg *s, bool open_end)
{
	uint16_t at = (uint16_t)c->n;
	struct link *l = add(c, LK_BLOCKED, parent, s->start, s->end, s->task);
	bool irq = s->wflags & (EVF_HARDIRQ | EVF_SOFTIRQ | EVF_NMI);

	l->cpu = s->cpu;
	l->ctx = s->ctx;
	if (s->bstate == HIST_NEW_TASK)
		l->flags = LF_NEW;
	else if (s->bstate & TSTATE_UNINTERRUPTIBLE)
		l->flags = LF_UNINT;
	l->block.waker = s->waker;
	l->block.wctx = s->wctx;
	l->block.wcpu = s->wcpu;
	cite(l, s->start, s->pos, s->end, s->end_pos);
	if (s->waker == TASK_NONE) {
		if (open_end) {
			l->flags |= LF_EDGE;
		} else {
			l->kind = LK_UNKNOWN;
			l->flags |= LF_NO_WAKE;
		}
		return;
	}
	/*
	 * the idle task wakes nobody by itself: an interrupt did, whether or not the form carries
	 * flags
	 */
	if (rcu_softirq(c, s)) {
		l->flags |= LF_SOFTIRQ | LF_INFERRED;
		l->named_ns = s->end - s->start;
		return;
	}
	if (irq || s->waker == 0) {
		l->flags |= (s->wflags & EVF_SOFTIRQ) && !(s->wflags & EVF_HARDIRQ) ? LF_SOFTIRQ
										    : LF_IRQ;
		/* sched_wakeup may come from the interrupt that a waker on another CPU sent here */
		l->flags |= irq && s->wkind == EV_SCHED_WAKING ? 0 : LF_INFERRED;
		l->named_ns = s->end - s->start;
		return;
	}
	/* without flags an interrupt on top of this task can't be told from the task */
	if (!(s->wflags & EVF_KNOWN))
		l->flags |= LF_INFERRED;
	/* who wakes the next waiter has just let go of the lock */
	if (HCTX_TYPE(s->ctx) == HCTX_LOCK)
		l->flags |= LF_INFERRED | LF_HOLDER;
	if (s->waker == s->task)
		return;
	if (l->depth + 1 >= CHAIN_DEPTH || !room(c, 4)) {
		l->flags |= LF_CUT;
		return;
	}
	add_task(c, at, s->waker, s->start, s->end);
}

struct tile {
	struct hist_seg	s;
	uint64_t	run, wait, block, other;
	uint32_t	folded;
	bool		open;	/* not over so far */
};

struct tiling {
	struct tile	t[2 * CHAIN_TILES + 2];	/* newest first */
	uint32_t	n, segs;
	uint64_t	min_ns, oldest;
	bool		count;
};

static void fold_seg(struct tile *t, const struct hist_seg *s)
{
	uint64_t ns = s->end - s->start;

	switch ((enum hist_state)s->state) {
	case HIST_RUN:
		t->run += ns;
		break;
	case HIST_WAIT:
	case HIST_PREEMPT:
		t->wait += ns;
		break;
	case HIST_BLOCK:
		t->block += ns;
		break;
	case HIST_UNKNOWN:
	case HIST_DEAD:
	case HIST_LOST:
	default:
		t->other += ns;
		break;
	}
	t->folded++;
}

static bool on_seg(void *arg, const struct hist_seg *s, uint64_t seq)
{
	struct tiling *g = arg;
	struct tile *t = g->n ? &g->t[g->n - 1] : NULL;

	g->segs++;
	g->oldest = s->start;
	if (g->count)
		return true;
	if (s->end - s->start >= g->min_ns) {
		g->t[g->n++] = (struct tile){ .s = *s, .open = seq == HIST_NONE };
		return true;
	}
	if (!t || !t->folded) {
		t = &g->t[g->n++];
		*t = (struct tile){ .s = *s, .open = seq == HIST_NONE };
	}
	fold_seg(t, s);
	t->s.start = s->start;
	t->s.pos = s->pos;
	return true;
}

static void add_tile(struct chain *c, uint16_t parent, const struct tile *t)
{
	const struct hist_seg *s = &t->s;
	struct link *l;

	if (t->folded > 1) {
		l = add(c, LK_FOLDED, parent, s->start, s->end, s->task);
		l->fold.run = t->run;
		l->fold.wait = t->wait;
		l->fold.block = t->block;
		l->fold.other = t->other;
		l->fold.n = t->folded;
		l->fold.reason = l->fold.user_reason = EVENT_U32_NONE;
		l->named_ns = t->run;
		name_fold(c, l);
		return;
	}
	switch ((enum hist_state)s->state) {
	case HIST_RUN:
		l = add(c, LK_RUNNING, parent, s->start, s->end, s->task);
		l->cpu = s->cpu;
		l->ctx = s->ctx;
		l->run.stack = s->waker;
		l->named_ns = s->end - s->start;
		cite(l, s->start, s->pos, s->end, s->end_pos);
		break;
	case HIST_WAIT:
	case HIST_PREEMPT:
		add_wait(c, parent, s->task, s->cpu, s->start, s->end, s->state == HIST_PREEMPT,
			 s->state == HIST_WAIT ? s->waker : 0, s->pos, s->end_pos);
		break;
	case HIST_BLOCK:
		add_block(c, parent, s, t->open);
		break;
	case HIST_LOST:
		add(c, LK_LOST, parent, s->start, s->end, s->task)->cpu = s->cpu;
		break;
	case HIST_UNKNOWN:
	case HIST_DEAD:
	default:
		l = add(c, LK_UNKNOWN, parent, s->start, s->end, s->task);
		cite(l, s->start, s->pos, s->end, s->end_pos);
		break;
	}
}

static void add_task(struct chain *c, uint16_t parent, uint32_t task, uint64_t from, uint64_t to)
{
	struct tiling g = { .count = true, .oldest = to };
	uint64_t budget = c->budget;
	enum hist_end end = hist_walk(c->h, task, from, to, &c->budget, on_seg, &g);
	struct link *l;
	uint32_t i;

	if (g.segs > CHAIN_TILES)
		g.min_ns = (to - from) / CHAIN_TILES + 1;
	g.count = false;
	g.oldest = to;
	if (g.segs) {
		uint64_t steps = budget - c->budget + 1; /* the first walk has paid for these */

		g.segs = 0;
		hist_walk(c->h, task, from, to, &steps, on_seg, &g);
	}
	/* all of it or nothing: children tile their parent */
	if (!room(c, g.n + 1)) {
		if (parent == LINK_ROOT) {
			l = add(c, LK_FOLDED, parent, from, to, task);
			l->fold.other = to - from;
			l->fold.reason = l->fold.user_reason = EVENT_U32_NONE;
			l->fold.n = g.segs;
			c->partial = true;
		} else {
			c->links[parent].flags |= LF_CUT;
		}
		return;
	}
	if (g.oldest > from) {
		l = add(c, end == HIST_CUT ? LK_FOLDED : LK_UNKNOWN, parent, from, g.oldest, task);
		l->flags |= end == HIST_CUT ? LF_CUT : LF_EDGE;
		if (end == HIST_CUT) {
			l->fold.other = g.oldest - from;
			l->fold.reason = l->fold.user_reason = EVENT_U32_NONE;
			c->partial = true;
		}
	}
	for (i = g.n; i--; ) {
		c->reserve += i;
		add_tile(c, parent, &g.t[i]);
		c->reserve -= i;
	}
}

void chain_task(struct chain *c, uint32_t task, uint64_t from, uint64_t to)
{
	add_task(c, LINK_ROOT, task, from, to);
}

/* The sleep that most of a vCPU's blocked piece is. */
struct find_block {
	struct hist_seg	s;
	uint64_t	ns;
};

static bool on_find(void *arg, const struct hist_seg *s, uint64_t seq)
{
	struct find_block *f = arg;

	(void)seq;
	if (s->state == HIST_BLOCK && s->end - s->start > f->ns) {
		f->s = *s;
		f->ns = s->end - s->start;
	}
	return true;
}

static void piece_blocked(struct chain *c, uint32_t task, const struct piece *p)
{
	struct find_block f = { .ns = 0 };
	bool edge = p->flags & PF_EDGE;

	if (hist_walk(c->h, task, p->start, p->end, &c->budget, on_find, &f) == HIST_CUT)
		c->partial = true;
	if (!f.ns) {
		f.s = (struct hist_seg){ .task = task,
					 .waker = TASK_NONE,
					 .cpu = p->cpu,
					 .wcpu = EVENT_CPU_NONE,
					 .bstate = (uint8_t)p->block_state };
	}
	/* the vCPU's own account is the one that tiles */
	f.s.start = p->start;
	f.s.end = p->end;
	f.s.pos = p->pos;
	f.s.end_pos = p->end_pos;
	add_block(c, LINK_ROOT, &f.s, edge);
}

uint64_t spiece_named(const struct spiece *s)
{
	const struct piece *p = &s->p;
	uint64_t ns = p->end - p->start;

	if (p->state != VS_HOST && p->state != VS_VMM)
		return 0;
	if (p->info.sub || s->stack != EVENT_U32_NONE ||
	    (p->state == VS_VMM && p->info.user_reason != EVENT_U32_NONE))
		return ns;
	if (s->func == EVENT_U32_NONE)
		return 0;
	return s->func_ns * 2 >= ns ? ns : s->func_ns;
}

void chain_piece(struct chain *c, uint32_t task, const struct spiece *s)
{
	const struct piece *p = &s->p;
	struct link *l;

	if (s->folded) {
		l = add(c, LK_FOLDED, LINK_ROOT, p->start, p->end, task);
		l->fold.run = s->ns[VS_HOST] + s->ns[VS_VMM];
		l->fold.wait = s->ns[VS_WAITING];
		l->fold.block = s->ns[VS_BLOCKED];
		l->fold.other = p->end - p->start - l->fold.run - l->fold.wait - l->fold.block;
		l->fold.n = s->folded;
		l->fold.reason = p->info.reason;
		l->fold.user_reason = p->info.user_reason;
		l->named_ns = s->named_ns;
		cite(l, p->start, p->pos, p->end, p->end_pos);
		name_fold(c, l);
		return;
	}
	switch ((enum vstate)p->state) {
	case VS_HOST:
	case VS_VMM:
		l = add(c, p->state == VS_HOST ? LK_HOST : LK_VMM, LINK_ROOT, p->start, p->end,
			task);
		l->cpu = p->cpu;
		l->ctx = hist_ctx(c->h, task);
		l->flags = p->flags & PF_NO_SCHED ? LF_NO_SCHED : 0;
		l->host.info = p->info;
		l->host.func = s->func;
		l->host.func_ns = s->func_ns;
		l->host.stack = s->stack;
		l->host.unmaps = s->unmaps;
		l->host.unmapper = s->unmapper;
		l->named_ns = spiece_named(s);
		cite(l, p->start, p->pos, p->end, p->end_pos);
		if (p->info.sub && p->info.sub_time >= p->start && p->info.sub_time < p->end) {
			l->cite_time[1] = p->info.sub_time;
			l->cite_pos[1] = p->info.sub_pos;
		}
		break;
	case VS_WAITING:
		add_wait(c, LINK_ROOT, task, p->cpu, p->start, p->end, p->flags & PF_PREEMPTED,
			 p->enq_ns, p->pos, p->end_pos);
		break;
	case VS_BLOCKED:
		piece_blocked(c, task, p);
		break;
	case VS_LOST:
		add(c, LK_LOST, LINK_ROOT, p->start, p->end, task)->cpu = p->cpu;
		break;
	case VS_GUEST:
	case VS_HALTED:
	case VS_UNKNOWN:
	case VS_N:
	default:
		l = add(c, LK_UNKNOWN, LINK_ROOT, p->start, p->end, task);
		l->cpu = p->cpu;
		l->flags = p->flags & PF_NO_WAKE ? LF_NO_WAKE : 0;
		l->ctx = hist_ctx(c->h, task);
		cite(l, p->start, p->pos, p->end, p->end_pos);
		break;
	}
}

/* Named time of every link: its children's where it has any. Children come after their parent. */
uint64_t chain_named(const struct link *l, uint32_t n)
{
	uint64_t named[CHAIN_LINKS] = { 0 }, sum = 0;
	bool parent[CHAIN_LINKS] = { false };
	uint32_t i;

	for (i = n; i--; ) {
		uint64_t own = parent[i] ? named[i] : l[i].named_ns;

		if (l[i].parent == LINK_ROOT) {
			sum += own;
		} else {
			named[l[i].parent] += own;
			parent[l[i].parent] = true;
		}
	}
	return sum;
}

uint64_t chain_throttled(const struct link *l, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (l[i].kind == LK_THROTTLED)
			sum += l[i].named_ns;
	return sum;
}

void chain_settle(const struct engine *e, struct link *l, uint32_t n, const uint8_t *throttled)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t vm = l[i].task < e->n_tasks ? e->tasks[l[i].task].vm : VM_NONE;
		uint8_t how = vm == VM_NONE ? 0 : throttled[vm];

		if (l[i].kind != LK_THROTTLED)
			continue;
		if (how == 2) {
			l[i].flags &= (uint16_t)~LF_INFERRED;
		} else if (!how) {
			l[i].kind = l[i].flags & LF_PREEMPT ? LK_PREEMPTED : LK_RUNNABLE;
			l[i].flags &= (uint16_t)~LF_INFERRED;
			l[i].named_ns = 0;
		}
	}
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

bool chain_is_number(const char *comm, unsigned int i)
{
	if (comm[i] < '0' || comm[i] > '9')
		return false;
	while (i && comm[i - 1] >= '0' && comm[i - 1] <= '9')
		i--;
	return !i || !((comm[i - 1] | 0x20) >= 'a' && (comm[i - 1] | 0x20) <= 'z');
}

/* A task as far as a shape cares: its name without numbers. */
static uint64_t mix_task(const struct engine *e, uint64_t h, uint32_t task)
{
	const char *comm;
	unsigned int i;

	if (task == TASK_NONE || task >= e->n_tasks)
		return mix(h, 1);
	comm = (const char *)e->tasks[task].comm;
	if (e->tasks[task].vcpu != VCPU_NONE)
		return mix(h, 2);
	for (i = 0; i < 16 && comm[i]; i++)
		if (!chain_is_number(comm, i))
			h = mix(h, (uint64_t)comm[i]);
	return h;
}

/* A context as far as a shape cares: of work its function, whoever queued it. */
static uint64_t mix_ctx(const struct engine *e, uint64_t h, uint32_t ctx)
{
	const struct history *hist;

	switch (HCTX_TYPE(ctx)) {
	case HCTX_WORK:
	case HCTX_TIMER:
		hist = engine_state(e, "history");
		return mix(mix(h, HCTX_TYPE(ctx)), hist->pairs[HCTX_VALUE(ctx)].func);
	case HCTX_IRQ:
		return mix(h, HCTX_IRQ);
	default:
		return mix(h, ctx);
	}
}

/* What a link is as far as a shape cares. */
static uint64_t own_hash(const struct engine *e, const struct link *l)
{
	uint64_t h = mix(1, l->kind);

	switch ((enum link_kind)l->kind) {
	case LK_HOST:
	case LK_VMM:
		h = mix(h, (uint64_t)l->host.info.reason << 32 | l->host.info.user_reason);
		h = mix(h, l->host.info.sub);
		h = mix(h, l->host.unmaps != 0);
		return l->host.func_ns * 2 >= l->end - l->start ? mix_ctx(e, h, l->host.func) : h;
	case LK_RUNNABLE:
	case LK_PREEMPTED:
		return mix_task(e, h, l->wait.ns[0] > l->wait.idle ? l->wait.who[0] : 0);
	case LK_BLOCKED:
		h = mix_ctx(e, mix(h, l->flags & (LF_IRQ | LF_SOFTIRQ | LF_NEW)), l->ctx);
		return l->flags & (LF_IRQ | LF_SOFTIRQ) ? mix_ctx(e, h, l->block.wctx)
							: mix_task(e, h, l->block.waker);
	case LK_RUNNING:
		return mix_task(e, mix_ctx(e, h, l->ctx), l->task);
	case LK_FOLDED:
		return mix(h, (uint64_t)l->fold.reason << 32 | l->fold.user_reason);
	default:
		return h;
	}
}

unsigned int chain_groups(const struct engine *e, const struct link *l, uint32_t n, uint16_t parent,
			  struct link_group out[GROUP_PARTS])
{
	struct link_group g[CHAIN_LINKS];
	uint64_t whole = 0;
	unsigned int n_g = 0, n_out = 0, k;
	uint32_t i;

	for (i = parent == LINK_ROOT ? 0 : parent + 1u; i < n; i++) {
		uint64_t ns = l[i].end - l[i].start, hash;

		if (l[i].parent != parent)
			continue;
		whole += ns;
		hash = own_hash(e, &l[i]);
		for (k = 0; k < n_g && g[k].hash != hash; k++)
			;
		if (k == n_g)
			g[n_g++] = (struct link_group){ .hash = hash, .longest = i };
		g[k].ns += ns;
		if (ns > l[g[k].longest].end - l[g[k].longest].start)
			g[k].longest = i;
	}
	for (k = 0; k < n_g && n_out < GROUP_PARTS; k++)
		if (g[k].ns * GROUP_PARTS >= whole)
			out[n_out++] = g[k];
	return n_out;
}

static uint64_t hash_level(const struct engine *e, const struct link *l, uint32_t n,
			   uint16_t parent)
{
	struct link_group g[GROUP_PARTS];
	unsigned int n_g = chain_groups(e, l, n, parent, g), i;
	uint64_t h = 0;

	/* in what order they came is not part of a shape: sums do not depend on it */
	for (i = 0; i < n_g; i++)
		h += l[g[i].longest].kind != LK_BLOCKED ? mix(g[i].hash, 1) :
		     mix(g[i].hash, 1 + hash_level(e, l, n, (uint16_t)g[i].longest));
	return h;
}

uint64_t chain_hash(const struct engine *e, const struct link *l, uint32_t n, uint64_t seed)
{
	return mix(mix(1, seed), hash_level(e, l, n, LINK_ROOT));
}
