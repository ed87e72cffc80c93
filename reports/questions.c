// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * questions.c - what the input can answer; see questions.h.
 *
 * A question needs events of one recording, or rows of the case file (sql), or either. The best
 * recording answers. Events answer in full only where their absence means something: recorded
 * system-wide, complete, without loss.
 */
#include "questions.h"

#define MAX_NEEDS	3
#define MAX_NAMES	4

/* One of these events, named as the kernel does, without the system. */
struct need {
	const char	*names[MAX_NAMES];
};

struct question {
	const char	*id, *text;
	struct need	needs[MAX_NEEDS];
	/* Rows (answer, because, source id or NULL); taken where better than the events' answer. */
	const char	*sql;
	const char	*no;		/* what is not there */
};

#define ENTRY	{ { "kvm_entry" } }
#define EXIT	{ { "kvm_exit" } }
#define SWITCH	{ { "sched_switch" } }
#define WAKE	{ { "sched_waking", "sched_wakeup" } }

static const struct question questions[] = {
	{ "kernel", "Which kernel does the host run, and does it have a fix?", { { { NULL } } },
	  "SELECT 'yes', 'kernel ' || k, id FROM (SELECT kernel AS k, id FROM source WHERE kernel IS NOT NULL AND side <> 'guest' UNION ALL "
	  "SELECT value, source_id FROM fact WHERE key = 'kernel.release' AND side <> 'guest') ORDER BY id LIMIT 1",
	  "no recording, log or file names the host's kernel" },
	{ "guest-time", "How much of its time was each vCPU in its guest?", { ENTRY, EXIT }, NULL,
	  "no kvm_entry and kvm_exit" },
	{ "exits", "Why did vCPUs leave their guests, and how long did each exit take?", { EXIT, ENTRY },
	  "SELECT 'partly', 'a table of exits made by perf', source_id FROM exit_stat WHERE source_id NOT IN (SELECT source_id FROM recording) LIMIT 1",
	  "no kvm_exit and kvm_entry, no table of exits" },
	{ "waits", "How long did vCPUs wait for a CPU, and who had it meanwhile?", { SWITCH, WAKE },
	  "SELECT 'partly', 'delays from a ready-made table: not who had the CPU', source_id FROM runq_delay WHERE origin = 'table' UNION ALL "
	  "SELECT 'partly', 'sched_switch without wake-ups: waits after preemption only', source_id FROM event_count "
	  "WHERE event IN ('sched:sched_switch', 'sched_switch') AND count > 0 LIMIT 1",
	  "no sched_switch and sched_waking or sched_wakeup" },
	{ "waker", "Who woke a vCPU that was blocked, and what was it doing before?", { WAKE, SWITCH }, NULL,
	  "no sched_waking or sched_wakeup" },
	{ "vmm", "What did the VMM do when an exit went to user space?", { { { "kvm_userspace_exit" } }, { { "sys_enter" } } },
	  "SELECT 'partly', 'system calls were traced', source_id FROM syscall_stat UNION ALL "
	  "SELECT 'partly', 'kvm_userspace_exit, but no system calls', source_id FROM event_count WHERE event LIKE '%kvm_userspace_exit' "
	  "AND count > 0 LIMIT 1", "no kvm_userspace_exit and no system calls" },
	{ "roots", "Were a vCPU's page-table roots thrown away and made anew?", { { { NULL } } },
	  "SELECT 'yes', 'loads of roots were recorded', source_id FROM root_stat UNION ALL SELECT 'yes', 'loads of roots were probed', "
	  "source_id FROM coverage WHERE event LIKE '%hv_track_root_tdp%' AND known <> 'unknown' LIMIT 1",
	  "no probe on hv_track_root_tdp or the like" },
	{ "retries", "Did a vCPU fault again and again at one page?", { EXIT, { { "kvm_page_fault" } } }, NULL,
	  "no kvm_exit and kvm_page_fault" },
	{ "functions", "How long did functions of the host's kernel take?", { { { NULL } } },
	  "SELECT 'yes', 'functions timed by ' || replace(group_concat(DISTINCT origin), ',', ', '), min(source_id) FROM span_stat WHERE origin NOT IN ('syscall', 'strace') "
	  "HAVING COUNT(*) > 0", "no function_graph, no probes, no bpftrace timings" },
	{ "stacks", "What code was a CPU running, and by which path?", { { { NULL } } },
	  "SELECT 'yes', 'call chains were recorded', min(source_id) FROM stack_count HAVING COUNT(*) > 0 UNION ALL "
	  "SELECT 'partly', 'only call traces in logs', min(source_id) FROM log_line WHERE stack_id IS NOT NULL HAVING COUNT(*) > 0 LIMIT 1",
	  "no call chains, no samples" },
	{ "quota", "Did a CPU quota hold the VM back?", { { { NULL } } },
	  "SELECT 'yes', 'throttling was recorded', source_id FROM throttle WHERE origin = 'probe' UNION ALL "
	  "SELECT 'yes', 'cpu.stat of a cgroup: periods and throttled periods', source_id FROM cgroup WHERE nr_periods IS NOT NULL UNION ALL "
	  "SELECT 'partly', 'quota settings, but no count of throttled periods', source_id FROM cgroup WHERE quota_ns IS NOT NULL UNION ALL "
	  "SELECT 'partly', 'only as inferred from the pattern of waits', source_id FROM event_count WHERE event IN ('sched:sched_switch', "
	  "'sched_switch') AND count > 0 LIMIT 1", "no cpu.stat, no quota, no sched_switch" },
	{ "settings", "How are KVM, KSM, huge pages and NUMA balancing set?", { { { NULL } } },
	  "WITH g AS (SELECT 'KVM''s parameters' AS w, source_id FROM fact WHERE key GLOB 'param.kvm*' UNION ALL SELECT 'KSM', source_id FROM fact WHERE "
	  "key GLOB 'ksm.*' UNION ALL SELECT 'huge pages', source_id FROM fact WHERE key GLOB 'thp.*' UNION ALL SELECT 'NUMA balancing', source_id "
	  "FROM fact WHERE key = 'sysctl.kernel.numa_balancing' OR key GLOB 'sched.numa_balancing.*') SELECT CASE COUNT(DISTINCT w) WHEN 4 THEN 'yes' "
	  "ELSE 'partly' END, 'known: ' || replace(group_concat(DISTINCT w), ',', ', '), min(source_id) FROM g HAVING COUNT(*) > 0",
	  "no files of /sys and /proc that say so" },
	{ "host-log", "Did the host's kernel complain (lockups, stalls, out of memory)?", { { { NULL } } },
	  "SELECT 'yes', 'a kernel log of the host', id FROM source WHERE format = 'dmesg' AND side = 'host' UNION ALL "
	  "SELECT 'yes', 'a kernel log, taken to be the host''s', id FROM source WHERE format = 'dmesg' AND side = 'unknown' LIMIT 1",
	  "no kernel log of the host" },
	{ "guest-log", "Did the guest's kernel complain?", { { { NULL } } },
	  "SELECT 'yes', 'a kernel log of a guest', id FROM source WHERE format = 'dmesg' AND side = 'guest' UNION ALL "
	  "SELECT 'partly', 'some lines of a guest''s log', source_id FROM log_line WHERE side = 'guest' LIMIT 1", "no kernel log of a guest" },
	{ "answering", "When did the guest not answer?", { { { NULL } } },
	  "SELECT CASE WHEN s.clock = 'wall' THEN 'yes' ELSE 'partly' END, CASE WHEN s.clock = 'wall' THEN 'a ping with time stamps' "
	  "ELSE 'a ping without time stamps (ping -D has them)' END, s.id FROM ping_stat p JOIN source s ON s.id = p.source_id "
	  "ORDER BY s.clock = 'wall' DESC LIMIT 1", "no ping log" },
	{ "wall-time", "At what time of day did it happen?", { { { NULL } } },
	  "SELECT 'yes', CASE WHEN COUNT(*) = (SELECT COUNT(*) FROM recording) THEN 'the wall clock is known of all recordings' ELSE "
	  "'the wall clock is known of ' || COUNT(*) || ' of ' || (SELECT COUNT(*) FROM recording) || ' recordings' END, min(r.source_id) "
	  "FROM recording r JOIN axis a ON a.source_id = r.source_id WHERE a.clock = 'wall' HAVING COUNT(*) > 0 UNION ALL "
	  "SELECT 'partly', 'the wall clock is known of logs and tables only, of no recording', min(source_id) FROM axis WHERE clock = 'wall' "
	  "HAVING COUNT(*) > 0 LIMIT 1", "no source gives the wall clock (perf record -k mono, dmesg --time-format iso)" },
	{ "one-axis", "Can the sources be compared in time?", { { { NULL } } },
	  "SELECT CASE WHEN (SELECT COUNT(*) FROM axis WHERE offset_ns IS NULL) = 0 AND (SELECT COUNT(DISTINCT axis) FROM axis) = 1 THEN 'yes' "
	  "ELSE 'partly' END, COUNT(*) || ' of ' || (SELECT COUNT(*) FROM axis) || ' are on one axis', NULL FROM axis "
	  "WHERE offset_ns IS NOT NULL GROUP BY axis HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC, axis LIMIT 1",
	  "no two sources whose clocks have a known relation" },
};

