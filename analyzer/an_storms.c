// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_storms.c - storms of exits: stretches in which a vCPU exits far more often than its VM does
 * otherwise and hardly runs its guest, though no single exit takes long. They are stalls of kind
 * exit-storm; see storms_write() in stall_rows.h for what counts as one.
 *
 * Exits and the time in their handling are counted per vCPU in bins of equal width, which double
 * when the recording outgrows them.
 */
#include "stall_rows.h"

#define BINS		512
#define MIN_SHIFT	24		/* narrowest bin: 2^24 ns, 17 ms */
#define MAX_VCPUS	512		/* further ones are not watched */
#define MIN_RATE	20000		/* exits per second */
#define MIN_TIMES	8		/* of the VM's median rate */
#define MIN_BINS	8		/* of a VM, for a median */
#define MAX_STORMS	100		/* of a recording; the first ones */

struct storm_bin {
	uint64_t	host_ns;
	uint32_t	count;
	uint32_t	reason, votes;	/* majority vote (Boyer and Moore) */
};

struct storm_vcpu {
	uint32_t	task;
	unsigned int	shift;
	uint64_t	base;		/* number of the first bin: its time >> shift */
	uint64_t	exit;		/* of the exit in hand, 0 none */
	uint64_t	pos;		/* of the first exit */
	struct storm_bin bins[BINS];
};

struct storms {
	uint32_t	*of;		/* task index -> index + 1 */
	size_t		n_of;
	struct storm_vcpu **v;
	size_t		n, cap;
};

static struct storm_vcpu *vcpu_of(struct storms *s, struct engine *e, uint32_t task)
{
	GROW_ZERO(s->of, s->n_of, task);
	if (unlikely(!s->of[task])) {
		if (s->n >= MAX_VCPUS)
			return NULL;
		GROW(s->v, s->cap, s->n + 1);
		s->v[s->n] = xcalloc(1, sizeof(**s->v));
		s->v[s->n]->task = task;
		s->v[s->n]->shift = MIN_SHIFT;
		s->v[s->n]->base = e->now >> MIN_SHIFT;
		s->of[task] = (uint32_t)++s->n;
	}
	return s->v[s->of[task] - 1];
}

static void add_votes(struct storm_bin *b, uint32_t reason, uint32_t votes)
{
	if (b->reason == reason || !b->votes) {
		b->votes += votes;
		b->reason = reason;
	} else if (b->votes >= votes) {
		b->votes -= votes;
	} else {
		b->votes = votes - b->votes;
		b->reason = reason;
	}
}

static void widen(struct storm_vcpu *v)
{
	uint64_t base = v->base / 2;
	unsigned int i;

	for (i = 0; i < BINS; i++) {
		struct storm_bin b = v->bins[i], *to = &v->bins[(v->base + i) / 2 - base];

		memset(&v->bins[i], 0, sizeof(b));
		to->host_ns += b.host_ns;
		to->count += b.count;
		add_votes(to, b.reason, b.votes);
	}
	v->base = base;
	v->shift++;
}

static struct storm_bin *bin_of(struct storm_vcpu *v, uint64_t time)
{
	while (unlikely((time >> v->shift) - v->base >= BINS))
		widen(v);
	return &v->bins[(time >> v->shift) - v->base];
}

static void storms_event(struct engine *e, void *state, const struct event *ev)
{
	struct storms *s = state;
	uint32_t task = engine_task(e, ev->tid);
	struct storm_vcpu *v;
	struct storm_bin *b;

	if (task == TASK_NONE || task_is_idle(task))
		return;
	v = vcpu_of(s, e, task);
	if (!v)
		return;
	if (ev->kind == EV_KVM_EXIT) {
		v->exit = 0;
		/* who halts has nothing to do */
		if (EXIT_CLASS(ev->b[0]) == EXIT_HLT)
			return;
		v->exit = e->now;
		if (!v->pos)
			v->pos = ev->pos;
		b = bin_of(v, e->now);
		b->count++;
		add_votes(b, ev->b[0], 1);
	} else if (v->exit) {
		/* all in the bin of its end: storms are made of short ones */
		b = bin_of(v, e->now);
		b->host_ns += MIN(e->now - v->exit, 1ull << v->shift);
		v->exit = 0;
	}
}

static double rate_of(const struct storm_vcpu *v, unsigned int i)
{
	return (double)v->bins[i].count * 1e9 / (double)(1ull << v->shift);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Median rate of the bins of all vCPUs of @vm in which there were exits; 0: too few of them. */
static double norm_of(const struct engine *e, const struct storms *s, uint32_t vm)
{
	_cleanup_free_ double *rates = xcalloc(s->n * BINS + 1, sizeof(*rates));
	size_t i, n = 0;
	unsigned int k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < BINS && e->tasks[s->v[i]->task].vm == vm; k++)
			if (s->v[i]->bins[k].count)
				rates[n++] = rate_of(s->v[i], k);
	qsort(rates, n, sizeof(*rates), by_value);
	return n < MIN_BINS ? 0 : rates[n / 2];
}

