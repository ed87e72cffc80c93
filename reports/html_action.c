// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_action.c - what to do: workaround, fixes, what to record next; and what was ruled out or
 * can't be told, and why.
 */
#include "html_verdict.h"

#include "escape.h"

#define OPEN_SHOWN	20

static bool concerns(struct json_object *v)
{
	return !verdict_is(v, "ruled-out") && !verdict_is(v, "cannot-tell");
}

static void put_list(struct html *h, struct json_object *v, const char *key, const char *label)
{
	size_t i;

	if (!js_len(v, key))
		return;
	html_rawf(h, "<div><dt>%s</dt><dd><ul>", label);
	for (i = 0; i < js_len(v, key); i++) {
		html_raw(h, "<li>");
		html_says(h, js_string(js_at(v, key, i)));
		html_raw(h, "</li>");
	}
	html_raw(h, "</ul></dd></div>\n");
}

static void put_commands(struct html *h, struct json_object *v)
{
	size_t i;

	for (i = 0; i < js_len(v, "record_next"); i++) {
		html_raw(h, i ? "" : "<div><dt>Record next</dt><dd>");
		html_raw(h, "<pre tabindex=\"0\"><code>");
		html_text(h, js_string(js_at(v, "record_next", i)));
		html_raw(h, "</code></pre>");
	}
	if (i)
		html_raw(h, "</dd></div>\n");
}

static void put_do(struct html *h, struct json_object *v)
{
	html_raw(h, "<h3>");
	html_says(h, js_str(v, "title"));
	html_raw(h, "</h3>\n<dl class=\"facts\">\n");
	if (*js_str(v, "workaround")) {
		html_raw(h, "<div><dt>Do now</dt><dd>");
		html_says(h, js_str(v, "workaround"));
		html_raw(h, "</dd></div>\n");
	}
	put_list(h, v, "fixed_by", "Fixed by");
	put_list(h, v, "introduced_by", "Since");
	if (!verdict_is(v, "match")) {
		put_list(h, v, "missing", "Not seen");
		put_commands(h, v);
	}
	html_raw(h, "</dl>\n");
}

/* Every command that some verdict which can't be told asks for, once. */
static void put_record_next(struct html *h)
{
	struct json_object *seen = json_object_new_object();
	size_t i, k, n = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *v = json_object_array_get_idx(h->verdicts, i);

		for (k = 0; verdict_is(v, "cannot-tell") && k < js_len(v, "record_next"); k++) {
			const char *command = js_string(js_at(v, "record_next", k));

			if (js_get(seen, command) || n >= OPEN_SHOWN)
				continue;
			json_object_object_add(seen, command, json_object_new_boolean(true));
			if (!n++)
				html_raw(h, "<h3>To tell more, record</h3>\n<ul class=\"commands\">\n");
			html_raw(h, "<li>for <code>");
			html_wbr(h, js_str(v, "id"));
			html_raw(h, "</code><pre tabindex=\"0\"><code>");
			html_text(h, command);
			html_raw(h, "</code></pre></li>\n");
		}
	}
	if (n)
		html_raw(h, "</ul>\n");
	json_object_put(seen);
}

struct error *html_action(struct html *h)
{
	size_t i, n = 0, open = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		n += concerns(json_object_array_get_idx(h->verdicts, i));
		open += verdict_is(json_object_array_get_idx(h->verdicts, i), "cannot-tell") &&
			js_len(json_object_array_get_idx(h->verdicts, i), "record_next");
	}
	if (!n && !open)
		return NULL;
	html_section(h, "action", "What to do");
	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *v = json_object_array_get_idx(h->verdicts, i);

		if (concerns(v) && !verdict_seen_before(h->verdicts, i))
			put_do(h, v);
	}
	if (!n)
		put_record_next(h);
	html_section_end(h);
	return NULL;
}

/* The sentence of decisive evidence against it, where there is one; else the rule that decided. */
void html_reason(struct html *h, struct json_object *v)
{
	size_t i;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i), *row = js_at(e, "rows", 0);

		if (!evidence_is(e, "against", "shown") || strcmp(js_str(e, "strength"), "decisive") || !row)
			continue;
		html_says(h, js_str(row, "says"));
		html_raw(h, " ");
		html_cites(h, js_get(row, "cites"), 2, false);
		return;
	}
	html_textf(h, "%.*s", verdict_because_bytes(v), js_str(v, "because"));
}

static void put_verdicts(struct html *h, const char *word, const char *caption)
{
	static const char *const heads[] = { "signature", "subject", "why" };
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *v = json_object_array_get_idx(h->verdicts, i), *s = js_get(v, "subject");
		_cleanup_free_ char *vm = js_has(s, "vm") ? text_vm(&h->text, js_int(s, "vm")) : xstrdup("the host");

		if (!verdict_is(v, word))
			continue;
		if (!n++)
			html_table(h, caption, heads, ARRAY_SIZE(heads));
		html_raw(h, "<tr><th scope=\"row\"><code>");
		html_wbr(h, js_str(v, "id"));
		html_raw(h, "</code></th>");
		html_cell(h, vm);
		html_raw(h, "<td>");
		html_reason(h, v);
		html_raw(h, "</td></tr>\n");
	}
	if (n)
		html_table_end(h);
}

struct error *html_ruled_out(struct html *h)
{
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++)
		n += !concerns(json_object_array_get_idx(h->verdicts, i));
	if (!n)
		return NULL;
	html_section(h, "ruled-out", "What it is not");
	put_verdicts(h, "ruled-out", "Ruled out, and why");
	put_verdicts(h, "cannot-tell", "Can’t be told from this input");
	html_section_end(h);
	return NULL;
}
