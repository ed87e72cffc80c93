// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_silence.c - stretches in which no CPU of a system-wide recording had any event: firmware
 * (SMM), stop_machine, or a host that was idle. The longest are written, with how many CPUs had
 * something to run when it began and how long gaps ordinarily are; where events were lost, that
 * explains it.
 */
#include "engine.h"
#include "topn.h"

#define MAX_ROWS	64
#define EDGE_NS		ENGINE_GAP_NS	/* a loss that soon after it is at its edge */

struct quiet {
	uint64_t	ns;		/* rank: first member */
	uint64_t	start, end, start_pos, end_pos;
	uint32_t	cpus, busy;
	bool		lost;
};

struct silence {
	struct topn	top;
	struct quiet	last;		/* not in top yet; ns 0: none */
	uint64_t	lost_ns;	/* of the last loss */
	bool		any_loss;
};

static void *silence_begin(struct engine *e)
{
	struct silence *s = xcalloc(1, sizeof(*s));

	(void)e;
	topn_init(&s->top, sizeof(struct quiet), MAX_ROWS);
	return s;
}

static void keep_last(struct silence *s)
{
	if (s->last.ns)
		topn_add(&s->top, &s->last);
	s->last.ns = 0;
}

static void silence_gap(struct engine *e, void *state, const struct event *ev, uint64_t from)
{
	struct silence *s = state;
	uint32_t i;

	keep_last(s);
	s->last = (struct quiet){ .ns = ev->time - from, .start = from, .end = ev->time,
				  .start_pos = e->last_pos, .end_pos = ev->pos,
				  .lost = s->any_loss && s->lost_ns >= from };
	for (i = 0; i < e->n_cpus; i++) {
		const struct cpu *c = &e->cpus[i];

		if (!c->last_ns)
			continue;
		s->last.cpus++;
		if (c->task == TASK_NONE ? c->last_kind == EV_KVM_ENTRY : !task_is_idle(c->task))
			s->last.busy++;
	}
}

static void silence_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct silence *s = state;

	(void)cpu;
	s->lost_ns = e->now;
	s->any_loss = true;
	if (s->last.ns && e->now - s->last.end <= EDGE_NS)
		s->last.lost = true;
}

/* The 99.9th percentile of the times between events that differ, without the longest at least. */
static uint64_t usual_gap(const struct engine *e)
{
	uint64_t n = 0, sum = 0, unusual;
	unsigned int i;

	for (i = 0; i < ENGINE_GAPS; i++)
		n += e->gaps[i];
	unusual = MAX(n / 1000, (uint64_t)1);
	for (i = 0; i < ENGINE_GAPS; i++) {
		sum += e->gaps[i];
		if (sum && sum >= n - unusual)
			break;
	}
	return gap_limit(MIN(i, ENGINE_GAPS - 1));
}

/* Only what was recorded on all CPUs and of all tasks can be silent. */
static bool system_wide(const struct engine *e)
{
	size_t i;

	for (i = 0; i < e->s->n_types; i++) {
		const struct event_type *t = &e->s->types[i];

		if (t->count && (t->scope != COV_SYSTEM || t->complete == COV_FILTERED))
			return false;
	}
	return true;
}

static int earlier_first(const void *a, const void *b)
{
	const struct quiet *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct error *silence_flush(struct engine *e, void *state)
{
	struct silence *s = state;
	uint64_t usual;
	size_t i;

	keep_last(s);
	if (!s->top.n || !system_wide(e))
		return NULL;
	usual = usual_gap(e);
	topn_sort(&s->top, earlier_first);
	for (i = 0; i < s->top.n; i++) {
		const struct quiet *q = (const struct quiet *)s->top.recs + i;
		uint64_t times[] = { q->start, q->end }, pos[] = { q->start_pos, q->end_pos };
		_cleanup_free_ char *cites = engine_cites(e, times, pos, 2);

		TRY(case_insert(e->db, NULL,
				"INSERT INTO silence(source_id, start_ns, duration_ns, cpus, busy, usual_ns, lost, cites)"
				" VALUES(?,?,?,?,?,?,?,?)",
				"iiiiiiis", e->s->source_id, (int64_t)q->start, (int64_t)q->ns,
				(int64_t)q->cpus, (int64_t)q->busy, (int64_t)usual,
				(int64_t)q->lost, cites));
	}
	return NULL;
}

static void silence_destroy(void *state)
{
	struct silence *s = state;

	topn_deinit(&s->top);
	free(s);
}

static const struct analysis silence_analysis = {
	.name = "silence",
	.priority = 74,
	.pairs = true,		/* without kinds: of all events */
	.begin = silence_begin,
	.gap = silence_gap,
	.lost = silence_lost,
	.flush = silence_flush,
	.destroy = silence_destroy,
};
REGISTER(analyses, &silence_analysis);
