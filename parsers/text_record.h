/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_record.h - one recording out of text lines: its stream, opened at the first event, what may
 * come before it, task names as the lines tell them, losses, and citations by line.
 */
#ifndef KM_TEXT_RECORD_H
#define KM_TEXT_RECORD_H

#include "parser.h"
#include "trace_fields.h"

#define TEXT_TASK_SLOTS		8192
#define TEXT_PENDING_LOSSES	64
#define TEXT_MAX_RECORDINGS	64	/* in one member */

struct text_record_line;

struct text_record {
	struct parse_ctx	*ctx;
	struct stream		*s;		/* NULL before the first event */
	struct text_events	*te;
	struct source_desc	desc;		/* strings not owned */
	const struct stream_ops	*ops;
	struct error		*err;		/* the first; lines are then only counted */
	uint64_t		last_time, last_pos;
	unsigned int		serial;		/* recordings before this one in the member */
	char			*path;
	struct {
		uint64_t	events, pos;
		uint16_t	cpu;
	} losses[TEXT_PENDING_LOSSES];
	size_t			n_losses;
	struct text_task {
		uint64_t	comm[2];
		int32_t		tid, tgid;	/* tid -1: free */
	}			*tasks;		/* direct-mapped by tid */
	struct text_record_line *lines; /* embedded mode: the lines as rejoined, for citing */
	size_t			n_lines, cap_lines;
	struct text_mark {
		uint64_t	pos, no;
	}			*marks;		/* line number of every 1024th event's line */
	size_t			n_marks, cap_marks;
	unsigned int		since_mark;
	/* what could not be read */
	uint64_t		bad_fields, first_bad_field;
	char			bad_name[48];	/* event of the first */
};

/*
 * text_record_init() - a recording of ctx->m; nothing is opened yet. @format is the source's. @ops
 * may be text_record_ops.
 */
void text_record_init(struct text_record *r, struct parse_ctx *ctx, const char *format,
		      const struct stream_ops *ops);

/* text_record_open() - open the stream by r->desc unless it is; false after an error (r->err). */
bool text_record_open(struct text_record *r);

/*
 * text_record_event() - the slot of the next event with its common part filled, losses and the
 * line's task name pushed before it. @comm NULL: unknown. The caller fills the rest and calls
 * stream_push(r->s). The stream must be open.
 */
struct event *text_record_event(struct text_record *r, const struct line *ln, uint64_t time,
				uint16_t cpu, int32_t tid, uint8_t flags);
/*
 * text_record_task() - tell the engine the name (and group) of @tid when it is new; before
 * text_record_event().
 */
void text_record_task(struct text_record *r, const struct line *ln, uint64_t time, int32_t tid,
		      int32_t tgid, const char *comm, size_t len);
/* text_record_lost() - events (0: unknown number) were lost before the next event. */
void text_record_lost(struct text_record *r, const struct line *ln, uint16_t cpu, uint64_t events);
/* text_record_bad_field() - count events whose text could not be read; one remark at the end. */
void text_record_bad_field(struct text_record *r, const struct line *ln, uint16_t ev);
/*
 * text_record_close() - close the stream, make the remarks, free all; r can be initialised again.
 * Returns r->err or the stream's.
 */
struct error *text_record_close(struct text_record *r);

/*
 * text_record_restarts() - a header came: must this recording be closed and another begun? False
 * also, with a remark, when the member has had too many.
 */
bool text_record_restarts(struct text_record *r);

/*
 * text_record_text() - the line at @pos (as rejoined in embedded mode, else in the member); NULL
 * when there is none.
 */
const char *text_record_text(const struct text_record *r, uint64_t pos, size_t *len);
/* For struct stream_ops of text forms; priv is the struct text_record. */
char *text_record_cite(void *priv, const struct event *ev);
void text_record_lines_of(void *priv, const uint64_t *pos, uint64_t *line, size_t n);

#endif