enum answer { NO, PARTLY, YES };
static const char *const answers[] = { "no", "partly", "yes" };

/* What may be wrong with a recorded event, the worst first; then nothing. */
static const char *const flaws[] = { "only sampled", "filtered", "not system-wide", "with losses" };

struct result {
	enum answer	answer;
	size_t		flaw;		/* of PARTLY: index into flaws[] */
	char		*because;
	int64_t		source;		/* 0: none */
};

static void better(struct result *r, enum answer answer, size_t flaw, int64_t source,
		   char *because)
{
	if (answer < r->answer || (answer == r->answer && flaw <= r->flaw)) {
		free(because);
		return;
	}
	free(r->because);
	*r = (struct result){ answer, flaw, because, source };
}

/* Did @source record @name? @flaw is the index of what is wrong with it. */
static bool has_event(struct case_db *db, int64_t source, const char *name, size_t *flaw,
		      struct error **err)
{
	sqlite3_stmt *st;
	bool found = false;

	*err = case_query(db, &st, "SELECT CASE WHEN complete = 'sampled' THEN 'only sampled' WHEN complete = 'filtered' THEN 'filtered' "
			  "WHEN scope <> 'system' THEN 'not system-wide' WHEN complete = 'lossy' THEN 'with losses' ELSE '' END AS w FROM coverage "
			  "WHERE source_id = ?1 AND known <> 'unknown' AND (event = ?2 OR event LIKE '%:' || ?2) ORDER BY w LIMIT 1", "is",
			  source, name);
	if (*err)
		return false;
	if (case_step(db, st, err)) {
		const char *w = (const char *)sqlite3_column_text(st, 0);

		found = true;
		for (*flaw = 0; *flaw < ARRAY_SIZE(flaws) && strcmp(w, flaws[*flaw]); ++*flaw)
			;
	}
	case_done(st);
	return found;
}

