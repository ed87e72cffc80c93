// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_verdict.c - the first part of `analyze`: which known bug this is, what in the evidence says
 * so, and what to do.
 *
 * Matches and likely ones are told in full, possible ones as far as they go, the rest as one line
 * of reason each.
 */
#include "text.h"

#include "escape.h"

#define LABEL		2	/* columns before a label */
#define BODY		13	/* columns before what a label is for */
#define CITES_SHOWN	2
#define ROWS_SHOWN	2
#define POSSIBLE_SHOWN	3
#define RULED_OUT_SHOWN	5
#define ALIKE_SHOWN	3
#define MECHANISM_BYTES	420

struct tally {
	struct json_object *all;	/* array of verdicts */
	size_t		full, possible, open, ruled_out, checked;
};

static bool is_verdict(struct json_object *v, const char *word)
{
	return !strcmp(js_str(v, "verdict"), word);
}

static bool is_outcome(struct json_object *e, const char *role, const char *outcome)
{
	return !strcmp(js_str(e, "role"), role) && !strcmp(js_str(e, "outcome"), outcome);
}

/* Has @v evidence of @role that is shown with a sentence? */
static bool any_shown(struct json_object *v, const char *role)
{
	size_t i;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);

		if (is_outcome(e, role, "shown") && js_len(e, "rows"))
			return true;
	}
	return false;
}

static char *span(struct json_object *o)
{
	char from[HUMAN_MAX], to[HUMAN_MAX], length[HUMAN_MAX];
	int64_t start = js_int(o, "from_ns"), end = js_int(o, "to_ns");

	if (!js_has(o, "from_ns"))
		return NULL;
	if (!js_has(o, "to_ns") || end <= start)
		return xasprintf("at %s", human_time(from, start));
	return xasprintf("from %s to %s (%s)", human_time(from, start), human_time(to, end),
			 human_ns(length, end - start));
}

static void put_subject(struct text *t, struct json_object *v)
{
	struct json_object *subject = js_get(v, "subject");
	_cleanup_free_ char *line = NULL, *vm = NULL, *vcpus = NULL, *when = span(subject);

	if (js_has(subject, "vm")) {
		vm = text_vm(t, js_int(subject, "vm"));
		vcpus = text_vcpus(t, js_get(subject, "vcpus"), js_int(subject, "vm"));
		text_join(&line, "", "%s", vm);
		if (vcpus)
			text_join(&line, ", ", "%s", vcpus);
	} else {
		text_join(&line, "", "the host");
	}
	if (when)
		text_join(&line, ", ", "%s", when);
	if (js_has(subject, "source") && t->paths > 1 && *text_source(t, js_int(subject, "source")))
		text_join(&line, " ", "of %s", text_source(t, js_int(subject, "source")));
	text_item(t, LABEL, BODY, t->dim, "Where", "%s", line);
}

/* The cited text of the first citation, on one line: the evidence itself. */
static void put_quote(struct text *t, struct json_object *row)
{
	struct json_object *c = js_at(row, "cites", 0);
	const char *s = js_str(c, "text");
	_cleanup_free_ char *clean = NULL;
	size_t room = (size_t)(t->width > BODY + 4 ? t->width - BODY - 4 : 1), cut;

	if (!*s)
		return;
	clean = escape_prose(s);
	cut = display_cut(clean, room);
	if (clean[cut])
		cut = display_cut(clean, room - 1);
	fprintf(t->out, "%*s%s| %.*s%s%s\n", BODY, "", t->dim, (int)cut, clean,
		clean[cut] ? "…" : "", t->off);
}

/* Rows that say the same are told once, with the citations of all. */
static struct json_object *joined_cites(struct json_object *item, size_t first, size_t *same)
{
	struct json_object *all = json_object_new_array();
	const char *says = js_str(js_at(item, "rows", first), "says");
	size_t i, k;

	*same = 0;
	for (i = first; i < js_len(item, "rows"); i++) {
		struct json_object *row = js_at(item, "rows", i);

		if (strcmp(js_str(row, "says"), says))
			continue;
		++*same;
		for (k = 0; k < js_len(row, "cites"); k++)
			json_object_array_add(all, json_object_get(js_at(row, "cites", k)));
	}
	return all;
}

static bool said_before(struct json_object *item, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(js_str(js_at(item, "rows", i), "says"),
			    js_str(js_at(item, "rows", n), "says")))
			return true;
	return false;
}

static void put_evidence_row(struct text *t, const char *label, const char *style,
			     struct json_object *item, size_t i, bool quote)
{
	struct json_object *row = js_at(item, "rows", i);
	_cleanup_json_ struct json_object *all = NULL;
	_cleanup_free_ char *cites = NULL;
	size_t same;

