// SPDX-License-Identifier: GPL-2.0-or-later
/* test_dmesg.c - alarms, call traces, facts and clocks of kernel logs in all their forms. */
#include "facts.h"
#include "sides.h"

static void test_founding_journal(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/guest-journal.txt");
	assert_sql_str(db, "SELECT group_concat(kind) FROM log_line", "rcu_stall,soft_lockup,soft_lockup");
	assert_sql_str(db, "SELECT cpu || ' ' || task || ' ' || tid || ' ' || duration_ns || ' ' || side FROM log_line WHERE cpu = 31",
		       "31 allocate 1180 101000000000 guest");
	/* 4 January 10:33:10 */
	assert_sql_int(db, "SELECT DISTINCT time_ns FROM log_line", ((3 * 24 + 10) * 3600 + 33 * 60 + 10) * 1000000000LL);
	assert_sql_str(db, "SELECT clock FROM source", "syslog");
	assert_all_cited(db, "log_line");
	case_close(db);
}

/* In prose the sentence above a log says whose it is; the mailer cut the lines. */
static void test_mail(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "* After some time the guest comes back. The guest journal logs some soft\nlockups, e.g.:\n\n"
		   "Jan 04 10:33:10 debian kernel: rcu: INFO: rcu_preempt detected stalls on\nCPUs/tasks:\n"
		   "Jan 04 10:33:10 debian kernel: watchdog: BUG: soft lockup - CPU#10 stuck\nfor 101s! [allocate:1169]\n\n"
		   "We cannot trigger soft lockups any more. panic=0 is on the command line.\n"
		   "There is no BUG: soft lockup - CPU#%d stuck for %us! here.\n\n\n\n\n"
		   "[  417.117917] watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [a:b:176]\n");
	assert_sql_int(db, "SELECT count(*) FROM log_line", 3);
	assert_sql_str(db, "SELECT group_concat(side) FROM log_line", "guest,guest,unknown");
	assert_sql_str(db, "SELECT task || ' ' || tid FROM log_line WHERE cpu = 1", "a:b 176");
	assert_sql_int(db, "SELECT duration_ns FROM log_line WHERE cpu = 10", 101000000000);
	case_close(db);
}

static const char trace[] =
	"[  420.921379] watchdog: BUG: soft lockup - CPU#0 stuck for 49s! [CPU 0/KVM:194]\n"
	"[  420.921379] Modules linked in: tun kvm_amd\n"
	"[  420.921379] CPU: 0 PID: 194 Comm: CPU 0/KVM Tainted: G      D W    L     6.1.0-50-amd64 #1  Debian\n"
	"[  420.921379] RIP: 0010:queued_read_lock_slowpath+0x4d/0x120\n"
	"[  420.921379] RSP: 0018:ffffd25240effa28 EFLAGS: 00000286\n"
	"[  420.921379] Call Trace:\n"
	"[  420.921379]  <TASK>\n"
	"[  420.921379]  direct_page_fault+0x32e/0xa80 [kvm]\n"
	"[  420.921379]  ? reg_read+0x70/0x70 [kvm]\n"
	"[  420.921379]  kvm_mmu_page_fault+0x113/0x970 [kvm]\n"
	"[  420.921379]  </TASK>\n"
	"[  430.000000] usb 1-1: new device\n";

static void test_call_trace(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "dmesg", trace);
	assert_sql_str(db, "SELECT frames FROM stack", "queued_read_lock_slowpath+0x4d/0x120\n"
		       "direct_page_fault+0x32e/0xa80 [kvm]\nkvm_mmu_page_fault+0x113/0x970 [kvm]");
	assert_sql_int(db, "SELECT count(*) FROM log_line WHERE stack_id = 1", 2);
	assert_sql_str(db, "SELECT task || ' ' || tid || ' ' || cpu FROM log_line WHERE kind = 'call_trace'", "CPU 0/KVM 194 0");
	assert_sql_int(db, "SELECT time_ns FROM log_line WHERE kind = 'soft_lockup'", 420921379000);
	assert_sql_str(db, "SELECT clock FROM source", "sched");
	case_close(db);
}

