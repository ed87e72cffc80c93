/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sections.h - files pasted into a text under their path:
 *
 *	== PATH			==> PATH <==		$ cat PATH  or  # cat PATH
 *	/sys/PATH:VALUE lines			lines			lines
 *	(as grep prints)
 *
 * and the output of a few commands under "# COMMAND", as Proxmox VE's pvereport has them.
 */
#ifndef KM_SECTIONS_H
#define KM_SECTIONS_H

#include "unquote.h"

#define SECTION_MAX	(1u << 20)	/* bytes; larger ones are read as plain text */

struct section {
	char		*name;
	bool named; /* head of its own (not PATH:VALUE): logs may stand there too */
	char		*text;		/* the lines, unquoted, each with its end */
	size_t		text_len, cap;
	uint64_t	first_line;	/* number of the first line of the text */
	uint64_t	lines;
	struct mail_walk after;		/* the walk behind the section */
};

/* section_head() - may @ln begin a section? Cheap. */
bool section_head(const struct line *ln);
/*
 * section_read() - read the section that @head begins; @walk stands behind the head and is not
 * moved. False when it is none, or too large. The caller frees with section_free().
 */
bool section_read(struct section *sec, const struct mail_line *head, const struct mail_walk *walk);
void section_free(struct section *sec);

#endif
