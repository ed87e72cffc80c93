// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_chain.c - stalls and their causal chains, link by link, on sequences whose cause is known;
 * see analyzer/chain.h.
 */
#include "drive.h"

#define S	TSTATE_INTERRUPTIBLE
#define D	TSTATE_UNINTERRUPTIBLE
#define R	TSTATE_RUNNABLE
#define MS	NSEC_PER_MSEC
#define V0	"CPU 0/KVM"
#define IDLE	"swapper/0"

enum { VCPU = 10, VCPU1 = 11, HOLDER = 20, THIRD = 30, OTHER = 40, KTHREADD = 2 };

struct want {
	int		depth;
	const char	*kind;
	int64_t		start_ms, ms;
	int		tid;		/* -1: any */
	const char	*what;		/* part of it; NULL: any */
};

/* The links of the longest stall, in order. */
static void expect_links(struct drive *d, const struct want *want, size_t n)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i = 0;

	drive_ok(case_query(
		d->db, &st,
		"SELECT depth, kind, start_ns, duration_ns, tid, coalesce(what, '') FROM chain_link"
		" WHERE stall_id = (SELECT id FROM stall ORDER BY duration_ns DESC LIMIT 1) ORDER BY seq",
		""));
	while (case_step(d->db, st, &err)) {
		const char *kind = (const char *)sqlite3_column_text(st, 1),
			   *what = (const char *)sqlite3_column_text(st, 5);

		if (i >= n)
			fail_msg("one link too many: %s \"%s\"", kind, what);
		if (sqlite3_column_int(st, 0) != want[i].depth || strcmp(kind, want[i].kind) ||
		    sqlite3_column_int64(st, 2) != want[i].start_ms * (int64_t)MS ||
		    sqlite3_column_int64(st, 3) != want[i].ms * (int64_t)MS ||
		    (want[i].tid >= 0 && sqlite3_column_int(st, 4) != want[i].tid) ||
		    (want[i].what && !strstr(what, want[i].what)))
			fail_msg(
				"link %zu is: depth %d %s at %lld us for %lld us, tid %d, \"%s\"; not %s \"%s\"",
				i, sqlite3_column_int(st, 0), kind,
				(long long)sqlite3_column_int64(st, 2) / 1000,
				(long long)sqlite3_column_int64(st, 3) / 1000,
				sqlite3_column_int(st, 4), what, want[i].kind,
				want[i].what ? want[i].what : "");
		i++;
	}
	case_done(st);
	drive_ok(err);
	assert_int_equal(i, n);
}

#define EXPECT(d, ...) do {						\
	static const struct want _w[] = { __VA_ARGS__ };		\
	expect_links(d, _w, ARRAY_SIZE(_w));				\
} while (0)

static void flagged_wake(struct drive *d, uint64_t time, uint16_t cpu, int32_t by, int32_t tid,
			 const char *comm, uint8_t flags)
{
	struct event *ev = drive_next(d, EV_SCHED_WAKING, drive_type(d, "sched", "sched_waking"),
				      time, cpu, by);

	comm_words(ev->a, comm, strlen(comm));
	ev->a[3] = 1;
	ev->b[0] = (uint32_t)tid;
	ev->b[1] = 0;
	ev->flags = flags | EVF_KNOWN;
	stream_push(d->s);
}

static void fault(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid, uint64_t gpa)
{
	drive_next(d, EV_KVM_PAGE_FAULT, drive_type(d, "kvm", "kvm_page_fault"), time, cpu, tid)
		->a[0] = gpa;
	stream_push(d->s);
}

static void ioctl_enter(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid, uint64_t request)
{
	struct event *ev = drive_next(d, EV_SYS_ENTER, drive_type(d, "raw_syscalls", "sys_enter"),
				      time, cpu, tid);

	ev->b[0] = 16;
	ev->a[1] = request;
	stream_push(d->s);
}

static void sys_exit(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid)
{
	drive_next(d, EV_SYS_EXIT, drive_type(d, "raw_syscalls", "sys_exit"), time, cpu, tid)
		->b[0] = 16;
	stream_push(d->s);
}

