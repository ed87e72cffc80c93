// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_runq.c - run-queue delays as perf sched latency of perf 6.12 counts them; see
 * analyzer/an_runq.c.
 */
#include "drive.h"

#define S TSTATE_INTERRUPTIBLE
#define R TSTATE_RUNNABLE

#define ROW(d, tid, col) drive_int(d, "SELECT " col " FROM runq_delay WHERE tid = " #tid)

static void test_preempted_and_woken(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 1000, 0, 0, R, 10, "a");	/* first sight: one delay of 0 */
	drive_switch(&d, 2000, 0, 10, R, 11, "b");	/* a waits from 2000 */
	drive_switch(&d, 2700, 0, 11, S, 10, "a");	/* 700 */
	drive_wake(&d, EV_SCHED_WAKEUP, 3000, 1, 0, 11, "b", 0);
	drive_wake(&d, EV_SCHED_WAKEUP, 3100, 1, 0, 11, "b", 0);	/* runnable already: ignored */
	drive_switch(&d, 3250, 0, 10, TSTATE_PREEMPTED, 11, "b");	/* 250; R+ is runnable */
	drive_switch(&d, 4000, 0, 11, S, 10, "a");	/* 750 */
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_delay"), 2);
	assert_int_equal(ROW(&d, 10, "switches"), 3);
	assert_int_equal(ROW(&d, 10, "total_delay_ns"), 1450);
	assert_int_equal(ROW(&d, 10, "avg_delay_ns"), 483);
	assert_int_equal(ROW(&d, 10, "max_delay_ns"), 750);
	assert_int_equal(ROW(&d, 10, "max_delay_start_ns"), 3250);
	assert_int_equal(ROW(&d, 10, "max_delay_end_ns"), 4000);
	assert_int_equal(ROW(&d, 10, "oncpu_ns"), 1000 + 550);
	assert_int_equal(ROW(&d, 10, "runtime_ns"), 0);
	assert_int_equal(ROW(&d, 11, "switches"), 2);
	assert_int_equal(ROW(&d, 11, "max_delay_ns"), 250);
	drive_free(&d);
}

/* Where sched_waking is recorded, sched_wakeup does not count, not even where no waking came. */
static void test_wakings_before_wakeups(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 100, 0, 10, S, 0, "swapper/0");
	drive_wake(&d, EV_SCHED_WAKEUP, 150, 1, 0, 10, "a", 0);	/* before the first waking is seen */
	drive_switch(&d, 200, 0, 0, R, 10, "a");
	drive_switch(&d, 300, 0, 10, S, 0, "swapper/0");
	drive_wake(&d, EV_SCHED_WAKING, 400, 1, 0, 10, "a", 0);
	drive_wake(&d, EV_SCHED_WAKEUP, 450, 1, 0, 10, "a", 0);
	drive_switch(&d, 500, 0, 0, R, 10, "a");
	drive_close(&d);
	assert_int_equal(ROW(&d, 10, "switches"), 1);
	assert_int_equal(ROW(&d, 10, "total_delay_ns"), 100);
	drive_free(&d);
}

/* Declared but never come: perf looks at the declaration, so no wake-up counts. */
static void test_wakings_declared_only(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_type(&d, "sched", "sched_waking");
	drive_switch(&d, 100, 0, 10, S, 0, "swapper/0");
	drive_wake(&d, EV_SCHED_WAKEUP, 150, 1, 0, 10, "a", 0);
	drive_switch(&d, 200, 0, 0, R, 10, "a");
	drive_wake(&d, EV_SCHED_WAKEUP_NEW, 210, 1, 0, 12, "new", 0);	/* counts in either case */
	drive_switch(&d, 230, 0, 10, S, 12, "new");
	drive_close(&d);
	assert_int_equal(ROW(&d, 10, "switches"), -1);
	assert_int_equal(ROW(&d, 12, "total_delay_ns"), 20);
	drive_free(&d);
}

