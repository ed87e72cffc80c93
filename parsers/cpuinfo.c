// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuinfo.c - /proc/cpuinfo, and lscpu in English, also as JSON (-J: flat before util-linux 2.37,
 * then nested; as jq prints either). Facts, from whichever has them:
 *
 *   cpu.count, .sockets, .cores, .threads_per_core	numbers
 *   cpu.model, .vendor, .family, .model_number, .stepping, .microcode, .arch	as printed
 *   cpu.flag.NAME	yes | no: those of flag_names[]
 *   cpu.bug.NAME	yes: each of cpuinfo's "bugs"
 *   cpu.virtualization	VT-x | AMD-V
 *   cpu.hypervisor	KVM ... (lscpu): this machine is itself a VM
 *   cpu.vulnerability.NAME, numa.nodes, numa.node.N.cpus	lscpu
 */
#include <json-c/json.h>

#include "fact_out.h"

static const char *const flag_names[] = {
	"hypervisor", "vmx", "svm", "constant_tsc", "nonstop_tsc", "tsc_reliable", "ept", "npt", "avic", "x2apic", "arat", "ss",
	"split_lock_detect", "tsc_deadline_timer", "waitpkg",
};

/* The kernel's names of cpuinfo (arch/x86/kernel/cpu/proc.c, arch/arm64, s390) and lscpu's. */
static const struct { const char *name, *key; } names[] = {
	{ "model name", "cpu.model" }, { "vendor_id", "cpu.vendor" }, { "cpu family", "cpu.family" }, { "model", "cpu.model_number" },
	{ "stepping", "cpu.stepping" }, { "microcode", "cpu.microcode" }, { "siblings", "cpu.siblings" }, { "cpu cores", "cpu.cores" },
	{ "CPU implementer", "cpu.vendor" }, { "CPU part", "cpu.part" },
	{ "Architecture", "cpu.arch" }, { "CPU(s)", "cpu.count" }, { "Model name", "cpu.model" }, { "Vendor ID", "cpu.vendor" },
	{ "CPU family", "cpu.family" }, { "Model", "cpu.model_number" }, { "Stepping", "cpu.stepping" },
	{ "Thread(s) per core", "cpu.threads_per_core" }, { "Core(s) per socket", "cpu.cores" }, { "Socket(s)", "cpu.sockets" },
	{ "On-line CPU(s) list", "cpu.online" }, { "Off-line CPU(s) list", "cpu.offline" }, { "Virtualization", "cpu.virtualization" },
	{ "Hypervisor vendor", "cpu.hypervisor" }, { "Virtualization type", "cpu.virtualization_type" },
	{ "NUMA node(s)", "numa.nodes" },
};

struct cpu_state {
	struct fact_out	out;
	bool		lscpu, vulnerabilities, json;
	uint64_t	cpus;		/* "processor" lines */
	uint64_t	sockets[4];	/* seen physical ids below 256 */
	struct line	cpu_line;
	char		cpu_text[64];
	char		*field;		/* lscpu -J: the name whose value comes */
	bool		flags_done, bugs_done, seen[ARRAY_SIZE(names)];
};

/* NAME<blanks>: VALUE */
static bool split(const struct line *ln, struct scan *name, struct scan *value)
{
	struct scan c = scan_line(ln);
	const char *colon;

	scan_trim(&c);
	colon = memchr(c.p, ':', scan_left(&c));
	if (!colon)
		return false;
	*name = scan_mem(c.p, (size_t)(colon - c.p));
	scan_blanks(name);
	scan_trim(name);
	*value = scan_mem(colon + 1, (size_t)(c.end - colon - 1));
	scan_blanks(value);
	return scan_left(name) > 0 && scan_left(name) < 48;
}

static bool pair_test(const struct line *ln)
{
	struct scan name, value;

	return split(ln, &name, &value);
}

static int cpuinfo_sniff(const struct sniff *s)
{
	struct scan c = scan_mem((const char *)s->head, s->len);
	unsigned int n;

	if (scan_char(&c, '{'))
		return scan_left(&c) < 64 || !memmem(c.p, MIN(scan_left(&c), (size_t)64), "\"lscpu\"", 7) ||
		       !scan_find(&c, "\"field\"") ? 0 : 90;
	if (!scan_lit(&c, "processor\t") && !scan_lit(&c, "vendor_id       : IBM/S390") && !scan_lit(&c, "Architecture: "))
		return 0;
	return sniff_lines(s, pair_test, &n) >= 95 && n >= 2 ? 85 : 0;
}

static struct error *cpu_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct cpu_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "cpuinfo";
	*state = st;
	return NULL;
}

