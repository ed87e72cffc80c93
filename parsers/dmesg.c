// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dmesg.c - kernel logs: dmesg (also -T, -x, --time-format iso, with caller ids), serial consoles, syslog and the journal's short
 * forms.
 *
 *   [  417.117917] watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [qemu-system-x86:176]
 *   Jan 04 10:33:10 debian kernel: watchdog: BUG: soft lockup - CPU#10 stuck for 101s! [allocate:1169]
 *
 * Gives log_line rows for lines that mean something (table alarms[] below), with call traces in `stack`; and facts:
 *
 *   kernel.release          6.1.0-50-amd64      "Linux version"
 *   kernel.version          the whole "Linux version" line
 *   kernel.cmdline          the command line
 *   kernel.preempt.boot     none | voluntary | full | lazy      "Dynamic Preempt:"
 *   kernel.preempt.model    dynamic | rt        from the version's PREEMPT_DYNAMIC, PREEMPT_RT
 *   kernel.hypervisor       KVM | Microsoft Hyper-V ...  "Hypervisor detected:": this kernel itself runs in a VM
 *   numa.nodes              from "NUMA: Node n", "NODE_DATA(n) allocated", "No NUMA configuration found"
 *   numa_balancing.boot     enabled             "mempolicy: Enabling automatic NUMA balancing"
 *   clocksource.unstable    tsc                 marked unstable by the watchdog or at boot
 *   cpu.vulnerability.itlb_multihit             "itlb_multihit:" / "iTLB multihit:" lines
 *   cgroup.favordynmods.cmdline  value of cgroup_favordynmods=
 *
 * Times: `[ 12.345678]` is the sched clock since boot (the source's clock is 'sched'); ISO stamps are wall clock; `-T` stamps are
 * dmesg's own estimate of the wall clock in an unknown zone ('wall-local'); syslog stamps have neither year nor zone ('syslog': ns since
 * the year's beginning). "sched_clock: Marking stable (a, b)->(c, d)" gives a clock row 'local' with offset d: ftrace's local
 * clock plus d is the sched clock (kernel/sched/clock.c, __sched_clock_offset).
 */
#include "scan.h"

#define MAX_PER_KIND	300
#define MAX_FRAMES	128
#define TRACE_REACH	60	/* lines from an alarm to its call trace */
#define SIDE_REACH	4	/* lines from "the guest's log says" to the log */
#define MAX_NODES	1024
#define MAX_BOOT_NS	(1000000000LL * (int64_t)NSEC_PER_SEC)	/* larger ones are dates, such as ping's */

enum stamp { STAMP_NONE, STAMP_BOOT, STAMP_ISO, STAMP_LOCAL, STAMP_SYSLOG };

struct log_entry {
	enum stamp	stamp;
	int64_t		time_ns;	/* CASE_NO_TIME */
	bool		kernel;		/* the line says that the kernel wrote it */
	struct scan	text;
};

struct dmesg_state {
	int64_t		source_id;
	const char	*side;
	enum stamp	stamp;
	int64_t		first_ns, last_ns;
	uint64_t	kinds[64];	/* rows per alarm */
	uint64_t	traces;
	/* the last alarm, for the call trace behind it */
	int64_t		alarm_row;
	uint64_t	alarm_line;
	/* the task named last ("CPU: 1 PID: 176 Comm: qemu-system-x86 Tainted...") */
	char		comm[32];
	int64_t		pid, cpu;
	uint64_t	comm_line;
	char		rip[96];
	uint64_t	rip_line;
	/* call trace being read */
	char		*frames;
	size_t		frames_len, frames_cap;
	unsigned int	n_frames;
	bool		in_trace;
	struct line	trace_line;	/* of "Call Trace:"; only no and off are kept */
	int64_t		trace_time;
	/* facts */
	unsigned int	nodes;
	int64_t		nodes_cite;
	bool		node_seen[MAX_NODES];
	bool		unstable_said;
	/* words of the prose around */
	const char	*prose_side;
	uint64_t	prose_line;
};

static const char *const months[] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
};

static bool digits(struct scan *c, size_t n, int64_t *v)
{
	size_t i;

	*v = 0;
	if (scan_left(c) < n)
		return false;
	for (i = 0; i < n; i++) {
		if (!is_digit(c->p[i]))
			return false;
		*v = *v * 10 + (c->p[i] - '0');
	}
	c->p += n;
	return true;
}

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar; the year starts in March for the count. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1 - 719468;
}

static bool month(struct scan *c, int64_t *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(months); i++) {
		if (scan_lit(c, months[i])) {
			*m = (int64_t)i + 1;
			return true;
		}
	}
	return false;
}

/* HH:MM:SS[.frac] */
static bool clock_time(struct scan *c, int64_t *ns)
{
	int64_t h, m, s;

	if (!digits(c, 2, &h) || !scan_char(c, ':') || !digits(c, 2, &m) || !scan_char(c, ':') || scan_left(c) < 2 ||
	    !is_digit(c->p[0]) || !is_digit(c->p[1]) || (scan_left(c) > 2 && is_digit(c->p[2])) ||
	    !scan_dec(c, NSEC_PER_SEC, &s, NULL))
		return false;
	*ns = (h * 3600 + m * 60) * (int64_t)NSEC_PER_SEC + s;
	return h < 24 && m < 60 && s < 62 * (int64_t)NSEC_PER_SEC;
}

