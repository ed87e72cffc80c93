// SPDX-License-Identifier: GPL-2.0-or-later
/* engine.c - tasks and CPUs of one recording, and the dispatch to the analyses; see engine.h. */
#include "engine.h"

#define TID_PAGES	(TID_MAX / TID_PAGE_SIZE)

static uint32_t task_new(struct engine *e, int32_t tid)
{
	struct task *t;

	if (e->n_tasks >= ENGINE_MAX_TASKS) {
		e->overflow = true;
		return TASK_NONE;
	}
	GROW(e->tasks, e->cap_tasks, e->n_tasks + 1);
	t = &e->tasks[e->n_tasks];
	memset(t, 0, sizeof(*t));
	t->tid = tid;
	t->tgid = -1;
	t->cpu = EVENT_CPU_NONE;
	t->vcpu = VCPU_NONE;
	t->vm = VM_NONE;
	t->wake.time = TIME_NONE;
	t->since = t->first_ns = t->last_ns = e->now;
	return e->n_tasks++;
}

uint32_t engine_task_new(struct engine *e, int32_t tid)
{
	uint32_t **page = &e->tid_pages[(uint32_t)tid / TID_PAGE_SIZE];
	uint32_t idx = task_new(e, tid);

	if (idx == TASK_NONE)
		return TASK_NONE;
	if (!*page)
		*page = xcalloc(TID_PAGE_SIZE, sizeof(**page));
	(*page)[(uint32_t)tid % TID_PAGE_SIZE] = idx + 1;
	return idx;
}

static struct cpu *engine_cpu(struct engine *e, uint16_t n)
{
	if (unlikely(n == EVENT_CPU_NONE))
		return NULL;
	if (unlikely(n >= e->n_cpus)) {
		e->cpus = xrealloc(e->cpus, (n + 1u) * sizeof(*e->cpus));
		while (e->n_cpus <= n)
			e->cpus[e->n_cpus++] = (struct cpu){ .task = TASK_NONE, .since = e->now };
	}
	return &e->cpus[n];
}

const char *engine_comm(const struct task *t, char buf[24])
{
	if (t->comm[0]) {
		memcpy(buf, t->comm, 16);
		buf[16] = '\0';
	} else {
		snprintf(buf, 24, ":%d", t->tid);
	}
	return buf;
}

static void set_comm(struct engine *e, uint32_t idx, const uint64_t comm[2])
{
	struct task *t = &e->tasks[idx];
	char buf[24];
	int number;

	if (likely(t->comm[0] == comm[0] && t->comm[1] == comm[1]) || !comm[0] || task_is_idle(idx))
		return;
	t->comm[0] = comm[0];
	t->comm[1] = comm[1];
	engine_comm(t, buf);
	if (t->has_kvm)
		return;
	t->role = (uint8_t)role_of_comm(buf, false);
	number = comm_vcpu_number(buf);
	if (number >= 0 && t->vcpu == VCPU_NONE) {
		GROW(e->vcpus, e->cap_vcpus, e->n_vcpus + 1);
		e->vcpus[e->n_vcpus] =
			(struct vcpu){ .task = idx, .number = (uint32_t)number, .vm = VM_NONE };
		t->vcpu = e->n_vcpus++;
	}
}

/* A task that enters or leaves a guest is a vCPU thread, whatever its name. */
static void see_vcpu(struct engine *e, uint32_t idx, uint32_t number)
{
	struct task *t = &e->tasks[idx];

	if (unlikely(!t->has_kvm)) {
		t->has_kvm = true;
		t->role = ROLE_VCPU;
		if (t->vcpu == VCPU_NONE) {
			GROW(e->vcpus, e->cap_vcpus, e->n_vcpus + 1);
			e->vcpus[e->n_vcpus] = (struct vcpu){ .task = idx,
							      .number = EVENT_U32_NONE,
							      .vm = VM_NONE };
			t->vcpu = e->n_vcpus++;
		}
	}
	if (number != EVENT_U32_NONE)
		e->vcpus[t->vcpu].number = number;
}

