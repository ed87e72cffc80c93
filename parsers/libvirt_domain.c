// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvirt_domain.c - libvirt's domain XML: `virsh dumpxml`, /etc/libvirt/qemu/NAME.xml, and the
 * status file /run/libvirt/qemu/NAME.xml, which has the threads' ids. Also pasted into prose. Facts
 * are domain.NAME.KEY with KEY of the tables below, such as
 *
 *   vcpus                  text of <vcpu>
 *   cputune.vcpupin.N      CPUs that vCPU N is pinned to
 *   cputune.quota_us       microseconds in cputune.period_us, per vCPU; -1 or absent: none
 *   memory_kb              of <memory>, whatever its unit was
 *   cpu.mode, cpu.feature.NAME, hyperv.NAME, clock.timer.NAME.present
 *   pid, vcpu.N.tid        of a status file
 *
 * Quotas are rows of `cgroup` besides, as cpu.max of the groups that libvirt makes would give them:
 * NAME/vcpu* (each vCPU's), NAME/emulator, NAME/iothread*, NAME.
 *
 * Format: https://libvirt.org/formatdomain.html. expat gets a document from its root element on:
 * there can be no DOCTYPE in it, and so no entities but XML's own five.
 */
#include <expat.h>

#include "fact_out.h"

#define DOC_MAX		(8u << 20)
#define MAX_DEPTH	32
#define MAX_ITEMS	8192

enum xml_type {
	X_TEXT,		/* the element's text, blanks around it cut */
	X_ATTR,		/* an attribute */
	X_PRESENT,	/* "yes" where the element is there */
	X_SIZE,		/* text in the unit of attribute "unit", given in KiB */
	X_STATE,	/* attribute "state", "yes" where there is none */
};

/*
 * @path: from below <domain>, '*' is any element. @key with '%' for the value of attribute @index,
 * or for the element's name where @index is NULL.
 */
static const struct xml_spec {
	const char	*path, *attr, *key, *index;
	enum xml_type	type;
} specs[] = {
	{ "uuid", NULL, "uuid", NULL, X_TEXT },
	{ "", "type", "type", NULL, X_ATTR },
	{ "", "id", "id", NULL, X_ATTR },
	{ "memory", NULL, "memory_kb", NULL, X_SIZE },
	{ "currentMemory", NULL, "memory_current_kb", NULL, X_SIZE },
	{ "vcpu", NULL, "vcpus", NULL, X_TEXT },
	{ "vcpu", "current", "vcpus.current", NULL, X_ATTR },
	{ "vcpu", "cpuset", "vcpus.cpuset", NULL, X_ATTR },
	{ "vcpu", "placement", "vcpus.placement", NULL, X_ATTR },
	{ "iothreads", NULL, "iothreads", NULL, X_TEXT },
	{ "cputune/shares", NULL, "cputune.shares", NULL, X_TEXT },
	{ "cputune/period", NULL, "cputune.period_us", NULL, X_TEXT },
	{ "cputune/quota", NULL, "cputune.quota_us", NULL, X_TEXT },
	{ "cputune/global_period", NULL, "cputune.global_period_us", NULL, X_TEXT },
	{ "cputune/global_quota", NULL, "cputune.global_quota_us", NULL, X_TEXT },
	{ "cputune/emulator_period", NULL, "cputune.emulator_period_us", NULL, X_TEXT },
	{ "cputune/emulator_quota", NULL, "cputune.emulator_quota_us", NULL, X_TEXT },
	{ "cputune/iothread_period", NULL, "cputune.iothread_period_us", NULL, X_TEXT },
	{ "cputune/iothread_quota", NULL, "cputune.iothread_quota_us", NULL, X_TEXT },
	{ "cputune/vcpupin", "cpuset", "cputune.vcpupin.%", "vcpu", X_ATTR },
	{ "cputune/emulatorpin", "cpuset", "cputune.emulatorpin", NULL, X_ATTR },
	{ "cputune/iothreadpin", "cpuset", "cputune.iothreadpin.%", "iothread", X_ATTR },
	{ "cputune/vcpusched", "scheduler", "cputune.vcpusched.%", "vcpus", X_ATTR },
	{ "cputune/vcpusched", "priority", "cputune.vcpusched.%.priority", "vcpus", X_ATTR },
	{ "cputune/emulatorsched", "scheduler", "cputune.emulatorsched", NULL, X_ATTR },
	{ "cputune/iothreadsched", "scheduler", "cputune.iothreadsched.%", "iothreads", X_ATTR },
	{ "memoryBacking/hugepages", NULL, "memory.hugepages", NULL, X_PRESENT },
	{ "memoryBacking/hugepages/page", "size", "memory.hugepages.page", NULL, X_ATTR },
	{ "memoryBacking/hugepages/page", "unit", "memory.hugepages.page_unit", NULL, X_ATTR },
	{ "memoryBacking/nosharepages", NULL, "memory.nosharepages", NULL, X_PRESENT },
	{ "memoryBacking/locked", NULL, "memory.locked", NULL, X_PRESENT },
	{ "memoryBacking/source", "type", "memory.source", NULL, X_ATTR },
	{ "memoryBacking/access", "mode", "memory.access", NULL, X_ATTR },
	{ "memoryBacking/allocation", "mode", "memory.allocation", NULL, X_ATTR },
	{ "numatune/memory", "mode", "numatune.mode", NULL, X_ATTR },
	{ "numatune/memory", "nodeset", "numatune.nodeset", NULL, X_ATTR },
	{ "numatune/memory", "placement", "numatune.placement", NULL, X_ATTR },
	{ "numatune/memnode", "mode", "numatune.cell.%.mode", "cellid", X_ATTR },
	{ "numatune/memnode", "nodeset", "numatune.cell.%.nodeset", "cellid", X_ATTR },
	{ "cpu", "mode", "cpu.mode", NULL, X_ATTR },
	{ "cpu", "match", "cpu.match", NULL, X_ATTR },
	{ "cpu", "migratable", "cpu.migratable", NULL, X_ATTR },
	{ "cpu/model", NULL, "cpu.model", NULL, X_TEXT },
	{ "cpu/topology", "sockets", "cpu.sockets", NULL, X_ATTR },
	{ "cpu/topology", "dies", "cpu.dies", NULL, X_ATTR },
	{ "cpu/topology", "cores", "cpu.cores", NULL, X_ATTR },
	{ "cpu/topology", "threads", "cpu.threads", NULL, X_ATTR },
	{ "cpu/cache", "mode", "cpu.cache", NULL, X_ATTR },
	{ "cpu/feature", "policy", "cpu.feature.%", "name", X_ATTR },
	{ "cpu/numa/cell", "cpus", "cpu.numa.%.cpus", "id", X_ATTR },
	{ "features/hyperv", "mode", "hyperv.mode", NULL, X_ATTR },
	{ "features/hyperv/*", NULL, "hyperv.%", NULL, X_STATE },
	{ "features/hyperv/spinlocks", "retries", "hyperv.spinlocks.retries", NULL, X_ATTR },
	{ "features/hyperv/stimer/direct", NULL, "hyperv.stimer.direct", NULL, X_STATE },
	{ "features/kvm/*", NULL, "features.kvm.%", NULL, X_STATE },
	{ "features/ioapic", "driver", "features.ioapic.driver", NULL, X_ATTR },
	{ "features/*", NULL, "features.%", NULL, X_STATE },
	{ "clock", "offset", "clock.offset", NULL, X_ATTR },
	{ "clock/timer", "present", "clock.timer.%.present", "name", X_ATTR },
	{ "clock/timer", "tickpolicy", "clock.timer.%.tickpolicy", "name", X_ATTR },
	{ "clock/timer", "track", "clock.timer.%.track", "name", X_ATTR },
	{ "clock/timer", "mode", "clock.timer.%.mode", "name", X_ATTR },
	{ "clock/timer", "frequency", "clock.timer.%.frequency", "name", X_ATTR },
	{ "os", "firmware", "os.firmware", NULL, X_ATTR },
	{ "os/type", NULL, "os.type", NULL, X_TEXT },
	{ "os/type", "arch", "os.arch", NULL, X_ATTR },
	{ "os/type", "machine", "os.machine", NULL, X_ATTR },
	{ "os/loader", NULL, "os.loader", NULL, X_TEXT },
	{ "os/loader", "secure", "os.loader.secure", NULL, X_ATTR },
	{ "os/loader", "type", "os.loader.type", NULL, X_ATTR },
	{ "os/nvram", NULL, "os.nvram", NULL, X_TEXT },
	{ "resource/partition", NULL, "resource.partition", NULL, X_TEXT },
	{ "launchSecurity", "type", "launch_security", NULL, X_ATTR },
	{ "devices/emulator", NULL, "emulator", NULL, X_TEXT },
	{ "devices/memballoon", "model", "memballoon", NULL, X_ATTR },
	{ "devices/disk/driver", "iothread", "disk.iothread", NULL, X_ATTR },
	{ "devices/disk/iotune/total_iops_sec", NULL, "disk.iotune.total_iops_sec", NULL, X_TEXT },
	{ "devices/disk/iotune/read_iops_sec", NULL, "disk.iotune.read_iops_sec", NULL, X_TEXT },
	{ "devices/disk/iotune/write_iops_sec", NULL, "disk.iotune.write_iops_sec", NULL, X_TEXT },
	{ "devices/disk/iotune/total_bytes_sec", NULL, "disk.iotune.total_bytes_sec", NULL, X_TEXT },
	{ "devices/disk/iotune/read_bytes_sec", NULL, "disk.iotune.read_bytes_sec", NULL, X_TEXT },
	{ "devices/disk/iotune/write_bytes_sec", NULL, "disk.iotune.write_bytes_sec", NULL, X_TEXT },
	{ "devices/hostdev", "type", "hostdev", NULL, X_ATTR },
	{ "qemu:commandline/qemu:arg", "value", "qemu_arg", NULL, X_ATTR },
};

/* Of a status file, above <domain>. */
static const struct xml_spec status_specs[] = {
	{ "", "state", "state", NULL, X_ATTR },
	{ "", "reason", "state.reason", NULL, X_ATTR },
	{ "", "pid", "pid", NULL, X_ATTR },
	{ "vcpus/vcpu", "pid", "vcpu.%.tid", "id", X_ATTR },
};

/* A fact that waits for the domain's name. */
struct item {
	char		*key, *value;
	size_t		line;		/* index of its line in the document */
	int64_t		cite;
};

struct domain_state {
	struct fact_out	out;
	char		*text;		/* the document being collected */
	size_t		len, cap;
	uint64_t	*nos;		/* line numbers of its lines */
	size_t		*offs;		/* and their places in text */
	size_t		n_lines, cap_nos, cap_offs;
	bool		open, status, too_large;
	/* while it is parsed */
	XML_Parser	xml;
	char		path[256];	/* "/domstatus/domain/cputune/vcpupin" */
	unsigned int	depth;
	char		body[512];	/* text of the element at work */
	size_t		body_len;
	char		unit[16];
	char		name[65];
	struct item	*items;
	size_t		n_items, cap_items;
	const char	*refused;
	uint64_t	domains;
};

static bool begins_domain(struct scan c, bool *status)
{
	scan_blanks(&c);
	*status = scan_lit(&c, "<domstatus ");
	return *status || (scan_lit(&c, "<domain ") && (scan_find(&c, "type='") || scan_find(&c, "type=\"")));
}

static int domain_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	size_t len;
	bool status;

	/* Comments of libvirt ("WARNING: THIS IS AN AUTO-GENERATED FILE") come first. */
	while (scan_lines(&next, end, &p, &len)) {
		struct scan c = scan_mem(p, len);

		if (begins_domain(c, &status))
			return 85;
		if (*s->head != '<' || next - (const char *)s->head > 4096)
			return 0;
	}
	return 0;
}

