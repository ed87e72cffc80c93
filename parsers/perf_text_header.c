// SPDX-License-Identifier: GPL-2.0-or-later
/* perf_text_header.c - the header that perf prints before its data; see perf_text_header.h. */
#include "perf_text_header.h"

#include "scan.h"

/* Lines by what stands behind "# ", up to their colon; blanks before it vary. */
enum what {
	SKIP,
	HOST,
	RELEASE,
	VERSION,
	ARCH,
	ONLINE,
	AVAIL,
	CPUDESC,
	CPUID,
	MEMORY,
	CMDLINE,
	EVENTS,
	CLOCKID,
	TOD
};

static const struct {
	const char	*name;
	enum what	what;
	const char	*key;
} rows[] = {
	{ "hostname", HOST, "host.name" },
	{ "os release", RELEASE, "kernel.release" },
	{ "perf version", VERSION, "perf.version" },
	{ "arch", ARCH, "cpu.arch" },
	{ "nrcpus online", ONLINE, "cpus.online" },
	{ "nrcpus avail", AVAIL, "cpus.available" },
	{ "cpudesc", CPUDESC, "cpu.desc" },
	{ "cpuid", CPUID, "cpu.id" },
	{ "total memory", MEMORY, "memory.total_kb" },
	{ "cmdline", CMDLINE, "perf.cmdline" },
	{ "event", EVENTS, NULL },
	{ "clockid", CLOCKID, NULL },
	{ "reference time", TOD, NULL },
	{ "captured on", SKIP, NULL },
	{ "header version", SKIP, NULL },
	{ "data offset", SKIP, NULL },
	{ "data size", SKIP, NULL },
	{ "feat offset", SKIP, NULL },
	{ "time of first sample", SKIP, NULL },
	{ "time of last sample", SKIP, NULL },
	{ "sample duration", SKIP, NULL },
	{ "pmu mappings", SKIP, NULL },
	{ "sibling sockets", SKIP, NULL },
	{ "sibling cores", SKIP, NULL },
	{ "sibling dies", SKIP, NULL },
	{ "sibling threads", SKIP, NULL },
	{ "missing features", SKIP, NULL },
	{ "compressed", SKIP, NULL },
	{ "clockid frequency", SKIP, NULL },
};

/* What is told in words, without a colon or with other things before it. */
static const char *const others[] = {
	"========", "CPU_TOPOLOGY info available", "NUMA_TOPOLOGY info available", "CACHE info available",
	"MEM_TOPOLOGY info available", "contains AUX area data", "contains samples with branch stack", "CPU ", "node",
	"group:", "directory data version", "bpf_prog_info", "btf info", "cpu pmu capabilities", "hybrid cpu system",
	"cpu_core", "cpu_atom", "CPU cache info", "L1 ", "L2 ", "L3 ", "memory nodes", "Core ID and Socket ID",
};

void perf_text_header_init(struct perf_text_header *h)
{
	memset(h, 0, sizeof(*h));
	h->clockid = -1;
}

void perf_text_header_free(struct perf_text_header *h)
{
	size_t i;

	free(h->host);
	free(h->release);
	free(h->arch);
	free(h->cmdline);
	for (i = 0; i < h->n_facts; i++)
		free(h->facts[i].value);
	for (i = 0; i < h->n_events; i++)
		free(h->events[i].name);
	free(h->events);
	perf_text_header_init(h);
}

/* "# NAME : VALUE": the row's index, and *c at the value; -1 when it is none. */
static int find_row(struct scan *c)
{
	size_t i;

	scan_trim(c);
	scan_blanks(c);
	if (!scan_lit(c, "# "))
		return -1;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scan t = *c;

		if (!scan_lit(&t, rows[i].name))
			continue;
		scan_blanks(&t);
		if (!scan_char(&t, ':'))
			continue;
		scan_blanks(&t);
		*c = t;
		return (int)i;
	}
	return -1;
}

