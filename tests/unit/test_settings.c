// SPDX-License-Identifier: GPL-2.0-or-later
/* test_settings.c - kernel config, bare values, sysctl, uname, numactl, vmstat, meminfo, mounts. */
#include "facts.h"

/* Founding case 1: VOLUNTARY is chosen, and yet locks are dropped on contention. */
static void test_config(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/numa-kernel-config.txt");
	assert_fact(db, "kernel.config.PREEMPT", "n");
	assert_fact(db, "kernel.config.PREEMPT_VOLUNTARY", "y");
	assert_fact(db, "kernel.config.DRM_I915_PREEMPT_TIMEOUT", "640");
	assert_fact(db, "kernel.preempt.model", "dynamic");
	assert_fact(db, "kernel.preempt.needbreak", "y");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void test_config_in_prose(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "it can be avoided by building the kernel with\nCONFIG_CGROUP_FAVOR_DYNMODS=y\nor by mounting.\n\n"
		   "+CONFIG_ADDED=y\n#ifdef CONFIG_PREEMPT_RT\n\nFWIW:\n\nCONFIG_PREEMPT_VOLUNTARY=y\n# CONFIG_PREEMPT is not set\n"
		   "CONFIG_LOCALVERSION=\"-x\"\n");
	assert_sql_str(db, "SELECT group_concat(key || '=' || value) FROM fact",
		       "kernel.config.PREEMPT_VOLUNTARY=y,kernel.config.PREEMPT=n,kernel.config.LOCALVERSION=-x");
	case_close(db);
}

static void test_values(void **state __unused)
{
	static const struct { const char *name, *text, *want; } rows[] = {
		{ "sos/sys/module/kvm/parameters/nx_huge_pages", "never\n", "param.kvm.nx_huge_pages=never" },
		{ "nx_huge_pages", "N\n", "param.kvm.nx_huge_pages=N" },
		{ "nx_huge_pages", "auto please\n", NULL },
		{ "sys/module/kvm_intel/parameters/preemption_timer", "Y\n", "param.kvm_intel.preemption_timer=Y" },
		{ "tdp_mmu.txt", "Y\n", "param.kvm.tdp_mmu=Y" },
		{ "tdp_mmu.txt", "2\n", NULL },
		{ "numa_balancing.txt", "1\n", "sysctl.kernel.numa_balancing=1" },
		{ "proc/sys/kernel/numa_balancing", "0\n", "sysctl.kernel.numa_balancing=0" },
		{ "numa_balancing.txt", "one\n", NULL },
		{ "preempt.txt", "none (voluntary) full \n", "sched.preempt=voluntary" },
		{ "sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n", "sched.preempt=full" },
		{ "preempt.txt", "none voluntary full\n", NULL },
		{ "sys/kernel/mm/ksm/run", "1\n", "ksm.run=1" },
		{ "run", "1\n", NULL },
		{ "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", "thp.enabled=madvise" },
		{ "thp.txt", "always madvise [never]\n", "thp.enabled=never" },
		{ "sys/devices/system/cpu/vulnerabilities/itlb_multihit", "KVM: Mitigation: VMX disabled\n",
		  "cpu.vulnerability.itlb_multihit=KVM: Mitigation: VMX disabled" },
		{ "uptime-before.txt", "11.77\n", "proc.uptime_s=11.77" },
		{ "proc/uptime", "11.77 20.50\n", "proc.uptime_s=11.77" },
		{ "proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 kvm.tdp_mmu=0\n",
		  "kernel.cmdline=BOOT_IMAGE=/vmlinuz root=/dev/sda1 kvm.tdp_mmu=0,cmdline.kvm.tdp_mmu=0" },
		{ "proc/1/cmdline", "qemu-system-x86_64 -drive root=x\n", "qemu.unnamed.emulator=qemu-system-x86_64" },
		{ "proc/1/cmdline", "/sbin/init root=x\n", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct case_db *db = facts_new();
		char buf[512];

		facts_text(db, rows[i].name, rows[i].text);
		facts_str(db, buf, "SELECT group_concat(key || '=' || value) FROM fact");
		if (strcmp(buf, rows[i].want ? rows[i].want : "(null)"))
			fail_msg("%s: %s", rows[i].name, buf);
		assert_all_cited(db, "fact");
		case_close(db);
	}
}

static void test_version(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "proc/version", "Linux version 6.1.0-50-amd64 (b@d) (gcc) #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1\n");
	facts_text(db, "uname.txt", "Linux hv1 5.14.0-444.el9.x86_64 #1 SMP PREEMPT_RT Mon x86_64 GNU/Linux\n");
	assert_fact(db, "kernel.release", "6.1.0-50-amd64|5.14.0-444.el9.x86_64");
	assert_fact(db, "kernel.preempt.model", "dynamic|rt");
	assert_fact(db, "host.name", "hv1");
	case_close(db);
}