static bool has_flag(struct scan flags, const char *name)
{
	size_t n = strlen(name);

	while (!scan_at_end(&flags)) {
		const char *from = flags.p;

		while (flags.p < flags.end && !is_blank(*flags.p))
			flags.p++;
		if ((size_t)(flags.p - from) == n && !memcmp(from, name, n))
			return true;
		scan_blanks(&flags);
	}
	return false;
}

static void take_flags(struct parse_ctx *ctx, struct cpu_state *st, const struct line *ln,
		       struct scan v)
{
	char key[48];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flag_names); i++) {
		bool has = has_flag(v, flag_names[i]);

		snprintf(key, sizeof(key), "cpu.flag.%s", flag_names[i]);
		fact_line(ctx, &st->out, ln, key, scan_mem(has ? "yes" : "no", has ? 3 : 2));
	}
	st->flags_done = true;
}

static void take_bugs(struct parse_ctx *ctx, struct cpu_state *st, const struct line *ln,
		      struct scan v)
{
	char key[80];

	while (!scan_at_end(&v)) {
		const char *from = v.p;

		while (v.p < v.end && !is_blank(*v.p))
			v.p++;
		snprintf(key, sizeof(key), "cpu.bug.%.*s", (int)MIN((size_t)(v.p - from), (size_t)40), from);
		fact_line(ctx, &st->out, ln, key, scan_mem("yes", 3));
		scan_blanks(&v);
	}
	st->bugs_done = true;
}

/* "Itlb multihit" is itlb_multihit in sysfs. */
static void take_vulnerability(struct parse_ctx *ctx, struct cpu_state *st, const struct line *ln,
			       struct scan name, struct scan v)
{
	char key[96];
	size_t o = (size_t)snprintf(key, sizeof(key), "cpu.vulnerability."), i;

	for (i = 0; i < scan_left(&name) && o + 1 < sizeof(key); i++) {
		char ch = name.p[i];

		key[o++] = (char)(ch == ' ' ? '_' : ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
	}
	key[o] = '\0';
	/* lscpu since 2.33 writes "Mitigation; X" where sysfs has "Mitigation: X". */
	if (starts_with(v.p, scan_left(&v), "Mitigation; ")) {
		_cleanup_free_ char *text = xstrndup(v.p, scan_left(&v));

		text[10] = ':';
		fact_line(ctx, &st->out, ln, key, scan_mem(text, strlen(text)));
		return;
	}
	fact_line(ctx, &st->out, ln, key, v);
}

/* lscpu's own; false when the line is another. */
static bool lscpu_line(struct parse_ctx *ctx, struct cpu_state *st, const struct line *ln,
		       struct scan name, struct scan v)
{
	struct scan c = name;
	uint64_t node;
	char key[48];

	if (scan_lit(&c, "Vulnerability ")) {
		take_vulnerability(ctx, st, ln, c, v);
		return true;
	}
	if (span_is(name.p, scan_left(&name), "Vulnerabilities")) {
		st->vulnerabilities = true;
		return true;
	}
	if (st->vulnerabilities && is_blank(*ln->s)) {
		take_vulnerability(ctx, st, ln, name, v);
		return true;
	}
	if (scan_lit(&c, "NUMA node") && scan_u64(&c, &node) && scan_lit(&c, " CPU(s)") && scan_at_end(&c)) {
		snprintf(key, sizeof(key), "numa.node.%" PRIu64 ".cpus", node);
		fact_line(ctx, &st->out, ln, key, v);
		return true;
	}
	return false;
}

static void count_cpu(struct cpu_state *st, const struct line *ln)
{
	st->cpus++;
	st->cpu_line = *ln;
	snprintf(st->cpu_text, sizeof(st->cpu_text), "%.*s", (int)MIN(ln->len, sizeof(st->cpu_text) - 1), ln->s);
}

/* A name and its value; @ln to cite. */
static enum line_result cpu_pair(struct parse_ctx *ctx, struct cpu_state *st, const struct line *ln,
				 struct scan name, struct scan v)
{
	uint64_t id;
	size_t i;

