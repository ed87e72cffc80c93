/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * an_waits.h - what the analysis "waits" (engine_state(e, "waits")) keeps for others: returns
 * from a throttle.
 *
 * CFS is work-conserving: a runnable task whose own CPU idles is not allowed to run. A "return"
 * is the end of such a time: the CPU went straight from idle to a vCPU thread that had been
 * runnable there for WAITS_IDLE_MIN at least, idle at the end all that time.
 */
#ifndef KM_AN_WAITS_H
#define KM_AN_WAITS_H

#include "engine.h"

#define WAITS_IDLE_MIN	(2 * NSEC_PER_MSEC)
#define WAITS_RETURNS	256	/* kept per thread */

struct wait_return {
	uint64_t	time;		/* switch-in */
	uint64_t	pos;
	uint64_t	idle_ns;	/* of that CPU just before, the thread runnable */
};

struct wait_returns {
	uint32_t	task;		/* index */
	uint64_t	n;		/* all */
	uint64_t	first_ns, last_ns;
	uint64_t	idle_ns;	/* of its CPU while it was runnable there, all */
	uint64_t	wait_ns;	/* all time it was runnable */
	const struct wait_return *kept;	/* the first of them, ascending */
	size_t		n_kept;
};

/*
 * waits_returns() - per vCPU thread number @i of the analysis (from 0); false at the end. In
 * flush only.
 */
bool waits_returns(const void *state, size_t i, struct wait_returns *ret);

#endif
