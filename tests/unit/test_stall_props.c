// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stall_props.c - properties that hold for every recording, on generated ones (seeded, legal):
 * states tile each vCPU's time and equal those of a slow reference that holds the whole trace;
 * links tile their stall, children their parent.
 *
 * The number of traces is 80 each; KVMORTEM_PROPS=N makes it N. A failure names its seed.
 */
#include "drive.h"

#define CPUS		3
#define VCPUS		3
#define TASKS		8		/* the first VCPUS of them are vCPU threads */
#define STEPS		1000
#define TID(i)		(100 + (int)(i))
#define MAX_MARKS	(4 * STEPS)

enum doing { AWAY, GUEST, HOST, VMM, HALT };	/* of a vCPU thread */
enum sched { ASLEEP, RUNNABLE, RUNNING };

enum mark_kind { M_ENTRY, M_EXIT, M_HLT, M_UEXIT, M_IN, M_OUT_R, M_OUT_S, M_OUT_D, M_WAKE };

struct mark {
	uint64_t	time;
	enum mark_kind	kind;
};

struct gen {
	uint64_t	rng;
	uint64_t	now;
	struct {
		enum sched	sched;
		enum doing	doing;
		uint32_t	cpu;
		struct mark	marks[MAX_MARKS];
		unsigned int	n_marks;
		uint64_t first, last; /* as the case file counts them; first 0: none yet */
	} t[TASKS];
	int		on_cpu[CPUS];	/* task, -1 idle */
	bool drop; /* some events are left out, and losses are announced or not */
	struct drive	d;
};

static uint32_t rnd(struct gen *g, uint32_t n)
{
	g->rng ^= g->rng << 13;
	g->rng ^= g->rng >> 7;
	g->rng ^= g->rng << 17;
	return (uint32_t)(g->rng >> 33) % n;
}

static const char *comm_of(int task)
{
	static const char *const names[TASKS] = { "CPU 0/KVM", "CPU 1/KVM",   "CPU 2/KVM",
						  "qemu",      "kworker/0:1", "make",
						  "vhost-9",   "iothread" };

	return task < 0 ? "swapper" : names[task];
}

static bool dropped(struct gen *g)
{
	return g->drop && !rnd(g, 25);
}

static void mark(struct gen *g, int task, enum mark_kind kind, bool own)
{
	if (task < 0)
		return;
	if (g->t[task].n_marks < MAX_MARKS)
		g->t[task].marks[g->t[task].n_marks++] = (struct mark){ g->now, kind };
	if (own) {
		if (!g->t[task].first)
			g->t[task].first = g->now;
		g->t[task].last = g->now;
	} else if (kind == M_IN) {
		g->t[task].last = g->now;
	}
}

static void do_switch(struct gen *g, uint32_t cpu, uint64_t state, int next)
{
	int prev = g->on_cpu[cpu];

	if (!dropped(g)) {
		drive_switch(&g->d, g->now, (uint16_t)cpu, prev < 0 ? 0 : TID(prev), state,
			     next < 0 ? 0 : TID(next), comm_of(next));
		mark(g, prev,
		     !state			      ? M_OUT_R
		     : state & TSTATE_UNINTERRUPTIBLE ? M_OUT_D
						      : M_OUT_S,
		     true);
		mark(g, next, M_IN, false);
	}
	if (prev >= 0)
		g->t[prev].sched = state ? ASLEEP : RUNNABLE;
	if (next >= 0) {
		g->t[next].sched = RUNNING;
		g->t[next].cpu = cpu;
	}
	g->on_cpu[cpu] = next;
}

/* Another runnable task for @cpu, or idle. */
static int pick(struct gen *g, uint32_t cpu)
{
	uint32_t i, at = rnd(g, TASKS);

	for (i = 0; i < TASKS; i++) {
		uint32_t k = (at + i) % TASKS;

		if (g->t[k].sched != RUNNABLE)
			continue;
		if (g->t[k].cpu != cpu) {
			if (rnd(g, 2))
				continue;
			if (!dropped(g))
				drive_migrate(&g->d, g->now, (uint16_t)cpu,
					      g->on_cpu[cpu] < 0 ? 0 : TID(g->on_cpu[cpu]), TID(k),
					      g->t[k].cpu, cpu);
			if (g->on_cpu[cpu] >= 0 && !g->drop)
				g->t[g->on_cpu[cpu]].last = g->now;	/* an event of its own */
			g->t[k].cpu = cpu;
		}
		return (int)k;
	}
	return -1;
}

static void do_wake(struct gen *g, uint32_t cpu)
{
	uint32_t k = rnd(g, TASKS);
	int by = g->on_cpu[cpu];

	/*
	 * the first vCPU thread is left asleep for long, so that its chains grow beyond what one
	 * may have
	 */
	if (g->t[k].sched != ASLEEP || (!k && rnd(g, 25)))
		return;
	g->t[k].sched = RUNNABLE;
	g->t[k].cpu = rnd(g, CPUS);
	if (dropped(g))
		return;
	drive_wake(&g->d, EV_SCHED_WAKING, g->now, (uint16_t)cpu, by < 0 ? 0 : TID(by), TID(k),
		   comm_of((int)k), g->t[k].cpu);
	if (by >= 0) {
		if (!g->t[by].first)
			g->t[by].first = g->now;
		g->t[by].last = g->now;
	}
	mark(g, (int)k, M_WAKE, false);
}

