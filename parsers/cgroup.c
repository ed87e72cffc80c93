// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cgroup.c - files of the cpu controller: one file a member (/sys/fs/cgroup/PATH/cpu.max), or many
 * in one text under headings "== PATH/cpu.max" or "==> PATH/cpu.max <==".
 *
 * Version 2: cpu.max ("20000 100000", "max 100000"), cpu.max.burst, cpu.weight, cpu.stat (usec),
 * cgroup.threads. Version 1: cpu.cfs_quota_us (-1: none), cpu.cfs_period_us, cpu.shares, cpu.stat
 * (throttled_time in ns), cpuacct.usage (ns). Formats: the kernel's
 * Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst.
 *
 * Gives one row a group and snapshot in table cgroup, whether its files came together or one by
 * one; weight is cpu.weight, or cpu.shares where version is 1. Rates and throttle rows are made of
 * them by analyzer/snapshots.c.
 */
#include "scan.h"

#define MAX_GROUPS	4096
#define MAX_THREADS	4096

enum cg_file {
	CG_MAX,
	CG_BURST,
	CG_WEIGHT,
	CG_STAT,
	CG_THREADS,
	CG_QUOTA_V1,
	CG_PERIOD_V1,
	CG_SHARES_V1,
	CG_USAGE_V1,
	CG_OTHER
};

static const struct { const char *name; enum cg_file file; int version; } cg_files[] = {
	{ "cpu.max", CG_MAX, 2 }, { "cpu.max.burst", CG_BURST, 2 }, { "cpu.weight", CG_WEIGHT, 2 }, { "cpu.stat", CG_STAT, 0 },
	{ "cgroup.threads", CG_THREADS, 2 }, { "cpu.cfs_quota_us", CG_QUOTA_V1, 1 }, { "cpu.cfs_period_us", CG_PERIOD_V1, 1 },
	{ "cpu.shares", CG_SHARES_V1, 1 }, { "cpuacct.usage", CG_USAGE_V1, 1 },
};

/* Of the same controller or the same kind of dump, but nothing is taken from them. */
static const char *const other_files[] = {
	"cpu.pressure", "cpu.idle", "cpu.weight.nice", "cpu.uclamp.min", "cpu.uclamp.max", "cpu.stat.local", "cgroup.procs",
	"cgroup.type", "cgroup.stat", "cgroup.controllers", "cgroup.subtree_control", "cgroup.events", "cpuset.cpus",
	"cpuset.cpus.effective", "cpuset.mems", "cpu.rt_runtime_us", "cpu.rt_period_us", "tasks",
};

#define UNKNOWN		INT64_MIN	/* -1 is a value of quota_ns */

struct group {
	char		*path;
	int64_t version, quota_ns, period_ns, burst_ns, weight, usage_ns, nr_periods, nr_throttled,
		throttled_ns;
	int32_t		*threads;
	size_t		n_threads, cap_threads;
	bool		has_threads;
	int64_t		cite;
	bool		cite_fixed;	/* of the line that matters most */
};

static void group_init(struct group *g, const char *path, size_t len)
{
	memset(g, 0, sizeof(*g));
	g->path = len ? xstrndup(path, len) : xstrdup("/");
	g->version = g->quota_ns = g->period_ns = g->burst_ns = g->weight = g->usage_ns =
		g->nr_periods = g->nr_throttled = g->throttled_ns = UNKNOWN;
}

static void group_deinit(struct group *g)
{
	free(g->path);
	free(g->threads);
}

/* Which file is it, and the path of its group? False: none of the controller's. */
static bool split_path(const char *s, size_t len, enum cg_file *file, int *version,
		       struct scan *group)
{
	const char *base = memrchr(s, '/', len), *end = s + len;
	size_t i, n;

	base = base ? base + 1 : s;
	*group = scan_mem(s, base > s ? (size_t)(base - 1 - s) : 0);
	n = (size_t)(end - base);
	*version = 0;
	for (i = 0; i < ARRAY_SIZE(cg_files); i++) {
		size_t l = strlen(cg_files[i].name);

		if (n < l || memcmp(base, cg_files[i].name, l))
			continue;
		/* the name itself, or with an extension or label that is no other file's name */
		if (n == l || span_is(base + l, n - l, ".txt") || base[l] == '-' ||
		    (base[l] == '.' && n > l + 1 && is_digit(base[l + 1]))) {
			*file = cg_files[i].file;
			*version = cg_files[i].version;
			return true;
		}
	}
	for (i = 0; i < ARRAY_SIZE(other_files); i++) {
		if (span_is(base, n, other_files[i])) {
			*file = CG_OTHER;
			return true;
		}
	}
	return false;
}

