// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chain_text.c - the words of chains; see chain.h. Runs in flush, where the stream's strings may be
 * read.
 */
#include "chain.h"

static const char *const syscall_names[] = {
#define SYSCALL(nr, name)	[nr] = #name,
#include "syscalls_x86_64.def"
#undef SYSCALL
};

static const char *const kvm_ioctl_names[256] = {
#define KVM_IOCTL(nr, name)	[nr] = #name,
#include "kvm_ioctls.def"
#undef KVM_IOCTL
};

/* linux/kvm.h: kvm_run.exit_reason */
static const char *const user_reasons[] = {
	"KVM_EXIT_UNKNOWN",
	"KVM_EXIT_EXCEPTION",
	"KVM_EXIT_IO",
	"KVM_EXIT_HYPERCALL",
	"KVM_EXIT_DEBUG",
	"KVM_EXIT_HLT",
	"KVM_EXIT_MMIO",
	"KVM_EXIT_IRQ_WINDOW_OPEN",
	"KVM_EXIT_SHUTDOWN",
	"KVM_EXIT_FAIL_ENTRY",
	"KVM_EXIT_INTR",
	"KVM_EXIT_SET_TPR",
	"KVM_EXIT_TPR_ACCESS",
	"KVM_EXIT_S390_SIEIC",
	"KVM_EXIT_S390_RESET",
	"KVM_EXIT_DCR",
	"KVM_EXIT_NMI",
	"KVM_EXIT_INTERNAL_ERROR",
	"KVM_EXIT_OSI",
	"KVM_EXIT_PAPR_HCALL",
	"KVM_EXIT_S390_UCONTROL",
	"KVM_EXIT_WATCHDOG",
	"KVM_EXIT_S390_TSCH",
	"KVM_EXIT_EPR",
	"KVM_EXIT_SYSTEM_EVENT",
	"KVM_EXIT_S390_STSI",
	"KVM_EXIT_IOAPIC_EOI",
	"KVM_EXIT_HYPERV",
	"KVM_EXIT_ARM_NISV",
	"KVM_EXIT_X86_RDMSR",
	"KVM_EXIT_X86_WRMSR",
	"KVM_EXIT_DIRTY_RING_FULL",
	"KVM_EXIT_AP_RESET_HOLD",
	"KVM_EXIT_X86_BUS_LOCK",
	"KVM_EXIT_XEN",
};

/* include/linux/interrupt.h: softirq vectors */
static const char *const softirqs[] = { "HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU" };

const char *link_kind_name(enum link_kind kind)
{
	static const char *const names[] = {
		"running", "host",  "vmm",	  "runnable", "preempted", "throttled", "blocked",
		"irq",	   "timer", "retry-loop", "folded",   "unknown",   "lost",
	};

	return kind < LK_N ? names[kind] : "unknown";
}

static const char *comm_of(const struct engine *e, uint32_t task, char buf[24])
{
	if (task == TASK_NONE || task >= e->n_tasks)
		return "an unknown task";
	return engine_comm(&e->tasks[task], buf);
}

/*
 * A function counts as "in F" only where its return is recorded too: else the probe marks a moment.
 */
static bool has_return(const struct engine *e, uint32_t func)
{
	size_t i;
	bool probe = false;

	for (i = 0; i < e->s->n_types; i++) {
		const struct event_type *t = &e->s->types[i];

		if (t->func != func)
			continue;
		if (t->kind == EV_PROBE_RETURN)
			return true;
		probe |= t->kind == EV_PROBE_ENTER;
	}
	return !probe;
}

/* A function that a text names by its name (a string id), other forms by its address. */
static void func_name(const struct engine *e, uint64_t func, char *buf, size_t size)
{
	_cleanup_free_ char *frames = NULL;

	if (func < e->s->strings.n) {
		snprintf(buf, size, "%.60s", strtab_str(&e->s->strings, (uint32_t)func));
		return;
	}
	if (func >= STREAM_MAX_STRINGS)
		frames = stream_stack_frames(e->s, stream_stack_id(e->s, &func, 1,
								   SYM_SPACE_NONE));
	if (frames && *frames)
		snprintf(buf, size, "%.*s", (int)MIN(strcspn(frames, "\n+ "), (size_t)60), frames);
	else
		snprintf(buf, size, "0x%" PRIx64, func);
}

