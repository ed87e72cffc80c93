// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_alike.c - look-alikes of a verdict: the neighbours that the catalogue names (in either
 * direction) and those that cite the same evidence, what they came to on the same subject, and
 * which evidence tells them apart.
 */
#include <json-c/json.h>

#include "sig_eval.h"

#define MAX_ALIKE	8	/* look-alikes told of one verdict */

static void add_text(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

/* The verdict of signature @id on the subject of @v: the same VM's, else the host's. */
static const struct verdict *same_subject(const struct verdict *all, size_t n,
					  const struct verdict *v, const char *id)
{
	const struct verdict *ret = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(all[i].e->sig->id, id))
			continue;
		if (all[i].vm == v->vm)
			return &all[i];
		if (!ret && (!all[i].vm || !v->vm))
			ret = &all[i];
	}
	return ret;
}

static const struct sig_lookalike *named(const struct signature *s, const char *id)
{
	for (size_t i = 0; i < s->n_lookalikes; i++)
		if (!strcmp(s->lookalikes[i].id, id))
			return &s->lookalikes[i];
	return NULL;
}

static const char *says_of(const struct verdict *v, size_t item)
{
	for (size_t i = 0; i < v->e->n_rows; i++)
		if (v->e->rows[i].item == item && row_of_subject(&v->e->rows[i], v->vm))
			return v->e->rows[i].says;
	return NULL;
}

static void add_item(struct json_object *out, const struct verdict *v, size_t item)
{
	const struct sig_item *it = &v->e->sig->items[item];
	struct json_object *o = json_object_new_object();
	bool shown = v->states[item] == ITEM_SHOWN || v->states[item] == ITEM_BELOW;

	add_text(o, "signature", v->e->sig->id);
	add_text(o, "item", it->id);
	add_text(o, "role", sig_role_name(it->role));
	add_text(o, "outcome", shown ? "shown" : "not-shown");
	add_text(o, "says", shown ? says_of(v, item) : NULL);
	json_object_array_add(out, o);
}

/* The item that ruled @other out: see verdict_judge(). Not there where its kernel did. */
static void add_reason(struct json_object *out, const struct verdict *other)
{
	const struct signature *s = other->e->sig;
	const struct { enum sig_role role; enum item_outcome outcome;
	} why[] = {
		{ SIG_AGAINST, ITEM_SHOWN },
		{ SIG_FOR, ITEM_NOT_SHOWN },
		{ SIG_PRECONDITION, ITEM_NOT_SHOWN },
	};

	if (other->level != VERDICT_RULED_OUT)
		return;
	for (size_t k = 0; k < ARRAY_SIZE(why); k++) {
		for (size_t i = 0; i < s->n_items; i++) {
			const struct sig_item *it = &s->items[i];

			if (it->role == why[k].role && other->states[i] == why[k].outcome &&
			    (it->role == SIG_PRECONDITION || it->strength == SIG_DECISIVE)) {
				add_item(out, other, i);
				return;
			}
		}
	}
}

/* The items that @a names as telling the two apart, as far as they came to something. */
static void add_by(struct json_object *out, const struct sig_lookalike *a,
		   const struct verdict *owner)
{
	const struct signature *s = owner->e->sig;

	for (size_t k = 0; k < a->n_by; k++)
		for (size_t i = 0; i < s->n_items; i++)
			if (!strcmp(s->items[i].id, a->by[k]) &&
			    (owner->states[i] == ITEM_SHOWN || owner->states[i] == ITEM_NOT_SHOWN))
				add_item(out, owner, i);
}

static bool cites_meet(const char *a, const char *b)
{
	struct json_object *x = json_tokener_parse(a), *y = json_tokener_parse(b);
	bool ret = false;

	for (size_t i = 0; x && y && i < json_object_array_length(x) && !ret; i++)
		for (size_t k = 0; k < json_object_array_length(y) && !ret; k++)
			ret = json_object_get_int64(json_object_array_get_idx(x, i)) ==
			      json_object_get_int64(json_object_array_get_idx(y, k));
	json_object_put(x);
	json_object_put(y);
	return ret;
}

static bool speaks_for(const struct verdict *v, const struct ev_row *r)
{
	const struct sig_item *it = &v->e->sig->items[r->item];

	return it->role == SIG_FOR && it->strength != SIG_SUPPORTING && row_of_subject(r, v->vm);
}

/* Do both draw what is decisive or strong for them from the same place of the evidence? */
static bool share_evidence(const struct verdict *v, const struct verdict *other)
{
	for (size_t i = 0; i < v->e->n_rows; i++) {
		if (!speaks_for(v, &v->e->rows[i]))
			continue;
		for (size_t k = 0; k < other->e->n_rows; k++)
			if (speaks_for(other, &other->e->rows[k]) &&
			    cites_meet(v->e->rows[i].cites, other->e->rows[k].cites))
				return true;
	}
	return false;
}

static void add_alike(struct json_object *out, const struct verdict *v,
		      const struct verdict *other)
{
	const struct sig_lookalike *here = named(v->e->sig, other->e->sig->id);
	const struct sig_lookalike *there = named(other->e->sig, v->e->sig->id);
	struct json_object *o = json_object_new_object(), *by = json_object_new_array();
	const char *score = strstr(other->because, "; score ");
	_cleanup_free_ char *because = xasprintf(
		"%.*s", score ? (int)(score - other->because) : (int)strlen(other->because),
		other->because);

	add_text(o, "id", other->e->sig->id);
	add_text(o, "title", other->e->sig->title);
	add_text(o, "verdict", verdict_name(other->level));
	add_text(o, "because", because);
	add_text(o, "tells_apart", here ? here->tells_apart : there ? there->tells_apart : NULL);
	add_reason(by, other);
	if (here)
		add_by(by, here, v);
	if (there)
		add_by(by, there, other);
	json_object_object_add(o, "decided_by", by);
	json_object_array_add(out, o);
}

char *verdict_lookalikes(const struct verdict *all, size_t n, const struct verdict *v)
{
	struct json_object *out = json_object_new_array();
	char *ret;

	for (size_t i = 0; i < n && v->level <= VERDICT_POSSIBLE; i++) {
		const struct verdict *other = &all[i];

		if (json_object_array_length(out) >= MAX_ALIKE)
			break;
		if (other->e == v->e || same_subject(all, n, v, other->e->sig->id) != other)
			continue;
		if (named(v->e->sig, other->e->sig->id) || named(other->e->sig, v->e->sig->id) ||
		    (other->level <= VERDICT_POSSIBLE && share_evidence(v, other)))
			add_alike(out, v, other);
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(out);
	return ret;
}
