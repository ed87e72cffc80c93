// SPDX-License-Identifier: GPL-2.0-or-later
/* text_info.c - what is inside the input: members, sources, events, coverage, losses. */
#include "text.h"

#define TROUBLE_SHOWN	8
#define LOSSES_SHOWN	6
#define MEMBERS_SHOWN	60
#define FACTS_SHOWN	30
#define MESSAGES_SHOWN	20

static void cell_int(struct table *table, struct json_object *o, const char *key)
{
	char buf[HUMAN_MAX];

	table_cell(table, js_has(o, key) ? human_count(buf, js_int(o, key)) : "");
}

static void cell_time(struct table *table, struct json_object *o, const char *key)
{
	char buf[HUMAN_MAX];

	table_cell(table, js_has(o, key) ? human_time(buf, js_int(o, key)) : "");
}

struct error *text_sources(struct text *t)
{
	static const struct table_column columns[] = {
		{ "recording", TABLE_CUT }, { "format", TABLE_OPTIONAL },
		{ "events", TABLE_RIGHT },  { "lost", TABLE_RIGHT | TABLE_HIDE_EMPTY },
		{ "from", TABLE_RIGHT },    { "to", TABLE_RIGHT | TABLE_OPTIONAL },
		{ "length", TABLE_RIGHT },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	size_t n = json_object_array_length(t->sources), i, others = 0;
	char buf[HUMAN_MAX];

	for (i = 0; i < n; i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);

		if (!js_int(s, "events")) {
			others += text_first_of_path(t, i);
			continue;
		}
		table_cell(table, text_path(t, js_str(s, "path")));
		table_cell(table, js_str(s, "format"));
		cell_int(table, s, "events");
		table_cell(table, js_int(s, "lost") > 0 ? human_count(buf, js_int(s, "lost")) : "");
		cell_time(table, s, "first_ns");
		cell_time(table, s, "last_ns");
		table_cell(table,
			   js_has(s, "first_ns")
				   ? human_ns(buf, js_int(s, "last_ns") - js_int(s, "first_ns"))
				   : "");
	}
	if (table_rows(table))
		text_table(t, table, 2);
	if (others)
		text_para(t, 2, 2, "%zu %s%s gave facts, log lines or ready-made tables.", others,
			  table_rows(table) ? "other " : "", others == 1 ? "file" : "files");
	return NULL;
}

struct error *text_members_trouble(struct text *t)
{
	_cleanup_json_ struct json_object *members = NULL;
	size_t i, n = 0;

	TRY(model_array(t->ctx, MODEL_MEMBERS, NULL, NULL, &members));
	for (i = 0; i < json_object_array_length(members); i++) {
		struct json_object *m = json_object_array_get_idx(members, i);
		const char *status = js_str(m, "status"), *message = js_str(m, "message");

		if (strcmp(status, "partly") && strcmp(status, "failed"))
			continue;
		if (n++ >= TROUBLE_SHOWN && !t->verbose)
			continue;
		text_para(t, 2, 4, "%s was %s%s%s", text_path(t, js_str(m, "path")),
			  strcmp(status, "failed") ? "read in part" : "not read",
			  *message ? ": " : "", message);
	}
	if (n > TROUBLE_SHOWN && !t->verbose)
		text_para(t, 2, 4, "and %zu more files (`kvmortem info`)", n - TROUBLE_SHOWN);
	return NULL;
}

static struct error *put_losses(struct text *t, size_t max)
{
	_cleanup_json_ struct json_object *losses = NULL;
	size_t n, i;

	TRY(model_array(t->ctx, MODEL_LOSSES, NULL, NULL, &losses));
	n = json_object_array_length(losses);
	for (i = 0; i < n && (!max || i < max); i++) {
		struct json_object *l = json_object_array_get_idx(losses, i);
		_cleanup_free_ char *line = xstrdup(js_str(l, "what")),
				    *cites = text_cites(t, js_get(l, "cites"), 1);
		char buf[HUMAN_MAX];

		if (js_has(l, "events"))
			text_join(&line, ", ", "%s event%s", human_count(buf, js_int(l, "events")),
				  js_int(l, "events") == 1 ? "" : "s");
		if (js_has(l, "cpu"))
			text_join(&line, ", ", "CPU %" PRId64, js_int(l, "cpu"));
		if (js_has(l, "time_ns"))
			text_join(&line, ", ", "at %s", human_time(buf, js_int(l, "time_ns")));
		if (cites)
			text_join(&line, " ", "[%s]", cites);
		else if (*text_source(t, js_int(l, "source")))
			text_join(&line, " ", "(%s)", text_source(t, js_int(l, "source")));
		text_para(t, 2, 4, "Lost: %s", line);
	}
	if (i < n)
		text_para(t, 2, 4, "and %zu more losses (`kvmortem info -v`)", n - i);
	return NULL;
}

