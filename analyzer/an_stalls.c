// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_stalls.c - stalls: stretches in which a vCPU had something to do and did not run its guest,
 * and KVM ioctls that took long.
 *
 * A vCPU's stretch is what lies between two pieces of progress or rest (guest, halted, and what is
 * not known outside of an exit): from an exit to the next entry, or from a halted vCPU's wake-up to
 * its entry. A loss ends it (nothing is bridged). Its kind is the state that had most of it: host
 * -> exit, vmm, waiting -> runq (late-wake where it begins with the wake-up of a halted vCPU),
 * blocked. Threads that are vCPUs only by name have waits and uninterruptible sleeps.
 */
#include "patterns.h"
#include "stall_rows.h"

#define PIECES		48		/* of one stretch; beyond, the shortest neighbours fold */
#define MAX_STRETCHES	4096		/* vCPU threads watched for stalls */
#define KVM_RUN		0xae80u		/* linux/kvm.h */

struct stretch {
	uint32_t	n;
	bool		from_halt;	/* it began with the wake-up of a halted vCPU */
	bool		after_halt;	/* the piece before was a halt */
	bool		lost;
	struct spiece	pieces[PIECES];
};

struct op {
	uint64_t	start, pos;
	uint32_t	request;	/* 0: none open */
};

#define UNMAPS	64	/* a power of two */

/* An mmu notifier's invalidation: a fault that runs meanwhile has to be retried. */
struct unmap {
	uint64_t	time;
	uint32_t	task;
};

struct stalls {
	struct engine	*e;
	struct unmap	unmaps[UNMAPS];	/* the last ones, as a ring */
	uint64_t	n_unmaps;
	struct history	*h;
	struct states	*states;
	struct stretch	**of;		/* by task index */
	size_t		n_of;
	uint32_t	n_stretches;
	struct op	*ops;		/* by task index */
	size_t		n_ops;
	struct chain	chain;
	struct patterns	patterns;
	struct stall_histogram hist;
};

static void fold(struct spiece *a, const struct spiece *b)
{
	unsigned int i;

	if (!a->folded) {
		a->named_ns = spiece_named(a);
		memset(a->ns, 0, sizeof(a->ns));
		a->ns[a->p.state] = a->p.end - a->p.start;
		a->folded = 1;
	}
	a->named_ns += b->folded ? b->named_ns : spiece_named(b);
	if (b->folded)
		for (i = 0; i < VS_N; i++)
			a->ns[i] += b->ns[i];
	else
		a->ns[b->p.state] += b->p.end - b->p.start;
	a->folded += b->folded ? b->folded : 1;
	a->p.end = b->p.end;
	a->p.end_pos = b->p.end_pos;
}

static struct spiece *next_piece(struct stretch *st)
{
	uint64_t least = UINT64_MAX;
	uint32_t i, at = 0;

	if (st->n < PIECES)
		return &st->pieces[st->n++];
	for (i = 0; i + 1 < PIECES; i++) {
		uint64_t ns = st->pieces[i + 1].p.end - st->pieces[i].p.start;

		if (ns < least) {
			least = ns;
			at = i;
		}
	}
	fold(&st->pieces[at], &st->pieces[at + 1]);
	memmove(&st->pieces[at + 1], &st->pieces[at + 2], (PIECES - at - 2) * sizeof(*st->pieces));
	return &st->pieces[PIECES - 1];
}

static enum stall_kind kind_of(const struct stretch *st, uint64_t ns[VS_N])
{
	unsigned int k, best = VS_HOST;
	uint32_t i;

	memset(ns, 0, VS_N * sizeof(*ns));
	for (i = 0; i < st->n; i++) {
		const struct spiece *s = &st->pieces[i];

		if (!s->folded)
			ns[s->p.state] += s->p.end - s->p.start;
		for (k = 0; s->folded && k < VS_N; k++)
			ns[k] += s->ns[k];
	}
	for (k = 0; k < VS_N; k++)
		if (ns[k] > ns[best] || (k == VS_UNKNOWN && ns[k] == ns[best]))
			best = k;
	if (best == VS_WAITING)
		return st->from_halt ? STALL_LATE_WAKE : STALL_RUNQ;
	return best == VS_HOST ? STALL_EXIT : best == VS_VMM ? STALL_VMM : STALL_BLOCKED;
}

static void count_stall(struct stalls *s, struct stall *st)
{
	struct chain *c = &s->chain;
	uint32_t i;

	st->named_ns = chain_named(c->links, c->n);
	st->throttled_ns = chain_throttled(c->links, c->n);
	for (i = 0; i < c->n; i++)
		if (c->links[i].parent == LINK_ROOT && c->links[i].kind != LK_UNKNOWN &&
		    c->links[i].kind != LK_LOST)
			st->known_ns += c->links[i].end - c->links[i].start;
	st->partial |= c->partial;
	st->hash = chain_hash(s->e, c->links, c->n,
			      (uint64_t)st->kind << 56 ^ (uint64_t)st->info.reason << 24 ^
				      st->info.user_reason ^ st->ctx);
	/*
	 * whether a throttle is one is settled per VM, so a pattern with one is of one thread group
	 */
	if (st->throttled_ns)
		st->hash ^= ((uint64_t)(uint32_t)s->e->tasks[st->task].tgid + 1) *
			    0x9e3779b97f4a7c15ull;
	stall_histogram_add(&s->hist, st->end - st->start);
	patterns_add(&s->patterns, st, c);
}

