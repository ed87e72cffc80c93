// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_signatures.c - reading YAML, guarding and linting SQL, needs, sentences. Verdicts:
 * test_signature_cases.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sig.h"

#define HEAD	"id: test-one\ntitle: A title\nmechanism: How it goes\n"
#define ITEM \
	"evidence:\n  - id: one\n    strength: strong\n    needs: [\"stack\"]\n    says: \"{n}\"\n    sql: SELECT 1 AS n\n"

static void expect_error(const char *text, const char *part)
{
	struct signature *s;
	struct error *err = sig_parse(&s, "test-one.yaml", text, strlen(text));

	if (!err)
		fail_msg("no error for: %s", text);
	if (!strstr(err->what, part))
		fail_msg("'%s' is not in '%s'", part, err->what);
	assert_int_equal(err->code, ERR_USAGE);
	error_free(err);
}

static void test_yaml(void **state)
{
	struct signature *s;

	(void)state;
	assert_null(sig_parse(&s, "test-one.yaml", HEAD ITEM, strlen(HEAD ITEM)));
	assert_string_equal(s->id, "test-one");
	assert_int_equal(s->n_items, 1);
	assert_int_equal(s->items[0].strength, SIG_STRONG);
	assert_string_equal(s->items[0].needs[0], "stack");
	sig_free(s);
	expect_error("", "empty");
	expect_error("id: [", ":2:");
	expect_error("- a\n- b\n", "mapping");
	expect_error("id: test-one\ntitle: x\n", "mechanism");
	expect_error("id: Test One\ntitle: x\nmechanism: y\n", "id");
	expect_error(HEAD "evidense: []\n", "unknown key 'evidense'");
	expect_error(HEAD "title: twice\n", "stands twice");
	expect_error(HEAD "evidence:\n  - id: one\n    says: x\n    sql: SELECT 1\n", "needs");
	expect_error(HEAD "evidence:\n  - id: one\n    strength: huge\n", "strength");
	expect_error(HEAD "evidence: text\n", "list of items");
	expect_error(HEAD "affects:\n  fixed:\n    - commit: abc\n      upstream: soon\n",
		     "no release");
	expect_error(HEAD "affects:\n  fixed:\n    - commit: abc\n      partial: maybe\n",
		     "true or false");
	expect_error(HEAD "affects:\n  fixed:\n    - commit: abc\n      releases: [el9]\n",
		     "no release");
	expect_error(HEAD "record_next:\n  - command: x\n", "why");
}

static void test_guard(void **state)
{
	static const char *const bad[] = {
		"",
		"   ",
		"-- nothing",
		"DELETE FROM verdict",
		"INSERT INTO vm(id, source_id) VALUES(1, 1)",
		"DROP TABLE vm",
		"PRAGMA user_version",
		"SELECT * FROM pragma_table_info('vm')",
		"ATTACH ':memory:' AS x",
		"SELECT 1; SELECT 2",
		"SELECT load_extension('x')",
		"CREATE TABLE x(y)",
		"UPDATE vm SET id = 2",
		"BEGIN",
		"SELECT ?",
		"VACUUM",
		"WITH x AS (SELECT 1) DELETE FROM vm",
		"SELECT nothing FROM vm",
	};
	static const char *const good[] = {
		"SELECT 1",
		"SELECT count(*) FROM vm; -- end",
		"SELECT value FROM json_each('[1]')",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
	};
	struct sql_guard guard;
	struct case_db *db;
	sqlite3_stmt *st;
	int rc;

	(void)state;
	assert_null(case_create(&db, NULL));
	sql_guard_set(db->db, &guard, SQL_STEP_LIMIT);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = sql_prepare_guarded(db->db, bad[i], &guard, &st);

		if (!err) {
			/* A pragma's table is refused at its first step. */
			rc = sqlite3_step(st);
			if (rc == SQLITE_ROW || rc == SQLITE_DONE)
				fail_msg("allowed: %s", bad[i]);
			sqlite3_finalize(st);
		}
		error_free(err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct error *err = sql_prepare_guarded(db->db, good[i], &guard, &st);

		if (err)
			fail_msg("refused: %s: %s", good[i], err->what);
		assert_int_equal(sqlite3_step(st), SQLITE_ROW);
		sqlite3_finalize(st);
	}
	sql_guard_set(db->db, &guard, 100000);
	assert_null(sql_prepare_guarded(
		db->db,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
		&guard, &st));
	assert_int_equal(sqlite3_step(st), SQLITE_INTERRUPT);
	assert_true(guard.exceeded);
	assert_in_range(guard.steps, 100000, 101000);
	sqlite3_finalize(st);
	sql_guard_clear(db->db);
	assert_int_equal(case_int(db, -1, "SELECT count(*) FROM vm", ""), 0);
	case_close(db);
}

