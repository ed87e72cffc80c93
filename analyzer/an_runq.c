// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_runq.c - run-queue delay per task, with the numbers of `perf sched latency -p` of perf 6.12.
 *
 * What perf does (tools/perf/builtin-sched.c), in own words. A task has a last "atom": it begins
 * when the task is switched out, is waiting at once if the task was still runnable, else
 * sleeping. A wake-up of a sleeping atom makes it wait from then on; a wake-up of anything else
 * is ignored. A switch-in of a waiting atom counts one delay. A task first seen by a switch-in
 * counts one delay of zero, one first seen by sched_stat_runtime waits from there, one first seen
 * by a wake-up sleeps. Wake-ups are sched_wakeup_new and, where sched_waking was recorded at all,
 * sched_waking, else sched_wakeup. As that may not be known before the end (text), both countings
 * are kept until the first sched_waking comes. Losses do not reset anything: perf's numbers are
 * kept to the last digit, `loss` rows tell how far to trust them.
 *
 * A "life" stands for perf's struct thread: FORK records begin a new one, so that a reused tid
 * has rows of its own. Names are those of COMM and FORK records where the recording has such;
 * otherwise the tasks' last names.
 */
#include "engine.h"

#define MAX_LIVES	(2 * ENGINE_MAX_TASKS)
#define MAX_CITED	200

enum atom_state { ATOM_NONE, ATOM_SLEEPING, ATOM_WAITING, ATOM_DONE };
enum counting { BY_WAKING, BY_WAKEUP, N_COUNTINGS };

struct delays {
	uint64_t	out_time, wake_time;
	uint64_t	n, total;
	uint64_t	max, max_start, max_end;
	uint64_t	max_pos;	/* of the switch-in that ended the longest */
	uint8_t		atom;		/* enum atom_state of the last atom */
};

struct life {
	uint32_t	task;		/* engine's index */
	int32_t		tgid;		/* -1 unknown */
	uint64_t	comm[2];	/* by COMM and FORK records; 0: none seen */
	uint64_t	runtime;
	uint64_t	oncpu, in_time;	/* in_time: TIME_NONE while not running */
	struct delays	d[N_COUNTINGS];
};

struct runq {
	struct life	*lives;
	size_t		n_lives, cap_lives;
	uint32_t	*current;	/* task index -> life + 1 */
	size_t		n_current;
	bool		records;	/* COMM or FORK records were seen: names are theirs */
	bool		wakings;	/* a sched_waking came: the counting by wakeups is dead */
};

static void *runq_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct runq));
}

static void life_init(struct life *l, uint32_t task)
{
	memset(l, 0, sizeof(*l));
	l->task = task;
	l->tgid = -1;
	l->in_time = TIME_NONE;
}

static struct life *life_new(struct runq *r, uint32_t task)
{
	struct life *l;

	if (r->n_lives >= MAX_LIVES)
		return NULL;
	GROW(r->lives, r->cap_lives, r->n_lives + 1);
	l = &r->lives[r->n_lives++];
	life_init(l, task);
	r->current[task] = (uint32_t)r->n_lives;
	return l;
}

/* The life that @tid leads now, NULL when there are too many tasks. */
static struct life *life_of(struct engine *e, struct runq *r, int32_t tid)
{
	uint32_t task = engine_task(e, tid);

	if (unlikely(task == TASK_NONE))
		return NULL;
	GROW_ZERO(r->current, r->n_current, task);
	if (likely(r->current[task]))
		return &r->lives[r->current[task] - 1];
	return life_new(r, task);
}

/* A new life for the task of @l, or the same one emptied where it has nothing to tell. */
static struct life *life_replace(struct runq *r, struct life *l)
{
	if (l->d[BY_WAKING].n || l->d[BY_WAKEUP].n)
		return life_new(r, l->task);
	life_init(l, l->task);
	return l;
}

static void atom_out(struct delays *d, bool runnable, uint64_t time)
{
	d->out_time = time;
	d->atom = runnable ? ATOM_WAITING : ATOM_SLEEPING;
	d->wake_time = runnable ? time : 0;
}

static void atom_in(struct delays *d, uint64_t time, uint64_t pos)
{
	uint64_t delay;

	if (d->atom == ATOM_NONE)
		atom_out(d, true, time);
	if (d->atom != ATOM_WAITING)
		return;
	d->atom = ATOM_DONE;
	if (unlikely(time < d->wake_time))
		return;
	delay = time - d->wake_time;
	d->total += delay;
	d->n++;
	if (delay > d->max) {
		d->max = delay;
		d->max_start = d->wake_time;
		d->max_end = time;
		d->max_pos = pos;
	}
}

