// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * values.c - bare values: one sysctl, module parameter or sysfs file a member, known by the tail of
 * its path, and taken only with a value it can have; also `sysctl -a` and `uname -a`.
 *
 * Extension and snapshot label of the file's name do not matter (uptime-before.txt). Facts:
 *
 *   param.MODULE.NAME          /sys/module/MODULE/parameters/NAME (kvm*, vhost*, vfio*, zswap ...)
 *   sysctl.A.B                 /proc/sys/A/B; `A.B = value` of sysctl -a (kernel.* and vm.*)
 *   ksm.NAME                   /sys/kernel/mm/ksm/NAME
 *   sched.preempt              none | voluntary | full | lazy: the live model, of
 *                              /sys/kernel/debug/sched/preempt
 *   sched.numa_balancing.NAME  /sys/kernel/debug/sched/numa_balancing/NAME
 *   thp.enabled, thp.defrag, thp.shmem_enabled, thp.khugepaged.NAME
 *                              /sys/kernel/mm/transparent_hugepage
 *   cpu.vulnerability.NAME     /sys/devices/system/cpu/vulnerabilities/NAME
 *   cpu.smt                    /sys/devices/system/cpu/smt/control
 *   clocksource.current        /sys/devices/system/clocksource/clocksource0/current_clocksource
 *   kernel.release, kernel.version, kernel.preempt.model (dynamic, rt)
 *                              /proc/version, uname -a
 *   kernel.cmdline, cmdline.NAME, cgroup.favordynmods.cmdline
 *                              /proc/cmdline
 *   host.name                  uname -a, etc/hostname, sos_commands/host/hostname
 *   proc.uptime_s              /proc/uptime, seconds
 */
#include "kernel_cmdline.h"

#define VALUE_MAX	4096

enum value_type {
	V_BOOL,
	V_NX,
	V_UINT,
	V_INT,
	V_PREEMPT,
	V_BRACKET,
	V_MITIGATION,
	V_WORD,
	V_UPTIME,
	V_VERSION,
	V_CMDLINE
};

/*
 * @tail: path components from the end, '*' is any one word; @key with '*' for that word. @bare: the
 * last component alone is enough, so unusual is it.
 */
