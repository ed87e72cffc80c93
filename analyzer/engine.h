/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - one engine per recording: tasks, CPUs, VMs and vCPUs, and the analyses that watch
 * them.
 *
 * The engine is a consumer of a stream (stream.h). It runs in its own thread, sees each event once,
 * in order, and keeps memory bounded by tasks, CPUs and the analyses' fixed pools. For each event:
 * analyses that want its kind are called first, in order of priority, and see the world as it was
 * before the event; then the core updates tasks and CPUs. At the end each analysis writes its rows
 * to the case file (parser's thread, the stream's strings readable).
 *
 * An analysis is one file in analyzer/ that REGISTER()s a `struct analysis`; deleting the file
 * deletes it.
 */
#ifndef KM_ENGINE_H
#define KM_ENGINE_H

#include "casefile.h"
#include "event.h"
#include "stream.h"

#define ENGINE_MAX_TASKS	(1u << 20)
#define TASK_NONE		UINT32_MAX
#define VCPU_NONE		UINT32_MAX
#define VM_NONE			UINT32_MAX
#define TIME_NONE		UINT64_MAX
#define TID_MAX			(1u << 22)	/* the kernel's PID_MAX_LIMIT; more is damage */
#define TID_PAGE_SIZE		(1u << 12)

enum task_role {
	ROLE_OTHER,
	ROLE_IDLE,
	ROLE_VCPU,
	ROLE_VMM,
	ROLE_IOTHREAD,
	ROLE_VHOST,
	ROLE_KWORKER,
	ROLE_KSMD,
	ROLE_KHUGEPAGED,
	ROLE_NX_RECOVERY,
	ROLE_MIGRATION,
	ROLE_KTHREAD,
	ROLE_RECORDER,
	ROLE_N
};

/* What the scheduler last did with a task, as far as the recording shows. */
enum sched_state {
	SCHED_UNKNOWN, /* not seen yet, or lost events since */
	SCHED_RUNNING,
	SCHED_WOKEN,	 /* runnable after a wake-up */
	SCHED_PREEMPTED, /* runnable: switched out with prev_state R */
	SCHED_BLOCKED,	 /* switched out in another state; block_state says which (enum
			    task_state_bit) */
	SCHED_DEAD,
};

/* A wake-up as recorded (the first one since the task blocked). */
struct wakeup {
	uint64_t	time;		/* TIME_NONE: none seen */
	uint64_t	pos;
	uint32_t waker; /* task index of the current task at the wake-up, TASK_NONE unknown */
	uint16_t	cpu;		/* where the waker ran */
	uint8_t flags; /* enum event_flag: hardirq/softirq: the waker is the interrupt, not the task
			*/
	uint8_t		kind;		/* EV_SCHED_WAKING, EV_SCHED_WAKEUP, EV_SCHED_WAKEUP_NEW */
};

struct task {
	int32_t		tid;
	int32_t		tgid;		/* -1 unknown */
	uint64_t	comm[2];	/* last seen */
	uint8_t		role;		/* enum task_role */
	uint8_t		state;		/* enum sched_state */
	uint16_t	block_state;	/* enum task_state_bit, of the last switch-out */
	uint16_t	cpu;		/* where it runs or last ran; EVENT_CPU_NONE */
	bool		has_kvm;	/* it entered or left a guest */
	bool		inferred_vm;	/* its VM was guessed from names, not from a thread group */
	uint32_t	vcpu;		/* VCPU_NONE unless a vCPU thread (kvm events, or comm "CPU n/KVM") */
	uint32_t vm;			/* VM_NONE; valid for all tasks of a VM's thread group after
					   engine_finish_vms() (in end/flush) */
	uint64_t	since;		/* start of `state` */
	uint64_t	out_pos;	/* position of the last switch-out */
	struct wakeup	wake;
	uint64_t	first_ns, last_ns;
	uint64_t	oncpu_ns;	/* by sched_switch */
	uint64_t	events;
	int64_t		row_id;		/* task table, in flush */
};

