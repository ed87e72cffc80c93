// SPDX-License-Identifier: GPL-2.0-or-later
/* test_axis.c - marks, offsets between clocks, boots, ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "axis.h"
#include "casefile.h"
#include "marks.h"

#define S	((int64_t)NSEC_PER_SEC)
#define MS	((int64_t)NSEC_PER_MSEC)

static struct case_db *new_case(void)
{
	struct case_db *db;

	assert_null(case_create(&db, NULL));
	return db;
}

/* A source of [first, last]; a recording has every switch of the system. */
static int64_t source(struct case_db *db, const char *format, const char *clock, const char *host,
		      const char *kernel, int64_t first, int64_t last)
{
	bool rec = strcmp(format, "dmesg") && strcmp(format, "ping");
	int64_t id, member;

	assert_null(case_insert(db, &member, "INSERT INTO member(path, status) VALUES(?, 'read')", "s", format));
	assert_null(case_insert(db, &id, "INSERT INTO source(member_id, path, format, clock, host, kernel, first_ns, last_ns) VALUES(?,?,?,?,?,?,?,?)",
				"isssssii", member, format, format, clock, host, kernel, first, last));
	if (!rec)
		return id;
	assert_null(case_insert(db, NULL, "INSERT INTO recording(source_id, time_resolution_ns) VALUES(?, 1)", "i", id));
	assert_null(case_insert(db, NULL, "INSERT INTO coverage(source_id, event, known, complete, scope) "
				"VALUES(?, 'sched:sched_switch', 'listed', 'all', 'system')", "i", id));
	return id;
}

/* @n marks from the seed @seed, 10 ms apart from @start, each late by up to @jitter. */
static void give(struct case_db *db, int64_t id, bool log, uint64_t seed, size_t n, int64_t start,
		 int64_t jitter)
{
	struct marks m = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t late = jitter ? (int64_t)(i * 7919 * 1000003 % (size_t)jitter) : 0;

		marks_add(&m, marks_hash(marks_hash(0, seed), i),
			  start + (int64_t)i * 10 * MS + late);
	}
	marks_give(db, id, log, &m);
}

#define COLUMN(db, id, what)	case_int(db, -12345, "SELECT " what " FROM axis WHERE source_id = ?", "i", id)

static void assert_why(struct case_db *db, int64_t id, const char *words)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	assert_null(case_query(db, &st, "SELECT why FROM axis WHERE source_id = ?", "i", id));
	assert_true(case_step(db, st, &err));
	if (!strstr((const char *)sqlite3_column_text(st, 0), words))
		fail_msg("'%s' not in '%s'", words, sqlite3_column_text(st, 0));
	case_done(st);
}

static void mark_sets(void **state)
{
	struct case_db *db = new_case();
	struct marks_match m;

	(void)state;
	/* Far more marks than are kept, of different amounts: what both keep is the same. */
	give(db, 1, false, 1, 50000, 5 * S, 0);
	give(db, 2, false, 1, 9000, -3 * S, 0);
	assert_true(db->marks[0].m.n <= MARKS_MAX && db->marks[0].m.n > MARKS_MAX / 4);
	marks_compare(&m, &db->marks[0].m, &db->marks[1].m, MS);
	assert_true(m.common > 300);
	assert_int_equal(m.agree, m.common);
	assert_int_equal(m.b, m.common);	/* all that both would keep */
	assert_int_equal(m.offset, -8 * S);
	assert_int_equal(m.spread, 0);
	case_close(db);
}

static void mark_twice(void **state)
{
	struct case_db *db = new_case();
	struct marks m = { 0 };

	(void)state;
	marks_add(&m, 77, 1);
	marks_add(&m, 78, 2);
	marks_add(&m, 77, 3);
	marks_give(db, 1, false, &m);
	assert_int_equal(db->marks[0].m.n, 1);
	assert_int_equal(db->marks[0].m.v[0].time, 2);
	case_close(db);
}

static void mark_overflow(void **state)
{
	struct mark a[] = { { 1, INT64_MIN }, { 2, INT64_MAX }, { 3, 0 } };
	struct mark b[] = { { 1, INT64_MAX }, { 2, INT64_MIN }, { 3, INT64_MIN } };
	struct marks ma = { a, 3, 3, 0 }, mb = { b, 3, 3, 0 };
	struct marks_match m;

	(void)state;
	marks_compare(&m, &ma, &mb, INT64_MAX);
	assert_int_equal(m.common, 1);	/* the other two differences are no int64_t */
	assert_int_equal(m.offset, INT64_MIN);
	assert_int_equal(m.agree, 1);
}

