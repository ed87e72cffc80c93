// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * strace.c - output of strace -T, with -f, -t/-tt/-ttt/-r, or single lines of it pasted into prose.
 *
 *   389   1796060313.511727 ioctl(3, KVM_CREATE_VM, 0) = 4 <0.099454>
 *   [pid  393] ioctl(3, KVM_CREATE_VM, 0 <unfinished ...>
 *   [pid  393] <... ioctl resumed>)        = 4 <0.109109>
 *
 * Gives: a span for every KVM ioctl (KVM_RUN excepted) and for other calls of 1 ms and more, the
 * longest of each class (func `ioctl:NAME`, `madvise:ADVICE` or the call's name, origin 'strace'),
 * and syscall_stat for all calls with a duration. Spans have a start where lines are stamped: -ttt
 * on the wall clock, -t/-tt as time of day, -r from the first line on.
 */
#include "call_log.h"
#include "scan.h"

#define MAX_PENDING	1024
#define MAX_NAME	96

enum stamp { STAMP_NONE, STAMP_EPOCH, STAMP_DAY, STAMP_RELATIVE };

struct call_line {
	int64_t		tid;		/* -1: not printed */
	enum stamp	stamp;
	int64_t		time_ns;	/* of the stamp; -1 none */
	unsigned int	decimals;	/* of the stamp */
	char		name[MAX_NAME];	/* "futex", "ioctl:KVM_RUN" */
	bool		unfinished, resumed;
	int64_t		dur_ns;		/* -1: none printed */
	char		result[48];
	bool		failed;
};

struct pending {
	int64_t		tid, time_ns;
	char		name[MAX_NAME];
};

struct strace_state {
	int64_t		source_id;
	enum stamp	stamp;
	int64_t		clock_ns;	/* -r: time so far */
	int64_t		resolution_ns;
	int64_t		first_ns, last_ns;
	struct call_log	log;
	struct pending	*pending;
	size_t		n_pending, cap_pending;
	uint64_t	no_duration;
};

static bool two_digits(struct scan *c, unsigned int below, int64_t *v)
{
	if (scan_left(c) < 2 || !is_digit(c->p[0]) || !is_digit(c->p[1]))
		return false;
	*v = (c->p[0] - '0') * 10 + (c->p[1] - '0');
	if (*v >= below)
		return false;
	c->p += 2;
	return true;
}

/* -t, -tt: HH:MM:SS[.uuuuuu] */
static bool scan_day_time(struct scan *c, struct call_line *l)
{
	const char *from = c->p;
	int64_t h, m, s;

	if (two_digits(c, 24, &h) && scan_char(c, ':') && two_digits(c, 60, &m) &&
	    scan_char(c, ':') && c->p < c->end && is_digit(*c->p) &&
	    scan_dec(c, NSEC_PER_SEC, &s, &l->decimals) && s < 61 * (int64_t)NSEC_PER_SEC &&
	    scan_blanks(c)) {
		l->stamp = STAMP_DAY;
		l->time_ns = (h * 3600 + m * 60) * (int64_t)NSEC_PER_SEC + s;
		return true;
	}
	c->p = from;
	return false;
}

/* The columns before the call: pid (bare with -o, `[pid N]` on a terminal), then a stamp. */
static void scan_prefix(struct scan *c, struct call_line *l)
{
	const char *from;
	int64_t v;

	l->tid = l->time_ns = -1;
	scan_blanks(c);
	from = c->p;
	if (scan_lit(c, "[pid")) {
		scan_blanks(c);
		if (!scan_i64(c, &l->tid) || l->tid < 0 || !scan_char(c, ']')) {
			c->p = from;
			l->tid = -1;
		}
		scan_blanks(c);
	} else if (scan_i64(c, &v)) {
		if (v >= 0 && v <= INT32_MAX && scan_blanks(c))
			l->tid = v;
		else
			c->p = from;
	}
	if (scan_day_time(c, l))
		return;
	from = c->p;
	if (scan_dec(c, NSEC_PER_SEC, &v, &l->decimals) && l->decimals >= 3 && scan_blanks(c)) {
		l->time_ns = v;
		l->stamp = v >= 1000000000 * (int64_t)NSEC_PER_SEC ? STAMP_EPOCH : STAMP_RELATIVE;
		return;
	}
	c->p = from;
}

/* ` <0.067108>` at the end of the line. */
static bool take_duration(struct scan *c, int64_t *ns)
{
	const char *p = c->end;
	struct scan d;
	unsigned int decimals = 0;

	if (p <= c->p || p[-1] != '>')
		return false;
	for (p--; p > c->p && (is_digit(p[-1]) || p[-1] == '.'); p--)
		;
	d = scan_mem(p, (size_t)(c->end - 1 - p));
	if (p - c->p < 2 || p[-1] != '<' || !is_blank(p[-2]) ||
	    !scan_dec(&d, NSEC_PER_SEC, ns, &decimals) || !scan_at_end(&d) || !decimals)
		return false;
	c->end = p - 1;
	scan_trim(c);
	return true;
}

/* The last `) = ` with any number of blanks: what follows is the result. */
static const char *find_result(const struct scan *c)
{
	const char *p;

	for (p = c->end - 1; p > c->p; p--) {
		const char *q = p;

		if (*p != '=' || !is_blank(p[-1]))
			continue;
		while (q > c->p && is_blank(q[-1]))
			q--;
		if (q > c->p && q[-1] == ')')
			return p + 1;
	}
	return NULL;
}

static void copy_name(char *to, const char *prefix, const char *s, size_t len)
{
	snprintf(to, MAX_NAME, "%s%.*s", prefix, (int)MIN(len, (size_t)(MAX_NAME - 1)), s);
}

/* One or two hex digits. */
static bool hex_byte(struct scan *c, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *from = c->p, *at;

	for (*ret = 0; c->p < c->end && c->p - from < 2; c->p++) {
		at = memchr(digits, *c->p, 16);
		if (!at)
			break;
		*ret = *ret * 16 + (uint64_t)(at - digits);
	}
	return c->p > from;
}

/*
 * The request of `ioctl(fd, REQUEST, ...)`: by name, or raw as `_IOC(dir, 0xae, nr, size)` or one
 * number.
 */
static void ioctl_name(const struct scan *args, struct call_line *l)
{
	struct scan c = *args;
	const char *s;
	uint64_t nr;
	size_t len;

	copy_name(l->name, "", "ioctl", 5);
	if (!scan_to(&c, ", "))
		return;
	if (scan_lit(&c, "_IOC(")) {
		const char *name;

		if (!scan_to(&c, "0xae, 0x") || !hex_byte(&c, &nr))
			return;
		name = kvm_ioctl_name(nr);
		if (name)
			copy_name(l->name, "ioctl:", name, strlen(name));
		return;
	}
	if (scan_lit(&c, "0xae")) {
		const char *name = hex_byte(&c, &nr) ? kvm_ioctl_name(nr) : NULL;

		if (name)
			copy_name(l->name, "ioctl:", name, strlen(name));
		return;
	}
	if (!scan_word(&c, &s, &len))
		return;
	/*
	 * One number can be several requests, then strace prints "A or B". The IOMMU's mapping calls
	 * share theirs with calls that a VMM makes once or never.
	 */
	while (!span_is(s, len, "VFIO_IOMMU_MAP_DMA") && !span_is(s, len, "VFIO_IOMMU_UNMAP_DMA") &&
	       scan_lit(&c, " or ")) {
		struct scan other = c;
		const char *s2;
		size_t len2;

		if (!scan_word(&other, &s2, &len2))
			break;
		c = other;
		if (len2 > 11 && !memcmp(s2, "VFIO_IOMMU_", 11)) {
			s = s2;
			len = len2;
		}
	}
	copy_name(l->name, "ioctl:", s, len);
}

/* The advice of `madvise(0x7f..., 4096, MADV_DONTNEED)`: what a call costs others depends on it. */
static void madvise_name(const struct scan *args, struct call_line *l)
{
	struct scan c = *args;
	const char *s;
	size_t len;

	if (scan_to(&c, ", ") && scan_to(&c, ", ") && starts_with(c.p, scan_left(&c), "MADV_") &&
	    scan_word(&c, &s, &len))
		copy_name(l->name, "madvise:", s, len);
}

static bool parse_result(struct scan *c, struct call_line *l)
{
	const char *at = find_result(c);
	struct scan r;

	if (!at)
		return false;
	r = scan_mem(at, (size_t)(c->end - at));
	scan_blanks(&r);
	if (scan_at_end(&r) || !(is_digit(*r.p) || *r.p == '-' || *r.p == '?'))
		return false;
	l->failed = starts_with(r.p, scan_left(&r), "-1 E") || starts_with(r.p, scan_left(&r), "? E");
	snprintf(l->result, sizeof(l->result), "%.*s", (int)MIN(scan_left(&r), sizeof(l->result) - 1), r.p);
	return true;
}

static bool parse_call(const struct line *ln, struct call_line *l)
{
	struct scan c = scan_line(ln), args;
	const char *s;
	size_t len;

	memset(l, 0, sizeof(*l));
	l->dur_ns = -1;
	scan_trim(&c);
	scan_prefix(&c, l);
	if (scan_lit(&c, "<... ")) {
		if (!scan_word(&c, &s, &len) || !scan_lit(&c, " resumed>"))
			return false;
		copy_name(l->name, "", s, len);
		l->resumed = true;
		take_duration(&c, &l->dur_ns);
		c.p -= 1;	/* the '>' stands for the arguments' beginning */
		return parse_result(&c, l);
	}
	if (!scan_word(&c, &s, &len) || len > 40 || !scan_char(&c, '('))
		return false;
	args = c;
	copy_name(l->name, "", s, len);
	if (c.end - c.p >= 16 && !memcmp(c.end - 16, "<unfinished ...>", 16)) {
		l->unfinished = true;
	} else {
		take_duration(&c, &l->dur_ns);
		if (!parse_result(&c, l))
			return false;
	}
	args.end = c.end;
	if (span_is(s, len, "ioctl"))
		ioctl_name(&args, l);
	else if (span_is(s, len, "madvise"))
		madvise_name(&args, l);
	return true;
}

/* Lines that strace writes beside calls. */
static bool is_noise(const struct line *ln)
{
	struct call_line l;
	struct scan c = scan_line(ln);

	scan_trim(&c);
	if (scan_at_end(&c))
		return true;
	memset(&l, 0, sizeof(l));
	if (scan_lit(&c, "strace: "))
		return true;
	scan_prefix(&c, &l);
	return scan_lit(&c, "+++ ") || scan_lit(&c, "--- ") || scan_lit(&c, "<... ");
}

static bool sniff_test(const struct line *ln)
{
	struct call_line l;

	return (parse_call(ln, &l) && (l.dur_ns >= 0 || l.unfinished || l.stamp || l.tid >= 0)) ||
	       is_noise(ln);
}

static int strace_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, calls = 0;
	struct call_line l;

	while (calls < 2 && scan_lines(&next, end, &ln.s, &ln.len))
		calls += parse_call(&ln, &l) && l.dur_ns >= 0;
	return calls >= 2 && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static struct error *strace_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct strace_state *st = xcalloc(1, sizeof(*st));

	call_log_init(&st->log);
	st->first_ns = -1;
	*state = st;
	return NULL;
}

