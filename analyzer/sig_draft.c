// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_draft.c - `signatures draft`: the skeleton of a signature from what stands out in a case, its
 * dominant chain patterns and exit reasons. It is lint-clean as it stands; what a person has to
 * write is marked "<...>".
 */
#include <ctype.h>

#include "sig.h"

#define PATTERNS	2
#define EXITS		1
#define ROUND_DOWN	2	/* a threshold: half of what this case shows */

/* Text out of a case, for a YAML comment or block: one line of printable characters. */
static char *one_line(const char *s)
{
	char *ret = xstrdup(s ? s : "");

	for (char *p = ret; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = ' ';
	return ret;
}

/* The same as the inside of an SQL string. */
static char *sql_text(const char *s)
{
	_cleanup_free_ char *line = one_line(s);
	char *ret = xcalloc(2 * strlen(line) + 1, 1), *o = ret;

	for (const char *p = line; *p; p++) {
		if (*p == '\'')
			*o++ = '\'';
		*o++ = *p;
	}
	return ret;
}

static void head(struct case_db *db, const char *id, FILE *out)
{
	_cleanup_error_ struct error *err = NULL;
	sqlite3_stmt *st;

	fprintf(out, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
		"# A draft by `kvmortem signatures draft`. Replace what stands in <...>, keep of the evidence what the mechanism\n"
		"# makes (durations alone have many causes), and check it: kvmortem signatures lint %s.yaml\n", id);
	fprintf(out, "id: %s\ntitle: <what goes wrong, in one line>\nstatus: unverified\n", id);
	fprintf(out, "symptom: |\n  <what the user notices, and how long and how often>\n"
		"mechanism: |\n  <what happens, step by step, down to the function>\n");
	err = case_query(db, &st, "SELECT DISTINCT kernel FROM source WHERE side <> 'guest' AND kernel IS NOT NULL LIMIT 4", "");
	if (err)
		return;
	fprintf(out, "# affects:\n#   introduced:\n#     - {commit: <12 digits>, subject: \"<...>\", upstream: \"<6.1>\"}\n"
		"#   fixed:\n#     - {commit: <12 digits>, subject: \"<...>\", upstream: \"<6.4>\", releases: [\"<6.1.50>\"]}\n");
	while (case_step(db, st, &err)) {
		_cleanup_free_ char *kernel = one_line((const char *)sqlite3_column_text(st, 0));

		fprintf(out, "#   seen on %s\n", kernel);
	}
	case_done(st);
}

static struct error *patterns(struct case_db *db, FILE *out, size_t *items)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t n = 0;

	TRY(case_query(db, &st,
		       "SELECT p.shape, p.count, p.worst_ns FROM pattern p JOIN stall s ON s.id = p.worst_stall_id "
		       "ORDER BY p.total_ns DESC, p.id LIMIT ?", "i", (int64_t)PATTERNS));
	while (case_step(db, st, &err)) {
		_cleanup_free_ char *in_sql = sql_text((const char *)sqlite3_column_text(st, 0));
		int64_t count = sqlite3_column_int64(st, 1), worst = sqlite3_column_int64(st, 2);

		fprintf(out, "  # Here: %" PRId64 " times, up to %.3f ms.\n", count, (double)worst / 1e6);
		fprintf(out, "  - id: pattern-%zu\n    strength: strong      # decisive, once it is the mechanism that it shows\n", ++n);
		fprintf(out, "    needs: [\"table:pattern\"]\n"
			"    says: \"stalls of the shape '{shape}': {count} times, up to {worst:dur}\"\n    sql: |\n"
			"      SELECT p.source_id AS source, s.vm_id AS vm, s.vcpu_id AS vcpu, p.shape, p.count, p.worst_ns AS worst,\n"
			"             s.start_ns AS from_ns, s.start_ns + s.duration_ns AS to_ns, s.cites AS cite\n"
			"      FROM pattern p JOIN stall s ON s.id = p.worst_stall_id\n"
			"      WHERE p.shape = '%s'\n"
			"        AND p.count >= %" PRId64 " AND p.worst_ns >= %" PRId64 "\n",
			in_sql, MAX(count / ROUND_DOWN, 1), worst / ROUND_DOWN);
	}
	case_done(st);
	*items += n;
	return err;
}

static struct error *exits(struct case_db *db, FILE *out, size_t *items)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	/* a halt is the guest's own wish */
	TRY(case_query(db, &st,
		       "SELECT reason, sum(count), sum(total_ns) FROM exit_stat WHERE event = 'vmexit' AND lower(reason) NOT IN ('hlt', 'halt') "
		       "GROUP BY reason ORDER BY sum(total_ns) DESC, reason LIMIT ?", "i", (int64_t)EXITS));
	while (case_step(db, st, &err)) {
		_cleanup_free_ char *reason = sql_text((const char *)sqlite3_column_text(st, 0));
		int64_t count = sqlite3_column_int64(st, 1), total = sqlite3_column_int64(st, 2);

		fprintf(out, "  # Here: %" PRId64 " of them, %.3f ms in all.\n", count, (double)total / 1e6);
		fprintf(out, "  - id: exits-%zu\n    strength: supporting\n    needs: [\"event:kvm_exit\", \"event:kvm_entry\"]\n"
			"    says: \"{exits} exits of reason {reason} took {total:dur}, {average:dur} each\"\n    sql: |\n"
			"      SELECT source_id AS source, vm_id AS vm, vcpu_id AS vcpu, reason, count AS exits, total_ns AS total,\n"
			"             1.0 * total_ns / count AS average, cite_id AS cite\n"
			"      FROM exit_stat WHERE event = 'vmexit' AND reason = '%s' AND count >= %" PRId64 "\n",
			++*items, reason, MAX(count / ROUND_DOWN, 1));
	}
	case_done(st);
	return err;
}

struct error *signature_draft(struct case_db *db, const char *id, FILE *out)
{
	size_t items = 0;

	if (!case_int(db, 0, "SELECT EXISTS (SELECT 1 FROM pattern WHERE worst_stall_id IS NOT NULL) OR "
		      "EXISTS (SELECT 1 FROM exit_stat WHERE event = 'vmexit')", ""))
		return error_new(ERR_INPUT, "nothing stands out: no stalls and no exits were recorded");
	head(db, id, out);
	fprintf(out, "evidence:\n");
	TRY(patterns(db, out, &items));
	TRY(exits(db, out, &items));
	fprintf(out, "# against:\n#   <which healthy or other system would show the same, and what tells it apart; as an item like those above>\n"
		"workaround: |\n  <what helps now; that there is none, where there is none>\n"
		"advice: |\n  <what to ask the customer, traps>\n"
		"record_next:\n  - why: \"who did what when the vCPU stood still\"\n"
		"    command: \"perf record -o kvmortem-next.data --max-size=500M -m 1024 -a -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,kvm:kvm_entry,kvm:kvm_exit -- sleep 20\"\n"
		"references:\n  - \"<thread, bug tracker, commit>\"\n");
	return NULL;
}