static struct error *domain_begin(struct parse_ctx *ctx, void **state)
{
	struct domain_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "libvirt domain";
	st->out.side = fact_host_side(ctx);
	*state = st;
	return NULL;
}

/* ---- expat's calls ---- */

static const char *attr_of(const char **atts, const char *name)
{
	for (; atts && *atts; atts += 2)
		if (!strcmp(atts[0], name))
			return atts[1];
	return NULL;
}

/* Does @path (without its leading slash) fit @pattern? */
static bool path_fits(const char *path, const char *pattern)
{
	while (*pattern && *pattern != '*') {
		if (*path++ != *pattern++)
			return false;
	}
	return *pattern ? *path && !strchr(path, '/') : !*path;
}

/* The path below <domain> or <domstatus>; NULL when it is not below. */
static const char *below(const struct domain_state *st, bool *in_status)
{
	const char *p = st->path;

	*in_status = false;
	if (st->status) {
		if (strncmp(p, "/domstatus", 10))
			return NULL;
		p += 10;
		if (strncmp(p, "/domain/", 8) && strcmp(p, "/domain")) {
			*in_status = true;
			return p + (*p == '/');
		}
	}
	if (strncmp(p, "/domain", 7) || (p[7] && p[7] != '/'))
		return NULL;
	return p + 7 + (p[7] == '/');
}

