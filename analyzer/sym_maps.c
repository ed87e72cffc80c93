// SPDX-License-Identifier: GPL-2.0-or-later
/* sym_maps.c - address spaces of a recording; see sym_maps.h. */
#include "sym_maps.h"

#define MAX_KSYMS	(1u << 16)
#define MAX_FILES	(1u << 18)

struct sym_maps *sym_maps_create(void)
{
	struct sym_maps *m = xcalloc(1, sizeof(*m));

	strtab_init(&m->files, MAX_FILES);
	GROW(m->spaces, m->cap_spaces, 1);
	m->spaces[0] = (struct sym_space){ .pid = -1 };
	m->n_spaces = 1;
	return m;
}

void sym_maps_free(struct sym_maps *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->n_spaces; i++)
		free(m->spaces[i].maps);
	free(m->spaces);
	free(m->ids);
	free(m->by_pid);
	free(m->ksyms);
	strtab_deinit(&m->files);
	free(m);
}

static size_t slot_of(const struct sym_maps *m, int32_t pid)
{
	size_t i = ((uint32_t)pid * 0x9e3779b1u) & (m->pids_size - 1);

	while (m->by_pid[i].space && m->by_pid[i].pid != pid)
		i = (i + 1) & (m->pids_size - 1);
	return i;
}

uint32_t sym_maps_space(const struct sym_maps *m, int32_t pid)
{
	return m->pids_size ? m->by_pid[slot_of(m, pid)].space : SYM_SPACE_NONE;
}

static void set_space(struct sym_maps *m, int32_t pid, uint32_t space)
{
	size_t i, n = m->pids_size;

	if (m->n_pids * 2 >= n) {
		struct sym_maps old = *m;

		m->pids_size = n ? n * 2 : 256;
		m->by_pid = xcalloc(m->pids_size, sizeof(*m->by_pid));
		for (i = 0; i < n; i++)
			if (old.by_pid[i].space)
				m->by_pid[slot_of(m, old.by_pid[i].pid)] = old.by_pid[i];
		free(old.by_pid);
	}
	i = slot_of(m, pid);
	m->n_pids += !m->by_pid[i].space;
	m->by_pid[i].pid = pid;
	m->by_pid[i].space = space;
}

/* A new space of @pid, with the maps of @from (SYM_SPACE_NONE: empty). */
static uint32_t new_space(struct sym_maps *m, int32_t pid, uint32_t from)
{
	struct sym_space s = { .pid = pid };

	if (m->n_spaces >= SYM_MAX_SPACES) {
		m->full = true;
		return SYM_SPACE_NONE;
	}
	if (from && m->spaces[from].n) {
		GROW(s.maps, s.cap, m->spaces[from].n);
		memcpy(s.maps, m->spaces[from].maps, m->spaces[from].n * sizeof(*s.maps));
		s.n = m->spaces[from].n;
		m->n_maps += s.n;
	}
	GROW(m->spaces, m->cap_spaces, m->n_spaces + 1);
	m->spaces[m->n_spaces] = s;
	set_space(m, pid, (uint32_t)m->n_spaces);
	return (uint32_t)m->n_spaces++;
}