/* The stretch is over: a stall if it was long enough. */
static void end_stretch(struct stalls *s, uint32_t task, struct stretch *st, bool open)
{
	struct stall stall;
	uint64_t ns[VS_N];
	uint32_t i, n = st->n;

	st->n = 0;
	if (!n || st->pieces[n - 1].p.end - st->pieces[0].p.start < patterns_floor(&s->patterns))
		return;
	st->n = n;
	memset(&stall, 0, sizeof(stall));
	stall.kind = (uint8_t)kind_of(st, ns);
	st->n = 0;
	stall.start = st->pieces[0].p.start;
	stall.end = st->pieces[n - 1].p.end;
	stall.pos = st->pieces[0].p.pos;
	stall.end_pos = st->pieces[n - 1].p.end_pos;
	stall.task = task;
	stall.info = st->pieces[0].p.info;
	stall.partial = open || st->lost;
	for (i = 0; i < n; i++)
		if (st->pieces[i].p.info.user_reason != EVENT_U32_NONE)
			stall.info.user_reason = st->pieces[i].p.info.user_reason;
	chain_start(&s->chain, s->h);
	for (i = 0; i < n; i++) {
		s->chain.reserve = n - 1 - i;
		chain_piece(&s->chain, task, &st->pieces[i]);
	}
	count_stall(s, &stall);
}

static struct stretch *stretch_of(struct stalls *s, uint32_t task, bool make)
{
	if (task >= s->n_of && !make)
		return NULL;
	GROW_ZERO(s->of, s->n_of, task);
	if (!s->of[task] && make && s->n_stretches < MAX_STRETCHES) {
		s->of[task] = xcalloc(1, sizeof(**s->of));
		s->n_stretches++;
	}
	return s->of[task];
}

/*
 * Does this piece end a stretch: the guest ran or rested, or nothing is known of what the thread
 * was about.
 */
static bool is_pause(const struct piece *p)
{
	return p->state == VS_GUEST || p->state == VS_HALTED || p->state == VS_LOST ||
	       (p->state == VS_UNKNOWN && !(p->flags & PF_IN_EXIT));
}

/* Invalidations of others in the vCPU's address space while it handled a fault. */
static void count_unmaps(const struct stalls *s, uint32_t task, struct spiece *sp)
{
	const struct task *t = &s->e->tasks[task], *o;
	uint64_t i;

	sp->unmaps = 0;
	sp->unmapper = TASK_NONE;
	if (sp->p.info.sub != SUB_FAULT && (sp->p.info.reason == EVENT_U32_NONE ||
					    EXIT_CLASS(sp->p.info.reason) != EXIT_NPF))
		return;
	for (i = s->n_unmaps; i && s->n_unmaps - i < UNMAPS; i--) {
		const struct unmap *u = &s->unmaps[(i - 1) & (UNMAPS - 1)];

		if (u->time < sp->p.start)
			break;
		if (u->time >= sp->p.end || u->task == task || u->task == TASK_NONE)
			continue;
		/* they happen in the context of whoever changes that address space, or of ksmd */
		o = &s->e->tasks[u->task];
		if (t->tgid >= 0 && o->tgid >= 0 && o->tgid != t->tgid && o->role != ROLE_KSMD &&
		    o->role != ROLE_KHUGEPAGED && o->role != ROLE_KTHREAD)
			continue;
		if (!sp->unmaps++)
			sp->unmapper = u->task;
	}
}

static void on_piece(void *arg, uint32_t task, const struct piece *p)
{
	struct stalls *s = arg;
	struct stretch *st = stretch_of(s, task, true);
	struct spiece *sp;

	if (!st)
		return;
	if (is_pause(p)) {
		if (st->n) {
			st->lost = p->state == VS_LOST;
			end_stretch(s, task, st, false);
		}
		st->after_halt = p->state == VS_HALTED;
		return;
	}
	if (!st->n) {
		st->from_halt = st->after_halt && p->state == VS_WAITING;
		st->lost = false;
	}
	st->after_halt = false;
	sp = next_piece(st);
	sp->p = *p;
	sp->folded = 0;
	sp->func = sp->stack = EVENT_U32_NONE;
	sp->func_ns = 0;
	sp->unmaps = 0;
	if (p->state == VS_HOST || p->state == VS_VMM) {
		const struct hist_task *t = hist_task(s->h, task);

		if (!hist_long_func(s->h, task, p->start, p->end, &sp->func, &sp->func_ns))
			sp->func = EVENT_U32_NONE;
		if (t->sample_time >= p->start && t->sample_time && t->sample_time < p->end)
			sp->stack = t->sample_stack;
		count_unmaps(s, task, sp);
	}
}

