// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_case.c - the second part of `analyze`: what the case holds and where the vCPUs' time went,
 * whatever the verdict.
 */
#include "text.h"

#include "escape.h"

#define VCPUS_SHOWN	8
#define STALLS_SHOWN	3
#define LINKS_SHOWN	5
#define PATTERNS_SHOWN	5
#define EXITS_SHOWN	6
#define DELAYS_SHOWN	6
#define LOGS_SHOWN	6
#define GAPS_SHOWN	4
#define CALLS_SHOWN	6

/*
 * The states of a vCPU, in the order of the JSON contract; `idle` ones are not held against
 * anybody.
 */
static const struct {
	const char	*key, *head, *words;
	bool		fine;
} states[] = {
	{ "guest_ns", "guest", "in the guest", true },
	{ "host_ns", "host", "handling exits in the host kernel", false },
	{ "vmm_ns", "VMM", "in the VMM", false },
	{ "halted_ns", "halted", "halted by the guest", true },
	{ "waiting_ns", "waiting", "runnable but waiting for a CPU", false },
	{ "blocked_ns", "blocked", "blocked", false },
	{ "unknown_ns", "unknown", "unknown", true },
	{ "lost_ns", "lost", "lost with lost events", true },
};

struct vcpu_ref {
	struct json_object *vm, *vcpu;
	int64_t		span, held;	/* held: time in states that are not fine */
};

struct vcpu_list {
	struct vcpu_ref	*v;
	size_t		n, cap;
};

static int worst_first(const void *a, const void *b)
{
	const struct vcpu_ref *x = a, *y = b;

	if (x->held != y->held)
		return x->held < y->held ? 1 : -1;
	return js_int(x->vcpu, "id") < js_int(y->vcpu, "id") ? -1 : 1;
}

static void list_vcpus(struct text *t, struct vcpu_list *l)
{
	size_t i, j, k;

	for (i = 0; i < json_object_array_length(t->vms); i++) {
		struct json_object *vm = json_object_array_get_idx(t->vms, i);

		for (j = 0; j < js_len(vm, "vcpus"); j++) {
			struct vcpu_ref r = { .vm = vm, .vcpu = js_at(vm, "vcpus", j) };

			r.span = js_int(r.vcpu, "last_ns") - js_int(r.vcpu, "first_ns");
			for (k = 0; k < ARRAY_SIZE(states); k++)
				if (!states[k].fine)
					r.held += js_int(r.vcpu, states[k].key);
			GROW(l->v, l->cap, l->n + 1);
			l->v[l->n++] = r;
		}
	}
	if (l->n > VCPUS_SHOWN && !t->verbose)
		qsort(l->v, l->n, sizeof(*l->v), worst_first);
}

static void put_vcpu_table(struct text *t, const struct vcpu_list *l)
{
	static const struct table_column columns[] = {
		{ "VM", TABLE_RIGHT | TABLE_HIDE_SAME },
		{ "vCPU", TABLE_RIGHT },
		{ "thread", TABLE_RIGHT | TABLE_OPTIONAL },
		{ "span", TABLE_RIGHT | TABLE_OPTIONAL },
		{ "guest", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "host", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "VMM", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "halted", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "waiting", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "blocked", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "unknown", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "lost", TABLE_RIGHT | TABLE_HIDE_EMPTY },
	};
	size_t shown = t->verbose ? l->n : MIN(l->n, (size_t)VCPUS_SHOWN), i, k;
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	char buf[HUMAN_MAX];

	for (i = 0; i < shown; i++) {
		const struct vcpu_ref *r = &l->v[i];

		table_cellf(table, "%" PRId64, js_int(r->vm, "id"));
		if (js_has(r->vcpu, "vcpu"))
			table_cellf(table, "%" PRId64, js_int(r->vcpu, "vcpu"));
		else
			table_cell(table, "?");
		if (js_has(r->vcpu, "tid"))
			table_cellf(table, "%" PRId64, js_int(r->vcpu, "tid"));
		else
			table_cell(table, "?");
		table_cell(table, human_ns(buf, r->span));
		for (k = 0; k < ARRAY_SIZE(states); k++) {
			int64_t ns = js_int(r->vcpu, states[k].key);

			table_cell(table, ns ? human_percent(buf, ns, r->span) : "");
		}
	}
	text_table(t, table, 2);
	if (shown < l->n)
		text_para(t, 2, 2, "and %zu more vCPUs that were held up less (-v shows all)",
			  l->n - shown);
}

