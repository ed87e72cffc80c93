// SPDX-License-Identifier: GPL-2.0-or-later
/* text_stall.c - stalls, their causal chains as trees, and patterns. */
#include "text.h"

#include "escape.h"

#define STALLS_LISTED	30
#define PATTERNS_LISTED	20

/* Is the cause said by one of the links, word for word? */
static bool cause_is_link(struct json_object *stall)
{
	size_t i;

	for (i = 0; i < js_len(stall, "links"); i++)
		if (!strncmp(js_str(js_at(stall, "links", i), "what"), js_str(stall, "cause"),
			     strlen(js_str(stall, "cause"))))
			return true;
	return false;
}

/* Words for the stall's kind, as the JSON contract lists them. */
static const char *kind_words(const char *kind)
{
	static const char *const words[][2] = {
		{ "exit", "held up in the host kernel" },
		{ "vmm", "held up in the VMM" },
		{ "runq", "runnable, but not on a CPU" },
		{ "blocked", "blocked in the host" },
		{ "late-wake", "woken late" },
		{ "retry-loop", "the same fault again and again" },
		{ "exit-storm", "a storm of exits" },
		{ "operation", "a long operation" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], kind))
			return words[i][1];
	return kind;
}

char *text_stall_line(struct text *t, struct json_object *stall)
{
	_cleanup_free_ char *who = NULL, *task = text_task(js_str(stall, "task"), stall, "tid"), *vcpu = NULL;
	char length[HUMAN_MAX], start[HUMAN_MAX];
	const char *what = js_str(stall, "what");
	bool exit = *what && js_has(stall, "vcpu");

	if (js_has(stall, "vcpu")) {
		vcpu = text_vcpu(t, js_int(stall, "vcpu"));
		text_join(&who, "", "%s of VM %" PRId64 " (%s)", vcpu, js_int(stall, "vm"), task);
	} else {
		text_join(&who, "", "%s", task);
	}
	return xasprintf("%s from %s%s%s: %s, %s%s%s%s%s",
			 human_ns(length, js_int(stall, "duration_ns")),
			 human_time(start, js_int(stall, "start_ns")), t->recordings > 1 ? " of " : "",
			 t->recordings > 1 ? text_source(t, js_int(stall, "source")) : "", who,
			 kind_words(js_str(stall, "kind")),
			 exit	 ? " (exit "
			 : *what ? ": "
				 : "",
			 what, exit ? ")" : "",
			 js_int(stall, "partial") ? " (its far part is summed up)" : "");
}

void text_stall(struct text *t, struct json_object *stall, size_t max_links)
{
	_cleanup_free_ char *cites = NULL, *line = text_stall_line(t, stall),
			    *ties = text_ties(t, "stall_id", js_int(stall, "id"));
	_cleanup_free_ char *label = xasprintf("#%" PRId64, js_int(stall, "id"));

	text_item(t, 2, 6, t->bold, label, "%s", line);
	if (*js_str(stall, "cause") && !cause_is_link(stall))
		text_para(t, 6, 8, "Because: %s", js_str(stall, "cause"));
	cites = text_cites(t, js_get(stall, "cites"), 2);
	if (cites)
		text_para(t, 6, 8, "[%s]", cites);
	if (ties)
		text_para(t, 6, 8, "This was %s", ties);
	text_links(t, stall, max_links);
}

struct error *text_patterns(struct text *t, size_t max)
{
	static const struct table_column columns[] = {
		{ "in all", TABLE_RIGHT },	{ "stalls", TABLE_RIGHT },
		{ "longest", TABLE_RIGHT },	{ "e.g.", TABLE_RIGHT | TABLE_OPTIONAL },
		{ "what happened", TABLE_CUT },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	_cleanup_json_ struct json_object *rows = NULL;
	char buf[HUMAN_MAX];
	size_t i, n;

	TRY(model_array(t->ctx, MODEL_PATTERNS, NULL, NULL, &rows));
	n = json_object_array_length(rows);
	if (!n)
		return NULL;
	text_heading(t, "Patterns: stalls alike, by their total time");
	for (i = 0; i < n && (!max || i < max); i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);

		table_cell(table, human_ns(buf, js_int(r, "total_ns")));
		table_cell(table, human_count(buf, js_int(r, "count")));
		table_cell(table, human_ns(buf, js_int(r, "worst_ns")));
		if (js_has(r, "worst_stall"))
			table_cellf(table, "#%" PRId64, js_int(r, "worst_stall"));
		else
			table_cell(table, "");
		table_cell(table, js_str(r, "shape"));
	}
	text_table(t, table, 2);
	if (i < n)
		text_para(t, 2, 2, "and %zu more patterns (`kvmortem stalls -v`)", n - i);
	return NULL;
}

