// SPDX-License-Identifier: GPL-2.0-or-later
/* test_perf_trace.c - perf trace's calls, interrupted ones, its summaries. */
#include "facts.h"

#define SPAN	"SELECT func || '/' || ifnull(task, '-') || '/' || ifnull(tid, '-') || '/' || ifnull(start_ns, '-') || '/' || "	\
		"duration_ns || '/' || result FROM span WHERE origin = 'perf trace' AND "

static const char calls[] =
	"         ? (         ): createvm/472  ... [continued]: execve())                                           = 0\n"
	"     0.806 ( 0.041 ms): createvm/472 brk()                                                                 = 0x5346000\n"
	"    20.357 (168.388 ms): createvm/472 ioctl(fd: 4</dev/kvm>, cmd: KVM_CREATE_VM)                            = 5\n"
	"   189.398 ( 0.018 ms): CPU 0/KVM/473 ioctl(fd: 1</dev/null>, cmd: TCGETS, arg: 0x7ffc0981fb40)             = -1 ENOTTY (Inappropriate ioctl for device)\n"
	"  1845.239 (         ): createvm/478 ioctl(fd: 4</dev/kvm>, cmd: (READ|WRITE, 0xae, 0x1, 0x8))          ...\n"
	"  1850.000 (         ): createvm/479 futex(uaddr: 0x5, op: WAIT|PRIVATE_FLAG)          ...\n"
	"  1845.239 (274.865 ms): createvm/478  ... [continued]: ioctl())                                            = 5\n"
	"  1850.000 (300.000 ms): createvm/479  ... [continued]: futex())                                            = 0\n"
	"         ? (         ): createvm/480  ... [continued]: clone())                                            = \n"
	"  2000.000 (         ): createvm/480 sched:sched_switch(prev_comm: \"createvm\", prev_pid: 480)\n"
	"  2100.000 ( 2.000 ms): ioctl(fd: 9, cmd: 0xae80)                                                           = 0\n";

static void test_calls(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "perf-trace.txt", calls);
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "perf trace read ");
	assert_sql_int(db, "SELECT count(*) FROM span", 4);
	assert_sql_str(db, SPAN "tid = 472", "ioctl:KVM_CREATE_VM/createvm/472/20357000/168388000/5");
	/* its request stands on the line where it began */
	assert_sql_str(db, SPAN "tid = 478", "ioctl:KVM_CREATE_VM/createvm/478/1845239000/274865000/5");
	assert_sql_str(db, SPAN "tid = 479", "futex/createvm/479/1850000000/300000000/0");
	assert_sql_str(db, SPAN "tid IS NULL", "ioctl:KVM_RUN/-/-/2100000000/2000000/0");
	assert_sql_str(db, "SELECT name || '/' || tid || '/' || count || '/' || errors || '/' || max_ns FROM syscall_stat WHERE errors",
		       "ioctl:TCGETS/473/1/1/18000");
	assert_sql_str(db, "SELECT clock || ' ' || first_ns || ' ' || last_ns FROM source", "relative 806000 2100000000");
	assert_sql_int(db, "SELECT c.line FROM span s JOIN cite c ON c.id = s.cite_id WHERE tid = 478", 7);
	assert_all_cited(db, "syscall_stat");
	case_close(db);
}

#define TITLE										\
	"\n Summary of events:\n\n createvm (423), 204 events, 28.6%\n\n"		\
	"   syscall            calls  errors  total       min       avg       max       stddev\n"	\
	"                                     (msec)    (msec)    (msec)    (msec)        (%)\n"	\
	"   --------------- --------  ------ -------- --------- --------- ---------     ------\n"
#define ROWS										\
	"   wait4                 21      1   666.574     0.021    31.742   138.355     28.28%\n"	\
	"   execve                 1      0     0.000     0.000     0.000     0.000      0.00%\n\n\n"

static void test_summary(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "summary.txt", TITLE ROWS
		" CPU 0/KVM (429), 22 events, 3.1%\n\n"
		"   syscall            calls    total       min       avg       max      stddev\n"
		"   ioctl                  1   242.782   242.782   242.782   242.782      0.00%\n");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "perf trace read ");
	assert_sql_int(db, "SELECT count(*) FROM syscall_stat", 3);
	assert_sql_str(db, "SELECT count || '/' || errors || '/' || total_ns || '/' || min_ns || '/' || max_ns FROM syscall_stat "
		       "WHERE name = 'wait4' AND tid = 423", "21/1/666574000/21000/138355000");
	assert_sql_str(db, "SELECT count || '/' || errors || '/' || max_ns FROM syscall_stat WHERE tid = 429", "1/0/242782000");
	assert_sql_int(db, "SELECT count(*) FROM span", 0);
	assert_all_cited(db, "syscall_stat");
	case_close(db);
}

/* perf trace -S prints both: nothing counts twice. */
static void test_both(void **state __unused)
{
	_cleanup_free_ char *text = xasprintf("%s%s", calls, TITLE ROWS);
	struct case_db *db = facts_new();

	facts_text(db, "perf-trace.txt", text);
	assert_sql_int(db, "SELECT count(*) FROM syscall_stat WHERE name = 'wait4'", 0);
	assert_sql_int(db, "SELECT sum(count) FROM syscall_stat", 6);
	case_close(db);
}

static void test_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.eml",
		   "From: a@example.org\nSubject: slow start\n\nHello, perf trace (since 20.000) says:\n\n"
		   ">     20.357 (168.388 ms): createvm/472 ioctl(fd: 4</dev/kvm>, cmd: KVM_CREATE_VM)                  = 5\n"
		   "\nThat is 168.388 ms.\n");
	assert_sql_str(db, SPAN "1", "ioctl:KVM_CREATE_VM/createvm/472/20357000/168388000/5");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_mail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