static void leave_cpu(struct engine *e, struct task *t, uint64_t state, uint64_t pos)
{
	if (t->state == SCHED_RUNNING)
		t->oncpu_ns += e->now - t->since;
	t->block_state = (uint16_t)state;
	if (!(state & ~(uint64_t)TSTATE_PREEMPTED))
		t->state = SCHED_PREEMPTED;
	else if (state & (TSTATE_DEAD | TSTATE_ZOMBIE))
		t->state = SCHED_DEAD;
	else
		t->state = SCHED_BLOCKED;
	t->since = e->now;
	t->out_pos = pos;
	t->wake.time = TIME_NONE;
}

static void on_switch(struct engine *e, const struct event *ev, struct cpu *cpu)
{
	uint32_t prev = engine_task(e, (int32_t)ev->a[2]), next = engine_task(e, (int32_t)ev->b[0]);

	if (prev != TASK_NONE && !task_is_idle(prev))
		leave_cpu(e, &e->tasks[prev], ev->a[3], ev->pos);
	if (next != TASK_NONE && !task_is_idle(next)) {
		struct task *t = &e->tasks[next];

		set_comm(e, next, ev->a);
		t->state = SCHED_RUNNING;
		t->since = e->now;
		t->last_ns = e->now;
		t->cpu = ev->cpu;
	}
	if (cpu) {
		cpu->task = next;
		cpu->since = e->now;
	}
}

static void on_wakeup(struct engine *e, const struct event *ev, uint32_t cur)
{
	uint32_t idx = engine_task(e, (int32_t)ev->b[0]);
	struct task *t;

	if (idx == TASK_NONE || task_is_idle(idx))
		return;
	set_comm(e, idx, ev->a);
	t = &e->tasks[idx];
	if (t->state != SCHED_BLOCKED && t->state != SCHED_UNKNOWN && t->state != SCHED_DEAD)
		return;		/* it runs or is runnable already: no new wait begins */
	t->state = SCHED_WOKEN;
	t->since = e->now;
	t->wake = (struct wakeup){ .time = e->now, .pos = ev->pos, .waker = cur, .cpu = ev->cpu,
				   .flags = ev->flags, .kind = ev->kind };
}

static void on_lost(struct engine *e, const struct event *ev)
{
	uint32_t i;
	size_t k;

	for (k = 0; k < e->n_an; k++)
		if (e->an[k]->lost)
			e->an[k]->lost(e, e->an_state[k], ev->cpu);
	for (i = 0; e->cpus && i < e->n_cpus; i++) {
		struct cpu *cpu = &e->cpus[i];

		if (ev->cpu != EVENT_CPU_NONE && ev->cpu != i)
			continue;
		cpu->lost_ns = e->now;
		if (cpu->task != TASK_NONE && !task_is_idle(cpu->task)) {
			e->tasks[cpu->task].state = SCHED_UNKNOWN;
			e->tasks[cpu->task].since = e->now;
		}
		cpu->task = TASK_NONE;
		cpu->since = e->now;
	}
}

static void on_task(struct engine *e, const struct event *ev)
{
	uint32_t idx;

	switch (ev->kind) {
	case EV_TASK:
		idx = engine_task(e, ev->tid);
		if (idx == TASK_NONE)
			return;
		set_comm(e, idx, ev->a);
		if (ev->b[0] != EVENT_U32_NONE)
			e->tasks[idx].tgid = (int32_t)ev->b[0];
		break;
	case EV_TASK_FORK:
		idx = engine_task(e, (int32_t)ev->b[0]);
		if (idx == TASK_NONE)
			return;
		if (e->tasks[idx].state == SCHED_DEAD) {
			e->tasks[idx].state = SCHED_UNKNOWN;
			e->tasks[idx].since = e->now;
		}
		e->tasks[idx].tgid = (int32_t)ev->a[0];
		break;
	case EV_TASK_EXIT:
	default:
		break;
	}
}

