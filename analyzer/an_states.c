// SPDX-License-Identifier: GPL-2.0-or-later
/* an_states.c - what state every vCPU thread is in at every ns; see states.h for the rules. */
#include "states.h"

#define BINS			512
#define BIN_MIN_NS		NSEC_PER_MSEC
#define MAX_BINNED		1024	/* vCPUs with state slices; further ones have sums only */
#define MAX_THREADS		16384
#define RECENT			4
#define KVM_RUN			0xae80	/* linux/kvm.h */
#define KVM_EXIT_HLT		5

enum run { R_NONE, R_RUN, R_WAIT, R_BLOCK, R_LOST };
enum ctx { C_UNKNOWN, C_GUEST, C_HOST, C_VMM, C_HALT };

struct range {
	uint64_t	start, end;
	enum vstate	state;
};

struct vthread {
	uint32_t	task;
	uint64_t	since, pos;		/* the open piece */
	uint64_t	ns[VS_N];
	struct range	recent[RECENT];		/* latest first; see settle() */
	struct exit_info info;
	uint64_t	(*bins)[VS_N];
	uint64_t	bin_ns, bin_base;	/* bin i is [(bin_base + i) * bin_ns, ...) */
	uint64_t	bin_from, bin_to;	/* where the last time was added: bin `bin_at` */
	uint32_t	bin_at;
	uint32_t	enq_ns;			/* R_WAIT: see struct piece */
	uint64_t	kvm_run_nr;		/* number of its ioctl(KVM_RUN) + 1, 0 not in it */
	uint16_t	cpu;
	uint16_t	block_state;
	uint8_t		run, ctx;
	bool		kvm;			/* kvm events seen */
	bool		in_halt;		/* from a halting exit to the next entry */
	bool		halt_sleep;		/* R_BLOCK: it is the guest that sleeps */
	bool		preempted;		/* R_WAIT */
};

struct states {
	struct engine	*e;
	uint32_t	*of;			/* task index -> vthread + 1 */
	size_t		n_of;
	struct vthread	*v;
	size_t		n, cap;
	piece_fn	fn;
	void		*fn_arg;
};

const char *vstate_name(enum vstate state)
{
	static const char *const names[] = { "guest",	"host",	   "vmm",     "halted",
					     "waiting", "blocked", "unknown", "lost" };

	return state < VS_N ? names[state] : "?";
}

void states_listen(struct states *s, piece_fn fn, void *arg)
{
	s->fn = fn;
	s->fn_arg = arg;
}

/* Time per state in bins of equal width, which doubles when the thread's time outgrows them. */
static void bins_fit(struct vthread *v, uint64_t start, uint64_t end)
{
	unsigned int i;

	if (!v->bin_ns) {
		v->bin_ns = BIN_MIN_NS;
		v->bin_base = start / v->bin_ns;
	}
	while ((end - 1) / v->bin_ns - v->bin_base >= BINS) {
		uint64_t base = v->bin_base / 2;

		for (i = 0; i < BINS; i++) {
			unsigned int to = (unsigned int)((v->bin_base + i) / 2 - base), k;

			for (k = 0; k < VS_N; k++) {
				uint64_t ns = v->bins[i][k];

				v->bins[i][k] = 0;
				v->bins[to][k] += ns;
			}
		}
		v->bin_ns *= 2;
		v->bin_base = base;
		v->bin_from = v->bin_to = 0;
	}
}

static void bins_add(struct vthread *v, enum vstate state, uint64_t start, uint64_t end,
		     bool take_back)
{
	uint64_t i;

	/* most stretches are short and lie in the bin that the last one lay in */
	if (likely(start >= v->bin_from && end <= v->bin_to)) {
		v->bins[v->bin_at][state] += take_back ? start - end : end - start;
		return;
	}
	bins_fit(v, start, end);
	if (start / v->bin_ns < v->bin_base)
		return;
	for (i = start / v->bin_ns; start < end; i++) {
		uint64_t to = MIN(end, (i + 1) * v->bin_ns);

		if (take_back)
			v->bins[i - v->bin_base][state] -= to - start;
		else
			v->bins[i - v->bin_base][state] += to - start;
		v->bin_at = (uint32_t)(i - v->bin_base);
		v->bin_from = i * v->bin_ns;
		v->bin_to = v->bin_from + v->bin_ns;
		start = to;
	}
}

