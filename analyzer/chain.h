/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain.h - what filled a stall, as links that tile it exactly, and what filled each of them
 * (design §4).
 *
 * A chain is built when its stall ends, from the history pool, into compact links without names;
 * those of the stalls that are kept get their words (chain_text.c) at the end. Links of depth 0
 * tile the stall; the children of a link tile that link. A blocked link's children are what its
 * waker did meanwhile, and so on until running code, an interrupt, a throttle or the edge of what
 * was recorded. Depth and number of links are bounded; what is too small or too much becomes a
 * `folded` link.
 */
#ifndef KM_CHAIN_H
#define KM_CHAIN_H

#include "states.h"

#define CHAIN_LINKS		192	/* of one chain */
#define CHAIN_DEPTH		8
#define CHAIN_TILES		24	/* children of one link that stand alone; others fold */
#define CHAIN_STEPS		(1u << 20)	/* history segments looked at for one chain */
/* A CPU idle for longer while a task of it waits: may be a throttle (see chain_settle()). */
#define CHAIN_IDLE_NS		NSEC_PER_MSEC
#define CHAIN_SHARES		3
#define LINK_ROOT		UINT16_MAX

enum link_kind {
	LK_RUNNING, LK_HOST, LK_VMM, LK_RUNNABLE, LK_PREEMPTED, LK_THROTTLED, LK_BLOCKED, LK_IRQ,
	LK_TIMER, LK_RETRY, LK_FOLDED, LK_UNKNOWN, LK_LOST, LK_N
};

enum link_flag {
	LF_INFERRED	= 0x01,
	/* not over at the end of the recording, or not seen before */
	LF_EDGE		= 0x02,
	LF_NO_WAKE	= 0x04,		/* a sleep without a recorded wake-up */
	LF_CUT		= 0x08,		/* the pool or a limit ended the account here */
	LF_NO_SCHED	= 0x10,		/* no scheduler events: waits would not be seen */
	LF_IRQ		= 0x20,		/* BLOCKED: woken from a hard interrupt */
	LF_SOFTIRQ	= 0x40,
	LF_UNINT	= 0x80,		/* BLOCKED: in state D */
	LF_NEW		= 0x100,	/* BLOCKED: not created yet; the waker is who created it */
	LF_PREEMPT	= 0x200,	/* THROTTLED: began by preemption, else by a wake-up */
	/* BLOCKED: waits for a lock, which its waker held (inferred) */
	LF_HOLDER	= 0x400,
};

struct link {
	uint64_t	start, end;
	uint64_t	named_ns;		/* part of it with a named cause */
	/* the events at its begin and end; time TIME_NONE: none */
	uint64_t	cite_time[2], cite_pos[2];
	/* whose time it is: the vCPU's, or the waker's inside a blocked link */
	uint32_t	task;
	uint32_t	ctx;			/* HCTX of that task */
	uint16_t	cpu;
	uint16_t	parent;			/* index of the link, LINK_ROOT */
	uint16_t	flags;
	uint8_t		kind, depth;
	union {
		struct {			/* HOST, VMM */
			struct exit_info info;
			uint64_t	func_ns;
			uint32_t	func;	/* HCTX, EVENT_U32_NONE */
			/* mmu notifier invalidations by others meanwhile, and who made the last */
			uint32_t	unmaps, unmapper;
			uint32_t	stack;	/* of a sample taken meanwhile, EVENT_U32_NONE */
		} host;
		/* RUNNABLE, PREEMPTED, THROTTLED: who had the CPU */
		struct {
			uint64_t	ns[CHAIN_SHARES], idle, other, unknown;
			uint32_t	who[CHAIN_SHARES], n_other;
		} wait;
		struct {			/* RUNNING */
			uint32_t	stack;	/* of the last sample, EVENT_U32_NONE */
		} run;
		struct {			/* BLOCKED */
			uint32_t	waker, wctx;
			uint16_t	wcpu;
		} block;
		struct {			/* FOLDED */
			uint64_t	run, wait, block, other;
			/* of wait: behind the task that had most of it */
			uint64_t	who_ns;
			uint32_t	n, who;
			/* of a vCPU's exit, EVENT_U32_NONE */
			uint32_t	reason, user_reason;
		} fold;
	};
};

