// SPDX-License-Identifier: GPL-2.0-or-later
/* test_cgroup.c - the cpu controller's files, and differences between snapshots. */
#include "facts.h"
#include "snapshots.h"

static const char dump[] =
	"== vm_tg/cpu.max\n20000 100000\n== vm_tg/cpu.stat\nusage_usec %u\nuser_usec 1\nsystem_usec 1\nnr_periods %u\n"
	"nr_throttled %u\nthrottled_usec %u\nnr_bursts 0\nburst_usec 0\n== vm_tg/cpu.weight\n100\n"
	"== vm_tg/tg_A/cgroup.threads\n169\n170\n== vm_tg/cpu.pressure\nsome avg10=87.18 avg60=43.02 avg300=11.35 total=36946813\n";

static void read_dump(struct case_db *db, const char *name, unsigned int usage,
		      unsigned int periods, unsigned int throttled, unsigned int usec)
{
	_cleanup_free_ char *text = xasprintf(dump, usage, periods, throttled, usec);

	facts_text(db, name, text);
}

static void test_dump(void **state __unused)
{
	struct case_db *db = facts_new();

	read_dump(db, "cgroup-after.txt", 14943090, 366, 366, 47433025);
	assert_sql_str(db, "SELECT format || ' ' || status FROM member", "cgroup read");
	assert_sql_str(db, "SELECT quota_ns || ' ' || period_ns || ' ' || weight || ' ' || usage_ns || ' ' || nr_periods || ' ' || nr_throttled "
		       "|| ' ' || throttled_ns || ' ' || snapshot || ' ' || version FROM cgroup WHERE path = 'vm_tg'",
		       "20000000 100000000 100 14943090000 366 366 47433025000 after 2");
	assert_sql_str(db, "SELECT threads FROM cgroup WHERE path = 'vm_tg/tg_A'", "[169,170]");
	assert_sql_str(db, "SELECT c.text FROM cgroup g JOIN cite c ON c.id = g.cite_id WHERE path = 'vm_tg'", "nr_throttled 366");
	facts_ok(snapshots_pair(db));
	assert_sql_str(db, "SELECT cgroup || ' ' || origin || ' ' || count || ' ' || throttled_ns || ' ' || json_array_length(cites) FROM throttle",
		       "vm_tg cpu.stat 366 47433025000 1");
	case_close(db);
}

/* One file a member: the row is one, whatever their order. */
static void test_single_files(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "sos/sys/fs/cgroup/machine.slice/vm.scope/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 0\nthrottled_usec 0\n");
	facts_text(db, "sos/sys/fs/cgroup/machine.slice/vm.scope/cpu.max", "max 100000\n");
	facts_text(db, "sos/sys/fs/cgroup/machine.slice/vm.scope/cpu.weight", "39\n");
	facts_text(db, "sos/sys/fs/cgroup/cpu,cpuacct/machine/vm/cpu.cfs_quota_us", "-1\n");
	facts_text(db, "sos/sys/fs/cgroup/cpu,cpuacct/machine/vm/cpu.cfs_period_us", "100000\n");
	facts_text(db, "sos/sys/fs/cgroup/cpu,cpuacct/machine/vm/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 123456\n");
	assert_sql_int(db, "SELECT count(*) FROM cgroup", 2);
	assert_sql_str(db, "SELECT quota_ns || ' ' || period_ns || ' ' || weight || ' ' || nr_periods FROM cgroup "
		       "WHERE path = 'machine.slice/vm.scope' AND version = 2", "-1 100000000 39 10");
	assert_sql_str(db, "SELECT quota_ns || ' ' || throttled_ns FROM cgroup WHERE path = 'machine/vm' AND version = 1", "-1 123456");
	case_close(db);
}

static void test_bad_files(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "x/cpu.max", "20000 100000 7\n");
	facts_text(db, "x/cpu.max.txt", "99999999999999999999 100000\n");
	facts_text(db, "x/cpu.weight", "heavy\n");
	assert_sql_int(db, "SELECT count(*) FROM cgroup", 0);
	case_close(db);
}

static void test_pairs(void **state __unused)
{
	struct case_db *db = facts_new();

	read_dump(db, "cgroup-after2.txt", 300, 694, 694, 94000);	/* read in the archive's order, not in time's */
	read_dump(db, "cgroup-after.txt", 200, 366, 366, 47000);
	read_dump(db, "cgroup-before.txt", 100, 25, 25, 3000);
	facts_text(db, "before/vmstat", "nr_free_pages 100\nnuma_pte_updates 10\nnuma_hit 7\n");
	facts_text(db, "after/vmstat", "nr_free_pages 50\nnuma_pte_updates 302125\nnuma_hit 3\n");
	facts_text(db, "uptime-before.txt", "11.77\n");
	facts_text(db, "uptime-after.txt", "32.93\n");
	facts_ok(snapshots_pair(db));
	assert_sql_str(db, "SELECT group_concat(count || ' ' || throttled_ns, '|') FROM (SELECT * FROM throttle ORDER BY throttled_ns)",
		       "341 44000000|328 47000000");
	assert_sql_int(db, "SELECT count(*) FROM throttle WHERE json_array_length(cites) = 2", 2);
	assert_sql_str(db, "SELECT value || ' ' || snapshot FROM fact WHERE key = 'vmstat.numa_pte_updates.delta'", "302115 before..after");
	assert_sql_int(db, "SELECT count(*) FROM fact f, json_each(f.cites) j JOIN cite c ON c.id = j.value "
		       "WHERE f.key = 'vmstat.numa_pte_updates.delta' AND c.text LIKE 'numa_pte_updates %'", 2);
	assert_fact(db, "vmstat.nr_free_pages.delta", "-50");	/* a gauge may fall */
	assert_fact(db, "vmstat.numa_hit.delta", "(null)");	/* a counter that fell: another boot */
	assert_fact(db, "proc.uptime_s.delta", "21.160");
	assert_fact(db, "cgroup.vm_tg.nr_periods.delta", "341|328");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_single_files),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