static void account(struct states *s, struct vthread *v, enum vstate state, uint64_t start,
		    uint64_t end)
{
	const struct task *t = &s->e->tasks[v->task];

	if (!t->events)
		return;		/* before its own first event: not its time yet */
	start = MAX(start, t->first_ns);
	if (start >= end)
		return;
	v->ns[state] += end - start;
	if (v->bins)
		bins_add(v, state, start, end, false);
	if (v->recent[0].state == state && v->recent[0].end == start) {
		v->recent[0].end = end;
		return;
	}
	memmove(v->recent + 1, v->recent, (RECENT - 1) * sizeof(*v->recent));
	v->recent[0] = (struct range){ .start = start, .end = end, .state = state };
}

static enum vstate running_state(const struct vthread *v)
{
	static const enum vstate by_ctx[] = { VS_UNKNOWN, VS_GUEST, VS_HOST, VS_VMM, VS_HALTED };

	return by_ctx[v->ctx];
}

static bool wakeups_seen(const struct states *s)
{
	return s->e->seen & (KIND(SCHED_WAKING) | KIND(SCHED_WAKEUP) | KIND(SCHED_WAKEUP_NEW));
}

/* State and flags of the open piece if it is as it looks. */
static enum vstate open_state(const struct states *s, const struct vthread *v, uint8_t *flags)
{
	*flags = v->ctx == C_HOST || v->ctx == C_VMM ? PF_IN_EXIT : 0;
	switch ((enum run)v->run) {
	case R_RUN:
		return running_state(v);
	case R_WAIT:
		*flags |= v->preempted ? PF_PREEMPTED : 0;
		return v->ctx == C_HALT ? VS_HALTED : VS_WAITING;
	case R_BLOCK:
		if (v->halt_sleep)
			return VS_HALTED;
		/* how long it sleeps and how long it waits then is not known */
		if (!wakeups_seen(s)) {
			*flags |= PF_NO_WAKE;
			return VS_UNKNOWN;
		}
		if (v->ctx == C_UNKNOWN && !(v->block_state & TSTATE_UNINTERRUPTIBLE))
			return VS_UNKNOWN;
		return VS_BLOCKED;
	case R_LOST:
		return VS_LOST;
	case R_NONE:
	default:
		return VS_UNKNOWN;
	}
}

/* End the open piece at @end, in the event at @pos, as @state. */
static void piece(struct states *s, struct vthread *v, uint64_t end, uint64_t pos,
		  enum vstate state, uint8_t flags)
{
	if (end > v->since) {
		struct piece p = {
			.start = v->since,
			.end = end,
			.pos = v->pos,
			.end_pos = pos,
			.info = v->info,
			.cpu = v->cpu,
			.enq_ns = v->run == R_WAIT ? v->enq_ns : 0,
			.block_state = v->block_state,
			.state = (uint8_t)state,
			.flags = flags,
		};

		if (!(s->e->seen & KIND(SCHED_SWITCH)))
			p.flags |= PF_NO_SCHED;
		account(s, v, state, v->since, end);
		if (s->fn)
			s->fn(s->fn_arg, v->task, &p);
	}
	v->since = end;
	v->pos = pos;
}

static void close_piece(struct states *s, struct vthread *v, uint64_t pos)
{
	uint8_t flags;
	enum vstate state = open_state(s, v, &flags);

	piece(s, v, s->e->now, pos, state, flags);
}

/*
 * The open piece hides something that was not recorded: all that can be said of it is that it was
 * lost, or nothing.
 */
static void close_unknown(struct states *s, struct vthread *v, uint64_t pos)
{
	piece(s, v, s->e->now, pos, v->run == R_LOST ? VS_LOST : VS_UNKNOWN, 0);
}

/* It was seen where it can't be by what was seen before: what it is about is not known either. */
static void forget_ctx(struct vthread *v)
{
	v->ctx = C_UNKNOWN;
	v->in_halt = v->halt_sleep = false;
}

