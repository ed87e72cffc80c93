/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - for unit tests of the parsers of tables, logs and settings: a text, or a file of
 * fixtures/, goes through recognition and its parser into a fresh case file, and the test asks SQL.
 */
#ifndef KM_TEST_FACTS_H
#define KM_TEST_FACTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "textfeed.h"

static inline struct error *facts_stream(struct parse_ctx *ctx, struct stream **ret,
					 const struct source_desc *desc,
					 const struct stream_ops *ops, void *priv)
{
	return stream_open(ret, ctx->db, desc, ops, priv, NULL, NULL);
}

static inline void facts_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->what);
}

static inline struct case_db *facts_new(void)
{
	struct case_db *db;

	facts_ok(case_create(&db, NULL));
	return db;
}

/*
 * facts_mem() - @len bytes as the member @name, from a buffer of just that size (sanitizers see
 * reads beyond).
 */
static inline void facts_mem(struct case_db *db, const char *name, const char *text, size_t len)
{
	struct parse_ctx proto = { .db = db, .open_stream = facts_stream };
	_cleanup_free_ char *copy = malloc(len ? len : 1);
	struct member m = { .path = name, .name = name, .size = len };

	memcpy(copy, text, len);
	m.data = (const uint8_t *)copy;
	facts_ok(case_insert(db, &m.id, "INSERT INTO member(path, status) VALUES(?, 'ignored')", "s", name));
	facts_ok(analyze_member(&proto, &m));
}

static inline void facts_text(struct case_db *db, const char *name, const char *text)
{
	facts_mem(db, name, text, strlen(text));
}

/* facts_file() - a file below fixtures/, under its own name. */
static inline void facts_file(struct case_db *db, const char *path)
{
	_cleanup_free_ char *full = xasprintf("%s/fixtures/%s", SRCDIR, path), *buf = NULL;
	FILE *f = fopen(full, "r");
	size_t cap = 1 << 20, len;

	if (!f)
		fail_msg("%s: can't be opened", full);
	buf = xmalloc(cap);
	len = fread(buf, 1, cap, f);
	fclose(f);
	facts_mem(db, path, buf, len);
}

static inline int64_t facts_int(struct case_db *db, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -12345;

	if (sqlite3_prepare_v2(db->db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db->db));
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

/* facts_str() - first column of the first row into a buffer of the test's; "(null)" where there is none. */
static inline const char *facts_str(struct case_db *db, char buf[512], const char *sql)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db->db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db->db));
	snprintf(buf, 512, "%s", sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0) ?
		 (const char *)sqlite3_column_text(st, 0) : "(null)");
	sqlite3_finalize(st);
	return buf;
}

#define assert_sql_int(db, sql, want)	assert_int_equal(facts_int(db, sql), want)
#define assert_sql_str(db, sql, want)                                                              \
	do {                                                                                       \
		char _b[512];                                                                      \
		assert_string_equal(facts_str(db, _b, sql), want);                                 \
	} while (0)
#define assert_fact(db, k, want) \
	assert_sql_str(db, "SELECT group_concat(value, '|') FROM fact WHERE key = '" k "'", want)
/* Every row cites a line of the member that holds what was taken. */
#define assert_all_cited(db, table) \
	assert_sql_int(db, "SELECT count(*) FROM " table " t LEFT JOIN cite c ON c.id = t.cite_id WHERE c.line IS NULL", 0)

#endif
