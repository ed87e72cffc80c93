// SPDX-License-Identifier: GPL-2.0-or-later
/* test_perf_script_untimed.c - perf script without times: fields, chains, what it is told from. */
#include "facts.h"
#include "../../parsers/perf_script_line.h"

static void test_split(void **state __unused)
{
	static const struct {
		const char	*line;
		bool		is;
		const char	*comm, *event, *text;
		int		pid, tid, cpu;
		unsigned int	period;
	} cases[] = {
		{ "java 19983 cycles:", true, "java", "cycles", "", -1, 19983, -1, 0 },
		{ "java 19983/19990 [002] 250000 cycles:ppp: ", true, "java", "cycles:ppp", "", 19983, 19990, 2, 250000 },
		{ "CPU 0/KVM   169 [001] kvm:kvm_exit: reason npf rip 0x1", true, "CPU 0/KVM", "kvm:kvm_exit",
		  "reason npf rip 0x1", -1, 169, 1, 0 },
		{ "CPU 3/KVM 77    1 cpu-clock:  ffffffff97 f ([kernel.kallsyms])", true, "CPU 3/KVM", "cpu-clock",
		  "ffffffff97 f ([kernel.kallsyms])", -1, 77, -1, 1 },
		{ "kworker/4:1-ev 58 sched:sched_switch: prev_comm=a: b", true, "kworker/4:1-ev", "sched:sched_switch",
		  "prev_comm=a: b", -1, 58, -1, 0 },
		{ "            cycles:u:          7f12 main+0x3 (/bin/true)", true, NULL, "cycles:u",
		  "7f12 main+0x3 (/bin/true)", -1, -1, -1, 0 },
		{ "The guest hangs: see below", false, NULL, NULL, NULL, 0, 0, 0, 0 },
		{ "12:03: 5", false, NULL, NULL, NULL, 0, 0, 0, 0 },
		{ "", false, NULL, NULL, NULL, 0, 0, 0, 0 },
		{ ":", false, NULL, NULL, NULL, 0, 0, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].line);
		_cleanup_free_ char *copy = xstrndup(cases[i].line, len);
		struct perf_script_line l;

		if (perf_script_split_untimed(copy, len, &l) != cases[i].is)
			fail_msg("\"%s\"", cases[i].line);
		if (!cases[i].is)
			continue;
		assert_int_equal(l.tid, cases[i].tid);
		assert_int_equal(l.pid, cases[i].pid);
		assert_int_equal(l.cpu, cases[i].cpu < 0 ? EVENT_CPU_NONE : cases[i].cpu);
		assert_int_equal(l.period, cases[i].period);
		assert_int_equal(l.event_len, strlen(cases[i].event));
		assert_memory_equal(l.event, cases[i].event, l.event_len);
		assert_int_equal(l.text_len, strlen(cases[i].text));
		assert_memory_equal(l.text, cases[i].text, l.text_len);
		assert_int_equal(!l.comm, !cases[i].comm);
		if (l.comm) {
			assert_int_equal(l.comm_len, strlen(cases[i].comm));
			assert_memory_equal(l.comm, cases[i].comm, l.comm_len);
		}
	}
}

static const char chains[] =
	"# ========\n# hostname : kvmhost\n# os release : 3.2.0\n# arch : x86_64\n# ========\n#\n"
	"CPU 0/KVM 169 cycles: \n"
	"\tffffffff8103d0ca npf_interception+0x1a ([kvm_amd])\n"
	"\tffffffff810275f1 kvm_vcpu_ioctl ([kvm])\n"
	"\n"
	"CPU 0/KVM 169 cycles: \n"
	"ffffffff8103d0ca npf_interception+0x2b ([kvm_amd])\n"	/* a tracker ate the indentation */
	"ffffffff810275f1 kvm_vcpu_ioctl ([kvm])\n"
	"\n"
	"CPU 1/KVM 170 cycles: \n"
	"\tffffffff8103d0ca npf_interception ([kvm_amd])\n"
	"\tffffffff810275f1 kvm_vcpu_ioctl ([kvm])\n"
	"\n"
	"swapper 0 cycles:     ffffffff9744e8cb native_safe_halt ([kernel.kallsyms])\n"
	"swapper 0 sched:sched_switch: prev_comm=swapper/0\n"
	"\t           1234f [unknown] (/lib/a b.so)\n";

static void test_counts(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "stacks.txt", chains);
	assert_sql_str(db, "SELECT format || '|' || status FROM member", "perf script without times|read");
	assert_sql_str(db, "SELECT group_concat(event || '=' || count, ' ') FROM (SELECT * FROM event_count ORDER BY event)",
		       "cycles=4 sched:sched_switch=1");
	assert_sql_str(db, "SELECT group_concat(c.tid || '/' || c.count || '/' || replace(k.frames, char(10), '<'), ' ') FROM "
		       "stack_count c JOIN stack k ON k.id = c.stack_id ORDER BY c.rowid",
		       "169/2/npf_interception<kvm_vcpu_ioctl 170/1/npf_interception<kvm_vcpu_ioctl 0/1/native_safe_halt "
		       "0/1/0x1234f");
	assert_sql_int(db, "SELECT count(*) FROM stack", 3);
	assert_sql_str(db, "SELECT group_concat(line, ' ') FROM cite JOIN stack_count ON cite.id = cite_id", "7 15 19 20");
	assert_sql_str(db, "SELECT host || ' ' || kernel FROM source", "kvmhost 3.2.0");
	case_close(db);
}

/* What has times, and prose, is not taken for it. */
static void test_told_apart(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "a.txt", "java 19983 [001] 1.000001: cycles: \n\tffffffff8103d0ca f ([kernel.kallsyms])\n\n");
	facts_text(db, "b.txt", "Hello,\nthe following guest hangs:\nguest 12\nnote: it is slow\n");
	facts_text(db, "c.txt", "vendor_id : GenuineIntel\nflags : a b\nbugs : c\n");
	facts_text(db, "d.txt", "eth0: up\nlo: up\nbr0: down\n");
	assert_sql_int(db, "SELECT count(*) FROM member WHERE format = 'perf script without times'", 0);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
