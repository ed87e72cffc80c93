// SPDX-License-Identifier: GPL-2.0-or-later
/* casefile.c - the case file on SQLite; see casefile.h. */
#include "casefile.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "marks.h"
#include "symbols.h"
#include "utf8.h"

#define CITE_TEXT_MAX	400

extern const char km_schema_sql[];
__asm__(".section .rodata\n"
	".global km_schema_sql\n"
	"km_schema_sql:\n"
	".incbin \"" SRCDIR "/analyzer/schema.sql\"\n"
	".byte 0\n"
	".previous\n");

struct case_stmt {
	const char	*sql;		/* the literal's address is the key */
	sqlite3_stmt	*st;
};

static struct error *sql_error(struct case_db *c, const char *sql)
{
	return error_new(ERR_INTERNAL, "case file: %s (in: %.120s)", sqlite3_errmsg(c->db), sql);
}

static struct error *exec(struct case_db *c, const char *sql)
{
	if (sqlite3_exec(c->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return sql_error(c, sql);
	return NULL;
}

struct error *case_create(struct case_db **ret, const char *path)
{
	struct case_db *c = xcalloc(1, sizeof(*c));
	struct error *err = NULL;

	if (sqlite3_open_v2(path ? path : ":memory:", &c->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		err = error_new(ERR_IO, "%s: %s", path ? path : "case file", sqlite3_errmsg(c->db));
	if (!err)
		err = exec(c, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;");
	if (!err)
		err = exec(c, km_schema_sql);
	if (!err) {
		char sql[96];

		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; PRAGMA application_id = %d; BEGIN",
			 CASE_USER_VERSION, CASE_APPLICATION_ID);
		err = exec(c, sql);
	}
	if (err) {
		case_close(c);
		return err;
	}
	*ret = c;
	return NULL;
}

struct error *case_open(struct case_db **ret, const char *path)
{
	struct case_db *c = xcalloc(1, sizeof(*c));
	const char *found = NULL;
	struct error *err = NULL;
	sqlite3_stmt *st = NULL;

	if (sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		err = error_new(ERR_IO, "%s: %s", path, sqlite3_errmsg(c->db));
		goto fail;
	}
	sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (sqlite3_prepare_v2(c->db, "PRAGMA quick_check(1)", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		found = (const char *)sqlite3_column_text(st, 0);
	if (!found || strcmp(found, "ok")) {
		const char *detail = found ? strchr(found, '\n') : NULL;

		if (detail)	/* after a line that names the database */
			found = detail + 1;
		err = error_new(ERR_INPUT, "%s: damaged case file (%.*s); make it anew from the bundle",
				path, found ? (int)strcspn(found, "\n") : 200,
				found ? found : sqlite3_errmsg(c->db));
		goto fail;
	}
	sqlite3_finalize(st);
	st = NULL;
	if (case_int(c, -1, "SELECT user_version FROM pragma_user_version", "") != CASE_USER_VERSION) {
		err = error_new(ERR_INPUT,
				"%s: not a case file of this version of kvmortem; make it anew from the bundle", path);
		goto fail;
	}
	*ret = c;
	return NULL;
fail:
	sqlite3_finalize(st);
	case_close(c);
	return err;
}

struct error *case_save(struct case_db *c, const char *name)
{
	_cleanup_free_ char *real = realpath(name, NULL);
	const char *path = real ? real : name;	/* a link stays, what it leads to is replaced */
	_cleanup_free_ char *temp = xasprintf("%s.%ld.tmp", path, (long)getpid());
	struct error *err = NULL;
	sqlite3_backup *backup;
	struct stat st;
	sqlite3 *out;

	/* Renaming over a device would replace its node. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return error_new(ERR_IO, "%s: is no regular file, and a case file needs one", name);
	if (!sqlite3_get_autocommit(c->db))
		TRY(exec(c, "COMMIT"));
	if (sqlite3_open_v2(temp, &out,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
				    SQLITE_OPEN_EXCLUSIVE,
			    NULL) != SQLITE_OK) {
		err = error_new(ERR_IO, "%s: %s", name, sqlite3_errmsg(out));
		sqlite3_close(out);
		return err;
	}
	backup = sqlite3_backup_init(out, "main", c->db, "main");
	if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE)
		err = error_new(ERR_IO, "%s: %s", name, sqlite3_errmsg(out));
	sqlite3_backup_finish(backup);
	if (sqlite3_close(out) != SQLITE_OK && !err)
		err = error_new(ERR_IO, "%s: can't be written whole", name);
	if (!err && rename(temp, path))
		err = error_io("%s", name);
	if (err)
		unlink(temp);
	return err;
}

struct error *case_clone(struct case_db **ret, struct case_db *c)
{
	struct case_db *copy = xcalloc(1, sizeof(*copy));
	struct error *err = NULL;
	sqlite3_backup *backup = NULL;

	if (sqlite3_open_v2(":memory:", &copy->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) == SQLITE_OK)
		backup = sqlite3_backup_init(copy->db, "main", c->db, "main");
	if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE)
		err = error_new(ERR_INTERNAL, "copying the case file: %s", sqlite3_errmsg(copy->db));
	sqlite3_backup_finish(backup);
	if (err) {
		case_close(copy);
		return err;
	}
	sqlite3_db_config(copy->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	*ret = copy;
	return NULL;
}

struct error *case_compact(struct case_db *c)
{
	if (!sqlite3_get_autocommit(c->db))
		TRY(exec(c, "COMMIT"));
	return exec(c, "VACUUM");
}

void case_close(struct case_db *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n_stmts; i++)
		sqlite3_finalize(c->stmts[i].st);
	free(c->stmts);
	for (i = 0; i < c->n_marks; i++)
		marks_deinit(&c->marks[i].m);
	free(c->marks);
	symbols_close(c);
	sqlite3_close(c->db);
	free(c);
}

static sqlite3_stmt *cached(struct case_db *c, const char *sql)
{
	sqlite3_stmt *st;
	size_t i;

	for (i = 0; i < c->n_stmts; i++)
		if (c->stmts[i].sql == sql && !sqlite3_stmt_busy(c->stmts[i].st) &&
		    !strcmp(sqlite3_sql(c->stmts[i].st), sql))
			return c->stmts[i].st;
	if (sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) != SQLITE_OK)
		return NULL;
	GROW(c->stmts, c->cap_stmts, c->n_stmts + 1);
	c->stmts[c->n_stmts].sql = sql;
	c->stmts[c->n_stmts++].st = st;
	return st;
}

static void bind_text(sqlite3_stmt *st, int i, const char *s)
{
	if (!s) {
		sqlite3_bind_null(st, i);
	} else if (utf8_valid(s, strlen(s))) {
		sqlite3_bind_text(st, i, s, -1, SQLITE_TRANSIENT);
	} else {
		_cleanup_free_ char *clean = utf8_clean(s, strlen(s));

		sqlite3_bind_text(st, i, clean, -1, SQLITE_TRANSIENT);
	}
}

static void bind_all(sqlite3_stmt *st, const char *types, va_list ap)
{
	const int64_t *p;
	char hex[20];
	int i;

	for (i = 1; *types; types++, i++) {
		switch (*types) {
		case 'i':
			sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
			break;
		case 'd':
			sqlite3_bind_double(st, i, va_arg(ap, double));
			break;
		case 's':
			bind_text(st, i, va_arg(ap, const char *));
			break;
		case 'I':
			p = va_arg(ap, const int64_t *);
			if (p)
				sqlite3_bind_int64(st, i, *p);
			else
				sqlite3_bind_null(st, i);
			break;
		case 'x':
			snprintf(hex, sizeof(hex), "0x%" PRIx64, va_arg(ap, uint64_t));
			sqlite3_bind_text(st, i, hex, -1, SQLITE_TRANSIENT);
			break;
		default:
			sqlite3_bind_null(st, i);
			break;
		}
	}
}

struct error *case_insert(struct case_db *c, int64_t *rowid, const char *sql, const char *types,
			  ...)
{
	sqlite3_stmt *st = cached(c, sql);
	struct error *err = NULL;
	va_list ap;
	int rc;

	if (!st)
		return sql_error(c, sql);
	va_start(ap, types);
	bind_all(st, types, ap);
	va_end(ap);
	rc = sqlite3_step(st);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		err = sql_error(c, sql);
	else if (rowid)
		*rowid = sqlite3_last_insert_rowid(c->db);
	sqlite3_reset(st);
	return err;
}

struct error *case_query(struct case_db *c, sqlite3_stmt **ret, const char *sql, const char *types,
			 ...)
{
	sqlite3_stmt *st = cached(c, sql);
	va_list ap;

	if (!st)
		return sql_error(c, sql);
	va_start(ap, types);
	bind_all(st, types, ap);
	va_end(ap);
	*ret = st;
	return NULL;
}

bool case_step(struct case_db *c, sqlite3_stmt *st, struct error **err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE && err && !*err)
		*err = sql_error(c, sqlite3_sql(st));
	return false;
}

void case_done(sqlite3_stmt *st)
{
	if (!st)
		return;
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
}

int64_t case_int(struct case_db *c, int64_t dflt, const char *sql, const char *types, ...)
{
	sqlite3_stmt *st = cached(c, sql);
	int64_t value = dflt;
	va_list ap;

	if (!st)
		return dflt;
	va_start(ap, types);
	bind_all(st, types, ap);
	va_end(ap);
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(st, 0);
	case_done(st);
	return value;
}

int64_t case_cite(struct case_db *c, int64_t member_id, int64_t line, int64_t offset,
		  int64_t time_ns, const char *text, size_t len)
{
	char cut[CITE_TEXT_MAX + 1];
	struct error *err;
	int64_t id = 0;

	if (len > CITE_TEXT_MAX)
		len = utf8_cut(text, CITE_TEXT_MAX);
	memcpy(cut, text, len);
	cut[len] = '\0';
	err = case_insert(c, &id, "INSERT INTO cite(member_id, line, offset, time_ns, text) VALUES(?,?,?,?,?)", "iIIIs",
			  member_id, line < 0 ? NULL : &line, offset < 0 ? NULL : &offset,
			  time_ns == CASE_NO_TIME ? NULL : &time_ns, cut);
	if (err) {
		error_free(err);
		return 0;
	}
	return id;
}

struct error *case_fact(struct case_db *c, int64_t source_id, const char *side, const char *key,
			const char *value, const char *snapshot, int64_t cite_id)
{
	char *end = NULL;
	double num = 0;
	bool is_num = false;

	if (*value && strchr("0123456789-+.", *value)) {
		num = strtod(value, &end);
		is_num = end != value && !*end && !strpbrk(value, "xXnNpP");
	}
	return case_insert(c, NULL,
			   is_num ? "INSERT INTO fact(source_id, side, key, value, num, snapshot, cite_id) VALUES(?,?,?,?,?,?,?)" :
			   "INSERT INTO fact(source_id, side, key, value, num, snapshot, cite_id) VALUES(?,?,?,?,NULL*?,?,?)",
			   "isssdsI", source_id, side ? side : "unknown", key, value, num, snapshot,
			   cite_id > 0 ? &cite_id : NULL);
}

struct error *case_source(struct case_db *c, int64_t *ret, int64_t member_id, const char *path,
			  const char *format, const char *side)
{
	return case_insert(c, ret, "INSERT INTO source(member_id, path, format, side) VALUES(?,?,?,?)", "isss",
			   member_id, path, format, side ? side : "unknown");
}

struct error *case_stack(struct case_db *c, int64_t *rowid, int64_t source_id, const char *frames,
			 const char *top_end)
{
	_cleanup_free_ char *top = xstrndup(frames, strcspn(frames, top_end));
	int64_t depth = 1;
	const char *p;

	for (p = frames; (p = strchr(p, '\n')); p++)
		depth++;
	return case_insert(c, rowid, "INSERT INTO stack(source_id, frames, depth, top) VALUES(?,?,?,?)", "isis",
			   source_id, frames, depth, top);
}

struct error *case_loss(struct case_db *c, int64_t source_id, int64_t cpu, int64_t time_ns,
			int64_t events, const char *what, int64_t cite_id)
{
	return case_insert(c, NULL, "INSERT INTO loss(source_id, cpu, time_ns, events, what, cite_id) VALUES(?,?,?,?,?,?)",
			   "iIIIsI", source_id, cpu < 0 ? NULL : &cpu, time_ns == CASE_NO_TIME ? NULL : &time_ns,
			   events < 0 ? NULL : &events, what, cite_id > 0 ? &cite_id : NULL);
}