bool perf_text_header_is(const char *s, size_t len)
{
	struct scan c = scan_mem(s, len);
	size_t i;

	if (find_row(&c) >= 0)
		return true;
	if (c.end - c.p < 3)	/* find_row() has moved behind "# " where there is one */
		return false;
	if (c.p == s || c.p[-1] != ' ')
		return false;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (starts_with(c.p, scan_left(&c), others[i]))
			return true;
	return false;
}

static int64_t number_after(const struct scan *line, const char *lit)
{
	struct scan c = *line;
	int64_t v;

	return scan_to(&c, lit) && scan_i64(&c, &v) ? v : -1;
}

/* "name = kvm:kvm_exit, , id = { 13, 14 }, type = 2, ..." */
static void take_event(struct perf_text_header *h, struct scan c)
{
	struct perf_text_event *e;
	const char *end;

	if (!scan_lit(&c, "name = "))
		return;
	end = scan_find(&c, ", ");
	if (!end || end == c.p || end - c.p > 200 || h->n_events >= PERF_TEXT_EVENTS)
		return;
	GROW(h->events, h->cap_events, h->n_events + 1);
	e = &h->events[h->n_events++];
	e->name = xstrndup(c.p, (size_t)(end - c.p));
	c.p = end;
	e->tracepoint = number_after(&c, ", type = ") == 2;
	e->sampled = number_after(&c, "{ sample_period, sample_freq } = ") > 1 || scan_find(&c, ", freq = 1");
	e->no_kernel = scan_find(&c, "exclude_kernel = 1") != NULL;
	e->carrier = number_after(&c, ", type = ") == 1 && scan_find(&c, "config = 0x9");
	if (scan_find(&c, "use_clockid = 1"))
		h->clockid = (int)number_after(&c, ", clockid = ");
}

/* "2026-11-30 17:13:59.1 = 1796058839.123456789 (TOD) = 21393.123456789 (monotonic)" */
static void take_tod(struct perf_text_header *h, struct scan c)
{
	int64_t wall, mono;

	if (!scan_to(&c, " = ") || !scan_dec(&c, NSEC_PER_SEC, &wall, NULL) || !scan_lit(&c, " (TOD) = ") ||
	    !scan_dec(&c, NSEC_PER_SEC, &mono, NULL))
		return;
	h->has_wall = true;
	h->wall_offset_ns = wall - mono;
}

static void keep(char **field, const struct scan *c)
{
	if (!*field && scan_left(c))
		*field = xstrndup(c->p, scan_left(c));
}

static void add_fact(struct parse_ctx *ctx, struct perf_text_header *h, const char *key,
		     const struct scan *c, const struct line *ln)
{
	size_t len = scan_left(c);

	if (h->n_facts >= PERF_TEXT_FACTS || !len)
		return;
	h->facts[h->n_facts].key = key;
	h->facts[h->n_facts].value = xstrndup(c->p, MIN(len, (size_t)4000));
	h->facts[h->n_facts++].cite = ctx_cite(ctx, ln, CASE_NO_TIME);
}

/* "node1 cpu list : 4-7" of `perf script -I` */
static bool take_node(struct parse_ctx *ctx, struct perf_text_header *h, struct scan c,
		      const struct line *ln)
{
	int64_t n;

	if (!scan_lit(&c, "node") || !scan_i64(&c, &n) || n < 0 || n > 4095)
		return false;
	scan_blanks(&c);
	if (scan_lit(&c, "cpu list") && h->nodes++ == 0)
		h->nodes_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	return true;
}

