// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proc_task.c - a task's files in /proc: PID/stat, PID/schedstat and PID/status, also below
 * PID/task/TID. Formats: proc(5), the kernel's fs/proc/array.c,
 * Documentation/scheduler/sched-stats.rst. ID is the task's id, of the path, or in stat of the file
 * itself.
 *
 *   task.ID.comm, .state, .processor, .utime_ticks, .stime_ticks, .guest_ticks		stat
 *   task.ID.run_ns, .wait_ns, .timeslices						schedstat
 *   task.ID.tgid, .cpus_allowed, .mems_allowed						status
 *   task.ID.voluntary_switches, .involuntary_switches					status
 *
 * "wait_ns" is the time the task stood runnable in a run queue: of a vCPU thread, its steal time.
 */
#include "fact_out.h"

enum task_file { F_NONE, F_STAT, F_SCHEDSTAT, F_STATUS };

/* proc/PID/[task/TID/]NAME, with any extension or label behind; the id is the last of them. */
static enum task_file task_path(const char *name, int64_t *id)
{
	static const struct { const char *name; enum task_file file; } files[] = {
		{ "schedstat", F_SCHEDSTAT }, { "status", F_STATUS }, { "stat", F_STAT },
	};
	const char *base = strrchr(name, '/'), *p;
	struct scan c;
	uint64_t v;
	size_t i;

	if (!base || base == name)
		return F_NONE;
	for (p = base; p > name && p[-1] != '/'; p--)
		;
	c = scan_mem(p, (size_t)(base - p));
	if (!scan_u64(&c, &v) || !scan_at_end(&c) || v > INT32_MAX || p - name < 5 ||
	    (memcmp(p - 5, "proc/", 5) && memcmp(p - 5, "task/", 5)))
		return F_NONE;
	*id = (int64_t)v;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		size_t n = strlen(files[i].name);

		if (!strncmp(base + 1, files[i].name, n) && !is_alpha(base[1 + n]))
			return files[i].file;
	}
	return F_NONE;
}

/* 8812 (CPU 0/KVM) S 1 ...: comm up to the last parenthesis */
static bool stat_head(struct scan *c, int64_t *pid, struct scan *comm)
{
	const char *close;

	if (!scan_i64(c, pid) || *pid <= 0 || !scan_lit(c, " ("))
		return false;
	close = memrchr(c->p, ')', scan_left(c));
	if (!close || close - c->p > 64)
		return false;
	*comm = scan_mem(c->p, (size_t)(close - c->p));
	c->p = close + 1;
	return scan_char(c, ' ') && scan_left(c) > 2 && is_alpha(*c->p);
}

static bool schedstat(struct scan c, uint64_t v[3])
{
	scan_trim(&c);
	return scan_u64(&c, &v[0]) && scan_char(&c, ' ') && scan_u64(&c, &v[1]) &&
	       scan_char(&c, ' ') && scan_u64(&c, &v[2]) && scan_at_end(&c);
}

static int task_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len), comm;
	uint64_t v[3];
	int64_t id;

	if (s->len < s->size || s->size > 65536)
		return 0;
	switch (task_path(s->name, &id)) {
	case F_STAT:
		return stat_head(&c, &id, &comm) ? 90 : 0;
	case F_SCHEDSTAT:
		return schedstat(c, v) ? 90 : 0;
	case F_STATUS:
		return scan_lit(&c, "Name:\t") ? 90 : 0;
	case F_NONE:
		break;
	}
	return 0;
}

static void put_word(struct parse_ctx *ctx, struct fact_out *o, int64_t id, const char *name,
		     struct scan v, int64_t cite)
{
	_cleanup_free_ char *key = xasprintf("task.%" PRId64 ".%s", id, name);

	fact_put(ctx, o, key, v.p, scan_left(&v), cite);
}

static struct scan word(struct scan *c)
{
	struct scan w;

	while (c->p < c->end && (is_blank(*c->p) || *c->p == '\n'))
		c->p++;
	w.p = c->p;
	while (c->p < c->end && !is_blank(*c->p) && *c->p != '\n')
		c->p++;
	w.end = c->p;
	return w;
}

/* Field numbers as proc(5) counts them; state is 3. */
static void parse_stat(struct parse_ctx *ctx, struct fact_out *o, struct scan c)
{
	static const struct { int field; const char *name; } fields[] = {
		{ 3, "state" }, { 14, "utime_ticks" }, { 15, "stime_ticks" }, { 20, "threads" }, { 39, "processor" }, { 40, "rt_priority" },
		{ 43, "guest_ticks" },
	};
	struct scan comm, w;
	int64_t id, cite;
	size_t i = 0;
	int field;

	cite = ctx_cite_at(ctx, 0, c.p, MIN(scan_left(&c), (size_t)400));
	if (!stat_head(&c, &id, &comm))
		return;
	put_word(ctx, o, id, "comm", comm, cite);
	for (field = 3; i < ARRAY_SIZE(fields); field++) {
		w = word(&c);
		if (!scan_left(&w))
			return;
		if (field == fields[i].field)
			put_word(ctx, o, id, fields[i++].name, w, cite);
	}
}

static void parse_schedstat(struct parse_ctx *ctx, struct fact_out *o, struct scan c, int64_t id)
{
	static const char *const names[3] = { "run_ns", "wait_ns", "timeslices" };
	int64_t cite = ctx_cite_at(ctx, 0, c.p, scan_left(&c));
	size_t i;

	for (i = 0; i < 3; i++)
		put_word(ctx, o, id, names[i], word(&c), cite);
}

static void parse_status(struct parse_ctx *ctx, struct fact_out *o, struct scan all, int64_t id)
{
	static const struct { const char *lit, *name; } fields[] = {
		{ "Name:\t", "comm" }, { "State:\t", "state" }, { "Tgid:\t", "tgid" }, { "Cpus_allowed_list:\t", "cpus_allowed" },
		{ "Mems_allowed_list:\t", "mems_allowed" }, { "voluntary_ctxt_switches:\t", "voluntary_switches" },
		{ "nonvoluntary_ctxt_switches:\t", "involuntary_switches" },
	};
	const char *next = all.p, *s;
	size_t len, i;

	while (scan_lines(&next, all.end, &s, &len)) {
		struct scan c = scan_mem(s, len);

		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (scan_lit(&c, fields[i].lit))
				put_word(ctx, o, id, fields[i].name, c,
					 ctx_cite_at(ctx, (uint64_t)(s - all.p), s, len));
	}
}

static struct error *task_parse(struct parse_ctx *ctx)
{
	struct scan c = scan_mem((const char *)ctx->m->data, ctx->m->size);
	struct fact_out out = { .format = "task" };
	int64_t id = 0;

	switch (task_path(ctx->m->name, &id)) {
	case F_STAT:
		parse_stat(ctx, &out, c);
		break;
	case F_SCHEDSTAT:
		scan_trim(&c);
		parse_schedstat(ctx, &out, c, id);
		break;
	case F_STATUS:
		parse_status(ctx, &out, c, id);
		break;
	case F_NONE:
		return error_new(ERR_INPUT, "no file of a task");
	}
	return NULL;
}

static const struct parser task = {
	.name		= "task",
	.kind		= PARSER_VALUE,
	.sniff		= task_sniff,
	.parse		= task_parse,
};
REGISTER(parsers, &task);
