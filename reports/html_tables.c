// SPDX-License-Identifier: GPL-2.0-or-later
/* html_tables.c - tables of the case: patterns, exits by reason, run-queue delays, long calls. */
#include "html.h"

#define PATTERNS_SHOWN	30
#define EXITS_SHOWN	20
#define SOURCES_SHOWN	3
#define DELAYS_SHOWN	30
#define CALLS_SHOWN	25

struct error *html_patterns(struct html *h)
{
	static const char *const heads[] = { ">in all", ">share", ">stalls", ">longest", "e.g.", "what happened" };
	_cleanup_json_ struct json_object *rows = NULL;
	char buf[HUMAN_MAX];
	int64_t whole = 0;
	size_t i, n;

	TRY(model_array(h->ctx, MODEL_PATTERNS, NULL, NULL, &rows));
	n = json_object_array_length(rows);
	if (!n)
		return NULL;
	for (i = 0; i < n; i++)
		whole += js_int(json_object_array_get_idx(rows, i), "total_ns");
	html_section(h, "patterns", "Patterns");
	html_table(h, "Stalls alike, by their total time", heads, ARRAY_SIZE(heads));
	for (i = 0; i < n && i < PATTERNS_SHOWN; i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);

		html_row(h);
		html_num(h, human_ns(buf, js_int(r, "total_ns")));
		html_share(h, js_int(r, "total_ns"), whole);
		html_num(h, human_count(buf, js_int(r, "count")));
		html_num(h, human_ns(buf, js_int(r, "worst_ns")));
		if (js_has(r, "worst_stall") && html_is_drawn(h, js_int(r, "worst_stall")))
			html_rawf(h, "<td><a href=\"#stall-%" PRId64 "\">#%" PRId64 "</a></td>", js_int(r, "worst_stall"),
				  js_int(r, "worst_stall"));
		else if (js_has(r, "worst_stall"))
			html_rawf(h, "<td>#%" PRId64 "</td>", js_int(r, "worst_stall"));
		else
			html_cell(h, NULL);
		html_raw(h, "<td class=\"wide\">");
		html_name(h, js_str(r, "shape"), 240);
		html_raw(h, "</td>");
		html_row_end(h);
	}
	html_table_end(h);
	if (i < n)
		html_rawf(h, "<p class=\"note\">and %zu more patterns (<code>kvmortem stalls -v</code>)</p>\n", n - i);
	html_section_end(h);
	return NULL;
}

static void put_exit_table(struct html *h, struct json_object *rows, size_t from, size_t to,
			   const char *event)
{
	static const char *const heads[] = { "reason", ">count", ">of count", ">time", ">of time", ">least", ">average", ">longest" };
	const char *source = text_source(&h->text, js_int(json_object_array_get_idx(rows, from), "source"));
	_cleanup_free_ char *caption = xasprintf("%s%s%s", event, h->text.paths > 1 ? ", " : "", h->text.paths > 1 ? source : "");
	int64_t count = 0, total = 0;
	char buf[HUMAN_MAX];
	size_t i;

	for (i = from; i < to; i++) {
		count += js_int(json_object_array_get_idx(rows, i), "count");
		total += js_int(json_object_array_get_idx(rows, i), "total_ns");
	}
	html_table(h, caption, heads, ARRAY_SIZE(heads));
	for (i = from; i < to && i - from < EXITS_SHOWN; i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);

		html_row(h);
		html_head(h, js_str(r, "reason"));
		html_num(h, human_count(buf, js_int(r, "count")));
		html_share(h, js_int(r, "count"), count);
		html_num(h, human_ns(buf, js_int(r, "total_ns")));
		html_share(h, js_int(r, "total_ns"), total);
		html_num(h, human_ns(buf, js_int(r, "min_ns")));
		html_num(h, human_ns(buf, js_int(r, "avg_ns")));
		html_num(h, human_ns(buf, js_int(r, "max_ns")));
		html_row_end(h);
	}
	html_table_end(h);
	if (i < to)
		html_rawf(h, "<p class=\"note\">and %zu more (<code>kvmortem exits</code>)</p>\n", to - i);
}

static struct error *put_event(struct html *h, const char *event, const char *caption, bool *any)
{
	_cleanup_json_ struct json_object *rows = NULL;
	size_t n, i, k, sources = 0;

