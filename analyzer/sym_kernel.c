// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_kernel.c - which list of kernel symbols fits a recording, and names out of it; see
 * symbols_int.h.
 *
 * A list fits when its _text is where the recorder found the kernel's (perf.data says so), or a
 * whole number of the kernel's steps of relocation away: another boot of it, or System.map. In any
 * case it must name the outermost functions of call chains as what kernels begin with; a list of
 * another build fails that.
 */
#include "symbols_int.h"

#define ALIGN		0x10000u	/* the smallest step of KASLR (arm64; x86: 2 MiB) */
#define PROBES		400		/* chains looked at */

const struct symtab *sym_list_read(struct sym_list *l)
{
	if (!l->read && l->text)
		symtab_read(&l->tab, l->text, l->len);
	l->read = true;
	return &l->tab;
}

size_t sym_module_name(const char *file, char *buf, size_t size)
{
	const char *base = strrchr(file, '/'), *end;
	size_t n = 0;

	base = base ? base + 1 : file;
	if (*base == '[')
		base++;
	end = strstr(base, ".ko");
	if (!end)
		end = base + strcspn(base, "]");
	for (; base < end && n + 1 < size; base++)
		buf[n++] = *base == '-' ? '_' : *base;
	buf[n] = '\0';
	return n;
}

static bool is_module(const struct symtab *t, const struct symtab_sym *s, const char *name,
		      size_t len)
{
	return s->module && s->module_len == len && !memcmp(t->text + s->module, name, len);
}

static void set_name(struct sym_name *n, const struct symtab *t, const struct symtab_sym *s,
		     uint64_t off)
{
	n->name = t->text + s->name;
	n->len = s->len;
	n->off = off;
	if (s->module) {
		n->dso = t->text + s->module;
		n->dso_len = s->module_len;
	}
}

static bool module_name(const struct sym_kernel *k, const struct sym_map *map, uint64_t ip,
			struct sym_name *n)
{
	const char *file = strtab_str(&k->maps->files, map->file);
	const struct symtab_sym *s;
	uint64_t at = ip, base;
	char name[128];
	size_t len = sym_module_name(file, name, sizeof(name));

	n->dso = file;
	n->dso_len = strlen(file);
	n->off = ip - map->start;
	if (!k->tab)
		return false;
	if (k->delta) {		/* modules move on their own */
		base = symtab_module_base(k->tab, name, len);
		if (!base)
			return false;
		at = base + (ip - map->start);
	}
	s = symtab_find(k->tab, at);
	if (!s || !is_module(k->tab, s, name, len))
		return false;
	set_name(n, k->tab, s, at - s->addr);
	return true;
}

bool sym_kernel_name(const struct sym_kernel *k, uint64_t ip, struct sym_name *n)
{
	const struct sym_ksym *b = k->maps ? sym_maps_ksym_at(k->maps, ip) : NULL;
	const struct sym_map *map = k->maps ? sym_maps_find(k->maps, SYM_SPACE_NONE, ip) : NULL;
	const struct symtab_sym *s;

	memset(n, 0, sizeof(*n));
	if (b) {
		n->name = strtab_str(&k->maps->files, b->name);
		n->len = strlen(n->name);
		n->off = ip - b->start;
		n->dso = "[bpf]";
		n->dso_len = 5;
		return true;
	}
	if (map)
		return module_name(k, map, ip, n);
	s = k->tab ? symtab_find(k->tab, ip - (uint64_t)k->delta) : NULL;
	if (!s || (s->module && k->delta))
		return false;
	set_name(n, k->tab, s, ip - (uint64_t)k->delta - s->addr);
	return true;
}

/* ---- which list ---- */

/* What call chains begin with, by how their names begin. */
static bool is_outermost(const char *name, size_t len)
{
	static const char *const begins[] = {
		"entry_", "ret_from_fork", "asm_", "secondary_startup", "start_secondary",
		"common_startup", "x86_64_start", "start_kernel", "arch_call_rest_init", "rest_init",
		"cpu_startup_entry", "do_idle", "do_syscall_64", "kthread", "worker_thread", "el0",
		"el1", "__primary_switched", "__secondary_switched", "vectors", "system_call",
		"__entry", "ret_fast_syscall", "kernel_init", "error_entry", "syscall_return",
		"irq_entries", "page_fault", "async_page_fault", "common_interrupt", "call_",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		size_t n = strlen(begins[i]);

		if (len >= n && !memcmp(name, begins[i], n))
			return true;
	}
	return false;
}