static void one_clock(void **state)
{
	struct case_db *db = new_case();
	int64_t perf = source(db, "perf.data", "sched", "a", "6.1", 10 * S, 20 * S), log = source(db, "dmesg", "sched", NULL, "6.1", 0, 12 * S),
		other = source(db, "perf2", "sched", "b", "6.1", 30 * S, 40 * S);

	(void)state;
	assert_null(axis_relate(db));
	/* The log fits two hosts that differ: given to neither. */
	assert_int_equal(COLUMN(db, log, "offset_ns"), -12345);
	assert_why(db, log, "more than one boot");
	assert_why(db, perf, "their host names differ");
	case_close(db);

	db = new_case();
	perf = source(db, "perf.data", "sched", "a", "6.1", 10 * S, 20 * S);
	log = source(db, "dmesg", "sched", NULL, "6.1", 0, 12 * S);
	other = source(db, "dmesg", "sched", NULL, "5.10", 0, 12 * S);
	assert_null(axis_relate(db));
	assert_int_equal(COLUMN(db, log, "axis"), COLUMN(db, perf, "axis"));
	assert_int_equal(COLUMN(db, log, "offset_ns"), 0);
	assert_int_equal(COLUMN(db, log, "uncertainty_ns"), 1000);
	assert_int_equal(COLUMN(db, other, "offset_ns"), -12345);
	assert_int_not_equal(COLUMN(db, other, "boot"), COLUMN(db, perf, "boot"));
	case_close(db);
}

static struct case_db *local_case(int64_t offset, bool unstable, int64_t *perf, int64_t *text)
{
	struct case_db *db = new_case();
	int64_t log;

	*perf = source(db, "perf.data", "sched", "a", "6.1", 10 * S, 20 * S);
	*text = source(db, "trace", "local", "a", NULL, 30 * S, 40 * S);
	log = source(db, "dmesg", "sched", NULL, "6.1", 0, 12 * S);
	if (offset)
		assert_null(case_insert(db, NULL, "INSERT INTO clock(source_id, name, offset_ns) VALUES(?, 'local', ?)", "ii", log, offset));
	if (unstable)
		assert_null(case_fact(db, log, "host", "clocksource.unstable", "tsc", NULL, 0));
	assert_null(axis_relate(db));
	return db;
}

static void local_clock(void **state)
{
	int64_t perf, text;
	struct case_db *db = local_case(-31540123, false, &perf, &text);

	(void)state;
	assert_int_equal(COLUMN(db, text, "axis"), COLUMN(db, perf, "axis"));
	assert_int_equal(COLUMN(db, text, "offset_ns"), -31540123);	/* local + n = sched */
	assert_int_equal(COLUMN(db, perf, "offset_ns"), 0);
	case_close(db);
	db = local_case(31540123, false, &perf, &text);
	assert_int_equal(COLUMN(db, text, "offset_ns"), 31540123);
	case_close(db);
	db = local_case(31540123, true, &perf, &text);
	assert_int_equal(COLUMN(db, text, "offset_ns"), -12345);
	assert_why(db, text, "TSC was unstable");
	case_close(db);
	db = local_case(0, false, &perf, &text);
	assert_int_equal(COLUMN(db, text, "offset_ns"), -12345);
	assert_why(db, text, "Marking stable");
	case_close(db);
	db = local_case(INT64_MIN, false, &perf, &text);		/* damaged */
	assert_int_equal(COLUMN(db, text, "offset_ns"), -12345);
	case_close(db);
}

static void by_switches(void **state)
{
	struct case_db *db = new_case();
	int64_t perf = source(db, "perf.data", "sched", NULL, NULL, 10 * S, 20 * S), text = source(db, "trace", "local", NULL, NULL, 9 * S, 19 * S);

	(void)state;
	give(db, perf, false, 5, 900, 10 * S, 0);
	give(db, text, false, 5, 900, 10 * S - 25 * MS, 2000);
	assert_null(axis_relate(db));
	assert_int_equal(COLUMN(db, text, "axis"), COLUMN(db, perf, "axis"));
	assert_int_equal(COLUMN(db, text, "boot"), COLUMN(db, perf, "boot"));
	assert_in_range(COLUMN(db, text, "offset_ns"), 25 * MS - 2000, 25 * MS);
	assert_in_range(COLUMN(db, text, "uncertainty_ns"), 990, 2002);
	case_close(db);

	/* The same seconds of the same clock, and not one switch in common. */
	db = new_case();
	perf = source(db, "perf.data", "sched", "a", "6.1", 10 * S, 20 * S);
	text = source(db, "perf2", "sched", "a", "6.1", 10 * S, 20 * S);
	give(db, perf, false, 5, 900, 10 * S, 0);
	give(db, text, false, 6, 900, 10 * S, 0);
	assert_null(axis_relate(db));
	assert_int_equal(COLUMN(db, perf, "offset_ns"), -12345);
	assert_why(db, perf, "not the same context switches");
	case_close(db);

	/* Many in common, but at scattered times: the same numbers by accident. */
	db = new_case();
	perf = source(db, "perf.data", "sched", NULL, NULL, 10 * S, 20 * S);
	text = source(db, "trace", "local", NULL, NULL, 9 * S, 19 * S);
	give(db, perf, false, 5, 900, 10 * S, 0);
	give(db, text, false, 5, 900, 10 * S, 3 * S);
	assert_null(axis_relate(db));
	assert_int_equal(COLUMN(db, text, "offset_ns"), -12345);
	case_close(db);
}

