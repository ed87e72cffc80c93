// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * psi.c - pressure stall information: /proc/pressure/{cpu,memory,io,irq} and a control group's
 * cpu.pressure. Format: the kernel's Documentation/accounting/psi.rst; avgN in percent, total in
 * microseconds.
 *
 *   psi.cpu.some.avg10, .avg60, .avg300, .total_us	of the whole system; so `full`
 *   cgroup.PATH.psi.cpu.some.avg10 ...			of a control group
 */
#include "fact_out.h"

/* some avg10=0.12 avg60=0.00 avg300=0.00 total=12345 */
static bool psi_line(struct scan c, const char **kind, struct scan v[4])
{
	static const char *const names[4] = { "avg10=", " avg60=", " avg300=", " total=" };
	int64_t n;
	size_t i;

	scan_trim(&c);
	*kind = scan_lit(&c, "some ") ? "some" : scan_lit(&c, "full ") ? "full" : NULL;
	if (!*kind)
		return false;
	for (i = 0; i < 4; i++) {
		if (!scan_lit(&c, names[i]))
			return false;
		v[i].p = c.p;
		if (!scan_dec(&c, 100, &n, NULL))
			return false;
		v[i].end = c.p;
	}
	return scan_at_end(&c);
}

/*
 * What it is the pressure of, and the control group: out of "pressure/cpu", "GROUP/cpu.pressure" or a name that
 * holds both words.
 */
static const char *resource_of(const char *name, struct scan *group)
{
	static const char *const resources[] = { "cpu", "memory", "io", "irq" };
	const char *base = strrchr(name, '/'), *p;
	size_t i;

	base = base ? base + 1 : name;
	*group = scan_mem(name, 0);
	for (i = 0; i < ARRAY_SIZE(resources); i++) {
		size_t n = strlen(resources[i]);

		p = strstr(base, resources[i]);
		if (!p || !strstr(name, "pressure") || is_alpha(p[n]))
			continue;
		if (p == base && !strncmp(p + n, ".pressure", 9) && base > name) {
			const char *mount = strstr(name, "sys/fs/cgroup/");

			*group = scan_mem(mount ? mount + 14 : name, 0);
			group->end = base - 1 > group->p ? base - 1 : group->p;
		}
		return resources[i];
	}
	return NULL;
}

static int psi_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p, *kind;
	struct scan v[4], group;
	size_t len, n = 0;

	if (s->len < s->size || s->size > 4096)
		return 0;
	while (scan_lines(&next, end, &p, &len)) {
		if (!len)
			continue;
		if (!psi_line(scan_mem(p, len), &kind, v))
			return 0;
		n++;
	}
	return n && resource_of(s->name, &group) ? 92 : 0;
}

static struct error *psi_parse(struct parse_ctx *ctx)
{
	static const char *const names[4] = { "avg10", "avg60", "avg300", "total_us" };
	const char *next = (const char *)ctx->m->data, *end = next + ctx->m->size, *p, *kind;
	struct fact_out out = { .format = "pressure" };
	struct scan v[4], group;
	const char *resource = resource_of(ctx->m->name, &group);
	char path[65];
	size_t len, i;

	fact_name(path, group.p, scan_left(&group));
	while (resource && scan_lines(&next, end, &p, &len)) {
		int64_t cite;

		if (!psi_line(scan_mem(p, len), &kind, v))
			continue;
		cite = ctx_cite_at(ctx, (uint64_t)(p - (const char *)ctx->m->data), p, len);
		for (i = 0; i < 4; i++) {
			_cleanup_free_ char *key = xasprintf("%s%s%spsi.%s.%s.%s", *path ? "cgroup." : "", path, *path ? "." : "",
							     resource, kind, names[i]);

			fact_put(ctx, &out, key, v[i].p, scan_left(&v[i]), cite);
		}
	}
	return NULL;
}

static const struct parser psi = {
	.name		= "pressure",
	.kind		= PARSER_VALUE,
	.sniff		= psi_sniff,
	.parse		= psi_parse,
};
REGISTER(parsers, &psi);
