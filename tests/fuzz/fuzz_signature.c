// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_signature.c - a signature as a user may write it: the YAML, its SQL, its sentences. */
#include "sig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, const char *what)
{
	(void)arg;
	(void)what;
}

static void try_item(struct case_db *db, const struct sig_item *it)
{
	struct sql_guard guard;
	sqlite3_stmt *st;

	for (size_t i = 0; i < it->n_needs; i++)
		free(need_known(it->needs[i]));
	lint_sql(db->db, it->sql, ignore, NULL);
	sql_guard_set(db->db, &guard, 100000);
	error_free(sql_prepare_guarded(db->db, it->sql, &guard, &st));
	if (st) {
		free(says_check(it->says, st));
		if (sqlite3_step(st) == SQLITE_ROW)
			free(says_fill(it->says, st));
		sqlite3_finalize(st);
	}
	sql_guard_clear(db->db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct case_db *db;	/* making one takes longer than the rest */
	_cleanup_free_ char *text = NULL;
	struct kernel_version kv;
	struct signature *s;
	struct error *err;

	if (size > SIG_MAX_BYTES)
		return 0;
	if (!db && case_create(&db, NULL))
		abort();
	text = xstrndup((const char *)data, size);
	kernel_parse(text, &kv);
	kernel_add_package(&kv, text);
	err = sig_parse(&s, "fuzz.yaml", (const char *)data, size);
	if (err) {
		error_free(err);
		return 0;
	}
	for (size_t i = 0; i < s->n_items; i++)
		try_item(db, &s->items[i]);
	if (kernel_parse("6.1.0-50-amd64", &kv))
		kernel_in_range(&kv, s->introduced, s->n_introduced, s->fixed, s->n_fixed, NULL);
	sig_free(s);
	return 0;
}