static const struct value_spec {
	const char	*tail, *key;
	enum value_type	type;
	bool		bare;
} specs[] = {
	{ "kvm/parameters/nx_huge_pages",	"param.kvm.nx_huge_pages",	V_NX,	true },
	{ "kvm/parameters/tdp_mmu",		"param.kvm.tdp_mmu",		V_BOOL,	true },
	{ "kvm/parameters/nx_huge_pages_recovery_ratio", "param.kvm.nx_huge_pages_recovery_ratio", V_UINT, true },
	{ "kvm/parameters/nx_huge_pages_recovery_period_ms", "param.kvm.nx_huge_pages_recovery_period_ms", V_UINT, true },
	{ "kvm/parameters/halt_poll_ns",	"param.kvm.halt_poll_ns",	V_UINT,	true },
	{ "kvm/parameters/halt_poll_ns_grow",	"param.kvm.halt_poll_ns_grow",	V_UINT,	true },
	{ "kvm/parameters/halt_poll_ns_grow_start", "param.kvm.halt_poll_ns_grow_start", V_UINT, true },
	{ "kvm/parameters/halt_poll_ns_shrink",	"param.kvm.halt_poll_ns_shrink", V_UINT, true },
	{ "kvm/parameters/eager_page_split",	"param.kvm.eager_page_split",	V_BOOL,	true },
	{ "kvm/parameters/lapic_timer_advance_ns", "param.kvm.lapic_timer_advance_ns", V_INT, true },
	{ "kvm_intel/parameters/ept",		"param.kvm_intel.ept",		V_BOOL,	true },
	{ "kvm_intel/parameters/ple_gap",	"param.kvm_intel.ple_gap",	V_UINT,	true },
	{ "kvm_intel/parameters/ple_window",	"param.kvm_intel.ple_window",	V_UINT,	true },
	{ "kvm_amd/parameters/npt",		"param.kvm_amd.npt",		V_BOOL,	true },
	{ "kvm_amd/parameters/avic",		"param.kvm_amd.avic",		V_BOOL,	true },
	{ "module/kvm/parameters/*",		"param.kvm.*",			V_WORD,	false },
	{ "module/kvm_intel/parameters/*",	"param.kvm_intel.*",		V_WORD,	false },
	{ "module/kvm_amd/parameters/*",	"param.kvm_amd.*",		V_WORD,	false },
	{ "module/kvm_hv/parameters/*",		"param.kvm_hv.*",		V_WORD,	false },
	{ "module/vhost/parameters/*",		"param.vhost.*",		V_WORD,	false },
	{ "module/vhost_net/parameters/*",	"param.vhost_net.*",		V_WORD,	false },
	{ "module/vfio_iommu_type1/parameters/*", "param.vfio_iommu_type1.*",	V_WORD,	false },
	{ "module/haltpoll/parameters/*",	"param.haltpoll.*",		V_WORD,	false },
	{ "module/zswap/parameters/*",		"param.zswap.*",		V_WORD,	false },
	{ "module/rcupdate/parameters/*",	"param.rcupdate.*",		V_WORD,	false },
	{ "module/rcutree/parameters/*",	"param.rcutree.*",		V_WORD,	false },
	{ "sys/kernel/numa_balancing",		"sysctl.kernel.numa_balancing",	V_UINT,	true },
	{ "etc/hostname",			"host.name",			V_WORD,	false },
	{ "host/hostname",			"host.name",			V_WORD,	false },
	{ "sys/kernel/*",			"sysctl.kernel.*",		V_WORD,	false },
	{ "sys/vm/*",				"sysctl.vm.*",			V_WORD,	false },
	{ "mm/ksm/run",				"ksm.run",			V_UINT,	false },
	{ "mm/ksm/pages_sharing",		"ksm.pages_sharing",		V_UINT,	true },
	{ "mm/ksm/pages_shared",		"ksm.pages_shared",		V_UINT,	true },
	{ "mm/ksm/pages_to_scan",		"ksm.pages_to_scan",		V_UINT,	true },
	{ "mm/ksm/pages_unshared",		"ksm.pages_unshared",		V_UINT,	true },
	{ "mm/ksm/pages_volatile",		"ksm.pages_volatile",		V_UINT,	true },
	{ "mm/ksm/merge_across_nodes",		"ksm.merge_across_nodes",	V_UINT,	true },
	{ "mm/ksm/*",				"ksm.*",			V_INT,	false },
	{ "ksm/run",				"ksm.run",			V_UINT,	false },
	{ "sched/preempt",			"sched.preempt",		V_PREEMPT, true },
	{ "sched/base_slice_ns",		"sched.base_slice_ns",		V_UINT,	true },
	{ "sched/latency_ns",			"sched.latency_ns",		V_UINT,	false },
	{ "sched/min_granularity_ns",		"sched.min_granularity_ns",	V_UINT,	false },
	{ "sched/migration_cost_ns",		"sched.migration_cost_ns",	V_UINT,	false },
	{ "sched/numa_balancing/*",		"sched.numa_balancing.*",	V_INT,	false },
	{ "transparent_hugepage/enabled",	"thp.enabled",			V_BRACKET, false },
	{ "transparent_hugepage/defrag",	"thp.defrag",			V_BRACKET, false },
	{ "transparent_hugepage/shmem_enabled",	"thp.shmem_enabled",		V_BRACKET, true },
	{ "transparent_hugepage/khugepaged/*",	"thp.khugepaged.*",		V_INT,	false },
	{ "thp",				"thp.enabled",			V_BRACKET, true },
	{ "transparent_hugepage",		"thp.enabled",			V_BRACKET, true },
	{ "cpu/vulnerabilities/itlb_multihit",	"cpu.vulnerability.itlb_multihit", V_MITIGATION, true },
	{ "cpu/vulnerabilities/*",		"cpu.vulnerability.*",		V_MITIGATION, false },
	{ "cpu/smt/control",			"cpu.smt",			V_WORD,	false },
	{ "clocksource0/current_clocksource",	"clocksource.current",		V_WORD,	true },
	{ "proc/uptime",			"proc.uptime_s",		V_UPTIME, true },
	{ "proc/version",			"kernel.version",		V_VERSION, true },
	{ "proc/cmdline",			"kernel.cmdline",		V_CMDLINE, true },
};