static void atom_wake(struct delays *d, uint64_t time)
{
	if (d->atom == ATOM_NONE)
		atom_out(d, false, time);
	if (d->atom != ATOM_SLEEPING || d->out_time > time)
		return;
	d->atom = ATOM_WAITING;
	d->wake_time = time;
}

static void runq_switch(struct engine *e, struct runq *r, const struct event *ev)
{
	struct life *prev = life_of(e, r, (int32_t)ev->a[2]), *next;
	bool runnable = !(ev->a[3] & ~(uint64_t)TSTATE_PREEMPTED);

	if (likely(prev != NULL)) {
		if (prev->in_time != TIME_NONE && ev->time > prev->in_time)
			prev->oncpu += ev->time - prev->in_time;
		prev->in_time = TIME_NONE;
		atom_out(&prev->d[BY_WAKING], runnable, ev->time);
		if (!r->wakings)
			atom_out(&prev->d[BY_WAKEUP], runnable, ev->time);
	}
	next = life_of(e, r, (int32_t)ev->b[0]);
	if (likely(next != NULL)) {
		next->in_time = ev->time;
		atom_in(&next->d[BY_WAKING], ev->time, ev->pos);
		if (!r->wakings)
			atom_in(&next->d[BY_WAKEUP], ev->time, ev->pos);
	}
}

static void runq_wakeup(struct engine *e, struct runq *r, const struct event *ev)
{
	struct life *l;

	if (ev->kind == EV_SCHED_WAKING)
		r->wakings = true;
	else if (ev->kind == EV_SCHED_WAKEUP && r->wakings)
		return;
	l = life_of(e, r, (int32_t)ev->b[0]);
	if (unlikely(!l))
		return;
	if (ev->kind != EV_SCHED_WAKEUP)
		atom_wake(&l->d[BY_WAKING], ev->time);
	if (ev->kind != EV_SCHED_WAKING)
		atom_wake(&l->d[BY_WAKEUP], ev->time);
}

static void runq_runtime(struct engine *e, struct runq *r, const struct event *ev)
{
	struct life *l = life_of(e, r, (int32_t)ev->b[0]);
	int i;

	if (unlikely(!l))
		return;
	for (i = 0; i < N_COUNTINGS; i++)
		if (l->d[i].atom == ATOM_NONE)
			atom_out(&l->d[i], true, ev->time);
	l->runtime += ev->a[0];
}

static void runq_comm(struct engine *e, struct runq *r, const struct event *ev)
{
	struct life *l;

	if (ev->b[1] == TASK_SEEN)
		return;
	r->records = true;
	l = life_of(e, r, ev->tid);
	if (!l)
		return;
	l->comm[0] = ev->a[0];
	l->comm[1] = ev->a[1];
	if (l->tgid < 0 && ev->b[0] != EVENT_U32_NONE)
		l->tgid = (int32_t)ev->b[0];
}

/*
 * perf drops the thread that has the child's tid, and a "parent" of another process that has the
 * parent's tid.
 */
static void runq_fork(struct engine *e, struct runq *r, const struct event *ev)
{
	int32_t child_tgid = (int32_t)ev->a[0], parent_tgid = (int32_t)ev->a[1];
	struct life *l = life_of(e, r, (int32_t)ev->b[1]);
	uint64_t comm[2] = { 0, 0 };

	r->records = true;
	if (l && l->tgid >= 0 && parent_tgid >= 0 && l->tgid != parent_tgid)
		l = life_replace(r, l);
	if (l) {
		l->tgid = parent_tgid;
		memcpy(comm, l->comm, sizeof(comm));
	}
	l = life_of(e, r, (int32_t)ev->b[0]);
	if (l)
		l = life_replace(r, l);
	if (l) {
		l->tgid = child_tgid;
		memcpy(l->comm, comm, sizeof(comm));
	}
}

static void runq_event(struct engine *e, void *state, const struct event *ev)
{
	struct runq *r = state;

	switch (ev->kind) {
	case EV_SCHED_SWITCH:
		runq_switch(e, r, ev);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		runq_wakeup(e, r, ev);
		break;
	case EV_SCHED_STAT_RUNTIME:
		runq_runtime(e, r, ev);
		break;
	case EV_TASK:
		runq_comm(e, r, ev);
		break;
	case EV_TASK_FORK:
		runq_fork(e, r, ev);
		break;
	default:
		break;
	}
}

