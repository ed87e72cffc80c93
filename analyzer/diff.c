// SPDX-License-Identifier: GPL-2.0-or-later
/* diff.c - two case files compared by SQL; see diff.h. */
#include "diff.h"

/* Time that the vCPUs were seen, and how long events were recorded; both in ns, never 0. */
#define VCPU_NS(db)	"(SELECT max(1, coalesce(sum(last_ns - first_ns), 0)) FROM " db ".vcpu)"
#define SPAN_NS(db)	"(SELECT max(1, coalesce(max(last_ns - first_ns), 0)) FROM " db ".source WHERE events > 0)"

#define BOTH(what, key, from)							\
	"(SELECT " key " AS k, " what " FROM good." from ") g FULL JOIN (SELECT " key " AS k, " what " FROM main." from ") b ON b.k = g.k"

#define STATE(column, words)							\
	"INSERT INTO difference SELECT 'state', '" words "', NULL, NULL, g, b, 'share', abs(b - g) FROM "	\
	"(SELECT (SELECT 1.0 * sum(" column ") FROM good.vcpu) / " VCPU_NS("good") " AS g, "			\
	"(SELECT 1.0 * sum(" column ") FROM main.vcpu) / " VCPU_NS("main") " AS b) WHERE g IS NOT NULL AND b IS NOT NULL"

#define VERDICT_RANK "min(CASE verdict WHEN 'match' THEN 0 WHEN 'likely' THEN 1 WHEN 'possible' THEN 2 "	\
	"WHEN 'cannot-tell' THEN 3 ELSE 4 END)"
#define VERDICT_WORD(n) "CASE " n " WHEN 0 THEN 'match' WHEN 1 THEN 'likely' WHEN 2 THEN 'possible' "	\
	"WHEN 3 THEN 'cannot tell' WHEN 4 THEN 'ruled out' END"

/* Settings, and what a host is; counters and loads of the moment are no settings. */
#define SETTINGS(db)								\
	"(SELECT key AS k, group_concat(DISTINCT value) AS v FROM " db ".fact WHERE side <> 'guest' AND "	\
	"(key GLOB 'kernel.*' OR key GLOB 'param.*' OR key GLOB 'sysctl.*' OR key GLOB 'thp.*' OR key GLOB 'cmdline.*' OR "	\
	"key GLOB 'cpu.*' OR key GLOB 'numa.*' OR key GLOB 'sched.*' OR key GLOB 'mount.*' OR key GLOB 'clocksource.*' OR "	\
	"key GLOB 'domain.*' OR key GLOB 'qemu.*' OR key GLOB 'pve.*' OR key GLOB 'libvirt.*' OR key GLOB 'cgroup.favor*' OR "	\
	"key IN ('ksm.run', 'ksm.pages_to_scan', 'ksm.sleep_millisecs', 'ksm.merge_across_nodes', 'ksm.max_page_sharing', "	\
	"'ksm.use_zero_pages')) AND key NOT GLOB '*.delta' AND key NOT GLOB '*.pid' AND key NOT GLOB '*.tid' AND key NOT GLOB '*_mb' "	\
	"AND key NOT GLOB 'kernel.map.*' AND key NOT GLOB '*.free*' AND key NOT GLOB '*_kb' "	\
	"GROUP BY key)"

