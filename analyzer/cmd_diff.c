// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_diff.c - `kvmortem diff GOOD BAD`: what differs between two cases. */
#include "diff.h"
#include "redact.h"
#include "signature.h"
#include "view.h"

/* The catalogue may be left out of a build; then there are no verdicts to compare. */
#pragma weak catalogue_load
#pragma weak catalogue_free
#pragma weak verdicts_compute

static struct error *read_case(const struct options *opt, size_t n, struct case_db **ret,
			       int *status)
{
	struct options one = *opt;
	struct catalogue *cat = NULL;
	struct error *err;

	one.args = opt->args + n;
	one.n_args = 1;
	TRY(run_inputs(&one, ret, NULL, NULL, status));
	if (!catalogue_load || sqlite3_db_readonly((*ret)->db, "main") == 1)
		return NULL;
	TRY(catalogue_load(&cat, opt->signature_dirs, opt->n_signature_dirs));
	err = verdicts_compute(*ret, cat);
	catalogue_free(cat);
	return err;
}

/* Both must be there: half a comparison is none. */
static struct error *compare(const struct options *opt, struct case_db **good, struct case_db **bad,
			     int *status)
{
	struct case_db *copy;
	int second = EXIT_OK;

	TRY(read_case(opt, 0, good, status));
	if (*status == EXIT_NOTHING)
		return error_new(ERR_INPUT, "%s: nothing in it could be analysed, so there is nothing to compare", opt->args[0]);
	TRY(read_case(opt, 1, bad, &second));
	if (second == EXIT_NOTHING)
		return error_new(ERR_INPUT, "%s: nothing in it could be analysed, so there is nothing to compare", opt->args[1]);
	if (second != EXIT_OK)
		*status = second;
	if (sqlite3_db_readonly((*bad)->db, "main") == 1) {
		TRY(case_clone(&copy, *bad));
		case_close(*bad);
		*bad = copy;
	}
	TRY(case_redact(good, opt));
	TRY(case_redact(bad, opt));
	return diff_build(*good, *bad);
}

static int run(const struct options *opt, struct error **err)
{
	struct case_db *good = NULL, *bad = NULL;
	int status = EXIT_OK;

	if (opt->n_args != 2) {
		*err = error_new(ERR_USAGE, "diff needs two inputs, the good one and the bad one, as in: "
				 "kvmortem diff tdp_mmu-0.tar.xz tdp_mmu-1.tar.xz");
		return EXIT_USAGE;
	}
	*err = report_check(opt);
	if (!*err)
		*err = compare(opt, &good, &bad, &status);
	if (!*err)
		*err = report_write(bad, opt, "diff", NULL);
	case_close(good);
	case_close(bad);
	return *err ? status_of((*err)->code) : status;
}

static const struct command diff_command = {
	.name		= "diff",
	.usage		= "[OPTIONS] GOOD BAD",
	.summary	= "what differs between two cases, most of it first",
	.help		= "GOOD and BAD are each a bundle, a file, a directory or a saved case file. Compared are verdicts, settings\n"
			  "of the hosts, where the vCPUs' time went, patterns of stalls, exits, waits for a CPU, long calls, TDP roots\n"
			  "and rates of events; of times, differences are ranked by the part of the vCPUs' time that they make up.\n"
			  "\n"
			  "  kvmortem diff before.tar.xz after.tar.xz             an update that made it slow\n"
			  "  kvmortem diff tdp_mmu-0/ tdp_mmu-1/ -f markdown      a module parameter's effect, for a tracker\n"
			  "  kvmortem diff good.sqlite bad.sqlite -f json         two case files kept before\n",
	.run		= run,
};
REGISTER(commands, &diff_command);
