// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_waits.c - run-queue waits of vCPU threads, who had the CPU, and throttling; see
 * analyzer/an_waits.c.
 */
#include "drive.h"

#define S	TSTATE_INTERRUPTIBLE
#define R	TSTATE_RUNNABLE
#define MS	NSEC_PER_MSEC
#define IDLE	"swapper/0"

enum { A = 10, B = 11, OTHER = 20 }; /* two vCPU threads of one VM, and a task that is none of it */

/* Both vCPU threads have been seen, idle runs on CPU 0 since 1 ms, CPU 1 since 2 ms. */
static void open_vm(struct drive *d)
{
	drive_open(d);
	drive_comm(d, 0, A, 9, "CPU 0/KVM", TASK_SYNTH);
	drive_comm(d, 0, B, 9, "CPU 1/KVM", TASK_SYNTH);
	drive_comm(d, 0, OTHER, 20, "make", TASK_SYNTH);
	drive_switch(d, MS / 2, 0, 0, R, B, "CPU 1/KVM");
	drive_switch(d, MS, 0, B, S, 0, IDLE);
	drive_switch(d, 3 * MS / 2, 1, 0, R, OTHER, "make");
	drive_switch(d, 2 * MS, 1, OTHER, S, 0, IDLE);
}

#define LONGEST(d, col) \
	drive_int(d, "SELECT " col " FROM runq_wait ORDER BY duration_ns DESC LIMIT 1")

static void test_account_adds_up(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_wake(&d, EV_SCHED_WAKING, 10 * MS, 1, OTHER, A, "CPU 0/KVM", 0);
	drive_wake(&d, EV_SCHED_WAKEUP, 10 * MS + 5, 1, OTHER, A, "CPU 0/KVM", 0);
	drive_switch(&d, 12 * MS, 0, 0, R, OTHER, "make");		/* idle 2 */
	drive_switch(&d, 17 * MS, 0, OTHER, R, B, "CPU 1/KVM");	/* make 5 */
	drive_switch(&d, 20 * MS, 0, B, S, 0, IDLE);			/* sibling 3 */
	drive_switch(&d, 21 * MS, 0, 0, R, A, "CPU 0/KVM");		/* idle 1 */
	drive_close(&d);
	assert_int_equal(LONGEST(&d, "tid"), A);
	assert_int_equal(LONGEST(&d, "start_ns"), 10 * MS);
	assert_int_equal(LONGEST(&d, "duration_ns"), 11 * MS);
	assert_int_equal(LONGEST(&d, "idle_ns"), 3 * MS);
	assert_int_equal(LONGEST(&d, "sibling_ns"), 3 * MS);
	assert_int_equal(LONGEST(&d, "other_ns"), 5 * MS);
	assert_int_equal(LONGEST(&d, "unknown_ns"), 0);
	assert_int_equal(LONGEST(&d, "began = 'woken'"), 1);
	assert_int_equal(LONGEST(&d, "cpu"), 0);
	assert_int_equal(LONGEST(&d, "top_tid"), OTHER);
	assert_int_equal(LONGEST(&d, "sibling_tid"), B);
	assert_int_equal(LONGEST(&d, "refills"), 0);
	assert_int_equal(drive_int(&d,
				   "SELECT count(*) FROM runq_wait WHERE "
				   "idle_ns + sibling_ns + other_ns + unknown_ns <> duration_ns"),
			 0);
	assert_int_equal(drive_int(&d, "SELECT count FROM histogram WHERE name = 'runq'"
				   " AND low_ns <= 11000000 AND high_ns > 11000000"), 1);
	drive_free(&d);
}

/*
 * The other vCPU gets the CPU after each idle half of the period while this one waits: refills
 * are counted.
 */
