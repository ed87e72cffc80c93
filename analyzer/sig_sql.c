// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_sql.c - a guard around SQL that did not come with the program: read only, and bounded in VM
 * steps.
 *
 * The limit counts steps, not time, so that a result never depends on the machine's load.
 */
#include "signature.h"

#define STEPS_PER_CALL	1000

static const char *const denied_functions[] = {
	"load_extension", "readfile",	    "writefile",
	"edit",		  "fts3_tokenizer", "sqlite_compileoption_get",
};

static int authorize(void *arg, int action, const char *a, const char *b,
		     const char *dbname __unused, const char *trigger __unused)
{
	struct sql_guard *g = arg;

	(void)a;
	if (!g->on)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		for (size_t i = 0; i < ARRAY_SIZE(denied_functions); i++) {
			if (b && !sqlite3_stricmp(b, denied_functions[i])) {
				g->refused = true;
				return SQLITE_DENY;
			}
		}
		return SQLITE_OK;
	default:
		g->refused = true;
		return SQLITE_DENY;
	}
}

static int count_steps(void *arg)
{
	struct sql_guard *g = arg;

	g->steps += STEPS_PER_CALL;
	if (!g->on || g->steps < g->limit)
		return 0;
	g->exceeded = true;
	return 1;
}

void sql_guard_on(struct sql_guard *g, uint64_t limit)
{
	*g = (struct sql_guard){ .limit = limit, .on = true };
}

void sql_guard_off(struct sql_guard *g)
{
	g->on = false;
}

void sql_guard_set(sqlite3 *db, struct sql_guard *g, uint64_t limit)
{
	sql_guard_on(g, limit);
	/*
	 * json_each and json_tree come to life at their first use, by a CREATE TABLE of SQLite's
	 * own that the authorizer would see as a write. Let that happen before.
	 */
	sqlite3_exec(db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
	sqlite3_set_authorizer(db, authorize, g);
	sqlite3_progress_handler(db, STEPS_PER_CALL, count_steps, g);
}

void sql_guard_clear(sqlite3 *db)
{
	sqlite3_set_authorizer(db, NULL, NULL);
	sqlite3_progress_handler(db, 0, NULL, NULL);
}

/* True when only blanks, comments and semicolons are left. */
static bool only_blank(const char *s)
{
	while (*s) {
		if (strchr(" \t\r\n\f;", *s)) {
			s++;
		} else if (s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
		} else if (s[0] == '/' && s[1] == '*') {
			s = strstr(s + 2, "*/");
			if (!s)
				return true;
			s += 2;
		} else {
			return false;
		}
	}
	return true;
}

struct error *sql_prepare_guarded(sqlite3 *db, const char *sql, struct sql_guard *g,
				  sqlite3_stmt **ret)
{
	sqlite3_stmt *st = NULL;
	const char *tail = "";
	struct error *err;

	*ret = NULL;
	g->refused = false;
	if (sqlite3_prepare_v2(db, sql, -1, &st, &tail) != SQLITE_OK) {
		err = error_new(ERR_USAGE, "%s%s", sqlite3_errmsg(db),
				g->refused ? " (only reading is allowed: one SELECT)" : "");
		sqlite3_finalize(st);
		return err;
	}
	if (!st)
		return error_new(ERR_USAGE, "empty SQL: give one SELECT");
	if (!only_blank(tail))
		err = error_new(ERR_USAGE, "more than one statement: give one SELECT");
	else if (!sqlite3_stmt_readonly(st) || sqlite3_column_count(st) == 0)
		err = error_new(ERR_USAGE, "only reading is allowed: give one SELECT");
	else if (sqlite3_bind_parameter_count(st) > 0)
		err = error_new(ERR_USAGE, "parameters (?, :name) have no value here");
	else {
		*ret = st;
		return NULL;
	}
	sqlite3_finalize(st);
	return err;
}

int sql_column(sqlite3_stmt *st, const char *name)
{
	int n = sqlite3_column_count(st);

	for (int i = 0; i < n; i++)
		if (!strcmp(sqlite3_column_name(st, i), name))
			return i;
	return -1;
}