/* flags of lock:contention_begin */
static const char *lock_name(uint32_t flags)
{
	if (flags & HLOCK_MUTEX)
		return "a mutex";
	if (flags & HLOCK_PERCPU)
		return flags & HLOCK_WRITE ? "a percpu rwsem (to write)" : "a percpu rwsem (to read)";
	if (flags & HLOCK_RT)
		return "an rtmutex";
	if (flags & HLOCK_SPIN)
		return flags & (HLOCK_READ | HLOCK_WRITE) ? "an rwlock" : "a spinlock";
	if (flags & HLOCK_WRITE)
		return "an rwsem (to write)";
	return flags & HLOCK_READ ? "an rwsem (to read)" : "a semaphore";
}

static const char *const span_names[HSPAN_N] = {
	"in direct reclaim", "in compaction", "migrating pages", "taking mmap_lock",
};

/* "work F queued by T", "timer F" */
static void pair_name(const struct engine *e, uint32_t ctx, char *buf, size_t size)
{
	const struct history *h = engine_state(e, "history");
	const struct hist_pair *p = &h->pairs[HCTX_VALUE(ctx) % HIST_PAIRS];
	char func[80], comm[24];

	func_name(e, p->func, func, sizeof(func));
	if (HCTX_TYPE(ctx) == HCTX_TIMER)
		snprintf(buf, size, "timer %s", func);
	else if (p->by == TASK_NONE)
		snprintf(buf, size, "work %s", func);
	else
		snprintf(buf, size, "work %s queued by %s", func,
			 p->by ? comm_of(e, p->by, comm) : "an interrupt");
}

void chain_ctx_name(const struct engine *e, uint32_t ctx, char *buf, size_t size)
{
	uint32_t v = HCTX_VALUE(ctx);

	*buf = '\0';
	switch (HCTX_TYPE(ctx)) {
	case HCTX_FUNC:
		if (has_return(e, v))
			snprintf(buf, size, "in %.80s()", strtab_str(&e->s->strings, v));
		break;
	case HCTX_IOCTL:
		if (kvm_ioctl_names[v & 0xff])
			snprintf(buf, size, "in ioctl(%s)", kvm_ioctl_names[v & 0xff]);
		else
			snprintf(buf, size, "in KVM ioctl 0x%x", v);
		break;
	case HCTX_SYSCALL:
		if (v < ARRAY_SIZE(syscall_names) && syscall_names[v] &&
		    (!e->s->desc.arch || !strcmp(e->s->desc.arch, "x86_64")))
			snprintf(buf, size, "in %s()", syscall_names[v]);
		else
			snprintf(buf, size, "in system call %u", v);
		break;
	case HCTX_SYSNAME:
		snprintf(buf, size, "in %.60s()", strtab_str(&e->s->strings, v));
		break;
	case HCTX_SPAN:
		snprintf(buf, size, "%s", v < HSPAN_N ? span_names[v] : "");
		break;
	case HCTX_LOCK:
		snprintf(buf, size, "waiting for %s", lock_name(v));
		break;
	case HCTX_IRQ:
		snprintf(buf, size, "irq %u", v);
		break;
	case HCTX_SOFTIRQ:
		snprintf(buf, size, "softirq %s", v < ARRAY_SIZE(softirqs) ? softirqs[v] : "?");
		break;
	case HCTX_WORK:
	case HCTX_TIMER:
		pair_name(e, ctx, buf, size);
		break;
	case HCTX_NONE:
	default:
		break;
	}
}

char *chain_exit_name(const struct engine *e, const struct exit_info *x)
{
	if (x->reason != EVENT_U32_NONE)
		return xstrdup(stream_reason_name(e->s, x->reason));
	if (x->user_reason < ARRAY_SIZE(user_reasons))
		return xstrdup(user_reasons[x->user_reason]);
	return NULL;
}

