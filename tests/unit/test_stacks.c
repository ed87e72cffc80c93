// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stacks.c - call chains by how often, and what tasks wait in; see analyzer/an_stacks.c. */
#include "drive.h"

#define MS	1000000ull
#define ROW(d, where, col)	drive_int(d, "SELECT " col " FROM stack_count c JOIN stack s ON s.id = c.stack_id WHERE " where)

static void stack(struct drive *d, uint64_t time, uint16_t type, int32_t tid, const char *frames)
{
	drive_next(d, EV_STACK, type, time, 0, tid)->b[0] =
		stream_stack_text_id(d->s, frames, strlen(frames));
	stream_push(d->s);
}

static void off_cpu(void **state)
{
	struct drive d;
	uint16_t type;

	(void)state;
	drive_open(&d);
	type = drive_type(&d, "sched", "sched_switch");
	drive_switch(&d, 10 * MS, 0, 7, TSTATE_UNINTERRUPTIBLE, 0, "swapper");
	stack(&d, 10 * MS, type, 7, "schedule\nhandle_userfault");
	drive_switch(&d, 13 * MS, 0, 0, 0, 7, "CPU 0/KVM");
	drive_switch(&d, 20 * MS, 0, 7, TSTATE_UNINTERRUPTIBLE, 0, "swapper");
	stack(&d, 20 * MS, type, 7, "schedule\nhandle_userfault");
	stack(&d, 20 * MS, EVENT_TYPE_NONE, 7, "ioctl");	/* the user's of the same switch */
	drive_switch(&d, 27 * MS, 0, 0, 0, 7, "CPU 0/KVM");
	drive_switch(&d, 30 * MS, 0, 7, TSTATE_PREEMPTED, 8, "other");
	stack(&d, 30 * MS, type, 7, "schedule\nhandle_userfault");
	drive_switch(&d, 31 * MS, 0, 8, TSTATE_INTERRUPTIBLE, 7, "CPU 0/KVM");
	stack(&d, 31 * MS, type, 8, "schedule\nfutex_wait");	/* to the end */
	drive_entry(&d, 35 * MS, 0, 7, 0);
	stack(&d, 35 * MS, drive_type(&d, "kvm", "kvm_entry"), 7, "vcpu_run");
	drive_switch(&d, 40 * MS, 0, 7, TSTATE_INTERRUPTIBLE, 0, "swapper");
	drive_close(&d);
	assert_int_equal(ROW(&d, "state = 'D' AND frames LIKE '%userfault'", "count"), 2);
	assert_int_equal(ROW(&d, "state = 'D' AND frames LIKE '%userfault'", "total_ns"), 10 * MS);
	assert_int_equal(ROW(&d, "state = 'D' AND frames LIKE '%userfault'", "max_ns"), 7 * MS);
	assert_int_equal(ROW(&d, "state = 'D' AND frames LIKE '%userfault'", "event = 'sched:sched_switch'"), 1);
	assert_int_equal(ROW(&d, "state = 'D' AND frames = 'ioctl'", "total_ns"), 0);
	assert_int_equal(ROW(&d, "state = 'R'", "total_ns"), 1 * MS);
	assert_int_equal(ROW(&d, "state = 'S'", "tid"), 8);
	assert_int_equal(ROW(&d, "state = 'S'", "total_ns"), 9 * MS);
	assert_int_equal(ROW(&d, "frames = 'vcpu_run'", "state IS NULL AND total_ns IS NULL"), 1);
	drive_free(&d);
}

/* A loss ends what is known. */
static void lost(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 10 * MS, 0, 7, TSTATE_UNINTERRUPTIBLE, 0, "swapper");
	stack(&d, 10 * MS, EVENT_TYPE_NONE, 7, "schedule");
	drive_lost(&d, 12 * MS, 0, 4);
	drive_switch(&d, 13 * MS, 0, 0, 0, 7, "CPU 0/KVM");
	drive_close(&d);
	assert_int_equal(ROW(&d, "state = 'D' AND event = 'kernel_stack'", "count"), 1);
	assert_int_equal(ROW(&d, "state = 'D'", "total_ns"), 0);
	drive_free(&d);
}

/* What is too rare for a row of its own is counted all the same. */
static void rest(void **state)
{
	struct drive d;
	char frames[32];
	unsigned int i;

	(void)state;
	drive_open(&d);
	for (i = 0; i < 70000; i++) {	/* more than rows, and than are told apart */
		snprintf(frames, sizeof(frames), "f%u\nmain", i);
		stack(&d, 10 * MS + i, EVENT_TYPE_NONE, 7, frames);
		if (i < 100)
			stack(&d, 10 * MS + i, EVENT_TYPE_NONE, 7, frames);
	}
	stack(&d, 20 * MS, EVENT_TYPE_NONE, 7, "f5\nmain");	/* known before the table was full */
	drive_close(&d);
	assert_int_equal(ROW(&d, "frames = 'f5' || char(10) || 'main'", "count"), 3);
	assert_int_equal(ROW(&d, "1", "sum(count)"), 70101);
	assert_int_equal(ROW(&d, "1", "count(*)"), 16384 + 1);
	assert_int_equal(ROW(&d, "frames = '(rarer call chains)'", "count"), 70000 - 16384);
	assert_int_equal(ROW(&d, "frames = '(rarer call chains)'", "event = 'kernel_stack' AND tid IS NULL"), 1);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(off_cpu), cmocka_unit_test(lost),
					    cmocka_unit_test(rest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
