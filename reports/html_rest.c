// SPDX-License-Identifier: GPL-2.0-or-later
/* html_rest.c - logs, ping gaps, host facts, and what could not be seen. */
#include "html.h"

#include "questions.h"

#define LOGS_SHOWN	40
#define GAPS_SHOWN	30
#define FACTS_SHOWN	400

static struct error *put_log_line(struct html *h, struct json_object *l)
{
	html_raw(h, "<li>");
	if (strcmp(js_str(l, "side"), "unknown")) {
		html_rawf(h, "<span class=\"lead\">%s</span> ", strcmp(js_str(l, "side"), "guest") ? "host" : "guest");
	}
	html_raw(h, "<code>");
	html_name(h, js_str(l, "text"), 240);
	html_raw(h, "</code> ");
	html_cites(h, js_get(l, "cites"), 1, false);
	html_raw(h, "</li>\n");
	return NULL;
}

static struct error *put_gaps(struct html *h)
{
	static const char *const words[][2] = {
		{ "burst", "late replies came together" }, { "lost", "replies were lost" }, { "slow", "replies were slow" },
	};
	static const char *const heads[] = { ">length", ">from", "what", ">replies", ">lost", "where it says so" };
	_cleanup_json_ struct json_object *gaps = NULL;
	char buf[HUMAN_MAX];
	size_t i, n, k;

	TRY(model_array(h->ctx, MODEL_PING_GAPS, NULL, NULL, &gaps));
	n = json_object_array_length(gaps);
	if (!n)
		return NULL;
	html_table(h, "When the guest did not answer pings", heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < GAPS_SHOWN; i++) {
		struct json_object *g = json_object_array_get_idx(gaps, i);

		for (k = 0; k < ARRAY_SIZE(words) && strcmp(words[k][0], js_str(g, "kind")); k++)
			;
		html_row(h);
		html_num(h, human_ns(buf, js_int(g, "duration_ns")));
		html_num(h, human_time(buf, js_int(g, "start_ns")));
		html_cell(h, k < ARRAY_SIZE(words) ? words[k][1] : js_str(g, "kind"));
		html_num(h, human_count(buf, js_int(g, "replies")));
		html_num(h, human_count(buf, js_int(g, "lost")));
		html_raw(h, "<td>");
		html_cites(h, js_get(g, "cites"), 2, false);
		html_raw(h, "</td>");
		html_row_end(h);
	}
	html_table_end(h);
	return NULL;
}

struct error *html_logs(struct html *h)
{
	_cleanup_json_ struct json_object *lines = NULL;
	int64_t gaps = case_int(h->ctx->db, 0, "SELECT COUNT(*) FROM ping_gap", "");
	size_t i, n, shown = 0;

	TRY(model_array(h->ctx, MODEL_LOG_LINES, NULL, NULL, &lines));
	n = json_object_array_length(lines);
	if (!n && !gaps)
		return NULL;
	html_section(h, "logs", "What logs and pings say");
	for (i = 0; i < n; i++) {
		if (!strcmp(js_str(json_object_array_get_idx(lines, i), "kind"), "call_trace"))
			continue;
		if (shown++ >= LOGS_SHOWN)
			continue;
		html_raw(h, shown == 1 ? "<ul class=\"lines\">\n" : "");
		TRY(put_log_line(h, json_object_array_get_idx(lines, i)));
	}
	html_raw(h, shown ? "</ul>\n" : "");
	if (shown > LOGS_SHOWN)
		html_rawf(h, "<p class=\"note\">and %zu more lines (<code>-f json</code> has all)</p>\n", shown - LOGS_SHOWN);
	TRY(put_gaps(h));
	html_section_end(h);
	return NULL;
}

struct error *html_facts(struct html *h)
{
	static const char *const heads[] = { "fact", "value", "side", "snapshot", "where it says so" };
	_cleanup_json_ struct json_object *facts = NULL;
	size_t i, n;

	TRY(model_array(h->ctx, MODEL_FACTS, NULL, NULL, &facts));
	n = json_object_array_length(facts);
	if (!n)
		return NULL;
	html_section(h, "facts", "What the host is and how it is set");
	html_rawf(h, "<details%s><summary>%zu fact%s</summary>\n", n <= 20 ? " open" : "", n, n == 1 ? "" : "s");
	html_table(h, "Facts about hosts and guests", heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < FACTS_SHOWN; i++) {
		struct json_object *f = json_object_array_get_idx(facts, i);

		html_raw(h, "<tr><th scope=\"row\"><code>");
		html_name(h, js_str(f, "key"), 60);
		html_raw(h, "</code></th><td class=\"wide\">");
		html_name(h, js_str(f, "value"), 160);
		html_raw(h, "</td>");
		html_cell(h, js_str(f, "side"));
		html_cell(h, js_str(f, "snapshot"));
		html_raw(h, "<td>");
		html_cites(h, js_get(f, "cites"), 2, true);
		html_raw(h, "</td></tr>\n");
	}
	html_table_end(h);
	if (i < n)
		html_rawf(h, "<p class=\"note\">and %zu more (<code>kvmortem info -v</code>)</p>\n", n - i);
	html_raw(h, "</details>\n");
	html_section_end(h);
	return NULL;
}

struct error *html_not_seen(struct html *h)
{
	static const char *const heads[] = { "question", "answer", "because" };
	_cleanup_json_ struct json_object *all = NULL;
	size_t i;

	html_section(h, "not-seen", "What could be seen, and what could not");
	TRY(html_lines(h, text_not_seen, true, "lines"));
	TRY(questions_array(h->ctx, &all));
	html_table(h, "What this evidence can answer", heads, ARRAY_SIZE(heads));
	for (i = 0; i < json_object_array_length(all); i++) {
		struct json_object *q = json_object_array_get_idx(all, i);

		html_row(h);
		html_head(h, js_str(q, "question"));
		html_rawf(h, "<td><span class=\"yn %s\">%s</span></td>", js_str(q, "answer"), js_str(q, "answer"));
		html_raw(h, "<td class=\"wide\">");
		html_name(h, js_str(q, "because"), 240);
		html_raw(h, "</td>");
		html_row_end(h);
	}
	html_table_end(h);
	html_section_end(h);
	return NULL;
}