static void count_finding(void *arg, const char *what)
{
	char **first = arg;

	if (!*first)
		*first = xstrdup(what);
}

static void test_lint_sql(void **state)
{
	static const struct { const char *sql, *finding;
	} cases[] = {
		{ "SELECT count(*) AS n FROM span", "without GROUP BY" },
		{ "SELECT 1 WHERE EXISTS (SELECT max(id) FROM span)", "without GROUP BY" },
		{ "SELECT x FROM (SELECT sum(duration_ns) AS x FROM span)", "without GROUP BY" },
		{ "WITH t AS (SELECT avg(duration_ns) AS x FROM span) SELECT x FROM t",
		  "without GROUP BY" },
		{ "SELECT 1 UNION ALL SELECT count(*) FROM span", "without GROUP BY" },
		{ "SELECT count(*) FROM span HAVING count(*) > 3", NULL },
		{ "SELECT (SELECT count(*) FROM span) AS n", NULL },
		{ "SELECT min(a.id, 3) FROM span a", NULL },
		{ "SELECT row_number() OVER (), sum(id) OVER (ORDER BY id) FROM span", NULL },
		{ "SELECT 'count(*)' AS n FROM span -- sum(x)", NULL },
		{ "SELECT func, count(*) FROM span GROUP BY func", NULL },
		{ "SELECT tid, count(*) FROM span GROUP BY func", "bare column 'tid'" },
		{ "SELECT s.tid, count(*) FROM span s GROUP BY s.func, s.tid", NULL },
		{ "SELECT s.task || s.tid, max(s.id) FROM span s GROUP BY s.func",
		  "bare column 'task'" },
		{ "SELECT s.task, max(c.count) FROM span s JOIN span_child c ON c.span_id = s.id GROUP BY s.id",
		  NULL },
		{ "SELECT tid + 1 AS next, count(*) FROM span GROUP BY next", NULL },
		{ "SELECT (SELECT sum(c.count) + p.id FROM span_child c WHERE c.span_id = p.id) FROM span p",
		  NULL },
		{ "SELECT count / total_ns FROM span_stat", "integer division" },
		{ "SELECT 1.0 * count / total_ns FROM span_stat", NULL },
		{ "SELECT count / 2.0 FROM span_stat", NULL },
		{ "SELECT CAST(count AS REAL) / total_ns FROM span_stat", NULL },
		{ "SELECT count / CAST(total_ns AS REAL) FROM span_stat", NULL },
		{ "SELECT (1.0 * count) / (total_ns + 1) FROM span_stat", NULL },
		{ "SELECT 1.0 * count, count / total_ns FROM span_stat", "integer division" },
		{ "SELECT 1 FROM span_stat WHERE 1.0 > 0 AND count / total_ns > 3",
		  "integer division" },
		{ "SELECT id FROM span WHERE tid NOT IN (SELECT tid FROM task)", "NOT IN" },
		{ "SELECT id FROM span WHERE id NOT IN (SELECT parent_id FROM span)", "NOT IN" },
		{ "SELECT id FROM span WHERE id NOT IN (SELECT parent_id FROM span WHERE parent_id IS NOT NULL)",
		  NULL },
		{ "SELECT id FROM span WHERE id NOT IN (SELECT span_id FROM span_child)", NULL },
		{ "SELECT id FROM span WHERE func NOT IN ('a', 'b')", NULL },
		{ "SELECT id FROM span WHERE func NOT LIKE 'x%'", NULL },
		{ "SELECT ((((((1))))))", NULL },
		{ "SELECT )", "too deeply" },
	};
	struct case_db *db;

	(void)state;
	assert_null(case_create(&db, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *first = NULL;

		lint_sql(db->db, cases[i].sql, count_finding, &first);
		if (!cases[i].finding && first)
			fail_msg("%s: %s", cases[i].sql, first);
		if (cases[i].finding && (!first || !strstr(first, cases[i].finding)))
			fail_msg("%s: expected '%s', got '%s'", cases[i].sql, cases[i].finding,
				 first ? first : "nothing");
	}
	case_close(db);
}

static void test_says(void **state)
{
	static const struct { const char *says, *sql, *text; } cases[] = {
		{ "plain", "SELECT 1 AS a", "plain" },
		{ "{a} and {b}", "SELECT 1 AS a, 'x{y}' AS b", "1 and x{y}" },
		{ "{a}", "SELECT NULL AS a", NULL },
		{ "{{a}", "SELECT 1 AS a", "{a}" },
		{ "{a:ms}", "SELECT 1500000 AS a", "1.50 ms" },
		{ "{a:ms}", "SELECT 2510990000 AS a", "2511 ms" },
		{ "{a:us} {a:s}", "SELECT 500 AS a", "0.500 us 0.000 s" },
		{ "{a:dur}", "SELECT 999 AS a", "999 ns" },
		{ "{a:dur}", "SELECT 23567000 AS a", "23.6 ms" },
		{ "{a:dur}", "SELECT 19979000000 AS a", "20.0 s" },
		{ "{a:pct}", "SELECT 0.5 AS a", "50 %" },
		{ "{a:pct}", "SELECT 0.996 AS a", "99.6 %" },
		{ "{a:pct}", "SELECT 0.012 AS a", "1.2 %" },
		{ "{a:int} {a:num} {a}", "SELECT 3.25 AS a", "3 3.2 3.25" },
	};
	struct case_db *db;

	(void)state;
	assert_null(case_create(&db, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		sqlite3_stmt *st;

		assert_int_equal(sqlite3_prepare_v2(db->db, cases[i].sql, -1, &st, NULL),
				 SQLITE_OK);
		assert_null(says_check(cases[i].says, st));
		assert_int_equal(sqlite3_step(st), SQLITE_ROW);
		text = says_fill(cases[i].says, st);
		if (!cases[i].text)
			assert_null(text);
		else
			assert_string_equal(text, cases[i].text);
		sqlite3_finalize(st);
	}
	{
		_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL;
		sqlite3_stmt *st;

		assert_int_equal(sqlite3_prepare_v2(db->db, "SELECT 1 AS a", -1, &st, NULL),
				 SQLITE_OK);
		a = says_check("{b}", st);
		b = says_check("{a:weeks}", st);
		c = says_check("{a", st);
		assert_non_null(a);
		assert_non_null(b);
		assert_non_null(c);
		sqlite3_finalize(st);
	}
	case_close(db);
}

static void test_needs_vocabulary(void **state)
{
	static const char *const good[] = {
		"event:kvm_exit",
		"event:kvm_smm_transition|kvm_enter_smm",
		"probe:hv_track_root_tdp",
		"span:task_numa_work",
		"syscall:futex",
		"syscall:ioctl:KVM_CREATE_VM",
		"fact:numa.nodes",
		"table:cgroup or table:throttle",
		"log:soft_lockup",
		"ping",
		"stack",
		"stack or span:change_prot_numa",
	};
	static const char *const bad[] = {
		"",
		"kvm_exit",
		"event:",
		"event:kvm_exitt",
		"event:kvm_exit|nonsense",
		"probe:a b",
		"fact:whatever", "fact:kernel.config.CONFIG_PREEMPT",
		"table:sqlite_schema",
		"table:vm; DROP TABLE vm",
		"pong",
		"stack or nothing",
		"ping or ",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		_cleanup_free_ char *wrong = need_known(good[i]);

		if (wrong)
			fail_msg("%s: %s", good[i], wrong);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *wrong = need_known(bad[i]);

		if (!wrong)
			fail_msg("'%s' passes", bad[i]);
	}
	assert_true(need_is_trace("table:cgroup or table:throttle"));
	assert_false(need_is_trace("table:cgroup"));
	assert_false(need_is_trace("fact:numa.nodes"));
}

static void test_probe_names(void **state)
{
	static const struct { const char *event, *func;
	} cases[] = {
		{ "kprobes:p_hv_track_root_tdp_0", "hv_track_root_tdp" },
		{ "p_hv_track_root_tdp_0", "hv_track_root_tdp" },
		{ "probe:hv_track_root_tdp", "hv_track_root_tdp" },
		{ "probe:hv_track_root_tdp_1", "hv_track_root_tdp" },
		{ "kprobes:r_synchronize_rcu", "synchronize_rcu" },
		{ "probe:synchronize_rcu__return", "synchronize_rcu" },
		{ "kprobes:r_task_numa_work_0", "task_numa_work" },
		{ "p_", "p_" },
		{ "", "" },
		{ "_0", "_0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[64];

		probe_function(cases[i].event, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].func);
	}
}

static char *lint_text(const char *text, int *n)
{
	char path[] = "/tmp/km-lint-XXXXXX";
	int fd = mkstemp(path);
	char *buf = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&buf, &len);

	assert_true(fd >= 0 && out);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*n = signature_lint(path, out);
	fclose(out);
	unlink(path);
	return buf;
}

static void test_lint_file(void **state)
{
	static const char *const parts[] = {
		"two-of-a-kind: the id stands twice",
		"no parser delivers event 'no_such_event'",
		"placeholder {missing} has no column",
		"no column 'cite'",
		"no column 'source'",
		"gives a row on an empty case",
		"no such table",
		"only reading is allowed",
		"record_next: no item 'absent'",
		"the file's name should be",
		"no references",
		"no workaround",
		"status:",
	};
	const char *text = HEAD
		"evidence:\n"
		"  - {id: two-of-a-kind, strength: strong, needs: [\"event:no_such_event\"], says: \"{missing}\", sql: \"SELECT 1 AS n FROM vm\"}\n"
		"  - {id: two-of-a-kind, strength: strong, needs: [stack], says: \"x\", sql: \"SELECT 1 AS source, 2 AS cite\"}\n"
		"  - {id: three, strength: strong, needs: [stack], says: \"x\", sql: \"SELECT 1 AS source, 2 AS cite FROM nowhere\"}\n"
		"  - {id: four, strength: strong, needs: [stack], says: \"x\", sql: \"DELETE FROM vm\"}\n"
		"record_next:\n  - {command: x, why: y, shows: [absent]}\n";
	_cleanup_free_ char *out = NULL, *none = NULL;
	FILE *null = fopen("/dev/null", "w");
	int n;

	(void)state;
	out = lint_text(text, &n);
	assert_true(n >= (int)ARRAY_SIZE(parts));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(out, parts[i]))
			fail_msg("'%s' is not found in:\n%s", parts[i], out);
	none = lint_text("no: yaml: here", &n);
	assert_int_equal(n, 1);
	assert_int_equal(signature_lint("/nonexistent.yaml", null), -1);
	fclose(null);
}

