// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mounts.c - /proc/mounts, /proc/PID/mountinfo and the output of mount: how cgroups are mounted.
 *
 *   cgroup2 /sys/fs/cgroup cgroup2 rw,relatime,favordynmods 0 0
 *   30 23 0:26 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,favordynmods
 *   cgroup2 on /sys/fs/cgroup type cgroup2 (rw,relatime)
 *
 * Facts:
 *
 *   mount.cgroup2.path, mount.cgroup2.options
 *                              of the version 2 hierarchy
 *   mount.cgroup.NAME.options  of a version 1 hierarchy with controller NAME (cpu, cpuset ...)
 *   cgroup.favordynmods        yes | no: is the option set on the version 2 hierarchy? Then fork
 *                              and exit pay, and not those who move tasks between cgroups.
 */
#include "scan.h"

struct mount_state {
	int64_t		source_id;
	struct strtab	seen;		/* key=value: the file is often there per process */
};

struct mount {
	struct scan	dir, type, options, super;	/* super: of mountinfo */
};

static bool field(struct scan *c, struct scan *ret)
{
	const char *from = c->p;

	while (c->p < c->end && !is_blank(*c->p))
		c->p++;
	*ret = scan_mem(from, (size_t)(c->p - from));
	scan_blanks(c);
	return c->p > from && !scan_at_end(ret);
}

static bool parse_mounts(struct scan c, struct mount *m)
{
	struct scan dev, dump, pass;

	return field(&c, &dev) && field(&c, &m->dir) && field(&c, &m->type) &&
	       field(&c, &m->options) && *m->dir.p == '/' && field(&c, &dump) &&
	       scan_left(&dump) == 1 && is_digit(*dump.p) && field(&c, &pass) &&
	       scan_left(&pass) == 1 && is_digit(*pass.p) && scan_at_end(&c);
}

static bool parse_mountinfo(struct scan c, struct mount *m)
{
	struct scan skip, source;
	uint64_t v;

	if (!scan_u64(&c, &v) || !scan_blanks(&c) || !scan_u64(&c, &v) || !scan_blanks(&c) ||
	    !scan_u64(&c, &v) || !scan_char(&c, ':') || !scan_u64(&c, &v) || !scan_blanks(&c) ||
	    !field(&c, &skip) || !field(&c, &m->dir) || !field(&c, &m->options) || *m->dir.p != '/')
		return false;
	if (!scan_lit(&c, "- ") && !scan_to(&c, " - "))
		return false;
	return field(&c, &m->type) && field(&c, &source) && field(&c, &m->super) && scan_at_end(&c);
}

/* DEV on DIR type TYPE (OPTIONS) */
static bool parse_mount_cmd(struct scan c, struct mount *m)
{
	struct scan dev;

	if (!field(&c, &dev) || !scan_lit(&c, "on ") || !field(&c, &m->dir) || *m->dir.p != '/' || !scan_lit(&c, "type ") ||
	    !field(&c, &m->type) || !scan_char(&c, '('))
		return false;
	m->options = c;
	if (scan_at_end(&c) || c.end[-1] != ')' || memchr(c.p, ' ', scan_left(&c)))
		return false;
	m->options.end--;
	return true;
}

static bool parse_mount(const struct line *ln, struct mount *m)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	scan_blanks(&c);
	memset(m, 0, sizeof(*m));
	return parse_mounts(c, m) || parse_mountinfo(c, m) || parse_mount_cmd(c, m);
}

static bool sniff_test(const struct line *ln)
{
	struct mount m;

	return parse_mount(ln, &m);
}

static int mounts_sniff(const struct sniff *s)
{
	unsigned int n;
	int share = sniff_lines(s, sniff_test, &n);

	return n && share >= 90 ? 80 : 0;
}

static struct error *mounts_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct mount_state *st = xcalloc(1, sizeof(*st));

	strtab_init(&st->seen, 4096);
	*state = st;
	return NULL;
}

static bool has_option(const struct scan *options, const char *name)
{
	struct scan c = *options;
	size_t n = strlen(name);

	while (!scan_at_end(&c)) {
		if (starts_with(c.p, scan_left(&c), name) && (scan_left(&c) == n || c.p[n] == ','))
			return true;
		if (!scan_to(&c, ","))
			break;
	}
	return false;
}

static struct error *fact(struct parse_ctx *ctx, struct mount_state *st, int64_t cite,
			  const char *key, const char *value)
{
	_cleanup_free_ char *both = xasprintf("%s=%s", key, value);
	size_t known = st->seen.n;

	strtab_id(&st->seen, both, strlen(both));
	if (st->seen.n == known)
		return NULL;
	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "mounts"));
	return case_fact(ctx->db, st->source_id, ctx->side, key, value, ctx->snapshot, cite);
}

static struct error *v1_facts(struct parse_ctx *ctx, struct mount_state *st, int64_t cite,
			      const struct scan *controllers, const char *options)
{
	static const char *const names[] = { "cpu", "cpuacct", "cpuset", "memory", "blkio", "freezer", "pids" };
	char key[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!has_option(controllers, names[i]))
			continue;
		snprintf(key, sizeof(key), "mount.cgroup.%s.options", names[i]);
		TRY(fact(ctx, st, cite, key, options));
	}
	return NULL;
}

static struct error *store(struct parse_ctx *ctx, struct mount_state *st, const struct line *ln,
			   const struct mount *m, bool v2)
{
	int64_t cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	_cleanup_free_ char *path = xstrndup(m->dir.p, scan_left(&m->dir));
	_cleanup_free_ char *options = m->super.p ?
		xasprintf("%.*s,%.*s", (int)scan_left(&m->options), m->options.p, (int)scan_left(&m->super), m->super.p) :
		xstrndup(m->options.p, scan_left(&m->options));
	const struct scan *own = m->super.p ? &m->super : &m->options;

	if (!v2)
		return v1_facts(ctx, st, cite, own, options);
	TRY(fact(ctx, st, cite, "mount.cgroup2.path", path));
	TRY(fact(ctx, st, cite, "mount.cgroup2.options", options));
	return fact(ctx, st, cite, "cgroup.favordynmods", has_option(own, "favordynmods") ? "yes" : "no");
}

static enum line_result mounts_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct error *err;
	struct mount m;
	bool v1, v2;

	if (!parse_mount(ln, &m))
		return LINE_NOT_MINE;
	v1 = span_is(m.type.p, scan_left(&m.type), "cgroup");
	v2 = span_is(m.type.p, scan_left(&m.type), "cgroup2");
	if (!v1 && !v2)
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	err = store(ctx, state, ln, &m, v2);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static struct error *mounts_end(struct parse_ctx *ctx __unused, void *state)
{
	struct mount_state *st = state;

	strtab_deinit(&st->seen);
	free(st);
	return NULL;
}

static const struct parser mounts = {
	.name		= "mounts",
	.kind		= PARSER_LINES,
	.priority	= 100,
	.embed		= true,
	.sniff		= mounts_sniff,
	.begin		= mounts_begin,
	.line		= mounts_line,
	.end		= mounts_end,
};
REGISTER(parsers, &mounts);