	all = joined_cites(item, i, &same);
	cites = text_cites(t, all, t->verbose ? SIZE_MAX : t->brief ? 1 : CITES_SHOWN);
	if (same > 1)
		text_item(t, LABEL, BODY, style, label, "%s (%zu times)", js_str(row, "says"),
			  same);
	else
		text_item(t, LABEL, BODY, style, label, "%s", js_str(row, "says"));
	if (cites)
		text_para(t, BODY, BODY + 2, "[%s]", cites);
	if (cites && quote)
		put_quote(t, row);
}

static void put_item(struct text *t, struct json_object *item, const char *label, const char *style,
		     bool quote)
{
	size_t n = js_len(item, "rows"), shown = 0, left = 0, i;

	for (i = 0; i < n; i++) {
		if (said_before(item, i))
			continue;
		if (shown >= (t->brief ? 1 : ROWS_SHOWN) && !t->verbose) {
			left++;
			continue;
		}
		put_evidence_row(t, shown ? "" : label, style, item, i,
				 t->verbose || (quote && !shown && !t->brief));
		shown++;
	}
	if (left)
		text_para(t, BODY, BODY, "and %zu more such row%s (-v shows all)", left,
			  left == 1 ? "" : "s");
}

static void put_evidence(struct text *t, struct json_object *v, const char *role, const char *style,
			 bool quote)
{
	size_t i;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);
		const char *strength = js_str(e, "strength");

		if (is_outcome(e, role, "shown"))
			put_item(t, e,
				 !strcmp(role, "precondition") ? "given"
				 : *strength		       ? strength
							       : role,
				 style, quote && !strcmp(strength, "decisive"));
	}
}

static void put_list(struct text *t, struct json_object *v, const char *key, const char *label)
{
	size_t i;

	for (i = 0; i < js_len(v, key); i++) {
		struct json_object *o = js_at(v, key, i);

		text_item(t, LABEL, BODY, t->dim, i ? "" : label, "%s",
			  json_object_get_string(o) ? json_object_get_string(o) : "");
	}
}

static void put_commands(struct text *t, struct json_object *v)
{
	size_t i;

	for (i = 0; i < js_len(v, "record_next"); i++) {
		struct json_object *o = js_at(v, "record_next", i);

		if (!i)
			fprintf(t->out, "%*s%sRecord%s\n", LABEL, "", t->dim, t->off);
		text_verbatim(t, LABEL + 2, "",
			      json_object_get_string(o) ? json_object_get_string(o) : "");
	}
}

/* The first sentences of the mechanism; all of it with -v. */
static void put_mechanism(struct text *t, struct json_object *v)
{
	_cleanup_free_ char *flat = escape_prose(js_str(v, "mechanism"));
	size_t end = 0, i;

	if (!*flat || t->brief)
		return;
	if (t->verbose || strlen(flat) <= MECHANISM_BYTES) {
		text_item(t, LABEL, BODY, t->dim, "Mechanism", "%s", flat);
		return;
	}
	for (i = 0; i < MECHANISM_BYTES; i++)
		if (flat[i] == '.' && flat[i + 1] == ' ' && i &&
		    !(flat[i - 1] >= '0' && flat[i - 1] <= '9'))
			end = i + 1;
	if (end)
		text_item(t, LABEL, BODY, t->dim, "Mechanism", "%.*s (-v shows all)", (int)end,
			  flat);
}

static void put_title(struct text *t, struct json_object *v)
{
	const char *style = is_verdict(v, "match")    ? t->red
			    : is_verdict(v, "likely") ? t->yellow
						      : t->cyan;
	_cleanup_free_ char *word = xstrdup(js_str(v, "verdict")), *label = NULL;
	char *p;

	for (p = word; *p; p++)
		*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	label = xasprintf("%s:", word);
	text_item(t, 0, (int)strlen(label) + 1, style, label, "%s", js_str(v, "title"));
	text_item(t, LABEL, BODY, t->dim, "Signature", "%s", js_str(v, "id"));
}

/* Which rule decided; how the score came about matters to those who write signatures. */
static int because_bytes(struct text *t, const char *because)
{
	const char *score = strstr(because, "; score ");

	return score && !t->verbose ? (int)(score - because) : (int)strlen(because);
}

static void put_because(struct text *t, struct json_object *v)
{
	const char *because = js_str(v, "because");

	if (*because)
		text_item(t, LABEL, BODY, t->dim, "Because", "%.*s", because_bytes(t, because),
			  because);
}