static bool is_storm(const struct storm_vcpu *v, unsigned int i, double norm)
{
	const struct storm_bin *b = &v->bins[i];

	return rate_of(v, i) >= MIN_RATE && rate_of(v, i) >= MIN_TIMES * norm &&
	       b->host_ns * 2 >= 1ull << v->shift && b->votes;
}

/* A storm of bins [@from, @to) as a stall with one link, and its pattern. */
static struct error *write_storm(struct engine *e, const struct storm_vcpu *v, unsigned int from,
				 unsigned int to, double norm, struct stall_count *c)
{
	const struct task *t = &e->tasks[v->task];
	uint64_t start = MAX((v->base + from) << v->shift, t->first_ns), ns, host = 0, count = 0;
	_cleanup_free_ char *what = NULL, *shape = NULL, *cites = NULL;
	int64_t pattern, id, tid = t->tid, cite;
	struct storm_bin all = { .count = 0 };
	const char *reason;
	char comm[24];
	unsigned int i;

	ns = MIN((v->base + to) << v->shift, t->last_ns) - start;
	for (i = from; i < to; i++) {
		host += v->bins[i].host_ns;
		count += v->bins[i].count;
		add_votes(&all, v->bins[i].reason, v->bins[i].votes);
	}
	host = MIN(host, ns);
	reason = stream_reason_name(e->s, all.reason);
	what = xasprintf("%" PRIu64 " exits, most of them %s, %.0f per second (the VM's median is"
			 " %.0f); %.0f %% of the time in their handling", count, reason,
			 (double)count * 1e9 / (double)ns, norm, 100.0 * (double)host / (double)ns);
	shape = xasprintf("exit-storm %s: one short exit after another", reason);
	cite = engine_cite_pos(e, t->first_ns, v->pos);
	cites = cite ? xasprintf("[%" PRId64 "]", cite) : NULL;
	TRY(case_insert(e->db, &pattern,
			"INSERT INTO pattern(source_id, shape, count, total_ns, worst_ns)"
			" VALUES(?,?,1,?,?)", "isii", e->s->source_id, shape, (int64_t)ns, (int64_t)ns));
	TRY(case_insert(e->db, &id,
			"INSERT INTO stall(source_id, subject, vm_id, vcpu_id, task_id, task, tid, kind,"
			" start_ns, duration_ns, pattern_id, partial, cause, what, named_ns, cites)"
			" VALUES(?,'vcpu',?,?,?,?,?,'exit-storm',?,?,?,0,?,?,?,?)", "iiiisiiiissis",
			e->s->source_id, e->vms[t->vm].row_id, e->vcpus[t->vcpu].row_id,
			t->row_id, engine_comm(t, comm), tid, (int64_t)start, (int64_t)ns, pattern,
			what, reason, (int64_t)ns, cites));
	TRY(case_insert(e->db, NULL,
			"INSERT INTO chain_link(stall_id, depth, seq, kind, start_ns, duration_ns, task,"
			" tid, what, inferred, cites) VALUES(?,0,0,'host',?,?,?,?,?,0,?)", "iiisiss", id,
			(int64_t)start, (int64_t)ns, engine_comm(t, comm), tid, what, cites));
	c->n++;
	c->ns += ns;
	c->named_ns += ns;
	c->known_ns += ns;
	return case_insert(e->db, NULL, "UPDATE pattern SET worst_stall_id = ? WHERE id = ?", "ii",
			   id, pattern);
}

struct error *storms_write(struct engine *e, struct stall_count *c)
{
	const struct storms *s = engine_state(e, "storms");
	unsigned int from, to, n = 0;
	size_t i;

	for (i = 0; s && i < s->n && n < MAX_STORMS; i++) {
		const struct storm_vcpu *v = s->v[i];
		const struct task *t = &e->tasks[v->task];
		double norm;

		if (t->vcpu == VCPU_NONE || t->vm == VM_NONE)
			continue;
		/* the median costs a look at all bins: only where a rate is high at all */
		for (from = 0; from < BINS && rate_of(v, from) < MIN_RATE; from++)
			;
		norm = from < BINS ? norm_of(e, s, t->vm) : 0;
		for (; norm > 0 && from < BINS && n < MAX_STORMS; from = to + 1) {
			for (; from < BINS && !is_storm(v, from, norm); from++)
				;
			for (to = from; to < BINS && is_storm(v, to, norm); to++)
				;
			if (to > from) {
				TRY(write_storm(e, v, from, to, norm, c));
				n++;
			}
		}
	}
	return NULL;
}

static void *storms_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct storms));
}

static void storms_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct storms *s = state;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (cpu == EVENT_CPU_NONE || e->tasks[s->v[i]->task].cpu == cpu ||
		    e->tasks[s->v[i]->task].cpu == EVENT_CPU_NONE)
			s->v[i]->exit = 0;
}

static void storms_destroy(void *state)
{
	struct storms *s = state;
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	free(s->of);
	free(s);
}

static const struct analysis storms_analysis = {
	.name = "storms",
	.priority = 31,
	.pairs = true,
	.kinds = KIND(KVM_EXIT) | KIND(KVM_ENTRY),
	.begin = storms_begin,
	.event = storms_event,
	.lost = storms_lost,
	.destroy = storms_destroy,
};
REGISTER(analyses, &storms_analysis);