/* A sleep ended and nobody was seen to end it. */
static void close_sleep_unwoken(struct states *s, struct vthread *v, uint64_t pos)
{
	if (v->halt_sleep && !wakeups_seen(s)) {
		close_piece(s, v, pos);
		return;
	}
	piece(s, v, s->e->now, pos, VS_UNKNOWN,
	      PF_NO_WAKE | (v->ctx == C_HOST || v->ctx == C_VMM ? PF_IN_EXIT : 0));
}

static struct vthread *find(const struct states *s, uint32_t idx)
{
	return idx < s->n_of && s->of[idx] ? &s->v[s->of[idx] - 1] : NULL;
}

static struct vthread *watch(struct states *s, uint32_t idx)
{
	struct engine *e = s->e;
	const struct task *t = &e->tasks[idx];
	struct vthread *v;

	if (s->n >= MAX_THREADS)
		return NULL;
	GROW_ZERO(s->of, s->n_of, idx);
	GROW(s->v, s->cap, s->n + 1);
	v = &s->v[s->n++];
	memset(v, 0, sizeof(*v));
	s->of[idx] = (uint32_t)s->n;
	v->task = idx;
	v->since = t->state == SCHED_UNKNOWN ? e->now : t->since;
	v->pos = t->state == SCHED_WOKEN ? t->wake.pos : t->out_pos;
	v->cpu = t->cpu;
	v->info.reason = v->info.user_reason = EVENT_U32_NONE;
	v->block_state = t->block_state;
	if (s->n <= MAX_BINNED)
		v->bins = xcalloc(BINS, sizeof(*v->bins));
	/* what the core knows of it already */
	if (t->state == SCHED_RUNNING)
		v->run = R_RUN;
	else if (t->state == SCHED_WOKEN || t->state == SCHED_PREEMPTED)
		v->run = R_WAIT;
	else if (t->state == SCHED_BLOCKED)
		v->run = R_BLOCK;
	v->preempted = t->state == SCHED_PREEMPTED;
	/* the time before it was known to be a vCPU thread */
	account(s, v, VS_UNKNOWN, t->first_ns, v->since);
	return v;
}

/* The vthread of task @idx, if it is a vCPU as far as the core knows. */
static struct vthread *vthread_of(struct states *s, uint32_t idx)
{
	struct vthread *v;

	if (idx == TASK_NONE || task_is_idle(idx))
		return NULL;
	v = find(s, idx);
	if (!v && s->e->tasks[idx].vcpu != VCPU_NONE)
		v = watch(s, idx);
	return v;
}

static void switch_out(struct states *s, struct vthread *v, const struct event *ev)
{
	uint64_t st = ev->a[3];

	if (v->run == R_RUN && v->ctx != C_GUEST)
		close_piece(s, v, ev->pos);
	else
		close_unknown(s, v, ev->pos);
	if (v->ctx == C_GUEST || v->run != R_RUN)
		forget_ctx(v);
	v->cpu = ev->cpu;
	v->block_state = (uint16_t)st;
	v->preempted = false;
	if (!(st & ~(uint64_t)TSTATE_PREEMPTED)) {
		v->run = R_WAIT;
		v->enq_ns = 0;
		v->preempted = true;
	} else if (st & (TSTATE_DEAD | TSTATE_ZOMBIE)) {
		v->run = R_NONE;
		v->ctx = C_UNKNOWN;
	} else {
		v->run = R_BLOCK;
		v->halt_sleep = v->in_halt && !(st & TSTATE_UNINTERRUPTIBLE) &&
				(v->ctx != C_VMM || v->info.user_reason == KVM_EXIT_HLT);
	}
}

static void switch_in(struct states *s, struct vthread *v, const struct event *ev)
{
	switch ((enum run)v->run) {
	case R_WAIT:
		/* it was moved, and when is not known unless migrations are recorded */
		if (ev->cpu != v->cpu)
			v->cpu = s->e->seen & KIND(SCHED_MIGRATE) ? ev->cpu : EVENT_CPU_NONE;
		close_piece(s, v, ev->pos);
		break;
	case R_BLOCK:
		close_sleep_unwoken(s, v, ev->pos);
		if (v->ctx == C_HALT)
			v->ctx = C_HOST;
		break;
	case R_RUN:
	case R_LOST:
	case R_NONE:
	default:
		close_unknown(s, v, ev->pos);
		forget_ctx(v);
		break;
	}
	v->run = R_RUN;
	v->cpu = ev->cpu;
}

