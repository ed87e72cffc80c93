/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view.h - what the commands that only show one view of the case file have in common. */
#ifndef KM_VIEW_H
#define KM_VIEW_H

#include "command.h"

/* view_run() - analyse the inputs, print @view; returns the exit status, *@err on failure. */
int view_run(const struct options *opt, const char *view, struct error **err);

/* status_of() - the exit status that an error of @code means (design §7). */
int status_of(enum error_code code);

/*
 * output_check() - can -o be written, and is it none of the inputs (which it would replace)? Told
 * before the inputs are read. ERR_IO, ERR_USAGE.
 */
struct error *output_check(const struct options *opt);

/*
 * one_of() - is @value (NULL is) one of the words of @list (NULL-terminated)? Else ERR_USAGE that
 * names them.
 */
struct error *one_of(const char *option, const char *value, const char *const *list);

#endif
