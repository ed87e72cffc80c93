// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of roots, retry loops, function spans and system calls, each on a short made-up
 * sequence. */
#include "drive.h"

/* An event of declared type @type at @us microseconds; the caller fills the arguments and pushes
 * it. */
static struct event *event_at(struct drive *f, uint16_t type, uint64_t us, int cpu, int tid)
{
	return drive_next(f, f->s->types[type].kind, type, us * 1000, (uint16_t)cpu, tid);
}

static void exit_at(struct drive *f, uint64_t us, int cpu, int tid, const char *reason,
		    uint64_t rip, uint32_t vcpu)
{
	struct event *ev = event_at(f, drive_type(f, "kvm", "kvm_exit"), us, cpu, tid);

	ev->a[0] = rip;
	ev->b[0] = stream_reason(f->s, reason, strlen(reason));
	ev->b[1] = vcpu;
	stream_push(f->s);
}

static void load(struct drive *f, uint64_t us, int tid, uint64_t root)
{
	struct event *ev = event_at(f, drive_type(f, "kprobes", "p_hv_track_root_tdp_0"), us, 0, tid);

	ev->a[0] = root;
	stream_push(f->s);
}

static void fault(struct drive *f, uint64_t us, int tid, uint64_t gpa)
{
	struct event *ev = event_at(f, drive_type(f, "kvm", "kvm_page_fault"), us, 0, tid);

	ev->a[0] = gpa;
	stream_push(f->s);
}

static void smm(struct drive *f, uint64_t us, int tid, uint32_t entering)
{
	struct event *ev = event_at(f, drive_type(f, "kvm", "kvm_smm_transition"), us, 0, tid);

	ev->b[1] = entering;
	stream_push(f->s);
}

/* Two roots in turn: the healthy pattern. */
static void roots_alternate(void **state)
{
	struct drive f;
	uint64_t t = 0;
	int i;

	(void)state;
	drive_open(&f);
	for (i = 0; i < 100; i++) {
		exit_at(&f, t += 10, 0, 5, "io", 0x1000, 0);
		smm(&f, t += 1, 5, i & 1);
		load(&f, t += 13, 5, i & 1 ? 0xa000 : 0xb000);
		drive_entry(&f, (t += 81) * 1000, 0, 5, 0);
		fault(&f, t + 1, 5, 0x5000);
	}
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT loads FROM root_stat"), 100);
	assert_int_equal(drive_int(&f, "SELECT unique_roots FROM root_stat"), 2);
	assert_int_equal(drive_int(&f, "SELECT last_but_one FROM root_stat"), 98);
	assert_int_equal(drive_int(&f, "SELECT top1 + top2 FROM root_stat"), 100);
	assert_int_equal(drive_int(&f, "SELECT smm_transitions FROM root_stat"), 100);
	assert_int_equal(drive_int(&f, "SELECT loads_after_smm FROM root_stat"), 100);
	assert_int_equal(drive_int(&f, "SELECT exit_to_load_ns FROM root_stat"), 14000);
	assert_int_equal(drive_int(&f, "SELECT load_to_entry_ns FROM root_stat"), 81000);
	assert_int_equal(drive_int(&f, "SELECT json_extract(after_reasons, '$.io') FROM root_stat"), 100);
	assert_int_equal(drive_int(&f, "SELECT json_array_length(cites) FROM root_stat"), 1);
	drive_free(&f);
}

/* Every load another root: churn; the same page faults under each. CR accesses were not recorded:
 * NULL, not 0. */
static void roots_churn(void **state)
{
	struct drive f;
	uint64_t t = 0;
	int i;

	(void)state;
	drive_open(&f);
	for (i = 0; i < 200; i++) {
		exit_at(&f, t += 10, 0, 5, "rsm", 0x1000, 0);
		load(&f, t += 13, 5, 0x100000 + (uint64_t)i * 4096);
		drive_entry(&f, (t += 81) * 1000, 0, 5, 0);
		fault(&f, t + 1, 5, 0x5000);
	}
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT unique_roots FROM root_stat"), 200);
	assert_int_equal(drive_int(&f, "SELECT last_but_one FROM root_stat"), 0);
	assert_int_equal(drive_int(&f, "SELECT pages_refaulted FROM root_stat"), 1);
	assert_int_equal(drive_int(&f, "SELECT max_faults_per_page FROM root_stat"), 200);
	assert_int_equal(drive_int(&f, "SELECT json_array_length(cites) FROM root_stat"), 3);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM root_stat WHERE cr0_writes IS NULL AND smm_transitions IS NULL"), 1);
	drive_free(&f);
}

