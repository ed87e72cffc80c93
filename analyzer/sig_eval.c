// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_eval.c - signatures against a case: evidence rows, subjects, verdicts (design 6).
 *
 * Every item's SQL runs once per case. Its rows carry a VM or none (then they are about the host
 * and hold for every VM). Each VM that some row names is a subject; without any there is one
 * subject, the host. A verdict is a pure function of the items' states for its subject and of what
 * is known about the kernel; sig_verdict.c has the rules.
 */
#include <json-c/json.h>

#include "sig_eval.h"

static void row_clear(struct ev_row *r)
{
	free(r->says);
	free(r->cites);
}

static void eval_clear(struct sig_evaluation *e)
{
	for (size_t i = 0; i < e->n_rows; i++)
		row_clear(&e->rows[i]);
	for (size_t i = 0; i < e->sig->n_items; i++) {
		free(e->states[i].view.sources);
		free(e->states[i].missing);
		free(e->states[i].error);
	}
	free(e->rows);
	free(e->states);
}

static bool column_int(sqlite3_stmt *st, const char *name, int64_t *ret)
{
	int col = sql_column(st, name);

	if (col < 0 || sqlite3_column_type(st, col) == SQLITE_NULL)
		return false;
	*ret = sqlite3_column_int64(st, col);
	return true;
}

/*
 * Ids out of what a `cite` column may hold: an id, a JSON array of ids, or an array of such arrays
 * (json_group_array of cites).
 */
static void add_cites(struct json_object *out, struct json_object *v, int depth)
{
	if (json_object_array_length(out) >= 8 || depth > 3)
		return;
	if (json_object_is_type(v, json_type_int)) {
		int64_t id = json_object_get_int64(v);

		for (size_t i = 0; i < json_object_array_length(out); i++)
			if (json_object_get_int64(json_object_array_get_idx(out, i)) == id)
				return;
		if (id > 0)
			json_object_array_add(out, json_object_new_int64(id));
	} else if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++)
			add_cites(out, json_object_array_get_idx(v, i), depth + 1);
	} else if (json_object_is_type(v, json_type_string)) {
		struct json_object *inner = json_tokener_parse(json_object_get_string(v));

		add_cites(out, inner, depth + 1);
		json_object_put(inner);
	}
}

static char *row_cites(sqlite3_stmt *st)
{
	struct json_object *out = json_object_new_array();
	int n = sqlite3_column_count(st);
	char *ret;

	for (int i = 0; i < n; i++) {
		const char *name = sqlite3_column_name(st, i);
		struct json_object *v = NULL;

		if (strncmp(name, "cite", 4))
			continue;
		if (sqlite3_column_type(st, i) == SQLITE_INTEGER)
			v = json_object_new_int64(sqlite3_column_int64(st, i));
		else if (sqlite3_column_type(st, i) == SQLITE_TEXT)
			v = json_tokener_parse((const char *)sqlite3_column_text(st, i));
		add_cites(out, v, 0);
		json_object_put(v);
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN));
	json_object_put(out);
	return ret;
}

/* The member that a row's first citation, or its source, comes from. */
static int64_t row_member(struct case_db *db, const struct ev_row *r)
{
	int64_t id = case_int(
		db, 0,
		"SELECT c.member_id FROM json_each(?) j JOIN cite c ON c.id = j.value LIMIT 1", "s",
		r->cites);

	return id ? id
		  : case_int(db, 0, "SELECT member_id FROM source WHERE id = ?", "i", r->source);
}

/*
 * A VM seen by several recordings of one host is one subject: the first row with that thread group
 * stands for all.
 */
static int64_t canonical_vm(struct case_db *db, int64_t vm)
{
	return case_int(
		db, vm,
		"SELECT min(b.id) FROM vm a JOIN source sa ON sa.id = a.source_id JOIN vm b ON b.tgid = a.tgid AND a.tgid > 0 "
		"JOIN source sb ON sb.id = b.source_id AND sb.side = sa.side "
		"WHERE a.id = ? AND coalesce(sa.host = sb.host, 1) AND coalesce(sa.kernel = sb.kernel, 1) "
		"HAVING count(*) > 0",
		"i", vm);
}

static void take_row(struct sig_evaluation *e, size_t item, sqlite3_stmt *st, char *says)
{
	struct ev_row *r;
	int64_t v;

	GROW(e->rows, e->cap_rows, e->n_rows + 1);
	r = &e->rows[e->n_rows++];
	*r = (struct ev_row){ .item = item, .says = says, .cites = row_cites(st) };
	column_int(st, "source", &r->source);
	column_int(st, "vm", &r->vm);
	column_int(st, "vcpu", &r->vcpu);
	r->has_time = column_int(st, "from_ns", &r->from) && column_int(st, "to_ns", &r->to);
	r->below = column_int(st, "below", &v) && v != 0;
}