static void test_sysctl(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "sysctl_-a", "kernel.numa_balancing = 1\nkernel.ostype = Linux\nnet.ipv4.ip_forward = 1\nvm.swappiness = 60\n");
	assert_sql_str(db, "SELECT group_concat(key || '=' || value) FROM fact",
		       "sysctl.kernel.numa_balancing=1,sysctl.kernel.ostype=Linux,sysctl.vm.swappiness=60");
	case_close(db);
}

/* What somebody did, or wants done, is no state of the host. */
static void test_prose(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "We disabled it with `echo 0 > /proc/sys/kernel/numa_balancing` [2], then\n\n"
		   "  echo 1250 > /sys/kernel/mm/ksm/pages_to_scan\n  echo 1 > /sys/kernel/mm/ksm/run\n\n"
		   "(/sys/kernel/mm/ksm/pages_sharing exceeds 7864320), see\n/sys/kernel/debug/sched/preempt, defaults to preempt=voluntary.\n"
		   "set kernel.numa_balancing = 0 please\n\n"
		   "$ cat /proc/sys/kernel/numa_balancing\n1\n\n/sys/kernel/mm/ksm/pages_sharing:7864321\n");
	assert_sql_str(db, "SELECT group_concat(key || '=' || value) FROM fact",
		       "sysctl.kernel.numa_balancing=1,ksm.pages_sharing=7864321");
	case_close(db);
}

static void test_numactl(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/numactl-H.txt");
	assert_fact(db, "numa.nodes", "2");
	assert_fact(db, "numa.node.0.cpus", "0-15,32-47");
	assert_fact(db, "numa.node.1.size_mb", "128971");
	assert_fact(db, "numa.node.1.free_mb", "126587");
	assert_fact(db, "numa.distance.0.1", "21");
	assert_fact(db, "numa.distance.1.1", "10");
	case_close(db);
	db = facts_new();
	facts_text(db, "mail.txt", "Hi,\n# numactl -H\navailable: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3\n4 5 6 8\nnode 0 size: 10 MB\n"
		   "node 1 cpus:\nnode 1 size: 20 MB\nnode distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n\n3 4 5\n");
	assert_fact(db, "numa.node.0.cpus", "0-6,8");
	assert_fact(db, "numa.node.1.cpus", "");
	assert_fact(db, "numa.distance.1.0", "21");
	case_close(db);
}

static void test_vmstat(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "vmstat.txt", "nr_free_pages 474772\nnr_bounce 0\nnuma_pte_updates 302115\nksm_swpin_copy 1\nthp_fault_alloc 7\n");
	facts_text(db, "meminfo", "MemTotal:        2533144 kB\nHugePages_Total:       4\nActive(anon):  7 kB\n");
	assert_fact(db, "vmstat.numa_pte_updates", "302115");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB 'vmstat.*'", 4);
	assert_fact(db, "meminfo.MemTotal_kb", "2533144");
	assert_fact(db, "meminfo.HugePages_Total", "4");
	case_close(db);
}

static void test_mounts(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "a/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,relatime,favordynmods 0 0\n");
	facts_text(db, "b/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		   "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n");
	facts_text(db, "c/mount.txt", "/dev/sda1 on / type ext4 (rw)\n"
		   "cgroup on /sys/fs/cgroup/cpu,cpuacct type cgroup (rw,nosuid,cpu,cpuacct)\n");
	assert_fact(db, "cgroup.favordynmods", "yes|no");
	assert_fact(db, "mount.cgroup2.options", "rw,relatime,favordynmods|rw,relatime,rw,nsdelegate");
	assert_fact(db, "mount.cgroup.cpu.options", "rw,nosuid,cpu,cpuacct");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),	cmocka_unit_test(test_config_in_prose),
		cmocka_unit_test(test_values),	cmocka_unit_test(test_version),
		cmocka_unit_test(test_sysctl),	cmocka_unit_test(test_prose),
		cmocka_unit_test(test_numactl), cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_mounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
