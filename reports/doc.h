/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doc.h - a report as a list of blocks, for the formats that are pasted into trackers.
 *
 * ticket.c says what stands in a ticket; a style (markdown.c, jira.c, bugzilla.c) says how a block
 * is written there, and how much its tracker takes. Where the whole is too long, the blocks with
 * the highest weight go first, and a note says so.
 */
#ifndef KM_DOC_H
#define KM_DOC_H

#include "base.h"
#include "error.h"

enum doc_kind {
	DOC_HEAD,	/* level 1: the title, 2: a section */
	DOC_PARA,
	DOC_ITEM,	/* of a list; level 1 or 2 */
	DOC_CODE,	/* lines as they are; its one run has line breaks */
	DOC_TABLE,	/* the first row is the head; `columns` runs a row */
};

enum doc_look { DOC_PLAIN, DOC_BOLD, DOC_LITERAL /* a name or value of the case, a command */ };

struct doc_run {
	enum doc_look	look;
	char		*s;	/* escaped for terminals; not yet for the style */
};

struct doc_block {
	enum doc_kind	kind;
	int		level;
	int		weight;		/* 0: never left out; the highest is left out first */
	size_t		columns;
	struct doc_run	*runs;
	size_t		n, cap;
	bool		out;		/* left out */
};

struct doc {
	struct doc_block *blocks;
	size_t		n, cap;
	int		weight;		/* of blocks that are added */
};

struct doc_style {
	const char	*tracker;	/* "GitHub and GitLab" */
	size_t		limit;		/* bytes a text may have there */
	void		(*block)(FILE *out, const struct doc *d, size_t i);
};

/* doc_add() - begin a block; doc_run() and its kin append to the last one. */
void doc_add(struct doc *d, enum doc_kind kind, int level);
/* doc_text() - running text: blanks and line ends become one blank. */
void doc_text(struct doc *d, const char *fmt, ...) __printf_like(2, 3);
void doc_bold(struct doc *d, const char *s);
void doc_literal(struct doc *d, const char *s);
/* doc_lines() - the one run of a DOC_CODE block: @s keeps its line breaks. */
void doc_lines(struct doc *d, const char *s);
/* doc_table() - begin a table of @columns columns; cells follow as runs, row by row. */
void doc_table(struct doc *d, size_t columns);
/* doc_cell() - the next cell. */
void doc_cell(struct doc *d, enum doc_look look, const char *s);
void doc_free(struct doc *d);

/* doc_last_shown() - index of the block before @i that is not left out; SIZE_MAX for none. */
size_t doc_last_shown(const struct doc *d, size_t i);

/*
 * doc_write() - print @d in @style, leaving out what does not fit, with a note. ERR_INTERNAL where
 * there is no memory for it.
 */
struct error *doc_write(struct doc *d, const struct doc_style *style, FILE *out);

#endif