/* Events whose counts are no counts: one line for each way in which they are not whole. */
static struct error *put_incomplete(struct text *t)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT CASE complete WHEN 'sampled' THEN 'Only sampled (their numbers are no counts)' "
		"WHEN 'filtered' THEN 'Only filtered' WHEN 'lossy' THEN 'With losses' ELSE complete END, COUNT(*), "
		"(SELECT group_concat(event, ', ') FROM (SELECT event FROM coverage c WHERE c.source_id = k.source_id AND "
		"c.complete = k.complete AND NOT (complete = 'sampled' AND instr(event, ':') = 0) ORDER BY event LIMIT 6)), source_id "
		"FROM coverage k WHERE complete <> 'all' AND NOT (complete = 'sampled' AND instr(event, ':') = 0) "
		"GROUP BY source_id, complete ORDER BY source_id, complete",
		""));
	while (case_step(t->ctx->db, st, &err)) {
		const char *source = text_source(t, sqlite3_column_int64(st, 3));
		int64_t n = sqlite3_column_int64(st, 1);
		_cleanup_free_ char *more =
			n > 6 ? xasprintf(" and %" PRId64 " more", n - 6) : xstrdup("");

		text_para(t, 2, 4, "%s: %s%s%s%s%s", sqlite3_column_text(st, 0),
			  sqlite3_column_text(st, 2), more, t->recordings > 1 ? " (" : "",
			  t->recordings > 1 ? source : "", t->recordings > 1 ? ")" : "");
	}
	case_done(st);
	return err;
}

/*
 * What an analysis of vCPUs needs and a recording did not carry. Only said of recordings with kvm
 * or sched events.
 */
static struct error *put_blind_spots(struct text *t)
{
	static const struct {
		const char *pattern, *or_pattern, *events, *consequence;
	} spots[] = {
		{ "%kvm_entry", "%kvm_exit", "kvm_entry and kvm_exit", "time in guests and exits" },
		{ "%sched_switch", "%sched_switch", "sched_switch",
		  "waiting for a CPU and being blocked" },
		{ "%sched_wak%", "%sched_wak%", "sched_waking or sched_wakeup", "who woke whom" },
	};
	size_t i, k;

	for (i = 0; i < json_object_array_length(t->sources); i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);

		if (case_int(
			    t->ctx->db, 0,
			    "SELECT COUNT(*) FROM event_count WHERE source_id = ? AND count > 0 AND "
			    "(event LIKE '%kvm_e%' OR event LIKE '%sched_%')",
			    "i", js_int(s, "id")) <= 0)
			continue;
		for (k = 0; k < ARRAY_SIZE(spots); k++)
			if (!case_int(
				    t->ctx->db, 0,
				    "SELECT COUNT(*) FROM coverage WHERE source_id = ?1 AND known <> 'unknown' AND "
				    "(event LIKE ?2 OR event LIKE ?3)",
				    "iss", js_int(s, "id"), spots[k].pattern, spots[k].or_pattern))
				text_para(t, 2, 4, "No %s events%s%s: %s could not be seen.",
					  spots[k].events, t->recordings > 1 ? " in " : "",
					  t->recordings > 1 ? text_path(t, js_str(s, "path")) : "",
					  spots[k].consequence);
		if (js_int(s, "interrupted"))
			text_para(
				t, 2, 4,
				"Reading %s was interrupted: what follows its last event was not looked at.",
				text_path(t, js_str(s, "path")));
	}
	return NULL;
}