static void test_refills(void **state)
{
	struct drive d;
	uint64_t t = 100 * MS;
	int i;

	(void)state;
	open_vm(&d);
	drive_switch(&d, t, 0, 0, R, A, "CPU 0/KVM");
	drive_switch(&d, t + MS, 0, A, R, B, "CPU 1/KVM");
	for (i = 0; i < 5; i++, t += 100 * MS) {
		drive_switch(&d, t + 50 * MS, 0, B, R, 0, IDLE);
		drive_switch(&d, t + 100 * MS, 0, 0, R, B, "CPU 1/KVM");
	}
	drive_switch(&d, t + 10 * MS, 0, B, R, A, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(LONGEST(&d, "tid"), A);
	assert_int_equal(LONGEST(&d, "began = 'preempted'"), 1);
	assert_int_equal(LONGEST(&d, "duration_ns"), 509 * MS);
	assert_int_equal(LONGEST(&d, "refills"), 5);
	assert_int_equal(LONGEST(&d, "idle_ns"), 250 * MS);
	assert_int_equal(LONGEST(&d, "sibling_ns"), 259 * MS);
	assert_int_equal(LONGEST(&d, "weight_jump"), 0);
	/* B itself came back from idle five times, at one phase of 100 ms. */
	assert_int_equal(
		drive_int(&d,
			  "SELECT period_ns FROM throttle WHERE origin = 'waits' AND inferred = 1"),
		100 * MS);
	assert_int_equal(drive_int(&d, "SELECT count FROM throttle WHERE origin = 'waits'"), 5);
	drive_free(&d);
}

/*
 * Waking CPU, then moved before the wakeup (placing); later moved again: its account goes on over
 * there.
 */
static void test_moves(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_switch(&d, 10 * MS, 0, 0, R, OTHER, "make");
	drive_wake(&d, EV_SCHED_WAKING, 20 * MS, 0, OTHER, A, "CPU 0/KVM", 0);
	drive_migrate(&d, 20 * MS + 1000, 0, OTHER, A, 0, 1);
	drive_wake(&d, EV_SCHED_WAKEUP, 20 * MS + 2000, 0, OTHER, A, "CPU 0/KVM", 1);
	drive_switch(&d, 25 * MS, 1, 0, R, A, "CPU 0/KVM");
	drive_switch(&d, 30 * MS, 1, A, R, B, "CPU 1/KVM");
	drive_migrate(&d, 37 * MS, 0, OTHER, A, 1, 0);
	drive_switch(&d, 41 * MS, 0, OTHER, S, A, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT cpu FROM runq_wait WHERE duration_ns = 5000000"), 1);
	assert_int_equal(drive_int(&d, "SELECT idle_ns FROM runq_wait WHERE duration_ns = 5000000"),
			 5 * MS - 1000);
	assert_int_equal(LONGEST(&d, "duration_ns"), 11 * MS);
	assert_int_equal(LONGEST(&d, "cpu IS NULL"), 1);
	assert_int_equal(LONGEST(&d, "sibling_ns"), 7 * MS);
	assert_int_equal(LONGEST(&d, "other_ns"), 4 * MS);
	drive_free(&d);
}

/* Moved without a record of it: nothing is claimed about who was in the way. */
static void test_moved_unseen(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_wake(&d, EV_SCHED_WAKEUP, 20 * MS, 1, OTHER, A, "CPU 0/KVM", 0);
	drive_switch(&d, 25 * MS, 1, 0, R, A, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(LONGEST(&d, "duration_ns"), 5 * MS);
	assert_int_equal(LONGEST(&d, "unknown_ns"), 5 * MS);
	assert_int_equal(LONGEST(&d, "cpu IS NULL"), 1);
	drive_free(&d);
}

/*
 * A loss on the CPU drops the wait; elsewhere it does not. A switch-out of another than the one
 * switched in is unknown time.
 */
static void test_losses(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_wake(&d, EV_SCHED_WAKEUP, 20 * MS, 1, OTHER, A, "CPU 0/KVM", 0);
	drive_lost(&d, 22 * MS, 0, 7);
	drive_switch(&d, 25 * MS, 0, 0, R, A, "CPU 0/KVM");
	drive_switch(&d, 30 * MS, 0, A, S, 0, IDLE);
	drive_wake(&d, EV_SCHED_WAKEUP, 40 * MS, 1, OTHER, A, "CPU 0/KVM", 0);
	drive_lost(&d, 41 * MS, 1, 7);
	drive_switch(&d, 43 * MS, 0, OTHER, S, B, "CPU 1/KVM");	/* idle was switched in at 30 */
	drive_switch(&d, 44 * MS, 0, B, S, A, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_wait"), 1);
	assert_int_equal(LONGEST(&d, "duration_ns"), 4 * MS);
	assert_int_equal(LONGEST(&d, "unknown_ns"), 3 * MS);
	assert_int_equal(LONGEST(&d, "sibling_ns"), 1 * MS);
	drive_free(&d);
}

/*
 * Blocked, then running without a wake-up: no wait is invented. One that is not over at the end
 * is marked.
 */
static void test_no_wakeup_and_unfinished(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_switch(&d, 5 * MS, 0, 0, R, A, "CPU 0/KVM");
	drive_switch(&d, 6 * MS, 0, A, S, 0, IDLE);
	drive_switch(&d, 70 * MS, 0, 0, R, A, "CPU 0/KVM");
	drive_switch(&d, 80 * MS, 0, A, R, OTHER, "make");
	drive_switch(&d, 95 * MS, 0, OTHER, S, 0, IDLE);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_wait"), 1);
	assert_int_equal(LONGEST(&d, "unfinished"), 1);
	assert_int_equal(LONGEST(&d, "duration_ns"), 15 * MS);
	assert_int_equal(LONGEST(&d, "other_ns"), 15 * MS);
	drive_free(&d);
}

/* Many waiting at once on one CPU: each account still adds up, and idle time is exact. */
static void test_many_waiters(void **state)
{
	struct drive d;
	char comm[16];
	int i;

	(void)state;
	drive_open(&d);
	for (i = 0; i < 100; i++) {
		snprintf(comm, sizeof(comm), "CPU %d/KVM", i);
		drive_comm(&d, 0, 1000 + i, 9, comm, TASK_SYNTH);
	}
	drive_switch(&d, MS, 0, OTHER, S, 0, IDLE);
	for (i = 0; i < 100; i++)
		drive_wake(&d, EV_SCHED_WAKEUP, 2 * MS, 1, OTHER, 1000 + i, "", 0);
	drive_switch(&d, 5 * MS, 0, 0, R, OTHER, "make");
	drive_switch(&d, 9 * MS, 0, OTHER, S, 0, IDLE);
	drive_switch(&d, 10 * MS, 0, 0, R, 1000, "CPU 0/KVM");
	for (i = 1; i < 100; i++)
		drive_switch(&d, 10 * MS, 0, 1000 + i - 1, S, 1000 + i, "");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_wait"), 100);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM runq_wait WHERE idle_ns = 4000000 AND other_ns = 4000000"
			" AND duration_ns = 8000000"),
		100);
	drive_free(&d);
}

/*
 * Down to MIN_SHARES and back with a jump of vruntime; the wait that begins right then is marked,
 * no other.
 */
static void test_weight_jump(void **state)
{
	struct drive d;

	(void)state;
	open_vm(&d);
	drive_switch(&d, 5 * MS, 0, 0, R, A, "CPU 0/KVM");
	drive_probe(&d, "reweight_entity", 6 * MS, 0, A, 0xffff888000001000, 1048576, 2,
		    1000000000);
	drive_probe(&d, "reweight_entity", 6 * MS, 0, A, 0xffff888000002000, 1048576, 2, 500);
	drive_switch(&d, 7 * MS, 0, A, R, B, "CPU 1/KVM");
	drive_switch(&d, 9 * MS, 0, B, R, A, "CPU 0/KVM");
	drive_probe(&d, "reweight_entity", 10 * MS, 0, A, 0xffff888000001000, 2, 1048576,
		    3000000000);
	drive_probe(&d, "reweight_entity", 10 * MS, 1, OTHER, 0xffff888000002000, 2, 1048576, 500);
	drive_switch(&d, 11 * MS, 0, A, R, B, "CPU 1/KVM");
	drive_switch(&d, 31 * MS, 0, B, R, A, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM reweight_jump"), 2);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM reweight_jump WHERE se = '0xffff888000001000' AND"
			" vruntime_jump_ns = 2000000000 AND low_weight = 2 AND weight = 1048576 AND"
			" down_ns = 6000000 AND up_ns = 10000000"),
		1);
	assert_int_equal(LONGEST(&d, "weight_jump"), 1);
	assert_int_equal(drive_int(&d, "SELECT sum(weight_jump) FROM runq_wait"), 1);
	drive_free(&d);
}

/* The longest 8 of a thread stay, whatever others have. */
static void test_kept_per_thread(void **state)
{
	struct drive d;
	uint64_t t = 10 * MS;
	int i;

	(void)state;
	open_vm(&d);
	for (i = 0; i < 300; i++, t += 40 * MS) {
		drive_wake(&d, EV_SCHED_WAKEUP, t, 1, OTHER, A, "CPU 0/KVM", 0);
		drive_switch(&d, t + 10 * MS + (uint64_t)i, 0, 0, R, A, "CPU 0/KVM");
		drive_switch(&d, t + 11 * MS, 0, A, S, 0, IDLE);
		if (i % 10)
			continue;
		drive_wake(&d, EV_SCHED_WAKEUP, t + 12 * MS, 1, OTHER, B, "CPU 1/KVM", 0);
		drive_switch(&d, t + 12 * MS + (uint64_t)i + 10, 0, 0, R, B, "CPU 1/KVM");
		drive_switch(&d, t + 13 * MS, 0, B, S, 0, IDLE);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_wait WHERE tid = 10"), 200);
	assert_int_equal(drive_int(&d, "SELECT min(duration_ns) FROM runq_wait WHERE tid = 10"),
			 10 * MS + 100);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_wait WHERE tid = 11"), 8);
	assert_int_equal(drive_int(&d, "SELECT min(duration_ns) FROM runq_wait WHERE tid = 11"),
			 230);
	drive_free(&d);
}

/* Returns at random times are slow wake-ups, not throttling. */
static void test_no_throttle_at_random(void **state)
{
	struct drive d;
	uint64_t t = 10 * MS, seed = 12345;
	int i;

	(void)state;
	open_vm(&d);
	for (i = 0; i < 40; i++) {
		drive_wake(&d, EV_SCHED_WAKEUP, t, 1, OTHER, A, "CPU 0/KVM", 0);
		drive_switch(&d, t + 5 * MS, 0, 0, R, A, "CPU 0/KVM");
		drive_switch(&d, t + 6 * MS, 0, A, S, 0, IDLE);
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		t += 7 * MS + (seed >> 40) % (150 * MS);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM throttle"), 0);
	drive_free(&d);
}

/* Three returns at one phase are enough; three that merely come near are not. */
static void three_returns(uint64_t off, int rows)
{
	struct drive d;
	int i;

	open_vm(&d);
	for (i = 1; i < 4; i++) {
		uint64_t t = 100 * MS * (uint64_t)(i * i) + (i == 3 ? off : 0);

		drive_wake(&d, EV_SCHED_WAKEUP, t - 40 * MS, 1, OTHER, A, "CPU 0/KVM", 0);
		drive_switch(&d, t, 0, 0, R, A, "CPU 0/KVM");
		drive_switch(&d, t + 6 * MS, 0, A, S, 0, IDLE);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM throttle WHERE period_ns = 100000000 AND count = 3"), rows);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM throttle"), rows);
	drive_free(&d);
}

static void test_three_returns(void **state)
{
	(void)state;
	three_returns(MS / 2, 1);
	three_returns(3 * MS, 0);
}

static void test_throttle_probes(void **state)
{
	struct drive d;
	uint64_t t = 100 * MS;
	int i;

	(void)state;
	open_vm(&d);
	for (i = 0; i < 6; i++, t += 50 * MS) {
		drive_probe(&d, "p_throttle_cfs_rq_0", t + 20 * MS, 0, A, 0x1000, 0, 0, 0);
		drive_probe(&d, "p_throttle_cfs_rq_0", t + 30 * MS, 1, B, 0x2000, 0, 0, 0);
		drive_probe(&d, "p_unthrottle_cfs_rq_0", t + 50 * MS, 0, A, 0x1000, 0, 0, 0);
		drive_probe(&d, "p_unthrottle_cfs_rq_0", t + 50 * MS, 0, A, 0x2000, 0, 0, 0);
		drive_probe(&d, "vmx_vcpu_run", t + 50 * MS, 0, A, 0x2000, 0, 0, 0);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM throttle"), 1);
	assert_int_equal(
		drive_int(&d, "SELECT count FROM throttle WHERE origin = 'probe' AND inferred = 0"),
		12);
	assert_int_equal(drive_int(&d, "SELECT period_ns FROM throttle"), 50 * MS);
	assert_int_equal(drive_int(&d, "SELECT throttled_ns FROM throttle"), 6 * 50 * MS);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM throttle, vm WHERE vm.id = vm_id AND vm.tgid = 9"), 1);
	assert_int_equal(drive_int(&d, "SELECT tasks = '[10,11]' FROM throttle"), 1);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_adds_up),
		cmocka_unit_test(test_refills),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_moved_unseen),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_no_wakeup_and_unfinished),
		cmocka_unit_test(test_many_waiters),
		cmocka_unit_test(test_weight_jump),
		cmocka_unit_test(test_kept_per_thread),
		cmocka_unit_test(test_no_throttle_at_random),
		cmocka_unit_test(test_three_returns),
		cmocka_unit_test(test_throttle_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