static void test_facts(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "dmesg.txt",
		   "[    0.000000] Linux version 6.1.0-50-amd64 (b@d) (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1\n"
		   "[    0.000000] Command line: console=ttyS0 panic=0 cgroup_favordynmods=true quiet\n"
		   "[    0.000000] Hypervisor detected: Microsoft Hyper-V\n"
		   "[    0.000000] NUMA: Node 0 [mem 0x00000000-0x0009ffff] + [mem 0x00100000-0x4fffffff] -> [mem]\n"
		   "[    0.000000] NODE_DATA(0) allocated [mem 0x1]\n"
		   "[    0.000000] NODE_DATA(1) allocated [mem 0x1]\n"
		   "[    0.000000] Dynamic Preempt: voluntary\n"
		   "[    0.000000] Kernel command line: console=ttyS0 panic=0\n"
		   "[    0.100000] sched_clock: Marking stable (1213312345, 64211223)->(1301223344, -23699776)\n"
		   "[    0.200000] iTLB multihit: KVM: Mitigation: VMX disabled\n"
		   "[    0.300000] tsc: Marking TSC unstable due to TSCs unsynchronized\n");
	assert_fact(db, "kernel.release", "6.1.0-50-amd64");
	assert_fact(db, "kernel.preempt.model", "dynamic");
	assert_fact(db, "kernel.preempt.boot", "voluntary");
	assert_fact(db, "kernel.hypervisor", "Microsoft Hyper-V");
	assert_fact(db, "kernel.cmdline", "console=ttyS0 panic=0 cgroup_favordynmods=true quiet");
	assert_fact(db, "cgroup.favordynmods.cmdline", "true");
	assert_fact(db, "numa.nodes", "2");
	assert_fact(db, "cpu.vulnerability.itlb_multihit", "KVM: Mitigation: VMX disabled");
	assert_fact(db, "clocksource.unstable", "tsc");
	assert_sql_int(db, "SELECT offset_ns FROM clock WHERE name = 'local'", -23699776);
	assert_sql_str(db, "SELECT kernel FROM source", "6.1.0-50-amd64");
	assert_sql_str(db, "SELECT group_concat(kind) FROM log_line", "clocksource_unstable");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_forms(void **state __unused)
{
	static const struct { const char *text, *clock; int64_t time; } forms[] = {
		{ "[Mon Nov 30 18:02:20 2026] sched: RT throttling activated\n", "wall-local", 1796061740000000000 },
		{ "2026-11-30T18:02:20,123456+01:00 sched: RT throttling activated\n", NULL, 0 },
		{ "2026-11-30T18:02:20.500000+01:00 h kernel: sched: RT throttling activated\n", "wall", 1796058140500000000 },
		{ "<4>[    5.500000][  T123] sched: RT throttling activated\n", "sched", 5500000000 },
		{ "kern  :warn  : [    5.500000] sched: RT throttling activated\n", "sched", 5500000000 },
		{ "Nov 30 18:02:20 h kernel: [    5.500000] sched: RT throttling activated\n", "sched", 5500000000 },
		{ "[    5.500000] h kernel: sched: RT throttling activated\n", "sched", 5500000000 },
		{ "[Mo Nov 30 18:02:20 2026] sched: RT throttling activated\r\n", "wall-local", 1796061740000000000 },
		{ "[Do M\303\244r  5 18:02:20 2026] sched: RT throttling activated\n", "wall-local", 1772733740000000000 },
		{ "[jeu. ao\303\273t  6 18:02:20 2026] sched: RT throttling activated\n", "wall-local", 1786039340000000000 },
		{ "[ven f\303\251vr.  6 18:02:20 2026] sched: RT throttling activated\n", "wall-local", 1770400940000000000 },
		{ "[s\303\241b dic  5 18:02:20 2026] sched: RT throttling activated\n", "wall-local", 1796493740000000000 },
		{ "ene 02 00:00:01 h kernel: sched: RT throttling activated\n", "syslog", 86401000000000 },
		{ "janv. 02 00:00:01.250000 h kernel: sched: RT throttling activated\n", "syslog", 86401250000000 },
		{ "Mon 2026-11-30 18:02:20 UTC h kernel: sched: RT throttling activated\n", "wall", 1796061740000000000 },
		{ "Mo 2026-11-30 18:02:20 CET h kernel: sched: RT throttling activated\n", "wall-local", 1796061740000000000 },
		{ "1796061740.500000 h kernel: sched: RT throttling activated\n", "wall", 1796061740500000000 },
		{ "2026-11-30T18:02:20+0100 h kernel: sched: RT throttling activated\n", "wall", 1796058140000000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		struct case_db *db = facts_new();

		facts_text(db, "log.txt", forms[i].text);
		if (forms[i].clock) {
			assert_sql_str(db, "SELECT kind FROM log_line", "rt_throttling");
			assert_sql_int(db, "SELECT time_ns FROM log_line", forms[i].time);
			assert_sql_str(db, "SELECT clock FROM source", forms[i].clock);
		}
		case_close(db);
	}
}

static void test_alarms(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "dmesg",
		   "[1.000000] INFO: task qemu-system-x86:1234 blocked for more than 120 seconds.\n"
		   "[2.000000] BUG: workqueue lockup - pool cpus=3 node=0 flags=0x0 nice=0 stuck for 31s!\n"
		   "[3.000000] perf: interrupt took too long (2503 > 2500), lowering kernel.perf_event_max_sample_rate\n"
		   "[4.000000] x86/split lock detection: #AC: CPU 0/KVM/4711 took a split_lock trap at address: 0x7f\n"
		   "[5.000000] Out of memory: Killed process 99 (qemu) total-vm:1kB\n"
		   "[6.000000] watchdog: Watchdog detected hard LOCKUP on cpu 7\n"
		   "[7.000000] kvm [175]: vcpu0, guest rIP: 0xffffffff8c873744 Unhandled WRMSR(0xc0010007) = 0xffff\n"
		   "[8.000000] systemd[1]: everything is well\n");
	assert_sql_str(db, "SELECT group_concat(kind) FROM log_line",
		       "hung_task,workqueue_lockup,nmi_too_long,split_lock,oom,hard_lockup,kvm");
	assert_sql_str(db, "SELECT task || tid || ' ' || duration_ns FROM log_line WHERE kind = 'hung_task'",
		       "qemu-system-x861234 120000000000");
	assert_sql_str(db, "SELECT task || ' ' || tid FROM log_line WHERE kind = 'split_lock'", "CPU 0/KVM 4711");
	assert_sql_int(db, "SELECT cpu FROM log_line WHERE kind = 'hard_lockup'", 7);
	assert_sql_int(db, "SELECT duration_ns FROM log_line WHERE kind = 'nmi_too_long'", 2503);
	case_close(db);
}