static struct error *run_item(struct sig_evaluation *e, size_t item)
{
	const struct sig_item *it = &e->sig->items[item];
	struct item_state *state = &e->states[item];
	_cleanup_error_ struct error *err = NULL;
	size_t first = e->n_rows, n = 0;
	struct sql_guard *guard = e->guard;
	sqlite3_stmt *st = NULL;
	int rc;

	TRY(needs_view(e->db, it, &state->view, &state->missing));
	if (e->filled && state->view.sight == SIGHT_NONE && !sig_names_filled(e->filled, it->sql))
		return NULL;
	sql_guard_on(guard, SQL_STEP_LIMIT);
	err = sql_prepare_guarded(e->db->db, it->sql, guard, &st);
	if (err) {
		sql_guard_off(guard);
		state->error = xstrdup(err->what);
		return NULL;
	}
	while ((rc = sqlite3_step(st)) == SQLITE_ROW && n++ < SIG_MAX_ROWS) {
		char *says = says_fill(it->says, st);

		if (says)
			take_row(e, item, st, says);
	}
	state->truncated = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		state->error = guard->exceeded
				       ? xasprintf("the query took more than %llu million steps",
						   SQL_STEP_LIMIT / 1000000)
				       : xstrdup(sqlite3_errmsg(e->db->db));
	e->steps += (uint64_t)sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 0);
	sqlite3_finalize(st);
	sql_guard_off(guard);
	for (size_t i = first; i < e->n_rows; i++) {
		struct ev_row *r = &e->rows[i];

		if (!r->vm && r->vcpu)
			r->vm = case_int(e->db, 0, "SELECT vm_id FROM vcpu WHERE id = ?", "i",
					 r->vcpu);
		if (r->vm)
			r->vm = canonical_vm(e->db, r->vm);
		r->member = row_member(e->db, r);
	}
	return NULL;
}

/* ---- writing ---- */


static const char *const outcome_names[] = {
	[ITEM_NOT_VISIBLE] = "not-visible", [ITEM_NOT_SHOWN] = "not-shown", [ITEM_BELOW] = "shown",
	[ITEM_SHOWN] = "shown", [ITEM_ERROR] = "error",
};

static struct error *write_evidence(struct sig_evaluation *e, const struct verdict *v,
				    int64_t verdict_id)
{
	for (size_t i = 0; i < e->sig->n_items; i++) {
		const struct sig_item *it = &e->sig->items[i];
		const char *strength =
			it->role == SIG_PRECONDITION ? NULL : sig_strength_name(it->strength);
		const char *outcome = outcome_names[v->states[i]];
		size_t shown = v->states[i] == ITEM_SHOWN || v->states[i] == ITEM_BELOW
				       ? SIG_MAX_SHOWN
				       : 0;

		if (!shown)
			TRY(case_insert(
				e->db, NULL,
				"INSERT INTO evidence(verdict_id, item, role, strength, outcome, says, cites) "
				"VALUES(?, ?, ?, ?, ?, ?, '[]')",
				"isssss", verdict_id, it->id, sig_role_name(it->role), strength,
				outcome, v->states[i] == ITEM_ERROR ? e->states[i].error : NULL));
		for (size_t k = 0; k < e->n_rows && shown; k++) {
			const struct ev_row *r = &e->rows[k];

			if (r->item != i || !row_of_subject(r, v->vm) ||
			    (r->below && v->states[i] == ITEM_SHOWN))
				continue;
			shown--;
			TRY(case_insert(
				e->db, NULL,
				"INSERT INTO evidence(verdict_id, item, role, strength, outcome, says, cites, vm_id, source_id, "
				"from_ns, to_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				"issssssIIII", verdict_id, it->id, sig_role_name(it->role),
				strength, outcome, r->says, r->cites, r->vm ? &r->vm : NULL,
				r->source ? &r->source : NULL, r->has_time ? &r->from : NULL,
				r->has_time ? &r->to : NULL));
		}
	}
	return NULL;
}

