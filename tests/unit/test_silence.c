// SPDX-License-Identifier: GPL-2.0-or-later
/* test_silence.c - stretches without events on any CPU; see analyzer/an_silence.c. */
#include "drive.h"

#define MS	1000000ull
#define ROW(d, col)	drive_int(d, "SELECT " col " FROM silence ORDER BY start_ns LIMIT 1")

/* Two CPUs switch every 100 us, one runs a task, the other is idle, from @from on. */
static uint64_t busy(struct drive *d, uint64_t from, int n)
{
	for (int i = 0; i < n; i++) {
		drive_switch(d, from + (uint64_t)i * 100000, 0, i & 1 ? 7 : 8, 0, i & 1 ? 8 : 7, "work");
		drive_switch(d, from + (uint64_t)i * 100000 + 50000, 1, i & 1 ? 9 : 0, TSTATE_INTERRUPTIBLE, i & 1 ? 0 : 9, "other");
	}
	return from + (uint64_t)n * 100000;
}

static void longest(void **state)
{
	struct drive d;
	uint64_t end;

	(void)state;
	drive_open(&d);
	end = busy(&d, 10 * MS, 2000);		/* its last event: 50 us before @end */
	end = busy(&d, end + 5 * MS, 2000);
	busy(&d, end + 2 * MS, 2);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM silence"), 2);
	assert_int_equal(ROW(&d, "duration_ns"), 5 * MS + 50000);
	assert_int_equal(ROW(&d, "start_ns"), 10 * MS + 200 * MS - 50000);
	assert_int_equal(ROW(&d, "cpus"), 2);
	assert_int_equal(ROW(&d, "busy"), 1);
	assert_int_equal(ROW(&d, "lost"), 0);
	assert_int_equal(ROW(&d, "json_array_length(cites)"), 2);
	assert_in_range(ROW(&d, "usual_ns"), 50000, 57000);
	drive_free(&d);
}

/* 1 ms is none yet, and what pseudo events do in between does not count. */
static void limit(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 10 * MS, 0, 0, 0, 7, "work");
	drive_switch(&d, 11 * MS, 0, 7, 0, 0, "swapper");
	drive_comm(&d, 12 * MS, 7, 7, "work", TASK_SEEN);
	drive_switch(&d, 12 * MS + 1, 0, 0, 0, 7, "work");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM silence"), 1);
	assert_int_equal(ROW(&d, "duration_ns"), MS + 1);
	assert_int_equal(ROW(&d, "busy"), 0);
	drive_free(&d);
}

static void losses(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_switch(&d, 10 * MS, 0, 0, 0, 7, "work");
	drive_lost(&d, 20 * MS, 0, 3);		/* in the first */
	drive_switch(&d, 20 * MS, 0, 7, 0, 0, "swapper");
	drive_switch(&d, 30 * MS, 0, 0, 0, 7, "work");
	drive_lost(&d, 31 * MS, 0, 3);		/* at the edge of the second */
	drive_switch(&d, 31 * MS, 0, 7, 0, 0, "swapper");
	drive_switch(&d, 31 * MS + 5, 0, 0, 0, 7, "work");
	drive_switch(&d, 40 * MS, 0, 0, 0, 7, "work");
	drive_lost(&d, 41 * MS + 1, 0, 3);	/* in the fourth, too late for the third */
	drive_switch(&d, 41 * MS + 2, 0, 7, 0, 0, "swapper");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM silence"), 4);
	assert_int_equal(drive_int(&d, "SELECT sum(lost) FROM silence WHERE start_ns IN (10000000, 20000000)"), 2);
	assert_int_equal(drive_int(&d, "SELECT lost FROM silence WHERE start_ns = 31000005"), 0);
	assert_int_equal(drive_int(&d, "SELECT lost FROM silence WHERE start_ns = 40000000"), 1);
	drive_free(&d);
}

/* A guest runs where no switches are recorded. */
static void in_guest(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 10 * MS, 0, 7, 0);
	drive_exit(&d, 11 * MS, 1, 8, 1, "npf");
	drive_entry(&d, 13 * MS, 1, 8, 1);
	drive_close(&d);
	assert_int_equal(ROW(&d, "busy"), 1);
	assert_int_equal(ROW(&d, "cpus"), 2);
	drive_free(&d);
}

static void not_system_wide(void **state)
{
	static const struct { enum cov_complete complete; enum cov_scope scope; } types[] = {
		{ COV_ALL, COV_TASKS },
		{ COV_ALL, COV_CPUS },
		{ COV_FILTERED, COV_SYSTEM },
		{ COV_SAMPLED, COV_SYSTEM },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct drive d;
		uint16_t type;

		drive_open(&d);
		type = stream_event_type(d.s, "kvm", "kvm_exit", EV_OTHER, COV_LISTED, types[i].complete,
					 types[i].scope);
		for (int k = 1; k < 5; k++) {
			drive_next(&d, EV_KVM_EXIT, type, (uint64_t)k * 10 * MS, 0, 7)->b[0] =
				stream_reason(d.s, "npf", 3);
			stream_push(d.s);
		}
		drive_close(&d);
		assert_int_equal(drive_int(&d, "SELECT count(*) FROM silence"), 0);
		drive_free(&d);
	}
}

static void sixty_four(void **state)
{
	struct drive d;
	uint64_t t = MS;

	(void)state;
	drive_open(&d);
	for (uint64_t i = 0; i < 100; i++) {
		drive_switch(&d, t, 0, 0, 0, 7, "work");
		t += 2 * MS + i;
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM silence"), 64);
	assert_int_equal(drive_int(&d, "SELECT min(duration_ns) FROM silence"), 2 * MS + 35);
	drive_free(&d);
}

/* Every gap lies in its step, and steps are an eighth. */
static void steps(void **state)
{
	(void)state;
	for (uint64_t ns = 0; ns < 100000; ns++) {
		assert_true(gap_limit(gap_slot(ns)) >= ns);
		assert_true(ns < 8 || gap_limit(gap_slot(ns)) - ns <= ns / 8);
	}
	assert_true(gap_slot(UINT64_MAX) < ENGINE_GAPS);
	assert_true(gap_limit(gap_slot(UINT64_MAX)) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest),	   cmocka_unit_test(limit),
		cmocka_unit_test(losses),	   cmocka_unit_test(in_guest),
		cmocka_unit_test(not_system_wide), cmocka_unit_test(sixty_four),
		cmocka_unit_test(steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