static void core_event(struct engine *e, const struct event *ev, uint32_t cur, struct cpu *cpu)
{
	switch (ev->kind) {
	case EV_SCHED_SWITCH:
		on_switch(e, ev, cpu);
		break;
	case EV_SCHED_WAKING:
	case EV_SCHED_WAKEUP:
	case EV_SCHED_WAKEUP_NEW:
		on_wakeup(e, ev, cur);
		break;
	case EV_KVM_ENTRY:
		if (cur != TASK_NONE && !task_is_idle(cur))
			see_vcpu(e, cur, ev->b[0]);
		break;
	case EV_KVM_EXIT:
		if (cur != TASK_NONE && !task_is_idle(cur))
			see_vcpu(e, cur, ev->b[1]);
		break;
	case EV_TASK:
	case EV_TASK_FORK:
	case EV_TASK_EXIT:
		on_task(e, ev);
		break;
	case EV_LOST:
		on_lost(e, ev);
		break;
	default:
		break;
	}
}

/* No event for @ns before @ev. */
static void on_gap(struct engine *e, const struct event *ev)
{
	size_t i;

	for (i = 0; i < e->n_an; i++)
		if (e->an[i]->gap)
			e->an[i]->gap(e, e->an_state[i], ev, e->last_ns);
}

static void engine_event(struct engine *e, const struct event *ev)
{
	struct cpu *cpu = engine_cpu(e, ev->cpu);
	uint32_t cur = TASK_NONE;
	const struct engine_hook *hook;

	if (likely(ev->time > e->now))
		e->now = ev->time;
	if (likely(ev->ev != EVENT_TYPE_NONE)) {
		if (unlikely(!e->seen))
			e->first_ns = ev->time;
		else if (likely(ev->time > e->last_ns && e->last_ns)) {
			e->gaps[gap_slot(ev->time - e->last_ns)]++;
			if (unlikely(ev->time - e->last_ns > ENGINE_GAP_NS))
				on_gap(e, ev);
		}
		cur = engine_task(e, ev->tid);
		if (likely(cur != TASK_NONE)) {
			struct task *t = &e->tasks[cur];

			if (unlikely(!t->events++))
				t->first_ns = e->now;
			t->last_ns = e->now;
		}
		if (likely(cpu != NULL)) {
			cpu->last_ns = e->now;
			cpu->last_kind = ev->kind;
		}
		e->last_ns = e->now;
		e->last_pos = ev->pos;
	}
	e->seen |= kind_bit(ev->kind);
	for (hook = e->by_kind[ev->kind]; hook->event; hook++)
		hook->event(e, hook->state, ev);
	core_event(e, ev, cur, cpu);
}

static void engine_batch(void *priv, struct stream *s, const struct batch *b)
{
	struct engine *e = priv;
	uint32_t i;

	(void)s;
	for (i = 0; i < b->n; i++)
		engine_event(e, &b->ev[i]);
}

/* In the parser's thread. */
static void engine_before(void *priv, struct stream *s, const struct batch *b)
{
	struct engine *e = priv;
	const struct engine_hook *hook;
	uint32_t i;

	(void)s;
	for (i = 0; i < b->n; i++)
		for (hook = e->early[b->ev[i].kind]; hook->event; hook++)
			hook->event(e, hook->state, &b->ev[i]);
}

static int by_priority(const void *a, const void *b)
{
	const struct analysis *const *x = a, *const *y = b;

	return (*x)->priority - (*y)->priority;
}

static void sort_analyses(struct engine *e)
{
	const struct analysis *const *it;
	size_t n = SET_COUNT(analyses);

	e->an = xcalloc(n, sizeof(*e->an));
	e->an_state = xcalloc(n, sizeof(*e->an_state));
	SET_FOREACH(analyses, it)
		e->an[e->n_an++] = *it;
	qsort(e->an, e->n_an, sizeof(*e->an), by_priority);
}

