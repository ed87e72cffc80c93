// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_lint_around.c - what lint checks of a signature beside its SQL: commits and releases of
 * `affects`, what the SQL costs on a full case, and that the catalogue has bundles to show it by.
 */
#include <ctype.h>
#include <unistd.h>

#include "sig.h"

#define FILL_ROWS	300	/* of each table: three nested scans of these exceed the limit */
#define FILL_WORDS	48

static void say(lint_found found, void *arg, char *what)
{
	if (what)
		found(arg, what);
	free(what);
}

static bool is_commit(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return !s[n] && n >= 12 && n <= 40;
}

/* "el9:5.14.0-444": what kernel_has_change() can compare with a release of that distribution. */
static char *release_wrong(const char *rel)
{
	static const struct {
		const char *name;
		bool number, build;
		const char *example;
	} distros[] = {
		{ "el", true, true, "el9:5.14.0-444" },
		{ "ubuntu", false, true, "ubuntu:5.15.0-100" },
		{ "debian", false, false, "debian:6.1.90-1" },
		{ "pve", false, true, "pve:6.5.11-8" },
		{ "suse", false, true, "suse:6.4.0-150600" },
		{ "fedora", true, false, "fedora39:6.5.6" },
	};
	const char *colon = strchr(rel, ':'), *dash = strchr(rel, '-');
	size_t letters = strcspn(rel, "0123456789:");
	struct kernel_version kv;

	if (!colon) {
		if (kernel_parse(rel, &kv) && !kv.distro[0] && !rel[strspn(rel, "0123456789.")])
			return NULL;
		return xasprintf("releases: '%s' is no stable release (6.1.50) and names no distribution", rel);
	}
	for (size_t i = 0; i < ARRAY_SIZE(distros); i++) {
		bool numbered = rel + letters < colon;

		if (letters != strlen(distros[i].name) || strncmp(rel, distros[i].name, letters))
			continue;
		if (kernel_parse(colon + 1, &kv) && numbered == distros[i].number &&
		    (!distros[i].build || (dash && isdigit((unsigned char)dash[1]))))
			return NULL;
		return xasprintf("releases: '%s' can't be compared; it should look like %s", rel,
				 distros[i].example);
	}
	return xasprintf("releases: '%s': no such distribution (el, ubuntu, debian, pve, suse, fedora)",
			 rel);
}

static void changes(const struct kernel_change *c, size_t n, lint_found found, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (c[i].commit && !is_commit(c[i].commit))
			say(found, arg, xasprintf("affects: commit '%s' is not 12 to 40 hexadecimal digits",
						  c[i].commit));
		for (size_t k = 0; k < c[i].n_releases; k++)
			say(found, arg, release_wrong(c[i].releases[k]));
	}
}

void lint_changes(const struct signature *s, lint_found found, void *arg)
{
	changes(s->introduced, s->n_introduced, found, arg);
	changes(s->fixed, s->n_fixed, found, arg);
}

/* ---- what the SQL costs where tables are full ---- */

/* The string literals of the signature's SQL, as a table of words: they fill the text columns. */
static void take_words(sqlite3 *db, const struct signature *s)
{
	sqlite3_stmt *st = NULL;
	size_t n = 0;

	sqlite3_exec(db, "CREATE TEMP TABLE word(n INTEGER PRIMARY KEY, t TEXT)", NULL, NULL, NULL);
	if (sqlite3_prepare_v2(db, "INSERT INTO temp.word(t) VALUES(?)", -1, &st, NULL) != SQLITE_OK)
		return;
	for (size_t i = 0; i < s->n_items; i++) {
		const char *p = strchr(s->items[i].sql, '\'');

		while (p && n < FILL_WORDS) {
			const char *end = strchr(p + 1, '\'');

			if (!end)
				break;
			sqlite3_bind_text(st, 1, p + 1, (int)(end - p - 1), SQLITE_TRANSIENT);
			n += sqlite3_step(st) == SQLITE_DONE;
			sqlite3_reset(st);
			p = strchr(end + 1, '\'');
		}
	}
	sqlite3_bind_text(st, 1, "x", 1, SQLITE_STATIC);
	sqlite3_step(st);
	sqlite3_finalize(st);
}

static bool is_json(const char *column)
{
	static const char *const columns[] = { "cites", "vcpus", "threads" };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(column, columns[i]))
			return true;
	return false;
}

