// SPDX-License-Identifier: GPL-2.0-or-later
/* test_vm_settings.c - parsers/libvirt_domain.c and parsers/qemu_cmdline.c */
#include "facts.h"

static const char domain_xml[] =
	"<!--\nWARNING: THIS IS AN AUTO-GENERATED FILE.\n-->\n\n"
	"<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>\n"
	"  <name>web &amp; db</name>\n"
	"  <memory unit='GiB'>4</memory>\n"
	"  <currentMemory>2097152</currentMemory>\n"
	"  <memoryBacking>\n"
	"    <hugepages>\n"
	"      <page size='1048576' unit='KiB'/>\n"
	"    </hugepages>\n"
	"    <nosharepages/>\n"
	"  </memoryBacking>\n"
	"  <vcpu placement='static' cpuset='0-7'>4</vcpu>\n"
	"  <iothreads>2</iothreads>\n"
	"  <cputune>\n"
	"    <shares>2048</shares>\n"
	"    <period>100000</period>\n"
	"    <quota>-1</quota>\n"
	"    <global_quota>120000</global_quota>\n"
	"    <vcpupin vcpu='0' cpuset='2'/>\n"
	"    <vcpupin vcpu='1' cpuset='3,^1'/>\n"
	"    <emulatorpin cpuset='0-1'/>\n"
	"    <iothreadpin iothread='2' cpuset='5'/>\n"
	"  </cputune>\n"
	"  <numatune>\n"
	"    <memory mode='strict' nodeset='1'/>\n"
	"    <memnode cellid='0' mode='preferred' nodeset='0'/>\n"
	"  </numatune>\n"
	"  <os>\n"
	"    <type arch='x86_64' machine='pc-q35-6.2'>hvm</type>\n"
	"    <loader readonly='yes' secure='yes' type='pflash'>/usr/share/OVMF/OVMF_CODE.secboot.fd</loader>\n"
	"  </os>\n"
	"  <features>\n"
	"    <acpi/>\n"
	"    <hyperv mode='custom'>\n"
	"      <relaxed state='on'/>\n"
	"      <vapic state='off'/>\n"
	"      <spinlocks state='on' retries='8191'/>\n"
	"    </hyperv>\n"
	"    <kvm>\n"
	"      <hidden state='on'/>\n"
	"    </kvm>\n"
	"    <smm state='on'/>\n"
	"  </features>\n"
	"  <cpu mode='host-passthrough' check='none' migratable='on'>\n"
	"    <topology sockets='1' dies='1' cores='2' threads='2'/>\n"
	"    <feature policy='disable' name='vmx'/>\n"
	"  </cpu>\n"
	"  <clock offset='localtime'>\n"
	"    <timer name='hpet' present='no'/>\n"
	"    <timer name='rtc' tickpolicy='catchup'/>\n"
	"  </clock>\n"
	"  <devices>\n"
	"    <emulator>/usr/bin/qemu-system-x86_64</emulator>\n"
	"    <disk type='file'><driver name='qemu' iothread='1'/><iotune><total_iops_sec>500</total_iops_sec></iotune></disk>\n"
	"    <memballoon model='none'/>\n"
	"  </devices>\n"
	"  <qemu:commandline>\n"
	"    <qemu:arg value='-overcommit'/>\n"
	"    <qemu:arg value='cpu-pm=on'/>\n"
	"  </qemu:commandline>\n"
	"</domain>\n";

static void domain_facts(void **state)
{
	static const struct { const char *key, *value; } want[] = {
		{ "vcpus", "4" }, { "vcpus.cpuset", "0-7" }, { "memory_kb", "4194304" }, { "memory_current_kb", "2097152" },
		{ "memory.hugepages", "yes" }, { "memory.hugepages.page", "1048576" }, { "memory.nosharepages", "yes" },
		{ "iothreads", "2" }, { "disk.iotune.total_iops_sec", "500" }, { "cputune.shares", "2048" }, { "cputune.period_us", "100000" }, { "cputune.quota_us", "-1" },
		{ "cputune.global_quota_us", "120000" }, { "cputune.vcpupin.0", "2" }, { "cputune.vcpupin.1", "3,^1" },
		{ "cputune.emulatorpin", "0-1" }, { "cputune.iothreadpin.2", "5" }, { "numatune.mode", "strict" },
		{ "numatune.nodeset", "1" }, { "numatune.cell.0.mode", "preferred" }, { "os.machine", "pc-q35-6.2" },
		{ "os.type", "hvm" }, { "os.loader", "/usr/share/OVMF/OVMF_CODE.secboot.fd" }, { "os.loader.secure", "yes" },
		{ "features.acpi", "yes" }, { "features.smm", "on" }, { "features.kvm.hidden", "on" }, { "hyperv.mode", "custom" },
		{ "hyperv.relaxed", "on" }, { "hyperv.vapic", "off" }, { "hyperv.spinlocks.retries", "8191" },
		{ "cpu.mode", "host-passthrough" }, { "cpu.threads", "2" }, { "cpu.feature.vmx", "disable" },
		{ "clock.offset", "localtime" }, { "clock.timer.hpet.present", "no" }, { "clock.timer.rtc.tickpolicy", "catchup" },
		{ "emulator", "/usr/bin/qemu-system-x86_64" }, { "disk.iothread", "1" }, { "memballoon", "none" },
		{ "qemu_arg", "-overcommit|cpu-pm=on" },
	};
	struct case_db *db = facts_new();
	size_t i;

	(void)state;
	facts_text(db, "etc/libvirt/qemu/web.xml", domain_xml);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		_cleanup_free_ char *sql = xasprintf("SELECT group_concat(value, '|') FROM fact WHERE key = 'domain.web & db.%s'",
						     want[i].key);

		assert_sql_str(db, sql, want[i].value);
	}
	assert_sql_str(db, "SELECT c.line || c.text FROM fact f JOIN cite c ON c.id = f.cite_id WHERE f.key GLOB '*.vcpupin.1'",
		       "23    <vcpupin vcpu='1' cpuset='3,^1'/>");
	assert_sql_int(db, "SELECT count(DISTINCT side) = 1 AND min(side) = 'host' FROM fact", 1);
	assert_all_cited(db, "fact");
	case_close(db);
}

