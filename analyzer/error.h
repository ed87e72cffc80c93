/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.h - the one error type. A fallible function returns `struct error *`: NULL is success,
 * anything else is carried up unchanged (or with error_context()) and printed once at the edge by
 * main() or recorded as a member's message. The receiver owns it and frees it with error_free().
 */
#ifndef KM_ERROR_H
#define KM_ERROR_H

#include "base.h"

enum error_code {
	ERR_INPUT,	/* the input is damaged, unsupported or over a limit: the rest goes on */
	ERR_USAGE,	/* the command line, a signature file or SQL is wrong: exit status 2 */
	ERR_IO,		/* a file can't be opened, read or written: exit status 3 */
	ERR_INTERNAL,	/* a bug or an environment failure: exit status 3 */
};

struct error {
	enum error_code	code;
	char		*what;	/* one line: what is wrong (and what to do) */
};

struct error *error_new(enum error_code code, const char *fmt, ...) __printf_like(2, 3);
/* error_io() - ERR_IO with strerror(errno) of now appended to the message. */
struct error *error_io(const char *fmt, ...) __printf_like(1, 2);
/* error_context() - put "context: " before the message; takes and returns @err (NULL stays NULL). */
struct error *error_context(struct error *err, const char *fmt, ...) __printf_like(2, 3);
void error_free(struct error *err);

static inline void cleanup_error(struct error **err)
{
	error_free(*err);
}
#define _cleanup_error_		__attribute__((cleanup(cleanup_error)))

#define TRY(expr) do {			\
	struct error *_e = (expr);	\
	if (unlikely(_e))		\
		return _e;		\
} while (0)

#endif
