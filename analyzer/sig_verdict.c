// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_verdict.c - the verdict rules of design 6, in their order: ruled-out, match, likely,
 * possible, cannot-tell.
 *
 * "The mechanism beats the version": a kernel with the fix, a kernel older than the bug, or a
 * setting that should exclude it rule out only while not all decisive evidence is shown. Otherwise
 * the verdict stays and the contradiction is named.
 */
#include "sig_eval.h"

#define POINTS_DECISIVE		10
#define POINTS_STRONG		4
#define POINTS_SUPPORTING	1
#define POINTS_BELOW		2	/* decisive, below size */

static const char *const level_names[] = {
	"match", "likely", "possible", "cannot-tell", "ruled-out",
};

const char *verdict_name(enum verdict_level level)
{
	return level_names[level];
}

size_t verdict_subjects(const struct sig_evaluation *e, int64_t **ret)
{
	int64_t *vms = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];
		size_t k;

		if (!r->vm || e->sig->items[r->item].role == SIG_PRECONDITION)
			continue;
		for (k = 0; k < n; k++)
			if (vms[k] == r->vm)
				break;
		if (k < n)
			continue;
		GROW(vms, cap, n + 1);
		vms[n++] = r->vm;
	}
	if (!n) {
		GROW(vms, cap, 1);
		vms[n++] = 0;
	}
	*ret = vms;
	return n;
}

/*
 * Absence counts where it was fully visible: in a recording that shows something else of this
 * subject too, or in any when nothing does. That another recording, of another minute, lacks an
 * item proves nothing about this one.
 */
static bool absence_counts(const struct sig_evaluation *e, size_t item, int64_t vm)
{
	const struct sig_view *v = &e->states[item].view;
	bool other = false;

	if (v->sight != SIGHT_FULLY)
		return false;
	if (v->any_source)
		return true;
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];

		if (!r->source || !row_of_subject(r, vm) || e->sig->items[r->item].role != SIG_FOR)
			continue;
		if (e->states[r->item].view.any_source)
			continue;
		other = true;
		for (size_t k = 0; k < v->n; k++)
			if (v->sources[k] == r->source)
				return true;
	}
	return !other;
}

/*
 * Likewise what one recording shows against a bug says nothing about another minute: where
 * recordings show the decisive evidence, it counts only if it comes from one of these. Facts count
 * for all.
 */
static bool against_counts(const struct sig_evaluation *e, const struct ev_row *against, int64_t vm)
{
	bool other = false;

	if (e->sig->items[against->item].role != SIG_AGAINST || !against->source ||
	    e->states[against->item].view.any_source)
		return true;
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];
		const struct sig_item *it = &e->sig->items[r->item];

		if (it->role != SIG_FOR || it->strength != SIG_DECISIVE || r->below || !r->source ||
		    !row_of_subject(r, vm) || e->states[r->item].view.any_source)
			continue;
		if (r->source == against->source)
			return true;
		other = true;
	}
	return !other;
}

static enum item_outcome outcome(const struct sig_evaluation *e, size_t item, int64_t vm)
{
	bool below = false;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];

		if (r->item != item || !row_of_subject(r, vm) || !against_counts(e, r, vm))
			continue;
		if (!r->below)
			return ITEM_SHOWN;
		below = true;
	}
	if (e->states[item].error)
		return ITEM_ERROR;
	if (below)
		return ITEM_BELOW;
	if (e->states[item].truncated)	/* this subject's rows may be among those not looked at */
		return ITEM_NOT_VISIBLE;
	return absence_counts(e, item, vm) ? ITEM_NOT_SHOWN : ITEM_NOT_VISIBLE;
}

/*
 * Different recordings' clocks are not compared; a row without times says nothing against
 * overlapping.
 */
static bool overlap(const struct ev_row *a, const struct ev_row *b)
{
	if (!a->has_time || !b->has_time || a->source != b->source)
		return true;
	return a->from <= b->to && b->from <= a->to;
}

static bool goes_with(const struct sig_evaluation *e, const struct verdict *v,
		      const struct ev_row *r)
{
	for (size_t i = 0; i < e->sig->n_items; i++) {
		const struct sig_item *it = &e->sig->items[i];
		bool found = false;

		if (it->role != SIG_FOR || it->strength != SIG_DECISIVE || i == r->item)
			continue;
		for (size_t k = 0; k < e->n_rows && !found; k++)
			found = e->rows[k].item == i && !e->rows[k].below &&
				row_of_subject(&e->rows[k], v->vm) && overlap(r, &e->rows[k]);
		if (!found)
			return false;
	}
	return true;
}

