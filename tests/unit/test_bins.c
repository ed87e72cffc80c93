// SPDX-License-Identifier: GPL-2.0-or-later
/* test_bins.c - counters over time: nothing is lost when bins widen, times stay where they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bins.h"

static uint64_t sum(const struct bins *b)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < BINS_N; i++)
		n += b->count[i];
	return n;
}

static void widens(void **state)
{
	struct bins b = { 0 };
	uint64_t t, first = 7777777777ULL;

	(void)state;
	for (t = 0; t < 100000; t++)
		bins_add(&b, first + t * 1000000);
	assert_int_equal(sum(&b), 100000);
	assert_true(b.base << b.shift <= first);
	assert_true((b.base + BINS_N) << b.shift > first + 99999 * 1000000ULL);
	/* 100 s in at most 512 bins: no coarser than twice what that needs */
	assert_true(1ULL << b.shift < 2 * 2 * 100000000000ULL / BINS_N);
}

static void far_and_back(void **state)
{
	struct bins b = { 0 };

	(void)state;
	bins_add(&b, 1000000000);
	bins_add(&b, UINT64_MAX);
	bins_add(&b, 5);
	assert_int_equal(sum(&b), 3);
}

static void rows(void **state)
{
	struct case_db *db;
	struct bins b = { 0 };

	(void)state;
	assert_null(case_create(&db, NULL));
	assert_null(bins_write(db, 1, "nothing", &b));
	assert_int_equal(case_int(db, -1, "SELECT COUNT(*) FROM series", ""), 0);
	bins_add(&b, 10ULL << 20);
	bins_add(&b, (12ULL << 20) + 5);
	assert_null(bins_write(db, 1, "some", &b));
	assert_int_equal(case_int(db, -1, "SELECT COUNT(*) FROM series", ""), 3);
	assert_int_equal(case_int(db, -1, "SELECT t_ns FROM series WHERE value = 1 ORDER BY t_ns DESC LIMIT 1", ""), 12 << 20);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widens),
		cmocka_unit_test(far_and_back),
		cmocka_unit_test(rows),
	};

	return cmocka_run_group_tests_name("bins", tests, NULL, NULL);
}