/*
 * Who had the CPU in a vCPU's longest waits: idle (a throttle, then), and the three tasks that had
 * it longest.
 */
static struct error *who_had_the_cpu(struct text *t, int64_t vcpu_id, int64_t whole, char **ret)
{
	struct error *err = NULL;
	char share[HUMAN_MAX];
	sqlite3_stmt *st;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT top_task, top_tid, SUM(top_ns) FROM runq_wait WHERE vcpu_id = ?1 AND top_task IS NOT NULL "
		"GROUP BY top_task, top_tid HAVING SUM(top_ns) * 100 >= ?2 ORDER BY SUM(top_ns) DESC, top_tid LIMIT 3",
		"ii", vcpu_id, whole));
	while (case_step(t->ctx->db, st, &err)) {
		const char *task = (const char *)sqlite3_column_text(st, 0);

		text_join(ret, ", ", "%.*s", (int)display_cut(task, 32), task);
		if (sqlite3_column_type(st, 1) != SQLITE_NULL)
			text_join(ret, "", ":%lld", (long long)sqlite3_column_int64(st, 1));
		text_join(ret, "", " %s", human_share(share, sqlite3_column_int64(st, 2), whole));
	}
	case_done(st);
	return err;
}

static struct error *put_wait(struct text *t, const struct vcpu_ref *r)
{
	_cleanup_free_ char *who = NULL, *name = NULL;
	int64_t id = js_int(r->vcpu, "id"), waits = 0, whole = 0, idle = 0, longest = 0;
	char total[HUMAN_MAX], share[HUMAN_MAX], max[HUMAN_MAX];
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT COUNT(*), SUM(duration_ns), SUM(idle_ns), MAX(duration_ns) FROM runq_wait WHERE vcpu_id = ?",
		"i", id));
	if (case_step(t->ctx->db, st, &err)) {
		waits = sqlite3_column_int64(st, 0);
		whole = sqlite3_column_int64(st, 1);
		idle = sqlite3_column_int64(st, 2);
		longest = sqlite3_column_int64(st, 3);
	}
	case_done(st);
	if (err || !waits || whole <= 0)
		return err;
	if (idle * 100 >= whole)
		text_join(&who, "", "idle %s", human_share(share, idle, whole));
	TRY(who_had_the_cpu(t, id, whole, &who));
	if (!who)
		return NULL;
	name = text_vcpu(t, id);
	text_para(t, 2, 4,
		  "%s of VM %" PRId64 " waited for a CPU %s in its %" PRId64
		  " longest waits (at most %s). Meanwhile its CPU: %s.",
		  name, js_int(r->vm, "id"), human_ns(total, whole), waits, human_ns(max, longest),
		  who);
	return NULL;
}

static struct error *put_waiting_for(struct text *t, const struct vcpu_list *l)
{
	size_t shown = t->verbose ? l->n : MIN(l->n, (size_t)VCPUS_SHOWN), i;

	for (i = 0; i < shown; i++)
		TRY(put_wait(t, &l->v[i]));
	return NULL;
}

static struct error *put_vcpus(struct text *t)
{
	struct vcpu_list l = { 0 };
	struct error *err = NULL;
	size_t i;

