// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvm_counters.c - KVM's counters: debugfs files (/sys/kernel/debug/kvm/NAME, per VM PID-FD/NAME,
 * per vCPU PID-FD/vcpuN/NAME), and what `kvm_stat --once` and kvm_stat's screen print.
 *
 *   kvmstat.NAME			sum over all VMs, since the module was loaded
 *   kvmstat.NAME.per_s			events in one second: --once, the screen's CurAvg/s
 *   kvmstat.PID-FD.NAME		of one VM
 *   kvmstat.PID-FD.vcpuN.NAME		of one vCPU, such as tsc-offset
 *
 * Texts of tools/kvm/kvm_stat/kvm_stat in the kernel's tree: batch() prints "%-42s%10d%10d"; the
 * screen "%-42s%10d%7.1f%8d" a line under "Event ... Total %Total CurAvg/s".
 */
#include "fact_out.h"

/* ---- debugfs ---- */

struct kvm_path { struct scan vm, vcpu, name; };

static bool word_chars(struct scan c)
{
	if (scan_at_end(&c))
		return false;
	for (; c.p < c.end; c.p++)
		if (!is_word(*c.p) && *c.p != '-')
			return false;
	return true;
}

/* 1234-11 */
static bool is_vm(struct scan c)
{
	uint64_t v;

	return scan_u64(&c, &v) && scan_char(&c, '-') && scan_u64(&c, &v) && scan_at_end(&c);
}

static bool is_vcpu(struct scan c)
{
	uint64_t v;

	return scan_lit(&c, "vcpu") && scan_u64(&c, &v) && scan_at_end(&c);
}

static struct scan cut_last(struct scan *path)
{
	const char *slash = memrchr(path->p, '/', scan_left(path));
	struct scan last = scan_mem(slash ? slash + 1 : path->p, 0);

	last.end = path->end;
	path->end = slash ? slash : path->p;
	return last;
}

/* kvm, or a copy of it: kvm-before, kvm.2, kvm_after. */
static bool is_kvm_dir(struct scan c)
{
	static const char *const words[] = { "before", "after", "start", "end", "begin", "pre", "post", "mid", "during", "t" };
	uint64_t v;
	size_t i;

	if (!scan_lit(&c, "kvm") || scan_at_end(&c))
		return scan_at_end(&c);
	if (!strchr("-_.", *c.p++))
		return false;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (scan_lit(&c, words[i]))
			break;
	return scan_at_end(&c) ? i < ARRAY_SIZE(words) : scan_u64(&c, &v) && scan_at_end(&c);
}

/* .../debug/kvm[/PID-FD[/vcpuN]]/NAME; a copy's directories may be called debug-1, kvm-before */
static bool split_path(const char *name, struct kvm_path *p)
{
	struct scan path = scan_mem(name, strlen(name)), up;
	bool copy;

	memset(p, 0, sizeof(*p));
	p->name = cut_last(&path);
	if (!word_chars(p->name))
		return false;
	up = cut_last(&path);
	if (is_vcpu(up)) {
		p->vcpu = up;
		up = cut_last(&path);
	}
	if (is_vm(up)) {
		p->vm = up;
		up = cut_last(&path);
	} else if (scan_left(&p->vcpu)) {
		return false;
	}
	if (!is_kvm_dir(up))
		return false;
	copy = scan_left(&up) > 3;
	up = cut_last(&path);
	return scan_left(&p->vm) || copy || scan_lit(&up, "debug");
}

static bool one_number(const uint8_t *data, uint64_t size, struct scan *v)
{
	struct scan c;
	int64_t n;

	if (!size || size > 64)
		return false;
	*v = scan_mem((const char *)data, size);
	scan_trim(v);
	c = *v;
	return scan_i64(&c, &n) && scan_at_end(&c);
}

static int debugfs_sniff(const struct sniff *s)
{
	struct kvm_path p;
	struct scan v;

	return s->len == s->size && split_path(s->name, &p) && one_number(s->head, s->size, &v) ? 90
												: 0;
}

static struct error *debugfs_parse(struct parse_ctx *ctx)
{
	struct fact_out out = { .format = "kvm counters", .side = fact_host_side(ctx) };
	_cleanup_free_ char *key = NULL;
	struct kvm_path p;
	struct scan v;

	if (!split_path(ctx->m->name, &p) || !one_number(ctx->m->data, ctx->m->size, &v))
		return error_new(ERR_INPUT, "not a counter of KVM");
	key = xasprintf("kvmstat.%.*s%s%.*s%s%.*s", (int)scan_left(&p.vm), p.vm.p ? p.vm.p : "", scan_left(&p.vm) ? "." : "",
			(int)scan_left(&p.vcpu), p.vcpu.p ? p.vcpu.p : "", scan_left(&p.vcpu) ? "." : "",
			(int)MIN(scan_left(&p.name), (size_t)64), p.name.p);
	fact_put(ctx, &out, key, v.p, scan_left(&v), ctx_cite_at(ctx, 0, v.p, scan_left(&v)));
	return NULL;
}