/* 2026-11-30T18:02:20,123456+00:00 */
static bool iso_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	int64_t y, m, day, t, frac = 0, zh = 0, zm = 0, step = (int64_t)NSEC_PER_SEC;
	bool minus;

	if (!digits(&d, 4, &y) || !scan_char(&d, '-') || !digits(&d, 2, &m) || !scan_char(&d, '-') || !digits(&d, 2, &day) ||
	    y < 1970 || y > 2200 || m < 1 || m > 12 || day < 1 || day > 31)
		return false;
	if ((!scan_char(&d, 'T') && !scan_char(&d, ' ')) || !clock_time(&d, &t))
		return false;
	if (scan_char(&d, ','))
		for (; d.p < d.end && is_digit(*d.p); d.p++) {
			step /= 10;
			frac += step * (*d.p - '0');
		}
	if (!scan_char(&d, 'Z') && d.p < d.end && (*d.p == '+' || *d.p == '-')) {
		minus = *d.p++ == '-';
		if (!digits(&d, 2, &zh))
			return false;
		scan_char(&d, ':');
		digits(&d, 2, &zm);
		t += (minus ? 1 : -1) * (zh * 3600 + zm * 60) * (int64_t)NSEC_PER_SEC;
	}
	*ns = days_of(y, m, day) * 86400 * (int64_t)NSEC_PER_SEC + t + frac;
	*c = d;
	return true;
}

/* [Mon Nov 30 18:02:20 2026] without the brackets */
static bool ctime_stamp(struct scan *c, int64_t *ns)
{
	static const char days[] = "MonTueWedThuFriSatSun";
	struct scan d = *c;
	int64_t m, day, t, y;
	uint64_t v;

	if (scan_left(&d) < 4 || !memmem(days, sizeof(days) - 1, d.p, 3))
		return false;
	d.p += 3;
	if (!scan_blanks(&d) || !month(&d, &m) || !scan_blanks(&d) || !scan_u64(&d, &v) || v < 1 || v > 31)
		return false;
	day = (int64_t)v;
	if (!scan_blanks(&d) || !clock_time(&d, &t) || !scan_blanks(&d) || !digits(&d, 4, &y) || y < 1970 || y > 2200)
		return false;
	*ns = days_of(y, m, day) * 86400 * (int64_t)NSEC_PER_SEC + t;
	*c = d;
	return true;
}

/* Jan 04 10:33:10[.123456] : ns since the beginning of a year without leap day. */
static bool syslog_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	int64_t m, t;
	uint64_t day;

	if (!month(&d, &m) || !scan_blanks(&d) || !scan_u64(&d, &day) || day < 1 || day > 31 || !scan_blanks(&d) ||
	    !clock_time(&d, &t) || !scan_blanks(&d))
		return false;
	*ns = (days_of(2001, m, (int64_t)day) - days_of(2001, 1, 1)) * 86400 * (int64_t)NSEC_PER_SEC + t;
	*c = d;
	return true;
}

/* `<6>`, `kern  :info  : ` */
static void skip_level(struct scan *c)
{
	struct scan d = *c;
	uint64_t v;

	if (scan_char(&d, '<') && scan_u64(&d, &v) && v < 256 && scan_char(&d, '>')) {
		*c = d;
		return;
	}
	d = *c;
	if (scan_lit(&d, "kern") && scan_blanks(&d) && scan_char(&d, ':') && d.p < d.end && is_alpha(*d.p)) {
		while (d.p < d.end && is_alpha(*d.p))
			d.p++;
		scan_blanks(&d);
		if (scan_lit(&d, ": "))
			*c = d;
	}
}

/* `host kernel: `, what syslog and the journal put before the text. */
static bool skip_host(struct scan *c)
{
	struct scan d = *c;

	while (d.p < d.end && !is_blank(*d.p) && *d.p != ':')
		d.p++;
	if (d.p == c->p || !scan_blanks(&d) || !scan_lit(&d, "kernel:"))
		return false;
	scan_char(&d, ' ');
	*c = d;
	return true;
}

/* [   12.345678] or [   12.345678][    T1] */
static bool boot_stamp(struct scan *c, int64_t *ns)
{
	struct scan d = *c;
	unsigned int decimals = 0;

	if (!scan_char(&d, '['))
		return false;
	scan_blanks(&d);
	if (!scan_dec(&d, NSEC_PER_SEC, ns, &decimals) || decimals != 6 || *ns > MAX_BOOT_NS || !scan_char(&d, ']'))
		return false;
	*c = d;
	if (scan_char(&d, '[')) {
		scan_blanks(&d);
		if ((scan_char(&d, 'T') || scan_char(&d, 'C')) && scan_to(&d, "]"))
			*c = d;
	}
	scan_char(c, ' ');
	return true;
}

