/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parser.h - what an input format is: one file in parsers/ exporting one `const struct parser`.
 *
 * Three kinds. A BINARY parser gets a whole member. A LINES parser is fed lines: all lines of a
 * member that its sniff() won, or, with `embed` set, also single lines found inside mails, bug
 * comments and concatenated dumps (see textfeed.h: quoting and indentation removed, wrapped lines
 * rejoined). A VALUE parser gets a small member recognised by the tail of its path (sysctl, sysfs
 * file, module parameter) or one such section of a concatenated dump ("== path", "==> path <==").
 */
#ifndef KM_PARSER_H
#define KM_PARSER_H

#include "bundle.h"
#include "casefile.h"
#include "stream.h"
#include "tree.h"

enum parser_kind { PARSER_BINARY, PARSER_LINES, PARSER_VALUE };

struct line {
	const char	*s;		/* not NUL-terminated; no line end, no CR */
	size_t		len;
	uint64_t	off;		/* byte offset in the member of the (first) physical line */
	uint64_t	no;		/* line number from 1 of the (first) physical line */
	bool		rejoined;	/* more than one physical line */
};

enum line_result {
	LINE_NOT_MINE, /* not of this format: in a member of this format it is counted as not
			  understood */
	LINE_TAKEN,    /* evidence was taken from it */
	LINE_SKIPPED,  /* of this format, but says nothing (header, comment, blank) */
};

/* Sources that the pasted files of one mixed text share, by format. */
struct shared_sources {
	size_t		n;
	struct { const char *format; int64_t id; } of[8];
};

struct parse_ctx {
	struct case_db		*db;
	struct member		*m;
	bool embedded;	  /* lines come out of prose: be strict, take only the unmistakable */
	const char *side; /* host | guest | unknown (by path hints such as guest/, or the log's own
			     words) */
	const char
		*snapshot; /* label from the member's name (before, after, mid, 2 ...), or NULL */
	const struct consumer
		*consumer; /* for stream_open(); made new for each stream by make_consumer() */
	struct error *(*open_stream)(
		struct parse_ctx *ctx, struct stream **ret, const struct source_desc *desc,
		const struct stream_ops *ops,
		void *ops_priv); /* stream_open() with the command's consumer */
	void			*open_arg;
	struct strtab
		*messages; /* distinct remarks; at most 256; joined into the member's message */
	bool			partly;		/* set when part of the member could not be read */
	bool ignored;		 /* set when the form is known and nothing of it is used */
	const struct tree *tree; /* the recording's members, of which m is the head; else NULL */
	const struct parser	*parser;	/* the one at work */
	struct shared_sources *shared; /* in a section of a mixed text: ctx_source() of VALUE
					  parsers gives one source per format */
	uint64_t base_line; /* lines before this part of the member (a section of a mixed text);
			       added by ctx_cite_at() */
};

struct sniff {
	const char	*name;		/* member's name (see bundle.h) */
	const uint8_t	*head;		/* first bytes, at most 64 KiB */
	size_t		len;
	uint64_t	size;		/* of the whole member */
};

struct parser {
	const char		*name;		/* as in members[].format: "perf.data", "ftrace", "dmesg" ... */
	enum parser_kind	kind;
	int priority; /* among LINES parsers in a mixed text: lower is asked first */
	bool			embed;		/* LINES: may be offered lines of mixed text */
	/* sniff() - 0: not this; 100: certain (magic). Reads only what it is given. NULL: never by
	 * content (VALUE by path only). */
	int (*sniff)(const struct sniff *s);
	/*
	 * claim() - BINARY, optional: whether @s is part of a recording that lies in several
	 * members (tree.h), and the length of what their names have in common (*@root: up to and
	 * with a '/', or 0).
	 */
	enum tree_role (*claim)(const struct sniff *s, size_t *root);
	const char *orphan; /* why parts can't be read whose head isn't there; NULL: they are looked
			       at singly */
	/* BINARY and VALUE */
	struct error *(*parse)(struct parse_ctx *ctx);
	/*
	 * LINES: begin() makes the state before the first line that may be of this format; end() is
	 * called once, also after an error, and frees it. In a mixed text most states never take a
	 * line: make sources and streams at the first taken line, not in begin() (sources of a
	 * state that took nothing are deleted again).
	 */
	struct error *(*begin)(struct parse_ctx *ctx, void **state);
	enum line_result (*line)(struct parse_ctx *ctx, void *state, const struct line *ln);
	struct error *(*end)(struct parse_ctx *ctx, void *state);
	/*
	 * wants_more() - LINES, optional: @s is the certain beginning of a record of this format
	 * that a mailer cut (ping's
	 * "... icmp_seq=47 ttl=64" without its time): the next line of the same quoting depth is
	 * then appended with one blank and the whole offered, marked as rejoined; if nobody takes
	 * it, the lines are offered singly.
	 */
	bool (*wants_more)(const char *s, size_t len);
};

SET_DECLARE(parsers, struct parser);

/* recognise() - the parser whose sniff() is surest of these bytes under this name; NULL when none
 * is. LINES parsers only by @size > 0. */
const struct parser *recognise(const char *name, const uint8_t *data, uint64_t size);
/* parser_run() - let @p read ctx->m whole, as its kind needs. */
struct error *parser_run(struct parse_ctx *ctx, const struct parser *p);

/* parse_remark() - note what is wrong with the member (once per text); the member becomes `partly`
 * read when @partly. */
void parse_remark(struct parse_ctx *ctx, bool partly, const char *fmt, ...) __printf_like(3, 4);
/* ctx_source() - case_source() for this member with its path, side; cite helpers below use it. */
struct error *ctx_source(struct parse_ctx *ctx, int64_t *source_id, const char *format);
/* ctx_cite() - cite a line of this member. */
int64_t ctx_cite(struct parse_ctx *ctx, const struct line *ln, int64_t time_ns);
/* ctx_cite_at() - cite a byte range of a binary or value member. */
int64_t ctx_cite_at(struct parse_ctx *ctx, uint64_t off, const char *text, size_t len);

#endif