static void put_stall_row(struct text *t, struct table *table, struct json_object *s)
{
	_cleanup_free_ char *task = text_task(js_str(s, "task"), s, "tid");
	char buf[HUMAN_MAX];

	table_cellf(table, "#%" PRId64, js_int(s, "id"));
	table_cell(table, human_ns(buf, js_int(s, "duration_ns")));
	table_cell(table, human_time(buf, js_int(s, "start_ns")));
	if (js_has(s, "vm"))
		table_cellf(table, "%" PRId64, js_int(s, "vm"));
	else
		table_cell(table, "");
	table_cell(table, task);
	table_cell(table, js_str(s, "kind"));
	table_cell(table, js_str(s, "what"));
	table_cell(table, js_str(s, "cause"));
	table_cell(table, t->recordings > 1 ? text_source(t, js_int(s, "source")) : "");
}

struct error *text_stalls(struct text *t)
{
	static const struct table_column columns[] = {
		{ "stall", TABLE_RIGHT },
		{ "length", TABLE_RIGHT },
		{ "from", TABLE_RIGHT },
		{ "VM", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "task", TABLE_CUT },
		{ "kind", TABLE_LEFT },
		{ "what", TABLE_CUT | TABLE_HIDE_EMPTY },
		{ "cause", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
		{ "source", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	_cleanup_json_ struct json_object *stalls = NULL, *totals = NULL;
	char max[16], count[HUMAN_MAX], listed[HUMAN_MAX];
	struct json_object *sum;
	size_t i, n;

	snprintf(max, sizeof(max), "%d", STALLS_LISTED);
	TRY(model_array(t->ctx, MODEL_STALLS, t->verbose ? NULL : max, NULL, &stalls));
	TRY(model_array(t->ctx, MODEL_TOTALS, NULL, NULL, &totals));
	sum = json_object_array_get_idx(totals, 0);
	n = json_object_array_length(stalls);
	if (!n) {
		text_para(
			t, 0, 0,
			"No stalls: whenever a vCPU had something to do it ran, as far as the input shows.");
		return text_not_seen(t);
	}
	for (i = 0; i < n; i++)
		put_stall_row(t, table, json_object_array_get_idx(stalls, i));
	text_table(t, table, 0);
	if (js_int(sum, "stalls") > (int64_t)n)
		text_para(
			t, 0, 0,
			"%s stalls in all, %s of them stored; `kvmortem chain --stall N` shows one in full%s.",
			human_count(count, js_int(sum, "stalls")),
			human_count(listed, js_int(sum, "stalls_listed")),
			js_int(sum, "stalls_listed") > (int64_t)n ? ", -v lists all stored" : "");
	return text_patterns(t, t->verbose ? 0 : PATTERNS_LISTED);
}

static void put_slice(struct text *t, struct json_object *s)
{
	static const char *const keys[][2] = {
		{ "guest_ns", "in the guest" },
		{ "host_ns", "handling exits in the host kernel" },
		{ "vmm_ns", "in the VMM" },
		{ "halted_ns", "halted by the guest" },
		{ "waiting_ns", "waiting for a CPU" },
		{ "blocked_ns", "blocked" },
		{ "unknown_ns", "unknown" },
		{ "lost_ns", "lost with lost events" },
	};
	_cleanup_free_ char *line = NULL, *vcpu = text_vcpu(t, js_int(s, "vcpu"));
	char start[HUMAN_MAX], length[HUMAN_MAX], share[HUMAN_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (js_int(s, keys[i][0]) > 0)
			text_join(
				&line, ", ", "%s %s",
				human_share(share, js_int(s, keys[i][0]), js_int(s, "duration_ns")),
				keys[i][1]);
	if (line)
		text_para(t, 2, 4, "%s of VM %" PRId64 " in the %s from %s: %s", vcpu,
			  js_int(s, "vm"), human_ns(length, js_int(s, "duration_ns")),
			  human_time(start, js_int(s, "start_ns")), line);
}

struct error *text_chain(struct text *t)
{
	_cleanup_json_ struct json_object *stalls = NULL, *slices = NULL;
	size_t i;

	TRY(model_pick_stalls(t->ctx, &stalls, &slices));
	for (i = 0; i < json_object_array_length(stalls); i++)
		text_stall(t, json_object_array_get_idx(stalls, i), 0);
	if (i)
		return NULL;
	if (!slices) {
		text_para(
			t, 0, 0,
			"No stalls: whenever a vCPU had something to do it ran, as far as the input shows.");
		return NULL;
	}
	if (!json_object_array_length(slices)) {
		text_para(t, 0, 0, "No stall at that time, and no vCPU was seen then.");
		return NULL;
	}
	text_para(t, 0, 0, "No stall at that time. What the vCPUs did then:");
	for (i = 0; i < json_object_array_length(slices); i++)
		put_slice(t, json_object_array_get_idx(slices, i));
	return NULL;
}