/* A guest runs on CPU 0, the holder on CPU 1, both since 1 ms. */
static void open_two(struct drive *d)
{
	drive_open(d);
	drive_comm(d, 0, VCPU, 9, V0, TASK_SYNTH);
	drive_comm(d, 0, HOLDER, 9, "holder", TASK_SYNTH);
	drive_switch(d, MS / 2, 0, 0, R, VCPU, V0);
	drive_switch(d, MS / 2, 1, 0, R, HOLDER, "holder");
	drive_entry(d, MS, 0, VCPU, 0);
}

static void test_exit_handling(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "EPT_VIOLATION");
	fault(&d, 11 * MS, 0, VCPU, 0x1234000);
	drive_entry(&d, 40 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d, { 0, "host", 10, 30, VCPU,
		     "handles exit EPT_VIOLATION: page fault at gpa 0x1234000" });
	assert_int_equal(
		drive_int(
			&d,
			"SELECT kind = 'exit' AND named_ns = duration_ns AND what = 'EPT_VIOLATION' FROM stall"),
		1);
	drive_free(&d);
}

/* A mutex: the vCPU sleeps 30 ms until the holder, which ran all the time, wakes it. */
static void test_blocked_by_running_holder(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 11 * MS, 0, VCPU, D, 0, IDLE);
	drive_wake(&d, EV_SCHED_WAKING, 41 * MS, 1, HOLDER, VCPU, V0, 0);
	drive_switch(&d, 43 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 44 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d, { 0, "host", 10, 1, VCPU, "npf" },
	       { 0, "blocked", 11, 30, VCPU, "until woken by holder on CPU 1" },
	       { 1, "running", 11, 30, HOLDER, "holder runs on CPU 1" },
	       { 0, "runnable", 41, 2, VCPU, "which idles" },
	       { 0, "host", 43, 1, VCPU, NULL });
	assert_int_equal(drive_int(&d, "SELECT kind = 'blocked' FROM stall"), 1);
	assert_int_equal(
		drive_int(&d,
			  "SELECT json_array_length(cites) FROM chain_link WHERE kind = 'blocked'"),
		2);
	drive_free(&d);
}

/*
 * Three steps: the vCPU waits for the holder, which waits for a third, which was preempted by a
 * neighbour.
 */
static void test_hand_off(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_comm(&d, MS, THIRD, 30, "third", TASK_SYNTH);
	drive_comm(&d, MS, OTHER, 40, "other", TASK_SYNTH);
	drive_switch(&d, 5 * MS, 2, 0, R, THIRD, "third");
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 10 * MS, 0, VCPU, D, 0, IDLE);
	drive_switch(&d, 12 * MS, 1, HOLDER, S, 0, "swapper/1");
	drive_switch(&d, 15 * MS, 2, THIRD, R, OTHER, "other");
	drive_switch(&d, 25 * MS, 2, OTHER, R, THIRD, "third");
	drive_wake(&d, EV_SCHED_WAKING, 30 * MS, 2, THIRD, HOLDER, "holder", 1);
	drive_switch(&d, 30 * MS, 1, 0, R, HOLDER, "holder");
	drive_wake(&d, EV_SCHED_WAKING, 32 * MS, 1, HOLDER, VCPU, V0, 0);
	drive_switch(&d, 32 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 32 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d, { 0, "blocked", 10, 22, VCPU, "holder" },
	       { 1, "running", 10, 2, HOLDER, NULL },
	       { 1, "blocked", 12, 18, HOLDER, "until woken by third" },
	       { 2, "running", 12, 3, THIRD, NULL },
	       { 2, "preempted", 15, 10, THIRD, "behind other 100 %" },
	       { 2, "running", 25, 5, THIRD, NULL },
	       { 1, "running", 30, 2, HOLDER, NULL });
	assert_int_equal(drive_int(&d, "SELECT named_ns = duration_ns FROM stall"), 1);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT shape = 'blocked npf: blocked until woken by holder \xe2\x86\x90 blocked until woken"
			" by third \xe2\x86\x90 third runs + preempted behind other' FROM pattern"),
		1);
	drive_free(&d);
}