/* What decided between a verdict and one look-alike: the first sentence, all of them with -v. */
static void put_decided(struct text *t, struct json_object *alike)
{
	size_t i, shown = 0;

	for (i = 0; i < js_len(alike, "decided_by"); i++) {
		struct json_object *d = js_at(alike, "decided_by", i);
		const char *says = js_str(d, "says");

		if ((shown || !*says) && !t->verbose)
			continue;
		text_para(t, BODY, BODY + 2, "%s '%s': %s", shown++ ? "and by" : "decided by",
			  js_str(d, "item"),
			  *says ? says : "it would have been visible and is not there");
	}
	if (!shown && is_verdict(alike, "ruled-out"))
		text_para(t, BODY, BODY + 2, "decided by: %s", js_str(alike, "because"));
}

static void put_unlike(struct text *t, struct json_object *v)
{
	size_t i, shown = 0;

	for (i = 0; i < js_len(v, "lookalikes"); i++) {
		struct json_object *a = js_at(v, "lookalikes", i);
		bool ruled_out = is_verdict(a, "ruled-out");

		if (!t->verbose && (shown >= ALIKE_SHOWN || (is_verdict(a, "cannot-tell") &&
							     !js_len(a, "decided_by"))))
			continue;
		text_item(t, LABEL, BODY, t->dim, shown++ ? "" : "Unlike", "%s (%s)%s%s",
			  js_str(a, "id"), ruled_out ? "ruled out" : js_str(a, "verdict"),
			  *js_str(a, "tells_apart") ? ": " : "", js_str(a, "tells_apart"));
		put_decided(t, a);
	}
}

static void put_full(struct text *t, struct json_object *v)
{
	put_title(t, v);
	put_subject(t, v);
	put_because(t, v);
	if (*js_str(v, "contradiction"))
		text_item(t, LABEL, BODY, t->red, "But", "%s", js_str(v, "contradiction"));
	put_mechanism(t, v);
	fputc('\n', t->out);
	put_evidence(t, v, "for", t->bold, true);
	put_evidence(t, v, "precondition", t->dim, false);
	if (any_shown(v, "against")) {
		text_para(t, LABEL, LABEL, "Against it:");
		put_evidence(t, v, "against", t->yellow, false);
	}
	put_unlike(t, v);
	fputc('\n', t->out);
	if (*js_str(v, "workaround"))
		text_item(t, LABEL, BODY, t->green, "Do now", "%s", js_str(v, "workaround"));
	put_list(t, v, "introduced_by", "Since");
	put_list(t, v, "fixed_by", "Fixed by");
	if (!is_verdict(v, "match") || t->verbose) {
		put_list(t, v, "missing", "Not seen");
		put_commands(t, v);
	}
}

/* Of several only the first is told with what to record: the others are a hint each. */
static void put_possible(struct text *t, struct json_object *v)
{
	put_title(t, v);
	put_subject(t, v);
	put_because(t, v);
	if (*js_str(v, "contradiction"))
		text_item(t, LABEL, BODY, t->red, "But", "%s", js_str(v, "contradiction"));
	put_evidence(t, v, "for", t->bold, false);
	if (t->brief)
		return;
	put_evidence(t, v, "against", t->yellow, false);
	put_list(t, v, "missing", "Not seen");
	put_commands(t, v);
}

/* The sentence of decisive evidence against it, where there is one; else the rule that decided. */
static void put_reason(struct text *t, struct json_object *v)
{
	_cleanup_free_ char *label = xasprintf("%s:", js_str(v, "id")), *cites = NULL;
	const char *because = js_str(v, "because");
	size_t i;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);

		if (!is_outcome(e, "against", "shown") ||
		    strcmp(js_str(e, "strength"), "decisive") || !js_len(e, "rows"))
			continue;
		cites = text_cites(t, js_get(js_at(e, "rows", 0), "cites"), 1);
		text_item(t, LABEL, LABEL + 2, t->bold, label, "%s%s%s%s",
			  js_str(js_at(e, "rows", 0), "says"), cites ? " [" : "",
			  cites ? cites : "", cites ? "]" : "");
		return;
	}
	text_item(t, LABEL, LABEL + 2, t->bold, label, "%.*s", because_bytes(t, because), because);
}

bool verdict_seen_before(struct json_object *all, size_t i)
{
	const char *id = js_str(json_object_array_get_idx(all, i), "id");
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(js_str(json_object_array_get_idx(all, k), "id"), id))
			return true;
	return false;
}

static void count(struct tally *y)
{
	size_t i;

	for (i = 0; i < json_object_array_length(y->all); i++) {
		struct json_object *v = json_object_array_get_idx(y->all, i);

		if (verdict_seen_before(y->all, i))	/* another subject: the first is surest */
			continue;
		y->checked++;
		y->full += is_verdict(v, "match") || is_verdict(v, "likely");
		y->possible += is_verdict(v, "possible");
		y->open += is_verdict(v, "cannot-tell");
		y->ruled_out += is_verdict(v, "ruled-out");
	}
}

