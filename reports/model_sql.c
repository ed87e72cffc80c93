// SPDX-License-Identifier: GPL-2.0-or-later
/* model_sql.c - what each section of the model is in SQL; model.c says what column names mean. */
#include "model_sql.h"

#include "model.h"

static const struct model_part evidence_rows[] = {
	{ "rows",
	  "SELECT e.id AS _id, e.says AS says, e.cites AS \"cites:cites\", e.source_id AS source, e.vm_id AS vm, "
	  "e.from_ns AS from_ns, e.to_ns AS to_ns "
	  "FROM evidence k JOIN evidence e ON e.verdict_id = k.verdict_id AND e.item = k.item AND e.role = k.role "
	  "WHERE k.id = ?1 AND e.says IS NOT NULL ORDER BY e.id", NULL },
	{ NULL, NULL, NULL },
};

static const struct model_part verdict_children[] = {
	{ "evidence",
	  "SELECT MIN(id) AS _id, item AS id, role AS role, strength AS strength, outcome AS outcome "
	  "FROM evidence WHERE verdict_id = ?1 GROUP BY item, role, strength, outcome ORDER BY MIN(id)", evidence_rows },
	{ NULL, NULL, NULL },
};

static const struct model_part vm_children[] = {
	{ "vcpus",
	  "SELECT id AS id, vcpu AS vcpu, tid AS tid, comm AS comm, first_ns AS first_ns, last_ns AS last_ns, guest_ns AS guest_ns, "
	  "host_ns AS host_ns, vmm_ns AS vmm_ns, halted_ns AS halted_ns, waiting_ns AS waiting_ns, blocked_ns AS blocked_ns, "
	  "unknown_ns AS unknown_ns, lost_ns AS lost_ns "
	  "FROM vcpu WHERE vm_id = ?1 AND picked(vm_id, id) ORDER BY vcpu IS NULL, vcpu, tid, id", NULL },
	{ NULL, NULL, NULL },
};

/* Depth first, siblings by time: the sort key of a link is its ancestors' keys and its own. */
static const struct model_part stall_children[] = {
	{ "links",
	  "WITH RECURSIVE tree(id, path) AS ("
	  "  SELECT id, printf('%020d.%08d', start_ns, seq) FROM chain_link WHERE stall_id = ?1 AND parent_id IS NULL "
	  "  UNION ALL "
	  "  SELECT l.id, tree.path || '/' || printf('%020d.%08d', l.start_ns, l.seq) FROM chain_link l JOIN tree ON l.parent_id = tree.id "
	  "  WHERE l.stall_id = ?1 AND length(tree.path) < 4000) "
	  "SELECT l.id AS id, l.parent_id AS parent, l.depth AS depth, l.kind AS kind, l.start_ns AS start_ns, "
	  "l.duration_ns AS duration_ns, l.task AS task, l.tid AS tid, l.cpu AS cpu, l.what AS what, l.inferred AS \"bool:inferred\", "
	  "l.cites AS \"cites:cites\" "
	  "FROM tree JOIN chain_link l ON l.id = tree.id ORDER BY tree.path", NULL },
	{ NULL, NULL, NULL },
};

#define STALL_COLUMNS \
	"s.id AS id, s.source_id AS source, s.subject AS subject, s.vm_id AS vm, s.vcpu_id AS vcpu, s.task AS task, s.tid AS tid, " \
	"s.kind AS kind, s.start_ns AS start_ns, s.duration_ns AS duration_ns, s.pattern_id AS pattern, s.partial AS \"bool:partial\", " \
	"s.cause AS cause, s.what AS what, s.named_ns AS named_ns, s.episode_id AS episode, s.cites AS \"cites:cites\" "

#define SOURCE_COLUMNS \
	"s.id AS id, s.path AS path, s.format AS format, s.kernel AS kernel, s.arch AS arch, s.host AS host, s.cpus AS cpus, s.clock AS clock, " \
	"s.clock_offset_ns AS clock_offset_ns, s.clock_uncertainty_ns AS clock_uncertainty_ns, s.side AS side, s.first_ns AS first_ns, " \
	"s.last_ns AS last_ns, s.events AS events, s.lost AS lost, r.command AS command, r.time_resolution_ns AS time_resolution_ns, " \
	"r.unordered AS unordered, r.interrupted AS \"bool:interrupted\", r.source_id IS NOT NULL AS \"bool:recording\", " \
	"a.axis AS axis, a.clock AS axis_clock, a.offset_ns AS axis_offset_ns, a.uncertainty_ns AS axis_uncertainty_ns, a.why AS axis_why, " \
	"a.boot AS boot "