/* A hard interrupt wakes it: the task that was interrupted is not the waker. */
static void test_interrupt_is_the_waker(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "io");
	drive_switch(&d, 10 * MS, 0, VCPU, S, 0, IDLE);
	flagged_wake(&d, 30 * MS, 1, HOLDER, VCPU, V0, EVF_HARDIRQ);
	drive_switch(&d, 30 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 30 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d, { 0, "blocked", 10, 20, VCPU, "until woken from hardirq on CPU 1" });
	assert_int_equal(drive_int(&d, "SELECT named_ns = duration_ns FROM stall"), 1);
	drive_free(&d);
}

/* A busy neighbour of known share. */
static void test_preempted_with_shares(void **state)
{
	struct drive d;
	uint64_t t;

	(void)state;
	open_two(&d);
	drive_comm(&d, MS, OTHER, 40, "other", TASK_SYNTH);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "interrupt");
	drive_switch(&d, 10 * MS, 0, VCPU, R, OTHER, "other");
	for (t = 10; t < 50; t += 10) {
		drive_switch(&d, (t + 7) * MS, 0, OTHER, R, THIRD, "third");
		drive_switch(&d, (t + 10) * MS, 0, THIRD, R, t + 10 < 50 ? OTHER : VCPU,
			     t + 10 < 50 ? "other" : V0);
	}
	drive_entry(&d, 50 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d,
	       { 0, "preempted", 10, 40, VCPU, "waits on CPU 0 behind other 70 %, third 30 %" });
	assert_int_equal(drive_int(&d, "SELECT kind = 'runq' FROM stall"), 1);
	drive_free(&d);
}

/*
 * A group on its quota: idle CPU while the thread is runnable, at one phase of a period, again and
 * again.
 */
static void test_throttle(void **state)
{
	struct drive d;
	uint64_t t;

	(void)state;
	open_two(&d);
	drive_exit(&d, 90 * MS, 0, VCPU, 0, "interrupt");
	for (t = 90; t < 1000; t += 100) {
		drive_switch(&d, t * MS, 0, VCPU, R, 0, IDLE);
		drive_switch(&d, (t + 60) * MS, 0, 0, R, VCPU, V0);
		drive_entry(&d, (t + 60) * MS, 0, VCPU, 0);
		drive_exit(&d, (t + 100) * MS, 0, VCPU, 0, "interrupt");
	}
	drive_close(&d);
	EXPECT(&d, { 0, "throttled", 90, 60, VCPU, "its group is throttled (inferred)" });
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM chain_link WHERE kind = 'throttled' AND inferred = 1"),
		10);
	assert_int_equal(
		drive_int(&d,
			  "SELECT count = 10 AND shape = 'runq interrupt: throttled' FROM pattern"),
		1);
	drive_free(&d);
}

/* One idle wait is no throttle, and has no named cause. */
static void test_idle_once_is_no_throttle(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "interrupt");
	drive_switch(&d, 10 * MS, 0, VCPU, R, 0, IDLE);
	drive_switch(&d, 18 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 18 * MS, 0, VCPU, 0);
	drive_close(&d);
	EXPECT(&d, { 0, "preempted", 10, 8, VCPU, "which idles" });
	assert_int_equal(drive_int(&d, "SELECT named_ns FROM stall"), 0);
	assert_int_equal(drive_int(&d, "SELECT named_ns FROM stall_total"), 0);
	drive_free(&d);
}

/*
 * KVM_CREATE_VM waits for a kernel thread that does not exist yet, and then for what that one does.
 */
