// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of what everything stands on: interner, UTF-8, top-N, case file, stream, tasks and
 * VMs. */
#include "drive.h"

#include <fcntl.h>

#include "strtab.h"
#include "topn.h"
#include "utf8.h"

/* An event of declared type @type at @us microseconds; the caller fills the arguments and pushes
 * it. */
static struct event *event_at(struct drive *f, uint16_t type, uint64_t us, int cpu, int tid)
{
	return drive_next(f, f->s->types[type].kind, type, us * 1000, (uint16_t)cpu, tid);
}

static void strtab_interns(void **state)
{
	struct strtab t;
	char buf[16];
	int i;

	(void)state;
	strtab_init(&t, 1000);
	for (i = 0; i < 1200; i++) {
		int n = snprintf(buf, sizeof(buf), "s%d", i);

		assert_int_equal(strtab_id(&t, buf, (size_t)n),
				 i < 1000 ? (uint32_t)i : STRTAB_NONE);
	}
	assert_int_equal(strtab_id(&t, "s77", 3), 77);
	assert_int_equal(strtab_find(&t, "s1100", 5), STRTAB_NONE);
	assert_string_equal(strtab_str(&t, 999), "s999");
	assert_string_equal(strtab_str(&t, STRTAB_NONE), "");
	strtab_deinit(&t);
}

static void utf8_is_checked(void **state)
{
	static const struct {
		const char *s;
		bool valid;
	} rows[] = {
		{ "plain", true }, { "\xc3\xa4", true }, { "\xe2\x82\xac", true }, { "\xf0\x9f\x98\x80", true },
		{ "\xc0\x80", false }, { "\xed\xa0\x80", false }, { "\xf4\x90\x80\x80", false }, { "\xff", false },
		{ "a\xc3", false }, { "\x80", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *clean = utf8_clean(rows[i].s, strlen(rows[i].s));

		assert_int_equal(utf8_valid(rows[i].s, strlen(rows[i].s)), rows[i].valid);
		assert_true(utf8_valid(clean, strlen(clean)));
		if (rows[i].valid)
			assert_string_equal(clean, rows[i].s);
	}
	assert_int_equal(utf8_cut("ab\xe2\x82\xac", 3), 2);
	assert_int_equal(utf8_cut("ab\xe2\x82\xac", 4), 2);
	assert_int_equal(utf8_cut("ab\xe2\x82\xac", 5), 5);
	assert_int_equal(utf8_cut("abcde", 3), 3);
}

static void topn_keeps_the_largest(void **state)
{
	struct { uint64_t rank; int n; } rec;
	struct topn t;
	int i;

	(void)state;
	topn_init(&t, sizeof(rec), 10);
	for (i = 0; i < 1000; i++) {
		rec.rank = (uint64_t)(i * 7919 % 1009);
		rec.n = i;
		topn_add(&t, &rec);
	}
	topn_sort(&t, NULL);
	assert_int_equal(t.n, 10);
	for (i = 1; i < 10; i++)
		assert_true(topn_rank(&t, (size_t)i - 1) >= topn_rank(&t, (size_t)i));
	assert_true(topn_rank(&t, 9) >= 990);
	topn_deinit(&t);
}

static void case_file_saves_and_opens(void **state)
{
	char path[] = "/tmp/kvmortem-test-XXXXXX";
	struct case_db *c, *again;
	struct error *err;
	int fd = mkstemp(path);
	int64_t source;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	drive_ok(case_create(&c, NULL));
	drive_ok(case_source(c, &source, 1, "a\xff" "b", "x", NULL));
	drive_ok(case_fact(c, source, NULL, "k", "42", NULL, 0));
	drive_ok(case_fact(c, source, NULL, "h", "0x10", NULL, 0));
	assert_int_equal(case_int(c, -1, "SELECT num FROM fact WHERE key = ?", "s", "k"), 42);
	assert_int_equal(case_int(c, -1, "SELECT num FROM fact WHERE key = ?", "s", "h"), -1);
	drive_ok(case_save(c, path));
	case_close(c);
	drive_ok(case_open(&again, path));
	assert_int_equal(case_int(again, 0, "SELECT count(*) FROM source WHERE path = 'a' || char(0xfffd) || 'b'", ""), 1);
	err = case_fact(again, source, NULL, "k", "43", NULL, 0);
	assert_non_null(err);	/* read-only */
	error_free(err);
	case_close(again);
	fd = open(path, 1);
	assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 4096 + 3), 8);
	close(fd);
	err = case_open(&again, path);
	assert_non_null(err);
	assert_int_equal(err->code, ERR_INPUT);
	error_free(err);
	unlink(path);
}

