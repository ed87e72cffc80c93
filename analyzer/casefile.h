/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * casefile.h - the case file: one SQLite database (schema.sql, doc/case-file.md) in memory or on
 * disk.
 *
 * Used from one thread (the parser's, which is main's). Inserts go through statements prepared once
 * per SQL text and kept. Errors of SQLite are ERR_INTERNAL and carried up.
 */
#ifndef KM_CASEFILE_H
#define KM_CASEFILE_H

#include <sqlite3.h>

#include "error.h"

#define CASE_USER_VERSION	3
#define CASE_APPLICATION_ID	0x6b766d6f	/* "kvmo" in the SQLite header */

struct source_marks;
struct symbols;

struct case_db {
	sqlite3		*db;
	struct case_stmt *stmts;	/* prepared statements by SQL text's address */
	size_t		n_stmts, cap_stmts;
	struct source_marks *marks;	/* see marks.h; only while members are being read */
	size_t		n_marks, cap_marks;
	struct symbols	*symbols;	/* see symbols.h; likewise; may be NULL */
};

/* case_create() - a new case in memory (@path NULL) or as a file; one transaction is open until
 * case_commit(). */
struct error *case_create(struct case_db **ret, const char *path);
/* case_open() - an existing case file, read-only, defensive, trusted_schema off, after quick_check
 * and user_version. */
struct error *case_open(struct case_db **ret, const char *path);
/* case_save() - write a copy of @c to @name: a new file, or a regular one that is replaced. ERR_IO.
 */
struct error *case_save(struct case_db *c, const char *name);
/* case_clone() - a copy of @c in memory, which can be written. ERR_INTERNAL. */
struct error *case_clone(struct case_db **ret, struct case_db *c);
/* case_compact() - leave nothing of what was changed or deleted behind in unused pages. */
struct error *case_compact(struct case_db *c);
void case_close(struct case_db *c);

/*
 * case_insert() - run an INSERT/UPDATE with bound values. @sql must be a string literal (its
 * address is the cache key). @types has a letter per "?": i int64_t, d double, s const char * (NULL
 * binds NULL; invalid UTF-8 is replaced by U+FFFD), n (no argument) NULL, I const int64_t * (NULL
 * binds NULL), x uint64_t as text 0x...
 * @rowid may be NULL.
 */
struct error *case_insert(struct case_db *c, int64_t *rowid, const char *sql, const char *types,
			  ...);

/*
 * case_stack() - a row of table stack: @frames, newline separated, top first. What of the first one
 * stands before a byte of @top_end ("\n"; "+\n" where offsets follow) is its top.
 */
struct error *case_stack(struct case_db *c, int64_t *rowid, int64_t source_id, const char *frames,
			 const char *top_end);

/* case_query() - prepare @sql (cached as above), bind as case_insert() does; step with case_step(),
 * end with case_done(). */
struct error *case_query(struct case_db *c, sqlite3_stmt **ret, const char *sql, const char *types,
			 ...);
/* case_step() - true while there is a row; false at the end or on error (then *err). */
bool case_step(struct case_db *c, sqlite3_stmt *st, struct error **err);
void case_done(sqlite3_stmt *st);
/* case_int() - first column of the first row of @sql, @dflt where there is none or NULL. */
int64_t case_int(struct case_db *c, int64_t dflt, const char *sql, const char *types, ...);

/* case_cite() - add a citation; returns its id (0 on failure). @line or @offset is -1 when not
 * known, @time_ns INT64_MIN likewise. @text is cut at 400 bytes. */
int64_t case_cite(struct case_db *c, int64_t member_id, int64_t line, int64_t offset,
		  int64_t time_ns, const char *text, size_t len);
/* case_fact() - add a fact; num is filled when @value is a plain number. @snapshot, @side may be
 * NULL. */
struct error *case_fact(struct case_db *c, int64_t source_id, const char *side, const char *key,
			const char *value, const char *snapshot, int64_t cite_id);
/* case_source() - add a source row for a member that yields facts, logs or tables. */
struct error *case_source(struct case_db *c, int64_t *ret, int64_t member_id, const char *path,
			  const char *format, const char *side);
/* case_loss() - note a loss; @cpu, @events -1 and @time_ns INT64_MIN where not known. */
struct error *case_loss(struct case_db *c, int64_t source_id, int64_t cpu, int64_t time_ns,
			int64_t events, const char *what, int64_t cite_id);

#define CASE_NO_TIME	INT64_MIN

#endif