/* Pasted into a mail, quoted, and cut off. */
static void domain_in_prose(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "mail.txt",
		   "Hello,\nthis is the VM:\n\n"
		   "> <domain type='kvm' id='7'>\n>   <name>vm7</name>\n>   <vcpu>8</vcpu>\n>   <cputune>\n"
		   ">     <quota>20000</quota>\n[snip]\nIt hangs.\n<domain type='kvm'>\n<name>b</name><vcpu>2</vcpu></domain>\n");
	assert_fact(db, "domain.vm7.vcpus", "8");
	assert_fact(db, "domain.vm7.cputune.quota_us", "20000");
	assert_fact(db, "domain.vm7.id", "7");
	assert_fact(db, "domain.b.vcpus", "2");
	assert_all_cited(db, "fact");
	case_close(db);
}

static void domain_status_file(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "run/libvirt/qemu/vm7.xml",
		   "<domstatus state='running' reason='booted' pid='4711'>\n  <vcpus>\n    <vcpu id='0' pid='4720'/>\n"
		   "    <vcpu id='1' pid='4721'/>\n  </vcpus>\n  <domain type='kvm' id='3'>\n    <name>vm7</name>\n"
		   "    <vcpu>2</vcpu>\n  </domain>\n</domstatus>\n");
	assert_fact(db, "domain.vm7.pid", "4711");
	assert_fact(db, "domain.vm7.vcpu.1.tid", "4721");
	assert_fact(db, "domain.vm7.vcpus", "2");
	assert_fact(db, "domain.vm7.state", "running");
	case_close(db);
}

/* Entities that would grow a million times are an error, not a memory. */
static void domain_entities(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "lol.xml",
		   "<?xml version=\"1.0\"?>\n<!DOCTYPE domain [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>\n"
		   "<domain type='kvm'>\n<vcpu>3</vcpu>\n<name>&b;</name>\n</domain>\n");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE value LIKE '%haha%' OR key LIKE '%haha%'", 0);
	assert_sql_str(db, "SELECT status FROM member", "partly");
	assert_sql_int(db, "SELECT message LIKE '%undefined entity%' FROM member", 1);
	assert_fact(db, "domain.unnamed.vcpus", "3");
	case_close(db);
}