/* The group's path below the hierarchy's mount point. */
static struct scan below_mount(struct scan path)
{
	static const char *const controllers[] = { "cpu,cpuacct/", "cpuacct,cpu/", "unified/", "cpu/", "cpuacct/" };
	const char *at = NULL, *p = path.p;
	size_t i;

	while ((p = memmem(p, (size_t)(path.end - p), "sys/fs/cgroup", 13))) {
		p += 13;
		at = p;
	}
	if (at) {
		path.p = at;
		scan_char(&path, '/');
		for (i = 0; i < ARRAY_SIZE(controllers); i++)
			if (scan_lit(&path, controllers[i]))
				break;
	}
	return path;
}

static bool times_1000(struct scan *c, int64_t *ns)
{
	uint64_t v;

	if (!scan_u64(c, &v) || v > INT64_MAX / 1000)
		return false;
	*ns = (int64_t)v * 1000;
	return true;
}

static bool count(struct scan *c, int64_t *ret)
{
	return scan_i64(c, ret) && scan_at_end(c);
}

static bool stat_line(struct group *g, struct scan c, bool *important)
{
	if (scan_lit(&c, "usage_usec "))
		return times_1000(&c, &g->usage_ns);
	if (scan_lit(&c, "nr_periods "))
		return count(&c, &g->nr_periods);
	if (scan_lit(&c, "nr_throttled ")) {
		*important = true;
		return count(&c, &g->nr_throttled);
	}
	if (scan_lit(&c, "throttled_usec ")) {
		g->version = 2;
		return times_1000(&c, &g->throttled_ns);
	}
	if (scan_lit(&c, "throttled_time ")) {
		g->version = 1;
		return count(&c, &g->throttled_ns);
	}
	return scan_lit(&c, "user_usec ") || scan_lit(&c, "system_usec ") || scan_lit(&c, "nr_bursts ") ||
	       scan_lit(&c, "burst_usec ") || scan_lit(&c, "burst_time ") || scan_lit(&c, "wait_sum ") ||
	       scan_lit(&c, "nice_usec ") || scan_lit(&c, "core_sched.force_idle_usec ") || scan_lit(&c, "current_bw ");
}

/* cpu.max: QUOTA|max PERIOD, in us */
static bool max_line(struct group *g, struct scan c)
{
	int64_t quota = -1, period;

	if (!scan_lit(&c, "max") && !times_1000(&c, &quota))
		return false;
	if (!scan_blanks(&c) || !times_1000(&c, &period) || !scan_at_end(&c))
		return false;
	g->quota_ns = quota;
	g->period_ns = period;
	return true;
}

static bool thread_line(struct group *g, struct scan c)
{
	int64_t tid;

	if (!count(&c, &tid) || tid < 0 || tid > INT32_MAX)
		return false;
	g->has_threads = true;
	if (g->n_threads < MAX_THREADS) {
		GROW(g->threads, g->cap_threads, g->n_threads + 1);
		g->threads[g->n_threads++] = (int32_t)tid;
	}
	return true;
}

/* Take one line of @file. @important: it is the one to cite. */
static bool take_line(struct group *g, enum cg_file file, struct scan c, bool *important)
{
	int64_t v;

	switch (file) {
	case CG_MAX:
		return max_line(g, c);
	case CG_BURST:
		return times_1000(&c, &g->burst_ns) && scan_at_end(&c);
	case CG_WEIGHT:
	case CG_SHARES_V1:
		return count(&c, &g->weight);
	case CG_STAT:
		return stat_line(g, c, important);
	case CG_THREADS:
		return thread_line(g, c);
	case CG_QUOTA_V1:
		if (!count(&c, &v) || v < -1 || v > INT64_MAX / 1000)
			return false;
		g->quota_ns = v < 0 ? -1 : v * 1000;
		return true;
	case CG_PERIOD_V1:
		return times_1000(&c, &g->period_ns) && scan_at_end(&c);
	case CG_USAGE_V1:
		return count(&c, &g->usage_ns);
	case CG_OTHER:
		return true;
	}
	return false;
}

static const int64_t *known(const int64_t *v)
{
	return *v == UNKNOWN ? NULL : v;
}

static char *threads_json(const struct group *g)
{
	char *text = xmalloc(g->n_threads * 12 + 3);
	size_t i, len = 0;

	text[len++] = '[';
	for (i = 0; i < g->n_threads; i++)
		len += (size_t)sprintf(text + len, "%s%d", i ? "," : "", g->threads[i]);
	text[len++] = ']';
	text[len] = '\0';
	return text;
}

/* A row that other files of the same group and snapshot in the same directory may have begun. */
static int64_t find_row(struct parse_ctx *ctx, const struct group *g, const char *dir)
{
	return case_int(ctx->db, 0, "SELECT c.id FROM cgroup c JOIN source s ON s.id = c.source_id WHERE c.path = ? AND "
			"c.snapshot IS ? AND substr(s.path, 1, length(?)) = ?", "ssss", g->path, ctx->snapshot, dir, dir);
}