static const char *const statements[] = {
	"CREATE TEMP TABLE difference(section TEXT NOT NULL, name TEXT NOT NULL, good TEXT, bad TEXT, good_num REAL, bad_num REAL, "
	"unit TEXT NOT NULL, effect REAL NOT NULL)",

	"INSERT INTO difference SELECT 'verdict', coalesce(g.k, b.k), coalesce(" VERDICT_WORD("g.n") ", 'not checked'), "
	"coalesce(" VERDICT_WORD("b.n") ", 'not checked'), NULL, NULL, 'text', "
	"(abs(coalesce(g.n, 4) - coalesce(b.n, 4)) + (coalesce(b.n, 4) = 0)) / 5.0 FROM "
	BOTH(VERDICT_RANK " AS n", "signature", "verdict GROUP BY signature")
	" WHERE g.n IS NOT b.n AND min(coalesce(g.n, 4), coalesce(b.n, 4)) <= 2",

	"INSERT INTO difference SELECT 'fact', coalesce(g.k, b.k), g.v, b.v, NULL, NULL, 'text', "
	"CASE WHEN g.v IS NULL OR b.v IS NULL THEN 0.0 ELSE 0.5 END + CASE WHEN coalesce(g.k, b.k) = 'kernel.release' THEN 0.5 "
	"WHEN coalesce(g.k, b.k) GLOB 'param.kvm*' THEN 0.45 WHEN coalesce(g.k, b.k) GLOB 'param.*' THEN 0.4 "
	"WHEN coalesce(g.k, b.k) GLOB 'sysctl.*' OR coalesce(g.k, b.k) GLOB 'ksm.*' OR coalesce(g.k, b.k) GLOB 'thp.*' THEN 0.35 "
	"WHEN coalesce(g.k, b.k) GLOB 'cmdline.*' OR coalesce(g.k, b.k) GLOB 'cgroup.*' THEN 0.3 "
	"WHEN coalesce(g.k, b.k) GLOB 'kernel.config.*' THEN 0.1 ELSE 0.2 END "
	"FROM " SETTINGS("good") " g FULL JOIN " SETTINGS("main") " b ON b.k = g.k WHERE g.v IS NOT b.v "
	/* a file that only one of the bundles has is no difference between the hosts */
	"AND ((g.v IS NOT NULL AND b.v IS NOT NULL) OR EXISTS (SELECT 1 FROM good.fact WHERE key GLOB substr(coalesce(g.k, b.k), 1, "
	"instr(coalesce(g.k, b.k), '.')) || '*') AND EXISTS (SELECT 1 FROM main.fact WHERE key GLOB substr(coalesce(g.k, b.k), 1, "
	"instr(coalesce(g.k, b.k), '.')) || '*'))",

	STATE("guest_ns", "in the guest"),
	STATE("host_ns", "handling exits in the host kernel"),
	STATE("vmm_ns", "in the VMM"),
	STATE("halted_ns", "halted by the guest"),
	STATE("waiting_ns", "runnable but waiting for a CPU"),
	STATE("blocked_ns", "blocked"),
	STATE("unknown_ns", "unknown"),
	STATE("lost_ns", "lost with lost events"),

	"INSERT INTO difference SELECT 'pattern', coalesce(g.k, b.k), NULL, NULL, coalesce(g.ns, 0.0) / " VCPU_NS("good") ", "
	"coalesce(b.ns, 0.0) / " VCPU_NS("main") ", 'share', "
	"abs(coalesce(b.ns, 0.0) / " VCPU_NS("main") " - coalesce(g.ns, 0.0) / " VCPU_NS("good") ") FROM "
	BOTH("sum(total_ns) * 1.0 AS ns", "shape", "pattern GROUP BY shape"),

	"INSERT INTO difference SELECT 'exit', coalesce(g.k, b.k) || ': exits', NULL, NULL, "
	"coalesce(g.n, 0) * 1e9 / " VCPU_NS("good") ", coalesce(b.n, 0) * 1e9 / " VCPU_NS("main") ", 'per_s', "
	"abs(coalesce(b.ns, 0.0) / " VCPU_NS("main") " - coalesce(g.ns, 0.0) / " VCPU_NS("good") ") FROM "
	BOTH("sum(count) AS n, sum(total_ns) * 1.0 AS ns", "reason", "exit_stat WHERE event = 'vmexit' AND origin = 'computed' GROUP BY reason"),

	"INSERT INTO difference SELECT 'exit', coalesce(g.k, b.k) || ': average time', NULL, NULL, g.ns / g.n, b.ns / b.n, 'ns', "
	"abs(coalesce(b.ns, 0.0) / " VCPU_NS("main") " - coalesce(g.ns, 0.0) / " VCPU_NS("good") ") FROM "
	BOTH("sum(count) AS n, sum(total_ns) * 1.0 AS ns", "reason", "exit_stat WHERE event = 'vmexit' AND origin = 'computed' GROUP BY reason")
	" WHERE g.n > 0 AND b.n > 0",

	"INSERT INTO difference SELECT 'delay', 'average wait of a vCPU thread for a CPU', NULL, NULL, g, b, 'ns', "
	"abs(b * nb / " SPAN_NS("main") " - g * ng / " SPAN_NS("good") ") FROM "
	"(SELECT (SELECT sum(total_delay_ns) * 1.0 / sum(switches) FROM good.runq_delay WHERE vcpu = 1 AND origin <> 'timehist') AS g, "
	"(SELECT sum(switches) FROM good.runq_delay WHERE vcpu = 1 AND origin <> 'timehist') AS ng, "
	"(SELECT sum(total_delay_ns) * 1.0 / sum(switches) FROM main.runq_delay WHERE vcpu = 1 AND origin <> 'timehist') AS b, "
	"(SELECT sum(switches) FROM main.runq_delay WHERE vcpu = 1 AND origin <> 'timehist') AS nb) WHERE g IS NOT NULL AND b IS NOT NULL",

	"INSERT INTO difference SELECT 'delay', 'longest wait of a vCPU thread for a CPU', NULL, NULL, g, b, 'ns', "
	"abs(b / " SPAN_NS("main") " - g / " SPAN_NS("good") ") FROM "
	"(SELECT (SELECT max(max_delay_ns) * 1.0 FROM good.runq_delay WHERE vcpu = 1) AS g, "
	"(SELECT max(max_delay_ns) * 1.0 FROM main.runq_delay WHERE vcpu = 1) AS b) WHERE g IS NOT NULL AND b IS NOT NULL",

	"INSERT INTO difference SELECT 'call', coalesce(g.k, b.k) || ': longest', NULL, NULL, g.top, b.top, 'ns', "
	"abs(coalesce(b.ns, 0.0) / " SPAN_NS("main") " - coalesce(g.ns, 0.0) / " SPAN_NS("good") ") FROM "
	BOTH("max(max_ns) AS top, sum(total_ns) * 1.0 AS ns", "func", "span_stat WHERE coalesce(parent, '') = '' GROUP BY func")
	" WHERE max(coalesce(g.top, 0), coalesce(b.top, 0)) >= 1000000",

	"INSERT INTO difference SELECT 'root', 'different TDP roots per 1000 loads', NULL, NULL, g, b, 'count', abs(b - g) / 1000.0 FROM "
	"(SELECT (SELECT 1000.0 * sum(unique_roots) / sum(loads) FROM good.root_stat WHERE loads >= 50) AS g, "
	"(SELECT 1000.0 * sum(unique_roots) / sum(loads) FROM main.root_stat WHERE loads >= 50) AS b) WHERE g IS NOT NULL AND b IS NOT NULL",

	"INSERT INTO difference SELECT 'root', 'loads that went back to the last root but one', NULL, NULL, g, b, 'ratio', abs(b - g) FROM "
	"(SELECT (SELECT 1.0 * sum(last_but_one) / sum(loads) FROM good.root_stat WHERE loads >= 50) AS g, "
	"(SELECT 1.0 * sum(last_but_one) / sum(loads) FROM main.root_stat WHERE loads >= 50) AS b) WHERE g IS NOT NULL AND b IS NOT NULL",

	/* an event that a recorder was not asked for is not rare: both must have it */
	"INSERT INTO difference SELECT 'event', g.k, NULL, NULL, g.n * 1e9 / " SPAN_NS("good") ", b.n * 1e9 / " SPAN_NS("main") ", "
	"'per_s', CASE WHEN b.n * " SPAN_NS("good") " > g.n * " SPAN_NS("main") " THEN 1 - g.n * 1.0 * " SPAN_NS("main") " / (b.n * "
	SPAN_NS("good") ") ELSE 1 - b.n * 1.0 * " SPAN_NS("good") " / (g.n * " SPAN_NS("main") ") END FROM "
	"(SELECT substr(event, instr(event, ':') + 1) AS k, max(count) * 1.0 AS n FROM good.event_count GROUP BY 1) g JOIN "
	"(SELECT substr(event, instr(event, ':') + 1) AS k, max(count) * 1.0 AS n FROM main.event_count GROUP BY 1) b ON b.k = g.k "
	"WHERE b.n + g.n >= 100",
};

static struct error *run(struct case_db *db, const char *sql)
{
	if (sqlite3_exec(db->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return error_new(ERR_INTERNAL, "comparing: %s", sqlite3_errmsg(db->db));
	return NULL;
}

struct error *diff_build(struct case_db *good, struct case_db *bad)
{
	sqlite3_backup *backup;
	size_t i;

	if (!sqlite3_get_autocommit(bad->db))
		TRY(run(bad, "COMMIT"));
	if (!sqlite3_get_autocommit(good->db))
		TRY(run(good, "COMMIT"));
	TRY(run(bad, "ATTACH ':memory:' AS good"));
	backup = sqlite3_backup_init(bad->db, "good", good->db, "main");
	if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) {
		sqlite3_backup_finish(backup);
		return error_new(ERR_INTERNAL, "comparing: %s", sqlite3_errmsg(bad->db));
	}
	sqlite3_backup_finish(backup);
	for (i = 0; i < ARRAY_SIZE(statements); i++)
		TRY(run(bad, statements[i]));
	return NULL;
}