static void test_embedded_are_clean(void **state)
{
	struct catalogue *cat;

	(void)state;
	assert_null(catalogue_load(&cat, NULL, 0));
	assert_true(catalogue_count(cat) >= 8);
	for (size_t i = 0; i < catalogue_count(cat); i++) {
		_cleanup_free_ char *path = xasprintf("%s/analyzer/signatures/%s.yaml", SRCDIR,
						      signature_id(catalogue_get(cat, i)));

		assert_int_equal(signature_lint(path, stdout), 0);
	}
	assert_null(catalogue_find(cat, "no-such-one"));
	catalogue_free(cat);
}

/* A query over its limit is an error, never "not shown". */
static void test_limit_is_an_error(void **state)
{
	char dir[] = "/tmp/km-sigs-XXXXXX";
	_cleanup_free_ char *path = NULL;
	const char *dirs[] = { dir };
	struct catalogue *cat;
	struct case_db *db;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/test-one.yaml", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, HEAD
		"evidence:\n  - id: endless\n    strength: decisive\n    needs: [\"table:log_line\"]\n    says: \"{n}\"\n"
		"    sql: |\n      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)\n"
		"      SELECT max(i) AS n FROM n HAVING count(*) > 0\n");
	fclose(f);
	assert_null(catalogue_load(&cat, dirs, 1));
	unlink(path);
	rmdir(dir);
	assert_non_null(catalogue_find(cat, "test-one"));
	assert_null(case_create(&db, NULL));
	/* an item of which nothing is needed would not be asked */
	assert_null(case_insert(
		db, NULL, "INSERT INTO log_line(source_id, kind, text) VALUES(1, 'oops', 'x')", ""));
	assert_null(verdicts_compute(db, cat));
	assert_int_equal(
		case_int(
			db, 0,
			"SELECT count(*) FROM verdict v JOIN evidence e ON e.verdict_id = v.id WHERE v.signature = 'test-one' "
			"AND v.verdict = 'cannot-tell' AND e.outcome = 'error' AND e.says LIKE '%20 million%'",
			""),
		1);
	case_close(db);
	catalogue_free(cat);
}

