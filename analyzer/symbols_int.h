/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols_int.h - inside of symbols.h.
 *
 *   symbols.c      the store: what parsers leave while members are read
 *   sym_kernel.c   which list of kernel symbols fits a recording; a kernel address's name
 *   sym_user.c     names of processes' addresses, by sym_dwarf.c
 *   sym_resolve.c  after the last member: addresses to names, names into the case file
 */
#ifndef KM_SYMBOLS_INT_H
#define KM_SYMBOLS_INT_H

#include "spool.h"
#include "symbols.h"
#include "symtab.h"

struct sym_list {
	enum sym_list_kind kind;
	char		*path, *side;
	int64_t		source_id;
	struct blob	blob;
	const char	*text;
	size_t		len;
	bool		read;
	struct symtab	tab;
};

struct sym_recording {
	int64_t		source_id;
	struct sym_maps	*maps;
};

/* A row of table stack that has addresses. */
struct sym_noted {
	int64_t		source_id, row;
	char		*key;
	size_t		len;
};

/* An ELF file of the bundle. */
struct sym_elf {
	char		*path;
	struct blob	blob;
	const uint8_t	*data;
	uint64_t	size;
};

struct symbols {
	struct symbol_options opt;	/* strings are the caller's */
	struct sym_elf	*elfs;
	size_t		n_elfs, cap_elfs;
	uint64_t	elf_bytes;
	struct spool	spool, elf_spool;
	struct sym_list	**lists;
	size_t		n_lists, cap_lists;
	struct sym_recording *recs;
	size_t		n_recs, cap_recs;
	struct sym_noted *noted;
	size_t		n_noted, cap_noted;
};

/* Whose code an address of a chain is. */
enum sym_mode { SYM_MODE_KERNEL, SYM_MODE_USER, SYM_MODE_GUEST_KERNEL, SYM_MODE_GUEST_USER };

/* A chain out of its key: sym_chain_next() gives one address after the other, false at the end. */
struct sym_chain {
	const uint8_t	*p, *end;
	uint32_t	space;
	int		mode;		/* -1: no mark yet; the address itself tells */
};
void sym_chain_begin(struct sym_chain *c, const char *key, size_t len);
bool sym_chain_next(struct sym_chain *c, uint64_t *ip, enum sym_mode *mode);

/* What names one recording's kernel addresses. */
struct sym_kernel {
	const struct sym_maps *maps;	/* may be NULL */
	const struct symtab *tab;	/* NULL: none fits */
	int64_t		delta;		/* added to the table's addresses: another boot's KASLR */
	const struct symtab *guest;
	char		why[400];	/* why there is no table; "" where nothing was there */
};

struct sym_name {
	const char	*name;		/* not NUL-terminated; NULL: none */
	size_t		len;
	const char	*dso;		/* module or file, likewise */
	size_t		dso_len;
	uint64_t	off;		/* from the symbol's start */
};

struct sym_addrs;
/*
 * sym_user_names() - frames of the files in @maps for the processes' addresses of @a, where a file
 * with the right build-id is at hand; lines about those that could not be used into @remarks.
 */
void sym_user_names(const struct symbols *s, const struct sym_maps *maps, struct sym_addrs *a,
		    struct strtab *remarks);
/* sym_list_read() - the list as a table; read at the first call. */
const struct symtab *sym_list_read(struct sym_list *l);
/* sym_kernel_choose() - for the recording @source_id with path @path and side @side. */
void sym_kernel_choose(struct symbols *s, struct sym_kernel *k, int64_t source_id,
		       const char *path, const char *side);
/* sym_kernel_name() - name of @ip; false where only the module is known, or nothing. */
bool sym_kernel_name(const struct sym_kernel *k, uint64_t ip, struct sym_name *n);
/* sym_module_name() - "kvm_amd" out of "/lib/modules/.../kvm-amd.ko.xz" or "[kvm_amd]" into @buf. */
size_t sym_module_name(const char *file, char *buf, size_t size);

#endif
