// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_symbols.c - address spaces, lists of symbols and call chains out of hostile input, up to the
 * names in the case file. The input: maps of 24 bytes (pid, pgoff, start, length) up to one of pid
 * 0xff; chains of 8 addresses up to one that begins with 0; the rest is the kernel's list.
 */
#include "symbols.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static const uint8_t *add_maps(struct sym_maps *m, const uint8_t *p, const uint8_t *end)
{
	static const char *const names[] = { "[kernel.kallsyms]_text", "/lib/kvm.ko", "/bin/a",
					     "[vdso]", "//anon" };

	for (; end - p >= 24 && *p != 0xff; p += 24) {
		const char *name = names[p[1] % ARRAY_SIZE(names)];
		int32_t pid = p[0] & 1 ? -1 : p[0] % 8;

		if (p[2] % 8 == 1)
			sym_maps_fork(m, pid, p[3] % 8);
		else if (p[2] % 8 == 2)
			sym_maps_exec(m, pid);
		else if (p[2] % 8 == 3)
			sym_maps_ksym(m, word(p + 8), word(p + 16), "bpf_prog", 8);
		else
			sym_maps_add(m, pid, word(p + 8), word(p + 16),
				     p[2] & 128 ? word(p + 8) : p[4], name, strlen(name), NULL);
	}
	return end - p >= 24 ? p + 24 : end;
}

static const uint8_t *add_chains(struct case_db *db, const struct sym_maps *m, const uint8_t *p,
				 const uint8_t *end)
{
	char key[STACK_KEY_HEAD + 64] = "A";
	uint32_t space;
	int64_t row;

	for (; end - p >= 64 && word(p); p += 64) {
		space = sym_maps_space(m, p[0] % 8);
		memcpy(key + 1, &space, sizeof(space));
		memcpy(key + STACK_KEY_HEAD, p, 64);
		if (!case_insert(db, &row, "INSERT INTO stack(source_id, frames, depth, top)"
				 " VALUES(1, 'x', 1, 'x')", ""))
			symbols_note_stack(db, 1, row, key, sizeof(key));
	}
	return end - p >= 64 ? p + 64 : end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sym_list_desc d = { .kind = SYM_LIST_KALLSYMS, .path = "kallsyms",
					 .side = "unknown" };
	const uint8_t *p = data, *end = data + size;
	struct sym_maps *m = sym_maps_create();
	struct case_db *db;

	if (case_create(&db, NULL))
		abort();
	error_free(symbols_open(db, &(const struct symbol_options){ 0 }));
	p = add_maps(m, p, end);
	p = add_chains(db, m, p, end);
	symbols_give_maps(db, 1, m);
	error_free(symbols_add_list(db, &d, (const char *)p, (size_t)(end - p)));
	error_free(symbols_resolve(db));
	symbols_close(db);
	case_close(db);
	return 0;
}