/* Is there a row of a decisive item in whose time all other decisive items have one? */
static bool together(const struct sig_evaluation *e, const struct verdict *v)
{
	size_t first;

	for (first = 0; first < e->sig->n_items; first++)
		if (e->sig->items[first].role == SIG_FOR &&
		    e->sig->items[first].strength == SIG_DECISIVE)
			break;
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];

		if (r->item == first && !r->below && row_of_subject(r, v->vm) && goes_with(e, v, r))
			return true;
	}
	return false;
}

static bool item_is_trace(const struct sig_item *it)
{
	for (size_t i = 0; i < it->n_needs; i++)
		if (need_is_trace(it->needs[i]))
			return true;
	return false;
}

static bool strong_from_two_members(const struct sig_evaluation *e, const struct verdict *v)
{
	int64_t member = 0;
	size_t item = 0;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct ev_row *r = &e->rows[i];
		const struct sig_item *it = &e->sig->items[r->item];

		if (it->role != SIG_FOR || it->strength != SIG_STRONG || r->below || !r->member ||
		    !row_of_subject(r, v->vm))
			continue;
		if (member && r->member != member && r->item != item)
			return true;
		if (!member) {
			member = r->member;
			item = r->item;
		}
	}
	return false;
}

/* Is @host another than that of a recording which has rows of the subject? */
static bool other_host(const struct sig_evaluation *e, int64_t vm, const char *host)
{
	for (size_t i = 0; i < e->n_rows && host; i++)
		if (e->rows[i].source && row_of_subject(&e->rows[i], vm) &&
		    case_int(e->db, 0,
			     "SELECT host IS NOT NULL AND host <> ? FROM source WHERE id = ?", "si",
			     host, e->rows[i].source))
			return true;
	return false;
}

/*
 * The host's kernel, of the subject's recordings first, narrowed by its package version. Not known
 * when they disagree.
 */
static void host_kernel(const struct sig_evaluation *e, int64_t vm, struct kernel_version *kv)
{
	struct error *err = NULL;
	bool conflict = false, own = false;
	sqlite3_stmt *st;

	*kv = (struct kernel_version){ 0 };
	for (size_t i = 0; i < e->n_rows; i++)
		own |= e->rows[i].source && row_of_subject(&e->rows[i], vm) &&
		       e->sig->items[e->rows[i].item].role == SIG_FOR;
	for (int pass = own ? 0 : 1; pass < 2 && !kv->known && !conflict; pass++) {
		err = case_query(
			e->db, &st,
			"SELECT kernel, id, host FROM source WHERE side <> 'guest' AND kernel IS NOT NULL "
			"UNION ALL SELECT f.value, 0, s.host FROM fact f JOIN source s ON s.id = f.source_id "
			"WHERE f.side <> 'guest' AND f.key = 'kernel.release'",
			"");
		if (err)
			break;
		while (case_step(e->db, st, &err)) {
			const char *release = (const char *)sqlite3_column_text(st, 0);
			int64_t source = sqlite3_column_int64(st, 1);
			struct kernel_version one;
			bool mine = false;

			for (size_t i = 0; i < e->n_rows && !pass; i++)
				mine |= source && e->rows[i].source == source &&
					row_of_subject(&e->rows[i], vm);
			if ((!pass && !mine) || !release || !kernel_parse(release, &one))
				continue;
			/* another host's kernel says nothing of this one */
			if (pass && other_host(e, vm, (const char *)sqlite3_column_text(st, 2)))
				continue;
			if (kv->known && strcmp(kv->raw, one.raw))
				conflict = true;
			*kv = one;
		}
		case_done(st);
	}
	error_free(err);
	if (conflict)
		*kv = (struct kernel_version){ 0 };
	if (!kv->known)
		return;
	err = case_query(e->db, &st,
			 "SELECT value FROM fact WHERE side <> 'guest' AND key LIKE 'kernel.%'",
			 "");
	while (!err && case_step(e->db, st, &err))
		if (kernel_add_package(kv, (const char *)sqlite3_column_text(st, 0)))
			break;
	if (!err)
		case_done(st);
	error_free(err);
}