static void on_switch(struct states *s, const struct event *ev)
{
	struct vthread *v = vthread_of(s, engine_task(s->e, (int32_t)ev->a[2]));

	if (v)
		switch_out(s, v, ev);
	v = vthread_of(s, engine_task(s->e, (int32_t)ev->b[0]));
	if (v)
		switch_in(s, v, ev);
}

static void on_wakeup(struct states *s, const struct event *ev)
{
	struct vthread *v = vthread_of(s, engine_task(s->e, (int32_t)ev->b[0]));
	uint16_t cpu;

	if (!v)
		return;
	cpu = ev->b[1] < EVENT_CPU_NONE ? (uint16_t)ev->b[1] : v->cpu;
	switch ((enum run)v->run) {
	case R_WAIT:
		/* who is runnable isn't woken: it ran and slept again unseen */
		if (ev->kind == EV_SCHED_WAKING && !v->preempted) {
			close_unknown(s, v, ev->pos);
			forget_ctx(v);
			break;
		}
		if (ev->kind != EV_SCHED_WAKING && !v->preempted && !v->enq_ns) {
			uint64_t d = s->e->now - v->since;

			v->enq_ns = (uint32_t)MIN(d, (uint64_t)UINT32_MAX);
			if (d <= NSEC_PER_MSEC)
				v->cpu = cpu;
		}
		return;
	case R_RUN:
		return;
	case R_BLOCK:
		close_piece(s, v, ev->pos);
		if (v->ctx == C_HALT)
			v->ctx = C_HOST;
		break;
	case R_NONE:
	case R_LOST:
	default:
		close_unknown(s, v, ev->pos);
		break;
	}
	v->run = R_WAIT;
	v->preempted = false;
	v->enq_ns = 0;
	v->cpu = cpu;
}

static void on_migrate(struct states *s, const struct event *ev)
{
	struct vthread *v = vthread_of(s, engine_task(s->e, (int32_t)ev->b[0]));

	if (!v || v->run != R_WAIT || ev->b[1] >= EVENT_CPU_NONE || v->cpu == ev->b[1])
		return;
	if (v->preempted || s->e->now - v->since > NSEC_PER_MSEC)
		close_piece(s, v, ev->pos);
	v->cpu = (uint16_t)ev->b[1];
}

/* An event in the thread's own context: it runs, whatever else was or wasn't recorded. */
static void runs(struct states *s, struct vthread *v, const struct event *ev)
{
	if (v->run != R_RUN) {
		close_unknown(s, v, ev->pos);
		forget_ctx(v);
		v->run = R_RUN;
		v->cpu = ev->cpu;
	}
}

static void on_kvm_exit(struct states *s, struct vthread *v, const struct event *ev)
{
	enum exit_class class = EXIT_CLASS(ev->b[0]);

	runs(s, v, ev);
	if (v->ctx == C_GUEST)
		close_piece(s, v, ev->pos);
	else
		close_unknown(s, v, ev->pos);	/* it has entered the guest unseen */
	v->cpu = ev->cpu;
	v->in_halt = class == EXIT_HLT;
	v->ctx = v->in_halt ? C_HALT : C_HOST;
	v->info = (struct exit_info){ .reason = ev->b[0], .user_reason = EVENT_U32_NONE };
}

static void on_kvm_entry(struct states *s, struct vthread *v, const struct event *ev)
{
	runs(s, v, ev);
	if (v->ctx == C_GUEST)
		close_unknown(s, v, ev->pos);		/* an exit is missing in between */
	else
		close_piece(s, v, ev->pos);
	v->cpu = ev->cpu;
	v->ctx = C_GUEST;
	v->in_halt = false;
	v->info = (struct exit_info){ .reason = EVENT_U32_NONE, .user_reason = EVENT_U32_NONE };
}

static void set_ctx(struct states *s, struct vthread *v, const struct event *ev, enum ctx ctx)
{
	runs(s, v, ev);
	if (v->ctx == C_GUEST)
		close_unknown(s, v, ev->pos);
	else
		close_piece(s, v, ev->pos);
	v->ctx = (uint8_t)ctx;
}

