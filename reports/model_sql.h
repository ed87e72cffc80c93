/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model_sql.h - the SQL behind model.c: one statement a section, children nested. Private to the
 * model.
 */
#ifndef KM_MODEL_SQL_H
#define KM_MODEL_SQL_H

#include <sqlite3.h>
#include <json-c/json.h>

struct model_part {
	const char		*key;		/* name in JSON */
	const char		*sql;		/* see model.c for what column names mean */
	const struct model_part	*children;	/* ends with a NULL key */
};

extern const struct model_part model_sections[];

/*
 * ?1: cite ids as JSON ("[3,4]" or "3"); gives member, line, offset, time_ns, text in the order of
 * the ids
 */
#define MODEL_SQL_CITES                                                                            \
	"SELECT m.path, c.line, CASE WHEN c.line IS NULL THEN c.offset END, c.time_ns, c.text "    \
	"FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '[]' END) AS j "                     \
	"JOIN cite c ON c.id = CAST(j.value AS INTEGER) LEFT JOIN member m ON m.id = c.member_id ORDER BY j.id"

/* model_value() - a column of the row at hand by SQLite's own type. */
struct json_object *model_value(sqlite3_stmt *st, int i);

#endif
