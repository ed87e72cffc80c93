/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strtab.h - an interner: equal strings get equal dense ids, starting at 0. Strings live as long
 * as the table. Ids are stable and in order of first sight, so that results do not depend on
 * addresses. Not thread-safe. strtab_id() is O(1) amortised.
 */
#ifndef KM_STRTAB_H
#define KM_STRTAB_H

#include "base.h"

#define STRTAB_NONE	UINT32_MAX

struct strtab {
	char		**strings;
	uint32_t	*lens;
	size_t		n, cap;
	uint32_t	*hash;		/* open addressing, id + 1; 0 is empty */
	size_t		hash_size;
	size_t max; /* 0: no limit; else strtab_id() returns STRTAB_NONE beyond */
	size_t		bytes, max_bytes;	/* of all strings; the limit likewise */
};

void strtab_init(struct strtab *t, size_t max);
void strtab_deinit(struct strtab *t);
/* strtab_id() - the id of the @len bytes at @s, interning them when new. */
uint32_t strtab_id(struct strtab *t, const char *s, size_t len);
/* strtab_find() - like strtab_id() but never adds: STRTAB_NONE when unknown. */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t len);

static inline const char *strtab_str(const struct strtab *t, uint32_t id)
{
	return id < t->n ? t->strings[id] : "";
}

#endif
