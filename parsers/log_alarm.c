// SPDX-License-Identifier: GPL-2.0-or-later
/* log_alarm.c - lines of a kernel log that mean something; see log_alarm.h. */
#include "log_alarm.h"

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

/*
 * smp: csd: Detected non-responsive CSD lock (#1) on CPU#4, waiting 5000000050 ns for CPU#03 FUNC
 * (kernel/smp.c): the CPU that waits, and for how long.
 */
static bool csd_lock(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	uint64_t ns;

	number_after(t, " on CPU#", &f->cpu);
	if (scan_to(&c, ", waiting ") && scan_u64(&c, &ns) && ns <= INT64_MAX)
		f->duration_ns = (int64_t)ns;
	return f->cpu >= 0;
}

/*
 * perf: interrupt took too long (2503 > 2500) / NMI handler (...) took too long to run: 1.234 msecs
 */
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

/* kvm [159]: vcpu0, guest rIP: ... : the thread group (arch/x86/kvm, vcpu_unimpl()) */
static bool kvm_line(const struct scan *t, struct found *f)
{
	number_after(t, "kvm [", &f->tid);
	return true;
}

/* qemu-system-x86 invoked oom-killer: gfp_mask=0x... */
static bool oom_caller(const struct scan *t, struct found *f)
{
	const char *end = scan_find(t, " invoked oom-killer: ");

	snprintf(f->task, sizeof(f->task), "%.*s", (int)MIN((size_t)(end - t->p), sizeof(f->task) - 1), t->p);
	return true;
}

/* hrtimer: interrupt took 12345 ns */
static bool hrtimer(const struct scan *t, struct found *f)
{
	struct scan c = *t;
	uint64_t ns;

	if (scan_to(&c, "took ") && scan_u64(&c, &ns) && ns <= INT64_MAX)
		f->duration_ns = (int64_t)ns;
	return true;
}

/* rcu: rcu_preempt kthread starved for 5250 jiffies! g1 f0x0 ... ->cpu=2 */
static bool rcu_starved(const struct scan *t, struct found *f)
{
	number_after(t, "->cpu=", &f->cpu);
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
 * Lines that mean something. @needle must be in the text (at its beginning where @start); @bare: it
 * is unmistakable also in prose without a stamp. The first that fits wins.
 */
static const struct alarm alarms[] = {
	{ "soft_lockup", "BUG: soft lockup - CPU#", false, true, soft_lockup },
	{ "hard_lockup", "Watchdog detected hard LOCKUP on cpu", false, true, hard_lockup },
	{ "rcu_stall", "self-detected stall on CPU", false, true, rcu_stall },
	{ "rcu_stall", "detected stalls on CPUs/tasks", false, true, rcu_stall },
	{ "rcu_stall", "detected expedited stalls on CPUs/tasks", false, true, rcu_stall },
	{ "rcu_stall", " kthread starved for ", false, false, rcu_starved },
	{ "rcu_stall", " kthread timer wakeup didn't happen for ", false, false, nothing },
	{ "csd_lock", " non-responsive CSD lock (#", false, false, csd_lock },
	{ "hung_task", "INFO: task ", true, true, hung_task },
	{ "workqueue_lockup", "BUG: workqueue lockup - pool", true, true, workqueue_lockup },
	{ "workqueue_hog", " hogged CPU for >", false, false, nothing },
	{ "hrtimer_slow", "hrtimer: interrupt took ", true, false, hrtimer },
	{ "rt_throttling", "RT throttling activated", false, true, nothing },
	{ "clocksource_unstable", "timekeeping watchdog on CPU", false, false, nothing },
	{ "clocksource_unstable", "Marking clocksource", false, false, nothing },
	{ "clocksource_unstable", "Marking TSC unstable", false, false, nothing },
	{ "clocksource_unstable", "Clocksource tsc unstable", true, false, nothing },
	{ "split_lock", "x86/split lock detection: #", true, false, split_lock },
	{ "nmi_too_long", "perf: interrupt took too long", true, false, nmi_too_long },
	{ "nmi_too_long", "INFO: NMI handler (", true, false, nmi_too_long },
	{ "nmi_unknown", "Uhhuh. NMI received for unknown reason", true, false, nothing },
	{ "irq_lost", " timeout, completion polled", false, false, nothing },
	{ "hardware_error", "[Hardware Error]: ", false, false, nothing },
	{ "thermal", "temperature above threshold, cpu clock throttled", false, false, nothing },
	{ "oom", " invoked oom-killer: ", false, false, oom_caller },
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
	{ "kvm", "kvm [", true, false, kvm_line },
	{ "kvm", "SVM: ", true, false, nothing },
	{ "kvm", "kvm_intel: ", true, false, nothing },
	{ "kvm", "kvm_amd: ", true, false, nothing },
	{ "kvm", "clocksource: kvm-clock", true, false, nothing },
};
_Static_assert(ARRAY_SIZE(alarms) <= LOG_MAX_ALARMS, "alarms are counted by index");

bool log_kind_known(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(alarms); i++)
		if (!strcmp(alarms[i].kind, kind))
			return true;
	return !strcmp(kind, "call_trace");	/* a stack without an alarm above it */
}

const struct alarm *log_find_alarm(const struct log_entry *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alarms); i++) {
		const struct alarm *a = &alarms[i];

		if (a->start ? starts_with(e->text.p, scan_left(&e->text), a->needle)
			     : !!scan_find(&e->text, a->needle))
			return a;
	}
	return NULL;
}

size_t log_alarm_index(const struct alarm *a)
{
	return (size_t)(a - alarms);
}