static void split_entry(const struct line *ln, struct log_entry *e)
{
	struct scan c = scan_line(ln), d;
	int64_t ns;

	memset(e, 0, sizeof(*e));
	e->time_ns = CASE_NO_TIME;
	scan_trim(&c);
	skip_level(&c);
	d = c;
	if (boot_stamp(&c, &ns)) {
		e->stamp = STAMP_BOOT;
		e->kernel = true;
		skip_host(&c);
	} else if (scan_char(&d, '[') && ctime_stamp(&d, &ns) && scan_char(&d, ']')) {
		c = d;
		scan_char(&c, ' ');
		e->stamp = STAMP_LOCAL;
		e->kernel = true;
	} else if (iso_stamp(&c, &ns)) {
		e->stamp = STAMP_ISO;
		scan_blanks(&c);
		e->kernel = skip_host(&c);
	} else if (syslog_stamp(&c, &ns)) {
		e->stamp = STAMP_SYSLOG;
		e->kernel = skip_host(&c);
	}
	if (e->stamp) {
		int64_t boot;

		e->time_ns = ns;
		if (e->stamp != STAMP_BOOT && e->kernel && boot_stamp(&c, &boot)) {
			e->stamp = STAMP_BOOT;	/* `Jan 04 .. host kernel: [  12.3] text`: the better clock of the two */
			e->time_ns = boot;
		}
	}
	e->text = c;
}

/* What is taken out of a line that means something. */
struct found {
	int64_t		cpu, tid, duration_ns;	/* -1 none */
	char		task[64];
};

static void number_after(const struct scan *text, const char *lit, int64_t *v)
{
	struct scan c = *text;
	uint64_t u;

	if (scan_to(&c, lit) && scan_u64(&c, &u) && u <= INT32_MAX)
		*v = (int64_t)u;
}

/* [allocate:1169] at the end; a comm may hold colons and brackets. */
static void task_in_brackets(const struct scan *text, struct found *f)
{
	const char *p = text->end, *open;
	struct scan c;

	if (p == text->p || p[-1] != ']')
		return;
	for (p--; p > text->p && is_digit(p[-1]); p--)
		;
	c = scan_mem(p, (size_t)(text->end - p));
	if (p - text->p < 2 || p[-1] != ':' || !scan_i64(&c, &f->tid))
		return;
	open = memrchr(text->p, '[', (size_t)(p - text->p));
	if (open)
		snprintf(f->task, sizeof(f->task), "%.*s", (int)(p - 1 - open - 1), open + 1);
}

/* watchdog: BUG: soft lockup - CPU#10 stuck for 101s! [allocate:1169] */
static bool soft_lockup(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	uint64_t s;

	number_after(t, "CPU#", &f->cpu);
	if (scan_to(&c, "stuck for ") && scan_u64(&c, &s) && s < 1000000)
		f->duration_ns = (int64_t)(s * NSEC_PER_SEC);
	task_in_brackets(t, f);
	return f->cpu >= 0;
}

static bool hard_lockup(const struct scan *t, struct found *f)
{
	number_after(t, "cpu ", &f->cpu);
	number_after(t, "CPU", &f->cpu);
	return true;
}

/* rcu: INFO: rcu_preempt self-detected stall on CPU / detected stalls on CPUs/tasks: */
static bool rcu_stall(const struct scan *t, struct found *f)
{
	number_after(t, "on CPU { ", &f->cpu);
	number_after(t, "on CPU {", &f->cpu);
	return true;
}

/* INFO: task NAME:PID blocked for more than 120 seconds. */
static bool hung_task(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	const char *name, *end, *colon;
	uint64_t s;

	if (!scan_to(&c, "INFO: task "))
		return false;
	name = c.p;
	end = scan_find(&c, " blocked for more than ");
	if (!end)
		return false;
	colon = memrchr(name, ':', (size_t)(end - name));
	if (!colon)
		return false;
	snprintf(f->task, sizeof(f->task), "%.*s", (int)(colon - name), name);
	c.p = colon + 1;
	if (!scan_i64(&c, &f->tid))
		f->tid = -1;
	if (scan_to(&c, "more than ") && scan_u64(&c, &s) && s < 10000000)
		f->duration_ns = (int64_t)(s * NSEC_PER_SEC);
	return true;
}

/* BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 31s! */
static bool workqueue_lockup(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	uint64_t s;

	number_after(t, "cpus=", &f->cpu);
	if (scan_to(&c, "stuck for ") && scan_u64(&c, &s) && s < 1000000)
		f->duration_ns = (int64_t)(s * NSEC_PER_SEC);
	return true;
}

/* perf: interrupt took too long (2503 > 2500) / NMI handler (...) took too long to run: 1.234 msecs */
static bool nmi_too_long(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	uint64_t ns;

	if (scan_to(&c, "too long (") && scan_u64(&c, &ns))
		f->duration_ns = ns <= INT64_MAX ? (int64_t)ns : -1;
	else if (scan_to(&c, "too long to run: ") && !scan_dec(&c, NSEC_PER_MSEC, &f->duration_ns, NULL))
		f->duration_ns = -1;
	return true;
}

/* x86/split lock detection: #AC: CPU 0/KVM/1234 took a split_lock trap at address: 0x... */
static bool split_lock(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	const char *name, *end, *slash;

	if (!scan_to(&c, "#AC: "))
		return true;
	name = c.p;
	end = scan_find(&c, " took a ");
	slash = end ? memrchr(name, '/', (size_t)(end - name)) : NULL;
	if (!slash)
		return true;
	snprintf(f->task, sizeof(f->task), "%.*s", (int)(slash - name), name);
	c.p = slash + 1;
	if (!scan_i64(&c, &f->tid))
		f->tid = -1;
	return true;
}

