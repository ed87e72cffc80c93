// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sym_resolve.c - after the last member: the addresses of stored call chains become names; see
 * symbols.h.
 *
 * Each distinct address of a recording is looked up once. What stays without a name is "[FILE]" or
 * "[module]" where only that is known, "[guest]" for a guest's address, "[unknown]" for one of a
 * process of which nothing was mapped there, and the kernel's bare address else.
 */
#include "sym_resolve.h"

#include "symbols_int.h"

#define MAX_ADDRESS_ROWS	50000

static size_t slot_of(const struct sym_addrs *a, uint32_t space, uint8_t mode, uint64_t ip)
{
	uint64_t h = (ip ^ (uint64_t)space << 44 ^ (uint64_t)mode << 61) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(h >> 32) & (a->size - 1);

	for (; a->slots[i]; i = (i + 1) & (a->size - 1)) {
		const struct sym_addr *x = &a->v[a->slots[i] - 1];

		if (x->ip == ip && x->space == space && x->mode == mode)
			break;
	}
	return i;
}

static void grow_slots(struct sym_addrs *a)
{
	size_t i;

	a->size = a->size ? a->size * 2 : 1024;
	free(a->slots);
	a->slots = xcalloc(a->size, sizeof(*a->slots));
	for (i = 0; i < a->n; i++)
		a->slots[slot_of(a, a->v[i].space, a->v[i].mode, a->v[i].ip)] = (uint32_t)i + 1;
}

/* The index of an address, made when new. */
static uint32_t addr_of(struct sym_addrs *a, uint32_t space, uint8_t mode, uint64_t ip, bool *new)
{
	size_t i;

	if (mode != SYM_MODE_USER)
		space = SYM_SPACE_NONE;
	if (a->n * 2 >= a->size)
		grow_slots(a);
	i = slot_of(a, space, mode, ip);
	*new = !a->slots[i];
	if (!*new)
		return a->slots[i] - 1;
	GROW(a->v, a->cap, a->n + 1);
	a->v[a->n] = (struct sym_addr){ .ip = ip, .space = space, .mode = mode };
	a->slots[i] = (uint32_t)++a->n;
	return (uint32_t)a->n - 1;
}

struct sym_frame *sym_add_frame(struct sym_addrs *a, struct sym_addr *x)
{
	GROW(a->frames, a->cap_frames, a->n_frames + 1);
	if (!x->n++)
		x->frame = (uint32_t)a->n_frames;
	a->frames[a->n_frames] = (struct sym_frame){ .func = STRTAB_NONE, .dso = STRTAB_NONE,
						     .file = STRTAB_NONE };
	return &a->frames[a->n_frames++];
}

