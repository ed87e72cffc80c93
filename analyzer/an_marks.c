// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_marks.c - runs of context switches on one CPU, by which two recordings of one time are
 * recognised (marks.h).
 *
 * A run is RUN switches without a loss between. One switch (idle to kworker) happens often; who
 * followed whom six times in a row seldom does twice.
 */
#include "engine.h"
#include "marks.h"

#define RUN	6

struct cpu_run {
	uint64_t	hash[RUN];	/* of the last switches, a ring */
	uint32_t	n;
};

struct runs {
	struct cpu_run	*cpus;
	size_t		n, cap;
	struct marks	marks;
};

static void *runs_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct runs));
}

static void runs_event(struct engine *e, void *state, const struct event *ev)
{
	struct runs *r = state;
	struct cpu_run *c;
	uint64_t h = 0;
	uint32_t i;

	(void)e;
	if (ev->cpu == EVENT_CPU_NONE)
		return;
	while (r->n <= ev->cpu) {
		GROW(r->cpus, r->cap, r->n + 1);
		memset(&r->cpus[r->n++], 0, sizeof(*r->cpus));
	}
	c = &r->cpus[ev->cpu];
	c->hash[c->n++ % RUN] = marks_hash(marks_hash(0, (uint32_t)ev->a[2]), ev->b[0]);
	if (c->n < RUN)
		return;
	for (i = 0; i < RUN; i++)
		h = marks_hash(h, c->hash[(c->n + i) % RUN]);
	marks_add(&r->marks, marks_hash(h, ev->cpu), (int64_t)ev->time);
}

static void runs_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct runs *r = state;
	size_t i;

	(void)e;
	for (i = 0; i < r->n; i++)
		if (cpu == EVENT_CPU_NONE || cpu == i)
			r->cpus[i].n = 0;
}

static struct error *runs_flush(struct engine *e, void *state)
{
	struct runs *r = state;

	marks_give(e->db, e->s->source_id, false, &r->marks);
	return NULL;
}

static void runs_destroy(void *state)
{
	struct runs *r = state;

	marks_deinit(&r->marks);
	free(r->cpus);
	free(r);
}

static const struct analysis marks_analysis = {
	.name		= "marks",
	.priority	= 260,
	.kinds		= KIND(SCHED_SWITCH),
	.begin		= runs_begin,
	.event		= runs_event,
	.lost		= runs_lost,
	.flush		= runs_flush,
	.destroy	= runs_destroy,
};
REGISTER(analyses, &marks_analysis);
