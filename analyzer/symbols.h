/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - names for the addresses of binary recordings, out of the bundle's own evidence.
 *
 * While members are read, parsers leave here what may name an address: lists of the kernel's
 * symbols (kallsyms, System.map, a trace.dat's own), and what each recording says was mapped where
 * (sym_maps.h). stream_stack_row() leaves the call chains that became rows. After the last
 * member symbols_resolve() names each distinct address of these rows once; an address that is in no
 * row costs nothing. The analysing machine's own kernel and files are never asked.
 *
 * All functions take the case file that the work is for and do nothing where it has no store.
 */
#ifndef KM_SYMBOLS_H
#define KM_SYMBOLS_H

#include "casefile.h"
#include "sym_maps.h"

#define STACK_KEY_HEAD	5	/* of an interned stack of addresses: 'A', u32 space */

struct symbols;

enum sym_list_kind {
	SYM_LIST_KALLSYMS,	/* of the running kernel */
	SYM_LIST_SYSTEM_MAP,	/* as it was linked */
	SYM_LIST_GUEST		/* --guestkallsyms */
};

struct sym_list_desc {
	enum sym_list_kind kind;
	const char	*path;		/* of the member */
	const char	*side;		/* host | guest | unknown */
	int64_t		source_id;	/* the recording that it is part of; 0: none */
};

struct symbol_options {
	const char	*temp_dir;
	uint64_t	max_temp;
	/* named on the command line; NULL: none */
	const char	*guest_kallsyms, *symfs, *debug_dir;
};

/* symbols_open() - give @db a store; symbols_close() - take it away. */
struct error *symbols_open(struct case_db *db, const struct symbol_options *opt);
void symbols_close(struct case_db *db);

/* symbols_add_list() - keep a copy of a list, to be read when an address asks for it. ERR_INPUT. */
struct error *symbols_add_list(struct case_db *db, const struct sym_list_desc *d, const char *text,
			       size_t len);
/*
 * symbols_add_elf() - keep a copy of an ELF file of the bundle (perf archive, a .debug tree); false
 * where there is no room for it.
 */
bool symbols_add_elf(struct case_db *db, const char *path, const uint8_t *data, uint64_t size);
/* symbols_give_maps() - hand @maps over as those of @source_id. */
void symbols_give_maps(struct case_db *db, int64_t source_id, struct sym_maps *maps);
/* symbols_note_stack() - row @row of table stack has the addresses of the interned stack @key. */
void symbols_note_stack(struct case_db *db, int64_t source_id, int64_t row, const char *key,
			size_t len);

/*
 * symbols_resolve() - names into tables stack and chain_link; rows of table address; stacks that
 * are alike by name become one. After the last member; once.
 */
struct error *symbols_resolve(struct case_db *db);

#endif