/* "[libc.so.6]" for "/usr/lib/libc.so.6", "[vdso]" as it is. */
static uint32_t bracketed(struct sym_addrs *a, const char *file, size_t len)
{
	const char *slash = memrchr(file, '/', len);
	char buf[160];
	int n;

	if (slash) {
		len -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	if (len && *file == '[')
		n = snprintf(buf, sizeof(buf), "%.*s", (int)MIN(len, (size_t)150), file);
	else
		n = snprintf(buf, sizeof(buf), "[%.*s]", (int)MIN(len, (size_t)150), file);
	return strtab_id(&a->strings, buf, (size_t)n);
}

static void name_kernel(struct sym_addrs *a, struct sym_addr *x, const struct sym_kernel *k)
{
	struct sym_frame *f = sym_add_frame(a, x);
	struct sym_name n;
	char hex[24], module[128];

	if (sym_kernel_name(k, x->ip, &n)) {
		f->func = strtab_id(&a->strings, n.name, n.len);
		f->known = true;
	} else if (n.dso) {
		size_t len = sym_module_name(n.dso, module, sizeof(module));

		f->func = bracketed(a, module, len);
	} else {
		f->func = strtab_id(&a->strings, hex,
				    (size_t)snprintf(hex, sizeof(hex), "0x%" PRIx64, x->ip));
	}
	f->off = n.off;
	if (n.dso)
		f->dso = strtab_id(&a->strings, n.dso, n.dso_len);
}

static void name_guest(struct sym_addrs *a, struct sym_addr *x, const struct sym_kernel *k)
{
	struct sym_frame *f = sym_add_frame(a, x);
	const struct symtab_sym *s = NULL;

	if (k->guest && x->mode == SYM_MODE_GUEST_KERNEL)
		s = symtab_find(k->guest, x->ip);
	f->func = s ? strtab_id(&a->strings, k->guest->text + s->name, s->len) :
		  strtab_id(&a->strings, "[guest]", 7);
	f->known = s;
	f->dso = strtab_id(&a->strings, "[guest.kernel]", 14);
	f->off = s ? x->ip - s->addr : 0;
}

static void name_user(struct sym_addrs *a, struct sym_addr *x, const struct sym_kernel *k)
{
	const struct sym_map *map = k->maps ? sym_maps_find(k->maps, x->space, x->ip) : NULL;
	struct sym_frame *f = sym_add_frame(a, x);
	const char *file;

	if (!map) {
		f->func = strtab_id(&a->strings, "[unknown]", 9);
		return;
	}
	file = strtab_str(&k->maps->files, map->file);
	f->func = !strncmp(file, "//anon", 6) || !strncmp(file, "[anon", 5) ?
		  strtab_id(&a->strings, "[anon]", 6) : bracketed(a, file, strlen(file));
	f->dso = strtab_id(&a->strings, file, strlen(file));
	f->off = x->ip - map->start + map->pgoff;
}

static void name_addr(struct sym_addrs *a, struct sym_addr *x, const struct sym_kernel *k)
{
	switch ((enum sym_mode)x->mode) {
	case SYM_MODE_KERNEL:
		name_kernel(a, x, k);
		break;
	case SYM_MODE_USER:
		name_user(a, x, k);
		break;
	case SYM_MODE_GUEST_KERNEL:
	case SYM_MODE_GUEST_USER:
		name_guest(a, x, k);
		break;
	}
}

static const char *string_of(const struct sym_addrs *a, uint32_t id)
{
	return id != STRTAB_NONE ? strtab_str(&a->strings, id) : NULL;
}

static struct error *write_addrs(struct case_db *db, const struct sym_addrs *a, int64_t source_id)
{
	size_t i, j, rows = 0;

	for (i = 0; i < a->n; i++) {
		const struct sym_addr *x = &a->v[i];

		for (j = 0; j < x->n && rows < MAX_ADDRESS_ROWS; j++, rows++) {
			const struct sym_frame *f = &a->frames[x->frame + j];
			int64_t off = (int64_t)f->off, line = f->line;

			if (!f->known && f->dso == STRTAB_NONE)
				continue;
			TRY(case_insert(db, NULL,
					"INSERT INTO address(source_id, address, seq, func, offset, dso, file, line)"
					" VALUES(?,?,?,?,?,?,?,?)", "ixisIssI", source_id, x->ip, (int64_t)j,
					f->known ? string_of(a, f->func) : NULL, &off,
					string_of(a, f->dso), string_of(a, f->file),
					line ? &line : NULL));
		}
	}
	return NULL;
}

/* The chain's frames as the case file has them, into @out (which is emptied first). */
static size_t chain_text(struct sym_addrs *a, const struct sym_noted *n, FILE *out)
{
	struct sym_chain c;
	enum sym_mode mode;
	size_t depth = 0, j;
	uint64_t ip;
	bool new;

	sym_chain_begin(&c, n->key, n->len);
	while (sym_chain_next(&c, &ip, &mode)) {
		const struct sym_addr *x = &a->v[addr_of(a, c.space, (uint8_t)mode, ip, &new)];

		for (j = 0; j < x->n; j++)
			fprintf(out, "%s%s", depth++ ? "\n" : "",
				strtab_str(&a->strings, a->frames[x->frame + j].func));
	}
	return depth;
}

/* Links that quote the stack's first address quote its name. */
static struct error *name_links(struct case_db *db, int64_t row, const struct sym_noted *n,
				const char *top)
{
	_cleanup_free_ char *to = xasprintf("sampled in %s", top);
	char from[40];
	struct sym_chain c;
	enum sym_mode mode;
	uint64_t ip;

	sym_chain_begin(&c, n->key, n->len);
	if (!strncmp(top, "0x", 2) || !sym_chain_next(&c, &ip, &mode))
		return NULL;
	snprintf(from, sizeof(from), "sampled at 0x%" PRIx64, ip);
	TRY(case_insert(db, NULL, "UPDATE stall SET cause = replace(cause, ?, ?) WHERE id IN"
			" (SELECT stall_id FROM chain_link WHERE stack_id = ?)", "ssi", from, to, row));
	return case_insert(db, NULL, "UPDATE chain_link SET what = replace(what, ?, ?) WHERE"
			   " stack_id = ?", "ssi", from, to, row);
}

/* Row @row reads as row @as does: @as stands for both. */
static struct error *merge_row(struct case_db *db, int64_t row, int64_t as)
{
	TRY(case_insert(db, NULL, "UPDATE stack_count SET stack_id = ? WHERE stack_id = ?", "ii",
			as, row));
	TRY(case_insert(db, NULL, "UPDATE span SET stack_id = ? WHERE stack_id = ?", "ii",
			as, row));
	TRY(case_insert(db, NULL, "UPDATE chain_link SET stack_id = ? WHERE stack_id = ?", "ii",
			as, row));
	return case_insert(db, NULL, "DELETE FROM stack WHERE id = ?", "i", row);
}

/* One row for each stack, event, task and state; a citation is that of the commonest part. */
static struct error *merge_counts(struct case_db *db, int64_t source_id)
{
	TRY(case_insert(db, NULL,
			"CREATE TEMP TABLE merged AS SELECT source_id, stack_id, event, task_id, tid,"
			" sum(count) AS n, sum(total_ns), min(first_ns), max(last_ns), min(cite_id), state,"
			" max(max_ns) FROM stack_count WHERE source_id = ?"
			" GROUP BY stack_id, event, task_id, tid, state ORDER BY n DESC, stack_id, tid",
			"i", source_id));
	TRY(case_insert(db, NULL, "DELETE FROM stack_count WHERE source_id = ?", "i", source_id));
	TRY(case_insert(db, NULL,
			"INSERT INTO stack_count(source_id, stack_id, event, task_id, tid, count, total_ns,"
			" first_ns, last_ns, cite_id, state, max_ns) SELECT * FROM merged", ""));
	return case_insert(db, NULL, "DROP TABLE merged", "");
}

static struct error *write_stacks(struct case_db *db, struct sym_addrs *a, int64_t source_id)
{
	struct symbols *s = db->symbols;
	_cleanup_free_ int64_t *rows = xcalloc(s->n_noted + 1, sizeof(*rows));
	struct text_out text = { 0 };
	struct error *err = NULL;
	bool merged = false;
	struct strtab seen;
	size_t i;

	strtab_init(&seen, 0);
	for (i = 0; i < s->n_noted && !err; i++) {
		const struct sym_noted *n = &s->noted[i];
		_cleanup_free_ char *top = NULL, *frames = NULL;
		size_t depth, known = seen.n;
		FILE *out = n->source_id == source_id ? text_out_begin(&text) : NULL;
		uint32_t id;

		if (!out)
			continue;
		depth = chain_text(a, n, out);
		frames = text_out_end(&text);
		if (!frames || !depth)
			continue;
		top = xstrndup(frames, strcspn(frames, "\n"));
		err = name_links(db, n->row, n, top);
		if (err)
			break;
		id = strtab_id(&seen, frames, strlen(frames));
		if (id < known) {
			err = merge_row(db, n->row, rows[id]);
			merged = true;
			continue;
		}
		rows[id] = n->row;
		err = case_insert(db, NULL, "UPDATE stack SET frames = ?, depth = ?, top = ? WHERE id = ?",
				  "sisi", frames, (int64_t)depth, top, n->row);
	}
	text_out_free(&text);
	strtab_deinit(&seen);
	if (!err && merged)
		err = merge_counts(db, source_id);
	return err;
}

static struct error *remark(struct case_db *db, int64_t source_id, const char *text)
{
	return case_insert(db, NULL,
			   "UPDATE member SET message = CASE WHEN message IS NULL THEN ?1 ELSE message || '; ' ||"
			   " ?1 END WHERE id = (SELECT member_id FROM source WHERE id = ?2)", "si",
			   text, source_id);
}

static struct error *say_unnamed(struct case_db *db, const struct sym_kernel *k,
				 const struct sym_addrs *a, int64_t source_id)
{
	_cleanup_free_ char *text = NULL;
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->v[i].mode == SYM_MODE_KERNEL && !a->frames[a->v[i].frame].known)
			break;
	if (k->tab || i == a->n)
		return NULL;
	text = xasprintf("call chains without the kernel's names: %s", *k->why ? k->why :
			 "send /proc/kallsyms of the same boot, as root sees it");
	return remark(db, source_id, text);
}

