// SPDX-License-Identifier: GPL-2.0-or-later
/* query.c - SQL from the command line over the case file; see query.h. */
#include "query.h"

#include <ctype.h>

#include "model_sql.h"
#include "stream.h"

#define BLOB_MAX	4096	/* bytes of a blob that are shown */

static int authorize(void *arg __unused, int action, const char *a, const char *b,
		     const char *db __unused, const char *trigger __unused)
{
	static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list",
					       "index_list", "user_version" };
	size_t i;

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && !strcasecmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		for (i = 0; a && i < ARRAY_SIZE(pragmas); i++)
			if (!strcasecmp(a, pragmas[i]) && (!b || strcasecmp(a, "user_version")))
				return SQLITE_OK;
		return SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* Ctrl-C ends a query that takes too long. */
static int interrupted(void *arg __unused)
{
	return stream_interrupted();
}

static bool only_blanks(const char *s)
{
	while (isspace((unsigned char)*s) || *s == ';')
		s++;
	return !*s;
}

struct error *query_prepare(struct case_db *db, sqlite3_stmt **ret, const char *sql)
{
	const char *tail;

	*ret = NULL;
	sqlite3_set_authorizer(db->db, authorize, NULL);
	sqlite3_progress_handler(db->db, 100000, interrupted, NULL);
	if (sqlite3_prepare_v2(db->db, sql, -1, ret, &tail) != SQLITE_OK)
		return error_new(ERR_USAGE, "query: %s%s", sqlite3_errmsg(db->db),
				 sqlite3_errcode(db->db) == SQLITE_AUTH
					 ? " (a case file is only read: SELECT)"
					 : "");
	if (!*ret)
		return error_new(ERR_USAGE, "query: no SQL; give one SELECT statement");
	if (only_blanks(tail) && sqlite3_stmt_readonly(*ret))
		return NULL;
	sqlite3_finalize(*ret);
	*ret = NULL;
	return error_new(ERR_USAGE, "query: one SELECT statement at a time");
}

void query_release(struct case_db *db)
{
	sqlite3_set_authorizer(db->db, NULL, NULL);
	sqlite3_progress_handler(db->db, 0, NULL, NULL);
}

bool query_step(struct case_db *db, sqlite3_stmt *st, struct error **err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE && !*err)
		*err = error_new(ERR_USAGE, "query: %s", sqlite3_errmsg(db->db));
	return false;
}

struct json_object *query_columns(sqlite3_stmt *st)
{
	struct json_object *names = json_object_new_array();
	int n = sqlite3_column_count(st), i, j;

	for (i = 0; i < n; i++) {
		const char *name = sqlite3_column_name(st, i);
		int same = 1;

		name = name ? name : "?";
		for (j = 0; j < i; j++) {
			const char *other = sqlite3_column_name(st, j);

			same += other && !strcmp(other, name);
		}
		if (same > 1) {
			_cleanup_free_ char *numbered = xasprintf("%s:%d", name, same);

			json_object_array_add(names, json_object_new_string(numbered));
		} else {
			json_object_array_add(names, json_object_new_string(name));
		}
	}
	return names;
}

struct json_object *query_value(sqlite3_stmt *st, int i)
{
	_cleanup_free_ char *hex = NULL;
	const uint8_t *blob;
	int n, k;

	if (sqlite3_column_type(st, i) != SQLITE_BLOB)
		return model_value(st, i);
	blob = sqlite3_column_blob(st, i);
	n = MIN(sqlite3_column_bytes(st, i), BLOB_MAX);
	hex = xmalloc((size_t)n * 2 + 4);
	memcpy(hex, "X'", 2);
	for (k = 0; k < n; k++)
		sprintf(hex + 2 + 2 * k, "%02x", blob[k]);
	strcpy(hex + 2 + 2 * n, "'");
	return json_object_new_string(hex);
}
