// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dmesg.c - kernel logs: dmesg (also -T, -x, --time-format iso, with caller ids), serial consoles,
 * syslog, the journal's short forms and its JSON. The journal's entries have a boot's id: each boot
 * is a source of its own.
 *
 *   [  417.117917] watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [qemu-system-x86:176]
 *   Jan 04 10:33:10 debian kernel: rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
 *
 * Gives log_line rows for lines that mean something (table in log_alarm.c), with call traces in
 * `stack`; and facts:
 *
 *   kernel.release             6.1.0-50-amd64: the word behind "Linux version"
 *   kernel.version             the whole "Linux version" line
 *   kernel.cmdline             the command line; cmdline.NAME what it sets (kernel_cmdline.h)
 *   kernel.preempt.boot        none | voluntary | full | lazy: "Dynamic Preempt:"
 *   kernel.preempt.model       dynamic | rt: the version's PREEMPT_DYNAMIC, PREEMPT_RT
 *   kernel.hypervisor          "Hypervisor detected:": this kernel itself runs in a VM
 *   kernel.paravirt            "Booting paravirtualized kernel on": bare hardware, KVM ...
 *   clocksource.switched       each clock source the kernel switched to
 *   numa.nodes                 from "NUMA: Node n", "NODE_DATA(n)", "No NUMA configuration found"
 *   numa_balancing.boot        enabled: "mempolicy: Enabling automatic NUMA balancing"
 *   clocksource.unstable       tsc: marked unstable by the watchdog or at boot
 *   cpu.vulnerability.itlb_multihit	"itlb_multihit:", "iTLB multihit:" lines
 *   cgroup.favordynmods.cmdline	value of cgroup_favordynmods=
 *   kernel.boot_id             the journal's _BOOT_ID
 *
 * Times: `[ 12.345678]` is the sched clock since boot (the source's clock is 'sched'); ISO stamps
 * are wall clock; `-T` stamps are dmesg's own estimate of the wall clock in an unknown zone
 * ('wall-local'); syslog stamps have neither year nor zone ('syslog': ns since the year's
 * beginning). "sched_clock: Marking stable (a, b)->(c, d)" gives a clock row 'local' with offset d:
 * ftrace's local clock plus d is the sched clock (kernel/sched/clock.c, __sched_clock_offset).
 */
#include "dmesg_log.h"
#include "kernel_cmdline.h"
#include "log_alarm.h"
#include "marks.h"

#define MAX_PER_KIND	300
#define MAX_FRAMES	128
#define TRACE_REACH	60	/* lines from an alarm to its call trace */
#define SIDE_REACH	4	/* lines from "the guest's log says" to the log */
#define MAX_NODES	1024
#define MAX_BOOTS	16	/* sources of one journal */
#define RECEIPT_NS	(5 * (int64_t)NSEC_PER_MSEC)	/* at best, until the journal has a line */
#define REAL_SINCE	(1000000000 * (int64_t)NSEC_PER_SEC)	/* no wall clock is earlier */
#define DRIFT		10000
#define MARK_MIN_TEXT	20	/* shorter lines say too little to know a moment by */

struct dmesg_state {
	int64_t		source_id;
	const char	*side;
	enum stamp	stamp;
	int64_t		first_ns, last_ns;
	uint64_t	kinds[LOG_MAX_ALARMS];	/* rows per alarm */
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
	/* the journal's entries */
	char		boot[33], host[65];	/* of the boot at work */
	unsigned int	boots;
	bool		merged;		/* too many boots: they can't be told apart */
	int64_t		boot_cite;
	int64_t		wall_low, receipt_low, receipt_high;	/* see note_clocks() */
	struct journal_pretty pretty;
	/* facts */
	unsigned int	nodes;
	int64_t		nodes_cite;
	bool		node_seen[MAX_NODES];
	bool		unstable_said;
	struct marks	marks;		/* the lines' texts: other logs of this boot have them */
	/* words of the prose around */
	const char	*prose_side;
	uint64_t	prose_line;
};

static bool sniff_test(const struct line *ln)
{
	struct log_entry e;

	log_split(ln, &e);
	return e.kernel || log_is_journal(ln);
}

static int dmesg_sniff(const struct sniff *s)
{
	unsigned int n;
	int share;

	if (journal_pretty_sniff(s))
		return 80;
	share = sniff_lines(s, sniff_test, &n);

	/* A console or journal with much else between goes line by line through all parsers. */
	return n >= 1 && share >= 90 ? 75 : 0;
}

static void state_init(struct parse_ctx *ctx, struct dmesg_state *st)
{
	memset(st, 0, sizeof(*st));
	st->side = ctx->side ? ctx->side : "unknown";
	st->first_ns = st->wall_low = st->receipt_low = INT64_MAX;
	st->last_ns = st->receipt_high = INT64_MIN;
	st->pid = st->cpu = -1;
}

struct dmesg_state *dmesg_log_begin(struct parse_ctx *ctx)
{
	struct dmesg_state *st = xmalloc(sizeof(*st));

	state_init(ctx, st);
	return st;
}

static struct error *dmesg_begin(struct parse_ctx *ctx, void **state)
{
	*state = dmesg_log_begin(ctx);
	return NULL;
}

static struct error *want_source(struct parse_ctx *ctx, struct dmesg_state *st)
{
	_cleanup_free_ char *path = NULL;

	if (st->source_id)
		return NULL;
	if (!st->boots)
		return ctx_source(ctx, &st->source_id, "dmesg");
	path = xasprintf("%s#boot-%u", ctx->m->path, st->boots + 1);
	return case_source(ctx->db, &st->source_id, ctx->m->id, path, "dmesg", st->side);
}

static struct error *add_fact(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
			      const struct log_entry *e, const char *key, const char *value,
			      size_t len)
{
	_cleanup_free_ char *v = xstrndup(value, MIN(len, (size_t)4096));

	TRY(want_source(ctx, st));
	return case_fact(ctx->db, st->source_id, st->side, key, v, ctx->snapshot,
			 ctx_cite(ctx, ln, e->time_ns));
}

/* Linux version 6.1.0-50-amd64 (builder) (gcc ...) #1 SMP PREEMPT_DYNAMIC ... */
static struct error *version_facts(struct parse_ctx *ctx, struct dmesg_state *st,
				   const struct line *ln, const struct log_entry *e)
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

static struct error *cmdline_facts(struct parse_ctx *ctx, struct dmesg_state *st,
				   const struct line *ln, const struct log_entry *e, struct scan c)
{
	TRY(add_fact(ctx, st, ln, e, "kernel.cmdline", c.p, scan_left(&c)));
	return kernel_cmdline_facts(ctx, st->source_id, st->side, c, ctx_cite(ctx, ln, e->time_ns));
}

static void count_node(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
		       const struct log_entry *e, uint64_t node)
{
	if (node >= MAX_NODES || st->node_seen[node])
		return;
	st->node_seen[node] = true;
	st->nodes++;
	st->nodes_cite = ctx_cite(ctx, ln, e->time_ns);
}

/* sched_clock: Marking stable (a, b)->(c, d) */
static struct error *marking_clock(struct parse_ctx *ctx, struct dmesg_state *st,
				   const struct line *ln, const struct log_entry *e)
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
static struct error *read_facts(struct parse_ctx *ctx, struct dmesg_state *st,
				const struct line *ln, const struct log_entry *e, bool *taken)
{
	static const struct { const char *lit, *key; bool rest; const char *value; } simple[] = {
		{ "Hypervisor detected: ", "kernel.hypervisor", true, NULL },
		{ "Booting paravirtualized kernel on ", "kernel.paravirt", true, NULL },
		{ "clocksource: Switched to clocksource ", "clocksource.switched", true, NULL },
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
			return simple[i].rest
				       ? add_fact(ctx, st, ln, e, simple[i].key, c.p, scan_left(&c))
				       : add_fact(ctx, st, ln, e, simple[i].key, simple[i].value,
						  strlen(simple[i].value));
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

static struct error *add_alarm(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
			       const struct log_entry *e, const struct alarm *a, bool *taken)
{
	struct found f = { .cpu = -1, .tid = -1, .duration_ns = -1 };
	_cleanup_free_ char *text = NULL;
	int64_t cite;

	*taken = a->take(&e->text, &f);
	if (!*taken)
		return NULL;
	TRY(want_source(ctx, st));
	if (st->kinds[log_alarm_index(a)]++ >= MAX_PER_KIND) {
		parse_remark(ctx, false, "only the first %d lines of a kind (%s) are kept one by one", MAX_PER_KIND, a->kind);
		return NULL;
	}
	text = xstrndup(e->text.p, MIN(scan_left(&e->text), (size_t)1024));
	cite = ctx_cite(ctx, ln, e->time_ns);
	st->alarm_line = ln->no;
	return case_insert(
		ctx->db, &st->alarm_row,
		"INSERT INTO log_line(source_id, side, time_ns, kind, cpu, task, tid, duration_ns, text, cite_id)"
		" VALUES(?,?,?,?,?,?,?,?,?,?)",
		"isIsIsIIsI", st->source_id, st->side,
		e->time_ns != CASE_NO_TIME ? &e->time_ns : NULL, a->kind,
		f.cpu >= 0 ? &f.cpu : NULL, *f.task ? f.task : NULL, f.tid >= 0 ? &f.tid : NULL,
		f.duration_ns >= 0 ? &f.duration_ns : NULL, text, cite > 0 ? &cite : NULL);
}

/*
 * `func+0x156/0x360 [kvm]`, or `? func+0x1/0x2`, which the kernel found on the stack but does not
 * vouch for. Before 4.10 the address stands in front: `[<ffffffff81104388>] func+0x1f8/0x260`.
 */
static bool parse_frame(struct scan c, bool *sure, const char **s, size_t *len)
{
	const char *from;

	scan_blanks(&c);
	if (scan_lit(&c, "[<")) {
		while (c.p < c.end && is_word(*c.p))
			c.p++;
		if (!scan_lit(&c, ">] "))
			return false;
		scan_blanks(&c);
	}
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
	const char *comm =
		*st->comm && st->trace_line.no - st->comm_line < TRACE_REACH ? st->comm : NULL;
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
	return case_insert(
		ctx->db, NULL,
		"INSERT INTO log_line(source_id, side, time_ns, kind, cpu, task, tid, text, stack_id, cite_id)"
		" VALUES(?,?,?,'call_trace',?,?,?,?,?,?)",
		"isIIsIsiI", st->source_id, st->side,
		st->trace_time != CASE_NO_TIME ? &st->trace_time : NULL,
		comm && st->cpu >= 0 ? &st->cpu : NULL, comm,
		comm && st->pid >= 0 ? &st->pid : NULL, top, stack, cite > 0 ? &cite : NULL);
}

/*
 * CPU: 1 PID: 176 Comm: qemu-system-x86 Tainted: ...; the same with UID: between on newer kernels
 */
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

/*
 * In prose and without a stamp only what stands at the beginning of a line as the kernel writes it.
 */
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

static struct error *understand(struct parse_ctx *ctx, struct dmesg_state *st,
				const struct line *ln, const struct log_entry *e,
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
		a = log_find_alarm(e);
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
	} else if ((e->kernel || st->alarm_row) &&
		   (note_task(st, ln, e->text) || note_rip(st, ln, e->text))) {
		*result = LINE_SKIPPED;
	}
	return NULL;
}

/* What a taken or skipped line means for the log's span. */
static void note_span(struct dmesg_state *st, const struct log_entry *e, enum line_result result)
{
	if (!e->stamp || (result != LINE_TAKEN && !(e->kernel && st->stamp == e->stamp)))
		return;
	st->stamp = e->stamp;
	st->first_ns = MIN(st->first_ns, e->time_ns);
	st->last_ns = MAX(st->last_ns, e->time_ns);
}

/* One line of the log, in whatever form it came: @ln to cite. */
static enum line_result one_line(struct parse_ctx *ctx, struct dmesg_state *st,
				 const struct line *ln, struct log_entry *e)
{
	enum line_result result = LINE_NOT_MINE;
	struct error *err;

	if (e->kernel && e->stamp && scan_left(&e->text) >= MARK_MIN_TEXT)
		marks_add(&st->marks, marks_hash_bytes(0, e->text.p, scan_left(&e->text)),
			  e->time_ns);
	err = understand(ctx, st, ln, e, &result);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	note_span(st, e, result);
	return result;
}

/*
 * The journal's two own stamps are of one moment, the kernel's is earlier, by what it took the
 * journal to get the line: the least difference of the wall clock and the kernel's stamp over the
 * boot is the best one. If the wall clock was set meanwhile, its difference to the monotonic clock
 * is not the same all the time.
 */
static void note_clocks(struct dmesg_state *st, const struct journal_entry *j)
{
	if (j->real_ns == CASE_NO_TIME || j->real_ns < REAL_SINCE)
		return;
	if (j->mono_ns != CASE_NO_TIME) {
		st->receipt_low = MIN(st->receipt_low, j->real_ns - j->mono_ns);
		st->receipt_high = MAX(st->receipt_high, j->real_ns - j->mono_ns);
	}
	if (j->source_ns != CASE_NO_TIME)
		st->wall_low = MIN(st->wall_low, j->real_ns - j->source_ns);
}

static struct error *dmesg_store(struct parse_ctx *ctx, struct dmesg_state *st);

static void state_free(struct dmesg_state *st)
{
	marks_deinit(&st->marks);
	free(st->pretty.buf);
	free(st->frames);
}

/* Another boot's entries begin: its times are of another clock, so it is another source. */
static void next_boot(struct parse_ctx *ctx, struct dmesg_state *st)
{
	unsigned int boots = st->boots + (st->source_id != 0);
	struct error *err = dmesg_store(ctx, st);

	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	state_free(st);
	state_init(ctx, st);
	st->boots = boots;
}

void dmesg_log_entry(struct parse_ctx *ctx, struct dmesg_state *st, const struct journal_entry *j,
		     uint64_t no)
{
	struct log_entry e = j->log;
	struct scan rest = e.text;
	struct line ln = { .no = no };

	if (*st->boot && *j->boot && strcmp(st->boot, j->boot)) {
		if (st->boots + 1 < MAX_BOOTS)
			next_boot(ctx, st);
		else
			st->merged = true;
	}
	if (!*st->boot)
		snprintf(st->boot, sizeof(st->boot), "%s", j->boot);
	if (!*st->host)
		snprintf(st->host, sizeof(st->host), "%s", j->host);
	if (!st->merged)
		note_clocks(st, j);
	if (!e.kernel)
		return;
	if (st->merged || strcmp(st->boot, j->boot) || (st->stamp && st->stamp != e.stamp)) {
		e.stamp = STAMP_NONE;
		e.time_ns = CASE_NO_TIME;
	}
	do {	/* a message may have several lines */
		const char *nl = scan_find(&rest, "\n");

		e.text = scan_mem(rest.p, (size_t)((nl ? nl : rest.end) - rest.p));
		ln.s = e.text.p;
		ln.len = scan_left(&e.text);
		if (one_line(ctx, st, &ln, &e) == LINE_TAKEN && !st->boot_cite)
			st->boot_cite = ctx_cite(ctx, &ln, e.time_ns);
		rest.p = nl ? nl + 1 : rest.end;
	} while (!scan_at_end(&rest));
}

/* Entries in JSON, of one line or many. False when the line is no part of one. */
static bool json_line(struct parse_ctx *ctx, struct dmesg_state *st, const struct line *ln,
		      enum line_result *result)
{
	struct journal_entry j = { .message = NULL };
	enum journal_part part = PRETTY_NOT;
	uint64_t no = ln->no;
	bool entry;

	*result = ctx->embedded ? LINE_NOT_MINE : LINE_SKIPPED;
	entry = log_is_journal(ln) && log_journal(ln, &j);
	if (!entry) {
		part = journal_pretty(&st->pretty, ln);
		if (part == PRETTY_NOT)
			return false;
		if (part == PRETTY_INSIDE)
			*result = LINE_TAKEN;
		entry = part == PRETTY_END && journal_pretty_take(&st->pretty, &j);
		no = st->pretty.no;
	}
	if (entry) {
		if (j.log.kernel || part == PRETTY_END)
			*result = LINE_TAKEN;
		dmesg_log_entry(ctx, st, &j, no);
	}
	free(j.message);
	return true;
}

static enum line_result dmesg_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct dmesg_state *st = state;
	enum line_result result;
	struct log_entry e;

	if (ln->len && (st->pretty.open || memchr(ln->s, '{', MIN(ln->len, (size_t)16))) &&
	    json_line(ctx, st, ln, &result))
		return result;
	log_split(ln, &e);
	result = one_line(ctx, st, ln, &e);
	if (result == LINE_NOT_MINE && ctx->embedded && !e.kernel)
		note_prose(st, ln);
	return result;
}

/* Whose log it is, and where its clock stands on the wall. */
static struct error *store_journal(struct parse_ctx *ctx, const struct dmesg_state *st)
{
	int64_t unc = RECEIPT_NS;

	if (*st->host)
		TRY(case_insert(ctx->db, NULL, "UPDATE source SET host = ? WHERE id = ?", "si", st->host, st->source_id));
	if (*st->boot && !st->merged)
		TRY(case_fact(ctx->db, st->source_id, st->side, "kernel.boot_id", st->boot, ctx->snapshot, st->boot_cite));
	if (st->stamp != STAMP_BOOT || st->wall_low == INT64_MAX || st->merged)
		return NULL;
	unc += (st->last_ns - st->first_ns) / DRIFT;
	if (st->receipt_high > st->receipt_low)
		unc += st->receipt_high - st->receipt_low;
	return case_insert(ctx->db, NULL, "UPDATE source SET clock_offset_ns = ?, clock_uncertainty_ns = ? WHERE id = ?", "iii",
			   st->wall_low, unc, st->source_id);
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
	marks_give(ctx->db, st->source_id, true, &st->marks);
	if (st->nodes && !ctx->embedded) {
		snprintf(nodes, sizeof(nodes), "%u", st->nodes);
		TRY(case_fact(ctx->db, st->source_id, st->side, "numa.nodes", nodes, ctx->snapshot, st->nodes_cite));
	}
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET side = ? WHERE id = ?", "si", st->side, st->source_id));
	TRY(store_journal(ctx, st));
	if (!st->stamp)
		return NULL;
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = ?, first_ns = ?, last_ns = ? WHERE id = ?", "siii",
			clocks[st->stamp].name, st->first_ns, st->last_ns, st->source_id));
	return case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss", st->source_id,
			   clocks[st->stamp].name, clocks[st->stamp].relation);
}

struct error *dmesg_log_end(struct parse_ctx *ctx, struct dmesg_state *st)
{
	struct error *err = dmesg_store(ctx, st);

	state_free(st);
	free(st);
	return err;
}

static struct error *dmesg_end(struct parse_ctx *ctx, void *state)
{
	return dmesg_log_end(ctx, state);
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

	log_split(&ln, &e);
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