static void add_item(struct domain_state *st, const struct xml_spec *s, const char *index,
		     const char *value)
{
	const char *percent = strchr(s->key, '%');
	struct item *it;

	if (st->n_items >= MAX_ITEMS) {
		st->refused = "has too many settings";
		return;
	}
	GROW(st->items, st->cap_items, st->n_items + 1);
	it = &st->items[st->n_items++];
	if (percent)
		it->key = xasprintf("%.*s%.64s%s", (int)(percent - s->key), s->key, index, percent + 1);
	else
		it->key = xstrdup(s->key);
	it->value = xstrndup(value, 1024);
	it->line = XML_GetCurrentLineNumber(st->xml);
}

static void take_attrs(struct domain_state *st, const struct xml_spec *s, const char *name,
		       const char **atts)
{
	const char *index = s->index ? attr_of(atts, s->index) : name, *value = NULL;

	if (s->type == X_PRESENT)
		value = "yes";
	else if (s->type == X_ATTR)
		value = attr_of(atts, s->attr);
	else if (s->type == X_STATE)
		value = attr_of(atts, "state") ? attr_of(atts, "state") : "yes";
	if (value && *value && index)
		add_item(st, s, index, value);
}

static void XMLCALL on_start(void *arg, const char *name, const char **atts)
{
	struct domain_state *st = arg;
	const struct xml_spec *s = specs;
	size_t n = ARRAY_SIZE(specs), len = strlen(st->path), i;
	const char *path, *unit;
	bool in_status;

	if (++st->depth > MAX_DEPTH || len + strlen(name) + 2 > sizeof(st->path) ||
	    strchr(name, '/')) {
		st->refused = "is nested too deeply";
		XML_StopParser(st->xml, XML_FALSE);
		return;
	}
	snprintf(st->path + len, sizeof(st->path) - len, "/%s", name);
	st->body_len = 0;
	unit = attr_of(atts, "unit");
	snprintf(st->unit, sizeof(st->unit), "%s", unit ? unit : "");
	path = below(st, &in_status);
	if (!path)
		return;
	if (in_status) {
		s = status_specs;
		n = ARRAY_SIZE(status_specs);
	}
	for (i = 0; i < n; i++)
		if (path_fits(path, s[i].path))
			take_attrs(st, &s[i], name, atts);
}