static void sub_name(const struct exit_info *x, char *buf, size_t size, bool shape)
{
	const char *rw = x->sub_write ? "write" : "read";

	*buf = '\0';
	switch ((enum sub_kind)x->sub) {
	case SUB_FAULT:
		if (shape)
			snprintf(buf, size, "page fault");
		else
			snprintf(buf, size, "page fault at gpa 0x%" PRIx64, x->sub_val);
		break;
	case SUB_ROOT:
		snprintf(buf, size, shape ? "root switched" : "root switched to 0x%" PRIx64,
			 x->sub_val);
		break;
	case SUB_PIO:
		snprintf(buf, size, "port 0x%" PRIx64 " %s", x->sub_val, rw);
		break;
	case SUB_MMIO:
		if (shape)
			snprintf(buf, size, "mmio %s", rw);
		else
			snprintf(buf, size, "mmio %s at gpa 0x%" PRIx64, rw, x->sub_val);
		break;
	case SUB_MSR:
		snprintf(buf, size, "MSR 0x%" PRIx64 " %s", x->sub_val, rw);
		break;
	case SUB_CR:
		snprintf(buf, size, "CR%" PRIu64 " write", x->sub_val);
		break;
	case SUB_INJ:
		snprintf(buf, size,
			 shape ? "interrupt injected" : "interrupt 0x%" PRIx64 " injected",
			 x->sub_val);
		break;
	case SUB_NESTED:
		snprintf(buf, size, x->sub_val ? "nested exit to L1" : "nested entry to L2");
		break;
	case SUB_SMM:
		snprintf(buf, size, x->sub_val ? "SMM entered" : "SMM left");
		break;
	case SUB_IRQ:
		snprintf(buf, size,
			 shape ? "host interrupt handler"
			       : "host interrupt handler of irq %" PRIu64,
			 x->sub_val);
		break;
	case SUB_SOFTIRQ:
		snprintf(buf, size, "softirq %s",
			 x->sub_val < ARRAY_SIZE(softirqs) ? softirqs[x->sub_val] : "?");
		break;
	case SUB_NONE:
	default:
		break;
	}
}

/* The uppermost frame of a sample: its name, or the address where the recording has no names. */
static void stack_name(const struct engine *e, uint32_t stack, char *buf, size_t size)
{
	_cleanup_free_ char *frames =
		stack == EVENT_U32_NONE ? NULL : stream_stack_frames(e->s, stack);
	size_t n;

	*buf = '\0';
	if (!frames || !*frames)
		return;
	n = strcspn(frames, "\n+ ");
	snprintf(buf, size, "%s %.*s", !strncmp(frames, "0x", 2) ? "at" : "in",
		 (int)MIN(n, size - 1), frames);
}

static char *what_host(struct engine *e, const struct link *l, bool shape)
{
	const struct exit_info *x = &l->host.info;
	char sub[80], frame[80], ctx[100], func[100];
	char *s;

	sub_name(x, sub, sizeof(sub), shape);
	stack_name(e, l->host.stack, frame, sizeof(frame));
	chain_ctx_name(e, l->ctx, ctx, sizeof(ctx));
	if (l->kind == LK_VMM) {
		const char *why = x->user_reason < ARRAY_SIZE(user_reasons)
					  ? user_reasons[x->user_reason]
					  : NULL;

		s = xasprintf("in the VMM%s%s%s%s", why ? " for " : "", why ? why : "",
			      *sub ? ", " : "", sub);
	} else if (x->reason != EVENT_U32_NONE) {
		s = xasprintf("handles exit %s%s%s", stream_reason_name(e->s, x->reason),
			      *sub ? ": " : "", sub);
	} else {
		s = xasprintf("in KVM%s%s", *sub ? ": " : "", sub);
	}
	chain_ctx_name(e, l->host.func != EVENT_U32_NONE ? l->host.func : 0, func, sizeof(func));
	if (*func && (!shape || l->host.func_ns * 2 >= l->end - l->start)) {
		char *t = shape ? xasprintf("%s %s", s, func)
			  : HCTX_TYPE(l->host.func) == HCTX_FUNC
				  ? xasprintf("%s, %s took %.3f ms", s, func + strlen("in "),
					      (double)l->host.func_ns / 1e6)
				  : xasprintf("%s, %s for %.3f ms", s, func,
					      (double)l->host.func_ns / 1e6);

		free(s);
		s = t;
	} else if (*ctx && l->kind == LK_VMM && !shape) {
		char *t = xasprintf("%s, %s", s, ctx);

		free(s);
		s = t;
	}
	if (*frame && !shape) {
		char *t = xasprintf("%s, sampled %s", s, frame);

		free(s);
		s = t;
	}
	if (l->host.unmaps) {
		char comm[24];
		char *t = shape ? xasprintf("%s during mmu notifier invalidations", s)
				: xasprintf("%s; %u mmu notifier invalidations meanwhile, by %s", s,
					    l->host.unmaps, comm_of(e, l->host.unmapper, comm));

		free(s);
		s = t;
	}
	return s;
}

