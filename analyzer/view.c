// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - commands that show one view of the case file; see view.h. */
#include "redact.h"
#include "view.h"

#include <sys/stat.h>

int status_of(enum error_code code)
{
	return code == ERR_USAGE ? EXIT_USAGE : code == ERR_INPUT ? EXIT_NOTHING : EXIT_FAILED;
}

struct error *output_check(const struct options *opt)
{
	_cleanup_free_ char *dir = NULL;
	struct stat out, in;
	const char *slash;
	size_t i;

	if (!opt->output || !strcmp(opt->output, "-"))
		return NULL;
	if (stat(opt->output, &out)) {
		slash = strrchr(opt->output, '/');
		dir = slash ? xstrndup(opt->output, MAX(slash - opt->output, 1)) : xstrdup(".");
		return access(dir, W_OK | X_OK) ? error_io("%s", opt->output) : NULL;
	}
	for (i = 0; i < opt->n_args; i++)
		if (S_ISREG(out.st_mode) && !stat(opt->args[i], &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return error_new(ERR_USAGE, "%s: is an input, and -o would replace it", opt->output);
	return NULL;
}

int view_run(const struct options *opt, const char *view, struct error **err)
{
	struct case_db *db = NULL;
	int status = EXIT_OK;

	*err = report_check(opt);
	if (!*err)
		*err = run_inputs(opt, &db, NULL, NULL, &status);
	if (!*err)
		*err = case_redact(&db, opt);
	if (!*err)
		*err = report_write(db, opt, view, NULL);
	if (db)
		case_close(db);
	return *err ? status_of((*err)->code) : status;
}

struct error *one_of(const char *option, const char *value, const char *const *list)
{
	_cleanup_free_ char *words = NULL;
	const char *const *it;

	if (!value)
		return NULL;
	for (it = list; *it; it++) {
		char *longer;

		if (!strcmp(*it, value))
			return NULL;
		longer = xasprintf("%s%s%s", words ? words : "", words ? ", " : "", *it);
		free(words);
		words = longer;
	}
	return error_new(ERR_USAGE, "%s %s: not one of %s", option, value, words);
}
