// SPDX-License-Identifier: GPL-2.0-or-later
/* retry_stalls.c - retry loops as stalls: the guest runs and gets nowhere; see stall_rows.h. */
#include "stall_rows.h"

struct retry_row {
	int64_t	vm_id, vcpu_id, task_id, tid, count, start, ns, cite;
	char	*task, *reason, *rip, *gpa;
};

static char *column(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return xstrdup(s ? s : "?");
}

static struct error *read_loops(struct engine *e, uint64_t threshold, struct retry_row **rows,
				size_t *n)
{
	struct error *err = NULL;
	size_t cap = 0;
	sqlite3_stmt *st;

	TRY(case_query(e->db, &st,
		       "SELECT r.vm_id, r.vcpu_id, v.task_id, r.tid, r.count, r.start_ns,"
		       " r.duration_ns, coalesce(r.cite_id, 0), v.comm, r.reason, r.rip, r.gpa"
		       " FROM retry_loop r JOIN vcpu v ON v.id = r.vcpu_id WHERE r.source_id = ?"
		       " AND r.gpa IS NOT NULL AND r.duration_ns >= ? AND r.vm_id IS NOT NULL"
		       " ORDER BY r.reason, r.duration_ns DESC, r.start_ns", "ii",
		       e->s->source_id, (int64_t)threshold));
	while (case_step(e->db, st, &err)) {
		struct retry_row *r;

		GROW(*rows, cap, *n + 1);
		r = &(*rows)[(*n)++];
		*r = (struct retry_row){
			.vm_id = sqlite3_column_int64(st, 0),
			.vcpu_id = sqlite3_column_int64(st, 1),
			.task_id = sqlite3_column_int64(st, 2),
			.tid = sqlite3_column_int64(st, 3),
			.count = sqlite3_column_int64(st, 4),
			.start = sqlite3_column_int64(st, 5),
			.ns = sqlite3_column_int64(st, 6),
			.cite = sqlite3_column_int64(st, 7),
			.task = column(st, 8),
			.reason = column(st, 9),
			.rip = column(st, 10),
			.gpa = column(st, 11),
		};
	}
	case_done(st);
	return err;
}

static struct error *write_loop(struct engine *e, const struct retry_row *r, int64_t pattern_id,
				int64_t *stall_id)
{
	_cleanup_free_ char *what = xasprintf("exit %s %" PRId64 " times at rip %s on gpa %s,"
					      " without progress", r->reason, r->count, r->rip,
					      r->gpa);
	_cleanup_free_ char *cites = r->cite ? xasprintf("[%" PRId64 "]", r->cite) : NULL;

	TRY(case_insert(e->db, stall_id,
			"INSERT INTO stall(source_id, subject, vm_id, vcpu_id, task_id, task, tid, kind,"
			" start_ns, duration_ns, pattern_id, partial, cause, what, named_ns, cites)"
			" VALUES(?,'vcpu',?,?,?,?,?,'retry-loop',?,?,?,0,?,?,?,?)", "iiiisiiiissis",
			e->s->source_id, r->vm_id, r->vcpu_id, r->task_id, r->task, r->tid,
			r->start, r->ns, pattern_id, what, r->reason, r->ns, cites));
	return case_insert(e->db, NULL,
			   "INSERT INTO chain_link(stall_id, depth, seq, kind, start_ns,"
			   " duration_ns, task, tid, what, inferred, cites)"
			   " VALUES(?,0,0,'retry-loop',?,?,?,?,?,0,?)", "iiisiss", *stall_id,
			   r->start, r->ns, r->task, r->tid, what, cites);
}

/* The rows [@from, @to) are loops of one reason, the longest first. */
static struct error *write_reason(struct engine *e, const struct retry_row *rows, size_t from,
				  size_t to, struct stall_count *c)
{
	_cleanup_free_ char *shape = xasprintf("retry-loop %s: the same page faults again and again",
					       rows[from].reason);
	int64_t pattern_id, id, worst_id = 0, ns = 0;
	size_t i;

	for (i = from; i < to; i++)
		ns += rows[i].ns;
	TRY(case_insert(e->db, &pattern_id,
			"INSERT INTO pattern(source_id, shape, count, total_ns, worst_ns)"
			" VALUES(?,?,?,?,?)", "isiii", e->s->source_id, shape, (int64_t)(to - from),
			ns, rows[from].ns));
	for (i = from; i < to; i++) {
		TRY(write_loop(e, &rows[i], pattern_id, &id));
		if (!worst_id)
			worst_id = id;
	}
	c->n += to - from;
	c->ns += (uint64_t)ns;
	c->named_ns += (uint64_t)ns;
	c->known_ns += (uint64_t)ns;
	return case_insert(e->db, NULL, "UPDATE pattern SET worst_stall_id = ? WHERE id = ?", "ii",
			   worst_id, pattern_id);
}

struct error *retry_stalls_write(struct engine *e, uint64_t threshold, struct stall_count *c)
{
	struct retry_row *rows = NULL;
	size_t i, n = 0, from = 0;
	struct error *err = read_loops(e, threshold, &rows, &n);

	for (i = 1; i <= n && !err; i++) {
		if (i < n && !strcmp(rows[i].reason, rows[from].reason))
			continue;
		err = write_reason(e, rows, from, i, c);
		from = i;
	}
	for (i = 0; i < n; i++) {
		free(rows[i].task);
		free(rows[i].reason);
		free(rows[i].rip);
		free(rows[i].gpa);
	}
	free(rows);
	return err;
}
