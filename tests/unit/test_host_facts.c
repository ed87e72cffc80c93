// SPDX-License-Identifier: GPL-2.0-or-later
/* test_host_facts.c - counters and descriptions of a host: /proc, debugfs, lscpu, kvm_stat. */
#include "facts.h"
#include "snapshots.h"

static void pressure(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "sos/proc/pressure/cpu", "some avg10=1.25 avg60=0.40 avg300=0.08 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	facts_text(db, "sys/fs/cgroup/machine.slice/vm1.scope/cpu.pressure", "some avg10=99.00 avg60=50.12 avg300=10.00 total=777\n");
	facts_text(db, "note.txt", "== /proc/pressure/memory\nsome avg10=0.10 avg60=0.00 avg300=0.00 total=5\n");
	assert_fact(db, "psi.cpu.some.avg10", "1.25");
	assert_fact(db, "psi.cpu.some.total_us", "123456");
	assert_fact(db, "psi.cpu.full.total_us", "0");
	assert_fact(db, "psi.memory.some.total_us", "5");
	assert_fact(db, "cgroup.machine.slice/vm1.scope.psi.cpu.some.avg60", "50.12");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void irqs(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "interrupts-before.txt",
		   "           CPU0       CPU2       \n  0:         10          2   IO-APIC   2-edge      timer\n"
		   "NMI:          3          4   Non-maskable interrupts\nLOC:     100000     200000   Local timer interrupts\n"
		   "ERR:          1\nPIN:          0          0   Posted-interrupt notification event\n");
	facts_text(db, "interrupts-after.txt",
		   "           CPU0       CPU2       \n  0:         11          2   IO-APIC   2-edge      timer\n"
		   "NMI:       1003          4   Non-maskable interrupts\nLOC:     100100     200200   Local timer interrupts\nERR:          1\n");
	facts_ok(snapshots_pair(db));
	assert_fact(db, "irq.NMI", "7|1007");
	assert_fact(db, "irq.NMI.max_cpu", "2|0");
	assert_fact(db, "irq.NMI.delta", "1000");
	assert_fact(db, "irq.LOC.delta", "300");
	assert_fact(db, "irq.ERR", "1|1");
	assert_fact(db, "irq.PIN", "0");
	assert_fact(db, "irq.devices", "12|13");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB '*.max*.delta'", 0);
	case_close(db);
}

static void cpus(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "proc/cpuinfo",
		   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Gold 6230\n"
		   "microcode\t: 0x5003006\nphysical id\t: 0\nflags\t\t: fpu vme tsc vmx constant_tsc ept\n"
		   "bugs\t\t: spectre_v1 itlb_multihit\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6230\n"
		   "physical id\t: 1\nflags\t\t: fpu\n\n");
	assert_fact(db, "cpu.count", "2");
	assert_fact(db, "cpu.sockets", "2");
	assert_fact(db, "cpu.model", "Intel(R) Xeon(R) Gold 6230");
	assert_fact(db, "cpu.model_number", "85");
	assert_fact(db, "cpu.flag.vmx", "yes");
	assert_fact(db, "cpu.flag.hypervisor", "no");
	assert_fact(db, "cpu.bug.itlb_multihit", "yes");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void lscpu(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "lscpu",
		   "Architecture:                    x86_64\nCPU(s):                          16\nOn-line CPU(s) list:             0-15\n"
		   "Model name:                      AMD EPYC 7302P 16-Core Processor\nVirtualization:                  AMD-V\n"
		   "NUMA node(s):                    2\nNUMA node1 CPU(s):               8-15\n"
		   "Vulnerability Itlb multihit:     Not affected\nFlags:                           fpu svm npt\n");
	facts_text(db, "new/lscpu",
		   "Architecture:             x86_64\n  CPU op-mode(s):         32-bit, 64-bit\nHypervisor vendor:        KVM\n"
		   "Vulnerabilities:          \n  Itlb multihit:          KVM: Mitigation: Split huge pages\n"
		   "  L1tf:                   Mitigation; PTE Inversion\n");
	assert_fact(db, "cpu.count", "16");
	assert_fact(db, "cpu.virtualization", "AMD-V");
	assert_fact(db, "numa.node.1.cpus", "8-15");
	assert_fact(db, "cpu.flag.svm", "yes");
	assert_fact(db, "cpu.hypervisor", "KVM");
	assert_fact(db, "cpu.vulnerability.l1tf", "Mitigation: PTE Inversion");
	assert_fact(db, "cpu.vulnerability.itlb_multihit", "Not affected|KVM: Mitigation: Split huge pages");
	case_close(db);
}