static void test_operation(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_comm(&d, 0, OTHER, 40, "createvm", TASK_SYNTH);
	drive_comm(&d, 0, KTHREADD, 2, "kthreadd", TASK_SYNTH);
	drive_switch(&d, MS, 0, 0, R, OTHER, "createvm");
	drive_switch(&d, MS, 1, 0, R, KTHREADD, "kthreadd");
	ioctl_enter(&d, 10 * MS, 0, OTHER, 0xae01);
	drive_probe(&d, "p_create_worker", 12 * MS, 0, OTHER, 0, 0, 0, 0);
	drive_switch(&d, 14 * MS, 0, OTHER, D, 0, IDLE);
	drive_wake(&d, EV_SCHED_WAKEUP_NEW, 20 * MS, 1, KTHREADD, THIRD, "kvm-nx", 1);
	drive_switch(&d, 22 * MS, 1, KTHREADD, S, THIRD, "kvm-nx");
	drive_probe(&d, "p_synchronize_rcu", 23 * MS, 1, THIRD, 0, 0, 0, 0);
	drive_switch(&d, 24 * MS, 1, THIRD, D, 0, "swapper/1");
	flagged_wake(&d, 40 * MS, 1, 0, THIRD, "kvm-nx", EVF_SOFTIRQ);
	drive_switch(&d, 40 * MS, 1, 0, R, THIRD, "kvm-nx");
	drive_probe(&d, "r_synchronize_rcu", 41 * MS, 1, THIRD, 0, 0, 0, 0);
	drive_wake(&d, EV_SCHED_WAKING, 44 * MS, 1, THIRD, OTHER, "createvm", 0);
	drive_switch(&d, 44 * MS, 0, 0, R, OTHER, "createvm");
	drive_probe(&d, "r_create_worker", 45 * MS, 0, OTHER, 0, 0, 0, 0);
	sys_exit(&d, 46 * MS, 0, OTHER);
	drive_close(&d);
	EXPECT(&d, { 0, "running", 10, 4, OTHER, "in create_worker()" },
	       { 0, "blocked", 14, 30, OTHER,
		 "blocked (D) in create_worker() until woken by kvm-nx on CPU 1" },
	       { 1, "blocked", 14, 6, THIRD, "until started by kthreadd" },
	       { 2, "running", 14, 6, KTHREADD, NULL },
	       { 1, "runnable", 20, 2, THIRD, "behind kthreadd 100 %" },
	       { 1, "running", 22, 2, THIRD, "in synchronize_rcu()" },
	       { 1, "blocked", 24, 16, THIRD,
		 "blocked (D) in synchronize_rcu() until woken from softirq on CPU 1" },
	       { 1, "running", 40, 4, THIRD, NULL },
	       { 0, "running", 44, 2, OTHER, "KVM_CREATE_VM" });
	assert_int_equal(
		drive_int(
			&d,
			"SELECT subject = 'operation' AND kind = 'operation' AND what = 'KVM_CREATE_VM' FROM stall"),
		1);
	assert_int_equal(drive_int(&d, "SELECT named_ns = duration_ns FROM stall"), 1);
	drive_free(&d);
}

/*
 * Task 100 + @k sleeps five times in [@from, @to), each time until 100 + @k + 1 wakes it, which
 * does likewise meanwhile.
 */
static void nest(struct drive *d, int k, int levels, uint64_t from, uint64_t to)
{
	uint64_t w = (to - from) / 5;
	int i;

	for (i = 0; k < levels && i < 5; i++) {
		uint64_t a = from + (uint64_t)i * w + w / 20,
			 b = from + (uint64_t)(i + 1) * w - w / 20;

		drive_switch(d, a, (uint16_t)(k + 1), 100 + k, D, 0, "swapper");
		nest(d, k + 1, levels, a + w / 50, b - w / 50);
		drive_wake(d, EV_SCHED_WAKING, b, (uint16_t)(k + 2), 101 + k, 100 + k, "task",
			   (uint32_t)k + 1);
		drive_switch(d, b, (uint16_t)(k + 1), 0, R, 100 + k, "task");
	}
}

/*
 * Five to the power of five sleeps under one: the chain stays within its bounds, and still tiles.
 */
static void test_chain_is_bounded(void **state)
{
	struct drive d;
	int k;

	(void)state;
	open_two(&d);
	for (k = 0; k < 7; k++)
		drive_switch(&d, 2 * MS, (uint16_t)(k + 1), 0, R, 100 + k, "task");
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 10 * MS, 0, VCPU, D, 0, IDLE);
	nest(&d, 0, 5, 11 * MS, 3000 * MS);
	drive_wake(&d, EV_SCHED_WAKING, 3001 * MS, 1, 100, VCPU, V0, 0);
	drive_switch(&d, 3001 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 3001 * MS, 0, VCPU, 0);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall"), 1);
	assert_true(drive_int(&d, "SELECT count(*) FROM chain_link") <= 192);
	assert_true(drive_int(&d, "SELECT count(*) FROM chain_link") > 100);
	assert_int_equal(drive_int(&d, "SELECT sum(duration_ns) FROM chain_link WHERE depth = 0"),
			 2991 * MS);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM (SELECT p.start_ns ps, p.duration_ns pd, min(c.start_ns) cs,"
			" sum(c.duration_ns) cd FROM chain_link p JOIN chain_link c ON c.parent_id = p.id"
			" GROUP BY p.id) WHERE ps <> cs OR pd <> cd"),
		0);
	drive_free(&d);
}