static void end_op(struct stalls *s, uint32_t task, struct op *op, uint64_t end, uint64_t end_pos,
		   bool open)
{
	struct stall stall = {
		.start = op->start, .end = end, .pos = op->pos, .end_pos = end_pos, .task = task,
		.ctx = HCTX(HCTX_IOCTL, op->request), .kind = STALL_OPERATION, .partial = open,
		.info = { .reason = EVENT_U32_NONE, .user_reason = EVENT_U32_NONE },
	};
	uint16_t cpu = s->e->tasks[task].cpu;
	uint32_t i;

	op->request = 0;
	/* a call whose end may be among what was lost has no known length */
	if (cpu < s->e->n_cpus && s->e->cpus[cpu].lost_ns > stall.start)
		return;
	if (end - stall.start < patterns_floor(&s->patterns))
		return;
	chain_start(&s->chain, s->h);
	chain_task(&s->chain, task, stall.start, end);
	for (i = 0; i < s->chain.n; i++)
		if (s->chain.links[i].parent == LINK_ROOT && !s->chain.links[i].ctx)
			s->chain.links[i].ctx = stall.ctx;
	count_stall(s, &stall);
}

static void stalls_event(struct engine *e, void *state, const struct event *ev)
{
	struct stalls *s = state;
	uint32_t task = engine_task(e, ev->tid), request;
	struct stretch *st;
	struct op *op;

	if (task == TASK_NONE || task_is_idle(task))
		return;
	if (ev->kind == EV_KVM_UNMAP_HVA) {
		s->unmaps[s->n_unmaps++ & (UNMAPS - 1)] = (struct unmap){ e->now, task };
		return;
	}
	request = ev->kind == EV_SYS_ENTER || ev->kind == EV_SYSCALL_ENTER ? hist_kvm_ioctl(ev) : 0;
	if (!request && task >= s->n_ops)
		return;
	GROW_ZERO(s->ops, s->n_ops, task);
	op = &s->ops[task];
	if (ev->kind == EV_SYS_EXIT || ev->kind == EV_SYSCALL_EXIT) {
		if (op->request)
			end_op(s, task, op, e->now, ev->pos, false);
		return;
	}
	op->request = 0;
	st = stretch_of(s, task, false);
	/* what a vCPU thread does between an exit and an entry is its stall already */
	if (!request || request == KVM_RUN || (st && st->n))
		return;
	op->request = request;
	op->start = e->now;
	op->pos = ev->pos;
}

/*
 * What was not over when the recording ended. A vCPU that sleeps in its VMM then may just have been
 * stopped.
 */
static void end_open(struct stalls *s)
{
	size_t i;

	for (i = 0; i < s->e->n_tasks; i++) {
		struct stretch *st;
		struct piece p;
		bool open = states_open(s->states, (uint32_t)i, &p) && !is_pause(&p) &&
			    !(p.state == VS_BLOCKED && !(p.block_state & TSTATE_UNINTERRUPTIBLE)) &&
			    p.state != VS_VMM;

		if (open)
			on_piece(s, (uint32_t)i, &p);
		st = stretch_of(s, (uint32_t)i, false);
		if (st && st->n)
			end_stretch(s, (uint32_t)i, st, open);
	}
	for (i = 0; i < s->n_ops; i++)
		if (s->ops[i].request && s->e->tasks[i].state != SCHED_DEAD)
			end_op(s, (uint32_t)i, &s->ops[i], s->e->last_ns, s->ops[i].pos, true);
}

static struct error *stalls_flush(struct engine *e, void *state)
{
	struct stalls *s = state;

	(void)e;
	end_open(s);
	return NULL;
}

/* The rows are written after those of the analyses that chains lean on (throttle). */
static struct error *rows_flush(struct engine *e, void *state)
{
	struct stalls *s = engine_state(e, "stalls");

	(void)state;
	return stall_rows_write(e, &s->patterns, &s->hist);
}

static void *stalls_begin(struct engine *e)
{
	struct stalls *s = xcalloc(1, sizeof(*s));

	s->e = e;
	s->h = engine_state(e, "history");
	s->states = engine_state(e, "states");
	patterns_init(&s->patterns, e->opt ? e->opt->stall_threshold_ns : 0);
	states_listen(s->states, on_piece, s);
	return s;
}

static void stalls_destroy(void *state)
{
	struct stalls *s = state;
	size_t i;

	patterns_deinit(&s->patterns);
	for (i = 0; i < s->n_of; i++)
		free(s->of[i]);
	free(s->of);
	free(s->ops);
	free(s);
}

static const struct analysis stalls_analysis = {
	.name = "stalls",
	.priority = 30,
	.pairs = true,
	.kinds = KIND(SYS_ENTER) | KIND(SYS_EXIT) | KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT) |
		 KIND(KVM_UNMAP_HVA),
	.begin = stalls_begin,
	.event = stalls_event,
	.flush = stalls_flush,
	.destroy = stalls_destroy,
};
REGISTER(analyses, &stalls_analysis);

static const struct analysis stall_rows_analysis = {
	.name		= "stall-rows",
	.priority	= 245,
	.pairs		= true,
	.flush		= rows_flush,
};
REGISTER(analyses, &stall_rows_analysis);
