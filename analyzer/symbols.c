// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - what may name addresses, kept while members are read; see symbols.h. */
#include "symbols_int.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LISTS	64
#define MAX_LIST_BYTES	(128u << 20)
#define MAX_NOTED	(1u << 17)
#define MAX_ELFS	4096
#define MAX_ELF_BYTES	(4ull << 30)

static struct error *add_list(struct symbols *s, const struct sym_list_desc *d, const char *text,
			      size_t len)
{
	struct sym_list *l;
	const uint8_t *data;
	uint64_t size;

	if (s->n_lists >= MAX_LISTS || !len)
		return NULL;
	if (len > MAX_LIST_BYTES)
		return error_new(ERR_INPUT, "a list of symbols larger than %u MiB is not used",
				 MAX_LIST_BYTES >> 20);
	l = xcalloc(1, sizeof(*l));
	l->kind = d->kind;
	l->path = xstrdup(d->path ? d->path : "");
	l->side = xstrdup(d->side ? d->side : "unknown");
	l->source_id = d->source_id;
	GROW(s->lists, s->cap_lists, s->n_lists + 1);
	s->lists[s->n_lists++] = l;
	blob_begin(&l->blob, &s->spool);
	TRY(blob_add(&l->blob, text, len));
	TRY(blob_map(&l->blob, &data, &size));
	l->text = (const char *)data;
	l->len = (size_t)size;
	return NULL;
}

struct error *symbols_add_list(struct case_db *db, const struct sym_list_desc *d, const char *text,
			       size_t len)
{
	return db->symbols ? add_list(db->symbols, d, text, len) : NULL;
}

static struct error *add_file(struct symbols *s, const char *path, enum sym_list_kind kind)
{
	const struct sym_list_desc d = { .kind = kind, .path = path, .side = "guest" };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	size_t n = 0, cap = 0;
	ssize_t got;

	if (fd < 0)
		return error_new(ERR_IO, "%s: %s", path, strerror(errno));
	do {
		GROW(text, cap, n + (1u << 16));
		got = read(fd, text + n, cap - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n <= MAX_LIST_BYTES);
	if (got < 0)
		return error_new(ERR_IO, "%s: %s", path, strerror(errno));
	return add_list(s, &d, text, n);
}

struct error *symbols_open(struct case_db *db, const struct symbol_options *opt)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	db->symbols = s;
	s->opt = *opt;
	spool_init(&s->spool, opt->temp_dir, opt->max_temp);
	spool_init(&s->elf_spool, opt->temp_dir, opt->max_temp);
	if (opt->guest_kallsyms)
		TRY(add_file(s, opt->guest_kallsyms, SYM_LIST_GUEST));
	return NULL;
}

void symbols_close(struct case_db *db)
{
	struct symbols *s = db->symbols;
	size_t i;

	if (!s)
		return;
	for (i = s->n_elfs; i-- > 0; ) {
		blob_end(&s->elfs[i].blob);
		free(s->elfs[i].path);
	}
	free(s->elfs);
	spool_deinit(&s->elf_spool);
	for (i = s->n_lists; i-- > 0; ) {
		struct sym_list *l = s->lists[i];

		symtab_free(&l->tab);
		blob_end(&l->blob);
		free(l->path);
		free(l->side);
		free(l);
	}
	for (i = 0; i < s->n_recs; i++)
		sym_maps_free(s->recs[i].maps);
	for (i = 0; i < s->n_noted; i++)
		free(s->noted[i].key);
	spool_deinit(&s->spool);
	free(s->lists);
	free(s->recs);
	free(s->noted);
	free(s);
	db->symbols = NULL;
}

bool symbols_add_elf(struct case_db *db, const char *path, const uint8_t *data, uint64_t size)
{
	struct symbols *s = db->symbols;
	_cleanup_error_ struct error *err = NULL;
	struct sym_elf e = { 0 };

	if (!s || s->n_elfs >= MAX_ELFS || size > MAX_ELF_BYTES - s->elf_bytes)
		return false;
	blob_begin(&e.blob, &s->elf_spool);
	err = blob_add(&e.blob, data, size);
	if (!err)
		err = blob_map(&e.blob, &e.data, &e.size);
	if (err) {
		blob_end(&e.blob);
		return false;
	}
	e.path = xstrdup(path);
	s->elf_bytes += size;
	GROW(s->elfs, s->cap_elfs, s->n_elfs + 1);
	s->elfs[s->n_elfs++] = e;
	return true;
}

void symbols_give_maps(struct case_db *db, int64_t source_id, struct sym_maps *maps)
{
	struct symbols *s = db->symbols;

	if (!s || !maps) {
		sym_maps_free(maps);
		return;
	}
	GROW(s->recs, s->cap_recs, s->n_recs + 1);
	s->recs[s->n_recs++] = (struct sym_recording){ source_id, maps };
}

void symbols_note_stack(struct case_db *db, int64_t source_id, int64_t row, const char *key,
			size_t len)
{
	struct symbols *s = db->symbols;
	struct sym_noted *n;

	if (!s || s->n_noted >= MAX_NOTED || len < STACK_KEY_HEAD)
		return;
	GROW(s->noted, s->cap_noted, s->n_noted + 1);
	n = &s->noted[s->n_noted++];
	*n = (struct sym_noted){ .source_id = source_id, .row = row, .len = len };
	n->key = xmalloc(len);
	memcpy(n->key, key, len);
}

void sym_chain_begin(struct sym_chain *c, const char *key, size_t len)
{
	c->p = (const uint8_t *)key + STACK_KEY_HEAD;
	c->end = (const uint8_t *)key + len;
	c->mode = -1;
	memcpy(&c->space, key + 1, sizeof(c->space));
}

bool sym_chain_next(struct sym_chain *c, uint64_t *ip, enum sym_mode *mode)
{
	for (; c->end - c->p >= (ptrdiff_t)sizeof(*ip); c->p += sizeof(*ip)) {
		memcpy(ip, c->p, sizeof(*ip));
		if (!sym_is_mark(*ip)) {
			c->p += sizeof(*ip);
			*mode = c->mode >= 0 ? (enum sym_mode)c->mode :
				*ip >> 63 ? SYM_MODE_KERNEL : SYM_MODE_USER;
			return true;
		}
		switch ((int64_t)*ip) {
		case SYM_HV:
		case SYM_KERNEL:
			c->mode = SYM_MODE_KERNEL;
			break;
		case SYM_USER:
			c->mode = SYM_MODE_USER;
			break;
		case SYM_GUEST:
		case SYM_GUEST_KERNEL:
			c->mode = SYM_MODE_GUEST_KERNEL;
			break;
		case SYM_GUEST_USER:
			c->mode = SYM_MODE_GUEST_USER;
			break;
		}
	}
	return false;
}
