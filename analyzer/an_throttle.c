// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_throttle.c - CFS bandwidth throttling: seen by probes, and inferred from how vCPU threads
 * wait.
 *
 * Probes: throttle_cfs_rq(cfs_rq) begins and unthrottle_cfs_rq(cfs_rq) ends a throttled time of
 * one CPU's part of a group. Which probe is which is a matter of names, and names are readable at
 * the end only; so the first events of every probed function are kept (up to a bound) and paired
 * then.
 *
 * Inferred: CFS never leaves a CPU idle while a task may run there. A vCPU thread that is
 * runnable while its own CPU idles is throttled, or the CPU is slow to wake. The quota's timer
 * tells them apart: refills come at one phase of a period. So a VM is held throttled where its
 * threads' returns (an_waits.h) lie at one phase of a period (one of the usual ones) in three
 * periods at least, and a random scatter of as many would hardly do so.
 */
#include "an_waits.h"

#include <math.h>

#define MAX_FUNCS	32
#define MAX_KEPT	16384		/* events per probed function */
#define MAX_AHEAD	4096		/* marks looked at for the end of a throttle */
#define MIN_PERIODS	3
#define SAME_INSTANT	NSEC_PER_MSEC	/* returns of several CPUs this close are one refill */
#define MIN_SHARE	0.6		/* of the refills that lie at the phase */
#define MAX_CHANCE	1e-3		/* that a random scatter looks like that */

struct kept {
	uint64_t	time, pos, arg;
	int32_t		tid;		/* current task */
	uint16_t	cpu;
};

struct func {
	uint32_t	id;
	uint64_t	n;
	struct kept	*ev;
	size_t		n_ev, cap_ev;
};

struct throttle {
	struct func	funcs[MAX_FUNCS];
	size_t		n_funcs;
};

static void *throttle_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct throttle));
}

static void throttle_event(struct engine *e, void *state, const struct event *ev)
{
	struct throttle *th = state;
	struct func *f;
	size_t i;

	for (i = 0; i < th->n_funcs && th->funcs[i].id != ev->b[0]; i++)
		;
	if (i == MAX_FUNCS)
		return;
	f = &th->funcs[i];
	if (i == th->n_funcs) {
		f->id = ev->b[0];
		th->n_funcs++;
	}
	f->n++;
	if (f->n_ev == MAX_KEPT)
		return;
	GROW(f->ev, f->cap_ev, f->n_ev + 1);
	f->ev[f->n_ev++] = (struct kept){
		.time = e->now, .pos = ev->pos, .arg = ev->a[0], .tid = ev->tid, .cpu = ev->cpu
	};
}

/* 1: throttles, -1: ends a throttle, 0: another function. The names are the users' own. */
static int role_of(const char *func)
{
	static const char *const names[] = { "throttle", "throttle_cfs", "throttle_cfs_rq" };
	char buf[64];
	size_t i, len;
	int sign = 1;

	if (!strncmp(func, "p_", 2))
		func += 2;
	snprintf(buf, sizeof(buf), "%s", func);
	len = strlen(buf);
	if (len > 2 && !strcmp(buf + len - 2, "_0"))
		buf[len - 2] = '\0';
	func = buf;
	if (!strncmp(func, "un", 2)) {
		func += 2;
		sign = -1;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(func, names[i]))
			return sign;
	return 0;
}

struct mark {
	struct kept	k;
	int		sign;
};

static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->k.time != y->k.time)
		return x->k.time < y->k.time ? -1 : 1;
	return x->k.pos < y->k.pos ? -1 : x->k.pos > y->k.pos;
}

static int by_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct phase {
	uint64_t	period_ns;
	size_t		count;		/* times at the phase */
	uint64_t	from;		/* phase window: [from, from + width) modulo the period */
	uint64_t	width;
};

/* The window of @width that holds most of the sorted @phases, wrapping at @period. */
static size_t best_window(const uint64_t *phases, size_t n, uint64_t period, uint64_t width,
			  uint64_t *from)
{
	size_t i, last = 0, best = 0;

	for (i = 0; i < n; i++) {
		if (last < i)
			last = i;
		while (last + 1 < i + n) {
			uint64_t at = phases[(last + 1) % n] + (last + 1 >= n ? period : 0);

			if (at - phases[i] >= width)
				break;
			last++;
		}
		if (last - i + 1 > best) {
			best = last - i + 1;
			*from = phases[i];
		}
	}
	return best;
}

/*
 * Bound of the chance that @k of @n random times share a window of @share of the period: C(n, k)
 * k share^(k-1).
 */
static double chance(size_t n, size_t k, double share)
{
	double c = lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);

	return exp(c + log((double)k) + (double)(k - 1) * log(share));
}

/*
 * find_period() - the longest usual period at one phase of which the ascending @times lie, in
 * MIN_PERIODS different periods at least; false when there is none. A divisor of the true period
 * fits as well, a multiple does not: so longest first.
 */
