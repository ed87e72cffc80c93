// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_lint.c - `signatures lint`: what would make a signature err or fall silent, found before it
 * meets a customer's case.
 */
#include <unistd.h>

#include "sig.h"

struct findings {
	const char	*file;
	const char	*item;
	unsigned long	line;
	FILE		*out;
	int		n;
};

static void found(void *arg, const char *what)
{
	struct findings *f = arg;

	f->n++;
	if (f->item)
		fprintf(f->out, "%s:%lu: %s: %s\n", f->file, f->line, f->item, what);
	else
		fprintf(f->out, "%s: %s\n", f->file, what);
}

static void found_free(struct findings *f, char *what)
{
	if (what)
		found(f, what);
	free(what);
}

static bool has_column(sqlite3_stmt *st, const char *prefix)
{
	for (int i = 0; i < sqlite3_column_count(st); i++)
		if (!strncmp(sqlite3_column_name(st, i), prefix, strlen(prefix)))
			return true;
	return false;
}

static void lint_item(sqlite3 *db, const struct signature *s, size_t i, struct findings *f)
{
	const struct sig_item *it = &s->items[i];
	struct sql_guard guard;
	struct error *err;
	sqlite3_stmt *st;
	int rc;

	f->item = it->id;
	f->line = it->line;
	for (size_t k = 0; k < i; k++)
		if (!strcmp(s->items[k].id, it->id))
			found(f, "the id stands twice");
	for (size_t k = 0; k < it->n_needs; k++)
		found_free(f, need_known(it->needs[k]));
	lint_sql(db, it->sql, found, f);
	sql_guard_set(db, &guard, SQL_STEP_LIMIT);
	err = sql_prepare_guarded(db, it->sql, &guard, &st);
	if (err) {
		found_free(f, xasprintf("sql: %s", err->what));
		error_free(err);
		sql_guard_clear(db);
		return;
	}
	found_free(f, says_check(it->says, st));
	if (it->role != SIG_PRECONDITION && !has_column(st, "cite"))
		found(f, "sql: no column 'cite' (or 'cites'): evidence must be citable");
	if (it->role != SIG_PRECONDITION && !has_column(st, "source"))
		found(f, "sql: no column 'source'");
	/* On an empty case nothing may be shown. */
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		char *says = says_fill(it->says, st);

		if (says)
			found(f, "sql: gives a row on an empty case");
		free(says);
	} else if (rc != SQLITE_DONE) {
		found_free(f, xasprintf("sql: %s", sqlite3_errmsg(db)));
	}
	sqlite3_finalize(st);
	sql_guard_clear(db);
}

static bool has_item(const struct signature *s, const char *id)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (!strcmp(s->items[i].id, id))
			return true;
	return false;
}

/* Is there a signature @id: in the built-in catalogue, or as a file beside this one? */
static bool signature_there(const char *file, const char *id)
{
	const char *base = strrchr(file, '/');
	_cleanup_free_ char *name = xasprintf("%s.yaml", id);
	_cleanup_free_ char *path = xasprintf("%.*s%s", base ? (int)(base + 1 - file) : 0, file,
					      name);

	for (const struct signature *const *s = embedded_catalogue; *s; s++)
		if (!strcmp((*s)->id, id))
			return true;
	return access(path, R_OK) == 0;
}

static void lint_lookalikes(const struct signature *s, struct findings *f)
{
	for (size_t i = 0; i < s->n_lookalikes; i++) {
		const struct sig_lookalike *a = &s->lookalikes[i];

		f->item = "lookalikes";
		f->line = a->line;
		if (!strcmp(a->id, s->id))
			found(f, "a signature is no look-alike of itself");
		else if (!signature_there(s->file, a->id))
			found_free(f, xasprintf("no signature '%s' in the catalogue or beside this file",
						a->id));
		for (size_t k = 0; k < a->n_by; k++)
			if (!has_item(s, a->by[k]))
				found_free(f, xasprintf("by: no item '%s'", a->by[k]));
		for (size_t k = 0; k < i; k++)
			if (!strcmp(a->id, s->lookalikes[k].id))
				found_free(f, xasprintf("'%s' stands twice", a->id));
	}
	f->item = NULL;
}

static void lint_whole(const struct signature *s, struct findings *f)
{
	const char *base = strrchr(f->file, '/');
	size_t n_for = 0, n = strlen(s->id);

	f->item = NULL;
	base = base ? base + 1 : f->file;
	if (strncmp(base, s->id, n) || strcmp(base + n, ".yaml"))
		found_free(f, xasprintf("the file's name should be %s.yaml", s->id));
	for (size_t i = 0; i < s->n_items; i++)
		n_for += s->items[i].role == SIG_FOR;
	if (!n_for)
		found(f, "no evidence: nothing could ever speak for it");
	if (!s->workaround)
		found(f, "no workaround (write that there is none, where there is none)");
	if (!s->n_references)
		found(f, "no references");
	if (!s->status || (strcmp(s->status, "verified") && strcmp(s->status, "partly") &&
			   strcmp(s->status, "unverified")))
		found(f, "status: verified, partly or unverified is expected");
	for (size_t i = 0; i < s->n_records; i++) {
		for (size_t k = 0; k < s->records[i].n_items; k++)
			if (!has_item(s, s->records[i].items[k]))
				found_free(f, xasprintf("record_next: no item '%s'",
							s->records[i].items[k]));
	}
}

int signature_lint(const char *path, FILE *out)
{
	struct findings f = { .file = path, .out = out };
	struct case_db *db = NULL;
	struct signature *s;
	struct error *err;

	err = sig_load_file(&s, path);
	if (err && err->code == ERR_USAGE) {
		fprintf(out, "%s\n", err->what);
		error_free(err);
		return 1;
	}
	if (!err)
		err = case_create(&db, NULL);
	if (err) {
		fprintf(out, "%s\n", err->what);
		error_free(err);
		return -1;
	}
	for (size_t i = 0; i < s->n_items; i++)
		lint_item(db->db, s, i, &f);
	lint_whole(s, &f);
	lint_lookalikes(s, &f);
	lint_changes(s, found, &f);
	lint_fixtures(s, found, &f);
	lint_cost(db->db, s, found, &f);
	case_close(db);
	sig_free(s);
	return f.n;
}