static void XMLCALL on_text(void *arg, const char *s, int len)
{
	struct domain_state *st = arg;
	size_t n = MIN((size_t)len, sizeof(st->body) - 1 - st->body_len);

	memcpy(st->body + st->body_len, s, n);
	st->body_len += n;
}

/* A size in its unit, in KiB; the units are libvirt's (formatdomain.html, "Memory Allocation"). */
static bool size_kb(struct scan c, const char *unit, char buf[24])
{
	static const struct { const char *name; uint64_t bytes; } units[] = {
		{ "", 1024 }, { "b", 1 }, { "bytes", 1 }, { "KB", 1000 }, { "k", 1024 }, { "KiB", 1024 }, { "MB", 1000000 },
		{ "M", 1 << 20 }, { "MiB", 1 << 20 }, { "GB", 1000000000 }, { "G", 1 << 30 }, { "GiB", 1 << 30 },
		{ "TB", 1000000000000 }, { "T", 1ULL << 40 }, { "TiB", 1ULL << 40 },
	};
	uint64_t v;
	size_t i;

	if (!scan_u64(&c, &v) || !scan_at_end(&c))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		if (__builtin_mul_overflow(v, units[i].bytes, &v))
			return false;
		snprintf(buf, 24, "%" PRIu64, v / 1024);
		return true;
	}
	return false;
}

static void take_text(struct domain_state *st, const char *path)
{
	struct scan c = scan_mem(st->body, st->body_len);
	char size[24];
	size_t i;

	while (!scan_at_end(&c) && (is_blank(*c.p) || *c.p == '\n'))
		c.p++;
	scan_trim(&c);
	if (scan_at_end(&c))
		return;
	if (!strcmp(path, "name"))
		fact_name(st->name, c.p, scan_left(&c));
	st->body[c.end - st->body] = '\0';
	for (i = 0; i < ARRAY_SIZE(specs); i++) {
		if ((specs[i].type != X_TEXT && specs[i].type != X_SIZE) ||
		    !path_fits(path, specs[i].path))
			continue;
		if (specs[i].type == X_TEXT)
			add_item(st, &specs[i], "", c.p);
		else if (size_kb(c, st->unit, size))
			add_item(st, &specs[i], "", size);
	}
}

