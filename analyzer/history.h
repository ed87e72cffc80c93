/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.h - what every task and every CPU did lately: segments in one fixed pool, from which
 * chains are built.
 *
 * A segment is a stretch of one task in one scheduler state. It is written when it ends, so the
 * pool is ordered by end time; the pool is a ring of HIST_SEGS segments (32 MB): the oldest go
 * first. Segments of one task are linked backwards, and so are the running ones of one CPU (the
 * idle task's among them). Whoever asks for a time that has left the pool is told so (HIST_CUT),
 * makes a `folded` link and marks its stall partial; the second look of design §4 (a backward read
 * of the input for that window) begins at exactly this place.
 *
 * Source of the rules: kernel/sched/core.c (sched_waking before, sched_wakeup after the enqueue;
 * prev_state of sched_switch), and design §4: a switch-in without a wake-up is no wake-up by
 * anybody.
 */
#ifndef KM_HISTORY_H
#define KM_HISTORY_H

#include "engine.h"

#define HIST_SEGS	(1u << 19)	/* 64 bytes each: 32 MB */
#define HIST_SHORT	(1u << 14) /* recordings with fewer segments touch only what they use */
#define HIST_NONE	UINT64_MAX
#define HIST_NEAR	64		/* segments looked at for a short cut */
#define HIST_FUNCS	8		/* nested functions kept per task */
#define HIST_IRQS	4		/* nested interrupts kept per CPU */
#define HIST_PAIRS	4096		/* a power of two */
#define HIST_QUEUED	1024		/* a power of two */
/* bstate of the time before a task was created; its waker is who did that */
#define HIST_NEW_TASK	0xff

enum hist_state {
	/* before the first sight, or off the CPU without being woken as far as recorded */
	HIST_UNKNOWN,
	HIST_RUN,
	HIST_WAIT,		/* runnable after a wake-up */
	HIST_PREEMPT,		/* runnable: switched out while running */
	HIST_BLOCK,		/* asleep until a wake-up */
	HIST_DEAD,
	HIST_LOST,		/* events were lost meanwhile */
};

/*
 * What a task was in at some moment: the innermost known function or span, else the system call. Or
 * what interrupted it: HCTX_IRQ (number), HCTX_SOFTIRQ (vector), HCTX_TIMER (of history.pairs).
 */
enum hist_ctx_type {
	HCTX_NONE, HCTX_FUNC, HCTX_SYSCALL, HCTX_IOCTL, HCTX_SYSNAME, HCTX_SPAN, HCTX_LOCK,
	HCTX_WORK, HCTX_IRQ, HCTX_SOFTIRQ, HCTX_TIMER
};
/* Stretches that a pair of tracepoints tells: HCTX_SPAN's values. */
enum hist_span { HSPAN_RECLAIM, HSPAN_COMPACTION, HSPAN_MIGRATION, HSPAN_MMAP_LOCK, HSPAN_N };
/* HCTX_LOCK's value: contention_begin's flags (kernel: include/trace/events/lock.h, LCB_F_*) */
enum hist_lock {
	HLOCK_SPIN = 1, HLOCK_READ = 2, HLOCK_WRITE = 4, HLOCK_RT = 8, HLOCK_PERCPU = 16,
	HLOCK_MUTEX = 32
};
#define HCTX(type, v)		((uint32_t)(type) << 28 | ((uint32_t)(v) & 0x0fffffffu))
#define HCTX_TYPE(c)		((enum hist_ctx_type)((c) >> 28))
#define HCTX_VALUE(c)		((c) & 0x0fffffffu)

struct hist_seg {
	uint64_t	start, end;
	uint64_t	pos, end_pos;	/* positions of the events that began and ended it */
	uint32_t	task;
	/* sequence number (low 32 bits) of the task's segment before; itself: none */
	uint32_t	prev;
	/* HIST_RUN: of the CPU's running segment before; itself: none */
	uint32_t	cprev;
	/*
	 * BLOCK: task index, TASK_NONE unknown; WAIT: ns from the wake-up to its enqueue; RUN: the
	 * last sample's stack id, or TASK_NONE
	 */
	uint32_t	waker;
	/*
	 * HCTX of the task when the segment ended (BLOCK: when it began; RUN: else its last work)
	 */
	uint32_t	ctx;
	uint32_t	wctx;		/* BLOCK: HCTX of the waker at the wake-up */
	uint16_t	cpu;		/* RUN, WAIT, PREEMPT: where; BLOCK: where it ran last */
	uint16_t	wcpu;		/* BLOCK: CPU of the waker */
	uint8_t		state;		/* enum hist_state */
	uint8_t		wflags;		/* BLOCK: enum event_flag of the wake-up */
	uint8_t		wkind;		/* BLOCK: event kind of the wake-up */
	uint8_t		bstate;		/* BLOCK: low 8 bits of enum task_state_bit */
};
_Static_assert(sizeof(struct hist_seg) == 64, "a segment is 64 bytes");

struct hist_task {
	/* start of the open segment; 0 with state UNKNOWN and !seen: never seen */
	uint64_t	since;
	uint64_t	pos;
	uint64_t	last;		/* sequence number of the last closed segment, HIST_NONE */
	uint64_t	func_start[HIST_FUNCS];
	uint32_t	func[HIST_FUNCS];	/* HCTX of functions and spans */
	/* longest function call that began since `mark` and has ended */
	uint64_t	best_start, best_end;
	uint64_t	mark;
	uint64_t	sample_time;
	uint32_t	best_func;	/* HCTX */
	uint32_t	sample_stack;	/* stack id of the last sample */
	uint32_t	sysctx;		/* HCTX of the system call it is in, 0 */
	/* the last work it did since it runs, rather one of which it is known who queued it */
	uint32_t	work;
	uint32_t	ctx;		/* of the open segment, where it began */
	uint32_t	enq_ns;		/* WAIT: from the wake-up to its enqueue */
	uint32_t	losses;		/* of its CPU when the open segment began */
	uint16_t	cpu;
	uint16_t	n_funcs;	/* may exceed HIST_FUNCS: the deeper ones are not kept */
	uint8_t		state;
	uint8_t		bstate;
	bool		seen;
};

struct hist_cpu {
	/* sequence number of the last closed running segment here */
	uint64_t	last;
	uint64_t	since;		/* start of the running segment that is open here */
	uint32_t	task;		/* who runs here, TASK_NONE */
	uint32_t	losses;
	uint32_t	irq[HIST_IRQS];	/* HCTX of the interrupts that are being handled */
	uint8_t		n_irq;
};

/* A function (its address or string id) and who caused it to be called there. */
struct hist_pair {
	uint64_t	func;
	uint32_t	by;	/* work: who queued it, 0 an interrupt; TASK_NONE unknown */
};

/* Work that has been queued, by its address; a later one may take its place. */
struct hist_queued {
	uint64_t	work;
	uint32_t	by;
};

/*
 * Probes of which no return is recorded mark a moment, not a span: after HIST_PROBE_TRIES entries
 * without any return they no longer count as being open.
 */
#define HIST_PROBES		64	/* a power of two */
#define HIST_PROBE_TRIES	16
struct hist_probe {
	uint32_t	func;		/* string id + 1; 0 free */
	uint32_t	enters;		/* up to HIST_PROBE_TRIES */
	bool		returns;
};

struct history {
	struct engine	*e;
	struct hist_probe probes[HIST_PROBES];
	struct hist_seg	*segs;
	uint64_t	n;		/* segments ever written; the last HIST_SEGS are there */
	struct hist_task *tasks;	/* by task index */
	size_t		n_tasks;
	struct hist_cpu	*cpus;
	size_t		n_cpus;
	uint32_t	losses_any;	/* losses on an unknown CPU */
	struct hist_pair pairs[HIST_PAIRS];	/* HCTX_WORK, HCTX_TIMER: index */
	uint32_t	n_pairs;
	struct hist_queued queued[HIST_QUEUED];
	uint8_t		exits;		/* bit per HCTX_IRQ.. whose ends are recorded */
	uint8_t		span_ends;	/* the same for the pairs of hist_spans.c */
	uint8_t		span_begins[8];	/* of these, up to HIST_PROBE_TRIES */
};

/* hist_task() - the record of task @idx (made when new); NULL for TASK_NONE. */
struct hist_task *hist_task(struct history *h, uint32_t idx);
/* hist_cpu() - the record of @cpu (made when new); NULL for EVENT_CPU_NONE. */
struct hist_cpu *hist_cpu(struct history *h, uint16_t cpu);
/* hist_seg() - the segment with sequence number @seq, NULL when it has left the pool. */
const struct hist_seg *hist_seg(const struct history *h, uint64_t seq);
/* hist_ctx() - what task @idx is in just now. */
uint32_t hist_ctx(const struct history *h, uint32_t idx);
/* hist_push(), hist_pop() - task @idx enters and leaves @ctx; what was entered since has ended. */
void hist_push(struct history *h, uint32_t idx, uint32_t ctx);
void hist_pop(struct history *h, uint32_t idx, uint32_t ctx);
/*
 * hist_span_event() - an event that begins or ends a span, work or interrupt (hist_spans.c); false:
 * it does none of these. hist_span_kinds: those it wants, for struct analysis.
 */
bool hist_span_event(struct history *h, const struct event *ev);
extern const uint8_t hist_span_kinds[];
/* hist_irq() - HCTX of the interrupt that is being handled on @cpu, 0: none as far as recorded. */
uint32_t hist_irq(const struct history *h, uint16_t cpu);

/*
 * hist_kvm_ioctl() - the KVM ioctl request (0xAExx) that a system call's entry makes; 0 when it
 * makes none.
 */
uint32_t hist_kvm_ioctl(const struct event *ev);
/*
 * hist_long_func() - the longest call of a known function (or span) of task @idx that overlaps
 * [@from, @to) and began since the last call of this, as HCTX; false: none.
 */
bool hist_long_func(struct history *h, uint32_t idx, uint64_t from, uint64_t to, uint32_t *func,
		    uint64_t *ns);

enum hist_end {
	HIST_COVERED,		/* @from was reached */
	/* nothing is known before: the recording, or what is known of it, begins later */
	HIST_EDGE,
	HIST_CUT,		/* it has left the pool, or the budget is used up */
};

/* @seq: its sequence number, HIST_NONE for one that is still open. False ends the walk. */
typedef bool (*hist_fn)(void *arg, const struct hist_seg *clipped, uint64_t seq);
/*
 * hist_walk() - the segments of task @idx that overlap [@from, @to), newest first, each clipped to
 * it; the open one counts, up to @to. Stops (HIST_COVERED) when @fn returns false. @budget is
 * counted down by steps and ends the walk at 0. Between the segments there is no gap.
 */
enum hist_end hist_walk(const struct history *h, uint32_t idx, uint64_t from, uint64_t to,
			uint64_t *budget, hist_fn fn, void *arg);
/*
 * hist_walk_cpu() - the same for what ran on @cpu; there may be gaps where that is not known.
 * @before: the number of a segment that ended at @to (a short cut), or HIST_NONE.
 */
enum hist_end hist_walk_cpu(const struct history *h, uint16_t cpu, uint64_t from, uint64_t to,
			    uint64_t before, uint64_t *budget, hist_fn fn, void *arg);

#endif
