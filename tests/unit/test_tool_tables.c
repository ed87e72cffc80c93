// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tool_tables.c - top, sysstat, rtla and perf lock contention */
#include "facts.h"

static void top(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "top.txt",
		   "top - 10:33:10 up 5 days,  3:04,  1 user,  load average: 3.12, 2.80, 2.70\n"
		   "Threads: 800 total,   2 running, 798 sleeping,   0 stopped,   0 zombie\n"
		   "%Cpu(s):  5.3 us,  2.1 sy,  0.0 ni, 92.4 id,  0.1 wa,  0.0 hi,  0.1 si,  0.0 st\n"
		   "MiB Mem :  64000.0 total,  1000.0 free,  60000.0 used,   3000.0 buff/cache\n\n"
		   "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
		   "   8820 libvirt+  20   0 9000000   8.1g  20480 R  99.9  12.0 999:05.12 CPU 0/KVM\n"
		   "    412 root      25   5       0      0      0 S  30.0   0.0  10:05.12 ksmd\n"
		   "   5000 alice     20   0    1000   1000    100 S   3.0   0.0   0:00.12 bash\n"
		   "   5001 alice     20   0    1000   1000    100 R  70.5   0.0   0:00.12 burn it all\n");
	facts_text(db, "de.txt",
		   "Hier top vom Host:\ntop - 10:33:10 up 5 days,  3:04,  1 user,  load average: 3,12, 2,80, 2,70\n"
		   "%Cpu(s):  5,3 us,  2,1 sy,  0,0 ni, 92,4 id,  0,1 wa,  0,0 hi,  0,1 si, 40,5 st\n");
	assert_fact(db, "top.load1", "3.12|3.12");
	assert_fact(db, "top.load15", "2.70|2.70");
	assert_fact(db, "top.cpu.id", "92.4|92.4");
	assert_fact(db, "top.cpu.st", "0.0|40.5");
	assert_fact(db, "top.task.8820.cpu_percent", "99.9");
	assert_fact(db, "top.task.8820.comm", "CPU 0/KVM");
	assert_fact(db, "top.task.8820.state", "R");
	assert_fact(db, "top.task.412.cpu_percent", "30.0");
	assert_fact(db, "top.task.5001.comm", "burn it all");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB 'top.task.5000.*'", 0);
	assert_all_cited(db, "fact");
	case_close(db);
}

static void top_rounds(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "top.txt",
		   "top - 10:33:10 up 5 days,  load average: 1.00, 2.80, 2.70\n    PID USER  S  %CPU COMMAND\n   7 root  R  10.0 CPU 1/KVM\n\n"
		   "top - 10:33:13 up 5 days,  load average: 2.00, 2.80, 2.70\n    PID USER  S  %CPU COMMAND\n   7 root  R  20.0 CPU 1/KVM\n");
	assert_sql_str(db, "SELECT group_concat(snapshot || ':' || value, ' ') FROM fact WHERE key = 'top.task.7.cpu_percent'",
		       "1:10.0 2:20.0");
	case_close(db);
}

static void sar(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "sar.txt",
		   "Linux 6.1.0-50-amd64 (node1) \t01/04/2024 \t_x86_64_\t(8 CPU)\n\n"
		   "10:20:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
		   "10:30:01 AM     all      1.00      0.00      2.00      0.00      7.50     89.50\n"
		   "10:40:01 AM     all      3.00      0.00      9.00      0.00      1.00     87.00\n"
		   "10:40:01 AM       3      3.00      0.00     90.00      0.00      1.00      6.00\n"
		   "Average:        all      2.00      0.00      5.50      0.00      4.25     88.25\n\n"
		   "10:20:01 AM   runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n"
		   "10:30:01 AM        12       900     11.50     10.00      9.00         3\n"
		   "Average:           12       900     11.50     10.00      9.00         3\n");
	assert_fact(db, "sysstat.cpu.all.steal", "4.25");
	assert_fact(db, "sysstat.cpu.all.steal.max", "7.50");
	assert_fact(db, "sysstat.cpu.all.idle.min", "87.00");
	assert_fact(db, "sysstat.cpu.3.system.max", "90.00");
	assert_fact(db, "sysstat.queue.runq-sz.max", "12.00");
	assert_fact(db, "sysstat.queue.blocked", "3.00");
	assert_fact(db, "kernel.release", "6.1.0-50-amd64");
	assert_fact(db, "host.name", "node1");
	assert_fact(db, "cpu.count", "8");
	assert_sql_int(db, "SELECT c.line FROM fact f JOIN cite c ON c.id = f.cite_id WHERE f.key = 'sysstat.cpu.all.steal.max'", 4);
	assert_all_cited(db, "fact");
	case_close(db);
}

static void pidstat(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "pidstat.txt",
		   "Linux 5.15.0 (n) \t04.01.2024 \t_x86_64_\t(4 CPU)\n\n"
		   "10:33:10      UID      TGID       TID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
		   "10:33:11    64055      8812         -    1,00    2,00   97,00    0,00  100,00     1  qemu-system-x86\n"
		   "10:33:11    64055         -      8820    0,00    2,00   90,00   35,50   92,00     1  |__CPU 0/KVM\n"
		   "10:33:11        0         -      9999    0,00    2,00    0,00   35,50    2,00     1  |__nothing\n"
		   "Durchschn.: 64055         -      8820    0,00    2,00   90,00   30,00   92,00     -  |__CPU 0/KVM\n");
	assert_fact(db, "sysstat.task.8820.wait", "30.00");
	assert_fact(db, "sysstat.task.8820.wait.max", "35.50");
	assert_fact(db, "sysstat.task.8820.comm", "CPU 0/KVM");
	assert_fact(db, "sysstat.task.8812.guest.max", "97.00");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB '*9999*'", 0);
	case_close(db);
}

