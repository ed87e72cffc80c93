// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_idle.c - items that need not be asked of a case. Preparing an item's SQL costs more than
 * running it on a small case, and most items of a catalogue are about tables that stay empty.
 */
#include <ctype.h>

#include "sig_eval.h"

/* What any recording fills: rows of these alone are no evidence. */
static const char *const everywhere[] = {
	"axis", "cite", "clock", "coverage", "evidence", "member", "recording", "source", "task",
	"vcpu", "verdict", "vm",
};

static bool has_rows(struct case_db *db, const char *table)
{
	_cleanup_free_ char *sql = xasprintf("SELECT 1 FROM \"%s\" LIMIT 1", table);
	sqlite3_stmt *st;
	bool ret;

	if (sqlite3_prepare_v2(db->db, sql, -1, &st, NULL) != SQLITE_OK)
		return true;
	ret = sqlite3_step(st) != SQLITE_DONE;
	sqlite3_finalize(st);
	return ret;
}

static bool is_everywhere(const char *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(everywhere); i++)
		if (!strcmp(table, everywhere[i]))
			return true;
	return false;
}

struct error *sig_filled_read(struct case_db *db, struct sig_filled *ret)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	*ret = (struct sig_filled){ 0 };
	TRY(case_query(db, &st,
		       "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", ""));
	while (case_step(db, st, &err)) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		if (!name || is_everywhere(name) || !has_rows(db, name))
			continue;
		GROW(ret->names, ret->cap, ret->n + 1);
		ret->names[ret->n++] = xstrdup(name);
	}
	case_done(st);
	return err;
}

void sig_filled_clear(struct sig_filled *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool sig_names_filled(const struct sig_filled *f, const char *sql)
{
	while (*sql) {
		size_t len = 0;

		while (*sql && !word_char(*sql))
			sql++;
		while (word_char(sql[len]))
			len++;
		for (size_t i = 0; i < f->n && len; i++)
			if (!sqlite3_strnicmp(f->names[i], sql, (int)len) && !f->names[i][len])
				return true;
		sql += len;
	}
	return false;
}