static struct error *store_group(struct parse_ctx *ctx, int64_t *source_id, const struct group *g,
				 const char *dir)
{
	_cleanup_free_ char *threads = g->has_threads ? threads_json(g) : NULL;
	int64_t row = dir ? find_row(ctx, g, dir) : 0;

	if (row)
		return case_insert(
			ctx->db, NULL,
			"UPDATE cgroup SET version = COALESCE(?, version), quota_ns = COALESCE(?, quota_ns), period_ns = COALESCE(?, period_ns),"
			" burst_ns = COALESCE(?, burst_ns), weight = COALESCE(?, weight), usage_ns = COALESCE(?, usage_ns),"
			" nr_periods = COALESCE(?, nr_periods), nr_throttled = COALESCE(?, nr_throttled),"
			" throttled_ns = COALESCE(?, throttled_ns), threads = COALESCE(?, threads),"
			" cite_id = CASE WHEN ? THEN ? ELSE cite_id END WHERE id = ?",
			"IIIIIIIIIsiIi", known(&g->version), known(&g->quota_ns),
			known(&g->period_ns), known(&g->burst_ns), known(&g->weight),
			known(&g->usage_ns), known(&g->nr_periods), known(&g->nr_throttled),
			known(&g->throttled_ns), threads, (int64_t)g->cite_fixed,
			g->cite > 0 ? &g->cite : NULL, row);
	if (!*source_id)
		TRY(ctx_source(ctx, source_id, "cgroup"));
	return case_insert(
		ctx->db, NULL,
		"INSERT INTO cgroup(source_id, path, version, snapshot, quota_ns, period_ns, burst_ns, weight, usage_ns, nr_periods,"
		" nr_throttled, throttled_ns, threads, cite_id) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		"isIsIIIIIIIIsI", *source_id, g->path, known(&g->version), ctx->snapshot,
		known(&g->quota_ns), known(&g->period_ns), known(&g->burst_ns), known(&g->weight),
		known(&g->usage_ns), known(&g->nr_periods), known(&g->nr_throttled),
		known(&g->throttled_ns), threads, g->cite > 0 ? &g->cite : NULL);
}

/* ---- one file a member ---- */

static bool whole_ok(enum cg_file file, int version, const struct scan *group, const uint8_t *data,
		     uint64_t size, struct group *g)
{
	const char *next = (const char *)data, *end = next + size, *s;
	struct scan path = below_mount(*group), c;
	bool important;
	size_t len, lines = 0;

	group_init(g, path.p, scan_left(&path));
	if (version)
		g->version = version;
	while (scan_lines(&next, end, &s, &len)) {
		c = scan_mem(s, len);
		scan_trim(&c);
		if (scan_at_end(&c))
			continue;
		if (!take_line(g, file, c, &important))
			return false;
		lines++;
	}
	return lines || file == CG_THREADS;
}

static int file_sniff(const struct sniff *s)
{
	enum cg_file file;
	struct scan group;
	struct group g;
	int version;
	bool ok;

	if (s->size > 256 * 1024 || s->len < s->size ||
	    !split_path(s->name, strlen(s->name), &file, &version, &group) || file == CG_OTHER)
		return 0;
	ok = whole_ok(file, version, &group, s->head, s->size, &g);
	group_deinit(&g);
	return ok ? 90 : 0;
}

static struct error *file_parse(struct parse_ctx *ctx)
{
	const char *text = (const char *)ctx->m->data, *slash = strrchr(ctx->m->path, '/'), *nl,
		   *at;
	_cleanup_free_ char *dir =
		slash ? xstrndup(ctx->m->path, (size_t)(slash + 1 - ctx->m->path)) : NULL;
	struct error *err = NULL;
	int64_t source = 0;
	enum cg_file file;
	struct scan group;
	struct group g;
	int version;

	if (!split_path(ctx->m->name, strlen(ctx->m->name), &file, &version, &group))
		return error_new(ERR_INPUT, "not a file of the cpu controller");
	if (whole_ok(file, version, &group, ctx->m->data, ctx->m->size, &g)) {
		at = ctx->m->size ? memmem(text, ctx->m->size, "nr_throttled ", 13) : NULL;
		g.cite_fixed = at != NULL;
		at = at ? at : text;
		nl = ctx->m->size ? memchr(at, '\n', (size_t)(text + ctx->m->size - at)) : NULL;
		g.cite = ctx_cite_at(ctx, (uint64_t)(at - text), at,
				     (size_t)((nl ? nl : text + ctx->m->size) - at));
		err = store_group(ctx, &source, &g, dir);
	} else {
		parse_remark(ctx, true, "not what this file of the cpu controller can hold");
	}
	group_deinit(&g);
	return err;
}

