// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_tables.c - the views that are one table: exits, latency, query. Columns as the reference
 * tools name them.
 */
#include "text.h"

#include "query.h"

#define LATENCY_SHOWN	40

static const char *event_words(const char *event)
{
	static const char *const words[][2] = {
		{ "vmexit", "VM-EXIT" },
		{ "mmio", "MMIO Access" },
		{ "ioport", "IO Port Access" },
		{ "msr", "MSR Access" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], event))
			return words[i][1];
	return event;
}

/* Rows of one table have the same source, VM and vCPU. */
static bool same_group(struct json_object *a, struct json_object *b)
{
	return js_int(a, "source") == js_int(b, "source") && js_int(a, "vm") == js_int(b, "vm") &&
	       js_int(a, "vcpu") == js_int(b, "vcpu") &&
	       js_int(a, "vcpu_number") == js_int(b, "vcpu_number");
}

static void put_exit_group(struct text *t, struct json_object *rows, size_t from, size_t to,
			   const char *event, size_t max, int indent)
{
	const struct table_column columns[] = {
		{ event_words(event), TABLE_RIGHT | TABLE_CUT },
		{ "Samples", TABLE_RIGHT },
		{ "Samples%", TABLE_RIGHT },
		{ "Time%", TABLE_RIGHT },
		{ "Min Time", TABLE_RIGHT | TABLE_OPTIONAL },
		{ "Max Time", TABLE_RIGHT },
		{ "Avg time", TABLE_RIGHT },
		{ "+-", TABLE_RIGHT | TABLE_OPTIONAL },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	int64_t count = 0, total = 0;
	char buf[HUMAN_MAX], time[HUMAN_MAX];
	size_t i;

	for (i = from; i < to; i++) {
		count += js_int(json_object_array_get_idx(rows, i), "count");
		total += js_int(json_object_array_get_idx(rows, i), "total_ns");
	}
	for (i = from; i < to && (!max || i - from < max); i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);
		struct json_object *dev = js_get(r, "rel_stddev_pct");

		table_cell(table, js_str(r, "reason"));
		table_cellf(table, "%" PRId64, js_int(r, "count"));
		table_cellf(table, "%.2f%%",
			    count ? 100.0 * (double)js_int(r, "count") / (double)count : 0.0);
		table_cellf(table, "%.2f%%",
			    total ? 100.0 * (double)js_int(r, "total_ns") / (double)total : 0.0);
		table_cellf(table, "%.2fus", (double)js_int(r, "min_ns") / 1000.0);
		table_cellf(table, "%.2fus", (double)js_int(r, "max_ns") / 1000.0);
		table_cellf(table, "%.2fus", json_object_get_double(js_get(r, "mean")) / 1000.0);
		if (dev)
			table_cellf(table, "%.2f%%", json_object_get_double(dev));
		else
			table_cell(table, "");
	}
	text_table(t, table, indent);
	if (i < to)
		text_para(t, indent, indent, "and %zu more reasons (`kvmortem exits`)", to - i);
	text_para(t, indent, indent, "Total Samples:%s, Total events handled time:%s.",
		  human_count(buf, count), human_ns(time, total));
}

struct error *text_exit_table(struct text *t, const char *event, const char *by, size_t max,
			      int indent)
{
	_cleanup_json_ struct json_object *rows = NULL;
	size_t n, i, end, sources = 0;

	TRY(model_array(t->ctx, MODEL_EXITS, event, by, &rows));
	n = json_object_array_length(rows);
	for (i = 0; i < n; i++)
		sources += !i || js_int(json_object_array_get_idx(rows, i), "source") !=
					 js_int(json_object_array_get_idx(rows, i - 1), "source");
	for (i = 0; i < n; i = end) {
		struct json_object *r = json_object_array_get_idx(rows, i);
		_cleanup_free_ char *head = NULL, *vcpu = NULL, *vm = NULL;

		for (end = i + 1; end < n && same_group(r, json_object_array_get_idx(rows, end));
		     end++)
			;
		if (js_has(r, "vm")) {
			vm = text_vm(t, js_int(r, "vm"));
			text_join(&head, ", ", "%s", vm);
		}
		if (js_has(r, "vcpu")) {
			vcpu = text_vcpu(t, js_int(r, "vcpu"));
			text_join(&head, ", ", "%s", vcpu);
		}
		else if (js_has(r, "vcpu_number"))	/* a ready table knows no thread */
			text_join(&head, ", ", "vCPU %" PRId64, js_int(r, "vcpu_number"));
		if (t->recordings > 1 || sources > 1)
			text_join(&head, ", ", "%s", text_source(t, js_int(r, "source")));
		if (head)
			text_para(t, indent, indent, "%s", head);
		put_exit_group(t, rows, i, end, event, max, indent);
		if (end < n)
			fputc('\n', t->out);
	}
	return NULL;
}

