/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_resolve.h - the distinct addresses of one recording's stored call chains, and what each of
 * them is called; inside of symbols.h.
 */
#ifndef KM_SYM_RESOLVE_H
#define KM_SYM_RESOLVE_H

#include "strtab.h"

/* One function at an address: the innermost inlined first, the one that has its own symbol last. */
struct sym_frame {
	uint32_t	func, dso, file;	/* string ids; STRTAB_NONE: not known */
	uint32_t	line;			/* 0: not known */
	uint64_t	off;	/* from the function's start; of unknown functions: in the file */
	bool		known;			/* func is a function's name */
};

struct sym_addr {
	uint64_t	ip;
	uint32_t	space, frame, n;	/* its frames: [frame, frame + n) */
	uint8_t		mode;			/* enum sym_mode */
};

struct sym_addrs {
	struct strtab	strings;
	struct sym_addr	*v;
	size_t		n, cap;
	uint32_t	*slots;		/* open addressing: index + 1 */
	size_t		size;
	struct sym_frame *frames;
	size_t		n_frames, cap_frames;
};

/* sym_add_frame() - the next frame of @x, which must be the last address that got frames. */
struct sym_frame *sym_add_frame(struct sym_addrs *a, struct sym_addr *x);

#endif