/* Changes that brought the bug or that mend it, as a JSON array of lines (malloc'd). */
static char *changes_json(const struct kernel_change *changes, size_t n)
{
	struct json_object *out = json_object_new_array();
	char *ret;

	for (size_t i = 0; i < n; i++) {
		const struct kernel_change *c = &changes[i];
		_cleanup_free_ char *text =
			xasprintf("%s%s%s%s%s%s%s%s", c->commit ? c->commit : "",
				  c->commit && c->subject ? " " : "", c->subject ? c->subject : "",
				  c->upstream ? " (v" : "", c->upstream ? c->upstream : "",
				  c->upstream ? ")" : "",
				  c->mitigation ? " [adds a switch]"
				  : c->partial	? " [in part]"
						: "",
				  c->unverified ? " [unverified]" : "");

		json_object_array_add(out, json_object_new_string(text));
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(out);
	return ret;
}

static bool wanted(const struct signature *s, const struct verdict *v, size_t item)
{
	const struct sig_item *it = &s->items[item];

	return it->role == SIG_FOR && it->strength != SIG_SUPPORTING &&
	       (v->states[item] == ITEM_NOT_VISIBLE || v->states[item] == ITEM_ERROR ||
		v->states[item] == ITEM_BELOW);
}

static char *missing_json(struct sig_evaluation *e, const struct verdict *v)
{
	struct json_object *out = json_object_new_array();
	char *ret;

	for (size_t i = 0; i < e->sig->n_items; i++) {
		const struct item_state *st = &e->states[i];
		_cleanup_free_ char *text = NULL;

		if (!wanted(e->sig, v, i) || v->states[i] == ITEM_BELOW)
			continue;
		if (v->states[i] == ITEM_ERROR)
			text = xasprintf("%s: %s", e->sig->items[i].id, st->error);
		else if (st->missing)
			text = xasprintf("%s: needs %s, which nothing here delivers",
					 e->sig->items[i].id, st->missing);
		else
			text = xasprintf(
				"%s: nothing was seen, but what was recorded is too partial to exclude it",
				e->sig->items[i].id);
		json_object_array_add(out, json_object_new_string(text));
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(out);
	return ret;
}

static char *record_json(struct sig_evaluation *e, const struct verdict *v)
{
	const char *ids[SIG_MAX_ITEMS];
	size_t n = 0;

	if (v->level == VERDICT_RULED_OUT)
		return xstrdup("[]");
	for (size_t i = 0; i < e->sig->n_items; i++)
		if (wanted(e->sig, v, i))
			ids[n++] = e->sig->items[i].id;
	if (!n)
		return xstrdup("[]");
	return record_next(e->db, e->sig, v->vm, ids, n);
}

/* The vCPUs that the subject's rows name, as a JSON array of vcpu.id. */
static char *vcpus_json(struct sig_evaluation *e, const struct verdict *v)
{
	struct json_object *out = json_object_new_array();
	char *ret;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];
		size_t k, n = json_object_array_length(out);

		if (!r->vcpu || !row_of_subject(r, v->vm) || e->sig->items[r->item].role != SIG_FOR)
			continue;
		for (k = 0; k < n; k++)
			if (json_object_get_int64(json_object_array_get_idx(out, k)) == r->vcpu)
				break;
		if (k == n)
			json_object_array_add(out, json_object_new_int64(r->vcpu));
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN));
	json_object_put(out);
	return ret;
}

/*
 * The recording of the subject's weightiest row, and the hull of what its rows there say about
 * time.
 */
static void place(struct sig_evaluation *e, const struct verdict *v, int64_t *source, int64_t *from,
		  int64_t *to, bool *has_time)
{
	int best = -1;

	*source = 0;
	*has_time = false;
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];
		const struct sig_item *it = &e->sig->items[r->item];
		int weight = (it->role == SIG_FOR	? 10
			      : it->role == SIG_AGAINST ? 5
							: 0) +
			     (int)it->strength;

		if (!r->source || !row_of_subject(r, v->vm) || weight <= best)
			continue;
		best = weight;
		*source = r->source;
	}
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];

		if (r->source != *source || !r->has_time || !row_of_subject(r, v->vm) ||
		    e->sig->items[r->item].role != SIG_FOR)
			continue;
		*from = *has_time ? MIN(*from, r->from) : r->from;
		*to = *has_time ? MAX(*to, r->to) : r->to;
		*has_time = true;
	}
}

static struct error *write_verdict(const struct verdict *all, size_t n, struct verdict *v)
{
	struct sig_evaluation *e = v->e;
	_cleanup_free_ char *alike = verdict_lookalikes(all, n, v);
	_cleanup_free_ char *missing = missing_json(e, v), *next = record_json(e, v),
			    *fixed = changes_json(e->sig->fixed, e->sig->n_fixed),
			    *since = changes_json(e->sig->introduced, e->sig->n_introduced);
	_cleanup_free_ char *vcpus = vcpus_json(e, v);
	_cleanup_free_ char *workaround =
		xasprintf("%s%s%s", e->sig->workaround ? e->sig->workaround : "",
			  e->sig->workaround && e->sig->advice ? "\n" : "",
			  e->sig->advice ? e->sig->advice : "");
	int64_t id, source, from = 0, to = 0;
	bool has_time;