/* Out of memory: Killed process 1234 (qemu-system-x86) ... */
static bool oom(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	const char *end;

	number_after(t, "process ", &f->tid);
	if (scan_to(&c, "process ") && scan_to(&c, " (")) {
		end = scan_find(&c, ")");
		if (end)
			snprintf(f->task, sizeof(f->task), "%.*s", (int)(end - c.p), c.p);
	}
	return true;
}

static bool nothing(const struct scan *t __unused, struct found *f __unused)
{
	return true;
}

/* CPU: 1 PID: 176 at file:line ... or a plain text */
static bool warning(const struct scan *t, struct found *f)
{
	number_after(t, "CPU: ", &f->cpu);
	number_after(t, "PID: ", &f->tid);
	return true;
}

/*
 * Lines that mean something. @needle must be in the text (at its beginning where @start); @bare: it is unmistakable also
 * in prose without a stamp. The first that fits wins.
 */
static const struct alarm {
	const char	*kind, *needle;
	bool		start, bare;
	bool		(*take)(const struct scan *t, struct found *f);
} alarms[] = {
	{ "soft_lockup", "BUG: soft lockup - CPU#", false, true, soft_lockup },
	{ "hard_lockup", "Watchdog detected hard LOCKUP on cpu", false, true, hard_lockup },
	{ "rcu_stall", "self-detected stall on CPU", false, true, rcu_stall },
	{ "rcu_stall", "detected stalls on CPUs/tasks", false, true, rcu_stall },
	{ "rcu_stall", "detected expedited stalls on CPUs/tasks", false, true, rcu_stall },
	{ "hung_task", "INFO: task ", true, true, hung_task },
	{ "workqueue_lockup", "BUG: workqueue lockup - pool", true, true, workqueue_lockup },
	{ "rt_throttling", "RT throttling activated", false, true, nothing },
	{ "clocksource_unstable", "timekeeping watchdog on CPU", false, false, nothing },
	{ "clocksource_unstable", "Marking clocksource", false, false, nothing },
	{ "clocksource_unstable", "Marking TSC unstable", false, false, nothing },
	{ "clocksource_unstable", "Clocksource tsc unstable", true, false, nothing },
	{ "split_lock", "x86/split lock detection: #", true, false, split_lock },
	{ "nmi_too_long", "perf: interrupt took too long", true, false, nmi_too_long },
	{ "nmi_too_long", "INFO: NMI handler (", true, false, nmi_too_long },
	{ "oom", "Out of memory: Killed process", true, true, oom },
	{ "oom", "Memory cgroup out of memory: Killed process", true, true, oom },
	{ "oops", "BUG: kernel NULL pointer dereference", true, true, nothing },
	{ "oops", "BUG: unable to handle ", true, true, nothing },
	{ "oops", "general protection fault", true, false, nothing },
	{ "oops", "kernel BUG at ", true, true, nothing },
	{ "oops", "Oops: ", true, false, nothing },
	{ "oops", "BUG: scheduling while atomic", true, false, nothing },
	{ "oops", "Kernel panic - not syncing", true, true, nothing },
	{ "warning", "WARNING: CPU: ", true, false, warning },
	{ "hypervisor_error", "KVM: entry failed", true, false, nothing },
	{ "kvm", "kvm: ", true, false, nothing },
	{ "kvm", "kvm [", true, false, nothing },
	{ "kvm", "SVM: ", true, false, nothing },
	{ "kvm", "kvm_intel: ", true, false, nothing },
	{ "kvm", "kvm_amd: ", true, false, nothing },
	{ "kvm", "clocksource: kvm-clock", true, false, nothing },
};
_Static_assert(ARRAY_SIZE(alarms) <= 64, "kinds[] is by alarm");

static const struct alarm *find_alarm(const struct log_entry *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alarms); i++) {
		const struct alarm *a = &alarms[i];

		if (a->start ? starts_with(e->text.p, scan_left(&e->text), a->needle) : !!scan_find(&e->text, a->needle))
			return a;
	}
	return NULL;
}

static bool sniff_test(const struct line *ln)
{
	struct log_entry e;

	split_entry(ln, &e);
	return e.kernel;
}

static int dmesg_sniff(const struct sniff *s)
{
	unsigned int n;
	int share = sniff_lines(s, sniff_test, &n);

	/* A console or journal with much else between goes line by line through all parsers. */
	return n >= 1 && share >= 90 ? 75 : 0;
}

static struct error *dmesg_begin(struct parse_ctx *ctx, void **state)
{
	struct dmesg_state *st = xcalloc(1, sizeof(*st));

	st->side = ctx->side ? ctx->side : "unknown";
	st->first_ns = INT64_MAX;
	st->last_ns = INT64_MIN;
	st->pid = st->cpu = -1;
	*state = st;
	return NULL;
}

