// SPDX-License-Identifier: GPL-2.0-or-later
/* base.c - allocation that does not return NULL; see base.h. */
#include "base.h"

#include <stdarg.h>

static void __attribute__((noreturn)) out_of_memory(size_t size)
{
	fprintf(stderr, "kvmortem: out of memory (%zu bytes wanted)\n", size);
	_exit(3);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(n);
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory(0);
	return p;
}

FILE *text_out_begin(struct text_out *t)
{
	if (!t->f)
		t->f = open_memstream(&t->text, &t->len);
	if (t->f)
		rewind(t->f);
	return t->f;
}

char *text_out_end(struct text_out *t)
{
	/* the length is that of the position, which rewind() took back */
	return fflush(t->f) ? NULL : xstrndup(t->text, t->len);
}

void text_out_free(struct text_out *t)
{
	if (t->f)
		fclose(t->f);
	free(t->text);
	memset(t, 0, sizeof(*t));
}
