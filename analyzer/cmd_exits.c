// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_exits.c - `kvmortem exits`: exits per reason, as perf kvm stat report. */
#include "view.h"

static const char *const events[] = { "vmexit", "mmio", "ioport", "msr", NULL };
static const char *const groups[] = { "all", "vm", "vcpu", NULL };

static int exits_run(const struct options *opt, struct error **err)
{
	*err = one_of("--event", opt->exits_event, events);
	if (!*err)
		*err = one_of("--by", opt->exits_by, groups);
	if (*err)
		return EXIT_USAGE;
	return view_run(opt, "exits", err);
}

static const struct command exits_command = {
	.name = "exits",
	.usage = "[--event vmexit|mmio|ioport|msr] [--by all|vm|vcpu] INPUT...",
	.summary = "exits per reason, as perf kvm stat report",
	.help = "Every exit from a guest is timed from kvm_exit to the next kvm_entry of the same vCPU, as perf does; so the time of\n"
		"hlt is the guest's idle time, and no latency. Rows are sorted by number of exits.\n"
		"\n"
		"  kvmortem exits perf.data\n"
		"  kvmortem exits --event mmio --by vcpu trace.dat\n"
		"  kvmortem exits -f json perf.data | jq '.rows[] | select(.max_ns > 1000000)'",
	.run = exits_run,
};
REGISTER(commands, &exits_command);
