// SPDX-License-Identifier: GPL-2.0-or-later
/* test_journal.c - the journal with all its fields: export, JSON of many lines; boots, clocks. */
#include "axis.h"
#include "facts.h"

#define ROWS	"SELECT group_concat(kind || ':' || coalesce(time_ns, '-') || ':' || coalesce(tid, '-'), ' ') FROM (SELECT * FROM log_line ORDER BY id)"
#define BOOT	"2a8f0c6e4d0b4b0f9a3c5f1e7d9b1a11"

static void test_export(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/journal-export-binary-message.export");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "journal export read ");
	/* the kernel's own stamps; a daemon's line that quotes the kernel is none */
	assert_sql_str(db, ROWS, "soft_lockup:8999700000:176 call_trace:8999900000:176");
	assert_sql_str(db, "SELECT frames FROM stack JOIN log_line ON stack_id = stack.id WHERE kind = 'soft_lockup'",
		       "kvm_vcpu_ioctl+0x1/0x2 [kvm]");
	/* the message's second and third line are lines of their own, at its place */
	assert_sql_str(db, "SELECT text FROM log_line WHERE kind = 'soft_lockup'",
		       "watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [CPU 0/KVM:176]");
	assert_sql_int(db, "SELECT c.line FROM log_line l JOIN cite c ON c.id = l.cite_id WHERE kind = 'soft_lockup'", 19);
	assert_sql_str(db, "SELECT host || ' ' || kernel || ' ' || clock FROM source", "kvmhost 6.1.0-50-amd64 sched");
	assert_fact(db, "kernel.boot_id", BOOT);
	/* the least difference of the journal's wall clock and the kernel's stamp */
	assert_sql_str(db, "SELECT clock_offset_ns FROM source", "1796061740000200000");
	assert_sql_int(db, "SELECT clock_uncertainty_ns FROM source", 5000000 + 8999850000 / 10000);
	assert_all_cited(db, "log_line");
	case_close(db);
}

static void test_pretty(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/journal-json-pretty-two-boots.json");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "dmesg read ");
	assert_sql_str(db, ROWS, "rt_throttling:5499400000:- soft_lockup:650000000:77");
	/* each boot has a clock of its own */
	assert_sql_str(db, "SELECT group_concat(path || '=' || (SELECT substr(value, 1, 4) FROM fact f WHERE f.source_id = s.id AND "
		       "f.key = 'kernel.boot_id'), ' ') FROM source s",
		       "forms/journal-json-pretty-two-boots.json=2a8f forms/journal-json-pretty-two-boots.json#boot-2=9999");
	assert_sql_int(db, "SELECT c.line FROM log_line l JOIN cite c ON c.id = l.cite_id WHERE kind = 'rt_throttling'", 10);
	assert_sql_str(db, "SELECT task FROM log_line WHERE kind = 'soft_lockup'", "a\"b");
	case_close(db);
}

/* A journal of one boot, and another form of it: one axis, the wall clock's. */
static void test_axis(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/journal-export-binary-message.export");
	facts_file(db, "forms/journal-json-pretty-two-boots.json");
	facts_ok(axis_relate(db));
	assert_sql_int(db, "SELECT count(DISTINCT axis) FROM axis", 1);
	assert_sql_str(db, "SELECT group_concat(DISTINCT clock) FROM axis", "wall");
	assert_sql_str(db, "SELECT group_concat(boot) FROM (SELECT boot FROM axis ORDER BY source_id)", "1,1,3");
	/* the shorter log's is the surer: 400 us later, and within what is stated */
	assert_sql_int(db, "SELECT offset_ns FROM axis ORDER BY source_id LIMIT 1", 1796061740000600000);
	assert_sql_int(db, "SELECT uncertainty_ns FROM axis ORDER BY source_id LIMIT 1", 5001000);
	case_close(db);
}

/* As jq prints the same, an array of objects; and one line a record, with json-seq's separator. */
static void test_variants(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "a.json", "[\n  {\n    \"_TRANSPORT\": \"kernel\",\n    \"__REALTIME_TIMESTAMP\": \"1796061740000000\",\n"
		   "    \"_BOOT_ID\": \"" BOOT "\",\n    \"MESSAGE\": \"sched: RT throttling activated\"\n  },\n"
		   "  {\n    \"_TRANSPORT\": \"syslog\",\n    \"MESSAGE\": \"x\"\n  }\n]\n");
	facts_text(db, "b.json", "\x1e{\"__REALTIME_TIMESTAMP\":\"1\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"sched: RT throttling activated\"}\n");
	facts_text(db, "c.json", "data: {\"__REALTIME_TIMESTAMP\":\"1\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"sched: RT throttling activated\"}\n\n");
	assert_sql_str(db, "SELECT group_concat(format || status) FROM member", "dmesgread,dmesgread,dmesgread");
	assert_sql_str(db, ROWS, "rt_throttling:1796061740000000000:- rt_throttling:1000:- rt_throttling:1000:-");
	case_close(db);
}

/* Lengths that reach beyond the file, and what follows is still read. */
static void test_damaged(void **state __unused)
{
	static const char text[] =
		"__CURSOR=a\n__REALTIME_TIMESTAMP=1796061740000000\n__MONOTONIC_TIMESTAMP=1\n_BOOT_ID=" BOOT "\n_TRANSPORT=kernel\n"
		"MESSAGE\n\xff\xff\xff\xff\xff\xff\xff\x7f" "cut\n\n"
		"__CURSOR=b\n__REALTIME_TIMESTAMP=1796061740000001\n__MONOTONIC_TIMESTAMP=2\n_TRANSPORT=kernel\n"
		"MESSAGE=sched: RT throttling activated\n\n__CURSOR=c\nbad name\n";
	struct case_db *db = facts_new();

	facts_mem(db, "j", text, sizeof(text) - 1);
	assert_sql_str(db, "SELECT status || ' ' || message FROM member",
		       "partly journal export: 2 places are cut or damaged; 1 entries were read");
	assert_sql_str(db, ROWS, "rt_throttling:2000:-");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export),	 cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_axis),	 cmocka_unit_test(test_variants),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
