/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unquote.h - text as it was before it went through a mailer: physical lines, and mail lines with
 * their quoting, quoted-printable and odd blanks undone.
 */
#ifndef KM_UNQUOTE_H
#define KM_UNQUOTE_H

#include "parser.h"

/* A walk over the lines of some bytes. */
struct line_walk {
	const uint8_t	*data;
	uint64_t	size, off;
	uint64_t	no;		/* lines seen so far */
	uint64_t	cut;		/* lines that were longer than LINE_MAX_BYTES */
	bool		open_end;	/* the last line given had no line end */
};

void line_walk_init(struct line_walk *w, const uint8_t *data, uint64_t size);
/*
 * line_walk_next() - the next line without its end; false at the end. A byte order mark before the
 * first is skipped.
 */
bool line_walk_next(struct line_walk *w, struct line *ln);

/* One line of a mail: @ln is what its writer wrote, @depth how often it was quoted. */
struct mail_line {
	struct line	ln;
	unsigned int	depth;
	char		*own;		/* holds ln.s where bytes had to change */
	size_t		cap;
};

#define MAIL_BOUNDARIES	8

/* State of a walk over mail text. */
struct mail_walk {
	struct line_walk w;
	bool qp, qp_next; /* inside a quoted-printable body; after the header that says so */
	char		boundary[MAIL_BOUNDARIES][72];
	unsigned int	n_boundaries;
};

void mail_walk_init(struct mail_walk *m, const uint8_t *data, uint64_t size);
bool mail_walk_next(struct mail_walk *m, struct mail_line *out);

/* mail_unquote() - the quoting depth of a line; *s and *len become what is behind the marks. */
unsigned int mail_unquote(const char **s, size_t *len);

/* looks_like_mail() - mail headers, or several quoted lines or a diff among the first lines. */
bool looks_like_mail(const uint8_t *data, uint64_t size);

/*
 * utf16_to_utf8() - bytes that begin with an UTF-16 byte order mark, as UTF-8 (malloc'd); NULL
 * where there is none.
 */
char *utf16_to_utf8(const uint8_t *data, uint64_t size, uint64_t *len);

#endif
