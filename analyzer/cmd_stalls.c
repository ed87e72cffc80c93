// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_stalls.c - `kvmortem stalls`: stalls, longest first, and their patterns. */
#include "view.h"

static int stalls_run(const struct options *opt, struct error **err)
{
	return view_run(opt, "stalls", err);
}

static const struct command stalls_command = {
	.name = "stalls",
	.usage = "INPUT...",
	.summary = "stalls, longest first, and their patterns",
	.help = "A stall is a stretch in which a vCPU that had something to do did not run its guest, or an operation of the VMM (creating\n"
		"a VM, a system call) took long. Patterns are stalls with the same chain of causes.\n"
		"\n"
		"-v lists all stored ones, not only the 30 longest.\n"
		"\n"
		"  kvmortem stalls trace.dat\n"
		"  kvmortem stalls --vcpu 0 --stall-threshold 50 perf.data",
	.run = stalls_run,
};
REGISTER(commands, &stalls_command);