	list_vcpus(t, &l);
	if (l.n) {
		text_heading(t, "Where the vCPUs' time went");
		for (i = 0; i < json_object_array_length(t->vms); i++) {
			struct json_object *vm = json_object_array_get_idx(t->vms, i);
			_cleanup_free_ char *name = text_vm(t, js_int(vm, "id"));

			if (i >= VCPUS_SHOWN && !t->verbose)
				break;
			text_para(t, 2, 4, "%s: %zu vCPU%s%s%s", name, js_len(vm, "vcpus"),
				  js_len(vm, "vcpus") == 1 ? "" : "s",
				  t->recordings > 1 ? ", in " : "",
				  t->recordings > 1 ? text_source(t, js_int(vm, "source")) : "");
		}
		put_vcpu_table(t, &l);
		err = put_waiting_for(t, &l);
	}
	free(l.v);
	return err;
}

static struct error *put_stalls(struct text *t)
{
	_cleanup_json_ struct json_object *stalls = NULL, *totals = NULL;
	char max[16], total[HUMAN_MAX], threshold[HUMAN_MAX], named[HUMAN_MAX], count[HUMAN_MAX];
	struct json_object *sum;
	size_t i, n;

	snprintf(max, sizeof(max), "%d", STALLS_SHOWN);
	TRY(model_array(t->ctx, MODEL_STALLS, max, NULL, &stalls));
	TRY(model_array(t->ctx, MODEL_TOTALS, NULL, NULL, &totals));
	sum = json_object_array_get_idx(totals, 0);
	n = json_object_array_length(stalls);
	if (!n)
		return NULL;
	text_heading(t, "Stalls");
	if (js_int(sum, "stalls") > 0 && js_has(sum, "threshold_ns"))
		text_para(
			t, 2, 2,
			"%s stall%s of %s or more, %s in all; the cause of %s of that time is named.%s",
			human_count(count, js_int(sum, "stalls")),
			js_int(sum, "stalls") == 1 ? "" : "s",
			human_ns(threshold, js_int(sum, "threshold_ns")),
			human_ns(total, js_int(sum, "stall_ns")),
			human_share(named, js_int(sum, "named_ns"), js_int(sum, "stall_ns")),
			js_int(sum, "stalls") > (int64_t)n ? " The longest:" : "");
	for (i = 0; i < n; i++)
		text_stall(t, json_object_array_get_idx(stalls, i), t->verbose ? 0 : LINKS_SHOWN);
	TRY(text_episodes(t));
	return text_patterns(t, t->verbose ? 0 : PATTERNS_SHOWN);
}

static struct error *put_delays(struct text *t)
{
	static const struct table_column columns[] = {
		{ "vCPU thread", TABLE_CUT },
		{ "waits", TABLE_RIGHT },
		{ "average", TABLE_RIGHT },
		{ "longest", TABLE_RIGHT },
		{ "which began at", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "source", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	_cleanup_json_ struct json_object *rows = NULL;
	char buf[HUMAN_MAX];
	size_t i, n = 0;

	TRY(model_array(t->ctx, MODEL_LATENCY, NULL, NULL, &rows));
	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *r = json_object_array_get_idx(rows, i);
		_cleanup_free_ char *task = NULL;

		if (!js_int(r, "is_vcpu") || (n++ >= DELAYS_SHOWN && !t->verbose))
			continue;
		task = text_task(js_str(r, "task"), r, "tid");
		table_cell(table, task);
		table_cell(table, human_count(buf, js_int(r, "switches")));
		table_cell(table, js_has(r, "avg_delay_ns")
					  ? human_ns(buf, js_int(r, "avg_delay_ns"))
					  : "");
		table_cell(table, js_has(r, "max_delay_ns")
					  ? human_ns(buf, js_int(r, "max_delay_ns"))
					  : "");
		table_cell(table, js_int(r, "max_delay_start_ns")
					  ? human_time(buf, js_int(r, "max_delay_start_ns"))
					  : "");
		table_cell(table, t->paths > 1 ? text_source(t, js_int(r, "source")) : "");
	}
	if (!n)
		return NULL;
	text_heading(t, "How long vCPUs waited for a CPU");
	text_table(t, table, 2);
	if (n > DELAYS_SHOWN && !t->verbose)
		text_para(t, 2, 2, "and %zu more (`kvmortem latency`)", n - DELAYS_SHOWN);
	return NULL;
}

static struct error *put_exits(struct text *t)
{
	if (case_int(
		    t->ctx->db, 0,
		    "SELECT COUNT(*) FROM exit_stat WHERE event = 'vmexit' AND picked(vm_id, vcpu_id)",
		    "") <= 0)
		return NULL;
	text_heading(t, "Exits, most frequent first");
	return text_exit_table(t, "vmexit", "all", t->verbose ? 0 : EXITS_SHOWN, 2);
}

/* Host, kernel, CPUs: one line for each distinct machine that the sources name. */
static void put_hosts(struct text *t)
{
	_cleanup_free_ char *before = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(t->sources); i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);
		_cleanup_free_ char *line = NULL;

