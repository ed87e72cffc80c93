// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_stacks.c - call chains by how often they were seen: those of samples (cpu-clock, cycles ...)
 * and those that a text trace prints after its events. The commonest are written.
 *
 * A call chain at the sched_switch by which its task left the CPU says what the task waits in: that
 * time, until it is switched in again or the recording ends, is added up per chain and task state.
 */
#include "engine.h"

#define MAX_SLOTS	(1u << 16)
#define MAX_ROWS	16384	/* many of them read alike when they are named */
#define MAX_CITED	500
#define REST		"(rarer call chains)"

struct slot {
	uint64_t	count;
	uint64_t	first, first_pos, last;
	uint64_t	off_ns, max_off_ns;
	uint32_t	stack, task;
	uint16_t	type;
	char		state;		/* letter, where it is a switch-out's; else 0 */
	bool		used;
};

/* A task off its CPU since a switch-out with a call chain. */
struct off {
	uint64_t	since;
	uint32_t	stack;
	uint16_t	type;
	char		state;		/* 0: it is not */
};

struct stacks {
	struct slot	*slots;		/* open addressing */
	uint32_t	n, size;
	struct off	*off;		/* by task index */
	uint32_t	n_off, open;
	uint64_t	*left_out;	/* chains that have no row of their own, by event type */
	size_t		n_left_out;
};

static void *stacks_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct stacks));
}

static uint32_t hash_of(uint32_t stack, uint32_t task, uint16_t type, char state)
{
	uint64_t h = ((uint64_t)stack << 32 | task) ^ (uint64_t)type << 20;

	h ^= (uint64_t)(unsigned char)state << 40;
	return (uint32_t)((h * 0x9e3779b97f4a7c15ULL) >> 33);
}

static struct slot *slot_of(struct stacks *s, uint32_t stack, uint32_t task, uint16_t type,
			    char state)
{
	uint32_t i = hash_of(stack, task, type, state);

	for (;; i++) {
		struct slot *x = &s->slots[i & (s->size - 1)];

		if (!x->used || (x->stack == stack && x->task == task && x->type == type &&
				 x->state == state))
			return x;
	}
}

static void grow(struct stacks *s)
{
	struct slot *old = s->slots;
	uint32_t i, n = s->size;

	s->size = n ? n * 2 : 256;
	s->slots = xcalloc(s->size, sizeof(*s->slots));
	for (i = 0; i < n; i++)
		if (old[i].used)
			*slot_of(s, old[i].stack, old[i].task, old[i].type, old[i].state) = old[i];
	free(old);
}

static char state_letter(const struct task *t)
{
	static const struct {
		uint16_t	bit;
		char		letter;
	} letters[] = {
		{ TSTATE_UNINTERRUPTIBLE, 'D' },
		{ TSTATE_INTERRUPTIBLE, 'S' },
		{ TSTATE_IDLE, 'I' },
		{ TSTATE_STOPPED, 'T' },
		{ TSTATE_TRACED, 't' },
		{ TSTATE_PARKED, 'P' },
	};

	if (t->state == SCHED_PREEMPTED)
		return 'R';
	for (size_t i = 0; t->state == SCHED_BLOCKED && i < ARRAY_SIZE(letters); i++)
		if (t->block_state & letters[i].bit)
			return letters[i].letter;
	return 0;
}

/* The state in which @task has just left its CPU, when this chain is of that switch; else 0. */
static char left_in(const struct engine *e, uint32_t task, const struct event *ev)
{
	if (ev->kind != EV_STACK || task == TASK_NONE || task_is_idle(task) ||
	    !(e->seen & KIND(SCHED_SWITCH)) || e->tasks[task].since != ev->time)
		return 0;
	return state_letter(&e->tasks[task]);
}

/* @task leaves its CPU; a second chain of the same switch (the user's) changes nothing. */
static void go_off(struct stacks *s, uint32_t task, const struct slot *x, uint64_t time)
{
	GROW_ZERO(s->off, s->n_off, task);
	if (s->off[task].state && s->off[task].since == time)
		return;
	s->open += !s->off[task].state;
	s->off[task] = (struct off){ .since = time, .stack = x->stack, .type = x->type,
				     .state = x->state };
}

static void come_back(struct stacks *s, uint32_t task, uint64_t time)
{
	struct off *o = task < s->n_off ? &s->off[task] : NULL;
	struct slot *x;

	if (!o || !o->state)
		return;
	x = slot_of(s, o->stack, task, o->type, o->state);
	if (x->used && time > o->since) {
		x->off_ns += time - o->since;
		x->max_off_ns = MAX(x->max_off_ns, time - o->since);
	}
	o->state = 0;
	s->open--;
}

/* What is off its CPU is not known to be so behind a loss. */
static void stacks_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct stacks *s = state;

	(void)e;
	(void)cpu;
	if (s->open)
		memset(s->off, 0, s->n_off * sizeof(*s->off));
	s->open = 0;
}