/* Verdicts of one word, in full or short; those beyond @max as one line each. */
static void put_kind(struct text *t, struct json_object *all, const char *word,
		     void (*put)(struct text *, struct json_object *), size_t max, bool *any)
{
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);

		if (!is_verdict(v, word))
			continue;
		if (n++ >= max && !t->verbose)
			continue;
		if (*any)
			fputc('\n', t->out);
		put(t, v);
		*any = true;
		t->brief = !t->verbose;
	}
	if (n > max && !t->verbose)
		text_para(t, LABEL, LABEL, "and %zu more that are %s (-v shows all)", n - max,
			  word);
}

/*
 * What was looked at and is not it: only where something of it was there, unless -v asks for all.
 */
static void put_look_alikes(struct text *t, struct tally *y)
{
	size_t i, n = 0, shown = 0;

	for (i = 0; i < json_object_array_length(y->all); i++) {
		struct json_object *v = json_object_array_get_idx(y->all, i);

		if (!is_verdict(v, "ruled-out") ||
		    (!t->verbose && !any_shown(v, "for") && !any_shown(v, "against")))
			continue;
		if (!n++)
			text_heading(t, "Looks like it, but ruled out");
		if (shown < RULED_OUT_SHOWN || t->verbose) {
			put_reason(t, v);
			shown++;
		}
	}
	if (n > shown)
		text_para(t, LABEL, LABEL, "and %zu more (-v shows all)", n - shown);
}

/* Is anything decisive or strong shown for @v, or is its absence all that is to be told? */
static bool is_hint(struct json_object *v)
{
	size_t i;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);

		if (is_outcome(e, "for", "shown") && strcmp(js_str(e, "strength"), "supporting"))
			return true;
	}
	return false;
}

static void put_open_one(struct text *t, struct json_object *v)
{
	put_reason(t, v);
	put_evidence(t, v, "for", t->bold, false);
	put_list(t, v, "missing", "Not seen");
	put_commands(t, v);
}

/*
 * What has little for it and could not be looked for. Supporting evidence alone is told by name:
 * `signatures record` has the commands.
 */
static void put_open(struct text *t, struct tally *y)
{
	_cleanup_free_ char *names = NULL;
	size_t i, n = 0, few = 0;

	for (i = 0; i < json_object_array_length(y->all); i++) {
		struct json_object *v = json_object_array_get_idx(y->all, i);

		if (!is_verdict(v, "cannot-tell") || (!t->verbose && !any_shown(v, "for")))
			continue;
		if (!t->verbose && !is_hint(v) && (y->full || y->possible || few)) {
			few++;
			if (!verdict_seen_before(y->all, i))
				text_join(&names, ", ", "%s", js_str(v, "id"));
			continue;
		}
		few += !is_hint(v);
		if (!n++)
			text_heading(t, "Can't be told from this input");
		put_open_one(t, v);
	}
	if (names && !n)
		text_heading(t, "Can't be told from this input");
	if (names)
		text_para(t, LABEL, LABEL + 2, "%s: little for it, and what would decide was not recorded (-v, or `kvmortem "
			  "signatures record`, says what to record).", names);
}

static void put_none(struct text *t, const struct tally *y)
{
	_cleanup_free_ char *line = NULL;

	if (y->ruled_out)
		text_join(&line, ", ", "%zu %s ruled out", y->ruled_out, y->ruled_out == 1 ? "is" : "are");
	if (y->open)
		text_join(&line, ", ", "%zu can't be told from this input", y->open);
	text_item(t, 0, 0, t->bold, "No known bug matches.", "%zu signature%s checked: %s.", y->checked,
		  y->checked == 1 ? " was" : "s were", line ? line : "no verdict");
}

struct error *text_verdicts(struct text *t)
{
	struct tally y = { 0 };
	bool any;

	TRY(model_array(t->ctx, MODEL_VERDICTS, NULL, NULL, &y.all));
	count(&y);
	if (!y.full && y.possible)
		text_item(t, 0, 0, t->bold, "No known bug is shown,",
			  "but %zu %s possible (%zu signatures checked).", y.possible,
			  y.possible == 1 ? "is" : "are", y.checked);
	else if (!y.full && y.checked)
		put_none(t, &y);
	any = !y.full;		/* then a sentence stands before */
	put_kind(t, y.all, "match", put_full, SIZE_MAX, &any);
	put_kind(t, y.all, "likely", put_full, SIZE_MAX, &any);
	put_kind(t, y.all, "possible", put_possible, POSSIBLE_SHOWN, &any);
	put_open(t, &y);
	put_look_alikes(t, &y);
	json_object_put(y.all);
	return NULL;
}