bool perf_text_header_line(struct parse_ctx *ctx, struct perf_text_header *h, const struct line *ln)
{
	struct scan c = scan_line(ln);
	int row = find_row(&c);
	struct scan kb;
	int64_t n;

	if (row < 0 && take_node(ctx, h, c, ln))
		return true;
	if (row < 0)
		return perf_text_header_is(ln->s, ln->len);
	h->n_lines++;
	switch (rows[row].what) {
	case HOST:
		keep(&h->host, &c);
		break;
	case RELEASE:
		keep(&h->release, &c);
		break;
	case ARCH:
		keep(&h->arch, &c);
		break;
	case CMDLINE:
		keep(&h->cmdline, &c);
		break;
	case ONLINE:
		kb = c;
		if (scan_i64(&kb, &n) && n > 0 && n < EVENT_CPU_NONE)
			h->cpus = (int)n;
		break;
	case MEMORY:
		kb = c;
		if (scan_i64(&kb, &n))
			c.end = kb.p;
		break;
	case EVENTS:
		take_event(h, c);
		break;
	case CLOCKID:
		if (scan_to(&c, "(") && scan_i64(&c, &n) && n >= 0 && n < 64)
			h->clockid = (int)n;
		break;
	case TOD:
		take_tod(h, c);
		break;
	default:
		break;
	}
	if (rows[row].key)
		add_fact(ctx, h, rows[row].key, &c, ln);
	return true;
}

bool perf_text_header_has_arg(const struct perf_text_header *h, const char *arg)
{
	const char *p = h->cmdline;
	size_t len = strlen(arg);

	while (p && (p = strstr(p, arg))) {
		if ((p == h->cmdline || p[-1] == ' ') &&
		    (!p[len] || p[len] == ' ' || p[len] == '='))
			return true;
		p += len;
	}
	return false;
}

enum cov_scope perf_text_header_scope(const struct perf_text_header *h)
{
	static const char *const tasks[] = { "-p", "--pid", "-t", "--tid", "-u", "--uid" };
	size_t i;

	if (perf_text_header_has_arg(h, "-C") || perf_text_header_has_arg(h, "--cpu"))
		return COV_CPUS;
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		if (perf_text_header_has_arg(h, tasks[i]))
			return COV_TASKS;
	if (perf_text_header_has_arg(h, "-a") || perf_text_header_has_arg(h, "--all-cpus"))
		return COV_SYSTEM;
	if (h->cmdline && strstr(h->cmdline, " sched record"))	/* adds the -a itself */
		return COV_SYSTEM;
	return COV_TASKS;
}

/* Numbers of the kernel's clocks: include/uapi/linux/time.h. */
const char *perf_text_header_clock(const struct perf_text_header *h)
{
	static const struct { int id; const char *name; } clocks[] = {
		{ 0, "wall" }, { 1, "mono" }, { 4, "mono_raw" }, { 7, "boot" }, { 11, "tai" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		if (h->clockid == clocks[i].id)
			return clocks[i].name;
	return h->clockid < 0 ? "sched" : "unknown";
}

struct error *perf_text_header_facts(struct parse_ctx *ctx, const struct perf_text_header *h,
				     int64_t source_id, const char *side)
{
	size_t i;

	for (i = 0; i < h->n_facts; i++)
		TRY(case_fact(ctx->db, source_id, side, h->facts[i].key, h->facts[i].value,
			      ctx->snapshot, h->facts[i].cite));
	if (h->nodes) {
		char nodes[24];

		snprintf(nodes, sizeof(nodes), "%zu", h->nodes);
		TRY(case_fact(ctx->db, source_id, side, "numa.nodes", nodes, ctx->snapshot, h->nodes_cite));
	}
	return NULL;
}

struct error *perf_text_header_source(struct parse_ctx *ctx, const struct perf_text_header *h,
				      int64_t *source_id, const char *format)
{
	if (*source_id)
		return NULL;
	TRY(ctx_source(ctx, source_id, format));
	TRY(perf_text_header_facts(ctx, h, *source_id, ctx->side));
	if (!h->n_lines)
		return NULL;
	return case_insert(ctx->db, NULL, "UPDATE source SET kernel = ?, arch = ?, host = ?, cpus = nullif(?, 0) WHERE id = ?",
			   "sssii", h->release, h->arch, h->host, (int64_t)h->cpus, *source_id);
}