static void on_syscall(struct states *s, struct vthread *v, const struct event *ev)
{
	bool enter = ev->kind == EV_SYS_ENTER || ev->kind == EV_SYSCALL_ENTER;

	if (enter) {
		v->kvm_run_nr = 0;
		if (ev->a[1] != KVM_RUN)
			return;
		v->kvm_run_nr = (uint64_t)ev->b[0] + 1;
		/* without kvm events nothing tells the guest's time in the call from the host's */
		if (v->ctx != C_GUEST && v->ctx != C_HOST && v->ctx != C_HALT)
			set_ctx(s, v, ev, s->e->seen & KIND(KVM_ENTRY) ? C_HOST : C_UNKNOWN);
	} else if (v->kvm_run_nr || (v->kvm && v->ctx == C_UNKNOWN)) {
		v->kvm_run_nr = 0;
		if (v->ctx != C_VMM) {
			set_ctx(s, v, ev, C_VMM);
			v->in_halt = false;
		}
	}
}

/* What KVM did for the exit in hand; a page fault tells more than the register it came with. */
static void on_sub(struct vthread *v, const struct event *ev, enum sub_kind kind, uint64_t val,
		   bool write, uint64_t now)
{
	struct exit_info *x = &v->info;

	if (v->run != R_RUN || v->ctx == C_GUEST || v->ctx == C_UNKNOWN || kind <= x->sub)
		return;
	x->sub = (uint8_t)kind;
	x->sub_val = val;
	x->sub_write = write;
	x->sub_time = now;
	x->sub_pos = ev->pos;
}

static void sub_event(struct states *s, struct vthread *v, const struct event *ev)
{
	uint64_t now = s->e->now;

	switch (ev->kind) {
	case EV_KVM_PAGE_FAULT:
		on_sub(v, ev, SUB_FAULT, ev->a[0], false, now);
		break;
	case EV_PROBE_ROOT:
		on_sub(v, ev, SUB_ROOT, ev->a[0], false, now);
		break;
	case EV_KVM_PIO:
		on_sub(v, ev, SUB_PIO, ev->b[0], ev->b[1] == 1, now);
		break;
	case EV_KVM_MMIO:
	case EV_KVM_FAST_MMIO:
		on_sub(v, ev, SUB_MMIO, ev->a[0], ev->b[0] == 2 || ev->kind == EV_KVM_FAST_MMIO,
		       now);
		break;
	case EV_KVM_MSR:
		on_sub(v, ev, SUB_MSR, ev->b[0], ev->b[1], now);
		break;
	case EV_KVM_CR:
		on_sub(v, ev, SUB_CR, ev->b[0], true, now);
		break;
	case EV_KVM_INJ_VIRQ:
		on_sub(v, ev, SUB_INJ, ev->b[0], false, now);
		break;
	case EV_KVM_SMM:
	case EV_KVM_ENTER_SMM:
		on_sub(v, ev, SUB_SMM, ev->b[1], false, now);
		break;
	case EV_KVM_NESTED_VMENTER:
	case EV_KVM_NESTED_VMEXIT:
		on_sub(v, ev, SUB_NESTED, ev->kind == EV_KVM_NESTED_VMEXIT, false, now);
		break;
	case EV_IRQ_ENTRY:
		on_sub(v, ev, SUB_IRQ, ev->b[0], false, now);
		break;
	case EV_SOFTIRQ_ENTRY:
		on_sub(v, ev, SUB_SOFTIRQ, ev->b[0], false, now);
		break;
	default:
		break;
	}
}

static void on_own(struct states *s, const struct event *ev)
{
	uint32_t idx = engine_task(s->e, ev->tid);
	bool kvm = ev->kind == EV_KVM_ENTRY || ev->kind == EV_KVM_EXIT;
	struct vthread *v;

	if (idx == TASK_NONE || task_is_idle(idx))
		return;
	v = find(s, idx);
	if (unlikely(!v)) {
		if (!kvm && s->e->tasks[idx].vcpu == VCPU_NONE)
			return;
		v = watch(s, idx);
		if (!v)
			return;
	}
	v->kvm |= kvm;
	switch (ev->kind) {
	case EV_KVM_EXIT:
		on_kvm_exit(s, v, ev);
		break;
	case EV_KVM_ENTRY:
		on_kvm_entry(s, v, ev);
		break;
	case EV_KVM_USERSPACE_EXIT:
		set_ctx(s, v, ev, C_VMM);
		v->info.user_reason = ev->b[0];
		v->in_halt |= ev->b[0] == KVM_EXIT_HLT;
		break;
	case EV_KVM_VCPU_WAKEUP:
		if (v->ctx == C_HALT)
			set_ctx(s, v, ev, C_HOST);
		break;
	case EV_SYS_ENTER:
	case EV_SYS_EXIT:
	case EV_SYSCALL_ENTER:
	case EV_SYSCALL_EXIT:
		on_syscall(s, v, ev);
		break;
	default:
		sub_event(s, v, ev);
		break;
	}
}

