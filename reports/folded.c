// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * folded.c - `-f folded`: sampled stacks, one line each, as flame graph tools take them:
 * "task;outermost;...;innermost COUNT". Of stacks that are no samples but waits (a switch-out's, a
 * timing's), the time in microseconds counts instead, under a first frame that says so. Stacks of
 * other events, which are no time, count only where nothing was sampled.
 */
#include "model.h"

#include "escape.h"

/* A frame's ";" would begin another frame, and the last blank ends the stack. */
static void put_frame(FILE *out, const char *s, size_t len)
{
	_cleanup_free_ char *clean = escape_terminal(s, len);
	char *p;

	for (p = clean; *p; p++)
		if (*p == ';')
			*p = ':';
	fputs(clean, out);
}

/* Frames stand innermost first. */
static void put_frames(FILE *out, const char *frames)
{
	const char *end = frames + strlen(frames);

	while (end > frames) {
		const char *start = memrchr(frames, '\n', (size_t)(end - frames));
		const char *frame = start ? start + 1 : frames;

		if (end > frame) {
			fputc(';', out);
			put_frame(out, frame, (size_t)(end - frame));
		}
		end = start ? start : frames;
	}
}

static struct error *folded_render(struct report_ctx *ctx)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	if (strcmp(ctx->view, "analyze"))
		return error_new(ERR_USAGE, "-f folded is made by `analyze` only");
	TRY(case_query(ctx->db, &st,
		       "SELECT coalesce(t.comm, CASE WHEN c.tid IS NULL THEN 'all' ELSE ':' || c.tid END), s.frames, "
		       "c.total_ns IS NOT NULL AND (c.event LIKE '%sched_switch%' OR c.event NOT LIKE '%:%'), "
		       "sum(CASE WHEN c.total_ns IS NOT NULL AND (c.event LIKE '%sched_switch%' OR c.event NOT LIKE '%:%') "
		       "THEN CAST(c.total_ns / 1000.0 AS INTEGER) ELSE c.count END) AS n "
		       "FROM stack_count c JOIN stack s ON s.id = c.stack_id LEFT JOIN task t ON t.id = c.task_id "
		       "WHERE picked_vm(t.vm_id) AND NOT (c.event = 'kernel_stack' AND c.total_ns IS NULL AND "
		       "EXISTS (SELECT 1 FROM stack_count x WHERE x.event <> 'kernel_stack')) GROUP BY 1, 2, 3 HAVING n > 0 ORDER BY 3, 4 DESC, 1, 2", ""));
	while (case_step(ctx->db, st, &err)) {
		const char *task = (const char *)sqlite3_column_text(st, 0);

		if (sqlite3_column_int(st, 2))
			fputs("off-CPU (us);", ctx->out);
		put_frame(ctx->out, task ? task : "?", strlen(task ? task : "?"));
		put_frames(ctx->out, (const char *)sqlite3_column_text(st, 1));
		fprintf(ctx->out, " %lld\n", sqlite3_column_int64(st, 3));
	}
	case_done(st);
	return err;
}

static const struct report folded_report = {
	.format = "folded",
	.ending = ".folded",
	.render = folded_render,
};
REGISTER(reports, &folded_report);