static struct error *want_source(struct parse_ctx *ctx, struct dmesg_state *st)
{
	if (st->source_id)
		return NULL;
	return ctx_source(ctx, &st->source_id, "dmesg");
}

static struct error *add_fact(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln, const struct log_entry *e,
			      const char *key, const char *value, size_t len)
{
	_cleanup_free_ char *v = xstrndup(value, MIN(len, (size_t)4096));

	TRY(want_source(ctx, st));
	return case_fact(ctx->db, st->source_id, st->side, key, v, ctx->snapshot, ctx_cite(ctx, ln, e->time_ns));
}

/* Linux version 6.1.0-50-amd64 (builder) (gcc ...) #1 SMP PREEMPT_DYNAMIC ... */
static struct error *version_facts(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
				   const struct log_entry *e)
{
	struct scan c = e->text;
	_cleanup_free_ char *release = NULL;
	const char *s;

	TRY(add_fact(ctx, st, ln, e, "kernel.version", c.p, scan_left(&c)));
	scan_lit(&c, "Linux version ");
	s = c.p;
	while (c.p < c.end && !is_blank(*c.p))
		c.p++;
	if (c.p == s)
		return NULL;
	TRY(add_fact(ctx, st, ln, e, "kernel.release", s, (size_t)(c.p - s)));
	release = xstrndup(s, MIN((size_t)(c.p - s), (size_t)256));
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET kernel = ? WHERE id = ?", "si", release, st->source_id));
	if (scan_find(&c, " PREEMPT_DYNAMIC"))
		return add_fact(ctx, st, ln, e, "kernel.preempt.model", "dynamic", 7);
	if (scan_find(&c, " PREEMPT_RT"))
		return add_fact(ctx, st, ln, e, "kernel.preempt.model", "rt", 2);
	return NULL;
}

static struct error *cmdline_facts(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
				   const struct log_entry *e, struct scan c)
{
	const char *s;

	TRY(add_fact(ctx, st, ln, e, "kernel.cmdline", c.p, scan_left(&c)));
	if (scan_to(&c, "cgroup_favordynmods=")) {
		s = c.p;
		while (c.p < c.end && !is_blank(*c.p))
			c.p++;
		TRY(add_fact(ctx, st, ln, e, "cgroup.favordynmods.cmdline", s, (size_t)(c.p - s)));
	}
	return NULL;
}

static void count_node(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln, const struct log_entry *e, uint64_t node)
{
	if (node >= MAX_NODES || st->node_seen[node])
		return;
	st->node_seen[node] = true;
	st->nodes++;
	st->nodes_cite = ctx_cite(ctx, ln, e->time_ns);
}

/* sched_clock: Marking stable (a, b)->(c, d) */
static struct error *marking_clock(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
				   const struct log_entry *e)
{
	struct scan c = e->text;
	int64_t off, cite;

	if (!scan_to(&c, ")->(") || !scan_to(&c, ", ") || !scan_i64(&c, &off) || !scan_char(&c, ')'))
		return NULL;
	TRY(want_source(ctx, st));
	cite = ctx_cite(ctx, ln, e->time_ns);
	return case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation, offset_ns, uncertainty_ns, cite_id)"
			   " VALUES(?,'local','offset_ns is to be added to ftrace''s local clock to get the sched clock',?,0,?)", "iiI",
			   st->source_id, off, cite > 0 ? &cite : NULL);
}

/* Facts out of the boot messages. *@taken is set when the line gave one. */
static struct error *read_facts(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln, const struct log_entry *e,
				bool *taken)
{
	static const struct { const char *lit, *key; bool rest; const char *value; } simple[] = {
		{ "Hypervisor detected: ", "kernel.hypervisor", true, NULL },
		{ "Dynamic Preempt: ", "kernel.preempt.boot", true, NULL },
		{ "mempolicy: Enabling automatic NUMA balancing", "numa_balancing.boot", false, "enabled" },
		{ "itlb_multihit: ", "cpu.vulnerability.itlb_multihit", true, NULL },
		{ "iTLB multihit: ", "cpu.vulnerability.itlb_multihit", true, NULL },
		{ "ITLB Multihit: ", "cpu.vulnerability.itlb_multihit", true, NULL },
	};
	struct scan c = e->text;
	uint64_t node;
	size_t i;

	*taken = true;
	if (scan_lit(&c, "Linux version ") && !scan_at_end(&c) && is_digit(*c.p))
		return version_facts(ctx, st, ln, e);
	c = e->text;
	if (!e->kernel) {
		*taken = false;
		return NULL;
	}
	if (scan_lit(&c, "Command line: ") || scan_lit(&c, "Kernel command line: "))
		return case_int(ctx->db, 0, "SELECT count(*) FROM fact WHERE source_id = ? AND key = 'kernel.cmdline'", "i", st->source_id) ?
		       NULL : cmdline_facts(ctx, st, ln, e, c);
	for (i = 0; i < ARRAY_SIZE(simple); i++)
		if (scan_lit(&c, simple[i].lit))
			return simple[i].rest ? add_fact(ctx, st, ln, e, simple[i].key, c.p, scan_left(&c)) :
			       add_fact(ctx, st, ln, e, simple[i].key, simple[i].value, strlen(simple[i].value));
	if (scan_lit(&c, "sched_clock: Marking stable"))
		return marking_clock(ctx, st, ln, e);
	if ((scan_lit(&c, "NUMA: Node ") || scan_lit(&c, "NODE_DATA(")) && scan_u64(&c, &node)) {
		count_node(ctx, st, ln, e, node);
		return want_source(ctx, st);
	}
	if (scan_lit(&c, "No NUMA configuration found")) {
		count_node(ctx, st, ln, e, 0);
		return want_source(ctx, st);
	}
	if ((scan_find(&c, "Marking TSC unstable") || scan_find(&c, "Marking clocksource 'tsc' as unstable")) && !st->unstable_said) {
		st->unstable_said = true;
		TRY(add_fact(ctx, st, ln, e, "clocksource.unstable", "tsc", 3));
	}
	*taken = false;
	return NULL;
}

