/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.h - the one event type that all parsers produce and the engine consumes.
 *
 * An event is 64 bytes and refers to its record in the input by position only; what does not fit
 * (payload, call chain, rendered text) is reached through the stream's ops by that position.
 */
#ifndef KM_EVENT_H
#define KM_EVENT_H

#include "base.h"

#define EVENT_U32_NONE		UINT32_MAX
#define EVENT_NONE		(1ull << 63)	/* a 64-bit slot whose field is absent */
#define EVENT_CPU_NONE		UINT16_MAX
#define EVENT_POS_BITS		48

enum event_kind {
	EV_OTHER, /* any tracepoint without a row in events.def */
#define EVENT(kind, ...)	EV_##kind,
#define COUNT(kind, ...)
#include "../parsers/events.def"
#undef EVENT
	/*
	 * Kinds that are no tracepoint of the catalogue. "Pseudo" ones come from the recorder's
	 * own records or from a parser; they have ev == EVENT_TYPE_NONE and are not counted.
	 */
	EV_PROBE_ENTER,	 /* kprobe/fentry on a function: b0 = function (string id), a0..a3 = args in
			    order */
	EV_PROBE_RETURN, /* kretprobe: b0 = function (string id), a0 = return value */
	EV_PROBE_ROOT,	 /* hv_track_root_tdp: a0 = root (second argument), b0 = function */
	EV_PROBE_REWEIGHT, /* reweight_entity: a0 = se, a1 = old, a2 = new weight, a3 = vruntime */
	EV_SAMPLE,	   /* cpu-clock, cycles ...: a0 = ip, b0 = stack id or EVENT_U32_NONE */
	EV_FUNC_ENTER,	  /* function_graph "f() {": b0 = function, b1 = depth */
	EV_FUNC_EXIT,	  /* function_graph "}" : b0 = function or EVENT_U32_NONE, b1 = depth, a0 =
			     duration ns or 0 */
	EV_FUNC_LEAF,	  /* function_graph "f();": b0 = function, b1 = depth, a0 = duration ns */
	EV_SYSCALL_ENTER, /* syscalls:sys_enter_NAME: b0 = name (string id), a0..a2 = first three
			     arguments */
	EV_SYSCALL_EXIT,  /* syscalls:sys_exit_NAME: b0 = name (string id), a0 = ret */
	EV_STACK, /* pseudo: b0 = stack id of the event just before with the same tid and cpu */
	EV_TASK,  /* pseudo: tid has comm a0,a1 and thread group b0 (EVENT_U32_NONE unknown); b1 =
		     enum task_source */
	EV_TASK_FORK, /* pseudo: perf's FORK record: b0 = child tid, b1 = parent tid, a0 = child
			 tgid, a1 = parent tgid */
	EV_TASK_EXIT, /* pseudo: perf's EXIT record: b0 = tid */
	EV_LOST, /* pseudo: a0 = events lost (0: unknown number), cpu = where or EVENT_CPU_NONE; all
		    before time */
	EV_N_ENGINE, /* the kinds so far have a bit each (KIND() in engine.h) */
	/* Tracepoints that are only counted (COUNT rows of events.def). */
	EV_LAST_ENGINE = EV_N_ENGINE - 1,
#define EVENT(kind, ...)
#define COUNT(kind, ...)	EV_##kind,
#include "../parsers/events.def"
#undef EVENT
	EV_NKINDS
};

_Static_assert(EV_N_ENGINE <= 64 && EV_NKINDS <= UINT8_MAX, "kinds fit their masks");

enum task_source {
	TASK_SEEN,		/* from an event's own comm column or sample */
	TASK_COMM,		/* perf COMM record */
	TASK_EXEC,		/* perf COMM record with the exec flag */
	TASK_SYNTH,		/* perf COMM record synthesised before the recording (time 0) */
};

/*
 * prev_state of sched_switch, normalised over kernels and text forms. TSTATE_RUNNABLE is the
 * absence of all others ("R"); TSTATE_PREEMPTED is "R+". (kernel: TASK_REPORT bits,
 * include/linux/sched.h)
 */