struct error *text_exits(struct text *t)
{
	const char *event = t->ctx->opt->exits_event ? t->ctx->opt->exits_event : "vmexit";
	const char *by = t->ctx->opt->exits_by ? t->ctx->opt->exits_by : "all";

	if (case_int(t->ctx->db, 0,
		     "SELECT COUNT(*) FROM exit_stat WHERE event = ? AND picked(vm_id, vcpu_id)",
		     "s", event) <= 0) {
		text_para(t, 0, 0, "No %s events in the input%s.", event,
			  t->ctx->opt->vm || t->ctx->opt->vcpu ? " for what was asked" : "");
		return NULL;
	}
	return text_exit_table(t, event, by, 0, 0);
}

/* Seconds with microseconds, the rest cut off as perf does (timestamp__scnprintf_usec()) */
static void cell_seconds(struct table *table, struct json_object *r, const char *key)
{
	int64_t us = js_int(r, key) / 1000;

	if (us)
		table_cellf(table, "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
	else
		table_cell(table, "");
}

static void put_latency_row(struct text *t, struct table *table, struct json_object *r)
{
	_cleanup_free_ char *task = text_task(js_str(r, "task"), r, "tid");

	table_cell(table, task);
	table_cellf(table, "%.3f", (double)js_int(r, "runtime_ns") / 1e6);
	if (js_has(r, "oncpu_ns"))
		table_cellf(table, "%.3f", (double)js_int(r, "oncpu_ns") / 1e6);
	else
		table_cell(table, "");
	table_cellf(table, "%" PRId64, js_int(r, "switches"));
	table_cellf(table, "%.3f", (double)js_int(r, "avg_delay_ns") / 1e6);
	table_cellf(table, "%.3f", (double)js_int(r, "max_delay_ns") / 1e6);
	cell_seconds(table, r, "max_delay_start_ns");
	cell_seconds(table, r, "max_delay_end_ns");
	table_cell(table, t->paths > 1 ? text_source(t, js_int(r, "source")) : "");
}

struct error *text_latency(struct text *t)
{
	static const struct table_column columns[] = {
		{ "Task", TABLE_CUT },
		{ "Runtime ms", TABLE_RIGHT },
		{ "On CPU ms", TABLE_RIGHT | TABLE_HIDE_EMPTY | TABLE_OPTIONAL },
		{ "Count", TABLE_RIGHT },
		{ "Avg delay ms", TABLE_RIGHT },
		{ "Max delay ms", TABLE_RIGHT },
		{ "Max start s", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "Max end s", TABLE_RIGHT | TABLE_HIDE_EMPTY | TABLE_OPTIONAL },
		{ "Source", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	_cleanup_json_ struct json_object *rows = NULL;
	size_t i, n;

	TRY(model_array(t->ctx, MODEL_LATENCY, NULL, NULL, &rows));
	n = json_object_array_length(rows);
	if (!n) {
		text_para(
			t, 0, 0,
			"No run-queue waits in the input (they need sched_switch and sched_waking or sched_wakeup).");
		return NULL;
	}
	for (i = 0; i < n && (t->verbose || i < LATENCY_SHOWN); i++)
		put_latency_row(t, table, json_object_array_get_idx(rows, i));
	text_table(t, table, 0);
	if (i < n)
		text_para(t, 0, 0, "and %zu more tasks (-v shows all)", n - i);
	return NULL;
}

static void put_value(struct table *table, struct json_object *v)
{
	table_cell(table, v ? json_object_get_string(v) : "");
}

struct error *text_query(struct text *t)
{
	sqlite3_stmt *st = t->ctx->view_arg;
	_cleanup_json_ struct json_object *names = query_columns(st);
	size_t n = json_object_array_length(names), c;
	_cleanup_free_ struct table_column *columns = xcalloc(n ? n : 1, sizeof(*columns));
	struct table *table;
	struct error *err = NULL;
	bool first = true;

	for (c = 0; c < n; c++)
		columns[c].head = json_object_get_string(json_object_array_get_idx(names, c));
	table = table_create(columns, n);
	while (query_step(t->ctx->db, st, &err)) {
		for (c = 0; c < n; c++) {
			struct json_object *v = query_value(st, (int)c);

			/* numbers to the right, by the first row */
			if (first && v && !json_object_is_type(v, json_type_string))
				columns[c].flags |= TABLE_RIGHT;
			put_value(table, v);
			json_object_put(v);
		}
		first = false;
	}
	if (!err)
		table_print(table, t->out, 0, INT32_MAX, t->dim, t->off);
	table_free(table);
	return err;
}