static void stream_counts_and_window(void **state)
{
	struct drive f;
	int i;

	(void)state;
	drive_open(&f);
	f.s->window = (struct stream_time){ .set = true,
					    .has_from = true,
					    .from_rel = true,
					    .from_ns = 5000,
					    .has_to = true,
					    .to_rel = true,
					    .to_ns = 10000 };
	for (i = 0; i < 20; i++) {
		event_at(&f, drive_type(&f, "kvm", "kvm_fpu"), 100 + (uint64_t)i, 0, 1);
		stream_push(f.s);
	}
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count FROM event_count WHERE event = 'kvm:kvm_fpu'"), 6);
	assert_int_equal(drive_int(&f, "SELECT first_ns FROM source"), 105000);
	assert_int_equal(drive_int(&f, "SELECT last_ns FROM source"), 110000);
	drive_free(&f);
}

static void stream_many_batches(void **state)
{
	struct drive f;
	uint16_t type;
	int i;

	(void)state;
	drive_open(&f);
	type = drive_type(&f, "sched", "sched_stat_wait");
	for (i = 0; i < 20 * STREAM_BATCH + 7; i++) {
		event_at(&f, type, (uint64_t)i, i % 4, 1 + i % 100);
		stream_push(f.s);
	}
	drive_lost(&f, ((uint64_t)i) * 1000, 2, 17);
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT events FROM source"), 20 * STREAM_BATCH + 7);
	assert_int_equal(drive_int(&f, "SELECT lost FROM source"), 17);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM task"), 100);
	assert_int_equal(drive_int(&f, "SELECT sum(events) FROM task"), 20 * STREAM_BATCH + 7);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM coverage WHERE complete = 'lossy'"), 1);
	assert_int_equal(drive_int(&f, "SELECT cpu FROM loss"), 2);
	drive_free(&f);
}

static void probe_names(void **state)
{
	static const struct {
		const char *system, *name;
		enum event_kind kind;
		const char *func;
	} rows[] = {
		{ "kprobes", "p_task_numa_work_0", EV_PROBE_ENTER, "task_numa_work" },
		{ "kprobes", "p_tdp_mmu_zap_leafs", EV_PROBE_ENTER, "tdp_mmu_zap_leafs" },
		{ "kprobes", "r___mmu_notifier_invalidate_range_start", EV_PROBE_RETURN, "__mmu_notifier_invalidate_range_start" },
		{ "probe", "do_sys_open", EV_PROBE_ENTER, "do_sys_open" },
		{ "probe", "do_sys_open__return", EV_PROBE_RETURN, "do_sys_open" },
		{ "kprobes", "p_hv_track_root_tdp_0", EV_PROBE_ROOT, "hv_track_root_tdp" },
		{ "kprobes", "hv_track_root_tdp", EV_PROBE_ROOT, "hv_track_root_tdp" },
		{ "kvm", "kvm_exit", EV_KVM_EXIT, NULL },
		{ NULL, "kvm_exit", EV_KVM_EXIT, NULL },
		{ "foo", "kvm_exit", EV_OTHER, NULL },
	};
	struct drive f;
	size_t i;

	(void)state;
	drive_open(&f);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t t = drive_type(&f, rows[i].system, rows[i].name);

		assert_int_equal(f.s->types[t].kind, rows[i].kind);
		if (rows[i].func)
			assert_string_equal(strtab_str(&f.s->strings, f.s->types[t].func),
					    rows[i].func);
	}
	drive_close(&f);
	drive_free(&f);
}