struct vcpu {
	uint32_t	task;		/* index */
	uint32_t	number;		/* the guest's vCPU number; EVENT_U32_NONE unknown */
	uint32_t	vm;		/* valid in flush */
	int64_t		row_id;
};

struct vm {
	int32_t		tgid;		/* -1 unknown */
	char		name[32];
	int64_t		row_id;
};

struct cpu {
	uint32_t	task;		/* current task index; TASK_NONE unknown */
	uint64_t	since;		/* since when it is there (switch) */
	uint64_t	last_ns;	/* last event on this CPU */
	uint64_t	lost_ns;	/* time of the last EV_LOST here; 0 none */
	uint8_t		last_kind;	/* enum event_kind of the last event on this CPU */
};

struct engine;

struct analysis {
	const char	*name;
	int		priority;	/* order of calls and of flush: lower first; unique */
	uint64_t	kinds;		/* bit (1ull << EV_x) per kind wanted */
	bool		keyed;		/* wanted too: every kind that events.def has keys for */
	const uint8_t	*counted;	/* wanted too: COUNT kinds of events.def, 0 ends; or NULL */
	/* Its rows are intervals between two events: it is not flushed where one of its kinds (with
	 * no kinds: any) was only sampled, as what lies between two samples is not known. */
	bool		pairs;
	/* event() looks at nothing but the event and its own state: it is called in the parser's
	 * thread, which on most recordings has less to do than the engine's. */
	bool		early;
	void		*(*begin)(struct engine *e);
	void		(*event)(struct engine *e, void *state, const struct event *ev);
	/* lost() - events were lost on @cpu (EVENT_CPU_NONE: any) before e->now; whatever was open
	 * there is not to be bridged. May be NULL. */
	void		(*lost)(struct engine *e, void *state, uint16_t cpu);
	/* gap() - there was no event between @from and @ev, which is about to be handled, for more
	 * than ENGINE_GAP_NS. May be NULL. */
	void		(*gap)(struct engine *e, void *state, const struct event *ev,
			       uint64_t from);
	/* flush() - write rows; @e->last_ns is the last event's time. Called after the core wrote
	 * source/task/vm/vcpu ids. */
	struct error	*(*flush)(struct engine *e, void *state);
	void		(*destroy)(void *state);
};

SET_DECLARE(analyses, struct analysis);
#define KIND(k)			(1ull << EV_##k)
#define ENGINE_GAP_NS		1000000
#define ENGINE_GAP_BITS		3	/* engine.gaps: 2^3 steps in each power of two */
#define ENGINE_GAPS		(64u << ENGINE_GAP_BITS)

/* kind_bit() - the bit of @kind in masks; kinds that are only counted have OTHER's. */
static inline uint64_t kind_bit(unsigned int kind)
{
	return 1ull << (kind < EV_N_ENGINE ? kind : EV_OTHER);
}

/* event_keyed() - does events.def ask for @kind to be counted by its keys (an_keys.c)? */
bool event_keyed(enum event_kind kind);

/* An analysis that wants a kind of event; event == NULL ends the list. */
struct engine_hook {
	void		(*event)(struct engine *e, void *state, const struct event *ev);
	void		*state;
};

struct engine {
	struct stream	*s;
	struct case_db	*db;
	const struct engine_options *opt;
	uint64_t	now;		/* time of the event in hand */
	uint64_t	first_ns, last_ns;
	struct task	*tasks;		/* index 0 is the idle task (tid 0) of all CPUs */
	uint32_t	n_tasks;
	size_t		cap_tasks;
	struct vcpu	*vcpus;
	uint32_t	n_vcpus;
	size_t		cap_vcpus;
	struct vm	*vms;
	uint32_t	n_vms;
	size_t		cap_vms;
	struct cpu	*cpus;		/* by CPU number */
	uint32_t	n_cpus;
	uint64_t	seen;		/* bit per kind that occurred: kind_bit() */
	uint64_t	last_pos;	/* of the event before the one in hand */
	uint64_t	gaps[ENGINE_GAPS];	/* times between events, counted by gap_slot() */
	uint32_t	**tid_pages;	/* tid -> task index + 1 */
	bool		overflow;	/* more tasks than ENGINE_MAX_TASKS */
	const struct analysis **an;	/* sorted by priority */
	void		**an_state;
	size_t		n_an;
	struct engine_hook *by_kind[EV_NKINDS];	/* who wants it, in order of priority */
	struct engine_hook *early[EV_NKINDS];	/* likewise of those that are called early */
};