static struct error *add_alarm(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln, const struct log_entry *e,
			       const struct alarm *a, bool *taken)
{
	struct found f = { .cpu = -1, .tid = -1, .duration_ns = -1 };
	_cleanup_free_ char *text = NULL;
	int64_t cite;

	*taken = a->take(&e->text, &f);
	if (!*taken)
		return NULL;
	TRY(want_source(ctx, st));
	if (st->kinds[a - alarms]++ >= MAX_PER_KIND) {
		parse_remark(ctx, false, "only the first %d lines of a kind (%s) are kept one by one", MAX_PER_KIND, a->kind);
		return NULL;
	}
	text = xstrndup(e->text.p, MIN(scan_left(&e->text), (size_t)1024));
	cite = ctx_cite(ctx, ln, e->time_ns);
	st->alarm_line = ln->no;
	return case_insert(ctx->db, &st->alarm_row,
			   "INSERT INTO log_line(source_id, side, time_ns, kind, cpu, task, tid, duration_ns, text, cite_id)"
			   " VALUES(?,?,?,?,?,?,?,?,?,?)", "isIsIsIIsI", st->source_id, st->side,
			   e->time_ns != CASE_NO_TIME ? &e->time_ns : NULL, a->kind, f.cpu >= 0 ? &f.cpu : NULL,
			   *f.task ? f.task : NULL, f.tid >= 0 ? &f.tid : NULL, f.duration_ns >= 0 ? &f.duration_ns : NULL, text,
			   cite > 0 ? &cite : NULL);
}

/* `func+0x156/0x360 [kvm]`, or `? func+0x1/0x2`, which the kernel found on the stack but does not vouch for. */
static bool parse_frame(struct scan c, bool *sure, const char **s, size_t *len)
{
	const char *from;

	scan_blanks(&c);
	*sure = !scan_lit(&c, "? ");
	from = c.p;
	while (c.p < c.end && (is_word(*c.p) || *c.p == '.'))
		c.p++;
	if (c.p == from || is_digit(*from) || c.p - from > 160 || !scan_lit(&c, "+0x"))
		return false;
	while (c.p < c.end && (is_word(*c.p) || *c.p == '/'))
		c.p++;
	*s = from;
	*len = (size_t)(c.p - from);
	if (scan_lit(&c, " [") && scan_to(&c, "]"))
		*len = (size_t)(c.p - from);
	return true;
}

static void add_frame(struct dmesg_state *st, const char *s, size_t len)
{
	if (st->n_frames >= MAX_FRAMES || len > 256)
		return;
	st->n_frames++;
	GROW(st->frames, st->frames_cap, st->frames_len + len + 1);
	memcpy(st->frames + st->frames_len, s, len);
	st->frames[st->frames_len + len] = '\n';
	st->frames_len += len + 1;
}

static void open_trace(struct dmesg_state *st, const struct line *ln, const struct log_entry *e)
{
	st->in_trace = true;
	st->n_frames = 0;
	st->frames_len = 0;
	st->trace_line = *ln;
	st->trace_time = e->time_ns;
	/* The function the CPU is in is not in the trace, which begins with return addresses. */
	if (*st->rip && ln->no - st->rip_line < TRACE_REACH)
		add_frame(st, st->rip, strlen(st->rip));
	*st->rip = '\0';
}

/* The trace is over: a row for it, and its stack for the alarm it came with. */
static struct error *close_trace(struct parse_ctx *ctx, struct dmesg_state *st)
{
	const char *comm = *st->comm && st->trace_line.no - st->comm_line < TRACE_REACH ? st->comm : NULL;
	_cleanup_free_ char *top = NULL;
	int64_t stack, cite;