/* A stall that outgrows the history pool: the far part is folded, and the stall is partial. */
static void test_pool_overflow(void **state)
{
	struct drive d;
	uint64_t t = 11 * MS;
	int i;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 10 * MS, 0, VCPU, D, 0, IDLE);
	for (i = 0; i < 180000; i++, t += 20000) {
		drive_switch(&d, t, 1, HOLDER, R, OTHER, "other");
		drive_switch(&d, t + 10000, 1, OTHER, R, HOLDER, "holder");
	}
	drive_wake(&d, EV_SCHED_WAKING, 4000 * MS, 1, HOLDER, VCPU, V0, 0);
	drive_switch(&d, 4000 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 4000 * MS, 0, VCPU, 0);
	drive_close(&d);
	assert_int_equal(
		drive_int(&d, "SELECT duration_ns = 3990000000 AND partial = 1 FROM stall"), 1);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM chain_link WHERE depth = 1 AND kind = 'folded' AND start_ns = 10000000"),
		1);
	assert_int_equal(drive_int(&d, "SELECT sum(duration_ns) FROM chain_link WHERE depth = 1"),
			 3990 * MS);
	drive_free(&d);
}

/* Forty short sleeps in one stall: the short ones fold, and the fold says how the time went. */
static void test_short_links_fold(void **state)
{
	struct drive d;
	uint64_t t;

	(void)state;
	open_two(&d);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "io");
	for (t = 10; t < 50; t++) {
		drive_switch(&d, t * MS, 0, VCPU, D, 0, IDLE);
		flagged_wake(&d, t * MS + MS / 2, 1, HOLDER, VCPU, V0, EVF_HARDIRQ);
		drive_switch(&d, t * MS + MS / 2, 0, 0, R, VCPU, V0);
	}
	drive_entry(&d, 50 * MS, 0, VCPU, 0);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT sum(duration_ns) FROM chain_link"), 40 * MS);
	assert_true(
		drive_int(
			&d,
			"SELECT count(*) FROM chain_link WHERE kind = 'folded' AND what LIKE '% short stretches of io:%'") >
		0);
	/*
	 * the sleeps are named (an interrupt ended them), the handling of an exit of which nothing
	 * is told is not
	 */
	assert_int_equal(drive_int(&d, "SELECT named_ns FROM stall"), 20 * MS);
	drive_free(&d);
}

/* The same page faults again and again: the guest gets nowhere, and that is a stall of its own. */
static void test_retry_loop(void **state)
{
	struct drive d;
	uint64_t t;

	(void)state;
	open_two(&d);
	for (t = 100; t <= 400; t++) {
		drive_exit(&d, t * MS / 10, 0, VCPU, 0, "EPT_VIOLATION");
		fault(&d, t * MS / 10 + 1000, 0, VCPU, 0x5000);
		drive_entry(&d, t * MS / 10 + 2000, 0, VCPU, 0);
	}
	drive_close(&d);
	EXPECT(&d, { 0, "retry-loop", 10, 30, VCPU, "EPT_VIOLATION 301 times" });
	drive_free(&d);
}

static void test_episode(void **state)
{
	struct drive d;

	(void)state;
	open_two(&d);
	drive_comm(&d, MS, VCPU1, 9, "CPU 1/KVM", TASK_SYNTH);
	drive_switch(&d, MS, 2, 0, R, VCPU1, "CPU 1/KVM");
	drive_entry(&d, MS, 2, VCPU1, 1);
	drive_exit(&d, 10 * MS, 0, VCPU, 0, "npf");
	drive_exit(&d, 15 * MS, 2, VCPU1, 1, "npf");
	drive_entry(&d, 20 * MS, 0, VCPU, 0);
	drive_entry(&d, 30 * MS, 2, VCPU1, 1);
	drive_exit(&d, 50 * MS, 0, VCPU, 0, "npf");
	drive_entry(&d, 60 * MS, 0, VCPU, 0);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM episode"), 1);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT start_ns = 10000000 AND end_ns = 30000000 AND stalls = 2 AND vcpus = 2 FROM episode"),
		1);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE episode_id IS NOT NULL"),
			 2);
	drive_free(&d);
}

