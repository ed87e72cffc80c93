// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_verdict.c - the evidence: each signature that is shown or possible, and for each subject
 * every sentence with its citations.
 */
#include "html_verdict.h"

#include "escape.h"

#define ROWS_SHOWN	8
#define CITES_SHOWN	12
#define QUOTE_COLUMNS	220

bool verdict_is(struct json_object *v, const char *word)
{
	return !strcmp(js_str(v, "verdict"), word);
}

bool evidence_is(struct json_object *e, const char *role, const char *outcome)
{
	return !strcmp(js_str(e, "role"), role) && !strcmp(js_str(e, "outcome"), outcome);
}

int verdict_because_bytes(struct json_object *v)
{
	const char *because = js_str(v, "because"), *score = strstr(because, "; score ");

	return score ? (int)(score - because) : (int)strlen(because);
}

const char *js_string(struct json_object *o)
{
	const char *s =
		o && json_object_is_type(o, json_type_string) ? json_object_get_string(o) : NULL;

	return s ? s : "";
}

const char *verdict_kernel(struct html *h, struct json_object *v)
{
	struct json_object *subject = js_get(v, "subject"), *sources = h->text.sources;
	const char *any = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(sources); i++) {
		struct json_object *s = json_object_array_get_idx(sources, i);

		if (!js_has(s, "kernel") || !strcmp(js_str(s, "side"), "guest"))
			continue;
		if (js_has(subject, "source") && js_int(s, "id") == js_int(subject, "source"))
			return js_str(s, "kernel");
		if (!any)
			any = js_str(s, "kernel");
	}
	return any;
}

static char *when(struct json_object *o)
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

void html_subject(struct html *h, struct json_object *v)
{
	struct json_object *subject = js_get(v, "subject");
	struct text *t = &h->text;
	_cleanup_free_ char *line = NULL, *vm = NULL, *vcpus = NULL, *time = when(subject);

	if (js_has(subject, "vm")) {
		vm = text_vm(t, js_int(subject, "vm"));
		vcpus = text_vcpus(t, js_get(subject, "vcpus"), js_int(subject, "vm"));
		text_join(&line, "", "%s", vm);
		if (vcpus)
			text_join(&line, ", ", "%s", vcpus);
	} else {
		text_join(&line, "", "the host");
	}
	if (time)
		text_join(&line, ", ", "%s", time);
	if (js_has(subject, "source") && t->paths > 1 && *text_source(t, js_int(subject, "source")))
		text_join(&line, " ", "of %s", text_source(t, js_int(subject, "source")));
	html_says(h, line);
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
		if (!strcmp(js_str(js_at(item, "rows", i), "says"), js_str(js_at(item, "rows", n), "says")))
			return true;
	return false;
}

static void put_row(struct html *h, struct json_object *item, size_t i, bool quote)
{
	struct json_object *row = js_at(item, "rows", i);
	_cleanup_json_ struct json_object *all = NULL;
	const char *text;
	size_t same;

	all = joined_cites(item, i, &same);
	html_raw(h, "<li><p>");
	html_says(h, js_str(row, "says"));
	if (same > 1)
		html_rawf(h, " (%zu times)", same);
	html_raw(h, " ");
	html_cites(h, all, CITES_SHOWN, false);
	html_raw(h, "</p>");
	text = js_str(json_object_array_get_idx(all, 0), "text");
	if (quote && *text) {
		html_raw(h, "<code class=\"quote\">");
		html_name(h, text, QUOTE_COLUMNS);
		html_raw(h, "</code>");
	}
	html_raw(h, "</li>\n");
}

static void put_item(struct html *h, struct json_object *item)
{
	const char *strength = js_str(item, "strength");
	const char *label = strcmp(js_str(item, "role"), "precondition") ? strength : "given";
	size_t n = js_len(item, "rows"), shown = 0, left = 0, i;

	html_rawf(h, "<div class=\"item s-%s\"><h4>", *strength ? strength : "given");
	html_text(h, *label ? label : "shown");
	html_raw(h, " <code>");
	html_wbr(h, js_str(item, "id"));
	html_raw(h, "</code></h4>\n<ul>\n");
	for (i = 0; i < n; i++) {
		if (said_before(item, i))
			continue;
		if (shown < ROWS_SHOWN)
			put_row(h, item, i, !shown++ && !strcmp(strength, "decisive"));
		else
			left++;
	}
	if (left)
		html_rawf(h, "<li>and %zu more such row%s</li>\n", left, left == 1 ? "" : "s");
	html_raw(h, "</ul></div>\n");
}

