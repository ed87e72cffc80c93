/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.h - an engineer's SQL over the case file: prepared under an authorizer, stepped by the
 * reports.
 */
#ifndef KM_QUERY_H
#define KM_QUERY_H

#include <json-c/json.h>

#include "casefile.h"

/*
 * query_prepare() - prepare the one statement @sql for reading: no writing, ATTACH, PRAGMA (but
 * table_info and its kin) or extensions. ERR_USAGE with SQLite's message otherwise. The caller
 * finalises *@ret; query_release() takes the authorizer off again.
 */
struct error *query_prepare(struct case_db *db, sqlite3_stmt **ret, const char *sql);
void query_release(struct case_db *db);
/*
 * query_step() - true while there is a row; false at the end or on error (then *@err, ERR_USAGE).
 */
bool query_step(struct case_db *db, sqlite3_stmt *st, struct error **err);
/*
 * query_columns() - names of the columns as an array of strings; a second one of the same name is
 * "name:2".
 */
struct json_object *query_columns(sqlite3_stmt *st);
/* query_value() - a value of the row at hand; a blob as the text X'...'. */
struct json_object *query_value(sqlite3_stmt *st, int i);

#endif