/* Time that the hardware takes: hwlat's trace, turbostat's column SMI, perf stat. */
static void smi(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "hwlat.txt",
		   "# tracer: hwlat\n#\n"
		   "           <...>-3638  [001] d... 19452.055471: #1     inner/outer(us):   12/14    ts:1499801089.066141940\n"
		   "           <...>-5820  [001] d... 354016.973699: #2      inner/outer(us): 2152/1933   ts:1578801212.559595228 count:6\n");
	facts_text(db, "turbostat.txt",
		   "turbostat version 2023.11.07 - Len Brown <lenb@kernel.org>\nKernel command line: quiet\n"
		   "Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\tIRQ\tSMI\tC1\n"
		   "-\t-\t16\t0.61\t2585\t3400\t812\t8\t1\n0\t0\t12\t0.50\t2400\t3400\t401\t4\t1\n"
		   "Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\tIRQ\tSMI\tC1\n-\t-\t16\t0.61\t2585\t3400\t812\t4\t1\n");
	facts_text(db, "perf-stat.txt",
		   "\n Performance counter stats for 'system wide':\n\n             1,204      msr/smi/\n\n      10.001 seconds time elapsed\n");
	facts_text(db, "mail.txt", "Hello,\n <...>-3638  [001] d... 19452.055471: #1     inner/outer(us):   12/14    ts:1499801089.066141940\n");
	assert_fact(db, "hwlat.samples", "2");
	assert_fact(db, "hwlat.max_us", "2152");
	assert_fact(db, "turbostat.smi", "12");
	assert_fact(db, "perf.stat.smi", "1204");
	assert_sql_int(db, "SELECT count(*) FROM fact", 4);
	case_close(db);
}

static void rtla(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "osnoise.txt",
		   "                                          Operating System Noise\nduration:   0 00:01:00 | time is in us\n"
		   "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI          IRQ      Softirq       Thread\n"
		   "  0 #59         59000000        31234    99.94705        2000         1900           5            1         5900         100           12\n");
	facts_text(db, "timerlat.txt",
		   "                                     Timer Latency\n  0 00:00:15   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n"
		   "CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n"
		   "  1 #14880     |        2         0         1        19 |        8         2         6        33\n");
	facts_text(db, "hist.txt",
		   "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:01:01\nIndex   IRQ-000   Thr-000   IRQ-002   Thr-002\n"
		   "0         59000         0      1      0\nover:         0         0    0    0\ncount:    60001     60001    1   1\n"
		   "min:          0         2    0   0\navg:          0         4    1   1\nmax:         18        34    4  99\n");
	assert_fact(db, "rtla.osnoise.cpu.0.noise", "31234");
	assert_fact(db, "rtla.osnoise.cpu.0.max_single", "1900");
	assert_fact(db, "rtla.osnoise.cpu.0.thread", "12");
	assert_fact(db, "rtla.timerlat.cpu.1.irq_max_us", "19");
	assert_fact(db, "rtla.timerlat.cpu.1.thread_max_us", "33");
	assert_fact(db, "rtla.timerlat.cpu.0.thread_avg_us", "4");
	assert_fact(db, "rtla.timerlat.cpu.2.thread_max_us", "99");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void locks(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "lock.txt",
		   " contended   total wait     max wait     avg wait         type   caller\n\n"
		   "       238      1.41 ms     29.20 us      5.94 us     spinlock   update_blocked_averages+0x4c\n"
		   "        12      2.50 s     902.08 ms    208.33 ms     rwlock:W   kvm_mmu_notifier_invalidate_range_start+0x88\n"
		   "                        0xffffffff81000000  kvm_x+0x1\n"
		   "         3     90.00 m       1.00 m     30.00 m        mutex   f\n");
	facts_text(db, "mail.txt",
		   "We ran it per task:\n\n contended   total wait     max wait     avg wait          pid   comm\n\n"
		   "        39    313.00 ns     10.00 ns      8.00 ns         8820   CPU 0/KVM\nThanks, 12 people\n");
	assert_sql_str(db, "SELECT type || ' ' || caller || ' ' || count || ' ' || total_ns || ' ' || max_ns || ' ' || avg_ns FROM lock_contention"
		       " ORDER BY rowid", "spinlock update_blocked_averages+0x4c 238 1410000 29200 5940");
	assert_sql_int(db, "SELECT total_ns FROM lock_contention WHERE type = 'rwlock:W'", 2500000000);
	assert_sql_int(db, "SELECT total_ns FROM lock_contention WHERE type = 'mutex'", 5400000000000);
	assert_sql_str(db, "SELECT tid || caller || total_ns || coalesce(type, '-') FROM lock_contention WHERE tid", "8820CPU 0/KVM313-");
	assert_sql_int(db, "SELECT count(*) FROM lock_contention", 4);
	assert_all_cited(db, "lock_contention");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top),	   cmocka_unit_test(top_rounds), cmocka_unit_test(sar),
		cmocka_unit_test(pidstat), cmocka_unit_test(rtla),	 cmocka_unit_test(locks),
		cmocka_unit_test(smi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