/* Row i: ids and keys run through the rows, times and counts grow, texts are the words in turn. */
static void fill_table(sqlite3 *db, const char *table)
{
	_cleanup_free_ char *info = xasprintf("SELECT name, type, pk FROM pragma_table_info('%s')", table),
			    *names = NULL, *values = NULL, *sql = NULL;
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, info, -1, &st, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		const char *type = (const char *)sqlite3_column_text(st, 1);
		bool text = type && !strcasecmp(type, "TEXT");
		size_t n = strlen(name);
		const char *value =
			sqlite3_column_int(st, 2)	     ? "i"
			: is_json(name)			     ? "json_array(i)"
			: text				     ? "(SELECT t FROM temp.word WHERE n = 1 + i % (SELECT max(n) FROM temp.word))"
			: n > 3 && !strcmp(name + n - 3, "_id") ? "1 + i % 16"
							     : "i * 1000000";
		char *a = xasprintf("%s%s\"%s\"", names ? names : "", names ? ", " : "", name);
		char *b = xasprintf("%s%s%s", values ? values : "", values ? ", " : "", value);

		free(names);
		free(values);
		names = a;
		values = b;
	}
	sqlite3_finalize(st);
	sql = xasprintf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d) "
			"INSERT OR IGNORE INTO main.\"%s\"(%s) SELECT %s FROM c", FILL_ROWS, table, names, values);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void fill(sqlite3 *db, const struct signature *s)
{
	sqlite3_stmt *st = NULL;

	take_words(db, s);
	if (sqlite3_prepare_v2(db, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
			       -1, &st, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(st) == SQLITE_ROW)
		fill_table(db, (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

void lint_cost(sqlite3 *db, const struct signature *s, lint_found found, void *arg)
{
	fill(db, s);
	for (size_t i = 0; i < s->n_items; i++) {
		struct sql_guard guard;
		struct error *err;
		sqlite3_stmt *st;
		int rc = SQLITE_ROW;

		sql_guard_set(db, &guard, SQL_STEP_LIMIT);
		err = sql_prepare_guarded(db, s->items[i].sql, &guard, &st);
		while (!err && rc == SQLITE_ROW)
			rc = sqlite3_step(st);
		if (guard.exceeded)
			say(found, arg, xasprintf("%s: the query takes over %llu million steps where tables have %d rows: join by ids, "
						  "bound what it goes through",
						  s->items[i].id, SQL_STEP_LIMIT / 1000000,
						  FILL_ROWS));
		if (!err)
			sqlite3_finalize(st);
		error_free(err);
		sql_guard_clear(db);
	}
}

/* ---- bundles ---- */

char *lint_fixtures_dir(const char *file)
{
	const char *base = strrchr(file, '/');
	char *dir = xasprintf("%.*s../../fixtures", base ? (int)(base + 1 - file) : 0, file);
	_cleanup_free_ char *of_signatures = xasprintf("%s/signatures", dir);

	if (!access(of_signatures, X_OK))
		return dir;
	free(dir);
	return NULL;
}

/* Are the files of a bundle there? @name: a folder beside expect.tsv, or files under fixtures/. */
static bool bundle_there(const char *dir, const char *id, const char *name)
{
	_cleanup_free_ char *all = xstrdup(name);
	bool files = strchr(name, '/');

	for (char *save = NULL, *p = strtok_r(all, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		_cleanup_free_ char *path = files ? xasprintf("%s/%s", dir, p)
						  : xasprintf("%s/signatures/%s/%s", dir, id, p);

		if (access(path, R_OK))
			return false;
	}
	return true;
}

/* "ID=match|likely,OTHER=none": does it expect the signature itself to fire? */
static bool expects_match(const char *verdicts, const char *id)
{
	_cleanup_free_ char *key = xasprintf("%s=", id);
	size_t n = strlen(key);

	for (const char *p = verdicts; *p;) {
		size_t len = strcspn(p, ",");

		if (len > n && !strncmp(p, key, n))
			return !strncmp(p + n, "match", 5) || !strncmp(p + n, "likely", 6);
		p += len;
		p += *p == ',';
	}
	return false;
}

void lint_fixtures(const struct signature *s, lint_found found, void *arg)
{
	_cleanup_free_ char *dir = lint_fixtures_dir(s->file), *path = NULL, *line = NULL;
	bool positive = false, negative = false;
	_cleanup_fclose_ FILE *f = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!dir)
		return;
	path = xasprintf("%s/signatures/%s/expect.tsv", dir, s->id);
	f = fopen(path, "re");
	while (f && (n = getline(&line, &cap, f)) > 0) {
		char *save = NULL, *name, *verdicts;

		line[strcspn(line, "\r\n")] = 0;
		if (*line == '#' || !(name = strtok_r(line, "\t", &save)) ||
		    !(verdicts = strtok_r(NULL, "\t", &save)))
			continue;
		if (!bundle_there(dir, s->id, name))
			say(found, arg, xasprintf("expect.tsv: bundle '%s' is not there", name));
		else if (expects_match(verdicts, s->id))
			positive = true;
		else
			negative = true;
	}
	if (!positive)
		say(found, arg, xasprintf("no positive bundle in fixtures/signatures/%s/expect.tsv", s->id));
	if (!negative)
		say(found, arg, xasprintf("no negative bundle (its nearest look-alike) in fixtures/signatures/%s/expect.tsv", s->id));
}
