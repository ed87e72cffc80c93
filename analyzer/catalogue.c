// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * catalogue.c - the signatures a case is judged by: those that were compiled in
 * (signatures/compile.c) and the user's own, read when they are asked for.
 */
#include <dirent.h>

#include "sig.h"

#define SIG_MAX_FILES	2000

static void drop(const struct signature *s)
{
	if (!s->embedded)
		sig_free((struct signature *)s);
}

static void catalogue_put(struct catalogue *c, const struct signature *s)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->sigs[i]->id, s->id)) {
			drop(c->sigs[i]);
			c->sigs[i] = s;
			return;
		}
	}
	GROW(c->sigs, c->cap, c->n + 1);
	c->sigs[c->n++] = s;
}

static int is_yaml(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && d->d_name[0] != '.' && !strcmp(d->d_name + n - 5, ".yaml");
}

static struct error *load_dir(struct catalogue *c, const char *dir)
{
	struct dirent **names = NULL;
	struct error *err = NULL;
	int n = scandir(dir, &names, is_yaml, alphasort);

	if (n < 0)
		return error_io("%s", dir);
	if (n > SIG_MAX_FILES)
		err = error_new(ERR_USAGE, "%s: more than %d signatures", dir, SIG_MAX_FILES);
	for (int i = 0; i < n && !err; i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, names[i]->d_name);
		struct signature *s = NULL;

		err = sig_load_file(&s, path);
		if (!err && s)
			catalogue_put(c, s);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return err;
}

static int by_id(const void *a, const void *b)
{
	const struct signature *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

struct error *catalogue_load(struct catalogue **ret, const char *const *dirs, size_t n_dirs)
{
	struct catalogue *c = xcalloc(1, sizeof(*c));
	struct error *err = NULL;

	*ret = NULL;
	for (const struct signature *const *s = embedded_catalogue; *s; s++)
		catalogue_put(c, *s);
	for (size_t i = 0; i < n_dirs && !err; i++)
		err = load_dir(c, dirs[i]);
	if (err) {
		catalogue_free(c);
		return err;
	}
	if (c->n)
		qsort(c->sigs, c->n, sizeof(*c->sigs), by_id);
	*ret = c;
	return NULL;
}

void catalogue_free(struct catalogue *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		drop(c->sigs[i]);
	free(c->sigs);
	free(c);
}

size_t catalogue_count(const struct catalogue *c)
{
	return c->n;
}

const struct signature *catalogue_get(const struct catalogue *c, size_t i)
{
	return i < c->n ? c->sigs[i] : NULL;
}

const struct signature *catalogue_find(const struct catalogue *c, const char *id)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->sigs[i]->id, id))
			return c->sigs[i];
	return NULL;
}

const char *signature_id(const struct signature *s)
{
	return s->id;
}

const char *signature_title(const struct signature *s)
{
	return s->title;
}

const char *signature_yaml(const struct signature *s)
{
	return s->yaml;
}
