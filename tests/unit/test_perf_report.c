// SPDX-License-Identifier: GPL-2.0-or-later
/* test_perf_report.c - perf report --stdio: columns, counts, call graphs, children, headers. */
#include "facts.h"

static const char graph[] =
	"# ========\n# hostname : kvmhost\n# os release : 6.1.0\n# arch : x86_64\n# nrcpus online : 2\n# ========\n#\n"
	"# Total Lost Samples: 7\n#\n"
	"# Samples: 1K of event 'kvm:kvm_page_fault'\n"
	"# Event count (approx.): 1695\n#\n"
	"# Overhead  Command          Shared Object      Symbol              \n"
	"# ........  ...............  .................  ....................\n"
	"#\n"
	"    75.00%  CPU 0/KVM        [kernel.kallsyms]  [k] npf_interception\n"
	"            |\n"
	"            ---npf_interception\n"
	"               kvm_vcpu_ioctl\n"
	"               |          \n"
	"               |--50.00%--ioctl\n"
	"               |          |          \n"
	"               |          |--30.00%--a\n"
	"               |          |          a2\n"
	"               |          |          \n"
	"               |           --20.00%--b\n"
	"               |          \n"
	"                --25.00%--syscall\n"
	"                          c d(int)\n"
	"\n"
	"    25.00%  swapper          [kernel.kallsyms]  [k] __schedule\n"
	"            |\n"
	"            ---main\n"
	"               __schedule\n"
	"     0.00%  x                [kernel.kallsyms]  [k] never\n"
	"\n\n"
	"# Samples: 11K of event 'cycles:ppp'\n"
	"# Event count (approx.): 47552000000\n#\n"
	"# Overhead       Samples  Pid:Command           Symbol\n"
	"# ........  ............  ....................  ............\n"
	"#\n"
	"    60.00%            77    169:CPU 0/KVM       [.] f\n"
	"\n\n#\n# (Tip: x)\n#\n";

static void test_graph(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "report.txt", graph);
	assert_sql_str(db, "SELECT format || ' ' || status || ' ' || ifnull(message, '') FROM member", "perf report read ");
	assert_sql_int(db, "SELECT count FROM event_count WHERE event = 'kvm:kvm_page_fault'", 1695);
	/* rounded samples of a sampled event are a fact, no count */
	assert_sql_int(db, "SELECT count(*) FROM event_count", 1);
	assert_fact(db, "perf.samples.cycles:ppp", "11000");
	assert_sql_int(db, "SELECT events FROM loss", 7);
	assert_sql_str(db, "SELECT host || ' ' || kernel || ' ' || cpus FROM source", "kvmhost 6.1.0 2");
	assert_sql_int(db, "SELECT count(*) FROM stack_count", 3);
	/* what all samples of the row share */
	assert_sql_str(db, "SELECT k.frames || '/' || c.count FROM stack_count c JOIN stack k ON k.id = c.stack_id "
		       "WHERE k.top = 'npf_interception'", "npf_interception\nkvm_vcpu_ioctl/1271");
	/* and every way through the graph */
	assert_sql_str(db, "SELECT group_concat(replace(frames, char(10), ' '), '|') FROM (SELECT frames FROM stack WHERE depth > 2 "
		       "ORDER BY id)", "npf_interception kvm_vcpu_ioctl ioctl a a2|npf_interception kvm_vcpu_ioctl ioctl b|"
		       "npf_interception kvm_vcpu_ioctl syscall c d(int)");
	/* a graph that begins with the callers is not turned round */
	assert_sql_str(db, "SELECT k.frames || '/' || c.count FROM stack_count c JOIN stack k ON k.id = c.stack_id "
		       "WHERE k.top = '__schedule'", "__schedule/424");
	assert_sql_int(db, "SELECT count(*) FROM stack WHERE frames LIKE '%main%' OR frames LIKE '%never%'", 0);
	assert_sql_str(db, "SELECT k.frames || '/' || c.count || '/' || c.tid FROM stack_count c JOIN stack k ON k.id = c.stack_id "
		       "WHERE c.event = 'cycles:ppp'", "f/77/169");
	case_close(db);
}

/* Children count inclusively: only what an entry has itself is taken. */
static void test_children(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "report.txt",
		"# To display the perf.data header info, please use --header/--header-only options.\n#\n"
		"# Samples: 200  of event 'cpu-clock'\n# Event count (approx.): 50000000\n#\n"
		"# Children      Self  Command  Shared Object      Symbol\n"
		"# ........  ........  .......  .................  ......\n#\n"
		"    90.00%     0.00%  qemu     [kernel.kallsyms]  [k] entry\n"
		"            |\n            ---entry\n               idle\n"
		"    80.00%    40.00%  qemu     [kernel.kallsyms]  [k] idle\n"
		"            |\n            ---entry\n               idle\n");
	assert_sql_int(db, "SELECT count(*) FROM stack_count", 1);
	assert_sql_str(db, "SELECT k.frames || '/' || c.count FROM stack_count c JOIN stack k ON k.id = c.stack_id", "idle/80");
	assert_sql_int(db, "SELECT count FROM event_count", 200);
	case_close(db);
}

static void test_empty(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "report.txt", "Error:\nThe perf.data data has no samples!\n"
		   "# To display the perf.data header info, please use --header/--header-only options.\n#\n");
	assert_sql_str(db, "SELECT format || ' ' || message FROM member", "perf report a perf report without rows that have a symbol");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