/* Where the TSC was unstable, times of two CPUs are only as good as the scheduler's tick. */
static struct error *put_tsc(struct text *t)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(t->ctx->db, &st,
		       "SELECT m.path, c.line FROM fact f JOIN cite c ON c.id = f.cite_id JOIN member m ON m.id = c.member_id "
		       "WHERE f.key = 'clocksource.unstable' AND f.value = 'tsc' AND f.side <> 'guest' AND EXISTS (SELECT 1 FROM recording) "
		       "ORDER BY f.id LIMIT 1", ""));
	if (case_step(t->ctx->db, st, &err))
		text_para(t, 2, 4, "The TSC was unstable [%s:%lld]: that one event came before another on a different CPU is no evidence where "
			  "less than a tick (1 to 10 ms) lies between them.", text_path(t, (const char *)sqlite3_column_text(st, 0)),
			  (long long)sqlite3_column_int64(st, 1));
	case_done(st);
	return err;
}

struct error *text_not_seen(struct text *t)
{
	FILE *real = t->out;
	_cleanup_free_ char *lines = NULL;
	struct error *err;
	size_t size = 0;

	t->out = open_memstream(&lines, &size);
	if (!t->out) {
		t->out = real;
		return error_io("report");
	}
	err = text_members_trouble(t);
	if (!err)
		err = put_losses(t, t->verbose ? 0 : LOSSES_SHOWN);
	if (!err)
		err = put_incomplete(t);
	if (!err)
		err = put_blind_spots(t);
	if (!err)
		err = put_tsc(t);
	fclose(t->out);
	t->out = real;
	if (!err && size) {
		text_heading(t, "What could not be seen");
		fwrite(lines, 1, size, t->out);
	}
	return err;
}

static struct error *put_members(struct text *t)
{
	static const struct table_column columns[] = {
		{ "member", TABLE_CUT },
		{ "format", TABLE_LEFT },
		{ "size", TABLE_RIGHT },
		{ "status", TABLE_LEFT },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	_cleanup_json_ struct json_object *members = NULL;
	char buf[HUMAN_MAX];
	size_t i, n, said;

	TRY(model_array(t->ctx, MODEL_MEMBERS, NULL, NULL, &members));
	n = json_object_array_length(members);
	for (i = 0; i < n && (t->verbose || i < MEMBERS_SHOWN); i++) {
		struct json_object *m = json_object_array_get_idx(members, i);

		table_cell(table, text_path(t, js_str(m, "path")));
		table_cell(table, js_str(m, "format"));
		table_cell(table, js_has(m, "bytes") ? human_bytes(buf, js_int(m, "bytes")) : "");
		table_cell(table, js_str(m, "status"));
	}
	text_heading(t, "Members");
	if (t->prefix && *t->prefix && n > 1)
		text_para(t, 2, 4, "Files are named within %s", t->prefix);
	text_table(t, table, 2);
	if (i < n)
		text_para(t, 2, 2, "and %zu more (-v shows all)", n - i);
	for (i = 0, said = 0; i < n; i++) {
		struct json_object *m = json_object_array_get_idx(members, i);

		if (!*js_str(m, "message") || (said++ >= MESSAGES_SHOWN && !t->verbose))
			continue;
		text_para(t, 2, 4, "%s: %s", text_path(t, js_str(m, "path")), js_str(m, "message"));
	}
	if (said > MESSAGES_SHOWN && !t->verbose)
		text_para(t, 2, 2, "and %zu more messages (-v shows all)", said - MESSAGES_SHOWN);
	return NULL;
}

static struct error *put_event_counts(struct text *t, int64_t source)
{
	static const struct table_column columns[] = {
		{ "event", TABLE_CUT },
		{ "count", TABLE_RIGHT },
		{ "recorded", TABLE_LEFT },
		{ "scope", TABLE_OPTIONAL },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	struct error *err = NULL;
	char buf[HUMAN_MAX];
	sqlite3_stmt *st;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT e.event, SUM(e.count), c.complete, c.scope FROM event_count e LEFT JOIN coverage c "
		"ON c.source_id = e.source_id AND c.event = e.event WHERE e.source_id = ? GROUP BY e.event ORDER BY SUM(e.count) DESC, e.event",
		"i", source));
	while (case_step(t->ctx->db, st, &err)) {
		table_cell(table, (const char *)sqlite3_column_text(st, 0));
		table_cell(table, human_count(buf, sqlite3_column_int64(st, 1)));
		table_cell(table, (const char *)sqlite3_column_text(st, 2));
		table_cell(table, (const char *)sqlite3_column_text(st, 3));
	}
	case_done(st);
	if (!err && table_rows(table))
		text_table(t, table, 4);
	return err;
}