/* A member's name without what is no part of the file's: extension and snapshot label. */
static size_t plain_len(const char *name)
{
	static const char *const ext[] = { ".txt", ".log", ".out", ".text" };
	static const char *const labels[] = { "before", "after", "mid", "start", "end", "pre", "post", "begin", "during" };
	size_t len = strlen(name), i, n, cut;

	for (i = 0; i < ARRAY_SIZE(ext); i++)
		if (str_ends(name, ext[i]))
			len -= strlen(ext[i]);
	for (cut = len; cut > 0 && is_digit(name[cut - 1]); cut--)
		;
	if (cut < len && cut > 1 && strchr("-.", name[cut - 1]))
		return cut - 1;
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		n = strlen(labels[i]);
		if (cut > n + 1 && !memcmp(name + cut - n, labels[i], n) && strchr("-_.", name[cut - n - 1]))
			return cut - n - 1;
	}
	return len;
}

/* Does the path end in @tail's components? @word, @word_len get what '*' stands for. */
static bool tail_matches(const char *path, size_t len, const char *tail, const char **word,
			 size_t *word_len)
{
	const char *p = path + len, *t = tail + strlen(tail);

	while (t > tail) {
		if (t[-1] == '*') {
			*word = p;
			while (p > path && (is_word(p[-1]) || p[-1] == '-' || p[-1] == '.'))
				p--;
			*word_len = (size_t)(*word - p);
			*word = p;
			if (!*word_len || *word_len > 64)
				return false;
			t--;
			continue;
		}
		if (p == path || p[-1] != t[-1])
			return false;
		p--;
		t--;
	}
	return p == path || p[-1] == '/' || p[-1] == '#';
}

static bool one_of(struct scan v, const char *words)
{
	size_t n = scan_left(&v);
	const char *w = words;

	while (*w) {
		size_t len = strcspn(w, " ");

		if (len == n && !memcmp(w, v.p, n))
			return true;
		w += len;
		w += *w == ' ';
	}
	return false;
}

static bool chosen(struct scan *v, char open, char close, const char *words)
{
	struct scan c = *v;
	const char *from, *to;

	from = memchr(c.p, open, scan_left(&c));
	if (!from)
		return false;
	from++;
	to = memchr(from, close, (size_t)(c.end - from));
	if (!to || memchr(to, open, (size_t)(c.end - to)))
		return false;
	*v = scan_mem(from, (size_t)(to - from));
	return one_of(*v, words);
}

static bool mitigation(struct scan v)
{
	return scan_lit(&v, "Not affected") || scan_lit(&v, "Vulnerable") || scan_lit(&v, "Mitigation") || scan_lit(&v, "KVM: ") ||
	       scan_lit(&v, "Unknown") || scan_lit(&v, "Processor vulnerable");
}

static bool printable_line(struct scan v)
{
	for (; v.p < v.end; v.p++)
		if ((unsigned char)*v.p < ' ' && *v.p != '\t')
			return false;
	return true;
}

static bool all_word(struct scan v)
{
	if (scan_at_end(&v))
		return false;
	for (; v.p < v.end; v.p++)
		if (!is_word(*v.p) && !memchr("-+.,:()/ \t", *v.p, 11))
			return false;
	return true;
}

/* A boot loader's line, and not some process's. */
static bool kernel_cmdline(struct scan v)
{
	static const char *const marks[] = { "BOOT_IMAGE=", "root=", "console=", "initrd=", "rootfstype=" };
	size_t i;

	if (*v.p == '/' || *v.p == '-' || scan_find(&v, "qemu"))
		return false;
	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (scan_find(&v, marks[i]))
			return true;
	return false;
}

/* Can @v be a value of that type? What is the value then is left in @v. */
static bool value_ok(enum value_type type, struct scan *v)
{
	struct scan c = *v;
	int64_t n;
	uint64_t u;

	switch (type) {
	case V_BOOL:
		return one_of(*v, "Y N y n 0 1");
	case V_NX:
		return one_of(*v, "Y N y n 0 1 never");
	case V_UINT:
		return scan_u64(&c, &u) && scan_at_end(&c);
	case V_INT:
		return scan_i64(&c, &n) && scan_at_end(&c);
	case V_PREEMPT:
		return chosen(v, '(', ')', "none voluntary full lazy");
	case V_BRACKET:
		return chosen(v, '[', ']', "always madvise never defer defer+madvise within_size advise deny force inherit");
	case V_MITIGATION:
		return mitigation(*v) && scan_left(v) < 400;
	case V_WORD:
		return scan_left(v) <= 128 && all_word(*v);
	case V_UPTIME:
		if (!scan_dec(&c, 1000, &n, NULL))
			return false;
		v->end = c.p;
		return scan_at_end(&c) ||
		       (scan_blanks(&c) && scan_dec(&c, 1000, &n, NULL) && scan_at_end(&c));
	case V_VERSION:
		return scan_lit(&c, "Linux version ") && !scan_at_end(&c) && is_digit(*c.p);
	case V_CMDLINE:
		return kernel_cmdline(c);
	}
	return false;
}

