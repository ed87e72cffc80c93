// SPDX-License-Identifier: GPL-2.0-or-later
/* test_exits.c - exit times as perf kvm stat report counts them; see analyzer/an_exits.c. */
#include "drive.h"

#define ROW(d, event, reason, col)                                         \
	drive_int(d, "SELECT " col " FROM exit_stat WHERE event = '" event \
		     "' AND reason = '" reason "'")

static void test_vmexit(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_exit(&d, 50, 0, 10, 1, "npf");	/* before the thread's first entry: does not count */
	drive_entry(&d, 100, 0, 10, 1);
	drive_exit(&d, 200, 0, 10, 1, "hlt");	/* no entry follows: forgotten */
	drive_exit(&d, 300, 0, 10, 1, "npf");
	drive_entry(&d, 340, 0, 10, 1);
	drive_entry(&d, 350, 0, 10, 1);		/* nothing open */
	drive_exit(&d, 400, 0, 10, 1, "npf");
	drive_entry(&d, 420, 1, 10, 1);
	drive_exit(&d, 500, 1, 10, 1, "hlt");
	drive_entry(&d, 9500, 1, 10, 1);
	drive_close(&d);
	assert_int_equal(ROW(&d, "vmexit", "npf", "count"), 2);
	assert_int_equal(ROW(&d, "vmexit", "npf", "total_ns"), 60);
	assert_int_equal(ROW(&d, "vmexit", "npf", "min_ns"), 20);
	assert_int_equal(ROW(&d, "vmexit", "npf", "max_ns"), 40);
	assert_int_equal(ROW(&d, "vmexit", "npf", "max_start_ns"), 300);
	assert_int_equal(ROW(&d, "vmexit", "npf", "mean * 10"), 300);
	assert_int_equal(ROW(&d, "vmexit", "npf", "m2 * 10"), 2000);
	assert_int_equal(ROW(&d, "vmexit", "npf", "vcpu"), 1);
	assert_int_equal(ROW(&d, "vmexit", "hlt", "total_ns"), 9000);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM exit_stat"), 2);
	drive_free(&d);
}

/*
 * perf's own minimum per vCPU is 0 whatever happened; ours is the minimum, for each vCPU its own.
 */
static void test_minimum_per_vcpu(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 100, 0, 10, 0);
	drive_entry(&d, 100, 1, 11, 1);
	drive_exit(&d, 200, 0, 10, 0, "npf");
	drive_exit(&d, 205, 1, 11, 1, "npf");
	drive_entry(&d, 230, 0, 10, 0);
	drive_entry(&d, 255, 1, 11, 1);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT min_ns FROM exit_stat WHERE vcpu = 0"), 30);
	assert_int_equal(drive_int(&d, "SELECT min_ns FROM exit_stat WHERE vcpu = 1"), 50);
	drive_free(&d);
}

static void test_mmio(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 100, 0, 10, 0);
	drive_exit(&d, 200, 0, 10, 0, "npf");			/* no access: an exit without a key counts nothing */
	drive_entry(&d, 300, 0, 10, 0);
	drive_exit(&d, 400, 0, 10, 0, "npf");
	drive_mmio(&d, 410, 0, 10, 0, 0xfee00300);		/* read, not yet satisfied */
	drive_mmio(&d, 470, 0, 10, 1, 0xfee00300);		/* read: exit to here */
	drive_mmio(&d, 480, 0, 10, 1, 0xfee00310);		/* a second one has no beginning */
	drive_entry(&d, 490, 0, 10, 0);
	drive_exit(&d, 500, 0, 10, 0, "npf");
	drive_mmio(&d, 520, 0, 10, 2, 0xfee000b0);		/* write: from here to the entry */
	drive_entry(&d, 530, 0, 10, 0);
	drive_close(&d);
	assert_int_equal(ROW(&d, "mmio", "0xfee00300:R", "total_ns"), 70);
	assert_int_equal(ROW(&d, "mmio", "0xfee000b0:W", "total_ns"), 10);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM exit_stat WHERE event = 'mmio'"), 2);
	drive_free(&d);
}

static void test_ioport_and_msr(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 100, 0, 10, 0);
	drive_io(&d, EV_KVM_PIO, 200, 0, 10, 0x70, 1);
	drive_io(&d, EV_KVM_PIO, 210, 0, 10, 0x71, 0);	/* forgets the one before */
	drive_entry(&d, 225, 0, 10, 0);
	drive_io(&d, EV_KVM_PIO, 300, 0, 10, 0x70, 1);
	drive_entry(&d, 307, 0, 10, 0);
	drive_io(&d, EV_KVM_MSR, 400, 0, 10, 0x6e0, 1);
	drive_entry(&d, 403, 0, 10, 0);
	drive_io(&d, EV_KVM_MSR, 500, 0, 10, 0x1b, 0);
	drive_entry(&d, 505, 0, 10, 0);
	drive_close(&d);
	assert_int_equal(ROW(&d, "ioport", "0x71:PIN", "total_ns"), 15);
	assert_int_equal(ROW(&d, "ioport", "0x70:POUT", "total_ns"), 7);
	assert_int_equal(ROW(&d, "msr", "0x6e0:W", "total_ns"), 3);
	assert_int_equal(ROW(&d, "msr", "0x1b:R", "total_ns"), 5);
	drive_free(&d);
}

/* More addresses than are told apart: none is lost, the rest is summed up. */
static void test_many_keys(void **state)
{
	struct drive d;
	uint64_t t = 1000;
	int i;

	(void)state;
	drive_open(&d);
	drive_entry(&d, 100, 0, 10, 0);
	for (i = 0; i < 70000; i++, t += 10) {
		drive_mmio(&d, t, 0, 10, 2, 0x1000 + 8 * (uint64_t)i);
		drive_entry(&d, t + 1, 0, 10, 0);
	}
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT sum(count) FROM exit_stat"), 70000);
	assert_int_equal(ROW(&d, "mmio", "(others)", "count"), 70000 - 65536);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vmexit),
		cmocka_unit_test(test_minimum_per_vcpu),
		cmocka_unit_test(test_mmio),
		cmocka_unit_test(test_ioport_and_msr),
		cmocka_unit_test(test_many_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