struct tally { size_t n[3], shown[3], below, not_shown, hidden, errors; };

static struct tally count(const struct signature *s, const struct verdict *v, enum sig_role role)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].role != role)
			continue;
		t.n[s->items[i].strength]++;
		t.shown[s->items[i].strength] += v->states[i] == ITEM_SHOWN;
		if (s->items[i].strength != SIG_DECISIVE)
			continue;
		t.below += v->states[i] == ITEM_BELOW;
		t.not_shown += v->states[i] == ITEM_NOT_SHOWN;
		t.hidden += v->states[i] == ITEM_NOT_VISIBLE;
		t.errors += v->states[i] == ITEM_ERROR;
	}
	return t;
}

static const char *first_item(const struct signature *s, const struct verdict *v,
			      enum sig_role role, enum sig_strength strength,
			      enum item_outcome state)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].role == role &&
		    (role == SIG_PRECONDITION || s->items[i].strength == strength) &&
		    v->states[i] == state)
			return s->items[i].id;
	return NULL;
}

static const char *change_name(const struct kernel_change *c)
{
	return c->commit ? c->commit : c->upstream ? c->upstream : "the fix";
}

/* Why settings or versions exclude the bug; NULL when they don't. */
static char *excluded(const struct sig_evaluation *e, const struct verdict *v,
		      const struct kernel_version *kv)
{
	const struct signature *s = e->sig;
	const struct kernel_change *why;
	const char *pre = first_item(s, v, SIG_PRECONDITION, SIG_SUPPORTING, ITEM_NOT_SHOWN);
	_cleanup_free_ char *name =
		kv->sub_min > 0 && kv->sub_min == kv->sub_max && kv->sub_min != kv->v[2]
			? xasprintf("%s (built from %d.%d.%d)", kv->raw, kv->v[0], kv->v[1],
				    kv->sub_min)
			: xstrdup(kv->raw);

	if (kernel_in_range(kv, s->introduced, s->n_introduced, s->fixed, s->n_fixed, &why) == 0 &&
	    why) {
		for (size_t i = 0; i < s->n_fixed; i++)
			if (why == &s->fixed[i])
				return xasprintf(
					"kernel %s should contain %s%s", name, change_name(why),
					why->unverified ? " (the list of releases is not verified)"
							: "");
		return xasprintf("kernel %s is older than %s, which introduced it", name,
				 change_name(why));
	}
	if (pre)
		return xasprintf("the precondition '%s' does not hold", pre);
	return NULL;
}

static char *arithmetic(const struct tally *f, const struct tally *a, double *score)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&buf, &len);

	*score = (double)(POINTS_DECISIVE * f->shown[SIG_DECISIVE] + POINTS_BELOW * f->below +
			  POINTS_STRONG * f->shown[SIG_STRONG] +
			  POINTS_SUPPORTING * f->shown[SIG_SUPPORTING]) -
		 (double)(POINTS_DECISIVE * a->shown[SIG_DECISIVE] +
			  POINTS_STRONG * a->shown[SIG_STRONG] +
			  POINTS_SUPPORTING * a->shown[SIG_SUPPORTING]);
	if (!out)
		return xstrdup("");
	fprintf(out,
		"score %.0f = %zu of %zu decisive x%d + %zu of %zu strong x%d + %zu of %zu supporting x%d",
		*score, f->shown[SIG_DECISIVE], f->n[SIG_DECISIVE], POINTS_DECISIVE,
		f->shown[SIG_STRONG], f->n[SIG_STRONG], POINTS_STRONG, f->shown[SIG_SUPPORTING],
		f->n[SIG_SUPPORTING], POINTS_SUPPORTING);
	if (f->below)
		fprintf(out, " + %zu below size x%d", f->below, POINTS_BELOW);
	if (a->shown[0] + a->shown[1] + a->shown[2])
		fprintf(out, " - against: %zu decisive x%d, %zu strong x%d, %zu supporting x%d",
			a->shown[SIG_DECISIVE], POINTS_DECISIVE, a->shown[SIG_STRONG],
			POINTS_STRONG, a->shown[SIG_SUPPORTING], POINTS_SUPPORTING);
	fclose(out);
	return buf;
}