/* journalctl -o json: the kernel's own time stamp, escapes, bytes, another boot, and a daemon's
 * line. */
static void test_journal_json(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "journal.json",
		   "{\"__REALTIME_TIMESTAMP\":\"1796061740000000\",\"__MONOTONIC_TIMESTAMP\":\"5500000\",\"_BOOT_ID\":\"a1\",\"_TRANSPORT\":\"kernel\","
		   "\"_SOURCE_MONOTONIC_TIMESTAMP\":\"5400000\",\"MESSAGE\":\"watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [a\\\"b:176]\"}\n"
		   "{\"MESSAGE\":\"Call Trace:\",\"__REALTIME_TIMESTAMP\":\"1\",\"_BOOT_ID\":\"a1\",\"_TRANSPORT\":\"kernel\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"5400001\"}\n"
		   "{\"MESSAGE\":\" kvm_vcpu_ioctl+0x1/0x2 [kvm]\",\"__REALTIME_TIMESTAMP\":\"1\",\"_BOOT_ID\":\"a1\",\"_TRANSPORT\":\"kernel\"}\n"
		   "{\"MESSAGE\":[115,99,104,101,100,58,32,82,84,32,116,104,114,111,116,116,108,105,110,103,32,97,99,116,105,118,97,116,101,100],"
		   "\"__REALTIME_TIMESTAMP\":\"1\",\"_BOOT_ID\":\"b2\",\"_TRANSPORT\":\"kernel\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"9\"}\n"
		   "{\"MESSAGE\":\"BUG: soft lockup - CPU#7 stuck for 1s! [x:1]\",\"__REALTIME_TIMESTAMP\":\"1\",\"_TRANSPORT\":\"syslog\"}\n");
	assert_sql_str(db, "SELECT format FROM member", "dmesg");
	assert_sql_str(db, "SELECT group_concat(kind || ':' || coalesce(time_ns, '-'), ' ') FROM (SELECT * FROM log_line ORDER BY id)",
		       "soft_lockup:5400000000 call_trace:5400001000 rt_throttling:9000");
	assert_sql_str(db, "SELECT task || tid FROM log_line WHERE kind = 'soft_lockup'", "a\"b176");
	assert_sql_str(db, "SELECT frames FROM stack JOIN log_line ON stack_id = stack.id WHERE kind = 'soft_lockup'",
		       "kvm_vcpu_ioctl+0x1/0x2 [kvm]");
	assert_sql_str(db, "SELECT group_concat(clock || ' ' || last_ns) FROM source", "sched 5400001000,sched 9000");
	assert_sql_int(db, "SELECT c.line FROM log_line l JOIN cite c ON c.id = l.cite_id WHERE kind = 'rt_throttling'", 4);
	assert_all_cited(db, "log_line");
	case_close(db);
}