/* Does another of the shares have the name of share @i? */
static bool same_name(const struct engine *e, const struct link *l, unsigned int i)
{
	const struct task *t = &e->tasks[l->wait.who[i]], *o;
	unsigned int k;

	for (k = 0; k < CHAIN_SHARES; k++) {
		o = &e->tasks[l->wait.who[k]];
		if (k != i && l->wait.ns[k] && !memcmp(o->comm, t->comm, sizeof(t->comm)))
			return true;
	}
	return false;
}

/* "CPU 1/KVM 50 %, idle 50 %" */
static void shares(struct engine *e, const struct link *l, char *buf, size_t size)
{
	uint64_t ns = l->end - l->start;
	size_t n = 0;
	unsigned int i;
	char comm[24];

	*buf = '\0';
	for (i = 0; i < CHAIN_SHARES && n < size; i++) {
		if (l->wait.ns[i] * 200 < ns || !l->wait.ns[i])
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
				      comm_of(e, l->wait.who[i], comm));
		if (n < size && same_name(e, l, i))
			n += (size_t)snprintf(buf + n, size - n, ":%d",
					      e->tasks[l->wait.who[i]].tid);
		if (n < size)
			n += (size_t)snprintf(buf + n, size - n, " %.0f %%",
					      100.0 * (double)l->wait.ns[i] / (double)ns);
	}
	if (n < size && l->wait.other * 200 >= ns && l->wait.n_other)
		n += (size_t)snprintf(buf + n, size - n, "%sothers %.0f %%", n ? ", " : "",
				      100.0 * (double)l->wait.other / (double)ns);
	if (n < size && l->wait.idle * 200 >= ns && l->wait.idle)
		n += (size_t)snprintf(buf + n, size - n, "%sCPU idle %.0f %%", n ? ", " : "",
				      100.0 * (double)l->wait.idle / (double)ns);
	if (n < size && l->wait.unknown * 200 >= ns && l->wait.unknown)
		snprintf(buf + n, size - n, "%snot known %.0f %%", n ? ", " : "",
			 100.0 * (double)l->wait.unknown / (double)ns);
}

static char *what_wait(struct engine *e, const struct link *l)
{
	const char *how = l->kind == LK_PREEMPTED ? "preempted, waits" : "runnable, waits";
	char cpu[24] = "", who[200];

	if (l->cpu != EVENT_CPU_NONE)
		snprintf(cpu, sizeof(cpu), " on CPU %u", l->cpu);
	shares(e, l, who, sizeof(who));
	if (l->kind == LK_THROTTLED)
		return xasprintf("runnable, not run while%s idles: its group is throttled%s",
				 *cpu ? cpu + 3 : " its CPU",
				 l->flags & LF_INFERRED ? " (inferred)" : "");
	if (l->wait.idle * 10 >= (l->end - l->start) * 9)
		return xasprintf(
			"%s%s, which idles and does not run it (slow to wake, or that CPU did not run itself)",
			how, cpu);
	return xasprintf("%s%s%s%s", how, cpu, *who ? " behind " : ", behind whom is not known",
			 who);
}

static char *what_block(struct engine *e, const struct link *l)
{
	const char *d = l->flags & LF_UNINT ? " (D)" : "";
	char ctx[100], wctx[100], comm[24], where[40] = "";

	chain_ctx_name(e, l->ctx, ctx, sizeof(ctx));
	if (l->flags & LF_NO_WAKE)
		return xasprintf("asleep%s%s%s, no wake-up recorded", d, *ctx ? " " : "", ctx);
	if (l->block.waker == TASK_NONE)
		return xasprintf("asleep%s%s%s, not woken before the recording ends", d,
				 *ctx ? " " : "", ctx);
	if (l->block.wcpu != EVENT_CPU_NONE)
		snprintf(where, sizeof(where), " on CPU %u", l->block.wcpu);
	if (l->flags & (LF_IRQ | LF_SOFTIRQ)) {
		bool told = HCTX_TYPE(l->block.wctx) >= HCTX_IRQ;

		chain_ctx_name(e, told ? l->block.wctx : 0, wctx, sizeof(wctx));
		return xasprintf("blocked%s%s%s until woken from %s%s%s%s", d, *ctx ? " " : "", ctx,
				 l->flags & LF_INFERRED	 ? "an interrupt"
				 : l->flags & LF_SOFTIRQ ? "softirq"
							 : "hardirq",
				 where, *wctx ? ", " : "", wctx);
	}
	if (l->flags & LF_NEW)
		return xasprintf("not created yet: until started by %s%s",
				 comm_of(e, l->block.waker, comm), where);
	chain_ctx_name(e, l->block.wctx, wctx, sizeof(wctx));
	return xasprintf("blocked%s%s%s until woken by %s%s%s%s%s", d, *ctx ? " " : "", ctx,
			 comm_of(e, l->block.waker, comm), where, *wctx ? " " : "", wctx,
			 l->flags & LF_HOLDER ? ", who held it (inferred)" : "");
}

