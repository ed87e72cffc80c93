// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_sched_timehist.c - perf sched timehist with and without states, its summaries, and perf
 * sched map.
 */
#include "facts.h"

#define HEAD										\
	"           time    cpu  task name                       wait time  sch delay   run time\n"	\
	"                        [tid/pid]                          (msec)     (msec)     (msec)\n"	\
	"--------------- ------  ------------------------------  ---------  ---------  ---------\n"
#define ROW	"SELECT task || '/' || tid || '/' || switches || '/' || total_delay_ns || '/' || max_delay_ns || '/' || "	\
		"ifnull(max_delay_start_ns, '-') || '/' || ifnull(max_delay_end_ns, '-') || '/' || oncpu_ns FROM runq_delay "	\
		"WHERE origin = 'timehist' AND "

static void test_delays(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "timehist.txt", HEAD
		"      10.000000 [0000]  CPU 0/KVM[169/160]                  5.000      0.500      2.000 \n"
		"      10.100000 [0003]  <idle>                              0.000      0.000     90.000 \n"
		"      10.200000 [0001]  CPU 0/KVM[169/160]                100.000      1.500     50.000    schedule <- [unknown]\n"
		"      10.300000 [0000]  a [b] c[7]                          0.000      0.000      1.000 \n"
		"      10.300001 [0000]  a [b] c[7]                          awakened: migration/1[20]\n"
		"      10.300002 [0000]  :-1[-1/161]                         0.000      9.000      1.000 \n");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || message FROM member", "perf sched timehist read waits of "
		       "preempted tasks are not in it: recorded with --state they would be");
	assert_sql_int(db, "SELECT count(*) FROM runq_delay", 2);
	assert_sql_str(db, ROW "vcpu = 1", "CPU 0/KVM/169/2/2000000/1500000/10148500000/10150000000/52000000");
	assert_sql_str(db, ROW "tid = 7", "a [b] c/7/0/0/0/-/-/1000000");
	assert_sql_str(db, "SELECT first_ns || ' ' || last_ns || ' ' || cpus || ' ' || clock FROM source",
		       "10000000000 10300002000 4 sched");
	assert_sql_int(db, "SELECT c.line FROM runq_delay r JOIN cite c ON c.id = r.cite_id WHERE vcpu = 1", 6);
	case_close(db);
}

/* Behind a line that ends in R the whole `wait time` was spent runnable. */
static void test_states(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "timehist.txt", HEAD
		"      10.000000 [0000]  CPU 0/KVM[169/160]                  5.000      0.500      2.000      R \n"
		"      10.200000 [0001]  CPU 0/KVM[169/160]                150.000      0.000     50.000      S \n"
		"      10.300000 [0001]  CPU 0/KVM[169/160]                 90.000      0.250     10.000      W  next: x[3]\n"
		"      10.400000 [0001]  s    CPU 0/KVM[169/160]            70.000      0.000     10.000      S \n");
	assert_sql_str(db, ROW "1", "CPU 0/KVM/169/4/220750000/150000000/10000000000/10150000000/72000000");
	assert_sql_int(db, "SELECT message IS NULL FROM member", 1);
	case_close(db);
}

static void test_wait_summary(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "summary.txt",
		"\nWait-time summary\n"
		"                          comm  parent   sched-in     run-time      sleep      iowait     preempt       delay\n"
		"                                          (count)       (msec)     (msec)      (msec)      (msec)       (msec)\n"
		"---------------------------------------------------------------------------------------------------------------------\n"
		"            CPU 1/KVM[153/150]     150        186     7405.342  14290.367       0.000    7600.500       7.500 \n\n"
		"Terminated tasks:\n  <no terminated tasks>\n\nIdle stats:\n    CPU  0 idle for   9864.524  msec  ( 98.12%)\n"
		"    CPU  12 idle entire time window\n\n    Total number of unique tasks: 17\nTotal number of context switches: 1154\n"
		"           Total run time (msec): 5227.158 \n    Total scheduling time (msec): 10053.475  (x 2)\n");
	assert_sql_str(db, "SELECT status || ifnull(message, '') FROM member", "read");
	assert_sql_str(db, "SELECT task || '/' || switches || '/' || total_delay_ns || '/' || avg_delay_ns || '/' || "
		       "ifnull(max_delay_ns, '-') || '/' || oncpu_ns FROM runq_delay", "CPU 1/KVM/186/7608000000/40903225/-/7405342000");
	assert_fact(db, "perf.sched.cpu.0.idle_pct", "98.12");
	assert_fact(db, "perf.sched.cpu.12.idle_pct", "100");
	assert_fact(db, "perf.sched.context_switches", "1154");
	assert_fact(db, "perf.sched.run_ms", "5227.158");
	assert_fact(db, "perf.sched.span_ms", "10053.475");
	case_close(db);
}

static void test_real_files(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "perf-texts/d-quota-kvm-sched.timehist-summary.txt");
	assert_sql_str(db, "SELECT status || ' ' || message FROM member",
		       "read a Runtime summary has no waits: perf sched timehist --state -s has");
	assert_sql_int(db, "SELECT count(*) FROM runq_delay", 0);
	assert_sql_int(db, "SELECT count(*) FROM fact f JOIN cite c ON c.id = f.cite_id WHERE c.text LIKE '%idle for%'", 2);
	case_close(db);
}

static void test_map(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "map.txt",
		"  *A0          49.143881 secs A0 => migration/0:16\n"
		"  *.           49.144103 secs .  => swapper:0\n"
		"   .  *B0      49.144961 secs B0 => migration/1:20\n"
		"   .  *.       49.145185 secs \n");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || message FROM member", "perf sched timehist ignored perf sched map "
		       "from 49.143881 to 49.145185 s, 2 CPUs: who ran where, without the waits; send the perf.data or its perf "
		       "script text");
	assert_sql_int(db, "SELECT count(*) FROM source", 0);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_wait_summary),
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
