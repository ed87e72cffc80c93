// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_latency.c - `kvmortem latency`: run-queue delay per task, as perf sched latency. */
#include "view.h"

static int latency_run(const struct options *opt, struct error **err)
{
	return view_run(opt, "latency", err);
}

static const struct command latency_command = {
	.name = "latency",
	.usage = "INPUT...",
	.summary = "run-queue delay per task, as perf sched latency",
	.help = "How long each task waited on a run queue: from its wake-up (or from being preempted) until it ran. Counted as\n"
		"`perf sched latency -p` of perf 6.12 counts; the longest wait stands first.\n"
		"\n"
		"Runtime is that of sched_stat_runtime events and 0 where they were not recorded; On CPU is from switches.\n"
		"\n"
		"-v shows all tasks, not only the 40 worst; --vm and --vcpu those of a VM or vCPU.\n"
		"\n"
		"  kvmortem latency perf.data\n"
		"  kvmortem latency --vm qemu-system-x86 -f json trace.dat",
	.run = latency_run,
};
REGISTER(commands, &latency_command);