static void vcpu_names(void **state)
{
	(void)state;
	assert_int_equal(comm_vcpu_number("CPU 0/KVM"), 0);
	assert_int_equal(comm_vcpu_number("CPU 127/KVM"), 127);
	assert_int_equal(comm_vcpu_number("CPU 0/K"), 0);
	assert_int_equal(comm_vcpu_number("fc_vcpu 3"), 3);
	assert_int_equal(comm_vcpu_number("kvm-vcpu-11"), 11);
	assert_int_equal(comm_vcpu_number("CPU 0"), -1);
	assert_int_equal(comm_vcpu_number("CPU"), -1);
	assert_int_equal(comm_vcpu_number("vcpu"), -1);
	assert_int_equal(comm_vcpu_number("kworker/0:1"), -1);
}

static void vms_by_thread_group(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	drive_comm(&f, 0, 100, 100, "qemu-system-x86", TASK_COMM);
	drive_comm(&f, 0, 101, 100, "CPU 0/KVM", TASK_COMM);
	drive_comm(&f, 0, 102, 100, "CPU 1/KVM", TASK_COMM);
	drive_comm(&f, 0, 201, 200, "CPU 0/KVM", TASK_COMM);
	drive_entry(&f, (1) * 1000, 0, 101, 0);
	drive_entry(&f, (2) * 1000, 1, 102, 1);
	drive_entry(&f, (3) * 1000, 2, 201, 0);
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM vm"), 2);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM vcpu v JOIN vm ON vm.id = v.vm_id WHERE tgid = 100"), 2);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM vm WHERE name = 'qemu-system-x86' AND tgid = 100"), 1);
	drive_free(&f);
}

/* Without thread groups a vCPU number that comes again begins another VM. */
static void vms_by_number(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	drive_entry(&f, (1) * 1000, 0, 11, 0);
	drive_entry(&f, (2) * 1000, 0, 12, 1);
	drive_entry(&f, (3) * 1000, 0, 21, 0);
	drive_entry(&f, (4) * 1000, 0, 22, 1);
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(DISTINCT vm_id) FROM vcpu"), 2);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM (SELECT vm_id FROM vcpu GROUP BY vm_id"
				      " HAVING min(tid) = 11 AND max(tid) = 12)"), 1);
	drive_free(&f);
}

static void cpu_time_by_switches(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	drive_switch(&f, (1000) * 1000, 0, 0, 0, 7, "worker");
	drive_switch(&f, (3000) * 1000, 0, 7, TSTATE_INTERRUPTIBLE, 0, "swapper/0");
	drive_wake(&f, EV_SCHED_WAKING, 5000000, 1, 9, 7, "worker", 1);
	drive_wake(&f, EV_SCHED_WAKING, 6000000, 1, 9, 7, "worker", 1);
	drive_switch(&f, (8000) * 1000, 0, 0, 0, 7, "worker");
	drive_switch(&f, (9000) * 1000, 0, 7, TSTATE_RUNNABLE, 0, "swapper/0");
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT oncpu_ns FROM task WHERE tid = 7"), 3000000);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM task WHERE tid = 7 AND comm = 'worker'"), 1);
	drive_free(&f);
}

/* Hostile task ids neither grow the tables nor crash. */
static void absurd_tids(void **state)
{
	struct drive f;
	uint16_t type;

	(void)state;
	drive_open(&f);
	type = drive_type(&f, "sched", "sched_stat_wait");
	event_at(&f, type, 1, 0, INT32_MAX);
	stream_push(f.s);
	event_at(&f, type, 2, 65534, -5);
	stream_push(f.s);
	drive_switch(&f, (3) * 1000, 0, INT32_MAX, 0, 1 << 30, "x");
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM task WHERE tid > 4194303"), 0);
	drive_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strtab_interns),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(topn_keeps_the_largest),
		cmocka_unit_test(case_file_saves_and_opens),
		cmocka_unit_test(stream_counts_and_window),
		cmocka_unit_test(stream_many_batches),
		cmocka_unit_test(probe_names),
		cmocka_unit_test(vcpu_names),
		cmocka_unit_test(vms_by_thread_group),
		cmocka_unit_test(vms_by_number),
		cmocka_unit_test(cpu_time_by_switches),
		cmocka_unit_test(absurd_tids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
