// SPDX-License-Identifier: GPL-2.0-or-later
/* test_sched_debug.c - debugfs sched/debug: clocks, CPUs, throttled groups, tasks. */
#include "facts.h"
#include "snapshots.h"

static void test_new(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/sched-debug-throttled-6.12.txt");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "sched debug read ");
	assert_fact(db, "kernel.release", "6.12.9-kvmhost");
	assert_fact(db, "sched.cpu.0.nr_running", "4");
	assert_fact(db, "sched.cpu.0.nr_uninterruptible", "-3");
	assert_fact(db, "sched.cpu.1.curr_tid", "0");
	assert_fact(db, "sched.cfs.throttled", "1");
	assert_fact(db, "sched.rt.throttled", "1");
	assert_fact(db, "sched.cfs./machine.slice/vm1.scope/vcpu0.throttled_cpus", "0");
	/* the least weight is no news where nothing of the group is runnable */
	assert_fact(db, "sched.cfs./machine.slice/vm1.scope/vcpu0.min_shares_cpus", "0");
	assert_fact(db, "sched.rt./.throttled_cpus", "0");
	assert_fact(db, "task.28404.comm", "CPU 0/KVM");
	assert_fact(db, "task.28404.state", "R");
	assert_fact(db, "task.28404.run_ns", "13442500100");
	assert_fact(db, "task.28404.wait_ns", "5077000100");
	assert_fact(db, "task.28404.switches", "912");
	assert_fact(db, "task.28404.processor", "0");
	assert_fact(db, "task.28404.cgroup", "/machine.slice/vm1.scope/vcpu0");
	/* a slice of its own has a letter before it */
	assert_fact(db, "task.10.run_ns", "2839703905");
	assert_fact(db, "task.10.switches", "76003");
	assert_fact(db, "task.63.comm", "(null)");
	/* three clocks of one moment */
	assert_sql_str(db, "SELECT clock || ' ' || first_ns FROM source", "sched 30688612342237");
	assert_sql_int(db, "SELECT offset_ns FROM clock WHERE name = 'local'", 30688612342237 - 30688649764206);
	assert_sql_int(db, "SELECT offset_ns FROM clock WHERE name = 'mono'", 30688612342237 - 30688597374500);
	assert_sql_int(db, "SELECT c.line FROM fact f JOIN cite c ON c.id = f.cite_id WHERE key GLOB '*vcpu0.throttled_cpus'", 20);
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_old(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/sched-debug-4.18-no-dots.txt");
	assert_fact(db, "sched.cpu.3.nr_running", "1");
	assert_fact(db, "task.4711.wait_ns", "250000001");
	assert_fact(db, "task.4711.run_ns", "777000002");
	assert_fact(db, "task.4711.switches", "12345");
	assert_fact(db, "task.4711.processor", "3");
	assert_fact(db, "sched.clock_stable", "0");
	/* an unstable clock relates to nothing */
	assert_sql_int(db, "SELECT count(*) FROM clock", 0);
	case_close(db);
	db = facts_new();
	facts_file(db, "forms/sched-debug-3.10-exec-runtime.txt");
	assert_fact(db, "task.4711.comm", "qemu-kvm");
	assert_fact(db, "task.4711.run_ns", "777000002");
	assert_fact(db, "task.4711.wait_ns", "(null)");
	assert_fact(db, "task.4711.state", "R");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB 'task.13.*'", 0);
	case_close(db);
}

/* Taken twice: how long a vCPU waited between. */
static void test_twice(void **state __unused)
{
	static const char text[] = "Sched Debug Version: v0.11, 6.1.0 #1\ncpu#0, 1.000 MHz\n  .nr_switches                   : %d\n\nrunnable tasks:\n"
		" S            task   PID         tree-key  switches  prio     wait-time             sum-exec        sum-sleep\n-----\n"
		" S       CPU 0/KVM    77      9876.543210     12345   120       %d.000000       777.000002      1000.000000 0 0 /\n";
	struct case_db *db = facts_new();
	_cleanup_free_ char *one = xasprintf(text, 100, 5), *two = xasprintf(text, 300, 25);

	facts_text(db, "before/sched_debug", one);
	facts_text(db, "after/sched_debug", two);
	facts_ok(snapshots_pair(db));
	assert_fact(db, "task.77.wait_ns.delta", "20000000");
	assert_fact(db, "sched.cpu.0.nr_switches.delta", "200");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
