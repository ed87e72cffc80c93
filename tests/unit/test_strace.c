// SPDX-License-Identifier: GPL-2.0-or-later
/* test_strace.c - calls, their names, durations, halves and stamps. */
#include "facts.h"

static void test_founding(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/createvm-strace.txt");
	assert_sql_int(db, "SELECT count(*) FROM span WHERE func = 'ioctl:KVM_CREATE_VM' AND origin = 'strace'", 3);
	assert_sql_str(db, "SELECT group_concat(duration_ns) FROM (SELECT * FROM span ORDER BY id)", "23567000,76709000,109109000");
	assert_sql_str(db, "SELECT name || ' ' || count || ' ' || max_ns || ' ' || total_ns FROM syscall_stat",
		       "ioctl:KVM_CREATE_VM 3 109109000 209385000");
	assert_all_cited(db, "span");
	case_close(db);
}

static const char halves[] =
	"389   1796060313.261598 execve(\"/bin/vm\", [\"vm\"], 0x7ffe /* 10 vars */) = 0 <0.037026>\n"
	"389   1796060314.790750 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n"
	"393   1796060314.952912 ioctl(3, KVM_CREATE_VM, 0 <unfinished ...>\n"
	"389   1796060314.859126 <... clone resumed>, child_tidptr=0x24ae650) = 393 <0.067758>\n"
	"393   1796060315.244821 <... ioctl resumed>)        = 4 <0.291909>\n"
	"393   1796060315.300000 ioctl(4, KVM_CREATE_VCPU, 0) = -1 EPERM (Operation not permitted) <0.000100>\n"
	"393   1796060315.310000 write(1, \"x) = 5 <9.0>\\n\", 12) = 12 <0.000016>\n"
	"389   1796060315.400000 --- SIGCHLD {si_signo=SIGCHLD} ---\n"
	"393   1796060315.500000 exit_group(0) = ?\n"
	"393   1796060315.600000 +++ exited with 0 +++\n";

static void test_halves(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "strace.txt", halves);
	assert_sql_str(db, "SELECT format || ' ' || status FROM member", "strace read");
	assert_sql_str(db, "SELECT tid || ' ' || start_ns || ' ' || duration_ns || ' ' || result FROM span "
		       "WHERE func = 'ioctl:KVM_CREATE_VM'", "393 1796060314952912000 291909000 4");
	assert_sql_int(db, "SELECT duration_ns FROM span WHERE func = 'clone'", 67758000);
	assert_sql_str(db, "SELECT result FROM span WHERE func = 'ioctl:KVM_CREATE_VCPU'", "-1 EPERM (Operation not permitted)");
	assert_sql_int(db, "SELECT errors FROM syscall_stat WHERE name = 'ioctl:KVM_CREATE_VCPU'", 1);
	/* short, and no KVM ioctl: counted, not listed */
	assert_sql_int(db, "SELECT count(*) FROM span WHERE func = 'write'", 0);
	assert_sql_int(db, "SELECT total_ns FROM syscall_stat WHERE name = 'write'", 16000);
	assert_sql_str(db, "SELECT clock FROM source", "wall");
	case_close(db);
}

/* What strace 6.1 prints where a number is several requests. */
static void test_one_number_two_names(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "s.txt",
		   "2204  1735000000.100000 ioctl(27, VFIO_DEVICE_PCI_HOT_RESET or VFIO_IOMMU_MAP_DMA, 0x7ffd3c) = 0 <3.402113>\n"
		   "2204  1735000004.100000 ioctl(27, VFIO_DEVICE_QUERY_GFX_PLANE or VFIO_IOMMU_UNMAP_DMA, 0x7ffd3c) = 0 <1.402113>\n"
		   "2204  1735000006.100000 ioctl(27, VFIO_DEVICE_RESET, 0) = 0 <0.402113>\n");
	assert_sql_str(db, "SELECT group_concat(func) FROM (SELECT * FROM span ORDER BY start_ns)",
		       "ioctl:VFIO_IOMMU_MAP_DMA,ioctl:VFIO_IOMMU_UNMAP_DMA,ioctl:VFIO_DEVICE_RESET");
	case_close(db);
}

