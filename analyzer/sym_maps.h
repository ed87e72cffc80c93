/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_maps.h - what was mapped where while a recording was made: the kernel and its modules,
 * symbols that came and went (BPF programs), and the files in each process's address space.
 *
 * Kept by the parser in the order of events; read when all is over (symbols.h). A space is the
 * address space of one process between two execs. Children share their parent's until one of them
 * maps something else where the other has a file; then it gets a space of its own, so that a space
 * never says two things of one address and can be asked at any later time.
 */
#ifndef KM_SYM_MAPS_H
#define KM_SYM_MAPS_H

#include "strtab.h"

#define SYM_SPACE_NONE	0u		/* the kernel's: no user addresses */
#define SYM_MAX_SPACES	(1u << 16)
#define SYM_MAX_MAPS	(1u << 20)	/* of a recording; more are left out */

/* Marks between the addresses of a call chain (enum perf_callchain_context). */
enum sym_context {
	SYM_HV = -32,
	SYM_KERNEL = -128,
	SYM_USER = -512,
	SYM_GUEST = -2048,
	SYM_GUEST_KERNEL = -2176,
	SYM_GUEST_USER = -2560
};
/* sym_is_mark() - values that are no addresses. */
static inline bool sym_is_mark(uint64_t ip)
{
	return ip >= (uint64_t)-4095;
}

struct sym_build_id {
	uint8_t		len, id[20];	/* len 0: not known */
};

struct sym_map {
	uint64_t	start, end, pgoff;
	uint32_t	file;		/* string id in files */
};

struct sym_space {
	struct sym_map	*maps;		/* sorted by start, without overlaps */
	size_t		n, cap;
	int32_t		pid;
};

struct sym_ksym {
	uint64_t	start, end;
	uint32_t	name;		/* string id in files */
};

struct sym_maps {
	struct strtab	files;
	struct sym_build_id *ids;	/* by file */
	size_t		n_ids, cap_ids;
	struct sym_space *spaces;	/* [0] is the kernel's: modules by name */
	size_t		n_spaces, cap_spaces;
	/* open addressing; space 0: empty */
	struct { int32_t pid; uint32_t space; } *by_pid;
	size_t		n_pids, pids_size;
	struct sym_ksym	*ksyms;		/* in order of their coming */
	size_t		n_ksyms, cap_ksyms;
	uint64_t	text_start;	/* the running kernel's _text (or _stext); 0: not known */
	bool		stext;		/* it is _stext's */
	uint64_t	kernel_start, kernel_end;
	uint64_t	guest_start;	/* the same of the guest's, where perf kvm noted it */
	size_t		n_maps;
	bool		full;		/* a limit was reached */
};

struct sym_maps *sym_maps_create(void);
void sym_maps_free(struct sym_maps *m);

/*
 * sym_maps_add() - @name is mapped into @pid's space (-1: the kernel's; names in brackets or with
 * ".ko" are modules) at @start, @len bytes, from @pgoff of the file on. @id may be NULL.
 */
void sym_maps_add(struct sym_maps *m, int32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		  const char *name, size_t name_len, const struct sym_build_id *id);
/* sym_maps_ksym() - a symbol of @len bytes appears in the kernel at @addr (KSYMBOL records). */
void sym_maps_ksym(struct sym_maps *m, uint64_t addr, uint64_t len, const char *name,
		   size_t name_len);
/* sym_maps_build_id() - the build-id of the file @name. */
void sym_maps_build_id(struct sym_maps *m, const char *name, size_t name_len,
		       const struct sym_build_id *id);
/* sym_maps_fork() - @pid begins with @parent's space; sym_maps_exec() - @pid begins anew. */
void sym_maps_fork(struct sym_maps *m, int32_t pid, int32_t parent);
void sym_maps_exec(struct sym_maps *m, int32_t pid);
/* sym_maps_space() - the space that @pid has now; SYM_SPACE_NONE when nothing is known of it. */
uint32_t sym_maps_space(const struct sym_maps *m, int32_t pid);
/* sym_maps_find() - the map of @space that @addr lies in, or NULL. */
const struct sym_map *sym_maps_find(const struct sym_maps *m, uint32_t space, uint64_t addr);
/* sym_maps_ksym_at() - the latest symbol of KSYMBOL records at @addr, or NULL. */
const struct sym_ksym *sym_maps_ksym_at(const struct sym_maps *m, uint64_t addr);
/* sym_maps_id() - the build-id of file @file; len 0 where it is not known. */
struct sym_build_id sym_maps_id(const struct sym_maps *m, uint32_t file);

#endif