static void count_call(struct parse_ctx *ctx, struct strace_state *st, const struct line *ln,
		       const struct call_line *l)
{
	const struct call call = {
		.name = l->name, .result = l->result, .tid = l->tid,
		.time_ns = l->time_ns, .dur_ns = l->dur_ns,
		.cite_ns = l->stamp == STAMP_EPOCH ? l->time_ns : CASE_NO_TIME, .failed = l->failed,
	};

	call_log_add(ctx, &st->log, ln, &call);
}

static void remember(struct parse_ctx *ctx, struct strace_state *st, const struct call_line *l)
{
	struct pending *p = NULL;
	size_t i;

	for (i = 0; i < st->n_pending && !p; i++)
		if (st->pending[i].tid == l->tid)
			p = &st->pending[i];
	if (!p) {
		if (st->n_pending >= MAX_PENDING) {
			parse_remark(ctx, true, "more than %d unfinished calls at once: some are left out", MAX_PENDING);
			return;
		}
		GROW(st->pending, st->cap_pending, st->n_pending + 1);
		p = &st->pending[st->n_pending++];
	}
	p->tid = l->tid;
	p->time_ns = l->time_ns;
	memcpy(p->name, l->name, sizeof(p->name));
}

/*
 * Give a `resumed` line the name and start of its first half. False: that half was not seen, the
 * name alone is known.
 */
