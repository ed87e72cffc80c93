/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bins.h - a counter over time in bounded memory: bins of equal width, a power of two in ns, which
 * double in width whenever the time grows beyond them. Rows of table series.
 */
#ifndef KM_BINS_H
#define KM_BINS_H

#include "casefile.h"

#define BINS_N		512

struct bins {
	uint32_t	count[BINS_N];
	uint64_t	base;		/* number of the first bin: its time >> shift */
	unsigned int	shift;
	bool		any;
};

/* bins_add() - one more at @time (ns); a time before the first one counts in the first bin. */
void bins_add(struct bins *b, uint64_t time);
/* bins_write() - the bins from the first to the last that is not empty, as series @name. */
struct error *bins_write(struct case_db *db, int64_t source_id, const char *name,
			 const struct bins *b);

#endif
