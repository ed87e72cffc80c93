// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_docs.c - doc/case-file.md explains every table and column of the schema, doc/json.md every
 * key that the JSON report prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "casefile.h"

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = NULL;
	size_t n = 0;

	assert_non_null(f);
	if (getdelim(&s, &n, '\0', f) < 0)
		fail_msg("%s is empty", path);
	fclose(f);
	return s;
}

/* The part of @doc between @head and the next heading; NULL where there is none. */
static char *section(const char *doc, const char *head)
{
	const char *at = strstr(doc, head), *end;

	if (!at)
		return NULL;
	at += strlen(head);
	end = strstr(at, "\n#");
	return end ? xstrndup(at, (size_t)(end - at)) : xstrdup(at);
}

static void case_file(void **state)
{
	char *doc = slurp(SRCDIR "/doc/case-file.md");
	struct case_db *db;
	struct error *err = NULL;
	sqlite3_stmt *st;
	int missing = 0, columns = 0;

	(void)state;
	assert_null(case_create(&db, NULL));
	assert_null(case_query(
		db, &st,
		"SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "
		"ORDER BY m.rowid, c.cid",
		""));
	while (case_step(db, st, &err)) {
		const char *table = (const char *)sqlite3_column_text(st, 0),
			   *column = (const char *)sqlite3_column_text(st, 1);
		_cleanup_free_ char *head = xasprintf("\n### %s\n", table),
				    *item = xasprintf("\n- `%s` — ", column);
		_cleanup_free_ char *text = section(doc, head);

		columns++;
		if (text && strstr(text, item))
			continue;
		fprintf(stderr, "doc/case-file.md does not explain %s.%s\n", table, column);
		missing++;
	}
	case_done(st);
	assert_null(err);
	assert_true(columns > 300);
	assert_int_equal(missing, 0);
	case_close(db);
	free(doc);
}

/* And the other way round: what it explains exists. */
static void case_file_no_more(void **state)
{
	char *doc = slurp(SRCDIR "/doc/case-file.md"), *line, *save, table[64] = "", column[64];
	struct case_db *db;

	(void)state;
	assert_null(case_create(&db, NULL));
	for (line = strtok_r(doc, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "## ", 3))
			*table = '\0';
		sscanf(line, "### %63s", table);
		if (!*table || sscanf(line, "- `%63[^`]`", column) != 1)
			continue;
		if (case_int(db, 0, "SELECT COUNT(*) FROM pragma_table_info(?) WHERE name = ?",
			     "ss", table, column) != 1)
			fail_msg("doc/case-file.md explains %s.%s, which does not exist", table,
				 column);
	}
	case_close(db);
	free(doc);
}

static int undocumented(const char *doc, const char *file, struct json_object *o)
{
	int missing = 0;

	if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++)
			missing += undocumented(doc, file, json_object_array_get_idx(o, i));
	} else if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, value) {
			_cleanup_free_ char *quoted = xasprintf("`%s`", key);

			/* these two hold names that come from the case */
			if (strcmp(key, "event_counts") && strcmp(key, "after_reasons"))
				missing += undocumented(doc, file, value);
			if (strstr(doc, quoted))
				continue;
			fprintf(stderr, "doc/json.md does not explain `%s` of %s\n", key, file);
			missing++;
		}
	}
	return missing;
}

static void json(void **state)
{
	static const char *const views[] = { "analyze", "info",	  "exits",
					     "latency", "stalls", "chain" };
	char *doc = slurp(SRCDIR "/doc/json.md");
	int missing = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		_cleanup_free_ char *path = xasprintf(SRCDIR "/fixtures/reports/%s.json", views[i]),
				    *text = slurp(path);
		struct json_object *o = json_tokener_parse(text);

		assert_non_null(o);
		missing += undocumented(doc, views[i], o);
		json_object_put(o);
	}
	assert_int_equal(missing, 0);
	free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_file),
		cmocka_unit_test(case_file_no_more),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
