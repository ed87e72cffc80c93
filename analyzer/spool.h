/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spool.h - bytes that come out of pipes and archives, kept where a parser can read them at random.
 *
 * Up to SPOOL_MEMORY bytes stay in memory; more goes to one temporary file that has no name
 * (O_TMPFILE, or unlinked at once; mode 0600). Blobs nest like the archives they come from: the
 * last one made is released first, and its space is given back at once.
 */
#ifndef KM_SPOOL_H
#define KM_SPOOL_H

#include "mapguard.h"

#define SPOOL_MEMORY	(1u << 20)

struct spool {
	const char	*dir;		/* NULL: $TMPDIR, /var/tmp or /tmp */
	uint64_t max; /* bytes in the file; 0: half of the free space, asked at first use */
	int		fd;		/* -1: not made yet */
	uint64_t	used;
};

/* One member's bytes on their way in (spool_begin, spool_add ...) and then readable (spool_map). */
struct blob {
	struct spool	*sp;
	uint8_t		*mem;
	size_t		cap;
	uint64_t	size;
	uint64_t	mark;		/* spool's fill before this blob */
	bool		in_file;
	struct mapping	map;
};

void spool_init(struct spool *sp, const char *dir, uint64_t max);
void spool_deinit(struct spool *sp);

void blob_begin(struct blob *b, struct spool *sp);
/*
 * blob_expect() - refuse early: @size bytes are announced and would not fit. ERR_INPUT, one line
 * with the size needed and the options.
 */
struct error *blob_expect(struct blob *b, uint64_t size);
/*
 * blob_add() - append; ERR_INPUT when the limit is reached, ERR_IO when the disk is full or fails.
 */
struct error *blob_add(struct blob *b, const void *data, size_t len);
/* blob_map() - the bytes, valid until blob_end(). */
struct error *blob_map(struct blob *b, const uint8_t **data, uint64_t *size);
void blob_end(struct blob *b);

#endif