static bool from_trace(const struct signature *s, const struct verdict *v)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].role == SIG_FOR && s->items[i].strength == SIG_DECISIVE &&
		    v->states[i] == ITEM_SHOWN && item_is_trace(&s->items[i]))
			return true;
	return false;
}

static char *ruled_out(const struct signature *s, struct verdict *v, bool all, char **reason)
{
	const char *id = first_item(s, v, SIG_AGAINST, SIG_DECISIVE, ITEM_SHOWN);

	if (id)
		return xasprintf("decisive evidence against is shown ('%s')", id);
	id = first_item(s, v, SIG_FOR, SIG_DECISIVE, ITEM_NOT_SHOWN);
	if (id)
		return xasprintf("'%s' would have been visible and is not there", id);
	if (*reason && !all) {
		char *why = *reason;

		*reason = NULL;
		return why;
	}
	return NULL;
}

/* match, likely, possible, cannot-tell: the first whose conditions hold. */
static char *standing(const struct sig_evaluation *e, struct verdict *v, const struct tally *f,
		      const struct tally *a, bool all)
{
	const struct signature *s = e->sig;
	size_t dec = f->n[SIG_DECISIVE];

	if (all && !a->shown[SIG_STRONG] && from_trace(s, v)) {
		v->level = VERDICT_MATCH;
		return xasprintf("all decisive evidence is shown (%zu of %zu)", dec, dec);
	}
	if (all) {
		v->level = VERDICT_LIKELY;
		return xasprintf("all decisive evidence is shown, but %s",
				 a->shown[SIG_STRONG] ? "something strong speaks against it"
						      : "none of it comes from a trace or log");
	}
	if (dec && f->shown[SIG_DECISIVE] == dec) {
		v->level = VERDICT_LIKELY;
		return xstrdup("all decisive evidence is shown, but at different times");
	}
	if (f->shown[SIG_DECISIVE] && f->shown[SIG_DECISIVE] + f->hidden == dec) {
		v->level = VERDICT_LIKELY;
		return xasprintf("%zu of %zu decisive items are shown, the rest could not be seen",
				 f->shown[SIG_DECISIVE], dec);
	}
	if (f->hidden == dec && f->shown[SIG_STRONG] >= 2 && strong_from_two_members(e, v)) {
		v->level = VERDICT_LIKELY;
		return xstrdup(
			"no decisive item could be seen, but two strong ones from different files are shown");
	}
	v->level = VERDICT_POSSIBLE;
	if (f->below)
		return xstrdup(
			"the mechanism is there, below the size that reports of this bug name");
	if (f->shown[SIG_STRONG])
		return xstrdup("strong evidence is shown, nothing decisive");
	if (f->shown[SIG_DECISIVE])
		return xstrdup("part of the decisive evidence is shown");
	v->level = VERDICT_CANNOT_TELL;
	return xstrdup(f->shown[SIG_SUPPORTING]
			       ? "only supporting evidence is shown"
			       : "nothing that was recorded could show or exclude it");
}

void verdict_judge(struct sig_evaluation *e, int64_t vm, struct verdict *v)
{
	_cleanup_free_ char *reason = NULL, *sum = NULL, *main_reason = NULL;
	struct kernel_version kv;
	struct tally f, a;
	bool all;

	*v = (struct verdict){ .e = e, .vm = vm };
	for (size_t i = 0; i < e->sig->n_items; i++)
		v->states[i] = outcome(e, i, vm);
	f = count(e->sig, v, SIG_FOR);
	a = count(e->sig, v, SIG_AGAINST);
	all = f.n[SIG_DECISIVE] && f.shown[SIG_DECISIVE] == f.n[SIG_DECISIVE] && together(e, v);
	host_kernel(e, vm, &kv);
	reason = excluded(e, v, &kv);
	sum = arithmetic(&f, &a, &v->score);
	main_reason = ruled_out(e->sig, v, all, &reason);
	if (main_reason) {
		v->level = VERDICT_RULED_OUT;
	} else {
		main_reason = standing(e, v, &f, &a, all);
		if (reason)
			v->contradiction = xasprintf("%s, yet the mechanism is shown: a modified "
						     "module, an incomplete backport, or a setting "
						     "changed since?", reason);
	}
	v->because = xasprintf("%s; %s", main_reason, sum);
}
