// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_user.c - names for the addresses of processes: the files that were mapped, as the bundle or
 * the named directories have them, asked by build-id (sym_dwarf.h); see symbols_int.h.
 */
#include "sym_dwarf.h"
#include "sym_resolve.h"
#include "symbols_int.h"

#define MAX_REMARKS	8

/* What a file is asked for: addresses that got their frame from its map. */
struct wanted {
	struct sym_addrs *a;
	uint32_t	*addrs;
	uint64_t	*offs;
	size_t		n, cap, cap_offs;
	uint32_t	dso;
	size_t		last;		/* address that frames were last added to, + 1 */
};

static void take_name(void *arg, size_t i, const char *name, uint64_t off, const char *file,
		      uint32_t line)
{
	struct wanted *w = arg;
	struct sym_addr *x = &w->a->v[w->addrs[i]];
	struct sym_frame *f;

	if (w->last != i + 1) {
		if (i + 1 < w->last)	/* frames of one address stand together */
			return;
		x->n = 0;		/* in place of what only named the file */
		w->last = i + 1;
	}
	f = sym_add_frame(w->a, x);
	f->func = strtab_id(&w->a->strings, name, strlen(name));
	f->file = *file ? strtab_id(&w->a->strings, file, strlen(file)) : STRTAB_NONE;
	f->line = line;
	f->off = off;
	f->dso = w->dso;
	f->known = true;
}

static void collect(struct wanted *w)
{
	size_t i;

	for (w->n = w->last = i = 0; i < w->a->n; i++) {
		const struct sym_addr *x = &w->a->v[i];

		if (x->mode != SYM_MODE_USER || x->n != 1 ||
		    w->a->frames[x->frame].dso != w->dso || w->a->frames[x->frame].known)
			continue;
		GROW(w->addrs, w->cap, w->n + 1);
		GROW(w->offs, w->cap_offs, w->n + 1);
		w->addrs[w->n] = (uint32_t)i;
		w->offs[w->n++] = w->a->frames[x->frame].off;
	}
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

static void hex_of(const struct sym_build_id *id, char hex[48])
{
	size_t i;

	*hex = '\0';
	for (i = 0; i < id->len; i++)
		sprintf(hex + 2 * i, "%02x", id->id[i]);
}

/* May the bundle's ELF file at @path be the one that was mapped as @file? */
static bool may_be(const char *path, const char *file, const char *hex)
{
	const char *slash = strrchr(file, '/');

	return (*hex && strstr(path, hex)) || ends_with(path, file) ||
	       (*hex && slash && ends_with(path, slash));
}

static bool try_file(struct wanted *w, const struct dwarf_file *f, struct strtab *remarks)
{
	enum dwarf_result r = dwarf_ask(f, w->offs, w->n, take_name, w);
	_cleanup_free_ char *text = NULL;

	if (r == DWARF_OTHER_ID)
		text = xasprintf("%s is another build than the one that was mapped: not used",
				 f->path);
	else if (r == DWARF_DIED)
		text = xasprintf("%s is damaged: its symbols were not all read", f->path);
	if (text && remarks->n < MAX_REMARKS)
		strtab_id(remarks, text, strlen(text));
	return r == DWARF_OK;
}

static void name_file(const struct symbols *s, struct wanted *w, const struct sym_build_id *id,
		      struct strtab *remarks)
{
	const char *file = strtab_str(&w->a->strings, w->dso);
	struct dwarf_file f = { .id = *id, .debug_dir = s->opt.debug_dir };
	char hex[48];
	size_t i;

	hex_of(id, hex);
	for (i = 0; i < s->n_elfs; i++) {
		f.path = s->elfs[i].path;
		f.data = s->elfs[i].data;
		f.size = s->elfs[i].size;
		if (may_be(f.path, file, hex) && try_file(w, &f, remarks))
			return;
	}
	f.data = NULL;
	for (i = 0; i < 2 && *file == '/'; i++) {
		const char *dir = i ? s->opt.debug_dir : s->opt.symfs;
		_cleanup_free_ char *path = NULL;

		if (!dir)
			continue;
		path = !i ? xasprintf("%s%s", dir, file) :
			xasprintf("%s/.build-id/%.2s/%s.debug", dir, hex, *hex ? hex + 2 : "");
		f.path = path;
		if ((!i || *hex) && try_file(w, &f, remarks))
			return;
	}
}

void sym_user_names(const struct symbols *s, const struct sym_maps *maps, struct sym_addrs *a,
		    struct strtab *remarks)
{
	struct wanted w = { .a = a };
	uint32_t file, n = maps ? (uint32_t)maps->files.n : 0;

	if (!s->n_elfs && !s->opt.symfs && !s->opt.debug_dir)
		return;
	for (file = 0; file < n; file++) {
		const char *name = strtab_str(&maps->files, file);
		const struct sym_build_id id = sym_maps_id(maps, file);

		w.dso = strtab_find(&a->strings, name, strlen(name));
		if (*name != '/' || !strncmp(name, "//", 2) || w.dso == STRTAB_NONE)
			continue;
		collect(&w);
		if (w.n)
			name_file(s, &w, &id, remarks);
	}
	free(w.addrs);
	free(w.offs);
}
