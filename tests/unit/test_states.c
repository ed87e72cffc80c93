// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_states.c - the eight states of a vCPU thread, on short sequences with known answers; see
 * analyzer/states.h.
 */
#include "drive.h"

#define S	TSTATE_INTERRUPTIBLE
#define D	TSTATE_UNINTERRUPTIBLE
#define R	TSTATE_RUNNABLE
#define MS	NSEC_PER_MSEC
#define V0	"CPU 0/KVM"
#define IDLE	"swapper/0"

enum { VCPU = 10, OTHER = 20 };

static void user_exit(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid, uint32_t reason)
{
	drive_next(d, EV_KVM_USERSPACE_EXIT, drive_type(d, "kvm", "kvm_userspace_exit"), time, cpu,
		   tid)
		->b[0] = reason;
	stream_push(d->s);
}

static void halt_over(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid, bool waited)
{
	drive_next(d, EV_KVM_VCPU_WAKEUP, drive_type(d, "kvm", "kvm_vcpu_wakeup"), time, cpu, tid)
		->b[0] = waited;
	stream_push(d->s);
}

/*
 * The eight sums in ms, in the order of enum vstate; and that they add up, and the slices with
 * them.
 */
static void expect(struct drive *d, const int64_t ms[8])
{
	static const char *const cols[] = { "guest_ns",	  "host_ns",	"vmm_ns",     "halted_ns",
					    "waiting_ns", "blocked_ns", "unknown_ns", "lost_ns" };
	char sql[200];
	int i;

	for (i = 0; i < 8; i++) {
		int64_t got;

		snprintf(sql, sizeof(sql), "SELECT %s FROM vcpu WHERE tid = %d", cols[i], VCPU);
		got = drive_int(d, sql);
		if (got != ms[i] * (int64_t)MS)
			fail_msg("%s is %" PRId64 " us, not %" PRId64 " ms", cols[i], got / 1000,
				 ms[i]);
		snprintf(
			sql, sizeof(sql),
			"SELECT v.%s - (SELECT coalesce(sum(s.%s), 0) FROM state_slice s WHERE s.vcpu_id = v.id)"
			" FROM vcpu v WHERE v.tid = %d",
			cols[i], cols[i], VCPU);
		assert_int_equal(drive_int(d, sql), 0);
	}
	assert_int_equal(
		drive_int(
			d,
			"SELECT count(*) FROM vcpu WHERE guest_ns + host_ns + vmm_ns + halted_ns + waiting_ns +"
			" blocked_ns + unknown_ns + lost_ns <> last_ns - first_ns"),
		0);
}

static void test_exit_and_vmm(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 13 * MS, 0, VCPU, 0, "io");		/* guest 3 */
	user_exit(&d, 15 * MS, 0, VCPU, 2);			/* host 2 */
	drive_entry(&d, 19 * MS, 0, VCPU, 0);			/* vmm 4 */
	drive_exit(&d, 24 * MS, 0, VCPU, 0, "msr");		/* guest 5 */
	drive_entry(&d, 25 * MS, 0, VCPU, 0);			/* host 1 */
	drive_close(&d);
	expect(&d, (int64_t[]){ 8, 3, 4, 0, 0, 0, 0, 0 });
	drive_free(&d);
}

/* Where system calls are recorded the VMM ends with the next ioctl(KVM_RUN), not with the entry. */
static void test_vmm_ends_with_kvm_run(void **state)
{
	struct drive d;
	struct event *ev;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "io");
	user_exit(&d, 12 * MS, 0, VCPU, 2);
	drive_next(&d, EV_SYS_EXIT, drive_type(&d, "raw_syscalls", "sys_exit"), 12 * MS, 0, VCPU)
		->b[0] = 16;
	stream_push(d.s);
	ev = drive_next(&d, EV_SYS_ENTER, drive_type(&d, "raw_syscalls", "sys_enter"), 17 * MS, 0,
			VCPU);
	ev->b[0] = 16;
	ev->a[1] = 0xae80;
	stream_push(d.s);
	drive_entry(&d, 19 * MS, 0, VCPU, 0);
	drive_close(&d);
	expect(&d, (int64_t[]){ 1, 3, 5, 0, 0, 0, 0, 0 });
	drive_free(&d);
}

static void test_halt_until_wakeup(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 9 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "hlt");		/* guest 1; polls */
	drive_switch(&d, 13 * MS, 0, VCPU, S, 0, IDLE);
	drive_wake(&d, EV_SCHED_WAKING, 30 * MS, 0, 0, VCPU, V0, 0);	/* halted 19 */
	drive_switch(&d, 34 * MS, 0, 0, R, VCPU, V0);		/* waiting 4 */
	drive_entry(&d, 36 * MS, 0, VCPU, 0);			/* host 2 */
	drive_close(&d);
	/* its first own event is the entry: what lies before is not its time */
	expect(&d, (int64_t[]){ 1, 2, 0, 19, 4, 0, 0, 0 });
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM stall WHERE kind = 'late-wake' AND start_ns = 30000000"
			" AND duration_ns = 6000000"),
		1);
	drive_free(&d);
}

