/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_alarm.h - which lines of a kernel log mean something, and what they say.
 *
 * Texts from the kernel's own format strings: kernel/watchdog.c, kernel/rcu/tree_stall.h,
 * kernel/hung_task.c, kernel/workqueue.c, kernel/sched/rt.c, kernel/time/clocksource.c,
 * kernel/events/core.c, arch/x86/kernel/nmi.c, arch/x86/kernel/cpu/intel.c, mm/oom_kill.c,
 * lib/bug.c.
 */
#ifndef KM_LOG_ALARM_H
#define KM_LOG_ALARM_H

#include "log_stamp.h"

#define LOG_MAX_ALARMS	64

/* What is taken out of such a line; -1 and "" where it does not say. */
struct found {
	int64_t		cpu, tid, duration_ns;
	char		task[64];
};

struct alarm {
	const char	*kind;		/* log_line.kind */
	const char	*needle;	/* in the text; at its beginning where @start */
	bool		start;
	bool		bare;		/* unmistakable also in prose without a stamp */
	/* take() - fill @f (initialised to unknown); false: it is no such line after all. */
	bool		(*take)(const struct scan *t, struct found *f);
};

/* log_find_alarm() - the first alarm whose needle the entry's text holds, or NULL. */
const struct alarm *log_find_alarm(const struct log_entry *e);
/* log_kind_known() - is this a kind of log line (log_line.kind) that some log can give? */
bool log_kind_known(const char *kind);
/* log_alarm_index() - a number below LOG_MAX_ALARMS, one per alarm. */
size_t log_alarm_index(const struct alarm *a);

#endif