static void XMLCALL on_end(void *arg, const char *name __unused)
{
	struct domain_state *st = arg;
	char *slash = strrchr(st->path, '/');
	bool in_status;
	const char *path = below(st, &in_status);

	if (path && !in_status)
		take_text(st, path);
	st->body_len = 0;
	if (slash)
		*slash = '\0';
	st->depth--;
}

/* ---- documents ---- */

static void cite_item(struct parse_ctx *ctx, struct domain_state *st, struct item *it)
{
	size_t at = MIN(it->line ? it->line - 1 : 0, st->n_lines - 1);
	size_t end = at + 1 < st->n_lines ? st->offs[at + 1] - 1 : st->len - 1;
	_cleanup_free_ char *key = xasprintf("domain.%s.%s", *st->name ? st->name : "unnamed", it->key);
	struct line ln = {
		.s = st->text + st->offs[at], .len = end - st->offs[at], .no = st->nos[at]};

	it->cite = ctx_cite(ctx, &ln, CASE_NO_TIME);
	fact_put(ctx, &st->out, key, it->value, strlen(it->value), it->cite);
}

/* ---- quotas ---- */

/* The number that the document gives @key; false where it gives none. @it: where it stands. */
static bool item_i64(const struct domain_state *st, const char *key, int64_t *v,
		     const struct item **it)
{
	size_t i;

	for (i = 0; i < st->n_items; i++) {
		struct scan c = scan_mem(st->items[i].value, strlen(st->items[i].value));

		if (strcmp(st->items[i].key, key) || !scan_i64(&c, v) || !scan_at_end(&c))
			continue;
		*it = &st->items[i];
		return true;
	}
	return false;
}

/* JSON array of the vCPUs' threads, as a status file has them; NULL where there are none. */
static char *vcpu_threads(const struct domain_state *st)
{
	char *text = NULL;
	size_t i;

	for (i = 0; i < st->n_items; i++) {
		struct scan key = scan_mem(st->items[i].key, strlen(st->items[i].key)), v;
		char *longer;
		int64_t n;

		v = scan_mem(st->items[i].value, strlen(st->items[i].value));
		if (!scan_lit(&key, "vcpu.") || !scan_i64(&key, &n) || !scan_lit(&key, ".tid") || !scan_i64(&v, &n))
			continue;
		longer = xasprintf("%s%s%" PRId64, text ? text : "[", text ? "," : "", n);
		free(text);
		text = longer;
	}
	if (text) {
		char *all = xasprintf("%s]", text);

		free(text);
		text = all;
	}
	return text;
}

/*
 * What libvirt writes into cpu.max (cpu.cfs_quota_us) of a domain's groups: each vCPU's, the
 * emulator's, each I/O thread's, and the whole domain's. Period 100 ms where none is given; a
 * quota of 0 is none given.
 */