/* A poll that succeeds never leaves the CPU; kvm_vcpu_wakeup says when it was over. */
static void test_halt_polling(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "hlt");
	halt_over(&d, 15 * MS, 0, VCPU, false);
	drive_entry(&d, 16 * MS, 0, VCPU, 0);
	drive_close(&d);
	expect(&d, (int64_t[]){ 1, 1, 0, 4, 0, 0, 0, 0 });
	drive_free(&d);
}

/* A halt that never ends is no stall, and a sleep in another exit is a block. */
static void test_block_is_no_halt(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 9 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 12 * MS, 0, VCPU, D, OTHER, "other");
	drive_wake(&d, EV_SCHED_WAKING, 18 * MS, 0, OTHER, VCPU, V0, 0);	/* blocked 6 */
	drive_switch(&d, 19 * MS, 0, OTHER, R, VCPU, V0);			/* waiting 1 */
	drive_entry(&d, 20 * MS, 0, VCPU, 0);					/* host 1 + 1 */
	drive_exit(&d, 21 * MS, 0, VCPU, 0, "hlt");
	drive_switch(&d, 22 * MS, 0, VCPU, S, 0, IDLE);
	drive_switch(&d, 100 * MS, 0, 0, R, OTHER, "other");
	drive_close(&d);
	expect(&d, (int64_t[]){ 2, 2, 0, 1, 1, 6, 0, 0 });
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall"), 1);
	assert_int_equal(
		drive_int(&d, "SELECT kind = 'blocked' AND duration_ns = 9000000 FROM stall"), 1);
	drive_free(&d);
}

/* Wake-ups are recorded, but not this one: nobody is held to account, and the sleep is unknown. */
static void test_no_wakeup_seen(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 8 * MS, 0, 0, R, VCPU, V0);
	drive_wake(&d, EV_SCHED_WAKING, 9 * MS, 0, VCPU, OTHER, "other", 1);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 12 * MS, 0, VCPU, D, OTHER, "other");
	drive_switch(&d, 22 * MS, 0, OTHER, S, VCPU, V0);
	drive_entry(&d, 23 * MS, 0, VCPU, 0);
	drive_exit(&d, 24 * MS, 0, VCPU, 0, "hlt");
	drive_switch(&d, 25 * MS, 0, VCPU, S, 0, IDLE);
	drive_switch(&d, 30 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 31 * MS, 0, VCPU, 0);
	drive_close(&d);
	expect(&d, (int64_t[]){ 2, 3, 0, 1, 0, 0, 16, 0 });
	assert_int_equal(
		drive_int(
			&d,
			"SELECT count(*) FROM chain_link WHERE kind = 'unknown' AND duration_ns = 10000000"),
		1);
	drive_free(&d);
}

/* No wake-ups in the recording at all: a halt stays a halt, with the wait at its end inside. */
static void test_wakeups_not_recorded(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 9 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "hlt");
	drive_switch(&d, 12 * MS, 0, VCPU, S, 0, IDLE);
	drive_switch(&d, 30 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 31 * MS, 0, VCPU, 0);
	drive_close(&d);
	expect(&d, (int64_t[]){ 1, 1, 0, 19, 0, 0, 0, 0 });
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE duration_ns > 1000000"),
			 0);
	drive_free(&d);
}

/*
 * kvm events without sched events, beginning and ending in the middle of an exit; and an exit that
 * is missing.
 */
static void test_without_sched(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	user_exit(&d, 5 * MS, 0, VCPU, 2);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 12 * MS, 0, VCPU, 0, "npf");
	drive_entry(&d, 15 * MS, 0, VCPU, 0);
	drive_entry(&d, 17 * MS, 0, VCPU, 0);
	drive_exit(&d, 18 * MS, 0, VCPU, 0, "npf");
	drive_exit(&d, 22 * MS, 0, VCPU, 0, "npf");
	user_exit(&d, 23 * MS, 0, VCPU, 2);
	drive_close(&d);
	/*
	 * before its first kvm_entry or kvm_exit the thread was not known to be a vCPU: 5 unknown
	 */
	expect(&d, (int64_t[]){ 3, 4, 0, 0, 0, 0, 11, 0 });
	drive_free(&d);
}

/* sched events without kvm events: waits are waits, running is all that is known of the rest. */
static void test_without_kvm(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_comm(&d, 0, VCPU, 9, V0, TASK_SYNTH);
	drive_switch(&d, 9 * MS, 0, 0, R, VCPU, V0);
	drive_switch(&d, 10 * MS, 0, VCPU, R, OTHER, "other");
	drive_switch(&d, 14 * MS, 0, OTHER, R, VCPU, V0);		/* waiting 4 */
	drive_switch(&d, 16 * MS, 0, VCPU, S, OTHER, "other");	/* unknown 2 */
	drive_wake(&d, EV_SCHED_WAKING, 21 * MS, 0, OTHER, VCPU, V0, 0);	/* unknown 5 */
	drive_switch(&d, 24 * MS, 0, OTHER, S, VCPU, V0);		/* waiting 3 */
	drive_switch(&d, 25 * MS, 0, VCPU, D, OTHER, "other");	/* unknown 1 */
	drive_wake(&d, EV_SCHED_WAKING, 28 * MS, 0, OTHER, VCPU, V0, 0);	/* blocked 3 */
	drive_switch(&d, 29 * MS, 0, OTHER, S, VCPU, V0);		/* waiting 1 */
	drive_close(&d);
	expect(&d, (int64_t[]){ 0, 0, 0, 0, 8, 3, 8, 0 });
	drive_free(&d);
}

