// SPDX-License-Identifier: GPL-2.0-or-later
/* test_storms.c - storms of exits: far above the VM's own rate, and most of the time in them. */
#include "drive.h"

#define US	NSEC_PER_USEC
#define MS	NSEC_PER_MSEC

/* From @from on, @n exits of @reason every @step ns, each @host ns long; returns the end. */
static uint64_t exits(struct drive *d, uint64_t from, unsigned int n, uint64_t step, uint64_t host,
		      const char *reason)
{
	unsigned int i;

	for (i = 0; i < n; i++, from += step) {
		drive_exit(d, from, 0, 10, 0, reason);
		drive_entry(d, from + host, 0, 10, 0);
	}
	return from;
}

static void open_guest(struct drive *d)
{
	drive_open(d);
	drive_comm(d, 0, 10, 9, "CPU 0/KVM", TASK_SYNTH);
	drive_switch(d, MS, 0, 0, TSTATE_RUNNABLE, 10, "CPU 0/KVM");
	drive_entry(d, 2 * MS, 0, 10, 0);
}

static void test_storm(void **state)
{
	struct drive d;
	uint64_t at;

	(void)state;
	open_guest(&d);
	at = exits(&d, 10 * MS, 500, 4 * MS, 10 * US, "npf");
	at = exits(&d, at, 10000, 20 * US, 16 * US, "msr");	/* 200 ms, 50,000 per second */
	exits(&d, at, 500, 4 * MS, 10 * US, "npf");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE kind = 'exit-storm'"), 1);
	assert_int_equal(drive_int(&d, "SELECT duration_ns BETWEEN 150000000 AND 260000000 AND what ="
				       " 'msr' AND start_ns BETWEEN 1980000000 AND 2080000000"
				       " FROM stall WHERE kind = 'exit-storm'"), 1);
	assert_int_equal(drive_int(&d, "SELECT stalls = (SELECT sum(count) FROM pattern) AND stalls ="
				       " 1 FROM stall_total"), 1);
	assert_int_equal(drive_int(&d, "SELECT duration_ns = (SELECT sum(duration_ns) FROM chain_link"
				       " WHERE stall_id = stall.id) FROM stall"), 1);
	drive_free(&d);
}

/* The same rate all the time is how this guest works. */
static void test_norm(void **state)
{
	struct drive d;

	(void)state;
	open_guest(&d);
	exits(&d, 10 * MS, 40000, 20 * US, 16 * US, "msr");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE kind = 'exit-storm'"), 0);
	drive_free(&d);
}

/* Many exits that leave the guest most of the time are no storm. */
static void test_cheap(void **state)
{
	struct drive d;
	uint64_t at;

	(void)state;
	open_guest(&d);
	at = exits(&d, 10 * MS, 500, 4 * MS, 10 * US, "npf");
	exits(&d, at, 10000, 20 * US, 2 * US, "msr");
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM stall WHERE kind = 'exit-storm'"), 0);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_norm),
		cmocka_unit_test(test_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
