// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_info.c - the first look: members, formats, time spans on one axis, what the input can answer,
 * kernels, events and counts, losses, coverage.
 */
#include "view.h"

static int run(const struct options *opt, struct error **err)
{
	return view_run(opt, "info", err);
}

static const struct command info_command = {
	.name		= "info",
	.usage		= "[OPTIONS] INPUT...",
	.summary	= "what is inside and when, what it can answer, what was not read and why",
	.help		= "  kvmortem info case-4711.tar.xz\n"
			  "  kvmortem info perf.data -f json | jq '.sources[].event_counts'\n"
			  "  kvmortem info case/ -f json | jq -r '.questions[] | .answer + \" \" + .question'",
	.run		= run,
};
REGISTER(commands, &info_command);