static void free_addrs(struct sym_addrs *a)
{
	free(a->v);
	free(a->slots);
	free(a->frames);
	strtab_deinit(&a->strings);
}

static struct error *resolve_source(struct case_db *db, int64_t source_id)
{
	struct symbols *s = db->symbols;
	struct sym_addrs a = { 0 };
	struct sym_kernel kernel;
	struct strtab remarks;
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i;

	TRY(case_query(db, &st, "SELECT path, side FROM source WHERE id = ?", "i", source_id));
	if (case_step(db, st, &err))
		sym_kernel_choose(s, &kernel, source_id, (const char *)sqlite3_column_text(st, 0),
				  (const char *)sqlite3_column_text(st, 1));
	else
		sym_kernel_choose(s, &kernel, source_id, "", "unknown");
	case_done(st);
	strtab_init(&a.strings, 0);
	for (i = 0; i < s->n_noted && !err; i++) {
		const struct sym_noted *n = &s->noted[i];
		struct sym_chain c;
		enum sym_mode mode;
		uint64_t ip;
		bool new;

		if (n->source_id != source_id)
			continue;
		sym_chain_begin(&c, n->key, n->len);
		while (sym_chain_next(&c, &ip, &mode)) {
			uint32_t x = addr_of(&a, c.space, (uint8_t)mode, ip, &new);

			if (new)
				name_addr(&a, &a.v[x], &kernel);
		}
	}
	strtab_init(&remarks, 0);
	if (!err)
		sym_user_names(s, kernel.maps, &a, &remarks);
	for (i = 0; i < remarks.n && !err; i++)
		err = remark(db, source_id, remarks.strings[i]);
	strtab_deinit(&remarks);
	if (!err)
		err = write_stacks(db, &a, source_id);
	if (!err)
		err = write_addrs(db, &a, source_id);
	if (!err)
		err = say_unnamed(db, &kernel, &a, source_id);
	free_addrs(&a);
	return err;
}

struct error *symbols_resolve(struct case_db *db)
{
	const struct symbols *s = db->symbols;
	size_t i, j;

	for (i = 0; s && i < s->n_noted; i++) {
		for (j = 0; j < i && s->noted[j].source_id != s->noted[i].source_id; j++)
			;
		if (j == i)
			TRY(resolve_source(db, s->noted[i].source_id));
	}
	return NULL;
}