static void test_lost(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 12 * MS, 0, VCPU, 0, "npf");
	drive_lost(&d, 20 * MS, 0, 5);
	drive_exit(&d, 22 * MS, 0, VCPU, 0, "npf");		/* lost 10 */
	drive_entry(&d, 23 * MS, 0, VCPU, 0);			/* host 1 */
	drive_lost(&d, 30 * MS, 1, 5);				/* another CPU */
	drive_exit(&d, 33 * MS, 0, VCPU, 0, "npf");		/* guest 10 */
	drive_close(&d);
	expect(&d, (int64_t[]){ 12, 1, 0, 0, 0, 0, 0, 10 });
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE duration_ns > 1000000"),
			 0);
	drive_free(&d);
}

/* Exits of L2 that L0 hands to L1, and back: one stay in the host. */
static void test_nested(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 12 * MS, 0, VCPU, 0, "npf");
	drive_next(&d, EV_KVM_NESTED_VMEXIT, drive_type(&d, "kvm", "kvm_nested_vmexit"), 13 * MS, 0,
		   VCPU);
	stream_push(d.s);
	drive_entry(&d, 14 * MS, 0, VCPU, 0);
	drive_exit(&d, 15 * MS, 0, VCPU, 0, "vmrun");
	drive_next(&d, EV_KVM_NESTED_VMENTER, drive_type(&d, "kvm", "kvm_nested_vmenter"), 16 * MS,
		   0, VCPU);
	stream_push(d.s);
	drive_entry(&d, 17 * MS, 0, VCPU, 0);
	drive_close(&d);
	expect(&d, (int64_t[]){ 3, 4, 0, 0, 0, 0, 0, 0 });
	drive_free(&d);
}

/* A wake-up after the thread's last event is not its time; neither is it taken from it. */
static void test_ends_with_last_event(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 9 * MS, 0, 0, R, VCPU, V0);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	drive_exit(&d, 11 * MS, 0, VCPU, 0, "npf");
	drive_switch(&d, 12 * MS, 0, VCPU, D, OTHER, "other");
	drive_wake(&d, EV_SCHED_WAKING, 15 * MS, 0, OTHER, VCPU, V0, 0);
	drive_migrate(&d, 30 * MS, 0, OTHER, VCPU, 0, 1);
	drive_switch(&d, 40 * MS, 0, OTHER, S, 0, IDLE);
	drive_close(&d);
	expect(&d, (int64_t[]){ 1, 1, 0, 0, 0, 0, 0, 0 });
	/* but as a stall it goes on to the end of the recording */
	assert_int_equal(drive_int(&d, "SELECT duration_ns FROM stall WHERE partial = 1"), 29 * MS);
	assert_int_equal(drive_int(&d, "SELECT sum(duration_ns) FROM chain_link WHERE depth = 0"),
			 29 * MS);
	drive_free(&d);
}

/* Bins double in width as a recording gets longer, and lose nothing. */
static void test_slices_rescale(void **state)
{
	struct drive d;
	uint64_t t;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, VCPU, 0);
	for (t = 11; t < 5000; t += 7) {
		drive_exit(&d, t * MS, 0, VCPU, 0, "npf");
		drive_entry(&d, (t + 2) * MS, 0, VCPU, 0);
	}
	drive_close(&d);
	assert_true(drive_int(&d, "SELECT count(*) FROM state_slice") <= 512);
	assert_true(drive_int(&d, "SELECT count(*) FROM state_slice") > 256);
	assert_int_equal(
		drive_int(&d,
			  "SELECT sum(guest_ns) - (SELECT guest_ns FROM vcpu) FROM state_slice"),
		0);
	assert_int_equal(
		drive_int(&d, "SELECT sum(host_ns) - (SELECT host_ns FROM vcpu) FROM state_slice"),
		0);
	assert_int_equal(
		drive_int(
			&d,
			"SELECT sum(duration_ns) - (SELECT last_ns - first_ns FROM vcpu) FROM state_slice"),
		0);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_and_vmm),
		cmocka_unit_test(test_vmm_ends_with_kvm_run),
		cmocka_unit_test(test_halt_until_wakeup),
		cmocka_unit_test(test_halt_polling),
		cmocka_unit_test(test_block_is_no_halt),
		cmocka_unit_test(test_no_wakeup_seen),
		cmocka_unit_test(test_wakeups_not_recorded),
		cmocka_unit_test(test_without_sched),
		cmocka_unit_test(test_without_kvm),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_ends_with_last_event),
		cmocka_unit_test(test_slices_rescale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