static void vcpu_step(struct gen *g, uint32_t cpu, int v)
{
	struct event *ev;

	if (g->t[v].doing == GUEST) {
		bool hlt = !rnd(g, 3);

		if (!dropped(g)) {
			drive_exit(&g->d, g->now, (uint16_t)cpu, TID(v), (uint32_t)v,
				   hlt	       ? "hlt"
				   : rnd(g, 2) ? "npf"
					       : "io");
			mark(g, v, hlt ? M_HLT : M_EXIT, true);
		}
		g->t[v].doing = hlt ? HALT : HOST;
	} else if (g->t[v].doing == HOST && !rnd(g, 3)) {
		if (!dropped(g)) {
			ev = drive_next(&g->d, EV_KVM_USERSPACE_EXIT,
					drive_type(&g->d, "kvm", "kvm_userspace_exit"), g->now,
					(uint16_t)cpu, TID(v));
			ev->b[0] = 2;
			stream_push(g->d.s);
			mark(g, v, M_UEXIT, true);
		}
		g->t[v].doing = VMM;
	} else {
		if (!dropped(g)) {
			drive_entry(&g->d, g->now, (uint16_t)cpu, TID(v), (uint32_t)v);
			mark(g, v, M_ENTRY, true);
		}
		g->t[v].doing = GUEST;
	}
}

static void step(struct gen *g)
{
	static const uint32_t scale[] = { 2000, 50000, 1000000, 9000000 };
	uint32_t cpu = rnd(g, CPUS), what = rnd(g, 10);
	int cur = g->on_cpu[cpu];

	g->now += 1 + rnd(g, scale[rnd(g, 4)]);
	if (what < 3) {
		do_wake(g, cpu);
	} else if (cur < 0) {
		int next = pick(g, cpu);

		if (next >= 0)
			do_switch(g, cpu, TSTATE_RUNNABLE, next);
	} else if (cur < VCPUS && (what < 7 || g->t[cur].doing == GUEST)) {
		vcpu_step(g, cpu, cur);
	} else {
		uint64_t state = !rnd(g, 3)  ? TSTATE_RUNNABLE
				 : rnd(g, 3) ? TSTATE_INTERRUPTIBLE
					     : TSTATE_UNINTERRUPTIBLE;

		do_switch(g, cpu, state, pick(g, cpu));
	}
	if (g->drop && !rnd(g, 60))
		drive_lost(&g->d, g->now, rnd(g, 4) ? (uint16_t)rnd(g, CPUS) : EVENT_CPU_NONE, 1);
}

/* What state a vCPU thread is in between two of its marks, from all that comes before and after. */
static int ref_state(const struct mark *m, unsigned int n, unsigned int i)
{
	int sched = -1, kvm = -1, halt_exit = -1;
	bool woken = false, halting, seen_out = false;
	unsigned int k;

	for (k = 0; k <= i; k++) {
		if (m[k].kind >= M_IN)
			sched = (int)k;
		else
			kvm = (int)k;
		if (m[k].kind == M_HLT)
			halt_exit = (int)k;
	}
	if (halt_exit >= 0)
		for (k = (unsigned int)halt_exit; k <= i; k++) {
			woken |= m[k].kind == M_WAKE;
			seen_out |= m[k].kind == M_ENTRY;
		}
	halting = halt_exit >= 0 && !seen_out;	/* in the exit that asked for sleep */
	if (sched < 0 && kvm < 0)
		return 6;
	if (sched >= 0 && m[sched].kind == M_WAKE)
		return 4;
	if (sched >= 0 && m[sched].kind == M_OUT_R)
		return halting && !woken ? 3 : 4;
	if (sched >= 0 && m[sched].kind >= M_OUT_S) {
		bool in_vmm = kvm >= 0 && m[kvm].kind == M_UEXIT;

		(void)n;
		if (m[sched].kind == M_OUT_S && halting && !in_vmm)
			return 3;
		if (m[sched].kind == M_OUT_S && kvm < 0)
			return 6;
		return 5;
	}
	if (sched < 0 || m[sched].kind == M_IN) {
		if (kvm < 0)
			return 6;
		switch (m[kvm].kind) {
		case M_ENTRY:
			return 0;
		case M_UEXIT:
			return 2;
		case M_HLT:
			return woken ? 1 : 3;
		default:
			return 1;
		}
	}
	return 6;
}

