/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states.h - the one state machine of vCPU threads (an_states.c) and the pieces it gives to
 * whoever listens.
 *
 * Every ns of a vCPU thread between its first and its last event is in exactly one of eight
 * states; a piece is a stretch of one thread in one state. Pieces of a thread come in order of
 * time, without gap or overlap, each when its end is known: a sleep when its wake-up has come (or
 * the thread runs again without one). What decides (design §4):
 *
 *   guest	kvm_entry to kvm_exit, on the CPU
 *   host	kvm_exit to kvm_entry, on the CPU; also ioctl(KVM_RUN) up to the entry where system
 *		calls are recorded. Where kvm_userspace_exit is not recorded, the VMM's part is
 *		in it
 *   vmm	kvm_userspace_exit to the next ioctl(KVM_RUN) (or, where system calls are not
 *		recorded, kvm_entry), on the CPU
 *   halted	in an exit that asks for sleep (HLT, MWAIT, WFx): polling, or asleep until the
 *		wake-up. Where the recording has no wake-ups at all the run-queue wait at its end is
 *		inside, since it can't be told apart
 *   waiting	runnable and not running: after a wake-up, or preempted
 *   blocked	asleep in an exit, in the VMM or (uninterruptibly) anywhere, until the wake-up
 *   unknown	the recording began later than the thread; on the CPU without kvm events (also
 *		threads that are vCPUs by name only: running is all that is known, and not whether a
 *		guest runs, so this is the choice for recordings without kvm events too); asleep
 *		interruptibly without a kvm exit before; a sleep that ends without any wake-up; an
 *		entry after an entry (an exit is missing)
 *   lost	from the last event before a loss on its CPU to the next event that tells its state
 *
 * kvm_nested_vmenter and kvm_nested_vmexit happen between an exit and an entry of L0 and change no
 * state. Without sched events exit handling may hold waits that can't be seen; it stays `host`.
 */
#ifndef KM_STATES_H
#define KM_STATES_H

#include "history.h"

enum vstate {
	VS_GUEST, VS_HOST, VS_VMM, VS_HALTED, VS_WAITING, VS_BLOCKED, VS_UNKNOWN, VS_LOST, VS_N
};

/* Something KVM said it did while handling an exit. */
enum sub_kind {
	SUB_NONE, SUB_MSR, SUB_CR, SUB_PIO, SUB_MMIO, SUB_INJ, SUB_NESTED, SUB_SMM, SUB_ROOT,
	SUB_FAULT, SUB_IRQ, SUB_SOFTIRQ
};

struct exit_info {
	uint64_t	sub_val;	/* port, gpa, MSR index, CR number, vector, root ... */
	uint64_t	sub_time, sub_pos;
	uint32_t	reason;		/* EXIT_PACK of the exit, EVENT_U32_NONE unknown */
	uint32_t	user_reason;	/* KVM_EXIT_* of kvm_userspace_exit, EVENT_U32_NONE */
	uint8_t		sub;		/* enum sub_kind */
	bool		sub_write;	/* msr, cr, pio, mmio: a write */
};

enum piece_flag {
	PF_PREEMPTED	= 0x01,	/* waiting: began by preemption; else by a wake-up */
	PF_NO_WAKE	= 0x02,	/* unknown: a sleep whose wake-up was not recorded */
	/* the thread has an exit in hand, or is in the VMM: it is not its guest that sleeps */
	PF_IN_EXIT	= 0x04,
	PF_EDGE		= 0x08,	/* not over at the end of the recording */
	PF_NO_SCHED	= 0x10,	/* no scheduler events so far: waits can't be seen */
};

struct piece {
	uint64_t	start, end;
	uint64_t	pos, end_pos;	/* events that began and ended it */
	struct exit_info info;
	/* waiting: from the wake-up to its enqueue, where that was seen; else 0 */
	uint32_t	enq_ns;
	uint16_t	cpu;
	uint16_t	block_state;
	uint8_t		state;		/* enum vstate */
	uint8_t		flags;
};

/* A listener; @p is valid during the call only. @h is the task's index. */
typedef void (*piece_fn)(void *arg, uint32_t task, const struct piece *p);

struct states;
/*
 * states_listen() - call @fn for every piece; one listener. From an analysis's begin(), with
 * engine_state(e, "states").
 */
void states_listen(struct states *s, piece_fn fn, void *arg);
/*
 * states_open() - the piece that is open for @task, up to e->last_ns (flag PF_EDGE); false when
 * there is none. In flush, after states.
 */
bool states_open(const struct states *s, uint32_t task, struct piece *ret);
const char *vstate_name(enum vstate state);

#endif