static void libvirt_log(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "var/log/libvirt/qemu/db.log",
		   "2023-02-01 08:15:30.123+0000: starting up libvirt version: 8.0.0, package: 1ubuntu7, "
		   "qemu version: 6.2.0Debian 1:6.2+dfsg-2ubuntu6, kernel: 5.15.0-56-generic, hostname: node1\n"
		   "LC_ALL=C \\\nPATH=/usr/local/sbin:/usr/bin \\\n/usr/bin/qemu-system-x86_64 \\\n"
		   "-name guest=db,debug-threads=on \\\n-S \\\n"
		   "-machine pc-q35-6.2,accel=kvm,usb=off,smm=on,dump-guest-core=off \\\n"
		   "-cpu host,migratable=on,hv-time=on,hv-relaxed=on,hv-vapic=off \\\n"
		   "-m size=4194304k,slots=16 \\\n-overcommit mem-lock=off \\\n-smp 4,maxcpus=8,sockets=8 \\\n"
		   "-object '{\"qom-type\":\"iothread\",\"id\":\"iothread1\"}' \\\n-object iothread,id=iothread2 \\\n"
		   "-object '{\"qom-type\":\"throttle-group\",\"id\":\"g\"}' \\\n-drive file=a,if=none,throttling.iops-total=9 \\\n"
		   "-drive file=b,if=none \\\n"
		   "-device '{\"driver\":\"vfio-pci\",\"host\":\"0000:01:00.0\"}' \\\n-global kvm-pit.lost_tick_policy=delay \\\n"
		   "-msg timestamp=on\n"
		   "2023-02-01T08:20:00.000000Z qemu-system-x86_64: terminating on signal 15 from pid 1234\n"
		   "2023-02-01 08:20:01.000+0000: shutting down, reason=shutdown\n");
	assert_fact(db, "qemu.db.vcpus", "4");
	assert_fact(db, "qemu.db.maxcpus", "8");
	assert_fact(db, "qemu.db.accel", "kvm");
	assert_fact(db, "qemu.db.smm", "on");
	assert_fact(db, "qemu.db.cpu.model", "host");
	assert_fact(db, "qemu.db.cpu.hyperv", "time relaxed");
	assert_fact(db, "qemu.db.memory_mb", "4096");
	assert_fact(db, "qemu.db.iothreads", "2");
	assert_sql_str(db, "SELECT group_concat(value, ' ') FROM fact WHERE key = 'qemu.db.throttle'",
		       "{\"qom-type\":\"throttle-group\",\"id\":\"g\"} file=a,if=none,throttling.iops-total=9");
	assert_fact(db, "qemu.db.vfio_devices", "1");
	assert_fact(db, "qemu.db.global", "kvm-pit.lost_tick_policy=delay");
	assert_fact(db, "qemu.db.version", "6.2.0Debian 1:6.2+dfsg-2ubuntu6");
	assert_fact(db, "libvirt.version", "8.0.0");
	assert_fact(db, "kernel.release", "5.15.0-56-generic");
	assert_fact(db, "host.name", "node1");
	assert_sql_int(db, "SELECT c.line FROM fact f JOIN cite c ON c.id = f.cite_id WHERE f.key = 'qemu.db.smp'", 11);
	assert_all_cited(db, "fact");
	case_close(db);
}

static void ps_and_showcmd(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "ps.txt",
		   "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
		   "root           1  0.0  0.0 168000 12000 ?        Ss   Jan01   0:05 /sbin/init\n"
		   "64055       8812  340 12.0 9000000 8400000 ?     Sl   Jan01 999:05 /usr/bin/qemu-system-x86_64 -name guest=a "
		   "-smp 2 -m 2G -machine q35 -accel kvm\n"
		   "root        9000  0.0  0.0   6000  2000 pts/0    S+   10:00   0:00 grep qemu-system-x86_64\n");
	facts_text(db, "qm-showcmd",
		   "/usr/bin/kvm -id 101 -name 'win11,debug-threads=on' -no-shutdown -smp '4,sockets=1,cores=4,maxcpus=4' "
		   "-cpu 'host,hv_ipi,hv_relaxed,+kvm_pv_unhalt' -m 8192 -machine 'type=pc-q35-8.1+pve0' -global 'PIIX4_PM.disable_s3=1'\n");
	assert_fact(db, "qemu.a.pid", "8812");
	assert_fact(db, "qemu.a.vcpus", "2");
	assert_fact(db, "qemu.a.memory_mb", "2048");
	assert_fact(db, "qemu.a.accel", "kvm");
	assert_fact(db, "qemu.win11.vcpus", "4");
	assert_fact(db, "qemu.win11.cpu.hyperv", "ipi relaxed");
	assert_fact(db, "qemu.win11.memory_mb", "8192");
	assert_fact(db, "qemu.win11.machine", "type=pc-q35-8.1+pve0");
	assert_sql_int(db, "SELECT count(*) FROM fact WHERE key GLOB 'qemu.unnamed.*'", 0);
	case_close(db);
}

/* Talk about QEMU is no command line. */
static void no_command(void **state)
{
	struct case_db *db = facts_new();

	(void)state;
	facts_text(db, "talk.txt",
		   "the host has qemu-kvm - version 7 - and hangs\nwe start kvm -- as always -- by hand\n"
		   "kvm: -m is what matters\nqemu-system-x86_64: -device vfio: error\n");
	assert_sql_int(db, "SELECT count(*) FROM fact", 0);
	case_close(db);
}

/* Quotas are rows of table cgroup as well; 0 is none given, -1 none at all. */
static void domain_quotas(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "forms/domain-quotas-status.xml");
	assert_sql_str(db, "SELECT group_concat(path || '=' || quota_ns || '/' || period_ns || ifnull(threads, ''), ' ') FROM (SELECT * FROM cgroup "
		       "ORDER BY id)", "shop-db/vcpu*=20000000/50000000[4720,4721] shop-db/emulator=15000000/100000000 shop-db=-1/100000000");
	assert_sql_int(db, "SELECT c.line FROM cgroup g JOIN cite c ON c.id = g.cite_id WHERE path = 'shop-db/vcpu*'", 12);
	assert_all_cited(db, "cgroup");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domain_quotas),
		cmocka_unit_test(domain_facts),	      cmocka_unit_test(domain_in_prose),
		cmocka_unit_test(domain_status_file), cmocka_unit_test(domain_entities),
		cmocka_unit_test(libvirt_log),	      cmocka_unit_test(ps_and_showcmd),
		cmocka_unit_test(no_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