/* The first map of @s that ends behind @addr. */
static size_t first_behind(const struct sym_space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->maps[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Put @map in place of what it overlaps: parts of older maps beside it stay. */
static void put_map(struct sym_maps *m, struct sym_space *s, const struct sym_map *map)
{
	size_t i = first_behind(s, map->start), j = i, n = 0;
	struct sym_map parts[3];

	if (i < s->n && s->maps[i].start < map->start) {
		parts[n] = s->maps[i];
		parts[n++].end = map->start;
	}
	parts[n++] = *map;
	while (j < s->n && s->maps[j].start < map->end)
		j++;
	if (j > i && s->maps[j - 1].end > map->end) {
		parts[n] = s->maps[j - 1];
		parts[n].pgoff += map->end - parts[n].start;
		parts[n++].start = map->end;
	}
	GROW(s->maps, s->cap, s->n + n);
	memmove(s->maps + i + n, s->maps + j, (s->n - j) * sizeof(*s->maps));
	memcpy(s->maps + i, parts, n * sizeof(*parts));
	m->n_maps += n;
	m->n_maps -= j - i;
	s->n += n;
	s->n -= j - i;
}

static bool same_map(const struct sym_map *a, const struct sym_map *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->file == b->file;
}

static void set_id(struct sym_maps *m, uint32_t file, const struct sym_build_id *id)
{
	size_t old = m->cap_ids;

	if (!id || !id->len || file == STRTAB_NONE)
		return;
	GROW(m->ids, m->cap_ids, (size_t)file + 1);
	memset(m->ids + old, 0, (m->cap_ids - old) * sizeof(*m->ids));
	m->n_ids = MAX(m->n_ids, (size_t)file + 1);
	m->ids[file] = *id;
}

/*
 * "[kernel.kallsyms]_text": where the recorder found that symbol; pgoff is its address, the map
 * reaches from there (or from 0, or from the relocation base) on.
 */
static bool kernel_image(struct sym_maps *m, uint64_t start, uint64_t len, uint64_t pgoff,
			 const char *name, size_t n)
{
	static const char host[] = "[kernel.kallsyms]", guest[] = "[guest.kernel.kallsyms";
	const char *sym;

	if (n >= sizeof(guest) - 1 && !memcmp(name, guest, sizeof(guest) - 1)) {
		m->guest_start = pgoff;
		return true;
	}
	if (n < sizeof(host) - 1 || memcmp(name, host, sizeof(host) - 1))
		return false;
	sym = name + sizeof(host) - 1;
	n -= sizeof(host) - 1;
	if (n == 5 && !memcmp(sym, "_text", 5))
		m->text_start = pgoff;
	if (n == 6 && !memcmp(sym, "_stext", 6)) {
		m->text_start = pgoff;
		m->stext = true;
	}
	m->kernel_start = start;
	m->kernel_end = len > UINT64_MAX - start ? UINT64_MAX : start + len;
	return true;
}

void sym_maps_add(struct sym_maps *m, int32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		  const char *name, size_t name_len, const struct sym_build_id *id)
{
	struct sym_map map = { .start = start, .end = start + len, .pgoff = pgoff };
	uint32_t space = 0;
	size_t i;

	if (!len || !name_len)
		return;
	if (pid == -1 && kernel_image(m, start, len, pgoff, name, name_len))
		return;
	if (len > UINT64_MAX - start)
		return;
	map.file = strtab_id(&m->files, name, name_len);
	if (m->n_maps >= SYM_MAX_MAPS || map.file == STRTAB_NONE) {
		m->full = true;
		return;
	}
	set_id(m, map.file, id);
	if (pid != -1) {
		space = sym_maps_space(m, pid);
		if (!space)
			space = new_space(m, pid, SYM_SPACE_NONE);
		if (!space)
			return;
	}
	i = first_behind(&m->spaces[space], map.start);
	if (i < m->spaces[space].n && m->spaces[space].maps[i].start < map.end) {
		if (same_map(&m->spaces[space].maps[i], &map))
			return;
		if (space)	/* whoever was here before keeps what was seen */
			space = new_space(m, pid, space);
		if (!space)
			return;
	}
	put_map(m, &m->spaces[space], &map);
}

void sym_maps_ksym(struct sym_maps *m, uint64_t addr, uint64_t len, const char *name,
		   size_t name_len)
{
	struct sym_ksym k = { .start = addr, .end = addr + len };

	if (!len || !name_len || len > UINT64_MAX - addr || m->n_ksyms >= MAX_KSYMS)
		return;
	k.name = strtab_id(&m->files, name, name_len);
	if (k.name == STRTAB_NONE)
		return;
	GROW(m->ksyms, m->cap_ksyms, m->n_ksyms + 1);
	m->ksyms[m->n_ksyms++] = k;
}

void sym_maps_build_id(struct sym_maps *m, const char *name, size_t name_len,
		       const struct sym_build_id *id)
{
	if (name_len)
		set_id(m, strtab_id(&m->files, name, name_len), id);
}

void sym_maps_fork(struct sym_maps *m, int32_t pid, int32_t parent)
{
	uint32_t space = sym_maps_space(m, parent);

	if (pid != parent && space)
		set_space(m, pid, space);
}

void sym_maps_exec(struct sym_maps *m, int32_t pid)
{
	if (sym_maps_space(m, pid))
		new_space(m, pid, SYM_SPACE_NONE);
}

const struct sym_map *sym_maps_find(const struct sym_maps *m, uint32_t space, uint64_t addr)
{
	const struct sym_space *s = space < m->n_spaces ? &m->spaces[space] : NULL;
	size_t i = s ? first_behind(s, addr) : 0;

	return s && i < s->n && s->maps[i].start <= addr ? &s->maps[i] : NULL;
}

const struct sym_ksym *sym_maps_ksym_at(const struct sym_maps *m, uint64_t addr)
{
	size_t i;

	for (i = m->n_ksyms; i-- > 0; )
		if (addr >= m->ksyms[i].start && addr < m->ksyms[i].end)
			return &m->ksyms[i];
	return NULL;
}

struct sym_build_id sym_maps_id(const struct sym_maps *m, uint32_t file)
{
	return file < m->n_ids ? m->ids[file] : (struct sym_build_id){ 0 };
}