static void quota_rows(struct parse_ctx *ctx, struct domain_state *st)
{
	static const struct { const char *prefix, *group; } groups[] = {
		{ "", "/vcpu*" }, { "emulator_", "/emulator" }, { "iothread_", "/iothread*" }, { "global_", "" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		_cleanup_free_ char *quota_key = xasprintf("cputune.%squota_us", groups[i].prefix);
		_cleanup_free_ char *period_key = xasprintf("cputune.%speriod_us", groups[i].prefix);
		_cleanup_free_ char *path = xasprintf("%s%s", *st->name ? st->name : "unnamed", groups[i].group);
		_cleanup_free_ char *threads = i ? NULL : vcpu_threads(st);
		const struct item *quota_item, *period_item;
		int64_t quota, period, cite;

		if (!item_i64(st, quota_key, &quota, &quota_item) || !quota ||
		    quota > INT64_MAX / 1000)
			continue;
		if (!item_i64(st, period_key, &period, &period_item) || period <= 0 ||
		    period > 1000000)
			period = 100000;
		if (!fact_source(ctx, &st->out))
			return;
		quota = quota < 0 ? -1 : quota * 1000;
		period *= 1000;
		cite = quota_item->cite;
		fact_failed(ctx, case_insert(ctx->db, NULL, "INSERT INTO cgroup(source_id, path, snapshot, quota_ns, period_ns, threads, cite_id) "
					     "VALUES(?,?,?,?,?,?,?)", "issiisI", st->out.source_id, path, ctx->snapshot, quota, period, threads,
					     cite > 0 ? &cite : NULL));
	}
}

static void parse_document(struct parse_ctx *ctx, struct domain_state *st)
{
	size_t i;

	st->xml = XML_ParserCreate("UTF-8");
	if (!st->xml) {
		parse_remark(ctx, true, "no memory for an XML parser");
		return;
	}
	st->path[0] = st->name[0] = '\0';
	st->depth = 0;
	st->refused = NULL;
	XML_SetUserData(st->xml, st);
	XML_SetElementHandler(st->xml, on_start, on_end);
	XML_SetCharacterDataHandler(st->xml, on_text);
	if (XML_Parse(st->xml, st->text, (int)st->len, XML_TRUE) != XML_STATUS_OK && !st->refused)
		parse_remark(
			ctx, true,
			"domain XML in line %" PRIu64 ": %s; what stands before it was read",
			st->nos[MIN((size_t)XML_GetCurrentLineNumber(st->xml), st->n_lines) - 1],
			XML_ErrorString(XML_GetErrorCode(st->xml)));
	if (st->refused)
		parse_remark(ctx, true, "the domain XML of line %" PRIu64 " %s", st->nos[0], st->refused);
	XML_ParserFree(st->xml);
	for (i = 0; i < st->n_items; i++)
		cite_item(ctx, st, &st->items[i]);
	quota_rows(ctx, st);
	for (i = 0; i < st->n_items; i++) {
		free(st->items[i].key);
		free(st->items[i].value);
	}
	st->n_items = 0;
}

static void collect(struct parse_ctx *ctx, struct domain_state *st, const struct line *ln)
{
	if (st->too_large || st->len + ln->len + 1 > DOC_MAX) {
		if (!st->too_large)
			parse_remark(ctx, true, "domain XML larger than 8 MiB: left out");
		st->too_large = true;
		return;
	}
	GROW(st->text, st->cap, st->len + ln->len + 1);
	GROW(st->nos, st->cap_nos, st->n_lines + 1);
	GROW(st->offs, st->cap_offs, st->n_lines + 1);
	st->nos[st->n_lines] = ln->no;
	st->offs[st->n_lines++] = st->len;
	memcpy(st->text + st->len, ln->s, ln->len);
	st->len += ln->len;
	st->text[st->len++] = '\n';
}

static enum line_result domain_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct domain_state *st = state;
	struct scan c = scan_line(ln);

	if (!st->open) {
		if (!begins_domain(c, &st->status)) {
			scan_blanks(&c);
			return !ctx->embedded && (scan_at_end(&c) || starts_with(c.p, scan_left(&c), "<")) ?
			       LINE_SKIPPED : LINE_NOT_MINE;
		}
		st->open = true;
		st->too_large = false;
		st->len = st->n_lines = 0;
	}
	scan_blanks(&c);
	if (ctx->embedded && !scan_at_end(&c) && !scan_find(&c, "<") && !scan_find(&c, ">")) {
		st->open = false;	/* prose: what stands before it was all that was pasted */
		if (!st->too_large)
			parse_document(ctx, st);
		return LINE_NOT_MINE;
	}
	collect(ctx, st, ln);
	if (scan_find(&c, st->status ? "</domstatus>" : "</domain>")) {
		st->open = false;
		if (!st->too_large)
			parse_document(ctx, st);
	}
	return LINE_TAKEN;
}

static struct error *domain_end(struct parse_ctx *ctx, void *state)
{
	struct domain_state *st = state;

	if (st->open && st->n_lines && !st->too_large)
		parse_document(ctx, st);
	free(st->text);
	free(st->nos);
	free(st->offs);
	free(st->items);
	free(st);
	return NULL;
}

static const struct parser domain = {
	.name		= "libvirt domain",
	.kind		= PARSER_LINES,
	.priority	= 20,
	.embed		= true,
	.sniff		= domain_sniff,
	.begin		= domain_begin,
	.line		= domain_line,
	.end		= domain_end,
};
REGISTER(parsers, &domain);