struct chain {
	struct history	*h;
	struct link	links[CHAIN_LINKS];
	uint32_t	n;
	/* links that must stay free for what the caller (of any level) has still to add */
	uint32_t	reserve;
	uint64_t	budget;
	bool		partial;
};

/* A vCPU's piece as it goes into a chain. */
struct spiece {
	struct piece	p;
	uint64_t	ns[VS_N];	/* folded: time per state */
	uint64_t	named_ns;	/* folded: of host and vmm */
	uint64_t	func_ns;
	uint32_t	func, stack;	/* EVENT_U32_NONE; func: HCTX */
	uint32_t	unmaps, unmapper;
	uint32_t	folded;		/* pieces in it; 0: one */
};

/*
 * spiece_named() - time of a host or vmm piece whose cause is named: a function, a sample, or
 * something KVM said it did.
 */
uint64_t spiece_named(const struct spiece *s);

/*
 * chain_start() - empty @c. Before each chain_piece() the caller sets c->reserve to the number of
 * pieces that follow it.
 */
void chain_start(struct chain *c, struct history *h);
/* chain_piece() - append the link of depth 0 for a vCPU's piece. */
void chain_piece(struct chain *c, uint32_t task, const struct spiece *s);
/* chain_task() - append links of depth 0 for what @task did in [@from, @to), for an operation. */
void chain_task(struct chain *c, uint32_t task, uint64_t from, uint64_t to);
/* chain_named() - ns of depth-0 links (of @n links at @l) whose cause is named. */
uint64_t chain_named(const struct link *l, uint32_t n);
/* chain_throttled() - the part of chain_named() that hangs on inferred throttles. */
uint64_t chain_throttled(const struct link *l, uint32_t n);
/*
 * chain_settle() - throttled links of tasks whose VM was never found throttled (@throttled by VM
 * index: 0 no, 1 inferred, 2 seen by a probe; tasks without a VM: no) become plain waits without a
 * named cause; those of a probed throttle are no longer inferred.
 */
void chain_settle(const struct engine *e, struct link *l, uint32_t n, const uint8_t *throttled);
/*
 * A shape is made, level by level, of what filled at least a third of its parent: links that say
 * the same (but for tids and numbers) count together, and a blocked one goes on into its longest.
 */
#define GROUP_PARTS		3

struct link_group {
	uint64_t	hash, ns;
	uint32_t	longest;	/* index of the longest link of it */
};

/* chain_groups() - what fills link @parent (LINK_ROOT: the stall), in order of first sight. */
unsigned int chain_groups(const struct engine *e, const struct link *l, uint32_t n, uint16_t parent,
			  struct link_group out[GROUP_PARTS]);
/*
 * chain_hash() - equal for chains of one shape: kinds and what of the links that matter, without
 * tids and numbers.
 */
uint64_t chain_hash(const struct engine *e, const struct link *l, uint32_t n, uint64_t seed);

/* chain_is_number() - is @comm[@i] part of a number in a name: 1 in kworker/0:1, not 86 in x86. */
bool chain_is_number(const char *comm, unsigned int i);

/* The words, in flush. Returned strings are malloc'd. */
const char *link_kind_name(enum link_kind kind);
char *chain_what(struct engine *e, const struct link *l);
/*
 * chain_shape() - the shape as text: "exit npf: handles exit npf + preempted behind a vCPU". @what: the stall's
 * own (exit reason ...), may be NULL.
 */
char *chain_shape(struct engine *e, const struct link *l, uint32_t n, const char *kind,
		  const char *what);
/* chain_cause() - one sentence for the largest part of the stall, followed to its root. */
char *chain_cause(struct engine *e, const struct link *l, uint32_t n);
/*
 * chain_exit_name() - name of an exit (or exit to user space) as a stall's what; NULL when none is
 * known.
 */
char *chain_exit_name(const struct engine *e, const struct exit_info *x);
/* chain_ctx_name() - "in F", "in ioctl KVM_CREATE_VM", "" for HCTX @ctx. */
void chain_ctx_name(const struct engine *e, uint32_t ctx, char *buf, size_t size);

#endif