		if (js_has(s, "host"))
			text_join(&line, ", ", "%s", js_str(s, "host"));
		if (js_has(s, "kernel"))
			text_join(&line, ", ", "kernel %s", js_str(s, "kernel"));
		if (js_has(s, "arch"))
			text_join(&line, ", ", "%s", js_str(s, "arch"));
		if (js_int(s, "cpus") > 0)
			text_join(&line, ", ", "%" PRId64 " CPU%s", js_int(s, "cpus"),
				  js_int(s, "cpus") == 1 ? "" : "s");
		if (!line || (before && !strcmp(before, line)))
			continue;
		text_item(t, 2, 10, t->dim, strcmp(js_str(s, "side"), "guest") ? "Host" : "Guest",
			  "%s", line);
		free(before);
		before = xstrdup(line);
	}
}

/* What logs of host and guest say, by kind; the first line of each kind is quoted. */
static struct error *put_logs(struct text *t)
{
	struct error *err = NULL;
	char longest[HUMAN_MAX];
	sqlite3_stmt *st;
	int n = 0;

	TRY(case_query(
		t->ctx->db, &st,
		"WITH k AS (SELECT side, COUNT(*) AS n, MAX(duration_ns) AS longest, MIN(id) AS first FROM log_line "
		"WHERE kind <> 'call_trace' GROUP BY side, kind) "
		"SELECT k.side, k.n, k.longest, l.text, m.path, c.line FROM k JOIN log_line l ON l.id = k.first "
		"LEFT JOIN cite c ON c.id = l.cite_id LEFT JOIN member m ON m.id = c.member_id "
		"ORDER BY l.kind IN ('kvm', 'warning', 'clocksource_unstable'), k.first LIMIT ?",
		"i", (int64_t)(t->verbose ? 1000 : LOGS_SHOWN)));
	while (case_step(t->ctx->db, st, &err)) {
		const char *side = (const char *)sqlite3_column_text(st, 0),
			   *path = (const char *)sqlite3_column_text(st, 4);
		_cleanup_free_ char *line = NULL;

		if (!n++)
			text_heading(t, "What the logs say");
		text_join(&line, "", "%s%s%s", strcmp(side, "unknown") ? side : "",
			  strcmp(side, "unknown") ? ": " : "", sqlite3_column_text(st, 3));
		if (path && sqlite3_column_type(st, 5) != SQLITE_NULL)
			text_join(&line, "", " [%s:%lld]", text_path(t, path),
				  (long long)sqlite3_column_int64(st, 5));
		if (sqlite3_column_int64(st, 1) > 1)
			text_join(&line, "", "; %lld lines of this kind",
				  (long long)sqlite3_column_int64(st, 1));
		if (sqlite3_column_int64(st, 1) > 1 && sqlite3_column_type(st, 2) != SQLITE_NULL)
			text_join(&line, "", ", up to %s",
				  human_ns(longest, sqlite3_column_int64(st, 2)));
		text_para(t, 2, 4, "%s", line);
	}
	case_done(st);
	return err;
}

static struct error *put_gaps(struct text *t)
{
	static const char *const words[][2] = {
		{ "burst", "late replies came together" },
		{ "lost", "replies were lost" },
		{ "slow", "replies were slow" },
	};
	_cleanup_json_ struct json_object *gaps = NULL;
	size_t i, n, k;