	st->in_trace = false;
	if (!st->n_frames)
		return NULL;
	TRY(want_source(ctx, st));
	if (st->traces++ >= MAX_PER_KIND) {
		parse_remark(ctx, false, "only the first %d call traces are kept", MAX_PER_KIND);
		return NULL;
	}
	st->frames[st->frames_len - 1] = '\0';
	top = xstrndup(st->frames, strcspn(st->frames, "+\n"));
	TRY(case_insert(ctx->db, &stack, "INSERT INTO stack(source_id, frames, depth, top) VALUES(?,?,?,?)", "isis", st->source_id,
			st->frames, (int64_t)st->n_frames, top));
	cite = case_cite(ctx->db, ctx->m->id, (int64_t)st->trace_line.no, (int64_t)st->trace_line.off, st->trace_time, "Call Trace:", 11);
	if (st->alarm_row && st->trace_line.no - st->alarm_line < TRACE_REACH)
		TRY(case_insert(ctx->db, NULL, "UPDATE log_line SET stack_id = ? WHERE id = ? AND stack_id IS NULL", "ii", stack,
				st->alarm_row));
	return case_insert(ctx->db, NULL,
			   "INSERT INTO log_line(source_id, side, time_ns, kind, cpu, task, tid, text, stack_id, cite_id)"
			   " VALUES(?,?,?,'call_trace',?,?,?,?,?,?)", "isIIsIsiI", st->source_id, st->side,
			   st->trace_time != CASE_NO_TIME ? &st->trace_time : NULL, comm && st->cpu >= 0 ? &st->cpu : NULL, comm,
			   comm && st->pid >= 0 ? &st->pid : NULL, top, stack, cite > 0 ? &cite : NULL);
}

/* CPU: 1 PID: 176 Comm: qemu-system-x86 Tainted: ...; the same with UID: between on newer kernels */
static bool note_task(struct dmesg_state *st, const struct line *ln, struct scan c)
{
	const char *end;
	struct scan d;

	if (scan_lit(&c, "task:")) {	/* of sched_show_task(): task:rcu_preempt     state:R ... pid:16 */
		end = scan_find(&c, " state:");
		if (!end)
			return false;
		while (end > c.p && is_blank(end[-1]))
			end--;
		snprintf(st->comm, sizeof(st->comm), "%.*s", (int)MIN((size_t)(end - c.p), sizeof(st->comm) - 1), c.p);
		st->cpu = st->pid = -1;
		if (!scan_to(&c, " pid:") || !scan_i64(&c, &st->pid))
			st->pid = -1;
		st->comm_line = ln->no;
		return true;
	}
	if (!scan_lit(&c, "CPU: "))
		return false;
	st->cpu = st->pid = -1;
	if (!scan_i64(&c, &st->cpu) || !scan_to(&c, " PID: ") || !scan_i64(&c, &st->pid) || !scan_lit(&c, " Comm: "))
		return false;
	d = c;
	end = scan_find(&d, " Tainted: ");
	if (!end)
		end = scan_find(&d, " Not tainted");
	if (!end)
		end = c.end;
	snprintf(st->comm, sizeof(st->comm), "%.*s", (int)MIN((size_t)(end - c.p), sizeof(st->comm) - 1), c.p);
	st->comm_line = ln->no;
	return true;
}

static bool note_rip(struct dmesg_state *st, const struct line *ln, struct scan c)
{
	const char *s;
	size_t len;
	bool sure;

	if (!scan_lit(&c, "RIP: 0010:") || !parse_frame(c, &sure, &s, &len))
		return false;
	snprintf(st->rip, sizeof(st->rip), "%.*s", (int)MIN(len, sizeof(st->rip) - 1), s);
	st->rip_line = ln->no;
	return true;
}

/* Lines of a trace being read. LINE_NOT_MINE: the trace is over and the line is something else. */
static enum line_result trace_line(struct dmesg_state *st, const struct log_entry *e)
{
	static const char *const marks[] = { "<TASK>", "</TASK>", "<IRQ>", "</IRQ>", "<NMI>", "</NMI>", "<#", "<EOE>", "<SOFTIRQ>" };
	struct scan c = e->text;
	const char *s;
	size_t len, i;
	bool sure;

	scan_blanks(&c);
	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (starts_with(c.p, scan_left(&c), marks[i]))
			return LINE_TAKEN;
	if (!parse_frame(e->text, &sure, &s, &len))
		return LINE_NOT_MINE;
	if (sure)
		add_frame(st, s, len);
	return LINE_TAKEN;
}

/* In prose and without a stamp only what stands at the beginning of a line as the kernel writes it. */
static bool bare_ok(const struct log_entry *e)
{
	static const char *const starts[] = {
		"watchdog: ", "rcu: ", "INFO: ", "BUG: ", "kernel BUG at ", "Kernel panic - ", "Out of memory: ",
		"Memory cgroup out of memory: ", "sched: RT throttling", "[sched_delayed] sched: RT ", "NMI watchdog: ",
		"Watchdog detected ",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(e->text.p, scan_left(&e->text), starts[i]))
			return true;
	return false;
}

static bool has_word(const struct scan *c, const char *word)
{
	const char *at = scan_find(c, word);

	return at && (at == c->p || !is_alpha(at[-1]));
}

/* "The guest journal logs some soft lockups:" above a log says whose it is. */
static void note_prose(struct dmesg_state *st, const struct line *ln)
{
	static const char *const logs[] = { "journal", "log", "dmesg", "console", "kernel", "syslog" };
	struct scan c = scan_line(ln);
	bool guest = has_word(&c, "guest") || has_word(&c, "Guest"), host = has_word(&c, "host") || has_word(&c, "Host");
	size_t i;

	if (guest == host)
		return;
	for (i = 0; i < ARRAY_SIZE(logs); i++) {
		if (has_word(&c, logs[i])) {
			st->prose_side = guest ? "guest" : "host";
			st->prose_line = ln->no;
			return;
		}
	}
}