static char *what_fold(struct engine *e, const struct link *l)
{
	const char *reason = NULL;
	char behind[60] = "", comm[24];

	if (!l->fold.n)
		return xstrdup("further back than the history kept");
	if (l->fold.user_reason < ARRAY_SIZE(user_reasons))
		reason = user_reasons[l->fold.user_reason];
	else if (l->fold.reason != EVENT_U32_NONE)
		reason = stream_reason_name(e->s, l->fold.reason);
	if (l->fold.who != TASK_NONE && l->fold.who_ns && l->fold.wait)
		snprintf(behind, sizeof(behind), " (%.0f %% of it behind %s)",
			 100.0 * (double)MIN(l->fold.who_ns, l->fold.wait) / (double)l->fold.wait,
			 comm_of(e, l->fold.who, comm));
	return xasprintf(
		"%u short stretches%s%s: running %.3f ms, runnable %.3f ms%s, asleep %.3f ms, other %.3f ms",
		l->fold.n, reason ? " of " : "", reason ? reason : "", (double)l->fold.run / 1e6,
		(double)l->fold.wait / 1e6, behind, (double)l->fold.block / 1e6,
		(double)l->fold.other / 1e6);
}

char *chain_what(struct engine *e, const struct link *l)
{
	char ctx[160], comm[24], frame[80], cpu[24] = "";

	switch ((enum link_kind)l->kind) {
	case LK_HOST:
	case LK_VMM: {
		char *s = what_host(e, l, false);

		const char *but = NULL;

		if (l->flags & LF_NO_SCHED)
			but = "no sched events: may hold waits";
		else if (l->kind == LK_HOST && !engine_visible(e, EV_KVM_USERSPACE_EXIT))
			but = "no kvm_userspace_exit: may hold VMM time";
		if (but) {
			char *t = xasprintf("%s (%s)", s, but);

			free(s);
			s = t;
		}
		return s;
	}
	case LK_RUNNABLE:
	case LK_PREEMPTED:
	case LK_THROTTLED:
		return what_wait(e, l);
	case LK_BLOCKED:
		return what_block(e, l);
	case LK_FOLDED:
		return what_fold(e, l);
	case LK_RUNNING:
		chain_ctx_name(e, l->ctx, ctx, sizeof(ctx));
		stack_name(e, l->run.stack, frame, sizeof(frame));
		if (l->cpu != EVENT_CPU_NONE)
			snprintf(cpu, sizeof(cpu), " on CPU %u", l->cpu);
		return xasprintf("%s runs%s%s%s%s%s", comm_of(e, l->task, comm), cpu,
				 *ctx ? " " : "", ctx, *frame ? ", sampled " : "", frame);
	case LK_LOST:
		return xstrdup("events were lost");
	case LK_UNKNOWN:
	default:
		if (l->flags & LF_NO_WAKE)
			return what_block(e, l);
		return xstrdup(l->flags & LF_EDGE ? "before it was first seen" : "not recorded");
	}
}

/*
 * A comm without its numbers: what is alike in "CPU 0/KVM" and "CPU 1/KVM", "kworker/0:1" and
 * "kworker/1:2".
 */
static void alike(const struct engine *e, uint32_t task, char *buf, size_t size)
{
	char comm[24];
	const char *s = comm_of(e, task, comm);
	size_t n = 0;
	unsigned int i;

	if (task != TASK_NONE && task < e->n_tasks && e->tasks[task].vcpu != VCPU_NONE) {
		snprintf(buf, size, "a vCPU");
		return;
	}
	for (i = 0; s[i] && n + 1 < size; i++)
		if (!chain_is_number(s, i))
			buf[n++] = s[i];
		else if (!n || buf[n - 1] != 'N')
			buf[n++] = 'N';
	buf[n] = '\0';
}