/* What a madvise() costs others depends on the advice. */
static void test_advice(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "s.txt",
		   "2204  1735000000.100000 madvise(0x7f3b40000000, 4096, MADV_DONTNEED) = 0 <0.000021>\n"
		   "2204  1735000000.200000 madvise(0x7f3b40001000, 4096, MADV_DONTNEED <unfinished ...>\n"
		   "2205  1735000000.200100 madvise(0x7f3b40002000, 2097152, MADV_HUGEPAGE) = 0 <0.000009>\n"
		   "2204  1735000000.200200 <... madvise resumed>) = 0 <0.000200>\n"
		   "2204  1735000000.300000 madvise(0x7f3b40001000, 4096, 0x63) = -1 EINVAL (Invalid argument) <0.000002>\n");
	assert_sql_str(db, "SELECT group_concat(name || count) FROM (SELECT * FROM syscall_stat ORDER BY name)",
		       "madvise1,madvise:MADV_DONTNEED2,madvise:MADV_HUGEPAGE1");
	case_close(db);
}

static void test_forms(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "s.txt",
		   "[pid   393] 12:00:01.500000 ioctl(11</dev/kvm>, KVM_CREATE_VM, 0) = 4 <0.067108>\n"
		   "[pid   393] 12:00:02.500000 ioctl(11, _IOC(_IOC_NONE, 0xae, 0x41, 0), 0) = 4 <0.000108>\n"
		   "[pid   393] 12:00:03.500000 ioctl(11, 0xae46, 0x7ffe) = 0 <0.000208>\n");
	assert_sql_str(db, "SELECT group_concat(func) FROM (SELECT * FROM span ORDER BY id)",
		       "ioctl:KVM_CREATE_VM,ioctl:KVM_CREATE_VCPU,ioctl:KVM_SET_USER_MEMORY_REGION");
	assert_sql_int(db, "SELECT start_ns FROM span ORDER BY id", 43201500000000);
	assert_sql_str(db, "SELECT clock FROM source", "time of day");
	case_close(db);
	db = facts_new();
	facts_text(db, "r.txt", "     0.000000 brk(NULL) = 0x1 <0.001000>\n     0.250000 brk(NULL) = 0x1 <0.002000>\n"
		   "     0.500000 brk(NULL) = 0x1 <0.003000>\n");
	assert_sql_int(db, "SELECT start_ns FROM span WHERE duration_ns = 3000000", 750000000);
	case_close(db);
}

/* In prose only lines that end in a duration count. */
static void test_prose(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "Hi,\n\nwith this patch I see\n\n  ioctl(3, KVM_CREATE_VM, 0)              = 4 <0.000518>\n\n"
		   "The call create(x) = 4 is fast. foo(1) = 2\n  synchronize_rcu() = slow <very>\n"
		   "  percpu_down_write(&cgroup_threadgroup_rwsem)\n");
	assert_sql_int(db, "SELECT count(*) FROM span", 1);
	assert_sql_int(db, "SELECT sum(count) FROM syscall_stat", 1);
	assert_sql_int(db, "SELECT line FROM cite", 5);
	case_close(db);
}

/* A flood of long calls must not push out the rare KVM ioctl, nor fill the case file. */
static void test_flood(void **state __unused)
{
	struct case_db *db = facts_new();
	size_t i, len = 0, cap = 1 << 20;
	_cleanup_free_ char *text = xmalloc(cap);

	for (i = 0; i < 5000; i++)
		len += (size_t)sprintf(text + len, "%zu ioctl(12, KVM_RUN, 0) = 0 <1.%06zu>\n%s", 100 + i % 7, i,
				       i == 2500 ? "99 ioctl(3, KVM_CREATE_VM, 0) = 4 <0.001000>\n" : "");
	facts_mem(db, "s.txt", text, len);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE func = 'ioctl:KVM_RUN'", 200);
	assert_sql_int(db, "SELECT min(duration_ns) FROM span WHERE func = 'ioctl:KVM_RUN'", 1004800000);
	assert_sql_int(db, "SELECT count(*) FROM span WHERE func = 'ioctl:KVM_CREATE_VM'", 1);
	assert_sql_int(db, "SELECT sum(count) FROM syscall_stat", 5001);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_founding), cmocka_unit_test(test_halves),
		cmocka_unit_test(test_one_number_two_names),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_forms),	 cmocka_unit_test(test_prose),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