static void choose_side(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln)
{
	if (!ctx->embedded)
		return;
	if (st->prose_side && ln->no - st->prose_line <= SIDE_REACH) {
		st->side = st->prose_side;
		st->prose_line = ln->no;	/* and the next lines of the same log */
	} else {
		st->side = ctx->side ? ctx->side : "unknown";
	}
}

static struct error *understand(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln, const struct log_entry *e,
				enum line_result *result)
{
	const struct alarm *a = NULL;
	bool taken = false;

	if (st->in_trace) {
		*result = trace_line(st, e);
		if (*result == LINE_TAKEN)
			return NULL;
		TRY(close_trace(ctx, st));
	}
	*result = e->kernel && !ctx->embedded ? LINE_SKIPPED : LINE_NOT_MINE;
	if (e->kernel || bare_ok(e))
		a = find_alarm(e);
	if (a || e->kernel)
		choose_side(ctx, st, ln);
	TRY(read_facts(ctx, st, ln, e, &taken));
	if (!taken && a && (e->kernel || a->bare))
		TRY(add_alarm(ctx, st, ln, e, a, &taken));
	if (taken) {
		*result = LINE_TAKEN;
	} else if ((e->kernel || st->alarm_row) && (starts_with(e->text.p, scan_left(&e->text), "Call Trace:") ||
						    starts_with(e->text.p, scan_left(&e->text), "Call trace:"))) {
		open_trace(st, ln, e);
		*result = LINE_TAKEN;
	} else if ((e->kernel || st->alarm_row) && (note_task(st, ln, e->text) || note_rip(st, ln, e->text))) {
		*result = LINE_SKIPPED;
	}
	return NULL;
}

static enum line_result dmesg_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct dmesg_state *st = state;
	enum line_result result = LINE_NOT_MINE;
	struct log_entry e;
	struct error *err;

	split_entry(ln, &e);
	err = understand(ctx, st, ln, &e, &result);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	if (result == LINE_TAKEN && e.stamp) {
		st->stamp = e.stamp;
		st->first_ns = MIN(st->first_ns, e.time_ns);
		st->last_ns = MAX(st->last_ns, e.time_ns);
	}
	if (result == LINE_NOT_MINE && ctx->embedded)
		note_prose(st, ln);
	return result;
}

static struct error *dmesg_store(struct parse_ctx *ctx, struct dmesg_state *st)
{
	static const struct { const char *name, *relation; } clocks[] = {
		[STAMP_BOOT] = { "sched", "seconds since boot, as perf's default clock" },
		[STAMP_ISO] = { "wall", "dated stamps with their zone" },
		[STAMP_LOCAL] = { "wall-local", "dmesg -T: its estimate of the wall clock, zone unknown, read as UTC" },
		[STAMP_SYSLOG] = { "syslog", "no year, no zone: ns since the beginning of the year, local time" },
	};
	char nodes[16];

	if (st->in_trace)
		TRY(close_trace(ctx, st));
	if (!st->source_id)
		return NULL;
	if (st->nodes && !ctx->embedded) {
		snprintf(nodes, sizeof(nodes), "%u", st->nodes);
		TRY(case_fact(ctx->db, st->source_id, st->side, "numa.nodes", nodes, ctx->snapshot, st->nodes_cite));
	}
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET side = ? WHERE id = ?", "si", st->side, st->source_id));
	if (!st->stamp)
		return NULL;
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = ?, first_ns = ?, last_ns = ? WHERE id = ?", "siii",
			clocks[st->stamp].name, st->first_ns, st->last_ns, st->source_id));
	return case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss", st->source_id,
			   clocks[st->stamp].name, clocks[st->stamp].relation);
}

static struct error *dmesg_end(struct parse_ctx *ctx, void *state)
{
	struct dmesg_state *st = state;
	struct error *err = dmesg_store(ctx, st);

	free(st->frames);
	free(st);
	return err;
}

/* Alarms whose second half a mailer put on the next line. */
static bool dmesg_wants_more(const char *s, size_t len)
{
	static const struct { const char *begin, *end; } records[] = {
		{ "BUG: soft lockup - CPU#", "!" }, { "INFO: task ", " seconds." }, { "detected stalls on", "CPUs/tasks" },
		{ "self-detected stall on", "CPU" }, { "BUG: workqueue lockup - pool", "!" },
	};
	struct line ln = { .s = s, .len = len };
	struct log_entry e;
	size_t i;

	split_entry(&ln, &e);
	if (!e.kernel && !bare_ok(&e))
		return false;
	for (i = 0; i < ARRAY_SIZE(records); i++)
		if (scan_to(&e.text, records[i].begin))
			return !scan_find(&e.text, records[i].end) && scan_left(&e.text) < 100;
	return false;
}

static const struct parser dmesg = {
	.name		= "dmesg",
	.kind		= PARSER_LINES,
	.priority	= 60,
	.embed		= true,
	.sniff		= dmesg_sniff,
	.begin		= dmesg_begin,
	.line		= dmesg_line,
	.end		= dmesg_end,
	.wants_more	= dmesg_wants_more,
};
REGISTER(parsers, &dmesg);
