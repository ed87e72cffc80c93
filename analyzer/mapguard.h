/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapguard.h - read-only file mappings that survive a file that shrinks, or a disk that fails,
 * under us.
 *
 * Touching a mapped page that has no file behind it any more raises SIGBUS. Inside a guarded range
 * the handler puts a page of zeros there and marks the range as damaged; outside of all ranges
 * SIGBUS does what it always did. The table of ranges is the process's, as the signal is: it is the
 * one place that keeps state.
 */
#ifndef KM_MAPGUARD_H
#define KM_MAPGUARD_H

#include "error.h"

struct mapping {
	const uint8_t	*data;
	uint64_t	size;		/* bytes of the file part */
	void		*base;		/* what mmap() returned: page-aligned, at or before data */
	size_t		base_len;
	int		slot;		/* in the table of ranges; -1: not guarded */
};

/*
 * map_file() - map @size bytes of @fd from @off (any offset) read-only and guard them. @size 0
 * gives an empty mapping. ERR_IO when the kernel refuses or too many mappings are open at a time
 * (32).
 */
struct error *map_file(struct mapping *m, int fd, uint64_t off, uint64_t size);
/* map_damaged() - bytes of the mapping were gone when they were read (they read as zeros). */
bool map_damaged(const struct mapping *m);
void map_release(struct mapping *m);

#endif
