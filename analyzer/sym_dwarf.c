// SPDX-License-Identifier: GPL-2.0-or-later
/* sym_dwarf.c - libdwfl in a child process; see sym_dwarf.h. */
#include "sym_dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ANSWER	(64u << 20)
#define CHILD_DATA	(2ull << 30)
#define CHILD_CPU_S	120
#define MAX_INLINES	64

/* ---- the child ---- */

struct child {
	const struct dwarf_file *f;
	FILE		*out;
};

static struct child *child_of(void **userdata)
{
	return *userdata;
}

/* Debug data apart from the file: only by build-id below the directory that was named. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	const char *dir = child_of(userdata)->f->debug_dir;
	const unsigned char *id;
	_cleanup_free_ char *hex = NULL, *path = NULL;
	GElf_Addr vaddr;
	int n = dir ? dwfl_module_build_id(mod, &id, &vaddr) : 0, i;

	(void)modname, (void)base, (void)file_name, (void)link, (void)crc, (void)found;
	if (n < 2 || n > 64)
		return -1;
	hex = xmalloc((size_t)n * 2 + 1);
	for (i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	path = xasprintf("%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo	= find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void put_clean(FILE *out, const char *s)
{
	size_t n = 0;

	for (; s && *s && n < 1000; s++, n++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, out);
}

static void put(struct child *c, size_t i, const char *name, uint64_t off, const char *file,
		int line)
{
	fprintf(c->out, "%zu\t", i);
	put_clean(c->out, name);
	fprintf(c->out, "\t%" PRIx64 "\t", off);
	put_clean(c->out, file);
	fprintf(c->out, "\t%d\n", MAX(line, 0));
}

/* The file of an inlined call by its number in the unit's table. */
static const char *call_file(Dwarf_Die *cu, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &n) ||
	    dwarf_getsrcfiles(cu, &files, &count) || n >= count)
		return NULL;
	return dwarf_filesrc(files, n, NULL, NULL);
}

static int call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	return dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &n) ? 0 : (int)n;
}

/*
 * The DIEs around @pc, innermost first, as the code is nested: dwarf_getscopes() would go on from
 * an inlined call to where its function is defined.
 */
static int code_scopes(Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die **scopes)
{
	Dwarf_Die *found = NULL;
	int n = dwarf_getscopes(cu, pc, &found);

	*scopes = NULL;
	if (n > 0)
		n = dwarf_getscopes_die(&found[0], scopes);
	free(found);
	return n;
}

static void at_address(struct child *c, Dwfl_Module *mod, size_t i, GElf_Addr addr)
{
	Dwarf_Addr bias = 0, entry = 0;
	Dwarf_Die *cu = dwfl_module_addrdie(mod, addr, &bias), *scopes = NULL;
	Dwfl_Line *src = dwfl_module_getsrc(mod, addr);
	const char *file = NULL, *name;
	GElf_Off off = 0;
	GElf_Sym sym;
	int line = 0, n = cu ? code_scopes(cu, addr - bias, &scopes) : 0, k;

	if (src)
		file = dwfl_lineinfo(src, NULL, &line, NULL, NULL, NULL);
	for (k = 0; k < n && k < MAX_INLINES; k++) {
		int tag = dwarf_tag(&scopes[k]);

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		name = dwarf_diename(&scopes[k]);
		if (dwarf_entrypc(&scopes[k], &entry))
			entry = addr - bias;
		if (name)
			put(c, i, name, addr - bias >= entry ? addr - bias - entry : 0, file, line);
		file = call_file(cu, &scopes[k]);
		line = call_line(&scopes[k]);
	}
	name = dwfl_module_addrinfo(mod, addr, &off, &sym, NULL, NULL, NULL);
	if (!name && k < n && dwarf_tag(&scopes[k]) == DW_TAG_subprogram)
		name = dwarf_diename(&scopes[k]);
	if (name)
		put(c, i, name, off, file, line);
	free(scopes);
}