static const struct parser cgroup_file = {
	.name		= "cgroup file",
	.kind		= PARSER_VALUE,
	.sniff		= file_sniff,
	.parse		= file_parse,
};
REGISTER(parsers, &cgroup_file);

/* ---- many under headings ---- */

struct dump_state {
	int64_t		source_id;
	struct group	*groups;
	size_t		n, cap;
	size_t		current;	/* index + 1; 0 none */
	enum cg_file	file;
};

static bool parse_heading(const struct line *ln, enum cg_file *file, int *version,
			  struct scan *group)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	if (scan_lit(&c, "==> ")) {
		if (scan_left(&c) < 5 || memcmp(c.end - 4, " <==", 4))
			return false;
		c.end -= 4;
	} else if (scan_lit(&c, "== ")) {
		if (scan_left(&c) > 3 && !memcmp(c.end - 3, " ==", 3))
			c.end -= 3;
	} else {
		return false;
	}
	if (scan_at_end(&c) || memchr(c.p, ' ', scan_left(&c)) || scan_left(&c) > 1024)
		return false;
	return split_path(c.p, scan_left(&c), file, version, group);
}

static bool is_heading(const struct line *ln)
{
	return starts_with(ln->s, ln->len, "== ") || starts_with(ln->s, ln->len, "==> ");
}

/*
 * A dump of nothing but the cpu controller's files; others go section by section through all
 * parsers.
 */
static int dump_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int headings = 0, lines = 0;
	enum cg_file file;
	struct scan group;
	int version;

	while (lines < 2000 && scan_lines(&next, end, &ln.s, &ln.len)) {
		if (!ln.len)
			continue;
		if (is_heading(&ln)) {
			if (!parse_heading(&ln, &file, &version, &group))
				return 0;
			headings += file != CG_OTHER;
		} else if (!lines) {
			return 0;
		}
		lines++;
	}
	return headings ? 82 : 0;
}

static struct error *dump_begin(struct parse_ctx *ctx __unused, void **state)
{
	*state = xcalloc(1, sizeof(struct dump_state));
	return NULL;
}

static enum line_result open_group(struct parse_ctx *ctx, struct dump_state *st, struct scan path,
				   enum cg_file file, int version)
{
	size_t i;

	st->file = file;
	st->current = 0;
	if (file == CG_OTHER)
		return LINE_SKIPPED;
	path = below_mount(path);
	for (i = 0; i < st->n; i++)
		if (span_is(path.p, scan_left(&path), st->groups[i].path))
			break;
	if (i == st->n) {
		if (st->n >= MAX_GROUPS) {
			parse_remark(ctx, true, "more than %d cgroups: the rest is left out", MAX_GROUPS);
			return LINE_SKIPPED;
		}
		GROW(st->groups, st->cap, st->n + 1);
		group_init(&st->groups[st->n++], path.p, scan_left(&path));
	}
	if (version)
		st->groups[i].version = version;
	st->current = i + 1;
	return LINE_SKIPPED;
}

static enum line_result dump_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct dump_state *st = state;
	struct scan c = scan_line(ln), path;
	bool important = false;
	enum cg_file file;
	struct group *g;
	int version;

	scan_trim(&c);
	if (is_heading(ln)) {
		st->current = 0;
		st->file = CG_OTHER;
		return parse_heading(ln, &file, &version, &path)
			       ? open_group(ctx, st, path, file, version)
			       : LINE_NOT_MINE;
	}
	if (scan_at_end(&c) || !st->current)
		return LINE_SKIPPED;
	g = &st->groups[st->current - 1];
	if (!take_line(g, st->file, c, &important))
		return LINE_NOT_MINE;
	if (!g->cite || (important && !g->cite_fixed)) {
		g->cite = ctx_cite(ctx, ln, CASE_NO_TIME);
		g->cite_fixed = important;
	}
	return LINE_TAKEN;
}

static struct error *dump_end(struct parse_ctx *ctx, void *state)
{
	struct dump_state *st = state;
	struct error *err = NULL;
	size_t i;

	for (i = 0; i < st->n; i++) {
		if (!err && st->groups[i].cite)
			err = store_group(ctx, &st->source_id, &st->groups[i], NULL);
		group_deinit(&st->groups[i]);
	}
	free(st->groups);
	free(st);
	return err;
}

static const struct parser cgroup_dump = {
	.name		= "cgroup",
	.kind		= PARSER_LINES,
	.priority	= 120,
	.sniff		= dump_sniff,
	.begin		= dump_begin,
	.line		= dump_line,
	.end		= dump_end,
};
static const void *const __attribute__((used, section("km_parsers"))) km_cgroup_dump_entry = &cgroup_dump;
