// SPDX-License-Identifier: GPL-2.0-or-later
/* test_kvm_stat_log.c - kvm_stat -l and -c; counters taken twice under numbers. */
#include "facts.h"
#include "snapshots.h"

static void test_log(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/kvm_stat-log-heading-again.txt");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "kvm_stat log read ");
	assert_fact(db, "kvmstat.kvm_exit.delta", "2000");
	assert_fact(db, "kvmstat.kvm_exit(HLT).delta", "10");
	/* three rows, two seconds each */
	assert_fact(db, "kvmstat.kvm_exit.per_s", "333");
	assert_fact(db, "kvmstat.kvm_exit.per_s.max", "500");
	assert_fact(db, "kvmstat.kvm_exit(HLT).per_s", "1.7");
	/* the second heading has other columns */
	assert_fact(db, "kvmstat.kvm_ack_irq.delta", "5");
	assert_fact(db, "kvmstat.kvm_entry.delta", "1993");
	/* stood still: a number, no rate */
	assert_fact(db, "kvmstat.kvm_fpu.delta", "0");
	assert_fact(db, "kvmstat.kvm_fpu.per_s", "(null)");
	assert_sql_str(db, "SELECT snapshot || ' ' || side FROM fact WHERE key = 'kvmstat.kvm_exit.delta'", "2026-12-01 10:20:30..10:20:34 host");
	assert_sql_int(db, "SELECT c.line FROM fact f JOIN cite c ON c.id = f.cite_id WHERE key = 'kvmstat.kvm_exit.per_s.max'", 5);
	assert_sql_str(db, "SELECT clock || ' ' || (last_ns - first_ns) FROM source", "wall-local 4000000000");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_csv(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/kvm_stat-rows-left-out.csv");
	assert_sql_str(db, "SELECT format || ' ' || status FROM member", "kvm_stat log read");
	assert_fact(db, "kvmstat.exits.delta", "600");
	/* ten seconds, of which three have rows */
	assert_fact(db, "kvmstat.exits.per_s", "60");
	assert_fact(db, "kvmstat.exits.per_s.max", "300");
	assert_fact(db, "kvmstat.halt_exits.per_s", "0.2");
	case_close(db);
}

static void test_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/kvm_stat-before-5.7-in-mail.txt");
	assert_fact(db, "kvmstat.kvm_exit.delta", "120000");
	assert_fact(db, "kvmstat.kvm_exit.per_s", "60000");
	assert_fact(db, "kvmstat.kvm_ack_irq.delta", "4");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB 'kvmstat.*.delta'", 3);
	case_close(db);
}

/* Snapshots under numbers: kvm_stat's output, copies of debugfs; not parameters of modules. */
static void test_numbered(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "c/kvm_stat-1.txt", "kvm_exit            1000       20\nkvm_entry            990       20\n");
	facts_text(db, "c/kvm_stat-2.txt", "kvm_exit            1500       20\nkvm_entry           1480       20\n");
	facts_text(db, "c/kvm_stat-10.txt", "kvm_exit            1600       20\nkvm_entry           1580       20\n");
	facts_text(db, "c/debug-1/kvm/halt_exits", "7\n");
	facts_text(db, "c/debug-2/kvm/halt_exits", "17\n");
	facts_text(db, "c/kvm-before/4711-12/exits", "70\n");
	facts_text(db, "c/kvm-after/4711-12/exits", "170\n");
	facts_text(db, "c/kvm.1/remote_tlb_flush", "5\n");
	facts_text(db, "c/kvm.2/remote_tlb_flush", "6\n");
	facts_text(db, "sys/module/kvm_amd/refcnt", "6\n");
	facts_text(db, "node-1/proc/vmstat", "pgmigrate_success 5\nnr_free_pages 7\n");
	facts_text(db, "node-2/proc/vmstat", "pgmigrate_success 9\nnr_free_pages 7\n");
	facts_ok(snapshots_pair(db));
	assert_fact(db, "kvmstat.kvm_exit.delta", "500|100");
	assert_sql_str(db, "SELECT group_concat(snapshot) FROM fact WHERE key = 'kvmstat.kvm_exit.delta'", "1..2,2..10");
	assert_fact(db, "kvmstat.halt_exits.delta", "10");
	assert_fact(db, "kvmstat.4711-12.exits.delta", "100");
	assert_fact(db, "kvmstat.remote_tlb_flush.delta", "1");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB '*refcnt*' OR key = 'vmstat.pgmigrate_success.delta'", 0);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log), cmocka_unit_test(test_csv), cmocka_unit_test(test_mail),
		cmocka_unit_test(test_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
