// SPDX-License-Identifier: GPL-2.0-or-later
/* test_lscpu.c - lscpu -J, -e and -p. */
#include "facts.h"

static void test_json(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/lscpu-J-nested.json");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "cpuinfo read ");
	assert_fact(db, "cpu.arch", "x86_64");
	assert_fact(db, "cpu.count", "4");
	assert_fact(db, "cpu.online", "0-2");
	assert_fact(db, "cpu.offline", "3");
	assert_fact(db, "cpu.model", "Intel(R) Xeon(R) \"Gold\" 6230");
	assert_fact(db, "cpu.threads_per_core", "2");
	assert_fact(db, "cpu.flag.vmx", "yes");
	assert_fact(db, "cpu.flag.svm", "no");
	assert_fact(db, "numa.nodes", "2");
	assert_fact(db, "numa.node.1.cpus", "2,3");
	assert_fact(db, "cpu.vulnerability.itlb_multihit", "KVM; Mitigation: Split huge pages");
	assert_fact(db, "cpu.vulnerability.spectre_v2", "Mitigation: Retpolines");
	assert_sql_int(db, "SELECT c.line FROM fact f JOIN cite c ON c.id = f.cite_id WHERE key = 'cpu.count'", 14);
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_flat(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/lscpu-J-flat-one-line.json");
	assert_fact(db, "cpu.arch", "aarch64");
	assert_fact(db, "cpu.count", "64");
	assert_fact(db, "cpu.vulnerability.itlb_multihit", "Not affected");
	case_close(db);
}

static void test_extended(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/lscpu-e-offline-cpu.txt");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "lscpu read ");
	assert_fact(db, "cpu.count", "4");
	assert_fact(db, "cpu.online", "0-2");
	assert_fact(db, "cpu.offline", "3");
	assert_fact(db, "cpu.sockets", "2");
	assert_fact(db, "cpu.threads_per_core", "2");
	assert_fact(db, "cpu.core.0.cpus", "0,2");
	assert_fact(db, "cpu.core.1.cpus", "(null)");	/* has no sibling */
	assert_fact(db, "numa.nodes", "2");
	assert_fact(db, "numa.node.0.cpus", "0,2");
	assert_fact(db, "numa.node.1.cpus", "1");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_parsable(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/lscpu-p-chosen-columns.csv");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "lscpu read ");
	assert_fact(db, "cpu.count", "3");
	assert_fact(db, "cpu.offline", "2");
	assert_fact(db, "cpu.sockets", "(null)");
	assert_fact(db, "numa.node.0.cpus", "0-1");
	case_close(db);
	db = facts_new();
	facts_text(db, "default.csv", "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,0,0,0,,1,1,1,0\n");
	assert_fact(db, "cpu.core.0.cpus", "0-1");
	case_close(db);
}

static void test_extended_json(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/lscpu-e-J.json");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "lscpu read ");
	assert_fact(db, "cpu.count", "2");
	assert_fact(db, "cpu.sockets", "2");
	assert_fact(db, "cpu.offline", "1");
	assert_fact(db, "cpu.threads_per_core", "1");
	case_close(db);
}

static void test_in_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "Hi,\nlscpu -e says:\n\n> CPU NODE SOCKET CORE ONLINE\n>   0    0      0    0    yes\n>   1    1      0    0    yes\n\nand these:\n1 2 3 4 yes\n");
	assert_fact(db, "cpu.count", "2");
	assert_fact(db, "numa.nodes", "2");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),	 cmocka_unit_test(test_flat),
		cmocka_unit_test(test_extended), cmocka_unit_test(test_parsable),
		cmocka_unit_test(test_extended_json), cmocka_unit_test(test_in_mail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