	TRY(model_array(t->ctx, MODEL_PING_GAPS, NULL, NULL, &gaps));
	n = json_object_array_length(gaps);
	if (n)
		text_heading(t, "When the guest did not answer");
	for (i = 0; i < n && (t->verbose || i < GAPS_SHOWN); i++) {
		struct json_object *g = json_object_array_get_idx(gaps, i);
		_cleanup_free_ char *cites = text_cites(t, js_get(g, "cites"), 2);
		char length[HUMAN_MAX], start[HUMAN_MAX];

		for (k = 0; k < ARRAY_SIZE(words) && strcmp(words[k][0], js_str(g, "kind")); k++)
			;
		text_para(t, 2, 4, "%s from %s (%s)%s%s%s",
			  human_ns(length, js_int(g, "duration_ns")),
			  human_time(start, js_int(g, "start_ns")),
			  k < ARRAY_SIZE(words) ? words[k][1] : js_str(g, "kind"),
			  cites ? " [" : "", cites ? cites : "", cites ? "]" : "");
	}
	if (i < n)
		text_para(t, 2, 4, "and %zu more (-v shows all)", n - i);
	return NULL;
}

/* Functions and system calls that took long: where no vCPU is seen this is what there is. */
static struct error *put_calls(struct text *t)
{
	static const struct table_column columns[] = {
		{ "function or call", TABLE_CUT },
		{ "timed by", TABLE_LEFT },
		{ "calls", TABLE_RIGHT },
		{ "in all", TABLE_RIGHT },
		{ "longest", TABLE_RIGHT },
		{ "source", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	struct error *err = NULL;
	char buf[HUMAN_MAX];
	sqlite3_stmt *st;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT func, origin, SUM(count), SUM(total_ns), MAX(max_ns), source_id FROM (SELECT func, origin, count, total_ns, max_ns, "
		"source_id FROM span_stat WHERE coalesce(parent, '') = '' UNION ALL SELECT name, 'syscall', SUM(count), SUM(total_ns), "
		"MAX(max_ns), source_id FROM syscall_stat GROUP BY name, source_id) WHERE max_ns >= 5000000 "
		"GROUP BY func, origin, source_id ORDER BY MAX(max_ns) DESC, func LIMIT ?",
		"i", (int64_t)(t->verbose ? 200 : CALLS_SHOWN)));
	while (case_step(t->ctx->db, st, &err)) {
		table_cell(table, (const char *)sqlite3_column_text(st, 0));
		table_cell(table, (const char *)sqlite3_column_text(st, 1));
		table_cell(table, human_count(buf, sqlite3_column_int64(st, 2)));
		table_cell(table, human_ns(buf, sqlite3_column_int64(st, 3)));
		table_cell(table, human_ns(buf, sqlite3_column_int64(st, 4)));
		table_cell(table, t->paths > 1 ? text_source(t, sqlite3_column_int64(st, 5)) : "");
	}
	case_done(st);
	if (err || !table_rows(table))
		return err;
	text_heading(t, "Longest calls");
	text_table(t, table, 2);
	return NULL;
}

struct error *text_case(struct text *t)
{
	text_heading(t, "The case");
	put_hosts(t);
	if (t->prefix && *t->prefix &&
	    case_int(t->ctx->db, 0, "SELECT COUNT(*) FROM member", "") > 1)
		text_item(t, 2, 10, t->dim, "Files", "are named within %s", t->prefix);
	TRY(text_sources(t));
	TRY(put_logs(t));
	TRY(put_gaps(t));
	TRY(put_vcpus(t));
	TRY(put_stalls(t));
	TRY(put_delays(t));
	TRY(put_exits(t));
	TRY(put_calls(t));
	return text_not_seen(t);
}

struct error *text_analyze(struct text *t)
{
	TRY(text_verdicts(t));
	return text_case(t);
}