static void two_logs(void **state)
{
	struct case_db *db = new_case();
	int64_t a = source(db, "dmesg", "sched", NULL, "6.1", 0, 9 * S), iso = source(db, "dmesg", "wall", NULL, "6.1", 1700000000 * S, 1700000009 * S);

	(void)state;
	give(db, a, true, 9, 100, 0, 0);
	give(db, iso, true, 9, 100, 1700000000 * S, 0);
	assert_null(axis_relate(db));
	assert_int_equal(COLUMN(db, a, "axis"), 1);
	assert_int_equal(COLUMN(db, a, "offset_ns"), 1700000000 * S);
	assert_true(COLUMN(db, a, "uncertainty_ns") >= S);
	assert_int_equal(case_int(db, 0, "SELECT clock_offset_ns FROM source WHERE id = ?", "i", a), 1700000000 * S);
	case_close(db);

	db = new_case();
	a = source(db, "dmesg", "sched", NULL, "6.1", 0, 9 * S);
	iso = source(db, "dmesg", "sched", NULL, "6.1", 0, 9 * S);
	give(db, a, true, 9, 100, 0, 0);
	give(db, iso, true, 9, 100, 0, 90 * MS);
	assert_null(axis_relate(db));
	assert_why(db, a, "the same lines at different times");
	case_close(db);
}

static int64_t ties(struct case_db *db)
{
	return case_int(db, -1, "SELECT COUNT(*) FROM tie", "");
}

/*
 * A stall of 2 s at 100 s of a recording whose clock is @offset from the wall, and a ping gap of
 * 10 s.
 */
static struct case_db *ping_case(int64_t offset, int64_t uncertainty, bool wall, int64_t gap)
{
	struct case_db *db = new_case();
	int64_t perf = source(db, "perf.data", "mono", "a", "6.1", 90 * S, 120 * S), ping = source(db, "ping", "wall", NULL, NULL, gap - 5 * S, gap + 60 * S);

	if (wall)
		assert_null(case_insert(db, NULL, "UPDATE source SET clock_offset_ns = ?, clock_uncertainty_ns = ? WHERE id = ?", "iii", offset,
					uncertainty, perf));
	assert_null(case_insert(db, NULL, "INSERT INTO stall(source_id, subject, kind, start_ns, duration_ns) VALUES(?, 'vcpu', 'runq', ?, ?)", "iii",
				perf, 100 * S, 2 * S));
	assert_null(case_insert(db, NULL, "INSERT INTO ping_gap(source_id, kind, start_ns, end_ns, duration_ns, replies, lost) "
				"VALUES(?, 'burst', ?, ?, ?, 1, 0)", "iiii", ping, gap, gap + 10 * S, 10 * S));
	assert_null(axis_relate(db));
	return db;
}

static void ping_gaps(void **state)
{
	int64_t wall = 1700000000 * S;
	struct case_db *db;

	(void)state;
	db = ping_case(wall - 100 * S, 1000, true, wall - 4 * S);
	assert_int_equal(ties(db), 1);
	assert_int_equal(case_int(db, 0, "SELECT overlap_ns FROM tie", ""), 2 * S);
	assert_int_equal(case_int(db, 0, "SELECT uncertainty_ns FROM tie", ""), S + 1000 + 1);
	case_close(db);
	/* half a second in common: less than is certain */
	db = ping_case(wall - 100 * S, 1000, true, wall + 1500 * MS);
	assert_int_equal(ties(db), 0);
	case_close(db);
	/* a clock that may be off by 20 s */
	db = ping_case(wall - 100 * S, 20 * S, true, wall - 4 * S);
	assert_int_equal(ties(db), 0);
	case_close(db);
	db = ping_case(0, 0, false, wall - 4 * S);			/* no relation */
	assert_int_equal(ties(db), 0);
	assert_int_equal(case_int(db, 0, "SELECT COUNT(*) FROM axis WHERE axis = 1", ""), 1);
	case_close(db);
	/* a clock ahead of the wall's */
	db = ping_case(-90 * S, 1000, true, 8 * S);
	assert_int_equal(ties(db), 1);
	case_close(db);
	db = ping_case(INT64_MAX, 0, true, wall - 4 * S);
	assert_int_equal(ties(db), 0);
	case_close(db);
	db = ping_case(INT64_MIN, INT64_MAX, true, wall - 4 * S);
	assert_int_equal(ties(db), 0);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mark_sets),	 cmocka_unit_test(mark_twice),
		cmocka_unit_test(mark_overflow), cmocka_unit_test(one_clock),
		cmocka_unit_test(local_clock),	 cmocka_unit_test(by_switches),
		cmocka_unit_test(two_logs),	 cmocka_unit_test(ping_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