static void kvm_counters(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "sys/kernel/debug/kvm/exits", "1234567\n");
	facts_text(db, "sys/kernel/debug/kvm/8812-15/nx_lpage_splits", "42\n");
	facts_text(db, "sys/kernel/debug/kvm/8812-15/vcpu1/tsc-offset", "-81985529216486895\n");
	facts_text(db, "grep.txt", "/sys/kernel/debug/kvm/halt_exits:99\n/sys/kernel/debug/kvm/insn_emulation:3\n");
	assert_fact(db, "kvmstat.exits", "1234567");
	assert_fact(db, "kvmstat.8812-15.nx_lpage_splits", "42");
	assert_fact(db, "kvmstat.8812-15.vcpu1.tsc-offset", "-81985529216486895");
	assert_fact(db, "kvmstat.halt_exits", "99");
	assert_fact(db, "kvmstat.insn_emulation", "3");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void kvm_stat(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "kvm_stat-before.txt",
		   "halt_exits                                      1000        10\nkvm_exit                                       50000       500\n"
		   "kvm_exit(EPT_VIOLATION)                           70         7\n");
	facts_text(db, "kvm_stat-after.txt",
		   "halt_exits                                      1500        11\nkvm_exit                                       58000       400\n");
	facts_text(db, "screen.txt",
		   "Our kvm_stat says:\nkvm statistics - summary\n\n Event                                         Total %Total CurAvg/s\n"
		   " kvm_fpu                                      112233   70.5     1200\n kvm_ack_irq                                    2233   29.5       12\n"
		   " Total                                        114466            1212\nand no more 12 5\n");
	facts_ok(snapshots_pair(db));
	assert_fact(db, "kvmstat.kvm_exit(EPT_VIOLATION)", "70");
	assert_fact(db, "kvmstat.kvm_exit.per_s", "500|400");
	assert_fact(db, "kvmstat.kvm_exit.delta", "8000");
	assert_fact(db, "kvmstat.kvm_fpu", "112233");
	assert_fact(db, "kvmstat.kvm_fpu.per_s", "1200");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB '*more*' OR key GLOB '*Total*'", 0);
	case_close(db);
}

static void tasks(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "before/proc/8812/task/8820/schedstat", "1000 200 30\n");
	facts_text(db, "after/proc/8812/task/8820/schedstat", "5000 900 50\n");
	facts_text(db, "proc/8812/task/8821/stat",
		   "8821 (CPU 1) /KVM) R 1 8812 8812 0 -1 1077944384 11 0 0 0 700 800 0 0 20 0 7 0 4242 9000000 8400 18446744073709551615 "
		   "1 1 0 0 0 0 2147220671 4096 81920 0 0 0 -1 5 0 0 0 650 0\n");
	facts_text(db, "proc/8812/status", "Name:\tqemu-system-x86\nState:\tS (sleeping)\nTgid:\t8812\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t12\n");
	facts_ok(snapshots_pair(db));
	assert_fact(db, "task.8820.wait_ns", "200|900");
	assert_fact(db, "task.8820.wait_ns.delta", "700");
	assert_fact(db, "task.8821.comm", "CPU 1) /KVM");
	assert_fact(db, "task.8821.state", "R");
	assert_fact(db, "task.8821.utime_ticks", "700");
	assert_fact(db, "task.8821.processor", "5");
	assert_fact(db, "task.8821.guest_ticks", "650");
	assert_fact(db, "task.8812.cpus_allowed", "0-3");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void scheduler(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "proc/schedstat", "version 15\ntimestamp 4295000000\ncpu0 0 0 0 0 0 0 123 456 7\ndomain0 03 0 0\ncpu1 0 0 0 0 0 0 124 457 8\n");
	facts_text(db, "proc/stat", "cpu  10 0 20 3000 4 0 5 6 7 0\ncpu0 10 0 20 3000 4 0 5 6 7 0\nintr 5 1 2\nctxt 99\nbtime 1700000000\nprocs_blocked 2\n");
	facts_text(db, "sched/features", "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY WAKEUP_PREEMPTION NO_HRTICK TTWU_QUEUE\n");
	facts_text(db, "proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 isolcpus=2-7 kvm.nx_huge_pages=never nosmt quiet cgroup_favordynmods=true\n");
	assert_fact(db, "schedstat.cpu.1.wait_ns", "457");
	assert_fact(db, "stat.cpu.steal", "6");
	assert_fact(db, "stat.procs_blocked", "2");
	assert_fact(db, "sched.feature.NEXT_BUDDY", "n");
	assert_fact(db, "sched.feature.TTWU_QUEUE", "y");
	assert_fact(db, "cmdline.isolcpus", "2-7");
	assert_fact(db, "cmdline.kvm.nx_huge_pages", "never");
	assert_fact(db, "cmdline.nosmt", "yes");
	assert_fact(db, "cgroup.favordynmods.cmdline", "true");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void kallsyms(void **state)
{
	struct case_db *db = facts_new();
	char text[2048], *p = text;
	int i;

	(void)state;
	for (i = 0; i < 30; i++)
		p += sprintf(p, "0000000000000000 %c sym%d\n", i % 2 ? 'T' : 'a', i);
	facts_text(db, "proc/kallsyms", text);
	assert_fact(db, "kernel.kallsyms", "hidden");
	assert_sql_int(db, "SELECT message LIKE '%kptr_restrict%' FROM member", 1);
	memcpy(text + 5 * 24, "ffffffff81000000", 16);
	facts_text(db, "kallsyms.txt", text);
	assert_fact(db, "kernel.kallsyms", "hidden|visible");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pressure),	cmocka_unit_test(irqs),
		cmocka_unit_test(cpus),		cmocka_unit_test(lscpu),
		cmocka_unit_test(kvm_counters), cmocka_unit_test(kvm_stat),
		cmocka_unit_test(tasks),	cmocka_unit_test(scheduler),
		cmocka_unit_test(kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