static size_t put_role(struct html *h, struct json_object *v, const char *role, const char *head)
{
	size_t i, n = 0;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);

		if (!evidence_is(e, role, "shown") || !js_len(e, "rows"))
			continue;
		if (!n++ && head)
			html_rawf(h, "<p class=\"label\">%s</p>\n", head);
		put_item(h, e);
	}
	return n;
}

/* What the signature asks for and what of it was not there or could not be seen. */
static void put_absent(struct html *h, struct json_object *v)
{
	size_t i, n = 0;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);

		if (evidence_is(e, "for", "not-shown") || evidence_is(e, "for", "not-visible"))
			html_rawf(h, "%s%s: ", n++ ? "; " : "<p class=\"note\">Also asked for: ",
				  js_str(e, "strength")),
				html_text(h, js_str(e, "id")),
				html_raw(h, evidence_is(e, "for", "not-shown") ? " (looked for, not there)" :
									     " (could not be seen)");
	}
	if (n)
		html_raw(h, "</p>\n");
}

/* What it may be mistaken for, what tells them apart, and how those verdicts stand. */
static void put_lookalikes(struct html *h, struct json_object *v)
{
	size_t i, n = js_len(v, "lookalikes");

	if (!n)
		return;
	html_rawf(h, "<details><summary>Not to be mistaken for: %zu like it</summary><ul class=\"lines\">\n", n);
	for (i = 0; i < n; i++) {
		struct json_object *a = js_at(v, "lookalikes", i);

		html_raw(h, "<li><b>");
		html_says(h, js_str(a, "title"));
		html_raw(h, "</b> (");
		html_text(h, js_str(a, "verdict"));
		html_raw(h, "): ");
		html_says(h, js_str(a, *js_str(a, "tells_apart") ? "tells_apart" : "because"));
		html_raw(h, "</li>\n");
	}
	html_raw(h, "</ul></details>\n");
}

static void put_subject(struct html *h, struct json_object *v, bool several)
{
	if (several) {
		html_raw(h, "<h4 class=\"subject\">");
		html_subject(h, v);
		html_raw(h, "</h4>\n");
	}
	html_raw(h, "<p class=\"because\">");
	html_textf(h, "%s.", js_str(v, "because"));
	html_raw(h, "</p>\n");
	if (*js_str(v, "contradiction")) {
		html_raw(h, "<p class=\"but\"><b>But</b> ");
		html_says(h, js_str(v, "contradiction"));
		html_raw(h, "</p>\n");
	}
	put_role(h, v, "for", NULL);
	put_role(h, v, "precondition", NULL);
	put_role(h, v, "against", "Against it:");
	put_absent(h, v);
	put_lookalikes(h, v);
}

/* All subjects of one signature that are match, likely or possible. */
static void put_signature(struct html *h, size_t first)
{
	struct json_object *v = json_object_array_get_idx(h->verdicts, first);
	const char *id = js_str(v, "id");
	size_t i, n = 0;

	for (i = first; i < json_object_array_length(h->verdicts); i++)
		n += !strcmp(js_str(json_object_array_get_idx(h->verdicts, i), "id"), id);
	html_rawf(h, "<article id=\"e-%zu\">\n<h3><span class=\"badge v-%s\">%s</span> ", first, js_str(v, "verdict"), js_str(v, "verdict"));
	html_says(h, js_str(v, "title"));
	html_raw(h, "</h3>\n<p class=\"kicker\">Signature <code>");
	html_wbr(h, id);
	html_raw(h, "</code></p>\n");
	if (*js_str(v, "mechanism")) {
		html_raw(h, "<p class=\"mechanism\">");
		html_says(h, js_str(v, "mechanism"));
		html_raw(h, "</p>\n");
	}
	for (i = first; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *o = json_object_array_get_idx(h->verdicts, i);

		if (!strcmp(js_str(o, "id"), id) && !verdict_is(o, "ruled-out") && !verdict_is(o, "cannot-tell"))
			put_subject(h, o, n > 1);
	}
	html_raw(h, "</article>\n");
}

struct error *html_verdicts(struct html *h)
{
	bool any = false;
	size_t i;

	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *v = json_object_array_get_idx(h->verdicts, i);

		if (verdict_is(v, "ruled-out") || verdict_is(v, "cannot-tell") || verdict_seen_before(h->verdicts, i))
			continue;
		if (!any)
			html_section(h, "evidence", "Evidence");
		any = true;
		put_signature(h, i);
	}
	if (any)
		html_section_end(h);
	return NULL;
}
