/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_dwarf.h - functions, inlined ones and source lines at offsets of one ELF file, by libdwfl in
 * a child process with limits of its own: whatever is damaged or hostile in the file ends that
 * child only.
 */
#ifndef KM_SYM_DWARF_H
#define KM_SYM_DWARF_H

#include "sym_maps.h"

/* A file to be asked: @data (of the bundle), or else @path. */
struct dwarf_file {
	const char	*path;
	const uint8_t	*data;
	uint64_t	size;
	struct sym_build_id id;		/* that it must have; len 0: any */
	const char	*debug_dir;	/* where .build-id/xx/rest.debug may lie; NULL: nowhere */
};

enum dwarf_result {
	DWARF_OK,
	DWARF_OTHER_ID = 3,	/* the file has another build-id, or none */
	DWARF_NO_FILE = 4,	/* it can't be opened or is no ELF file */
	DWARF_DIED = 5		/* damaged: the child was ended */
};

/*
 * dwarf_ask() - what is at the @n offsets @offs of the file. @emit is called per function, inlined
 * ones first: the offset's index, name, offset from the function's start, source file ("" where not
 * known) and line (0).
 */
enum dwarf_result dwarf_ask(const struct dwarf_file *f, const uint64_t *offs, size_t n,
			    void (*emit)(void *arg, size_t i, const char *name, uint64_t off,
					 const char *file, uint32_t line), void *arg);

#endif