static char *shape_of(struct engine *e, const struct link *l)
{
	char who[40], ctx[100], wctx[100];

	switch ((enum link_kind)l->kind) {
	case LK_HOST:
	case LK_VMM:
		return what_host(e, l, true);
	case LK_RUNNABLE:
	case LK_PREEMPTED:
		if (l->wait.ns[0] <= l->wait.idle || !l->wait.ns[0])
			return xasprintf("%s, CPU idle", link_kind_name((enum link_kind)l->kind));
		alike(e, l->wait.who[0], who, sizeof(who));
		return xasprintf("%s behind %s%s", link_kind_name((enum link_kind)l->kind), who,
				 l->wait.idle * 5 > l->end - l->start ? " and a throttle" : "");
	case LK_BLOCKED:
		chain_ctx_name(e, l->ctx, ctx, sizeof(ctx));
		if (l->flags & (LF_IRQ | LF_SOFTIRQ)) {
			bool timer = HCTX_TYPE(l->block.wctx) == HCTX_TIMER;

			chain_ctx_name(e, timer ? l->block.wctx : 0, wctx, sizeof(wctx));
			return xasprintf("blocked%s%s until %s", *ctx ? " " : "", ctx,
					 *wctx			 ? wctx
					 : l->flags & LF_SOFTIRQ ? "softirq"
								 : "interrupt");
		}
		chain_ctx_name(e, l->block.wctx, wctx, sizeof(wctx));
		alike(e, l->block.waker, who, sizeof(who));
		if (l->flags & LF_NEW)
			return xasprintf("until created by %s", who);
		return xasprintf("blocked%s%s until woken by %s", *ctx ? " " : "", ctx, who);
	case LK_RUNNING:
		chain_ctx_name(e, l->ctx, ctx, sizeof(ctx));
		if (HCTX_TYPE(l->ctx) == HCTX_WORK)
			ctx[strcspn(ctx, " ") + 1 + strcspn(ctx + strcspn(ctx, " ") + 1, " ")] = '\0';
		alike(e, l->task, who, sizeof(who));
		return xasprintf("%s runs%s%s", who, *ctx ? " " : "", ctx);
	case LK_FOLDED:
		if (l->fold.user_reason < ARRAY_SIZE(user_reasons))
			return xasprintf("many short stretches of %s",
					 user_reasons[l->fold.user_reason]);
		return xstrdup("many short stretches");
	default:
		return xstrdup(link_kind_name((enum link_kind)l->kind));
	}
}

/* Append to *@out what fills link @parent. */
static void shape_level(struct engine *e, const struct link *l, uint32_t n, uint16_t parent,
			char **out)
{
	const char *first = parent == LINK_ROOT ? " " : " \xe2\x86\x90 ";
	struct link_group g[GROUP_PARTS];
	unsigned int n_g = chain_groups(e, l, n, parent, g), i;

	for (i = 0; i < n_g; i++) {
		_cleanup_free_ char *before = *out, *s = shape_of(e, &l[g[i].longest]);

		*out = xasprintf("%s%s%s", before, i ? " + " : first, s);
		if (l[g[i].longest].kind == LK_BLOCKED)
			shape_level(e, l, n, (uint16_t)g[i].longest, out);
	}
	if (!n_g && parent == LINK_ROOT) {
		_cleanup_free_ char *before = *out;

		*out = xasprintf("%s many unlike links", before);
	}
}

char *chain_shape(struct engine *e, const struct link *l, uint32_t n, const char *kind,
		  const char *what)
{
	char *out = what ? xasprintf("%s %s:", kind, what) : xasprintf("%s:", kind);

	shape_level(e, l, n, LINK_ROOT, &out);
	return out;
}

/* The longest child of link @parent (LINK_ROOT: of the stall); n when there is none. */
static uint32_t longest(const struct link *l, uint32_t n, uint16_t parent)
{
	uint32_t i, best = n;

	for (i = 0; i < n; i++)
		if (l[i].parent == parent &&
		    (best == n || l[i].end - l[i].start > l[best].end - l[best].start))
			best = i;
	return best;
}

char *chain_cause(struct engine *e, const struct link *l, uint32_t n)
{
	uint32_t i = longest(l, n, LINK_ROOT);
	char *out;

	if (i == n)
		return NULL;
	out = chain_what(e, &l[i]);
	while (l[i].kind == LK_BLOCKED) {
		_cleanup_free_ char *s = NULL;
		char comm[24], *t;
		uint32_t k = longest(l, n, (uint16_t)i);

		if (k == n)
			break;
		s = chain_what(e, &l[k]);
		t = l[k].kind == LK_RUNNING ? xasprintf("%s; %s", out, s) :
		    xasprintf("%s; %s: %s", out, comm_of(e, l[k].task, comm), s);
		free(out);
		out = t;
		i = k;
	}
	return out;
}