enum task_state_bit {
	TSTATE_RUNNABLE		= 0,
	TSTATE_INTERRUPTIBLE	= 0x01,	/* S */
	TSTATE_UNINTERRUPTIBLE	= 0x02,	/* D */
	TSTATE_STOPPED		= 0x04,	/* T */
	TSTATE_TRACED		= 0x08,	/* t */
	TSTATE_DEAD		= 0x10,	/* X */
	TSTATE_ZOMBIE		= 0x20,	/* Z */
	TSTATE_PARKED		= 0x40,	/* P */
	TSTATE_IDLE		= 0x80,	/* I */
	TSTATE_PREEMPTED	= 0x100,/* R+ */
	TSTATE_OTHER		= 0x200,/* a letter this program does not know */
};

/* common_flags of the ring buffer (kernel: enum trace_flag_type) */
enum event_flag {
	EVF_IRQS_OFF		= 0x01,
	EVF_NEED_RESCHED	= 0x04,
	EVF_HARDIRQ		= 0x08,
	EVF_SOFTIRQ		= 0x10,
	EVF_PREEMPT_RESCHED	= 0x20,
	EVF_NMI			= 0x40,
	EVF_KNOWN		= 0x80,	/* ours: the form carried flags at all */
};

/* What an exit reason is, whatever the architecture calls it. */
enum exit_class {
	EXIT_OTHER,
	EXIT_HLT,
	EXIT_NPF,
	EXIT_MMIO,
	EXIT_IO,
	EXIT_MSR,
	EXIT_INTR,
	EXIT_INTR_WINDOW,
	EXIT_EXCEPTION,
	EXIT_CR,
	EXIT_CPUID,
	EXIT_HYPERCALL,
	EXIT_PAUSE,
	EXIT_APIC,
	EXIT_RSM,
	EXIT_NCLASSES
};

struct event {
	uint64_t	time;			/* ns on the stream's clock */
	uint64_t pos : EVENT_POS_BITS; /* byte offset of the record or line in its member */
	uint64_t	cpu:16;			/* EVENT_CPU_NONE where the form has none */
	int32_t		tid;			/* the current task; -1 where unknown */
	uint16_t ev; /* index into the stream's event types; EVENT_TYPE_NONE for pseudo events */
	uint8_t		kind;			/* enum event_kind */
	uint8_t		flags;			/* enum event_flag */
	uint64_t	a[4];
	uint32_t	b[2];
};

_Static_assert(sizeof(struct event) == 64, "an event is 64 bytes");

#define EVENT_TYPE_NONE		UINT16_MAX

/*
 * b0 of KVM_EXIT (and KVM_NESTED_VMEXIT): reason index in the low 24 bits, its class above, so that
 * the engine's thread need not look into the stream's tables while the parser's thread adds to
 * them.
 */
#define EXIT_PACK(idx, class)	((uint32_t)(idx) | (uint32_t)(class) << 24)
#define EXIT_REASON_IDX(b0)	((b0) & 0xffffffu)
#define EXIT_CLASS(b0)		((enum exit_class)((b0) >> 24))

static inline __attribute__((nonnull)) void comm_words(uint64_t w[2], const char *comm, size_t len)
{
	w[0] = w[1] = 0;
	if (len)
		memcpy(w, comm, len < 15 ? len : 15);
}

/* exit_class_of() - class of an exit reason by its printed name (vmx, svm, arm64, s390 spellings).
 */
enum exit_class exit_class_of(const char *name);
/*
 * exit_reason_name() - name of exit reason @code for @isa (1 vmx, 2 svm, 3 arm64 exception class, 4
 * s390 intercept, 5 RISC-V scause) from the UAPI headers (asm/vmx.h, asm/svm.h; vendored numbers in
 * parsers/exit_reasons.def); NULL when not known.
 */
const char *exit_reason_name(unsigned int isa, uint64_t code);

#endif