static bool find_period(const uint64_t *times, size_t n, struct phase *ret)
{
	static const uint16_t periods_ms[] = { 1000, 500, 250, 200, 100, 50, 25, 20, 10 };
	static const uint16_t parts[] = { 100, 25 };	/* of a period: few times must lie close */
	_cleanup_free_ uint64_t *phases = xcalloc(n, sizeof(*phases));
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(periods_ms) * ARRAY_SIZE(parts); i++) {
		uint64_t period = periods_ms[i / ARRAY_SIZE(parts)] * NSEC_PER_MSEC;
		uint16_t part = parts[i % ARRAY_SIZE(parts)];
		uint64_t width = period / part, last = UINT64_MAX;
		struct phase p = { .period_ns = period, .width = width };
		size_t distinct = 0;

		for (k = 0; k < n; k++)
			phases[k] = times[k] % period;
		qsort(phases, n, sizeof(*phases), by_u64);
		p.count = best_window(phases, n, period, width, &p.from);
		for (k = 0; k < n; k++) {
			uint64_t rel = times[k] + period - p.from;

			if (rel % period < width && rel / period != last) {
				distinct++;
				last = rel / period;
			}
		}
		if (distinct < MIN_PERIODS || (double)p.count < MIN_SHARE * (double)n ||
		    chance(n, p.count, 1.0 / part) > MAX_CHANCE)
			continue;
		p.count = distinct;
		*ret = p;
		return true;
	}
	return false;
}

static bool at_phase(const struct phase *p, uint64_t time)
{
	return (time + p->period_ns - p->from) % p->period_ns < p->width;
}

static struct error *write_row(struct engine *e, const int64_t *vm, const char *origin,
			       int64_t inferred, uint64_t from, uint64_t to, uint64_t count,
			       const uint64_t *period, const uint64_t *throttled, const char *tasks,
			       const char *cites)
{
	int64_t p = period ? (int64_t)*period : 0, t = throttled ? (int64_t)*throttled : 0;

	return case_insert(
		e->db, NULL,
		"INSERT INTO throttle(source_id, vm_id, inferred, origin, from_ns, to_ns, count, period_ns,"
		" throttled_ns, tasks, cites) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iIisiiiIIss", e->s->source_id, vm, inferred, origin, (int64_t)from, (int64_t)to,
		(int64_t)count, period ? &p : NULL, throttled ? &t : NULL, tasks, cites);
}

/*
 * Throttled time: per cfs_rq (or per CPU where the argument was not recorded) from a throttle to
 * the next unthrottle.
 */
static bool pair_marks(const struct mark *m, size_t n, uint64_t *total)
{
	size_t i, k, pairs = 0;

	*total = 0;
	for (i = 0; i < n; i++) {
		if (m[i].sign < 0)
			continue;
		for (k = i + 1; k < n && k - i < MAX_AHEAD; k++) {
			if (m[k].k.arg != m[i].k.arg || (!m[i].k.arg && m[k].k.cpu != m[i].k.cpu))
				continue;
			if (m[k].sign < 0) {
				*total += m[k].k.time - m[i].k.time;
				pairs++;
			}
			break;
		}
	}
	return pairs > 0;
}

static void add_task(char **list, const struct engine *e, uint32_t task)
{
	char *more = xasprintf("%s%s%d", *list ? *list : "[", *list ? "," : "", e->tasks[task].tid);

	free(*list);
	*list = more;
}

/*
 * A CPU's part of a group is throttled while one of its tasks runs there. VM_NONE unless the
 * tasks that were throttled so belong to one VM only.
 */
static uint32_t vm_of_marks(struct engine *e, const struct mark *m, size_t n, char **tasks)
{
	_cleanup_free_ uint8_t *seen = xcalloc(e->n_vcpus + 1, 1);
	uint32_t vm = VM_NONE;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t task = m[i].sign > 0 ? engine_task(e, m[i].k.tid) : TASK_NONE;
		const struct task *t = task == TASK_NONE ? NULL : &e->tasks[task];

		if (!t || t->vm == VM_NONE)
			continue;
		if (vm != VM_NONE && t->vm != vm)
			return VM_NONE;
		vm = t->vm;
		if (t->vcpu != VCPU_NONE && !seen[t->vcpu]) {
			seen[t->vcpu] = 1;
			add_task(tasks, e, task);
		}
	}
	return vm;
}

static struct error *flush_probes(struct engine *e, const struct throttle *th)
{
	_cleanup_free_ struct mark *m = NULL;
	_cleanup_free_ uint64_t *times = NULL;
	uint64_t throttles = 0, total, cite_times[8], cite_pos[8];
	size_t i, k, n = 0, cap = 0, n_times = 0, n_cites = 0;
	struct phase p;
	bool have_period, paired;
	_cleanup_free_ char *cites = NULL, *tasks = NULL, *closed = NULL;
	uint32_t vm;