/* Many short stalls and a few long ones: the threshold keeps the long ones, which hold the time. */
static void test_threshold(void **state)
{
	struct drive d;
	uint64_t t = 10 * MS;
	int i;

	(void)state;
	open_two(&d);
	for (i = 0; i < 50; i++, t += 4 * MS) {
		drive_exit(&d, t, 0, VCPU, 0, "npf");
		drive_entry(&d, t + 5 * MS / 4, 0, VCPU, 0);
	}
	for (i = 0; i < 10; i++, t += 100 * MS) {
		drive_exit(&d, t, 0, VCPU, 0, "npf");
		drive_entry(&d, t + 90 * MS, 0, VCPU, 0);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT threshold_ns FROM stall_total"), 10 * MS);
	assert_int_equal(drive_int(&d, "SELECT stalls FROM stall_total"), 10);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall"), 10);
	assert_int_equal(drive_int(&d, "SELECT sum(count) FROM histogram WHERE name = 'stall'"),
			 60);
	drive_free(&d);
}

/* A threshold that is asked for is the one that is used. */
static void test_threshold_option(void **state)
{
	static const struct source_desc desc = { .format = "test", .path = "test", .member_id = 1 };
	struct drive d = { .opt.stall_threshold_ns = 200000 };

	(void)state;
	drive_ok(case_create(&d.db, NULL));
	d.engine = engine_create(d.db, &d.opt);
	drive_ok(stream_open(&d.s, d.db, &desc, &d.ops, &d, &engine_consumer, d.engine));
	drive_entry(&d, MS, 0, VCPU, 0);
	drive_exit(&d, 2 * MS, 0, VCPU, 0, "npf");
	drive_entry(&d, 2 * MS + 200000, 0, VCPU, 0);
	drive_exit(&d, 3 * MS, 0, VCPU, 0, "npf");
	drive_entry(&d, 3 * MS + 199999, 0, VCPU, 0);
	drive_close(&d);
	assert_int_equal(
		drive_int(&d, "SELECT stalls FROM stall_total WHERE threshold_ns = 200000"), 1);
	drive_free(&d);
}

/* Beyond 1000 the longest become rows; patterns count all. */
static void test_rows_are_bounded(void **state)
{
	struct drive d;
	uint64_t t = 10 * MS;
	int i;

	(void)state;
	open_two(&d);
	for (i = 0; i < 1500; i++, t += 40 * MS) {
		drive_exit(&d, t, 0, VCPU, 0, "npf");
		drive_entry(&d, t + (20 * MS + (uint64_t)(i * 7919 % 1500) * 1000), 0, VCPU, 0);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall"), 1000);
	assert_int_equal(drive_int(&d, "SELECT min(duration_ns) FROM stall"), 20 * MS + 500000);
	assert_int_equal(drive_int(&d, "SELECT count FROM pattern"), 1500);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT worst_ns = (SELECT max(duration_ns) FROM stall) AND worst_stall_id ="
			" (SELECT id FROM stall ORDER BY duration_ns DESC LIMIT 1) FROM pattern"),
		1);
	assert_int_equal(drive_int(&d, "SELECT stalls FROM stall_total"), 1500);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_handling),
		cmocka_unit_test(test_blocked_by_running_holder),
		cmocka_unit_test(test_hand_off),
		cmocka_unit_test(test_interrupt_is_the_waker),
		cmocka_unit_test(test_preempted_with_shares),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_idle_once_is_no_throttle),
		cmocka_unit_test(test_operation),
		cmocka_unit_test(test_chain_is_bounded),
		cmocka_unit_test(test_pool_overflow),
		cmocka_unit_test(test_short_links_fold),
		cmocka_unit_test(test_retry_loop),
		cmocka_unit_test(test_episode),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_threshold_option),
		cmocka_unit_test(test_rows_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
