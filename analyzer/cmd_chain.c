// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_chain.c - `kvmortem chain`: one stall with its causal chain in full. */
#include "view.h"

static int chain_run(const struct options *opt, struct error **err)
{
	if (opt->chain_stall >= 0 && opt->chain_at) {
		*err = error_new(ERR_USAGE, "--stall and --at name one stall each: give one of them");
		return EXIT_USAGE;
	}
	return view_run(opt, "chain", err);
}

static const struct command chain_command = {
	.name = "chain",
	.usage = "[--stall N | --at TIME] INPUT...",
	.summary = "one stall with its causal chain in full",
	.help = "What filled a stall, link by link: who ran instead, what the host or the VMM did, who was waited for and what that one\n"
		"did meanwhile. The links' times add up to the stall's. Without an option the longest stall is shown.\n"
		"\n"
		"--stall takes the number that `stalls` shows. --at takes seconds of the recording's clock (12345.678), since its\n"
		"first event (+1.5), or a date (2024-01-04T10:33:10+01:00); where there was no stall then, it is told what the\n"
		"vCPUs did.\n"
		"\n"
		"  kvmortem chain trace.dat\n"
		"  kvmortem chain --at 21.6 perf.data",
	.run = chain_run,
};
REGISTER(commands, &chain_command);
