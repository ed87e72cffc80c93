// SPDX-License-Identifier: GPL-2.0-or-later
/* error.c - the one error type; see error.h. */
#include "error.h"

#include <stdarg.h>

static struct error *error_vnew(enum error_code code, const char *fmt, va_list ap)
{
	struct error *err = xmalloc(sizeof(*err));

	err->code = code;
	if (vasprintf(&err->what, fmt, ap) < 0)
		err->what = xstrdup("out of memory");
	return err;
}

struct error *error_new(enum error_code code, const char *fmt, ...)
{
	struct error *err;
	va_list ap;

	va_start(ap, fmt);
	err = error_vnew(code, fmt, ap);
	va_end(ap);
	return err;
}

struct error *error_io(const char *fmt, ...)
{
	int saved = errno;
	struct error *err;
	va_list ap;
	char *what;

	va_start(ap, fmt);
	err = error_vnew(ERR_IO, fmt, ap);
	va_end(ap);
	what = xasprintf("%s: %s", err->what, strerror(saved));
	free(err->what);
	err->what = what;
	return err;
}

struct error *error_context(struct error *err, const char *fmt, ...)
{
	_cleanup_free_ char *context = NULL;
	va_list ap;
	char *what;

	if (!err)
		return NULL;
	va_start(ap, fmt);
	if (vasprintf(&context, fmt, ap) < 0)
		context = NULL;
	va_end(ap);
	if (!context)
		return err;
	what = xasprintf("%s: %s", context, err->what);
	free(err->what);
	err->what = what;
	return err;
}

void error_free(struct error *err)
{
	if (!err)
		return;
	free(err->what);
	free(err);
}