/* Time on the CPU is not bridged over a loss. */
static void runq_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct runq *r = state;
	uint32_t i;

	for (i = 0; i < e->n_cpus; i++) {
		uint32_t task = e->cpus[i].task;

		if ((cpu == EVENT_CPU_NONE || cpu == i) && task < r->n_current && r->current[task])
			r->lives[r->current[task] - 1].in_time = TIME_NONE;
	}
}

struct row {
	const struct life	*life;
	const struct delays	*d;
};

static int by_max(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->d->max != y->d->max)
		return x->d->max < y->d->max ? 1 : -1;
	return x->life->task != y->life->task ? (x->life->task < y->life->task ? -1 : 1) :
	       (x->life < y->life ? -1 : 1);
}

static const char *life_name(const struct runq *r, const struct life *l, const struct task *t,
			     char buf[24])
{
	struct task named = { .tid = t->tid };

	if (!r->records)
		return engine_comm(t, buf);
	memcpy(named.comm, l->comm, sizeof(named.comm));
	return engine_comm(&named, buf);
}

static struct error *write_row(struct engine *e, const struct runq *r, const struct row *row,
			       bool cite)
{
	const struct life *l = row->life;
	const struct delays *d = row->d;
	const struct task *t = &e->tasks[l->task];
	uint64_t oncpu = l->oncpu;
	char buf[24];
	const char *name = life_name(r, l, t, buf);
	bool vcpu = t->role == ROLE_VCPU || comm_vcpu_number(name) >= 0;
	int64_t cite_id = (cite || vcpu) && d->max ? engine_cite_pos(e, d->max_end, d->max_pos) : 0;

	if (!strcmp(name, "swapper"))
		return NULL;
	if (l->in_time != TIME_NONE && e->last_ns > l->in_time)
		oncpu += e->last_ns - l->in_time;
	return case_insert(
		e->db, NULL,
		"INSERT INTO runq_delay(source_id, origin, task_id, task, tid, runtime_ns, oncpu_ns, switches,"
		" total_delay_ns, avg_delay_ns, max_delay_ns, max_delay_start_ns, max_delay_end_ns, vcpu, cite_id)"
		" VALUES(?, 'computed', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iisiiiiiiiiiiI", e->s->source_id, t->row_id, name, (int64_t)t->tid,
		(int64_t)l->runtime, (int64_t)oncpu, (int64_t)d->n, (int64_t)d->total,
		(int64_t)(d->total / d->n), (int64_t)d->max, (int64_t)d->max_start,
		(int64_t)d->max_end, (int64_t)vcpu, cite_id ? &cite_id : NULL);
}

static struct error *runq_flush(struct engine *e, void *state)
{
	struct runq *r = state;
	enum counting by = engine_visible(e, EV_SCHED_WAKING) ? BY_WAKING : BY_WAKEUP;
	_cleanup_free_ struct row *rows = xcalloc(r->n_lives, sizeof(*rows));
	size_t i, n = 0;

	for (i = 0; i < r->n_lives; i++) {
		const struct life *l = &r->lives[i];

		if (l->d[by].n && !task_is_idle(l->task))
			rows[n++] = (struct row){ l, &l->d[by] };
	}
	if (n)
		qsort(rows, n, sizeof(*rows), by_max);
	for (i = 0; i < n; i++)
		TRY(write_row(e, r, &rows[i], i < MAX_CITED));
	return NULL;
}

static void runq_destroy(void *state)
{
	struct runq *r = state;

	free(r->lives);
	free(r->current);
	free(r);
}

static const struct analysis an_runq = {
	.name = "runq",
	.priority = 200,
	.kinds = KIND(SCHED_SWITCH) | KIND(SCHED_WAKING) | KIND(SCHED_WAKEUP) |
		 KIND(SCHED_WAKEUP_NEW) | KIND(SCHED_STAT_RUNTIME) | KIND(TASK) | KIND(TASK_FORK),
	.begin = runq_begin,
	.event = runq_event,
	.lost = runq_lost,
	.flush = runq_flush,
	.destroy = runq_destroy,
};
REGISTER(analyses, &an_runq);