static void compare(struct gen *g, uint64_t seed)
{
	static const char *const cols[] = { "guest_ns",	  "host_ns",	"vmm_ns",     "halted_ns",
					    "waiting_ns", "blocked_ns", "unknown_ns", "lost_ns" };
	unsigned int v, i;

	for (v = 0; v < VCPUS; v++) {
		const struct mark *m = g->t[v].marks;
		unsigned int n = g->t[v].n_marks;
		uint64_t ns[8] = { 0 }, first = g->t[v].first, last = g->t[v].last;

		if (!first)
			continue;
		for (i = 0; i < n; i++) {
			uint64_t from = m[i].time, to = i + 1 < n ? m[i + 1].time : UINT64_MAX;

			from = from > first ? from : first;
			to = to < last ? to : last;
			if (from < to)
				ns[ref_state(m, n, i)] += to - from;
		}
		if (n && m[0].time > first)
			ns[6] += m[0].time - first;
		for (i = 0; i < 8; i++) {
			char sql[80];

			snprintf(sql, sizeof(sql), "SELECT %s FROM vcpu WHERE tid = %d", cols[i],
				 TID(v));
			if ((uint64_t)drive_int(&g->d, sql) != ns[i])
				fail_msg("seed %" PRIu64 ": vCPU %u: %s is %" PRId64
					 ", the reference says %" PRIu64,
					 seed, v, cols[i], drive_int(&g->d, sql), ns[i]);
		}
	}
}

/* Each of these counts what must not be. */
static const char *const never[] = {
	"SELECT count(*) FROM vcpu WHERE guest_ns + host_ns + vmm_ns + halted_ns + waiting_ns + blocked_ns + unknown_ns + lost_ns"
	" <> last_ns - first_ns OR min(guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, blocked_ns, unknown_ns, lost_ns) < 0",
	"SELECT count(*) FROM stall s WHERE duration_ns <> (SELECT sum(duration_ns) FROM chain_link l WHERE l.stall_id = s.id AND depth = 0)",
	/* neighbours of one parent meet */
	"SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY stall_id, parent_id ORDER BY seq) e"
	" FROM chain_link) WHERE e IS NOT NULL AND e <> start_ns",
	"SELECT count(*) FROM (SELECT p.start_ns ps, p.duration_ns pd, min(c.start_ns) cs, sum(c.duration_ns) cd FROM chain_link p"
	" JOIN chain_link c ON c.parent_id = p.id GROUP BY p.id) WHERE ps <> cs OR pd <> cd",
	"SELECT count(*) FROM chain_link l JOIN stall s ON s.id = l.stall_id WHERE l.start_ns < s.start_ns"
	" OR l.start_ns + l.duration_ns > s.start_ns + s.duration_ns OR l.duration_ns <= 0 OR l.depth > 8",
	"SELECT count(*) FROM chain_link l JOIN chain_link p ON p.id = l.parent_id WHERE l.depth <> p.depth + 1 OR l.stall_id <> p.stall_id",
	"SELECT count(*) FROM stall WHERE named_ns < 0 OR named_ns > duration_ns OR pattern_id IS NULL OR cause IS NULL OR cites IS NULL",
	"SELECT count(*) FROM stall_total WHERE named_ns > stall_ns OR state_known_ns > stall_ns OR named_ns < 0",
	"SELECT (SELECT coalesce(sum(count), 0) FROM pattern) <> (SELECT stalls FROM stall_total)",
	"SELECT (SELECT coalesce(sum(total_ns), 0) FROM pattern) <> (SELECT stall_ns FROM stall_total)",
	"SELECT count(*) FROM pattern p WHERE worst_stall_id IS NULL OR worst_ns <>"
	" (SELECT duration_ns FROM stall WHERE id = p.worst_stall_id)",
	/* stalls of one vCPU don't overlap */
	"SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY vcpu_id ORDER BY start_ns) e FROM stall"
	" WHERE subject = 'vcpu') WHERE e > start_ns",
};

static void run(uint64_t seed, bool drop)
{
	struct gen *g = calloc(1, sizeof(*g));
	size_t i;

	assert_non_null(g);
	g->rng = seed * 0x9e3779b97f4a7c15ull + 1;
	g->now = 1000000;
	g->drop = drop;
	drive_open(&g->d);
	for (i = 0; i < CPUS; i++)
		g->on_cpu[i] = -1;
	for (i = 0; i < TASKS; i++)
		drive_comm(&g->d, 0, TID(i), i < VCPUS || i == 3 ? 99 : TID(i), comm_of((int)i),
			   TASK_SYNTH);
	for (i = 0; i < STEPS; i++)
		step(g);
	drive_close(&g->d);
	if (!drop)
		compare(g, seed);
	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (drive_int(&g->d, never[i]) != 0)
			fail_msg("seed %" PRIu64 "%s: %" PRId64 " of: %s", seed,
				 drop ? " with losses" : "", drive_int(&g->d, never[i]), never[i]);
	drive_free(&g->d);
	free(g);
}

static uint64_t traces(void)
{
	const char *s = getenv("KVMORTEM_PROPS");

	return s ? strtoull(s, NULL, 10) : 80;
}

static void test_whole_traces(void **state)
{
	uint64_t seed, n = traces();

	(void)state;
	for (seed = 1; seed <= n; seed++)
		run(seed, false);
}

static void test_damaged_traces(void **state)
{
	uint64_t seed, n = traces();

	(void)state;
	for (seed = 1; seed <= n; seed++)
		run(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_traces),
		cmocka_unit_test(test_damaged_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
