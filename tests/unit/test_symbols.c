// SPDX-License-Identifier: GPL-2.0-or-later
/* test_symbols.c - lists of kernel symbols, address spaces, and names out of them. */
#include "facts.h"

#include "sym_maps.h"
#include "symbols.h"
#include "symtab.h"

static const char list[] =
	"0000000000000000 A fixed_percpu_data\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000100 t schedule\n"
	"ffffffff81000200 T __x64_sys_ioctl\n"
	"ffffffff81000200 T ksys_alias\n"
	"ffffffff81000300 W entry_SYSCALL_64\n"
	"ffffffff81000380 r not_code\n"
	"garbage\n"
	"ffffffffc0000010 t kvm_vcpu_ioctl\t[kvm]\n"
	"ffffffffc0000050 t kvm_arch_vcpu_ioctl_run\t[kvm]\n"
	"ffffffffc0009000 t svm_vcpu_run\t[kvm_amd]";

static void assert_name(const struct symtab *t, uint64_t addr, const char *name)
{
	const struct symtab_sym *s = symtab_find(t, addr);

	if (!name) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_int_equal(s->len, strlen(name));
	assert_memory_equal(t->text + s->name, name, s->len);
}

static void table(void **state)
{
	struct symtab t;

	(void)state;
	symtab_read(&t, list, sizeof(list) - 1);
	assert_false(t.hidden);
	assert_int_equal(t.text_start, 0xffffffff81000000);
	assert_name(&t, 0xffffffff80ffffff, NULL);
	assert_name(&t, 0xffffffff81000000, "_text");
	assert_name(&t, 0xffffffff810001ff, "schedule");
	assert_name(&t, 0xffffffff81000200, "ksys_alias");	/* the last of one address */
	assert_name(&t, 0xffffffff81001fff, "entry_SYSCALL_64");
	assert_name(&t, 0xffffffff81002000, NULL);	/* the kernel's last ends with its page */
	assert_name(&t, 0xffffffffc0000060, "kvm_arch_vcpu_ioctl_run");
	assert_name(&t, 0xffffffffc000afff, "svm_vcpu_run");
	assert_name(&t, UINT64_MAX, NULL);
	assert_int_equal(symtab_module_base(&t, "kvm", 3), 0xffffffffc0000000);
	assert_int_equal(symtab_module_base(&t, "kv", 2), 0);
	symtab_free(&t);
	symtab_read(&t, "0000000000000000 T a\n0000000000000000 T b\n", 42);
	assert_true(t.hidden);
	symtab_free(&t);
	symtab_read(&t, "", 0);
	assert_false(t.hidden);
	assert_name(&t, 1, NULL);
	symtab_free(&t);
}

static void add(struct sym_maps *m, int32_t pid, uint64_t start, uint64_t len, const char *name)
{
	sym_maps_add(m, pid, start, len, 0, name, strlen(name), NULL);
}

static const char *file_at(const struct sym_maps *m, uint32_t space, uint64_t addr)
{
	const struct sym_map *map = sym_maps_find(m, space, addr);

	return map ? strtab_str(&m->files, map->file) : "";
}

static void spaces(void **state)
{
	struct sym_maps *m = sym_maps_create();
	uint32_t first, child, later;

	(void)state;
	add(m, 10, 0x1000, 0x1000, "/bin/a");
	add(m, 10, 0x4000, 0x1000, "/lib/b");
	first = sym_maps_space(m, 10);
	assert_int_not_equal(first, SYM_SPACE_NONE);
	assert_string_equal(file_at(m, first, 0x1fff), "/bin/a");
	assert_string_equal(file_at(m, first, 0x2000), "");
	sym_maps_fork(m, 11, 10);
	assert_int_equal(sym_maps_space(m, 11), first);
	add(m, 11, 0x4000, 0x1000, "/lib/b");	/* the same again is nothing new */
	assert_int_equal(sym_maps_space(m, 11), first);
	add(m, 11, 0x4800, 0x200, "/lib/c");	/* something else: a space of its own */
	child = sym_maps_space(m, 11);
	assert_int_not_equal(child, first);
	assert_string_equal(file_at(m, first, 0x4900), "/lib/b");
	assert_string_equal(file_at(m, child, 0x4900), "/lib/c");
	assert_string_equal(file_at(m, child, 0x47ff), "/lib/b");
	assert_string_equal(file_at(m, child, 0x4a00), "/lib/b");
	assert_int_equal(sym_maps_find(m, child, 0x4a00)->pgoff, 0xa00);
	sym_maps_exec(m, 11);
	later = sym_maps_space(m, 11);
	assert_int_not_equal(later, child);
	assert_string_equal(file_at(m, later, 0x1000), "");
	assert_int_equal(sym_maps_space(m, 12), SYM_SPACE_NONE);
	add(m, 12, UINT64_MAX - 5, 100, "/wraps");
	assert_int_equal(sym_maps_space(m, 12), SYM_SPACE_NONE);
	sym_maps_add(m, -1, 0xffffffff82000000, 0x1000, 0xffffffff82000000,
		     "[kernel.kallsyms]_text", 22, NULL);
	assert_int_equal(m->text_start, 0xffffffff82000000);
	sym_maps_ksym(m, 0x9000, 0x10, "bpf_prog_1", 10);
	sym_maps_ksym(m, 0x9000, 0x20, "bpf_prog_2", 10);
	assert_string_equal(strtab_str(&m->files, sym_maps_ksym_at(m, 0x9008)->name), "bpf_prog_2");
	assert_null(sym_maps_ksym_at(m, 0x9020));
	sym_maps_free(m);
}