static struct error *put_source(struct text *t, struct json_object *s)
{
	char from[HUMAN_MAX], to[HUMAN_MAX], length[HUMAN_MAX], count[HUMAN_MAX], lost[HUMAN_MAX];
	_cleanup_free_ char *line = NULL;

	text_item(t, 2, 4, t->bold, text_path(t, js_str(s, "path")), "(%s, %s side)",
		  js_str(s, "format"), js_str(s, "side"));
	if (js_has(s, "kernel"))
		text_join(&line, ", ", "kernel %s", js_str(s, "kernel"));
	if (js_has(s, "arch"))
		text_join(&line, ", ", "%s", js_str(s, "arch"));
	if (js_has(s, "host"))
		text_join(&line, ", ", "host %s", js_str(s, "host"));
	if (js_int(s, "cpus") > 0)
		text_join(&line, ", ", "%" PRId64 " CPUs", js_int(s, "cpus"));
	if (line)
		text_para(t, 4, 6, "%s", line);
	if (js_has(s, "command"))
		text_para(t, 4, 6, "recorded by: %s", js_str(s, "command"));
	if (js_int(s, "events") > 0)
		text_para(t, 4, 6, "%s events from %s to %s (%s), clock: %s%s%s",
			  human_count(count, js_int(s, "events")),
			  human_time(from, js_int(s, "first_ns")),
			  human_time(to, js_int(s, "last_ns")),
			  human_ns(length, js_int(s, "last_ns") - js_int(s, "first_ns")),
			  *js_str(s, "clock") ? js_str(s, "clock") : "unknown",
			  js_int(s, "lost") > 0 ? ", lost: " : "",
			  js_int(s, "lost") > 0 ? human_count(lost, js_int(s, "lost")) : "");
	return put_event_counts(t, js_int(s, "id"));
}

static struct error *put_facts(struct text *t)
{
	static const struct table_column columns[] = {
		{ "fact", TABLE_CUT },
		{ "value", TABLE_CUT },
		{ "side", TABLE_LEFT },
		{ "snapshot", TABLE_LEFT | TABLE_HIDE_EMPTY },
		{ "from", TABLE_CUT | TABLE_OPTIONAL | TABLE_HIDE_EMPTY },
	};
	_cleanup_table_ struct table *table = table_create(columns, ARRAY_SIZE(columns));
	int64_t members = case_int(t->ctx->db, 0, "SELECT COUNT(*) FROM member", "");
	_cleanup_json_ struct json_object *facts = NULL;
	size_t i, n;

	TRY(model_array(t->ctx, MODEL_FACTS, NULL, NULL, &facts));
	n = json_object_array_length(facts);
	for (i = 0; i < n && (t->verbose || i < FACTS_SHOWN); i++) {
		struct json_object *f = json_object_array_get_idx(facts, i);

		table_cell(table, js_str(f, "key"));
		table_cell(table, js_str(f, "value"));
		table_cell(table, js_str(f, "side"));
		table_cell(table, js_str(f, "snapshot"));
		table_cell(table, members > 1 ? text_source(t, js_int(f, "source")) : "");
	}
	if (!n)
		return NULL;
	text_heading(t, "Facts");
	text_table(t, table, 2);
	if (i < n)
		text_para(t, 2, 2, "and %zu more (-v shows all)", n - i);
	return NULL;
}

struct error *text_info(struct text *t)
{
	size_t i, n = json_object_array_length(t->sources);

	TRY(put_members(t));
	TRY(text_spans(t));
	TRY(text_questions(t));
	if (t->recordings || (n && t->verbose))
		text_heading(t, "Sources");
	for (i = 0; i < n; i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);

		/* what gave only a fact or two is in the list of members already */
		if (js_int(s, "events") || t->verbose)
			TRY(put_source(t, s));
	}
	TRY(put_facts(t));
	return text_not_seen(t);
}