struct found_value {
	const struct value_spec *spec;
	struct scan	value;
	char		key[160];
};

static bool find_value(const char *name, const uint8_t *data, uint64_t size, struct found_value *f)
{
	struct scan v = scan_mem((const char *)data, size);
	size_t len = plain_len(name), i;

	if (!size || size > VALUE_MAX)
		return false;
	scan_trim(&v);
	scan_blanks(&v);
	if (scan_at_end(&v) || !printable_line(v))
		return false;
	for (i = 0; i < ARRAY_SIZE(specs); i++) {
		const struct value_spec *s = &specs[i];
		const char *word = "", *star = strchr(s->key, '*'), *last = strrchr(s->tail, '/');
		size_t word_len = 0;

		last = last ? last + 1 : s->tail;
		if (!tail_matches(name, len, s->tail, &word, &word_len) &&
		    !(s->bare && tail_matches(name, len, last, &word, &word_len)))
			continue;
		f->value = v;
		if (!value_ok(s->type, &f->value))
			return false;
		f->spec = s;
		if (star)
			snprintf(f->key, sizeof(f->key), "%.*s%.*s", (int)(star - s->key), s->key, (int)word_len, word);
		else
			snprintf(f->key, sizeof(f->key), "%s", s->key);
		return true;
	}
	return false;
}

static int value_sniff(const struct sniff *s)
{
	struct found_value f;

	return s->len == s->size && find_value(s->name, s->head, s->size, &f)
		       ? (f.spec->bare ? 88 : 86)
		       : 0;
}

static struct error *add_fact(struct parse_ctx *ctx, int64_t source, const char *key, const char *s,
			      size_t len, int64_t cite)
{
	_cleanup_free_ char *value = xstrndup(s, len);

	return case_fact(ctx->db, source, ctx->side, key, value, ctx->snapshot, cite);
}

static struct error *preempt_flag(struct parse_ctx *ctx, int64_t source, const struct scan *c,
				  int64_t cite)
{
	if (scan_find(c, " PREEMPT_DYNAMIC"))
		return add_fact(ctx, source, "kernel.preempt.model", "dynamic", 7, cite);
	if (scan_find(c, " PREEMPT_RT"))
		return add_fact(ctx, source, "kernel.preempt.model", "rt", 2, cite);
	return NULL;
}

/* The word at the cursor is the kernel's release. */
static struct error *release_fact(struct parse_ctx *ctx, int64_t source, struct scan c,
				  int64_t cite)
{
	_cleanup_free_ char *release = NULL;
	const char *s = c.p;

	while (c.p < c.end && !is_blank(*c.p))
		c.p++;
	release = xstrndup(s, (size_t)(c.p - s));
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET kernel = ? WHERE id = ?", "si", release, source));
	return add_fact(ctx, source, "kernel.release", s, (size_t)(c.p - s), cite);
}

static struct error *value_parse(struct parse_ctx *ctx)
{
	struct found_value f;
	struct scan c;
	int64_t source, cite;

	if (!find_value(ctx->m->name, ctx->m->data, ctx->m->size, &f))
		return error_new(ERR_INPUT, "not a value that this file can have");
	TRY(ctx_source(ctx, &source, "value"));
	cite = ctx_cite_at(ctx, (uint64_t)(f.value.p - (const char *)ctx->m->data), f.value.p,
			   scan_left(&f.value));
	TRY(add_fact(ctx, source, f.key, f.value.p, scan_left(&f.value), cite));
	c = f.value;
	if (f.spec->type == V_VERSION) {
		scan_lit(&c, "Linux version ");
		TRY(release_fact(ctx, source, c, cite));
		return preempt_flag(ctx, source, &c, cite);
	}
	if (f.spec->type == V_CMDLINE)
		return kernel_cmdline_facts(ctx, source, ctx->side, c, cite);
	return NULL;
}

static const struct parser value = {
	.name		= "value",
	.kind		= PARSER_VALUE,
	.sniff		= value_sniff,
	.parse		= value_parse,
};
REGISTER(parsers, &value);