	place(e, v, &source, &from, &to, &has_time);
	TRY(case_insert(
		e->db, &id,
		"INSERT INTO verdict(signature, title, verdict, source_id, vm_id, vcpus, from_ns, to_ns, score, because, fixed_by, "
		"missing, record_next, workaround, mechanism, contradiction, lookalikes, introduced_by) "
		"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"sssIIsIIdsssssssss", e->sig->id, e->sig->title, verdict_name(v->level),
		source ? &source : NULL, v->vm ? &v->vm : NULL, vcpus, has_time ? &from : NULL,
		has_time ? &to : NULL, v->score, v->because, fixed, missing, next,
		*workaround ? workaround : NULL, e->sig->mechanism,
		v->contradiction, alike, since));
	return write_evidence(e, v, id);
}

static int by_rank(const void *a, const void *b)
{
	const struct verdict *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->score < y->score || x->score > y->score)
		return x->score > y->score ? -1 : 1;
	if (x->e != y->e)
		return strcmp(x->e->sig->id, y->e->sig->id);
	return x->vm < y->vm ? -1 : x->vm > y->vm;
}

static struct error *evaluate(struct sig_evaluation *e, struct case_db *db,
			      const struct signature *s, struct sql_guard *guard,
			      const struct sig_filled *filled)
{
	*e = (struct sig_evaluation){ .db = db,
				      .sig = s,
				      .guard = guard,
				      .filled = filled,
				      .states = xcalloc(s->n_items + 1, sizeof(*e->states)) };
	for (size_t i = 0; i < s->n_items; i++)
		TRY(error_context(run_item(e, i), "%s: %s", s->id, s->items[i].id));
	return NULL;
}

/* Is @s one of @ids? None named means all. */
static bool asked_for(const struct signature *s, const char *const *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++)
		if (!strcmp(ids[i], s->id))
			return true;
	return !n_ids;
}

struct error *signatures_cost(struct case_db *db, const struct catalogue *c,
			      const char *const *ids, size_t n_ids, FILE *out)
{
	struct error *err = NULL;
	struct sql_guard guard;

	sql_guard_set(db->db, &guard, 0);
	sql_guard_off(&guard);
	for (size_t i = 0; i < c->n && !err; i++) {
		struct sig_evaluation e;

		if (!asked_for(c->sigs[i], ids, n_ids))
			continue;
		err = evaluate(&e, db, c->sigs[i], &guard, NULL);
		if (!err)
			fprintf(out, "%s\t%" PRIu64 "\n", c->sigs[i]->id, e.steps);
		eval_clear(&e);
	}
	sql_guard_clear(db->db);
	return err;
}

struct error *verdicts_compute(struct case_db *db, const struct catalogue *c)
{
	return verdicts_compute_some(db, c, NULL, 0);
}

struct error *verdicts_compute_some(struct case_db *db, const struct catalogue *c,
				    const char *const *ids, size_t n_ids)
{
	struct sig_evaluation *evs = xcalloc(c->n + 1, sizeof(*evs));
	struct verdict *verdicts = NULL;
	size_t n = 0, cap = 0, n_ev = 0;
	struct error *err = NULL;
	struct sig_filled filled;
	struct sql_guard guard;

	if (sqlite3_db_readonly(db->db, "main") == 1) {	/* a saved case file has its verdicts */
		free(evs);
		return NULL;
	}
	err = sig_filled_read(db, &filled);
	sql_guard_set(db->db, &guard, 0);
	sql_guard_off(&guard);
	for (size_t i = 0; i < c->n && !err; i++) {
		struct sig_evaluation *e;
		int64_t *subjects = NULL;
		size_t n_subjects;

		if (!asked_for(c->sigs[i], ids, n_ids))
			continue;
		e = &evs[n_ev++];
		err = evaluate(e, db, c->sigs[i], &guard, &filled);
		if (err)
			break;
		n_subjects = verdict_subjects(e, &subjects);
		for (size_t k = 0; k < n_subjects; k++) {
			GROW(verdicts, cap, n + 1);
			verdict_judge(e, subjects[k], &verdicts[n++]);
		}
		free(subjects);
	}
	sql_guard_clear(db->db);
	sig_filled_clear(&filled);
	if (n)
		qsort(verdicts, n, sizeof(*verdicts), by_rank);
	for (size_t i = 0; i < n && !err; i++)
		err = write_verdict(verdicts, n, &verdicts[i]);
	for (size_t i = 0; i < n; i++) {
		free(verdicts[i].because);
		free(verdicts[i].contradiction);
	}
	free(verdicts);
	for (size_t i = 0; i < n_ev; i++)
		eval_clear(&evs[i]);
	free(evs);
	return err;
}
