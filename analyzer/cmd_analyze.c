// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_analyze.c - the verdict report, the default command. */
#include "command.h"
#include "redact.h"
#include "signature.h"
#include "view.h"

/* The catalogue may be left out of a build; then there are no verdicts. */
#pragma weak catalogue_load
#pragma weak catalogue_free
#pragma weak verdicts_compute

static bool has_ending(const char *path, const char *ending)
{
	size_t n = path ? strlen(path) : 0, e = strlen(ending);

	return n > e && !strcmp(path + n - e, ending);
}

static bool wants_sqlite(const struct options *opt)
{
	if (opt->format)
		return !strcmp(opt->format, "sqlite");
	return has_ending(opt->output, ".sqlite") || has_ending(opt->output, ".db");
}

static struct error *analyze(struct case_db **ret, const struct options *opt)
{
	struct case_db *db = *ret;
	struct catalogue *cat = NULL;
	struct error *err;

	/* A saved case file is read-only and brings its verdicts along. */
	if (catalogue_load && sqlite3_db_readonly(db->db, "main") != 1) {
		TRY(catalogue_load(&cat, opt->signature_dirs, opt->n_signature_dirs));
		err = verdicts_compute(db, cat);
		catalogue_free(cat);
		TRY(err);
	}
	TRY(case_redact(ret, opt));
	if (wants_sqlite(opt))
		TRY(case_save(*ret, opt->output));
	else
		TRY(report_write(*ret, opt, "analyze", NULL));
	return plot_files_write(*ret, opt);
}

/* What can be told before the inputs are read, which may take long. */
static struct error *check(const struct options *opt)
{
	if (!wants_sqlite(opt))
		return report_check(opt);
	if (!opt->output || !strcmp(opt->output, "-"))
		return error_new(ERR_USAGE, "-f sqlite needs -o FILE");
	return output_check(opt);
}

static int run(const struct options *opt, struct error **err)
{
	struct case_db *db = NULL;
	int status = EXIT_OK;

	*err = check(opt);
	if (!*err)
		*err = plot_files_check(opt);
	if (!*err)
		*err = run_inputs(opt, &db, NULL, NULL, &status);
	if (!*err)
		*err = analyze(&db, opt);
	if (!*err && status == EXIT_OK && opt->fail_on_match &&
	    case_int(db, 0, "SELECT COUNT(*) FROM verdict WHERE verdict = 'match'", ""))
		status = EXIT_MATCH;
	case_close(db);
	return status;
}

static const struct command analyze_command = {
	.name		= "analyze",
	.usage		= "[OPTIONS] INPUT...",
	.summary	= "which known bug this is, and what in the evidence says so",
	.help		= "  kvmortem case-4711.tar.xz                    verdict, on the terminal\n"
			  "  kvmortem case-4711.tar.xz -f json            the same for programs\n"
			  "  kvmortem case-4711.tar.xz -f markdown        for GitHub or GitLab; also -f jira, -f bugzilla\n"
			  "  kvmortem case-4711.tar.xz --redact -o x.md   without names, addresses and paths\n"
			  "  kvmortem case-4711.tar.xz --plots plots      with its plots as files in plots/\n"
			  "  kvmortem case-4711.tar.xz -f title           one line for the ticket's subject\n"
			  "  kvmortem trace.txt dmesg.txt                 several files of one case\n"
			  "  ssh host cat trace.txt | kvmortem -          from stdin\n"
			  "  kvmortem case-4711.tar.xz -o case.sqlite     keep the case file for `query`\n"
			  "\n"
			  "Exit status: 0 analysed, 1 nothing could be analysed, 2 usage, 3 I/O or internal failure\n"
			  "(or, with --strict, an input that could not be read), 10 with --fail-on-match when a\n"
			  "signature matched, 130 interrupted.",
	.run		= run,
};
REGISTER(commands, &analyze_command);
