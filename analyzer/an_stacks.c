// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_stacks.c - call chains by how often they were seen: those of samples (cpu-clock, cycles ...)
 * and those that a text trace prints after its events. The commonest are written.
 */
#include "engine.h"

#define MAX_SLOTS	(1u << 16)
#define MAX_ROWS	4000
#define MAX_CITED	500

struct slot {
	uint64_t	count;
	uint64_t	first, first_pos, last;
	uint32_t	stack, task;
	uint16_t	type;
	bool		used;
};

struct stacks {
	struct slot	*slots;		/* open addressing */
	uint32_t	n, size;
};

static void *stacks_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct stacks));
}

static uint32_t hash_of(uint32_t stack, uint32_t task, uint16_t type)
{
	uint64_t h = ((uint64_t)stack << 32 | task) ^ (uint64_t)type << 20;

	return (uint32_t)((h * 0x9e3779b97f4a7c15ULL) >> 33);
}

static struct slot *slot_of(struct stacks *s, uint32_t stack, uint32_t task, uint16_t type)
{
	uint32_t i = hash_of(stack, task, type);

	for (;; i++) {
		struct slot *x = &s->slots[i & (s->size - 1)];

		if (!x->used || (x->stack == stack && x->task == task && x->type == type))
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
			*slot_of(s, old[i].stack, old[i].task, old[i].type) = old[i];
	free(old);
}

static void stacks_event(struct engine *e, void *state, const struct event *ev)
{
	struct stacks *s = state;
	uint32_t task = engine_task(e, ev->tid);
	struct slot *x;

	if (ev->b[0] == EVENT_U32_NONE)
		return;
	if (s->n * 2 >= s->size) {
		if (s->n >= MAX_SLOTS)
			return;
		grow(s);
	}
	x = slot_of(s, ev->b[0], task, ev->ev);
	if (!x->used) {
		*x = (struct slot){ .first = ev->time, .first_pos = ev->pos, .stack = ev->b[0],
				     .task = task, .type = ev->ev, .used = true };
		s->n++;
	}
	x->count++;
	x->last = ev->time;
}

static int commonest_first(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->stack != y->stack)
		return x->stack > y->stack ? 1 : -1;
	return (x->task > y->task) - (x->task < y->task);
}

static struct error *stacks_flush(struct engine *e, void *state)
{
	struct stacks *s = state;
	uint32_t i, n = 0;

	for (i = 0; i < s->size; i++)
		if (s->slots[i].used)
			s->slots[n++] = s->slots[i];
	if (n)
		qsort(s->slots, n, sizeof(*s->slots), commonest_first);
	for (i = 0; i < n && i < MAX_ROWS; i++) {
		const struct slot *x = &s->slots[i];
		const struct task *t = x->task != TASK_NONE ? &e->tasks[x->task] : NULL;
		int64_t row = stream_stack_row(e->s, x->stack), task_id = t ? t->row_id : 0,
			tid = t ? t->tid : 0, cite;

		if (!row)
			continue;
		cite = i < MAX_CITED ? engine_cite_pos(e, x->first, x->first_pos) : 0;
		TRY(case_insert(e->db, NULL,
				"INSERT INTO stack_count(source_id, stack_id, event, task_id, tid, count, first_ns, last_ns, cite_id)"
				" VALUES(?,?,?,?,?,?,?,?,?)",
				"iisIIiiiI", e->s->source_id, row,
				x->type != EVENT_TYPE_NONE ? e->s->types[x->type].name : "kernel_stack",
				task_id ? &task_id : NULL, t ? &tid : NULL, (int64_t)x->count,
				(int64_t)x->first, (int64_t)x->last, cite ? &cite : NULL));
	}
	return NULL;
}

static void stacks_destroy(void *state)
{
	struct stacks *s = state;

	free(s->slots);
	free(s);
}

static const struct analysis stacks_analysis = {
	.name		= "stacks",
	.priority	= 70,
	.kinds		= KIND(SAMPLE) | KIND(STACK),
	.begin		= stacks_begin,
	.event		= stacks_event,
	.flush		= stacks_flush,
	.destroy	= stacks_destroy,
};
REGISTER(analyses, &stacks_analysis);
