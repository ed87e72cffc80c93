/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtab.h - a kernel's symbols out of the text of /proc/kallsyms or System.map, sorted by address.
 *
 *   ffffffff81000000 T _text
 *   ffffffffc0694000 t kvm_dev_ioctl	[kvm]
 *
 * Names and ends are chosen as `perf script` chooses them (tools/perf/util/symbol.c): text and data
 * symbols count, a symbol reaches to the next one, and of several at one address the last one of
 * the file is taken.
 */
#ifndef KM_SYMTAB_H
#define KM_SYMTAB_H

#include "base.h"

#define SYMTAB_MAX	(1u << 22)	/* symbols; more are left out */

struct symtab_sym {
	uint64_t	addr;
	uint32_t	name, module;	/* offsets in the text; module: 0 of the kernel itself */
	uint16_t	len, module_len;
};

struct symtab {
	const char	*text;		/* the caller's; must outlive the table */
	struct symtab_sym *syms;
	size_t		n, cap;
	uint64_t	text_start;	/* _text, else _stext; 0: not there */
	uint64_t	stext;
	bool		hidden;		/* every address is zero (kptr_restrict) */
};

/* symtab_read() - the symbols in @len bytes at @text. Lines that are none are left out. */
void symtab_read(struct symtab *t, const char *text, size_t len);
void symtab_free(struct symtab *t);
/*
 * symtab_find() - the symbol that @addr lies in; NULL when there is none. What lies behind the last
 * symbol of the kernel or of a module ends at its page's end.
 */
const struct symtab_sym *symtab_find(const struct symtab *t, uint64_t addr);
/*
 * symtab_module_base() - the page that the text symbols of @module (@len bytes) begin in; 0 when
 * there are none.
 */
uint64_t symtab_module_base(const struct symtab *t, const char *module, size_t len);

#endif