/* ---- sysctl -a, uname -a ---- */

struct settings_state {
	int64_t		source_id;
};

struct setting {
	const char	*name;
	size_t		name_len;
	struct scan	value;
};

/* kernel.numa_balancing = 1 */
static bool parse_sysctl(const struct line *ln, struct setting *s)
{
	struct scan c = scan_line(ln);
	bool dot = false;

	scan_trim(&c);
	s->name = c.p;
	if (scan_at_end(&c) || !is_alpha(*c.p))
		return false;
	while (c.p < c.end && (is_word(*c.p) || memchr(".-/@:", *c.p, 5))) {
		dot |= *c.p == '.';
		c.p++;
	}
	s->name_len = (size_t)(c.p - s->name);
	if (!dot || s->name_len > 100 || !scan_lit(&c, " ="))
		return false;
	scan_char(&c, ' ');
	s->value = c;
	return scan_left(&c) < 1024;
}

/* Linux HOST 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian ... x86_64 GNU/Linux */
static bool parse_uname(const struct line *ln, struct scan *host, struct scan *release)
{
	struct scan c = scan_line(ln);
	const char *from;

	scan_trim(&c);
	if (!scan_lit(&c, "Linux ") || scan_at_end(&c))
		return false;
	from = c.p;
	while (c.p < c.end && !is_blank(*c.p))
		c.p++;
	*host = scan_mem(from, (size_t)(c.p - from));
	if (!scan_blanks(&c) || scan_at_end(&c) || !is_digit(*c.p))
		return false;
	*release = c;
	return scan_find(&c, " #") && (scan_find(&c, " SMP") || scan_find(&c, "GNU/Linux"));
}

static bool settings_test(const struct line *ln)
{
	struct scan host, release;
	struct setting s;

	return parse_sysctl(ln, &s) || parse_uname(ln, &host, &release) || starts_with(ln->s, ln->len, "sysctl: ");
}

static int settings_sniff(const struct sniff *s)
{
	unsigned int n;

	return sniff_lines(s, settings_test, &n) >= 90 && n ? 70 : 0;
}

static struct error *settings_begin(struct parse_ctx *ctx __unused, void **state)
{
	*state = xcalloc(1, sizeof(struct settings_state));
	return NULL;
}

static struct error *store_uname(struct parse_ctx *ctx, struct settings_state *st,
				 const struct line *ln, const struct scan *host,
				 const struct scan *release)
{
	int64_t cite;

	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "uname"));
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	TRY(add_fact(ctx, st->source_id, "host.name", host->p, scan_left(host), cite));
	TRY(release_fact(ctx, st->source_id, *release, cite));
	return preempt_flag(ctx, st->source_id, release, cite);
}

static struct error *store_sysctl(struct parse_ctx *ctx, struct settings_state *st,
				  const struct line *ln, const struct setting *s)
{
	_cleanup_free_ char *key = xasprintf("sysctl.%.*s", (int)s->name_len, s->name);

	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "sysctl"));
	return add_fact(ctx, st->source_id, key, s->value.p, scan_left(&s->value),
			ctx_cite(ctx, ln, CASE_NO_TIME));
}

/* Of prose only what `sysctl NAME` prints with a plain number. */
static bool wanted(const struct parse_ctx *ctx, const struct setting *s)
{
	struct scan v = s->value;
	int64_t n;

	if (!starts_with(s->name, s->name_len, "kernel.") && !starts_with(s->name, s->name_len, "vm."))
		return false;
	return !ctx->embedded || (scan_i64(&v, &n) && scan_at_end(&v));
}

static enum line_result settings_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct scan host, release;
	struct error *err;
	struct setting s;

	if (parse_uname(ln, &host, &release)) {
		err = store_uname(ctx, state, ln, &host, &release);
	} else if (parse_sysctl(ln, &s)) {
		if (!wanted(ctx, &s))
			return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
		err = store_sysctl(ctx, state, ln, &s);
	} else {
		return !ctx->embedded && settings_test(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
	}
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static struct error *settings_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser settings = {
	.name		= "settings",
	.kind		= PARSER_LINES,
	.priority	= 110,
	.embed		= true,
	.sniff		= settings_sniff,
	.begin		= settings_begin,
	.line		= settings_line,
	.end		= settings_end,
};
static const void *const __attribute__((used, section("km_parsers"))) km_settings_entry = &settings;
