// SPDX-License-Identifier: GPL-2.0-or-later
/* test_perf_top.c - screens of perf top in all their layouts. */
#include "facts.h"

#define COUNTS	"SELECT group_concat(top || '=' || count || ' ' || event, ', ') FROM (SELECT k.top, c.count, c.event FROM stack_count c " \
		"JOIN stack k ON k.id = c.stack_id ORDER BY c.count DESC, k.top)"

static void test_screens(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/perf-top-stdio-two-screens.txt");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "perf top read ");
	/* one second of each screen: 0.6057 * 4030 + 0.5 * 1000; what has no share is not there */
	assert_sql_str(db, COUNTS, "queued_spin_lock_slowpath=2941 cpu-clock:pppH, qemu_clock_get_ns=806 cpu-clock:pppH, "
		       "kvm_vcpu_on_spin=100 cpu-clock:pppH");
	assert_fact(db, "perf.top.screens", "2");
	assert_fact(db, "perf.top.samples_per_s", "2515.0");
	assert_fact(db, "perf.top.kernel_percent", "73.7");
	assert_fact(db, "perf.top.guest_percent", "(null)");
	/* totals since the beginning, not added up */
	assert_sql_str(db, "SELECT group_concat(events || ' ' || what, ', ') FROM loss",
		       "40 samples lost, as perf top counted, 7 samples dropped as perf top was too slow");
	assert_all_cited(db, "stack_count");
	assert_sql_int(db, "SELECT c.line FROM loss l JOIN cite c ON c.id = l.cite_id LIMIT 1", 14);
	case_close(db);
}

/* The full-screen view's numbers only grow; prose around it is no row. */
static void test_pasted(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/perf-top-screen-pasted.txt");
	assert_sql_str(db, COUNTS, "tdp_mmu_zap_leafs=4956 cycles:P, _raw_read_lock=1044 cycles:P, address_space_translate=120 cycles:P");
	assert_sql_int(db, "SELECT count(*) FROM loss", 0);
	case_close(db);
}

static void test_grows(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "top.txt",
		   "Samples: 100 of event 'cycles', 4000 Hz, Event count (approx.): 5 lost: 0/0 drop: 0/0\n"
		   "Overhead  Shared Object  Symbol\n  50.00%  [kernel]  [k] a\n  10.00%  [kernel]  [k] b\n"
		   "Samples: 200 of event 'cycles', 4000 Hz, Event count (approx.): 9 lost: 0/0 drop: 0/0\n"
		   "Overhead  Shared Object  Symbol\n  60.00%  [kernel]  [k] a\n");
	assert_sql_str(db, COUNTS, "a=120 cycles");
	case_close(db);
}

static void test_guest(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/perf-top-guest-wrapped.txt");
	assert_sql_str(db, COUNTS, "native_safe_halt=800 cycles, vmx_vcpu_run=600 cycles");
	assert_fact(db, "perf.top.guest_percent", "65.0");
	assert_fact(db, "perf.top.kernel_percent", "30.0");
	case_close(db);
}

static void test_old(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/perf-top-before-3.8.txt");
	assert_sql_str(db, COUNTS, "_raw_spin_lock=100 cycles, kvm_arch_vcpu_ioctl_run=25 cycles");
	case_close(db);
}

static void test_callgraph(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/perf-top-callgraph.txt");
	assert_sql_str(db, COUNTS, "kvm_vcpu_ioctl=150 cycles");
	assert_sql_str(db, "SELECT status FROM member", "read");
	case_close(db);
}

static void test_no_rows(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "top.txt", "   PerfTop:       0 irqs/sec  kernel: 0.0%  exact:  0.0% lost: 0/0 drop: 0/0 [4000Hz cpu-clock],  (all, 2 CPUs)\n"
		   "-----\n\nMapped keys:\n\t[d]     display refresh delay.\t(2)\n");
	assert_sql_str(db, "SELECT format || ' ' || message FROM member", "perf top perf top without rows that have a symbol");
	assert_fact(db, "perf.top.samples_per_s", "0.0");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screens),	 cmocka_unit_test(test_pasted),
		cmocka_unit_test(test_grows),	 cmocka_unit_test(test_guest),
		cmocka_unit_test(test_old),	 cmocka_unit_test(test_callgraph),
		cmocka_unit_test(test_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