struct engine_options {
	uint64_t	stall_threshold_ns;	/* 0: adaptive */
};

extern const struct consumer engine_consumer;

struct engine *engine_create(struct case_db *db, const struct engine_options *opt);
void engine_destroy(struct engine *e);

/* engine_finish_vms() - group vCPU threads into VMs; engine_write_tasks() - rows of vm, task and
 * vcpu. engine.c's end() calls both. */
void engine_finish_vms(struct engine *e);
struct error *engine_write_tasks(struct engine *e);

/* engine_task_new() - what engine_task() does for a tid that it has not seen yet. */
uint32_t engine_task_new(struct engine *e, int32_t tid);
/* engine_task() - index of the task with @tid, making it when new; TASK_NONE for a tid that can be
 * none (< 0, > 4194303). tid 0 is index 0. */
static inline uint32_t engine_task(struct engine *e, int32_t tid)
{
	const uint32_t *page;

	if (unlikely((uint32_t)tid >= TID_MAX))
		return TASK_NONE;
	page = e->tid_pages[(uint32_t)tid / TID_PAGE_SIZE];
	if (unlikely(!page || !page[(uint32_t)tid % TID_PAGE_SIZE]))
		return engine_task_new(e, tid);
	return page[(uint32_t)tid % TID_PAGE_SIZE] - 1;
}
/* engine_state() - the state another analysis keeps, by its name; NULL when it is not built in. */
void *engine_state(const struct engine *e, const char *name);
/* engine_comm() - comm as a string into @buf (16 bytes), ":tid" where unknown. */
const char *engine_comm(const struct task *t, char buf[24]);
const char *role_name(enum task_role role);
enum task_role role_of_comm(const char *comm, bool kthread_hint);
/* comm_vcpu_number() - n of "CPU n/KVM" (QEMU), "kvm-vcpu-n", "fc_vcpu n", "vcpun" ...; -1 when it is no vCPU thread's name. */
int comm_vcpu_number(const char *comm);
/* engine_cite() - citation of the record at @pos (an event of this stream); id or 0. Only in flush.
 */
int64_t engine_cite(struct engine *e, const struct event *ev);
/* engine_cite_pos() - the same where only time and position were kept. */
int64_t engine_cite_pos(struct engine *e, uint64_t time, uint64_t pos);
/* engine_cites() - JSON array of such citations, malloc'd. @n at most 8 are cited. */
char *engine_cites(struct engine *e, const uint64_t *times, const uint64_t *pos, size_t n);
/* engine_sampled() - the kinds of which an event was only sampled (perf record -F, -c N), as bits;
 * without those that are never paired. After the last event: it reads the stream's types. */
uint64_t engine_sampled(const struct engine *e);
/* engine_visible() - could an event of @kind have been seen (its type is declared in the stream)?
 * In flush. */
bool engine_visible(const struct engine *e, enum event_kind kind);

/* gap_slot() - in which of engine.gaps a time between events counts; gap_limit() - its longest. */
static inline unsigned int gap_slot(uint64_t ns)
{
	unsigned int log = 63u - (unsigned int)__builtin_clzll(ns | 1u << ENGINE_GAP_BITS);

	unsigned int step = ns >> (log - ENGINE_GAP_BITS) & ((1u << ENGINE_GAP_BITS) - 1);

	return (log << ENGINE_GAP_BITS) + step;
}

static inline uint64_t gap_limit(unsigned int slot)
{
	unsigned int log = slot >> ENGINE_GAP_BITS;
	uint64_t step = slot & ((1u << ENGINE_GAP_BITS) - 1);

	return (((1ull << ENGINE_GAP_BITS) + step + 1) << (log - ENGINE_GAP_BITS)) - 1;
}

static inline bool task_is_idle(uint32_t idx)
{
	return idx == 0;
}

#endif
