// SPDX-License-Identifier: GPL-2.0-or-later
/* test_bpftrace_timing.c - timed functions, their stacks, and which call lies in which. */
#include "facts.h"

static void test_founding_zap(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/numa-bpftrace-zap.txt");
	assert_sql_int(db, "SELECT count(*) FROM span WHERE origin = 'bpftrace'", 9);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE func = 'tdp_mmu_zap_leafs' AND parent_id = "
		       "(SELECT id FROM span WHERE func = 'task_numa_work')", 8);
	assert_sql_str(db, "SELECT func || ' ' || count || ' ' || total_ns || ' ' || max_ns FROM span_child",
		       "tdp_mmu_zap_leafs 8 19979000000 4846000000");
	assert_sql_int(db, "SELECT start_ns FROM span WHERE func = 'task_numa_work'", 1704971582005000000);
	assert_sql_int(db, "SELECT DISTINCT time_resolution_ns FROM span", 1000000000);
	/* the tracer's own frames are gone; one stack serves all */
	assert_sql_int(db, "SELECT count(*) FROM stack", 1);
	assert_sql_str(db, "SELECT depth || ' ' || top FROM stack", "14 tdp_mmu_zap_leafs");
	assert_sql_int(db, "SELECT count(*) FROM stack WHERE frames LIKE '%bpf_%'", 0);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE stack_id IS NOT NULL", 8);
	assert_sql_int(db, "SELECT min_threshold_ns FROM span_stat WHERE func = 'tdp_mmu_zap_leafs'", 500000000);
	assert_all_cited(db, "span");
	case_close(db);
}

static void test_founding_numa(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/numa-bpftrace.txt");
	assert_sql_str(db, "SELECT count || ' ' || max_ns || ' ' || tasks FROM span_stat", "12 21708000000 9");
	case_close(db);
}

/*
 * As in the report's mail: the parent first, one stack for all behind a sentence, the script in the
 * same text.
 */
static void test_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt",
		   "For instance, one takes ~20 seconds:\n\n"
		   "[1704971602] task_numa_work (tid=52035) took 19995 ms\n\n"
		   "For this thread there were\n\n"
		   "[1704971584] tdp_mmu_zap_leafs (tid=52035) took 2291 ms\n"
		   "[1704971602] tdp_mmu_zap_leafs (tid=52035) took 4846 ms\n"
		   "[1704971602] tdp_mmu_zap_leafs (tid=52036) took 4846 ms\n\n"
		   "The stacktrace is the same for all:\n\n"
		   "bpf_trampoline_380104735946+208\ntdp_mmu_zap_leafs+5\nkvm_unmap_gfn_range+347\n"
		   "task_numa_work+1029\ndo_syscall_64+96\n\n"
		   "kretfunc:vmlinux:tdp_mmu_zap_leafs /@start_zap[tid]/ {\n"
		   "\t$diff = nsecs - @start_zap[tid];\n"
		   "\tif ($diff > 700000000) {\n"
		   "\t\tprintf(\"tdp_mmu_zap_leafs (tid=%d) took %d ms\\n\", tid, $diff / 1000000);\n");
	assert_sql_int(db, "SELECT count(*) FROM span", 4);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE parent_id IS NOT NULL AND tid = 52035", 2);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE parent_id IS NOT NULL AND tid = 52036", 0);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE stack_id IS NOT NULL", 3);
	assert_sql_int(db, "SELECT min_threshold_ns FROM span_stat WHERE func = 'tdp_mmu_zap_leafs'", 700000000);
	assert_sql_int(db, "SELECT count(*) FROM span_stat WHERE func = 'task_numa_work' AND min_threshold_ns IS NULL", 1);
	case_close(db);
}

/* A zap whose stack does not lead through task_numa_work is no child of it, nor one longer than it.
 */
static void test_no_parent(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "b.txt", "Attaching 4 probes...\n"
		   "[1796061696] tdp_mmu_zap_leafs (tid=186) took 5051 us\n\n"
		   "        kvm_tdp_mmu_unmap_gfn_range+116\n        try_to_migrate_one+2325\n        rmap_walk_anon+221\n\n"
		   "[1796061697] tdp_mmu_zap_leafs (tid=187) took 9000 us\n"
		   "[1796061697] task_numa_work (tid=186) took 30000 us\n"
		   "[1796061697] task_numa_work (tid=187) took 800 us\n");
	assert_sql_int(db, "SELECT count(*) FROM span WHERE parent_id IS NOT NULL", 0);
	assert_sql_int(db, "SELECT count(*) FROM span", 4);
	case_close(db);
}

static void test_not_timings(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "b.txt", "@us[task_numa_work]:\n[512, 1K)          3 |@@@@@@@@   |\n"
		   "task_numa_work (tid=%d) took %d ms\n[1704971602] task_numa_work (tid=-1) took 5 ms\n"
		   "[1704971602] task_numa_work (tid=5) took 5 minutes\n"
		   "[1704971602] task_numa_work (tid=5) took 99999999999999999999 ms\n");
	assert_sql_int(db, "SELECT count(*) FROM span", 0);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_founding_zap), cmocka_unit_test(test_founding_numa),
		cmocka_unit_test(test_mail),	     cmocka_unit_test(test_no_parent),
		cmocka_unit_test(test_not_timings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