static bool recall(struct strace_state *st, struct call_line *l)
{
	size_t i;

	for (i = 0; i < st->n_pending; i++) {
		struct pending *p = &st->pending[i];
		size_t n = strlen(l->name);

		if (p->tid != l->tid || strncmp(p->name, l->name, n) ||
		    (p->name[n] && p->name[n] != ':'))
			continue;
		memcpy(l->name, p->name, sizeof(l->name));
		l->time_ns = p->time_ns;
		*p = st->pending[--st->n_pending];
		return true;
	}
	return false;
}

static enum line_result strace_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct strace_state *st = state;
	struct call_line l;

	if (!parse_call(ln, &l))
		return !ctx->embedded && is_noise(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
	if (ctx->embedded && l.dur_ns < 0 && !(l.unfinished && (l.tid >= 0 || l.stamp)))
		return LINE_NOT_MINE;
	if (l.stamp == STAMP_RELATIVE) {
		if (__builtin_add_overflow(st->clock_ns, l.time_ns, &st->clock_ns))
			st->clock_ns = INT64_MAX;
		l.time_ns = st->clock_ns;
	}
	if (l.stamp) {
		int64_t resolution = l.decimals >= 6   ? 1000
				     : l.decimals >= 3 ? 1000000
						       : (int64_t)NSEC_PER_SEC;

		st->stamp = l.stamp;
		st->resolution_ns = MAX(st->resolution_ns, resolution);
		st->first_ns = st->first_ns < 0 ? l.time_ns : MIN(st->first_ns, l.time_ns);
		st->last_ns = MAX(st->last_ns, l.time_ns);
	}
	if (!st->source_id) {
		struct error *err = ctx_source(ctx, &st->source_id, "strace");

		if (err) {
			parse_remark(ctx, true, "%s", err->what);
			error_free(err);
			return LINE_SKIPPED;
		}
	}
	if (l.unfinished) {
		remember(ctx, st, &l);
		return LINE_TAKEN;
	}
	if (l.resumed && !recall(st, &l))
		l.time_ns = -1;
	if (l.dur_ns < 0) {
		st->no_duration += !!strncmp(l.name, "exit", 4);	/* exit never returns */
		return LINE_SKIPPED;
	}
	count_call(ctx, st, ln, &l);
	return LINE_TAKEN;
}