/* short-monotonic has the daemons' lines, too, and they may quote the kernel's. */
static void test_daemons(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "journal.txt",
		   "[    5.500000] h kernel: watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [a:1]\n"
		   "[    6.500000] h abrt-dump[77]: watchdog: BUG: soft lockup - CPU#2 stuck for 45s! [a:1]\n"
		   "Mon 2026-11-30 18:02:20 UTC h abrt-dump[77]: x\n[    7.000000] hrtimer: interrupt took 70000 ns\n"
		   "[    8.000000] qemu-system-x86 invoked oom-killer: gfp_mask=0x0\n[    9.000000] rcu: rcu_preempt kthread starved for 5250 jiffies! g1 ->cpu=2\n"
		   "[   14.300000] smp: csd: Detected non-responsive CSD lock (#1) on CPU#4, waiting 5000000050 ns for CPU#03 do_nothing+0x0/0x8(0x0).\n"
		   "[   14.400000] smp: \tcsd: CSD lock (#1) unresponsive.\n"
		   "[   45.100000] nvme nvme0: I/O 25 QID 2 timeout, completion polled\n");
	assert_sql_str(db, "SELECT group_concat(kind || ifnull(cpu, '') || ifnull(task, '') || ifnull(duration_ns, ''), ' ') FROM log_line",
		       "soft_lockup1a45000000000 hrtimer_slow70000 oomqemu-system-x86 rcu_stall2 csd_lock45000000050 irq_lost");
	case_close(db);
}

/* A log under KVM is the guest's when the host's is there as well, and when it ran no VMs itself.
 */
static void test_sides(void **state __unused)
{
	static const char guest[] = "[0.0] x\n[0.000000] Hypervisor detected: KVM\n[5.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [a:1]\n";
	static const char nested[] = "[0.000000] Hypervisor detected: KVM\n[5.000000] kvm [175]: vcpu0, guest rIP: 0xff unhandled\n";
	static const char host[] = "[0.000000] Booting paravirtualized kernel on bare hardware\n[5.000000] watchdog: BUG: soft lockup - CPU#2 stuck for 45s! [a:1]\n";
	struct case_db *db = facts_new();

	facts_text(db, "a.log", guest);
	facts_text(db, "b.log", nested);
	facts_ok(sides_settle(db));
	assert_sql_int(db, "SELECT count(*) FROM source WHERE side <> 'unknown'", 0);
	facts_text(db, "c.log", host);
	facts_ok(sides_settle(db));
	assert_sql_str(db, "SELECT group_concat(side) FROM (SELECT side FROM source ORDER BY path)", "guest,unknown,host");
	assert_sql_str(db, "SELECT group_concat(side) FROM (SELECT side FROM log_line WHERE kind = 'soft_lockup' ORDER BY cpu)", "guest,host");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key = 'kernel.hypervisor' AND side = 'guest'", 1);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_json), cmocka_unit_test(test_daemons),
		cmocka_unit_test(test_sides),	     cmocka_unit_test(test_founding_journal),
		cmocka_unit_test(test_mail),	     cmocka_unit_test(test_call_trace),
		cmocka_unit_test(test_facts),	     cmocka_unit_test(test_forms),
		cmocka_unit_test(test_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
