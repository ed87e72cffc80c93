// SPDX-License-Identifier: GPL-2.0-or-later
/* test_kvm_stat.c - the tables of perf kvm stat report in all their forms. */
#include "facts.h"

#define ROW	"SELECT reason || '/' || count || '/' || ifnull(total_ns, '-') || '/' || ifnull(min_ns, '-') || '/' || "	\
		"ifnull(max_ns, '-') || '/' || mean FROM exit_stat WHERE origin = 'table' AND "

static void test_real(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "captures/D-quota-l2-20ms/oracle/perf-kvm-sched.data.kvmstat-vmexit.txt");
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "perf kvm stat read ");
	assert_sql_int(db, "SELECT count(*) FROM exit_stat WHERE event = 'vmexit' AND vcpu IS NULL", 6);
	assert_sql_int(db, "SELECT sum(count) FROM exit_stat", 319);
	assert_sql_str(db, ROW "reason = 'interrupt'", "interrupt/49/3819075190/20510/256187390/77940310.0");
	/* 0.00us is what perf prints where it has no least time */
	assert_sql_str(db, ROW "reason = 'io'", "io/182/2983902740/-/294363300/16395070.0");
	/* the deviation that perf printed comes out again: 20.98 % */
	assert_sql_int(db, "SELECT round(10000 * sqrt(m2 / (count - 1) / count) / mean) FROM exit_stat WHERE reason = 'io'", 2098);
	assert_sql_int(db, "SELECT c.line FROM exit_stat e JOIN cite c ON c.id = e.cite_id WHERE reason = 'hlt'", 11);
	assert_all_cited(db, "exit_stat");
	case_close(db);
}

/* Times of ten digits fill their columns; reasons have blanks. */
static void test_names(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "captures/A-healthy-perf-6.1/oracle/perf.data.kvmstat-vmexit.txt");
	facts_file(db, "captures/A-healthy-perf-6.1/oracle/perf.data.kvmstat-ioport.txt");
	facts_file(db, "captures/A-healthy-perf-6.1/oracle/perf.data.kvmstat-mmio.txt");
	assert_sql_int(db, "SELECT count(*) FROM member WHERE status = 'read' AND message IS NULL", 3);
	assert_sql_int(db, "SELECT count FROM exit_stat WHERE reason = 'UD excp'", 1);
	assert_sql_int(db, "SELECT max_ns FROM exit_stat WHERE event = 'ioport' AND reason = '0x518:POUT'", 1331576340);
	assert_sql_int(db, "SELECT count FROM exit_stat WHERE event = 'mmio' AND reason = '0xfec00010:R'", 308);
	case_close(db);
}

static const char older[] =
	"Analyze events for all VMs, all VCPUs:\n\n"
	"             VM-EXIT    Samples  Samples%     Time%         Avg time\n\n"
	"       EPT_VIOLATION         14    50.00%    25.00%      0.50us ( +-   1.50% )\n"
	"                 HLT         14    50.00%    75.00%      1.50us ( +-   0.00% )\n\n"
	"Total Samples:28, Total events handled time:28.00us.\n\n"
	"Analyze events for pid(s) 77, VCPU 3:\n\n"
	"             VM-EXIT    Samples  Samples%     Time%\n\n"
	"                 HLT          4    80.00%    75.00%\n\n"
	"Total Samples:5, Total events handled time:20.00us.\n\n"
	"Lost events: 12\n\n"
	"Analyze events for all VMs, VCPU 4:\n\n"
	"          MSR Access    Samples  Samples%     Time%    Min Time    Max Time         Avg time\n\n"
	"             0x830:W          1   100.00%   100.00%      2.00us     2.00us      2.00us ( +-   0.00% )\n";

static void test_forms(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "kvm-stat.txt", older);
	assert_sql_str(db, ROW "reason = 'EPT_VIOLATION'", "EPT_VIOLATION/14/7000/-/-/500.0");
	/* no average: its share of the table's total */
	assert_sql_str(db, ROW "vcpu = 3", "HLT/4/15000/-/-/3750.0");
	assert_sql_int(db, "SELECT m2 IS NULL FROM exit_stat WHERE vcpu = 3", 1);
	assert_sql_str(db, ROW "event = 'msr' AND vcpu = 4", "0x830:W/1/2000/2000/2000/2000.0");
	/* all vCPUs and single ones are not added up */
	assert_sql_int(db, "SELECT count(DISTINCT source_id) FROM exit_stat WHERE event = 'vmexit'", 2);
	assert_sql_int(db, "SELECT events FROM loss", 12);
	assert_sql_str(db, "SELECT status || ' ' || message FROM member",
		       "partly a perf kvm stat table's rows hold 4 of the 5 samples it counts");
	case_close(db);
}

/* Quoted in a mail, with the title and a row wrapped. */
static void test_mail(void **state __unused)
{
	static const char mail[] =
		"From: a@example.org\nSubject: slow guest\n\nHello,\n\nsee the exits of 10 minutes:\n\n"
		"> Analyze events for all VMs, all VCPUs:\n>\n"
		">              VM-EXIT    Samples  Samples%     Time%    Min Time    Max Time\n>      Avg time\n>\n"
		">                   io        182    57.05%    40.19%      0.00us 294363.30us\n>  16395.07us ( +-  20.98% )\n"
		">                  msr         50    15.67%     1.42%      0.00us  91811.11us   2106.84us ( +-  87.00% )\n>\n"
		"> Total Samples:232, Total events handled time:7425268.15us.\n\n"
		"We saw 17 of 20 (85.00% 2.00us) of them before.\n";
	struct case_db *db = facts_new();

	facts_text(db, "mail.eml", mail);
	assert_sql_int(db, "SELECT count(*) FROM exit_stat", 2);
	assert_sql_str(db, ROW "reason = 'io'", "io/182/2983902740/-/294363300/16395070.0");
	assert_all_cited(db, "exit_stat");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_mail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