static const struct parser kvm_debugfs = {
	.name		= "kvm counters",
	.kind		= PARSER_VALUE,
	.sniff		= debugfs_sniff,
	.parse		= debugfs_parse,
};
REGISTER(parsers, &kvm_debugfs);

/* ---- kvm_stat's output ---- */

struct stat_row { struct scan name; int64_t total, rate; };

/* kvm_exit(EPT_VIOLATION)    1234   56     or, on the screen,     1234   12.3   56 */
static bool read_row(const struct line *ln, struct stat_row *r)
{
	struct scan c = scan_line(ln), f;
	int64_t tenths;

	scan_trim(&c);
	scan_blanks(&c);
	r->name.p = c.p;
	while (c.p < c.end && (is_word(*c.p) || memchr("()-.:", *c.p, 5)))
		c.p++;
	r->name.end = c.p;
	r->rate = -1;
	if (!scan_left(&r->name) || scan_left(&r->name) > 64 || is_digit(*r->name.p) ||
	    !scan_blanks(&c) || !scan_i64(&c, &r->total) || r->total < 0)
		return false;
	if (!scan_blanks(&c))
		return scan_at_end(&c);
	f = c;
	if (scan_i64(&f, &r->rate) && scan_at_end(&f))
		return true;
	r->rate = -1;
	if (!scan_dec(&c, 10, &tenths, NULL))
		return false;
	return scan_at_end(&c) || (scan_blanks(&c) && scan_i64(&c, &r->rate) && scan_at_end(&c));
}

static bool row_test(const struct line *ln)
{
	struct stat_row r;

	return read_row(ln, &r);
}

static bool is_heading(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	return (scan_lit(&c, "Event ") && scan_find(&c, "Total ") && scan_find(&c, "CurAvg/s")) ||
	       starts_with(c.p, scan_left(&c), "kvm statistics - ");
}

static int kvm_stat_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, known = 0;

	while (scan_lines(&next, end, &ln.s, &ln.len)) {
		struct stat_row r;

		if (is_heading(&ln))
			return 85;
		if (read_row(&ln, &r))
			known += span_is(r.name.p, scan_left(&r.name), "kvm_exit") || span_is(r.name.p, scan_left(&r.name), "exits") ||
				 span_is(r.name.p, scan_left(&r.name), "halt_exits") || span_is(r.name.p, scan_left(&r.name), "mmu_cache_miss");
	}
	return known && sniff_lines(s, row_test, &n) == 100 ? 85 : 0;
}

struct stat_state { struct fact_out out; bool table; };

static struct error *stat_begin(struct parse_ctx *ctx, void **state)
{
	struct stat_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "kvm_stat";
	st->out.side = fact_host_side(ctx);
	*state = st;
	return NULL;
}

static enum line_result stat_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct stat_state *st = state;
	char key[96], name[65];
	struct stat_row r;

	if (is_heading(ln)) {
		st->table = true;
		return ctx->embedded ? LINE_TAKEN : LINE_SKIPPED;
	}
	if (!ln->len)
		return ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	if ((ctx->embedded && !st->table) || !read_row(ln, &r)) {
		st->table = false;
		return LINE_NOT_MINE;
	}
	if (span_is(r.name.p, scan_left(&r.name), "Total")) {
		st->table = false;
		return LINE_SKIPPED;
	}
	fact_name(name, r.name.p, scan_left(&r.name));
	snprintf(key, sizeof(key), "kvmstat.%s", name);
	fact_i64(ctx, &st->out, ln, key, r.total);
	if (r.rate >= 0) {
		snprintf(key, sizeof(key), "kvmstat.%s.per_s", name);
		fact_i64(ctx, &st->out, ln, key, r.rate);
	}
	return LINE_TAKEN;
}

static struct error *stat_end(struct parse_ctx *ctx __unused, void *state)
{
	free(state);
	return NULL;
}

static const struct parser kvm_stat = {
	.name		= "kvm_stat",
	.kind		= PARSER_LINES,
	.priority	= 94,
	.embed		= true,
	.sniff		= kvm_stat_sniff,
	.begin		= stat_begin,
	.line		= stat_line,
	.end		= stat_end,
};
static const void *const __attribute__((used, section("km_parsers"))) km_kvm_stat_entry = &kvm_stat;