	for (i = 0; i < th->n_funcs; i++) {
		const struct func *f = &th->funcs[i];
		int sign = role_of(strtab_str(&e->s->strings, f->id));

		if (!sign)
			continue;
		if (sign > 0)
			throttles += f->n;
		GROW(m, cap, n + f->n_ev);
		for (k = 0; k < f->n_ev; k++)
			m[n++] = (struct mark){ f->ev[k], sign };
	}
	if (!throttles || !m)
		return NULL;
	qsort(m, n, sizeof(*m), by_time);
	times = xcalloc(n, sizeof(*times));
	for (i = 0; i < n; i++) {
		if (m[i].sign < 0)
			times[n_times++] = m[i].k.time;
		else if (n_cites < ARRAY_SIZE(cite_times)) {
			cite_times[n_cites] = m[i].k.time;
			cite_pos[n_cites++] = m[i].k.pos;
		}
	}
	have_period = n_times && find_period(times, MIN(n_times, (size_t)1024), &p);
	paired = pair_marks(m, n, &total);
	cites = engine_cites(e, cite_times, cite_pos, n_cites);
	vm = vm_of_marks(e, m, n, &tasks);
	closed = vm != VM_NONE && tasks ? xasprintf("%s]", tasks) : NULL;
	return write_row(e, vm == VM_NONE ? NULL : &e->vms[vm].row_id, "probe", 0, m[0].k.time,
			 m[n - 1].k.time, throttles, have_period ? &p.period_ns : NULL,
			 paired ? &total : NULL, closed, cites);
}

struct refill {
	uint64_t	time, pos, idle_ns;
};

static int refill_by_time(const void *a, const void *b)
{
	const struct refill *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/*
 * All returns of the threads of @vm, ascending; the idle time of its CPU during the waits of the
 * thread that had most of it (a lower bound of the throttled time); who they are (unclosed JSON).
 */
static struct refill *gather(const struct engine *e, const void *waits, uint32_t vm, size_t *ret_n,
			     uint64_t *idle, char **tasks)
{
	struct refill *r = NULL;
	struct wait_returns w;
	size_t i, k, n = 0, cap = 0;

	*idle = 0;
	for (i = 0; waits_returns(waits, i, &w); i++) {
		if (e->tasks[w.task].vm != vm || !w.n)
			continue;
		GROW(r, cap, n + w.n_kept);
		for (k = 0; k < w.n_kept; k++)
			r[n++] =
				(struct refill){ w.kept[k].time, w.kept[k].pos, w.kept[k].idle_ns };
		*idle = MAX(*idle, w.idle_ns);
		add_task(tasks, e, w.task);
	}
	if (n)
		qsort(r, n, sizeof(*r), refill_by_time);
	*ret_n = n;
	return r;
}

static struct error *flush_vm(struct engine *e, const void *waits, uint32_t vm)
{
	_cleanup_free_ char *tasks = NULL, *cites = NULL, *closed = NULL;
	_cleanup_free_ struct refill *r = NULL;
	_cleanup_free_ uint64_t *times = NULL;
	uint64_t idle, cite_times[8], cite_pos[8];
	size_t i, n, n_times = 0, n_cites = 0;
	struct phase p;

	r = gather(e, waits, vm, &n, &idle, &tasks);
	if (n < MIN_PERIODS)
		return NULL;
	times = xcalloc(n, sizeof(*times));
	for (i = 0; i < n; i++)
		if (!n_times || r[i].time - times[n_times - 1] > SAME_INSTANT)
			times[n_times++] = r[i].time;
	if (!find_period(times, n_times, &p))
		return NULL;
	for (i = 0; i < n && n_cites < ARRAY_SIZE(cite_times); i++) {
		if (!at_phase(&p, r[i].time))
			continue;
		cite_times[n_cites] = r[i].time;
		cite_pos[n_cites++] = r[i].pos;
	}
	cites = engine_cites(e, cite_times, cite_pos, n_cites);
	closed = xasprintf("%s]", tasks);
	return write_row(e, vm == VM_NONE ? NULL : &e->vms[vm].row_id, "waits", 1, times[0],
			 times[n_times - 1], p.count, &p.period_ns, &idle, closed, cites);
}

static struct error *throttle_flush(struct engine *e, void *state)
{
	const void *waits = engine_state(e, "waits");
	uint32_t vm;

	TRY(flush_probes(e, state));
	if (!waits)
		return NULL;
	for (vm = 0; vm < e->n_vms; vm++)
		TRY(flush_vm(e, waits, vm));
	return flush_vm(e, waits, VM_NONE);
}

static void throttle_destroy(void *state)
{
	struct throttle *th = state;
	size_t i;

	for (i = 0; i < th->n_funcs; i++)
		free(th->funcs[i].ev);
	free(th);
}

static const struct analysis an_throttle = {
	.name		= "throttle",
	.priority	= 230,
	.pairs		= true,
	.kinds		= KIND(PROBE_ENTER),
	.begin		= throttle_begin,
	.event		= throttle_event,
	.flush		= throttle_flush,
	.destroy	= throttle_destroy,
};
REGISTER(analyses, &an_throttle);
