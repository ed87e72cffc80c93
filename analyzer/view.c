// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - commands that show one view of the case file; see view.h. */
#include "view.h"

int status_of(enum error_code code)
{
	return code == ERR_USAGE ? EXIT_USAGE : code == ERR_INPUT ? EXIT_NOTHING : EXIT_FAILED;
}

int view_run(const struct options *opt, const char *view, struct error **err)
{
	struct case_db *db = NULL;
	int status = EXIT_OK;

	*err = run_inputs(opt, &db, NULL, NULL, &status);
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