static bool wants(const struct analysis *an, int kind)
{
	const uint8_t *k;

	if (kind < EV_N_ENGINE && an->kinds & (1ull << kind))
		return true;
	for (k = an->counted; k && *k; k++)
		if (*k == kind)
			return true;
	return an->keyed && event_keyed((enum event_kind)kind);
}

/* Who is called for which kind; after all states are there. */
static void make_hooks(struct engine *e)
{
	size_t i;
	int kind;

	for (kind = 0; kind < EV_NKINDS; kind++) {
		struct engine_hook *list[2] = { xcalloc(e->n_an + 1, sizeof(**list)),
						xcalloc(e->n_an + 1, sizeof(**list)) };
		size_t k[2] = { 0 };

		for (i = 0; i < e->n_an; i++) {
			bool early = e->an[i]->early;

			if (e->an[i]->event && wants(e->an[i], kind))
				list[early][k[early]++] = (struct engine_hook){ e->an[i]->event,
										e->an_state[i] };
		}
		e->by_kind[kind] = list[0];
		e->early[kind] = list[1];
	}
}

struct engine *engine_create(struct case_db *db, const struct engine_options *opt)
{
	struct engine *e = xcalloc(1, sizeof(*e));

	e->db = db;
	e->opt = opt;
	e->tid_pages = xcalloc(TID_PAGES, sizeof(*e->tid_pages));
	sort_analyses(e);
	engine_task(e, 0);
	e->tasks[0].role = ROLE_IDLE;
	comm_words(e->tasks[0].comm, "swapper", 7);
	return e;
}

void engine_destroy(struct engine *e)
{
	size_t i;

	if (!e)
		return;
	for (i = 0; i < e->n_an; i++)
		if (e->an[i]->destroy && e->an_state[i])
			e->an[i]->destroy(e->an_state[i]);
	for (i = 0; i < TID_PAGES; i++)
		free(e->tid_pages[i]);
	for (i = 0; i < EV_NKINDS; i++) {
		free(e->by_kind[i]);
		free(e->early[i]);
	}
	free(e->tid_pages);
	free(e->tasks);
	free(e->vcpus);
	free(e->vms);
	free(e->cpus);
	free(e->an);
	free(e->an_state);
	free(e);
}

void *engine_state(const struct engine *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->n_an; i++)
		if (!strcmp(e->an[i]->name, name))
			return e->an_state[i];
	return NULL;
}

static struct error *engine_begin(void *priv, struct stream *s)
{
	struct engine *e = priv;
	size_t i;

	e->s = s;
	for (i = 0; i < e->n_an; i++)
		e->an_state[i] = e->an[i]->begin ? e->an[i]->begin(e) : NULL;
	make_hooks(e);
	return NULL;
}

/* Said where rows are missing: a report without stalls must not look like a host without any. */
static struct error *note_sampled(struct engine *e)
{
	return case_loss(e->db, e->s->source_id, -1, CASE_NO_TIME, -1,
			 "trace events were only sampled (perf record -F or -c): what lies between two of them "
			 "is not known, so there are no states, waits and stalls; record with -c 1", 0);
}

static struct error *engine_end(void *priv, struct stream *s)
{
	struct engine *e = priv;
	uint64_t sampled = engine_sampled(e);
	size_t i;

	(void)s;
	engine_finish_vms(e);
	TRY(engine_write_tasks(e));
	if (sampled)
		TRY(note_sampled(e));
	for (i = 0; i < e->n_an; i++)
		if (e->an[i]->flush && !(e->an[i]->pairs && sampled &&
					 (!e->an[i]->kinds || (e->an[i]->kinds & sampled))))
			TRY(e->an[i]->flush(e, e->an_state[i]));
	return NULL;
}

const struct consumer engine_consumer = {
	.begin	= engine_begin,
	.before	= engine_before,
	.batch	= engine_batch,
	.end	= engine_end,
};