/* The same nested fault again and again is a loop; MMIO in between or another page is none. */
static void retry_loops(void **state)
{
	struct drive f;
	struct event *ev;
	uint64_t t = 0;
	int i;

	(void)state;
	drive_open(&f);
	for (i = 0; i < 50; i++) {
		exit_at(&f, t += 2, 0, 5, "EPT_VIOLATION", 0x1000, 0);
		fault(&f, t, 5, 0x7000);
		drive_entry(&f, (t += 1) * 1000, 0, 5, 0);
		if (i == 20)
			exit_at(&f, t += 1, 0, 5, "EXTERNAL_INTERRUPT", 0x1000, 0);
	}
	for (i = 0; i < 50; i++) {	/* progress: page after page */
		exit_at(&f, t += 2, 0, 5, "EPT_VIOLATION", 0x2000, 0);
		fault(&f, t, 5, 0x100000 + (uint64_t)i * 4096);
		drive_entry(&f, (t += 1) * 1000, 0, 5, 0);
	}
	for (i = 0; i < 50; i++) {	/* a device register polled */
		exit_at(&f, t += 2, 0, 5, "EPT_VIOLATION", 0x3000, 0);
		fault(&f, t, 5, 0xfed00000);
		ev = event_at(&f, drive_type(&f, "kvm", "kvm_mmio"), t, 0, 5);
		ev->a[0] = 0xfed00000;
		stream_push(f.s);
		drive_entry(&f, (t += 1) * 1000, 0, 5, 0);
	}
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM retry_loop"), 1);
	assert_int_equal(drive_int(&f, "SELECT count FROM retry_loop WHERE rip = '0x1000' AND gpa = '0x7000'"), 50);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM retry_loop WHERE invalidations IS NULL"), 1);
	drive_free(&f);
}

static void probe(struct drive *f, uint64_t us, int tid, const char *name)
{
	uint16_t type = drive_type(f, "kprobes", name);
	struct event *ev = event_at(f, type, us, 0, tid);

	ev->b[0] = f->s->types[type].func;
	stream_push(f->s);
}

/* Nested probe pairs, a probe without a return in between, time off the CPU inside. */
static void spans_nest(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	drive_switch(&f, (1) * 1000, 0, 0, 0, 5, "CPU 0/KVM");
	probe(&f, 1000, 5, "p_task_numa_work_0");
	probe(&f, 1100, 5, "p_lonely");
	probe(&f, 2000, 5, "p_tdp_mmu_zap_leafs_0");
	drive_switch(&f, (2500) * 1000, 0, 5, TSTATE_RUNNABLE, 0, "swapper");
	drive_switch(&f, (3500) * 1000, 0, 0, 0, 5, "CPU 0/KVM");
	probe(&f, 6000, 5, "r_tdp_mmu_zap_leafs_0");
	probe(&f, 7000, 5, "p_tdp_mmu_zap_leafs_0");
	probe(&f, 9000, 5, "r_tdp_mmu_zap_leafs_0");
	probe(&f, 10000, 5, "r_task_numa_work_0");
	probe(&f, 11000, 5, "r_never_entered");
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM span"), 3);
	assert_int_equal(drive_int(&f, "SELECT duration_ns FROM span WHERE func = 'task_numa_work'"), 9000000);
	assert_int_equal(drive_int(&f, "SELECT offcpu_ns FROM span WHERE func = 'task_numa_work'"), 1000000);
	assert_int_equal(drive_int(&f, "SELECT total_ns FROM span_child c JOIN span s ON s.id = c.span_id"
				      " WHERE s.func = 'task_numa_work' AND c.func = 'tdp_mmu_zap_leafs' AND count = 2"), 6000000);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM span c JOIN span p ON p.id = c.parent_id"
				      " WHERE p.func = 'task_numa_work'"), 2);
	assert_int_equal(drive_int(&f, "SELECT max_ns FROM span_stat WHERE func = 'tdp_mmu_zap_leafs'"), 4000000);
	drive_free(&f);
}

/* A loss between entry and return: no span is made up. */
static void spans_and_loss(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	probe(&f, 1000, 5, "p_task_numa_work_0");
	drive_lost(&f, (2000) * 1000, 0, 3);
	probe(&f, 10000, 5, "r_task_numa_work_0");
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM span"), 0);
	drive_free(&f);
}

static void syscall_event(struct drive *f, uint64_t us, int tid, bool enter, uint32_t nr,
			  uint64_t a0, uint64_t a1)
{
	struct event *ev = event_at(f, drive_type(f, "raw_syscalls", enter ? "sys_enter" : "sys_exit"), us, 0, tid);

	ev->b[0] = nr;
	ev->a[0] = a0;
	ev->a[1] = a1;
	stream_push(f->s);
}

static void syscalls_pair(void **state)
{
	struct drive f;

	(void)state;
	drive_open(&f);
	syscall_event(&f, 1000, 5, true, 16, 3, 0xae01);
	syscall_event(&f, 68000, 5, false, 16, 4, 0);
	syscall_event(&f, 70000, 5, true, 16, 4, 0xae80);
	syscall_event(&f, 90000, 5, false, 16, 0, 0);
	syscall_event(&f, 91000, 5, true, 0, 3, 0);
	syscall_event(&f, 91001, 5, false, 0, (uint64_t)-11, 0);
	drive_close(&f);
	assert_int_equal(drive_int(&f, "SELECT duration_ns FROM span WHERE func = 'ioctl:KVM_CREATE_VM' AND result = '4'"), 67000000);
	assert_int_equal(drive_int(&f, "SELECT count(*) FROM span"), 1);
	assert_int_equal(drive_int(&f, "SELECT total_ns FROM syscall_stat WHERE name = 'ioctl:KVM_RUN'"), 20000000);
	assert_int_equal(drive_int(&f, "SELECT errors FROM syscall_stat WHERE name = 'read'"), 1);
	drive_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_alternate),
		cmocka_unit_test(roots_churn),
		cmocka_unit_test(retry_loops),
		cmocka_unit_test(spans_nest),
		cmocka_unit_test(spans_and_loss),
		cmocka_unit_test(syscalls_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
