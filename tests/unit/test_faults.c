// SPDX-License-Identifier: GPL-2.0-or-later
/* test_faults.c - guest page faults per vCPU; see analyzer/an_faults.c. */
#include "drive.h"

#define MS	1000000ull
#define ROW(d, col)	drive_int(d, "SELECT " col " FROM fault_stat ORDER BY tid LIMIT 1")

static void fault(struct drive *d, uint64_t time, int32_t tid, uint64_t gpa, uint64_t code)
{
	struct event *ev = drive_next(d, EV_KVM_PAGE_FAULT, drive_type(d, "kvm", "kvm_page_fault"), time, 0, tid);

	ev->a[0] = gpa;
	ev->a[1] = code;
	ev->b[0] = EVENT_U32_NONE;
	stream_push(d->s);
}

static void nested(struct drive *d, uint64_t time, int32_t tid, const char *reason, uint64_t info1,
		   uint64_t info2)
{
	struct event *ev = drive_next(d, EV_KVM_EXIT, drive_type(d, "kvm", "kvm_exit"), time, 0, tid);

	ev->a[1] = info1;
	ev->a[2] = info2;
	ev->b[0] = stream_reason(d->s, reason, strlen(reason));
	ev->b[1] = EVENT_U32_NONE;
	stream_push(d->s);
}

static void events(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, MS, 0, 7, 3);
	nested(&d, 2 * MS, 7, "EPT_VIOLATION", 0x181, 0);	/* its kvm_page_fault follows */
	fault(&d, 2 * MS + 1, 7, 0x1000, 0x181);	/* read, not present */
	fault(&d, 11 * MS, 7, 0x1fff, 0x18a);		/* write, present; the same page */
	fault(&d, 12 * MS, 7, 0x2000, 0x184);		/* fetch */
	fault(&d, 13 * MS, 7, 0x3000, 0x183);		/* read and write */
	fault(&d, 25 * MS, 7, 0, 0x181);		/* page 0 is one, too */
	fault(&d, 26 * MS, 8, 0x1000, 0x181);		/* another vCPU's */
	drive_close(&d);
	assert_int_equal(ROW(&d, "faults"), 5);
	assert_int_equal(ROW(&d, "pages"), 4);
	assert_int_equal(ROW(&d, "again"), 1);
	assert_int_equal(ROW(&d, "reads"), 3);
	assert_int_equal(ROW(&d, "writes"), 2);
	assert_int_equal(ROW(&d, "fetches"), 1);
	assert_int_equal(ROW(&d, "present"), 1);
	assert_int_equal(ROW(&d, "busiest"), 3);
	assert_int_equal(ROW(&d, "busiest_ns"), 10 * MS);
	assert_int_equal(ROW(&d, "from_ns"), 2 * MS + 1);
	assert_int_equal(ROW(&d, "to_ns"), 25 * MS);
	assert_int_equal(ROW(&d, "capped"), 0);
	assert_int_equal(ROW(&d, "(SELECT vcpu FROM vcpu WHERE id = vcpu_id)"), 3);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM fault_stat"), 2);
	drive_free(&d);
}

/* AMD's error code, and exits alone: they say the page. */
static void amd_exits(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, MS, 0, 7, 0);
	nested(&d, 2 * MS, 7, "npf", 0x100000006, 0x1000);	/* write */
	nested(&d, 3 * MS, 7, "npf", 0x100000007, 0x1000);	/* write, present */
	nested(&d, 4 * MS, 7, "npf", 0x100000014, 0x2000);	/* fetch */
	nested(&d, 5 * MS, 7, "npf", 0x100000004, 0x3000);	/* read */
	nested(&d, 6 * MS, 7, "hlt", 0, 0);
	drive_close(&d);
	assert_int_equal(ROW(&d, "faults"), 4);
	assert_int_equal(ROW(&d, "pages"), 3);
	assert_int_equal(ROW(&d, "again"), 1);
	assert_int_equal(ROW(&d, "reads * 1000 + writes * 100 + fetches * 10 + present"), 1211);
	drive_free(&d);
}

/* Intel's exits do not say which page. */
static void intel_exits(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, MS, 0, 7, 0);
	nested(&d, 2 * MS, 7, "EPT_VIOLATION", 0x182, 0x800000ec);
	nested(&d, 3 * MS, 7, "EPT_VIOLATION", 0x181, 0);
	drive_close(&d);
	assert_int_equal(ROW(&d, "faults"), 2);
	assert_int_equal(ROW(&d, "writes"), 1);
	assert_int_equal(ROW(&d, "pages IS NULL AND again IS NULL"), 1);
	drive_free(&d);
}

/* Without exits nothing says how to read the code. */
static void code_unknown(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	fault(&d, 2 * MS, 7, 0x1000, 0x182);
	drive_close(&d);
	assert_int_equal(ROW(&d, "pages"), 1);
	assert_int_equal(ROW(&d, "reads IS NULL AND writes IS NULL AND fetches IS NULL AND present IS NULL"), 1);
	drive_free(&d);
}

static void many_pages(void **state)
{
	struct drive d;
	uint64_t i;

	(void)state;
	drive_open(&d);
	for (i = 0; i < 65536; i++)
		fault(&d, MS + i, 7, i << 12, 0);
	fault(&d, 2 * MS, 7, 5 << 12, 0);
	fault(&d, 2 * MS, 7, 65536 << 12, 0);		/* one too many */
	drive_close(&d);
	assert_int_equal(ROW(&d, "pages"), 65536);
	assert_int_equal(ROW(&d, "again"), 1);
	assert_int_equal(ROW(&d, "capped"), 1);
	assert_int_equal(ROW(&d, "faults"), 65538);
	drive_free(&d);
}

/* All vCPUs' tables together are bounded, and none is damaged by that. */
static void many_vcpus(void **state)
{
	struct drive d;
	uint64_t i;

	(void)state;
	drive_open(&d);
	for (i = 0; i < 40; i++)
		for (uint64_t k = 0; k < 40000; k += 1 + (i > 20))
			fault(&d, MS + i, 100 + (int32_t)i, k << 12, 0);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM fault_stat"), 40);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM fault_stat WHERE again > 0"), 0);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM fault_stat WHERE capped = 0 AND pages < faults"), 0);
	assert_true(drive_int(&d, "SELECT count(*) FROM fault_stat WHERE capped = 1") > 0);
	assert_true(drive_int(&d, "SELECT sum(pages) FROM fault_stat") <= (16 << 20) / 8);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events),      cmocka_unit_test(amd_exits),
		cmocka_unit_test(intel_exits), cmocka_unit_test(code_unknown),
		cmocka_unit_test(many_pages),  cmocka_unit_test(many_vcpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