/* What to record next names the VM's threads and the host's own events. */
static void test_record_next(void **state)
{
	struct catalogue *cat;
	struct case_db *db;
	const char *wanted[] = { "loads-follow-smm" };
	_cleanup_free_ char *known = NULL, *only = NULL, *unknown = NULL;

	(void)state;
	assert_null(catalogue_load(&cat, NULL, 0));
	assert_null(case_create(&db, NULL));
	assert_int_equal(
		sqlite3_exec(
			db->db,
			"INSERT INTO source(id, side) VALUES(1, 'host');"
			"INSERT INTO vm(id, source_id, tgid) VALUES(1, 1, 100);"
			"INSERT INTO vcpu VALUES(1, 1, 1, 0, NULL, 101, 'a', 0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (2, 1, 1, 1, NULL, 102, 'b', 0, 1, 0, 0, 0, 0, 0, 0, 1, 0);"
			"INSERT INTO coverage VALUES(1, 'kvm:kvm_enter_smm', 'listed', 'all', 'system', 0, 1);",
			NULL, NULL, NULL),
		SQLITE_OK);
	known = record_next(db, catalogue_find(cat, "kvm-tdp-mmu-root-churn-smm-unload"), 1, wanted,
			    1);
	assert_non_null(strstr(known, "-t 101,102 "));
	assert_non_null(strstr(known, "kvm:kvm_enter_smm"));
	assert_null(strstr(known, "kvm_smm_transition"));
	/* nothing of a VM is shown: the only VM is meant */
	only = record_next(db, catalogue_find(cat, "kvm-tdp-mmu-root-churn-smm-unload"), 0, wanted,
			   1);
	assert_non_null(strstr(only, "-t 101,102 "));
	assert_int_equal(sqlite3_exec(db->db, "DELETE FROM vcpu; DELETE FROM vm", NULL, NULL, NULL),
			 SQLITE_OK);
	unknown = record_next(db, catalogue_find(cat, "kvm-tdp-mmu-root-churn-smm-unload"), 0,
			      wanted, 1);
	assert_non_null(strstr(unknown, "pgrep"));
	assert_null(strchr(unknown, '{'));
	case_close(db);
	catalogue_free(cat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_lint_sql),
		cmocka_unit_test(test_says),
		cmocka_unit_test(test_needs_vocabulary),
		cmocka_unit_test(test_probe_names),
		cmocka_unit_test(test_lint_file),
		cmocka_unit_test(test_embedded_are_clean),
		cmocka_unit_test(test_limit_is_an_error),
		cmocka_unit_test(test_record_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
