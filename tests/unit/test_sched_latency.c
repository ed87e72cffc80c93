// SPDX-License-Identifier: GPL-2.0-or-later
/* test_sched_latency.c - the table of perf sched latency in all its forms. */
#include "facts.h"

/* Founding case 4: no pid, no last column. */
static void test_founding_row(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/quota-sched-latency.txt");
	assert_sql_int(db, "SELECT count(*) FROM runq_delay", 1);
	assert_sql_str(db, "SELECT task || '/' || runtime_ns || '/' || switches || '/' || avg_delay_ns || '/' || max_delay_ns "
		       "FROM runq_delay WHERE tid IS NULL AND vcpu = 1 AND origin = 'table' AND max_delay_start_ns IS NULL",
		       "CPU 0/KVM/260261000/50/82017000/2510990000");
	assert_all_cited(db, "runq_delay");
	case_close(db);
}

static const char newer[] =
	"\n -----------------------------------------------------------------------------\n"
	"  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |\n"
	" -----------------------------------------------------------------------------\n"
	"  CPU 0/KVM:169         |   1017.314 ms |      114 | avg:  73.665 ms | max: 255.795 ms | max start:   124.095203 s | max end:   124.350997 s\n"
	"  kworker/1:0-mm_:22    |      0.000 ms |       16 | avg:   0.526 ms | max:   3.805 ms | max start:   156.847116 s | max end:   156.850921 s\n"
	"  perf:(2)              |     32.623 ms |        1 | avg:   0.000 ms | max:   0.000 ms | max start:     0.000000 s | max end:     0.000000 s\n"
	" -----------------------------------------------------------------------------\n"
	"  TOTAL:                |   2393.046 ms |      389 |\n"
	" ---------------------------------------------------\n\n"
	"  INFO: 0.308% lost events (6 out of 1945)\n";

static void test_newer(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "latency.txt", newer);
	assert_sql_str(db, "SELECT format || ' ' || status FROM member", "perf sched latency read");
	assert_sql_int(db, "SELECT count(*) FROM runq_delay", 3);
	assert_sql_str(db, "SELECT task || '/' || tid || '/' || max_delay_start_ns || '/' || max_delay_end_ns FROM runq_delay "
		       "WHERE vcpu = 1", "CPU 0/KVM/169/124095203000/124350997000");
	assert_sql_int(db, "SELECT tid FROM runq_delay WHERE task = 'kworker/1:0-mm_'", 22);
	assert_sql_int(db, "SELECT tid IS NULL AND max_delay_end_ns IS NULL FROM runq_delay WHERE task = 'perf'", 1);
	assert_sql_int(db, "SELECT c.line FROM runq_delay r JOIN cite c ON c.id = r.cite_id WHERE tid = 169", 5);
	case_close(db);
}

/*
 * `max at:` is the switch-in; the delay began max before it. Inside a mail, quoted, and wrapped
 * once.
 */
static void test_older_in_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "Subject: slow\n\nwe see this:\n\n"
		   ">  CPU 1/KVM:4711 |  260.261 ms |  50 | avg:   82.017 ms | max: 2510.990 ms | max at: 1000.510990 s\n"
		   ">  CPU 2/KVM:4712 |  260.261 ms |  50 | avg:   82.017 ms |\n"
		   ">  max: 100.000 ms | max at: 7.000000 s\n\n"
		   "Task | Runtime | was 2 ms | in other words: avg: fine\n");
	assert_sql_int(db, "SELECT count(*) FROM runq_delay", 2);
	assert_sql_int(db, "SELECT max_delay_start_ns FROM runq_delay WHERE tid = 4711", 998000000000);
	assert_sql_int(db, "SELECT max_delay_start_ns FROM runq_delay WHERE tid = 4712", 6900000000);
	case_close(db);
}

static void test_not_rows(void **state __unused)
{
	static const char *const lines[] = {
		"a:1 | 1.0 ms | x | avg: 1 ms | max: 1 ms |\n", "a:1 | 99999999999999999999 ms | 1 | avg: 1 ms | max: 1 ms |\n",
		"| 1.0 ms | 1 | avg: 1 ms | max: 1 ms |\n", "a:99999999999 | 1.0 ms | 1 | avg: 1 ms | max: 1 ms |\n",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		struct case_db *db = facts_new();

		facts_text(db, "x.txt", lines[i]);
		assert_sql_int(db, "SELECT count(*) FROM runq_delay", 0);
		case_close(db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_founding_row),
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_older_in_mail),
		cmocka_unit_test(test_not_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
