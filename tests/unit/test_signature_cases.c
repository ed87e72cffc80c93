// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_signature_cases.c - fixtures/signatures: every case's verdict is the one its first lines
 * expect. See the README there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>

#include "signature.h"

static char *slurp(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char *buf = xcalloc(1, 65536);

	assert_non_null(f);
	assert_true(fread(buf, 1, 65535, f) > 0);
	return buf;
}

static void run_sql(struct case_db *db, const char *path)
{
	_cleanup_free_ char *sql = slurp(path);
	char *message = NULL;

	if (sqlite3_exec(db->db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", path, message);
}

static void check_evidence(struct case_db *db, const char *path)
{
	/* What is shown can be cited, and every sentence is filled. */
	if (case_int(db, -1,
		     "SELECT count(*) FROM evidence WHERE outcome = 'shown' AND role <> 'precondition' AND "
		     "(says IS NULL OR says LIKE '%{%' OR cites = '[]')",
		     ""))
		fail_msg("%s: evidence without a citation, or with a placeholder left", path);
	if (case_int(db, -1, "SELECT count(*) FROM evidence WHERE outcome = 'error'", ""))
		fail_msg("%s: evidence whose SQL failed", path);
}

/* @all: evaluate the whole catalogue, not only the signature that the case names. */
static void one_case(const struct catalogue *cat, const char *base, const char *path, bool all)
{
	_cleanup_free_ char *text = slurp(path), *verdict = NULL;
	char id[100], level[32], flags[100] = "";
	const char *named = id;
	const char *p = strstr(text, "-- expect: ");
	struct case_db *db;
	sqlite3_stmt *st;
	struct error *err;
	int64_t vm = -1;
	bool contradiction = false;

	assert_non_null(p);
	assert_true(sscanf(p, "-- expect: %99[^=]=%31s%99[^\n]", id, level, flags) >= 2);
	if (strstr(flags, "vm="))
		vm = atoi(strstr(flags, "vm=") + 3);
	assert_null(case_create(&db, NULL));
	run_sql(db, base);
	run_sql(db, path);
	if (!catalogue_find(cat, id))
		fail_msg("%s: no signature %s", path, id);
	err = verdicts_compute_some(db, cat, &named, all ? 0 : 1);
	if (err)
		fail_msg("%s: %s", path, err->what);
	if (!all && case_int(db, -1, "SELECT count(*) FROM verdict WHERE signature <> ?1", "s", id))
		fail_msg("%s: verdicts of signatures not asked for", path);
	if (all && case_int(db, -1, "SELECT count(DISTINCT signature) FROM verdict", "") !=
			   (int64_t)catalogue_count(cat))
		fail_msg("%s: not every signature has a verdict", path);
	err = case_query(
		db, &st,
		vm < 0 ? "SELECT verdict, contradiction, because FROM verdict WHERE signature = ?1 AND ?2 = ?2 LIMIT 1"
		       : "SELECT verdict, contradiction, because FROM verdict WHERE signature = ?1 AND vm_id = ?2",
		"si", id, vm);
	assert_null(err);
	if (!case_step(db, st, &err))
		fail_msg("%s: no verdict for %s on VM %d", path, id, (int)vm);
	verdict = xstrdup((const char *)sqlite3_column_text(st, 0));
	contradiction = sqlite3_column_type(st, 1) != SQLITE_NULL;
	if (strcmp(verdict, level))
		fail_msg("%s: expected %s, got %s (%s)", path, level, verdict,
			 sqlite3_column_text(st, 2));
	if (strstr(flags, "contradiction") && contradiction == !!strstr(flags, "no-contradiction"))
		fail_msg("%s: contradiction %s", path, contradiction ? "named" : "not named");
	case_done(st);
	check_evidence(db, path);
	case_close(db);
}

static void test_cases(void **state)
{
	struct catalogue *cat;
	glob_t g;

	(void)state;
	assert_null(catalogue_load(&cat, NULL, 0));
	assert_int_equal(glob(SRCDIR "/fixtures/signatures/*/*.sql", 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		one_case(cat, SRCDIR "/fixtures/signatures/base.sql", g.gl_pathv[i], false);
	assert_true(g.gl_pathc >= 80);
	globfree(&g);
	catalogue_free(cat);
}

/*
 * Each signature's first case of its bug, over the whole catalogue: no other signature's SQL fails
 * there, and what it shows is cited.
 */
static void test_whole_catalogue(void **state)
{
	struct catalogue *cat;

	(void)state;
	assert_null(catalogue_load(&cat, NULL, 0));
	for (size_t i = 0; i < catalogue_count(cat); i++) {
		_cleanup_free_ char *pattern =
			xasprintf("%s/fixtures/signatures/%s/positive*.sql", SRCDIR,
				  signature_id(catalogue_get(cat, i)));
		glob_t g;

		if (glob(pattern, 0, NULL, &g))
			fail_msg("%s: nothing there", pattern);
		one_case(cat, SRCDIR "/fixtures/signatures/base.sql", g.gl_pathv[0], true);
		globfree(&g);
	}
	catalogue_free(cat);
}

/* Each signature has a case that is the bug and one that looks like it. */
static void test_every_signature_has_cases(void **state)
{
	struct catalogue *cat;

	(void)state;
	assert_null(catalogue_load(&cat, NULL, 0));
	for (size_t i = 0; i < catalogue_count(cat); i++) {
		const char *id = signature_id(catalogue_get(cat, i));
		_cleanup_free_ char *pos =
			xasprintf("%s/fixtures/signatures/%s/positive*.sql", SRCDIR, id);
		_cleanup_free_ char *neg =
			xasprintf("%s/fixtures/signatures/%s/lookalike*.sql", SRCDIR, id);
		glob_t g;

		if (glob(pos, 0, NULL, &g))
			fail_msg("%s has no positive case", id);
		globfree(&g);
		if (glob(neg, 0, NULL, &g))
			fail_msg("%s has no look-alike", id);
		globfree(&g);
	}
	catalogue_free(cat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_whole_catalogue),
		cmocka_unit_test(test_every_signature_has_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