static void append(char **to, const char *s)
{
	char *longer = *to ? xasprintf("%s, %s", *to, s) : xstrdup(s);

	free(*to);
	*to = longer;
}

static struct error *ask_source(struct case_db *db, const struct question *q, int64_t source,
				const char *path, struct result *r)
{
	_cleanup_free_ char *seen = NULL;
	struct error *err = NULL;
	size_t i, k, worst = ARRAY_SIZE(flaws);

	for (i = 0; i < MAX_NEEDS && q->needs[i].names[0]; i++) {
		bool any = false;

		for (k = 0; k < MAX_NAMES && q->needs[i].names[k] && !any; k++) {
			size_t flaw = 0;

			any = has_event(db, source, q->needs[i].names[k], &flaw, &err);
			TRY(err);
			if (!any)
				continue;
			append(&seen, q->needs[i].names[k]);
			worst = MIN(worst, flaw);
		}
		if (!any)
			return NULL;
	}
	if (seen)
		better(r, worst < ARRAY_SIZE(flaws) ? PARTLY : YES, worst, source,
		       xasprintf("%s recorded %s in %s", seen,
				 worst < ARRAY_SIZE(flaws) ? flaws[worst] : "system-wide and whole", path));
	return NULL;
}

static struct error *ask_rows(struct case_db *db, const struct question *q, struct result *r)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(db, &st, q->sql, ""));
	while (case_step(db, st, &err)) {
		const char *answer = (const char *)sqlite3_column_text(st, 0),
			   *because = (const char *)sqlite3_column_text(st, 1);

		if (answer && because)
			better(r, *answer == 'y' ? YES : PARTLY, 0, sqlite3_column_int64(st, 2),
			       xstrdup(because));
	}
	case_done(st);
	return err;
}

static struct error *ask(struct report_ctx *ctx, const struct question *q, struct json_object *to)
{
	struct json_object *o, *sources = json_object_new_array();
	struct result r = { NO, 0, NULL, 0 };
	struct error *err = NULL;
	sqlite3_stmt *st;

	if (q->needs[0].names[0]) {
		err = case_query(ctx->db, &st, "SELECT s.id, s.path FROM source s JOIN recording r ON r.source_id = s.id WHERE s.events > 0 "
				 "ORDER BY r.time_resolution_ns, s.id LIMIT 64", "");
		while (!err && r.answer < YES && case_step(ctx->db, st, &err)) {
			const char *path = (const char *)sqlite3_column_text(st, 1);
			const char *slash = path ? strrchr(path, '/') : NULL;

			err = ask_source(ctx->db, q, sqlite3_column_int64(st, 0), slash ? slash + 1 : path ? path : "?", &r);
		}
		if (st)
			case_done(st);
	}
	if (!err && q->sql && r.answer < YES)
		err = ask_rows(ctx->db, q, &r);
	o = json_object_new_object();
	json_object_object_add(o, "id", json_object_new_string(q->id));
	json_object_object_add(o, "question", json_object_new_string(q->text));
	json_object_object_add(o, "answer", json_object_new_string(answers[r.answer]));
	json_object_object_add(o, "because", json_object_new_string(r.because ? r.because : q->no));
	if (r.source > 0)
		json_object_array_add(sources, json_object_new_int64(r.source));
	json_object_object_add(o, "sources", sources);
	json_object_array_add(to, o);
	free(r.because);
	return err;
}

struct error *questions_array(struct report_ctx *ctx, struct json_object **ret)
{
	struct json_object *array = json_object_new_array();
	struct error *err = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(questions) && !err; i++)
		err = ask(ctx, &questions[i], array);
	if (err)
		json_object_put(array);
	else
		*ret = array;
	return err;
}