static void test_runtime_and_first_sight(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_runtime(&d, 100, 0, 10, 40);	/* first sight: waits from here, as perf has it */
	drive_switch(&d, 160, 0, 0, R, 10, "a");
	drive_runtime(&d, 200, 0, 10, 2);
	drive_wake(&d, EV_SCHED_WAKEUP, 300, 0, 0, 13, "c", 0);	/* first sight by a wake-up */
	drive_switch(&d, 330, 0, 10, S, 13, "c");
	drive_close(&d);
	assert_int_equal(ROW(&d, 10, "runtime_ns"), 42);
	assert_int_equal(ROW(&d, 10, "max_delay_ns"), 60);
	assert_int_equal(ROW(&d, 13, "max_delay_ns"), 30);
	drive_free(&d);
}

/*
 * A wake-up earlier than the switch-out is ignored; a switch-in earlier than the wake-up makes no
 * delay.
 */
static void test_unordered(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 500, 0, 10, S, 0, "swapper/0");
	drive_wake(&d, EV_SCHED_WAKEUP, 400, 1, 0, 10, "a", 0);
	drive_switch(&d, 600, 0, 0, R, 10, "a");
	drive_switch(&d, 700, 0, 10, R, 0, "swapper/0");
	drive_switch(&d, 650, 1, 0, R, 10, "a");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_delay"), 0);
	drive_free(&d);
}

/*
 * With COMM and FORK records the names are theirs, a reused tid has two rows, and the unnamed is
 * ":tid".
 */
static void test_names_by_records(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_fork(&d, 0, 10, 10, 1, 1);
	drive_comm(&d, 0, 10, 10, "first", TASK_SYNTH);
	drive_switch(&d, 100, 0, 10, R, 20, "named-by-switch");
	drive_switch(&d, 150, 0, 20, R, 10, "first");
	drive_switch(&d, 160, 0, 10, TSTATE_ZOMBIE, 20, "named-by-switch");
	drive_fork(&d, 170, 30, 30, 10, 10);
	drive_fork(&d, 180, 10, 30, 30,
		   30); /* tid 10 again, of another process; it inherits the name */
	drive_wake(&d, EV_SCHED_WAKEUP_NEW, 190, 0, 20, 10, "x", 0);
	drive_switch(&d, 200, 0, 20, S, 10, "x");
	drive_comm(&d, 210, 10, 30, "second", TASK_EXEC);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM runq_delay WHERE tid = 10"), 2);
	assert_int_equal(drive_int(&d, "SELECT max_delay_ns FROM runq_delay WHERE task = 'first'"),
			 50);
	assert_int_equal(drive_int(&d, "SELECT max_delay_ns FROM runq_delay WHERE task = 'second'"),
			 10);
	assert_int_equal(
		drive_int(&d, "SELECT count(*) FROM runq_delay WHERE task = ':20' AND tid = 20"),
		1);
	drive_free(&d);
}

static void test_vcpu_mark(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 100, 0, 0, R, 10, "CPU 3/KVM");
	drive_switch(&d, 200, 0, 10, R, 11, "qemu-system-x86");
	drive_entry(&d, 210, 0, 11, 0);
	drive_switch(&d, 300, 0, 11, S, 12, "bash");
	drive_close(&d);
	assert_int_equal(ROW(&d, 10, "vcpu"), 1);
	assert_int_equal(ROW(&d, 11, "vcpu"), 1);
	assert_int_equal(ROW(&d, 12, "vcpu"), 0);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preempted_and_woken),
		cmocka_unit_test(test_wakings_before_wakeups),
		cmocka_unit_test(test_wakings_declared_only),
		cmocka_unit_test(test_runtime_and_first_sight),
		cmocka_unit_test(test_unordered),
		cmocka_unit_test(test_names_by_records),
		cmocka_unit_test(test_vcpu_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