/* A stack row of @ips, as a stream notes it. */
static int64_t stack_row(struct case_db *db, int64_t source, const uint64_t *ips, size_t n)
{
	char key[STACK_KEY_HEAD + 16 * sizeof(*ips)] = "A";
	int64_t row;

	memcpy(key + STACK_KEY_HEAD, ips, n * sizeof(*ips));
	assert_null(case_insert(db, &row, "INSERT INTO stack(source_id, frames, depth, top)"
				" VALUES(?, 'x', 1, 'x')", "i", source));
	assert_null(case_insert(db, NULL, "INSERT INTO stack_count(source_id, stack_id, event, count)"
				" VALUES(?, ?, 'cpu-clock', 2)", "ii", source, row));
	symbols_note_stack(db, source, row, key, STACK_KEY_HEAD + n * sizeof(*ips));
	return row;
}

static void resolve(void **state)
{
	static const uint64_t a[] = { (uint64_t)SYM_KERNEL, 0xffffffff82000110, 0xffffffff82000310,
				      (uint64_t)SYM_USER, 0x5000 },
		b[] = { (uint64_t)SYM_KERNEL, 0xffffffff82000120, 0xffffffff82000310,
			(uint64_t)SYM_USER, 0x6000 },
		guest[] = { (uint64_t)SYM_GUEST_KERNEL, 0xffffffff82000110 };
	const struct sym_list_desc d = { .kind = SYM_LIST_KALLSYMS, .path = "kallsyms",
					 .side = "unknown" };
	struct sym_maps *m = sym_maps_create();
	struct case_db *db;
	int64_t source;

	(void)state;
	assert_null(case_create(&db, NULL));
	assert_null(symbols_open(db, &(const struct symbol_options){ 0 }));
	assert_null(case_source(db, &source, 1, "perf.data", "perf.data", "host"));
	/* Booted 16 MiB higher than when the list was taken. */
	sym_maps_add(m, -1, 0xffffffff82000000, 0x1000, 0xffffffff82000000,
		     "[kernel.kallsyms]_text", 22, NULL);
	symbols_give_maps(db, source, m);
	assert_null(symbols_add_list(db, &d, list, sizeof(list) - 1));
	stack_row(db, source, a, ARRAY_SIZE(a));
	stack_row(db, source, b, ARRAY_SIZE(b));
	stack_row(db, source, guest, ARRAY_SIZE(guest));
	assert_null(symbols_resolve(db));
	symbols_close(db);
	assert_sql_int(db, "SELECT count(*) FROM stack", 2);
	assert_sql_int(db, "SELECT count(*) FROM stack WHERE depth = 3 AND top = 'schedule' AND frames ="
		       " 'schedule' || char(10) || 'entry_SYSCALL_64' || char(10) || '[unknown]'", 1);
	assert_sql_int(db, "SELECT count FROM stack_count WHERE stack_id ="
		       " (SELECT id FROM stack WHERE top = 'schedule')", 4);
	assert_sql_int(db, "SELECT count(*) FROM stack WHERE frames = '[guest]'", 1);
	assert_sql_int(db, "SELECT offset FROM address WHERE func = 'schedule' AND address ="
		       " '0xffffffff82000120'", 0x20);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(spaces),
		cmocka_unit_test(resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