/* The address that the byte at @off of the file is loaded to; 0: none. */
static GElf_Addr address_of(Elf *elf, uint64_t off)
{
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (i = 0; i < n && i < 65536; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && off >= ph.p_offset &&
		    off - ph.p_offset < ph.p_filesz)
			return ph.p_vaddr + (off - ph.p_offset);
	}
	return 0;
}

static int open_file(const struct dwarf_file *f)
{
	int fd;

	if (!f->data)
		return open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, f->data, f->size) != (ssize_t)f->size) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool has_id(Elf *elf, const struct sym_build_id *want)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

	return !want->len || (n == want->len && !memcmp(id, want->id, want->len));
}

static enum dwarf_result answer(struct child *c, const uint64_t *offs, size_t n)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	int fd = open_file(c->f);
	Dwfl_Module *mod;
	GElf_Addr bias;
	void **userdata;
	Elf *elf;
	size_t i;

	if (fd < 0 || !dwfl)
		return DWARF_NO_FILE;
	mod = dwfl_report_elf(dwfl, "elf", "elf", fd, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!mod)
		return DWARF_NO_FILE;
	dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = c;
	elf = dwfl_module_getelf(mod, &bias);
	if (!elf)
		return DWARF_NO_FILE;
	if (!has_id(elf, &c->f->id))
		return DWARF_OTHER_ID;
	for (i = 0; i < n; i++) {
		GElf_Addr addr = address_of(elf, offs[i]);

		if (addr)
			at_address(c, mod, i, addr + bias);
	}
	return DWARF_OK;
}

static void __attribute__((noreturn))
	run_child(const struct dwarf_file *f, const uint64_t *offs, size_t n, int fd)
{
	struct rlimit none = { 0, 0 }, cpu = { CHILD_CPU_S, CHILD_CPU_S };
	struct child c = { .f = f, .out = fdopen(fd, "w") };
	enum dwarf_result r;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
#ifndef HAS_ASAN
	setrlimit(RLIMIT_DATA, &(struct rlimit){ CHILD_DATA, CHILD_DATA });
#endif
	if (!c.out)
		_exit(DWARF_DIED);
	r = answer(&c, offs, n);
	if (fflush(c.out))
		r = DWARF_DIED;
	_exit((int)r);
}

/* ---- the parent ---- */

static char *read_answer(int fd, size_t *len)
{
	char *text = NULL;
	size_t cap = 0, n = 0;
	ssize_t got;

	do {
		GROW(text, cap, n + (64u << 10));
		got = read(fd, text + n, cap - n - 1);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n < MAX_ANSWER);
	text[n] = '\0';
	*len = n;
	return text;
}

/* One line: index, name, offset, file, line; tabs between. */
static void take_line(char *s, size_t n,
		      void (*emit)(void *arg, size_t i, const char *name, uint64_t off,
				   const char *file, uint32_t line), void *arg)
{
	char *part[5];
	size_t k, i;

	for (k = 0; k < ARRAY_SIZE(part) && s; k++)
		part[k] = strsep(&s, "\t");
	if (k < ARRAY_SIZE(part) || !*part[1])
		return;
	i = strtoul(part[0], NULL, 10);
	if (i < n)
		emit(arg, i, part[1], strtoull(part[2], NULL, 16), part[3],
		     (uint32_t)strtoul(part[4], NULL, 10));
}

enum dwarf_result dwarf_ask(const struct dwarf_file *f, const uint64_t *offs, size_t n,
			    void (*emit)(void *arg, size_t i, const char *name, uint64_t off,
					 const char *file, uint32_t line), void *arg)
{
	_cleanup_free_ char *text = NULL;
	char *p, *nl;
	size_t len;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return DWARF_DIED;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		run_child(f, offs, n, fds[1]);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return DWARF_DIED;
	}
	text = read_answer(fds[0], &len);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	for (p = text; (nl = strchr(p, '\n')); p = nl + 1) {
		*nl = '\0';
		take_line(p, n, emit, arg);
	}
	if (!WIFEXITED(status))
		return DWARF_DIED;
	return WEXITSTATUS(status) > DWARF_DIED ? DWARF_DIED :
	       (enum dwarf_result)WEXITSTATUS(status);
}