/* So many more of type @type are counted in the row of all that are left out. */
static void leave_out(struct stacks *s, uint16_t type, uint64_t n)
{
	size_t i = type == EVENT_TYPE_NONE ? 0 : type + 1u;

	GROW_ZERO(s->left_out, s->n_left_out, i);
	s->left_out[i] += n;
}

static void stacks_event(struct engine *e, void *state, const struct event *ev)
{
	struct stacks *s = state;
	uint32_t task;
	struct slot *x;
	char left;

	if (ev->kind == EV_SCHED_SWITCH) {
		if (unlikely(s->open))
			come_back(s, engine_task(e, (int32_t)ev->b[0]), ev->time);
		return;
	}
	if (ev->b[0] == EVENT_U32_NONE)
		return;
	task = engine_task(e, ev->tid);
	left = left_in(e, task, ev);
	if (s->n * 2 >= s->size && s->n < MAX_SLOTS)
		grow(s);
	x = slot_of(s, ev->b[0], task, ev->ev, left);
	if (!x->used) {
		if (s->n >= MAX_SLOTS) {
			leave_out(s, ev->ev, 1);
			return;
		}
		*x = (struct slot){ .first = ev->time, .first_pos = ev->pos, .stack = ev->b[0],
				     .task = task, .type = ev->ev, .state = left, .used = true };
		s->n++;
	}
	x->count++;
	x->last = ev->time;
	if (left)
		go_off(s, task, x, ev->time);
}

static int commonest_first(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->stack != y->stack)
		return x->stack > y->stack ? 1 : -1;
	if (x->task != y->task)
		return x->task > y->task ? 1 : -1;
	if (x->type != y->type)
		return x->type > y->type ? 1 : -1;
	return (x->state > y->state) - (x->state < y->state);
}

static const char *type_name(const struct engine *e, uint16_t type)
{
	return type != EVENT_TYPE_NONE ? e->s->types[type].name : "kernel_stack";
}

/* One row an event with all that have none: shares of the whole stay true. */
static struct error *write_left_out(struct engine *e, struct stacks *s)
{
	const char *name;
	int64_t row = 0;
	size_t i;

	for (i = 0; i < s->n_left_out; i++) {
		if (!s->left_out[i])
			continue;
		if (!row)
			TRY(case_stack(e->db, &row, e->s->source_id, REST, "\n"));
		name = type_name(e, i ? (uint16_t)(i - 1) : EVENT_TYPE_NONE);
		TRY(case_insert(e->db, NULL, "INSERT INTO stack_count(source_id, stack_id, event, count) VALUES(?,?,?,?)", "iisi",
				e->s->source_id, row, name, (int64_t)s->left_out[i]));
	}
	return NULL;
}

static struct error *stacks_flush(struct engine *e, void *state)
{
	struct stacks *s = state;
	bool paired = !(engine_sampled(e) & KIND(SCHED_SWITCH));
	uint32_t i, n = 0;

	for (i = 0; i < s->n_off && s->open; i++)
		come_back(s, i, e->last_ns);
	for (i = 0; i < s->size; i++)
		if (s->slots[i].used)
			s->slots[n++] = s->slots[i];
	if (n)
		qsort(s->slots, n, sizeof(*s->slots), commonest_first);
	for (i = 0; i < n && i < MAX_ROWS; i++) {
		const struct slot *x = &s->slots[i];
		const struct task *t = x->task != TASK_NONE ? &e->tasks[x->task] : NULL;
		int64_t row = stream_stack_row(e->s, x->stack), task_id = t ? t->row_id : 0,
			tid = t ? t->tid : 0, cite, off = (int64_t)x->off_ns,
			max = (int64_t)x->max_off_ns;
		char left[2] = { x->state, '\0' };

		if (!row)
			continue;
		cite = i < MAX_CITED ? engine_cite_pos(e, x->first, x->first_pos) : 0;
		TRY(case_insert(e->db, NULL,
				"INSERT INTO stack_count(source_id, stack_id, event, task_id, tid, count, first_ns, last_ns, cite_id,"
				" state, total_ns, max_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
				"iisIIiiiIsII", e->s->source_id, row,
				type_name(e, x->type),
				task_id ? &task_id : NULL, t ? &tid : NULL, (int64_t)x->count,
				(int64_t)x->first, (int64_t)x->last, cite ? &cite : NULL,
				x->state ? left : NULL, x->state && paired ? &off : NULL,
				x->state && paired ? &max : NULL));
	}
	for (; i < n; i++)
		leave_out(s, s->slots[i].type, s->slots[i].count);
	return write_left_out(e, s);
}

static void stacks_destroy(void *state)
{
	struct stacks *s = state;

	free(s->slots);
	free(s->off);
	free(s->left_out);
	free(s);
}

static const struct analysis stacks_analysis = {
	.name		= "stacks",
	.priority	= 70,
	.kinds		= KIND(SAMPLE) | KIND(STACK) | KIND(SCHED_SWITCH),
	.begin		= stacks_begin,
	.event		= stacks_event,
	.lost		= stacks_lost,
	.flush		= stacks_flush,
	.destroy	= stacks_destroy,
};
REGISTER(analyses, &stacks_analysis);