static void states_event(struct engine *e, void *state, const struct event *ev)
{
	struct states *s = state;

	(void)e;
	switch (ev->kind) {
	case EV_SCHED_SWITCH:
		on_switch(s, ev);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		on_wakeup(s, ev);
		break;
	case EV_SCHED_MIGRATE:
		on_migrate(s, ev);
		break;
	default:
		on_own(s, ev);
		break;
	}
}

static void states_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct states *s = state;
	size_t i;

	for (i = 0; i < s->n; i++) {
		struct vthread *v = &s->v[i];
		uint64_t from = v->cpu < e->n_cpus ? e->cpus[v->cpu].last_ns : 0;
		uint8_t flags;
		enum vstate st;

		if (v->run == R_LOST || (cpu != EVENT_CPU_NONE && v->cpu != cpu))
			continue;
		st = open_state(s, v, &flags);
		piece(s, v, MAX(v->since, from), v->pos, st, flags | PF_EDGE);
		v->run = R_LOST;
		forget_ctx(v);
		v->info = (struct exit_info){ .reason = EVENT_U32_NONE,
					      .user_reason = EVENT_U32_NONE };
	}
}

bool states_open(const struct states *s, uint32_t task, struct piece *ret)
{
	const struct vthread *v = find(s, task);
	uint8_t flags;
	enum vstate st;

	if (!v || v->since >= s->e->last_ns)
		return false;
	st = open_state(s, v, &flags);
	*ret = (struct piece){ .start = v->since,
			       .end = s->e->last_ns,
			       .pos = v->pos,
			       .end_pos = v->pos,
			       .info = v->info,
			       .cpu = v->cpu,
			       .block_state = v->block_state,
			       .state = (uint8_t)st,
			       .flags = flags | PF_EDGE };
	return true;
}

/* Make the sums those of first_ns..last_ns: up to the last event of the thread, and no further. */
static void settle(struct states *s, struct vthread *v)
{
	const struct task *t = &s->e->tasks[v->task];
	uint64_t total = t->last_ns - t->first_ns, sum = 0;
	uint8_t flags;
	unsigned int i;

	if (t->last_ns > v->since)
		account(s, v, open_state(s, v, &flags), v->since, t->last_ns);
	for (i = 0; i < RECENT; i++) {
		struct range *r = &v->recent[i];
		uint64_t from = MAX(r->start, t->last_ns);

		if (r->end <= from)
			continue;
		v->ns[r->state] -= r->end - from;
		if (v->bins)
			bins_add(v, r->state, from, r->end, true);
	}
	for (i = 0; i < VS_N; i++)
		sum += v->ns[i];
	/* none, unless the thread's own first event was of a kind that nobody watches */
	v->ns[VS_UNKNOWN] += total - sum;
}

static struct error *write_slices(struct states *s, const struct vthread *v, int64_t row_id)
{
	const struct task *t = &s->e->tasks[v->task];
	unsigned int i, k;

	for (i = 0; v->bins && v->bin_ns && i < BINS; i++) {
		const uint64_t *b = v->bins[i];
		uint64_t from = MAX((v->bin_base + i) * v->bin_ns, t->first_ns);
		uint64_t to = MIN((v->bin_base + i + 1) * v->bin_ns, t->last_ns), sum = 0;

		for (k = 0; k < VS_N; k++)
			sum += b[k];
		if (to <= from || !sum)
			continue;
		TRY(case_insert(
			s->e->db, NULL,
			"INSERT INTO state_slice(source_id, vcpu_id, start_ns, duration_ns, guest_ns, host_ns, vmm_ns,"
			" halted_ns, waiting_ns, blocked_ns, unknown_ns, lost_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
			"iiiiiiiiiiii", s->e->s->source_id, row_id, (int64_t)from,
			(int64_t)(to - from), (int64_t)b[0], (int64_t)b[1], (int64_t)b[2],
			(int64_t)b[3], (int64_t)b[4], (int64_t)b[5],
			(int64_t)(b[6] + (to - from - sum)), (int64_t)b[7]));
	}
	return NULL;
}