const struct model_part model_sections[MODEL_N] = {
	[MODEL_MEMBERS] = { "members",
		"SELECT path AS path, format AS format, bytes AS bytes, status AS status, message AS message FROM member ORDER BY id", NULL },
	[MODEL_SOURCES] = { "sources",
		"SELECT " SOURCE_COLUMNS "FROM source s LEFT JOIN recording r ON r.source_id = s.id LEFT JOIN axis a ON a.source_id = s.id ORDER BY s.id", NULL },
	[MODEL_SOURCES_COUNTED] = { "sources",
		"SELECT " SOURCE_COLUMNS ", (SELECT json_group_object(event, count) FROM (SELECT event, SUM(count) AS count "
		"FROM event_count e WHERE e.source_id = s.id GROUP BY event ORDER BY event)) AS \"json:event_counts\" "
		"FROM source s LEFT JOIN recording r ON r.source_id = s.id LEFT JOIN axis a ON a.source_id = s.id ORDER BY s.id", NULL },
	[MODEL_COVERAGE] = { "coverage",
		"SELECT source_id AS source, event AS event, known AS known, complete AS complete, scope AS scope, from_ns AS from_ns, "
		"to_ns AS to_ns FROM coverage ORDER BY source_id, event", NULL },
	[MODEL_VERDICTS] = { "verdicts",
		"SELECT id AS _id, signature AS id, title AS title, verdict AS verdict, source_id AS \"subject.source\", vm_id AS \"subject.vm\", "
		"vcpus AS \"json:subject.vcpus\", from_ns AS \"subject.from_ns\", to_ns AS \"subject.to_ns\", score AS score, because AS because, "
		"fixed_by AS \"json:fixed_by\", introduced_by AS \"json:introduced_by\", missing AS \"json:missing\", record_next AS \"json:record_next\", workaround AS workaround, "
		"mechanism AS mechanism, contradiction AS contradiction, lookalikes AS \"json:lookalikes\" FROM verdict WHERE vm_id IS NULL OR picked_vm(vm_id) "
		"ORDER BY CASE verdict WHEN 'match' THEN 0 WHEN 'likely' THEN 1 WHEN 'possible' THEN 2 WHEN 'cannot-tell' THEN 3 ELSE 4 END, id",
		verdict_children },
	[MODEL_VMS] = { "vms",
		"SELECT id AS _id, id AS id, source_id AS source, tgid AS tgid, name AS name FROM vm WHERE picked_vm(id) ORDER BY id",
		vm_children },
	[MODEL_STALLS] = { "stalls",
		"SELECT s.id AS _id, " STALL_COLUMNS "FROM stall s WHERE picked(s.vm_id, s.vcpu_id) ORDER BY s.duration_ns DESC, s.id "
		"LIMIT coalesce(CAST(?1 AS INTEGER), -1)", stall_children },
	[MODEL_STALL] = { "stalls",
		"SELECT s.id AS _id, " STALL_COLUMNS "FROM stall s WHERE s.id = CAST(?1 AS INTEGER)", stall_children },
	[MODEL_PATTERNS] = { "patterns",
		"SELECT p.id AS id, p.shape AS shape, p.count AS count, p.total_ns AS total_ns, p.worst_ns AS worst_ns, "
		"p.worst_stall_id AS worst_stall, p.source_id AS source FROM pattern p WHERE picked(NULL, NULL) OR EXISTS (SELECT 1 FROM stall s "
		"WHERE s.pattern_id = p.id AND picked(s.vm_id, s.vcpu_id)) ORDER BY p.total_ns DESC, p.id", NULL },
	[MODEL_TOTALS] = { "totals",
		"SELECT coalesce(SUM(stalls), 0) AS stalls, (SELECT COUNT(*) FROM stall) AS stalls_listed, coalesce(SUM(stall_ns), 0) AS stall_ns, "
		"coalesce(SUM(named_ns), 0) AS named_ns, coalesce(SUM(state_known_ns), 0) AS state_known_ns, MIN(threshold_ns) AS threshold_ns "
		"FROM stall_total", NULL },
	[MODEL_LOSSES] = { "losses",
		"SELECT source_id AS source, cpu AS cpu, time_ns AS time_ns, events AS events, what AS what, cite_id AS \"cites:cites\" "
		"FROM loss ORDER BY id", NULL },
	[MODEL_FACTS] = { "facts",
		"SELECT source_id AS source, side AS side, key AS key, value AS value, snapshot AS snapshot, cite_id AS \"cites:cites\" "
		"FROM fact ORDER BY id", NULL },
	[MODEL_LOG_LINES] = { "log_lines",
		"SELECT source_id AS source, side AS side, time_ns AS time_ns, kind AS kind, cpu AS cpu, task AS task, tid AS tid, "
		"duration_ns AS duration_ns, text AS text, cite_id AS \"cites:cites\" FROM log_line ORDER BY id", NULL },
	[MODEL_EPISODES] = { "episodes",
		"SELECT id AS id, source_id AS source, vm_id AS vm, start_ns AS start_ns, end_ns AS end_ns, stalls AS stalls, vcpus AS vcpus "
		"FROM episode WHERE picked_vm(vm_id) ORDER BY id", NULL },
	[MODEL_RUNQ_WAITS] = { "runq_waits",
		"SELECT source_id AS source, vm_id AS vm, vcpu_id AS vcpu, task AS task, tid AS tid, cpu AS cpu, start_ns AS start_ns, "
		"duration_ns AS duration_ns, began AS began, idle_ns AS idle_ns, sibling_ns AS sibling_ns, other_ns AS other_ns, "
		"unknown_ns AS unknown_ns, top_task AS top_task, top_tid AS top_tid, top_ns AS top_ns, sibling_task AS sibling_task, "
		"sibling_tid AS sibling_tid, refills AS refills, weight_jump AS \"bool:weight_jump\", unfinished AS \"bool:unfinished\", cites AS \"cites:cites\" "
		"FROM runq_wait WHERE picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id", NULL },
	[MODEL_THROTTLES] = { "throttles",
		"SELECT source_id AS source, vm_id AS vm, cgroup AS cgroup, origin AS origin, inferred AS \"bool:inferred\", from_ns AS from_ns, "
		"to_ns AS to_ns, count AS count, period_ns AS period_ns, throttled_ns AS throttled_ns, cites AS \"cites:cites\" "
		"FROM throttle WHERE vm_id IS NULL OR picked_vm(vm_id) ORDER BY id", NULL },
	[MODEL_ROOTS] = { "roots",
		"SELECT source_id AS source, vm_id AS vm, vcpu_id AS vcpu, tid AS tid, from_ns AS from_ns, to_ns AS to_ns, loads AS loads, "
		"unique_roots AS unique_roots, last_but_one AS last_but_one, top1 AS top1, top2 AS top2, smm_transitions AS smm_transitions, "
		"cr0_writes AS cr0_writes, cr0_wp_toggles AS cr0_wp_toggles, exit_to_load_ns AS exit_to_load_ns, "
		"load_to_entry_ns AS load_to_entry_ns, after_reasons AS \"json:after_reasons\", cites AS \"cites:cites\" "
		"FROM root_stat WHERE picked(vm_id, vcpu_id) ORDER BY loads DESC, vcpu_id, rowid", NULL },
	[MODEL_RETRY_LOOPS] = { "retry_loops",
		"SELECT source_id AS source, vm_id AS vm, vcpu_id AS vcpu, tid AS tid, reason AS reason, rip AS rip, gpa AS gpa, count AS count, "
		"start_ns AS start_ns, duration_ns AS duration_ns, invalidations AS invalidations, cite_id AS \"cites:cites\" "
		"FROM retry_loop WHERE picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id", NULL },
	[MODEL_PING_GAPS] = { "ping_gaps",
		"SELECT source_id AS source, kind AS kind, start_ns AS start_ns, end_ns AS end_ns, duration_ns AS duration_ns, replies AS replies, "
		"lost AS lost, max_rtt_ns AS max_rtt_ns, cites AS \"cites:cites\" FROM ping_gap ORDER BY start_ns, id", NULL },
	[MODEL_TIES] = { "ties",
		"SELECT t.stall_id AS stall, t.episode_id AS episode, CASE WHEN t.log_line_id IS NULL THEN 'ping' ELSE l.kind END AS kind, "
		"coalesce(g.source_id, l.source_id) AS source, coalesce(g.start_ns, l.time_ns - coalesce(l.duration_ns, 0)) AS start_ns, "
		"coalesce(g.duration_ns, l.duration_ns) AS duration_ns, t.overlap_ns AS overlap_ns, t.uncertainty_ns AS uncertainty_ns, "
		"l.text AS text, coalesce(g.cites, CAST(l.cite_id AS TEXT)) AS \"cites:cites\" FROM tie t LEFT JOIN ping_gap g ON g.id = t.ping_gap_id "
		"LEFT JOIN log_line l ON l.id = t.log_line_id WHERE ?1 IS NULL OR CASE ?1 WHEN 'stall_id' THEN t.stall_id ELSE t.episode_id END "
		"= CAST(?2 AS INTEGER) ORDER BY t.id", NULL },
	/* perf kvm stat report: by samples. Mean and deviation are merged over vCPUs. */
	[MODEL_EXITS] = { "rows",
		"WITH e AS (SELECT event, reason, count, total_ns, min_ns, max_ns, mean, m2, cite_id, "
		"  CASE WHEN ?2 IN ('vm', 'vcpu') THEN vm_id END AS vm, CASE WHEN ?2 = 'vcpu' THEN vcpu_id END AS vcpu, "
		"  CASE WHEN ?2 = 'vcpu' THEN vcpu END AS number, source_id "
		"  FROM exit_stat WHERE event = ?1 AND picked(vm_id, vcpu_id)), "
		"g AS (SELECT *, SUM(count * mean) OVER w / SUM(count) OVER w AS m FROM e WINDOW w AS (PARTITION BY source_id, vm, vcpu, number, reason)) "
		"SELECT event AS event, vm AS vm, vcpu AS vcpu, reason AS reason, SUM(count) AS count, SUM(total_ns) AS total_ns, "
		"MIN(min_ns) AS min_ns, SUM(total_ns) / MAX(SUM(count), 1) AS avg_ns, MAX(max_ns) AS max_ns, "
		"CAST(SUM(total_ns) AS REAL) / MAX(SUM(count), 1) AS mean, "
		"rel_stddev(SUM(count), m, SUM(m2 + count * (mean - m) * (mean - m))) AS rel_stddev_pct, source_id AS source, "
		"number AS vcpu_number FROM g GROUP BY source_id, vm, vcpu, number, reason "
		"ORDER BY source_id, vm, vcpu, number, SUM(count) DESC, SUM(total_ns) DESC, reason", NULL },
	/* perf sched latency -p: `task` without ":tid"; longest wait first, as --sort=max */
	[MODEL_LATENCY] = { "rows",
		"SELECT CASE WHEN r.tid IS NOT NULL AND r.task LIKE '%:' || r.tid THEN substr(r.task, 1, length(r.task) - length(r.tid) - 1) "
		"ELSE r.task END AS task, r.tid AS tid, r.runtime_ns AS runtime_ns, r.oncpu_ns AS oncpu_ns, r.switches AS switches, "
		"r.avg_delay_ns AS avg_delay_ns, r.max_delay_ns AS max_delay_ns, r.max_delay_start_ns AS max_delay_start_ns, "
		"r.max_delay_end_ns AS max_delay_end_ns, r.total_delay_ns AS total_delay_ns, r.source_id AS source, r.origin AS origin, "
		"r.vcpu IS 1 AS \"bool:is_vcpu\" "
		"FROM runq_delay r LEFT JOIN task t ON t.id = r.task_id LEFT JOIN vcpu v ON v.task_id = r.task_id AND v.source_id = r.source_id "
		"WHERE picked(coalesce(v.vm_id, t.vm_id), v.id) "
		"ORDER BY r.source_id, r.origin, r.max_delay_ns DESC, r.tid DESC, r.rowid", NULL },
	[MODEL_SLICES_AT] = { "slices",
		"SELECT s.source_id AS source, v.vm_id AS vm, s.vcpu_id AS vcpu, v.vcpu AS number, v.tid AS tid, v.comm AS comm, "
		"s.start_ns AS start_ns, s.duration_ns AS duration_ns, s.guest_ns AS guest_ns, "
		"s.host_ns AS host_ns, s.vmm_ns AS vmm_ns, s.halted_ns AS halted_ns, s.waiting_ns AS waiting_ns, s.blocked_ns AS blocked_ns, "
		"s.unknown_ns AS unknown_ns, s.lost_ns AS lost_ns FROM state_slice s JOIN vcpu v ON v.id = s.vcpu_id "
		"WHERE s.source_id = CAST(?2 AS INTEGER) AND s.start_ns <= CAST(?1 AS INTEGER) AND "
		"s.start_ns + s.duration_ns > CAST(?1 AS INTEGER) AND picked(v.vm_id, v.id) ORDER BY v.vm_id, v.vcpu, v.id", NULL },
};