	TRY(model_array(h->ctx, MODEL_EXITS, event, "all", &rows));
	n = json_object_array_length(rows);
	for (i = 0; i < n; i = k, sources++) {
		int64_t source = js_int(json_object_array_get_idx(rows, i), "source");

		for (k = i + 1; k < n && js_int(json_object_array_get_idx(rows, k), "source") == source; k++)
			;
		if (!*any)
			html_section(h, "exits", "Exits by reason");
		*any = true;
		if (sources < SOURCES_SHOWN)
			put_exit_table(h, rows, i, k, caption);
	}
	if (sources > SOURCES_SHOWN)
		html_rawf(h, "<p class=\"note\">%s of %zu more recordings: <code>kvmortem exits</code></p>\n", caption,
			  sources - SOURCES_SHOWN);
	return NULL;
}

struct error *html_exits(struct html *h)
{
	static const char *const events[][2] = {
		{ "vmexit", "VM exits" }, { "mmio", "MMIO accesses" }, { "ioport", "I/O port accesses" }, { "msr", "MSR accesses" },
	};
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		TRY(put_event(h, events[i][0], events[i][1], &any));
	if (any)
		html_section_end(h);
	return NULL;
}

struct error *html_delays(struct html *h)
{
	static const char *const heads[] = { "vCPU thread", ">switches", ">average", ">longest", ">which began at", "source" };
	_cleanup_json_ struct json_object *rows = NULL;
	char buf[HUMAN_MAX];
	size_t i, n = 0;

	TRY(model_array(h->ctx, MODEL_LATENCY, NULL, NULL, &rows));
	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);
		_cleanup_free_ char *task = NULL;

		if (!js_int(r, "is_vcpu") || n++ >= DELAYS_SHOWN)
			continue;
		if (n == 1) {
			html_section(h, "delays", "How long vCPUs waited for a CPU");
			TRY(html_delay_plots(h));
			html_table(h, "Run-queue delay of vCPU threads, longest wait first", heads, ARRAY_SIZE(heads));
		}
		task = text_task(js_str(r, "task"), r, "tid");
		html_row(h);
		html_head(h, task);
		html_num(h, human_count(buf, js_int(r, "switches")));
		html_num(h, js_has(r, "avg_delay_ns") ? human_ns(buf, js_int(r, "avg_delay_ns")) : "");
		html_num(h, js_has(r, "max_delay_ns") ? human_ns(buf, js_int(r, "max_delay_ns")) : "");
		html_num(h, js_int(r, "max_delay_start_ns") ? human_time(buf, js_int(r, "max_delay_start_ns")) : "");
		html_cell(h, text_source(&h->text, js_int(r, "source")));
		html_row_end(h);
	}
	if (!n)
		return NULL;
	html_table_end(h);
	if (n > DELAYS_SHOWN)
		html_rawf(h, "<p class=\"note\">and %zu more (<code>kvmortem latency</code>)</p>\n", n - DELAYS_SHOWN);
	html_section_end(h);
	return NULL;
}

/* Functions and system calls that took long: where no vCPU is seen this is what there is. */
struct error *html_calls(struct html *h)
{
	static const char *const heads[] = { "function or call", "timed by", ">calls", ">in all", ">longest", "source" };
	struct error *err = NULL;
	char buf[HUMAN_MAX];
	sqlite3_stmt *st;
	size_t n = 0;

	TRY(case_query(h->ctx->db, &st,
		"SELECT func, origin, SUM(count), SUM(total_ns), MAX(max_ns), source_id FROM (SELECT func, origin, count, total_ns, max_ns, "
		"source_id FROM span_stat WHERE coalesce(parent, '') = '' UNION ALL SELECT name, 'syscall', SUM(count), SUM(total_ns), "
		"MAX(max_ns), source_id FROM syscall_stat GROUP BY name, source_id) WHERE max_ns >= 5000000 "
		"GROUP BY func, origin, source_id ORDER BY MAX(max_ns) DESC, func LIMIT ?", "i", (int64_t)CALLS_SHOWN));
	while (case_step(h->ctx->db, st, &err)) {
		if (!n++) {
			html_section(h, "calls", "Longest calls");
			html_table(h, "Functions and system calls that took 5 ms or more", heads, ARRAY_SIZE(heads));
		}
		html_row(h);
		html_head(h, (const char *)sqlite3_column_text(st, 0));
		html_cell(h, (const char *)sqlite3_column_text(st, 1));
		html_num(h, human_count(buf, sqlite3_column_int64(st, 2)));
		html_num(h, human_ns(buf, sqlite3_column_int64(st, 3)));
		html_num(h, human_ns(buf, sqlite3_column_int64(st, 4)));
		html_cell(h, text_source(&h->text, sqlite3_column_int64(st, 5)));
		html_row_end(h);
	}
	case_done(st);
	if (n) {
		html_table_end(h);
		html_section_end(h);
	}
	return err;
}
