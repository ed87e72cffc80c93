// SPDX-License-Identifier: GPL-2.0-or-later
/* strtab.c - string interner; see strtab.h. */
#include "strtab.h"

/* A word at a time: call chains are long. */
static uint64_t hash_bytes(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ len, w;

	for (; len >= sizeof(w); s += sizeof(w), len -= sizeof(w)) {
		memcpy(&w, s, sizeof(w));
		h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, len);
	h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

void strtab_init(struct strtab *t, size_t max)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
}

void strtab_deinit(struct strtab *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->strings[i]);
	free(t->strings);
	free(t->lens);
	free(t->hash);
	memset(t, 0, sizeof(*t));
}

static size_t slot_of(const struct strtab *t, const char *s, size_t len)
{
	size_t mask = t->hash_size - 1;
	size_t i = hash_bytes(s, len) & mask;

	while (t->hash[i]) {
		uint32_t id = t->hash[i] - 1;

		if (t->lens[id] == len && !memcmp(t->strings[id], s, len))
			break;
		i = (i + 1) & mask;
	}
	return i;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t len)
{
	size_t i;

	if (!t->hash_size)
		return STRTAB_NONE;
	i = slot_of(t, s, len);
	return t->hash[i] ? t->hash[i] - 1 : STRTAB_NONE;
}

static void rehash(struct strtab *t)
{
	size_t id;

	t->hash_size = t->hash_size ? t->hash_size * 2 : 64;
	free(t->hash);
	t->hash = xcalloc(t->hash_size, sizeof(*t->hash));
	for (id = 0; id < t->n; id++)
		t->hash[slot_of(t, t->strings[id], t->lens[id])] = (uint32_t)id + 1;
}

uint32_t strtab_id(struct strtab *t, const char *s, size_t len)
{
	size_t i, cap = t->cap;

	if (t->hash_size <= 2 * t->n)
		rehash(t);
	i = slot_of(t, s, len);
	if (t->hash[i])
		return t->hash[i] - 1;
	if ((t->max && t->n >= t->max) || (t->max_bytes && len > t->max_bytes - t->bytes))
		return STRTAB_NONE;
	GROW(t->strings, t->cap, t->n + 1);
	GROW(t->lens, cap, t->n + 1);
	t->strings[t->n] = xmalloc(len + 1);
	memcpy(t->strings[t->n], s, len);
	t->strings[t->n][len] = '\0';
	t->lens[t->n] = (uint32_t)len;
	t->bytes += len;
	t->hash[i] = (uint32_t)++t->n;
	return (uint32_t)t->n - 1;
}