static struct error *strace_store(struct parse_ctx *ctx, struct strace_state *st)
{
	static const struct { const char *name, *relation; } clocks[] = {
		[STAMP_EPOCH] = { "wall", "seconds since 1970, stamped at the call's beginning" },
		[STAMP_DAY] = { "time of day", "local time without a date (strace -t)" },
		[STAMP_RELATIVE] = { "relative", "sum of the steps of strace -r; 0 is the first call" },
	};

	if (st->stamp) {
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = ?, first_ns = ?, last_ns = ? WHERE id = ?", "siii",
				clocks[st->stamp].name, st->first_ns, st->last_ns, st->source_id));
		TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss",
				st->source_id, clocks[st->stamp].name, clocks[st->stamp].relation));
	}
	TRY(call_log_store(ctx, &st->log, st->source_id, "strace", st->resolution_ns ? st->resolution_ns : 1000));
	if (st->no_duration && !ctx->embedded)
		parse_remark(ctx, false, "%" PRIu64 " calls without a duration: record with strace -T", st->no_duration);
	return NULL;
}

static struct error *strace_end(struct parse_ctx *ctx, void *state)
{
	struct strace_state *st = state;
	struct error *err = NULL;

	if (st->source_id)
		err = strace_store(ctx, st);
	call_log_free(&st->log);
	free(st->pending);
	free(st);
	return err;
}

static const struct parser strace = {
	.name		= "strace",
	.kind		= PARSER_LINES,
	.priority	= 30,
	.embed		= true,
	.sniff		= strace_sniff,
	.begin		= strace_begin,
	.line		= strace_line,
	.end		= strace_end,
};
REGISTER(parsers, &strace);