/* Do at least half of the recording's chains begin as a kernel's do, by this table? */
static bool names_fit(const struct symbols *s, const struct sym_kernel *k, int64_t source_id)
{
	size_t i, seen = 0, good = 0;

	for (i = 0; i < s->n_noted && seen < PROBES; i++) {
		struct sym_chain c;
		enum sym_mode mode;
		struct sym_name n;
		uint64_t ip, last = 0;

		if (s->noted[i].source_id != source_id)
			continue;
		sym_chain_begin(&c, s->noted[i].key, s->noted[i].len);
		while (sym_chain_next(&c, &ip, &mode))
			if (mode == SYM_MODE_KERNEL)
				last = ip;
		if (!last)
			continue;
		seen++;
		good += sym_kernel_name(k, last, &n) && is_outermost(n.name, n.len);
	}
	return seen && good * 2 >= seen;
}

static size_t common_dirs(const char *a, const char *b)
{
	size_t n = 0;

	for (; *a && *a == *b; a++, b++)
		n += *a == '/' || *a == ':';
	return n;
}

/* How well @l fits (0: not at all; then k->why may say why), with the delta that it needs. */
static unsigned int fits(struct symbols *s, struct sym_list *l, const struct sym_maps *maps,
			 int64_t source_id, int64_t *delta, char *why, size_t size)
{
	const struct symtab *t = sym_list_read(l);
	uint64_t ref = maps && maps->stext && t->stext ? t->stext : t->text_start;
	struct sym_kernel k = { .maps = maps, .tab = t };

	*delta = 0;
	if (t->hidden) {
		snprintf(why, size, "%s hides all addresses (kptr_restrict): send it as root sees it",
			 l->path);
		return 0;
	}
	if (!t->n)
		return 0;
	if (l->source_id == source_id)
		return 1000;
	if (maps && maps->text_start && ref) {
		*delta = (int64_t)(maps->text_start - ref);
		if ((uint64_t)*delta % ALIGN) {
			snprintf(why, size, "%s is of another kernel (its _text is at 0x%" PRIx64
				 ", the recording's at 0x%" PRIx64 ")", l->path, ref, maps->text_start);
			return 0;
		}
	}
	k.delta = *delta;
	if (!names_fit(s, &k, source_id)) {
		snprintf(why, size, "%s does not fit: it is of another %s", l->path,
			 maps && maps->text_start ? "kernel" : "kernel or boot");
		return 0;
	}
	return *delta ? 100 : 500;
}

void sym_kernel_choose(struct symbols *s, struct sym_kernel *k, int64_t source_id,
		       const char *path, const char *side)
{
	bool guest = !strcmp(side, "guest");
	unsigned int best = 0;
	size_t i;

	memset(k, 0, sizeof(*k));
	for (i = 0; i < s->n_recs; i++)
		if (s->recs[i].source_id == source_id)
			k->maps = s->recs[i].maps;
	for (i = 0; i < s->n_lists; i++) {
		struct sym_list *l = s->lists[i];
		unsigned int score;
		int64_t delta;

		if (l->kind == SYM_LIST_GUEST)
			k->guest = sym_list_read(l);
		if (l->kind != SYM_LIST_KALLSYMS && l->kind != SYM_LIST_SYSTEM_MAP)
			continue;
		if ((l->source_id && l->source_id != source_id) ||
		    (!l->source_id && guest != !strcmp(l->side, "guest")))
			continue;
		score = fits(s, l, k->maps, source_id, &delta, k->why, sizeof(k->why));
		if (!score)
			continue;
		score += (unsigned int)MIN(common_dirs(l->path, path), (size_t)20) * 2;
		score += l->kind == SYM_LIST_KALLSYMS;	/* it has the modules, too */
		if (score <= best)
			continue;
		best = score;
		k->tab = &l->tab;
		k->delta = delta;
	}
	if (best)
		*k->why = '\0';
}