	if (span_is(name.p, scan_left(&name), "Architecture"))
		st->lscpu = true;
	if (scan_at_end(&v) && !st->lscpu)
		return LINE_SKIPPED;
	if (st->lscpu && lscpu_line(ctx, st, ln, name, v))
		return LINE_TAKEN;
	if (span_is(name.p, scan_left(&name), "processor")) {
		count_cpu(st, ln);
	} else if (span_is(name.p, scan_left(&name), "physical id") && scan_u64(&v, &id) && id < 256) {
		st->sockets[id / 64] |= 1ULL << (id % 64);
	} else if (span_is(name.p, scan_left(&name), "flags") || span_is(name.p, scan_left(&name), "Flags")) {
		if (!st->flags_done)
			take_flags(ctx, st, ln, v);
	} else if (span_is(name.p, scan_left(&name), "bugs")) {
		if (!st->bugs_done)
			take_bugs(ctx, st, ln, v);
	} else {
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (span_is(name.p, scan_left(&name), names[i].name))
				break;
		if (i == ARRAY_SIZE(names))
			return LINE_SKIPPED;
		if (!st->seen[i])
			fact_line(ctx, &st->out, ln, names[i].key, v);
		st->seen[i] = true;
	}
	return LINE_TAKEN;
}

/* A JSON string: its text, or NULL (also where it is null). @c moves behind it. */
static char *json_text(struct scan *c)
{
	_cleanup_free_ char *quoted = NULL;
	const char *from = c->p;
	struct json_object *o;
	char *text = NULL;

	if (!scan_char(c, '"'))
		return NULL;
	while (c->p < c->end && *c->p != '"')
		c->p += *c->p == '\\' && c->end - c->p > 1 ? 2 : 1;
	if (!scan_char(c, '"'))
		return NULL;
	quoted = xstrndup(from, (size_t)(c->p - from));
	o = json_tokener_parse(quoted);
	if (json_object_is_type(o, json_type_string))
		text = xstrdup(json_object_get_string(o));
	json_object_put(o);
	return text;
}

/* "field": "CPU(s):", then "data": "2", in one line or two. */
static enum line_result json_line(struct parse_ctx *ctx, struct cpu_state *st,
				  const struct line *ln)
{
	enum line_result result = LINE_SKIPPED;
	struct scan c = scan_line(ln);

	while (!scan_at_end(&c)) {
		bool field = scan_lit(&c, "\"field\"");
		_cleanup_free_ char *text = NULL;
		struct scan name, v;

		if (!field && !scan_lit(&c, "\"data\"")) {
			c.p++;
			continue;
		}
		scan_blanks(&c);
		if (!scan_char(&c, ':'))
			continue;
		scan_blanks(&c);
		text = json_text(&c);
		if (field) {
			free(st->field);
			st->field = text;
			text = NULL;
			continue;
		}
		if (!st->field)
			continue;
		name = scan_mem(st->field, strcspn(st->field, ":"));
		v = scan_mem(text ? text : "", text ? strlen(text) : 0);
		if (span_is(name.p, scan_left(&name), "Vulnerabilities")) {
			st->vulnerabilities = true;
		} else if (text && st->vulnerabilities && !starts_with(name.p, scan_left(&name), "Vuln")) {
			take_vulnerability(ctx, st, ln, name, v);
			result = LINE_TAKEN;
		} else if (text && cpu_pair(ctx, st, ln, name, v) == LINE_TAKEN) {
			result = LINE_TAKEN;
		}
		free(st->field);
		st->field = NULL;
	}
	return result;
}

static enum line_result cpu_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct cpu_state *st = state;
	struct scan name, v, c = scan_line(ln);

	if (st->json || (!st->out.n && scan_char(&c, '{'))) {
		st->json = st->lscpu = true;
		return json_line(ctx, st, ln);
	}
	return split(ln, &name, &v) ? cpu_pair(ctx, st, ln, name, v) :
	       ln->len ? LINE_NOT_MINE : LINE_SKIPPED;
}

static struct error *cpu_end(struct parse_ctx *ctx, void *state)
{
	struct cpu_state *st = state;
	int64_t sockets = 0;
	size_t i;

	if (st->cpus && !st->lscpu) {
		st->cpu_line.s = st->cpu_text;
		st->cpu_line.len = strlen(st->cpu_text);
		fact_i64(ctx, &st->out, &st->cpu_line, "cpu.count", (int64_t)st->cpus);
		for (i = 0; i < ARRAY_SIZE(st->sockets); i++)
			sockets += __builtin_popcountll(st->sockets[i]);
		if (sockets)
			fact_i64(ctx, &st->out, &st->cpu_line, "cpu.sockets", sockets);
	}
	free(st->field);
	free(st);
	return NULL;
}

static const struct parser cpuinfo = {
	.name		= "cpuinfo",
	.kind		= PARSER_LINES,
	.priority	= 93,
	.sniff		= cpuinfo_sniff,
	.begin		= cpu_begin,
	.line		= cpu_line,
	.end		= cpu_end,
};
REGISTER(parsers, &cpuinfo);