/* What lies between two events is known only where none was left out between them. */
static void forget(struct states *s, struct vthread *v)
{
	const struct task *t = &s->e->tasks[v->task];

	memset(v->ns, 0, sizeof(v->ns));
	v->ns[VS_UNKNOWN] = t->last_ns - t->first_ns;
	free(v->bins);
	v->bins = NULL;
}

#define STATES_KINDS                                                                               \
	(KIND(SCHED_SWITCH) | KIND(SCHED_WAKING) | KIND(SCHED_WAKEUP) | KIND(SCHED_WAKEUP_NEW) |   \
	 KIND(SCHED_MIGRATE) | KIND(KVM_ENTRY) | KIND(KVM_EXIT) | KIND(KVM_USERSPACE_EXIT) |       \
	 KIND(KVM_VCPU_WAKEUP) | KIND(KVM_PAGE_FAULT) | KIND(KVM_PIO) | KIND(KVM_MMIO) |           \
	 KIND(KVM_FAST_MMIO) | KIND(KVM_MSR) | KIND(KVM_CR) | KIND(KVM_INJ_VIRQ) | KIND(KVM_SMM) | \
	 KIND(KVM_ENTER_SMM) | KIND(KVM_NESTED_VMENTER) | KIND(KVM_NESTED_VMEXIT) |                \
	 KIND(PROBE_ROOT) | KIND(IRQ_ENTRY) | KIND(SOFTIRQ_ENTRY) | KIND(SYS_ENTER) |              \
	 KIND(SYS_EXIT) | KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT))

static struct error *states_flush(struct engine *e, void *state)
{
	bool sampled = engine_sampled(e) & STATES_KINDS;
	struct states *s = state;
	size_t i;

	/* those of which there was one event, which gave the name */
	for (i = 0; i < e->n_vcpus; i++)
		vthread_of(s, e->vcpus[i].task);
	for (i = 0; i < s->n; i++) {
		struct vthread *v = &s->v[i];
		const struct task *t = &e->tasks[v->task];
		int64_t row_id;

		if (t->vcpu == VCPU_NONE || t->last_ns < t->first_ns)
			continue;
		row_id = e->vcpus[t->vcpu].row_id;
		settle(s, v);
		if (sampled)
			forget(s, v);
		TRY(case_insert(
			e->db, NULL,
			"UPDATE vcpu SET guest_ns = ?, host_ns = ?, vmm_ns = ?, halted_ns = ?, waiting_ns = ?,"
			" blocked_ns = ?, unknown_ns = ?, lost_ns = ? WHERE id = ?",
			"iiiiiiiii", (int64_t)v->ns[VS_GUEST], (int64_t)v->ns[VS_HOST],
			(int64_t)v->ns[VS_VMM], (int64_t)v->ns[VS_HALTED],
			(int64_t)v->ns[VS_WAITING], (int64_t)v->ns[VS_BLOCKED],
			(int64_t)v->ns[VS_UNKNOWN], (int64_t)v->ns[VS_LOST], row_id));
		TRY(write_slices(s, v, row_id));
	}
	return NULL;
}

static void *states_begin(struct engine *e)
{
	struct states *s = xcalloc(1, sizeof(*s));

	s->e = e;
	return s;
}

static void states_destroy(void *state)
{
	struct states *s = state;
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->v[i].bins);
	free(s->v);
	free(s->of);
	free(s);
}

static const struct analysis states_analysis = {
	.name = "states",
	.priority = 20,
	.kinds = STATES_KINDS,
	.begin = states_begin,
	.event = states_event,
	.lost = states_lost,
	.flush = states_flush,
	.destroy = states_destroy,
};
REGISTER(analyses, &states_analysis);
