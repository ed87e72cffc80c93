/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.h - one recording's events on their way from a parser to the engine (or to `events`).
 *
 * The parser runs in the calling thread and pushes events in time order; they are packed into
 * batches that a consumer takes in its own thread, over a short bounded queue. The order, and so
 * every result, is the parser's and does not depend on timing.
 *
 * Ownership: the stream owns its event types, strings, reasons and stacks; the parser's `ops`
 * must stay valid until stream_close() returns.
 */
#ifndef KM_STREAM_H
#define KM_STREAM_H

#include "error.h"
#include "event.h"
#include "strtab.h"
#include "sym_maps.h"

struct case_db;
struct stream;

#define STREAM_BATCH		4096		/* events */
#define STREAM_MAX_TYPES	60000
/* The first string ids of each stream are functions that sleep until RCU's callback wakes them. */
#define STREAM_RCU_WAITS	4
#define STREAM_MAX_STRINGS	(1u << 20)
#define STREAM_MAX_STACKS	(1u << 20)
#define STREAM_STACK_BYTES	(128u << 20)	/* of all interned stacks; more are left out */
#define STACK_MAX_FRAMES	256

/* coverage.known / .complete / .scope of design §5 */
enum cov_known { COV_UNKNOWN, COV_SEEN, COV_LISTED };
enum cov_complete { COV_ALL, COV_SAMPLED, COV_FILTERED, COV_LOSSY };
enum cov_scope { COV_SYSTEM, COV_TASKS, COV_CPUS };

struct event_type {
	char		*name;		/* as the reference tool counts it: "kvm:kvm_exit", "cpu-clock", or "kvm_exit" where no system is known */
	enum event_kind	kind;
	uint32_t	func;		/* probes: function's string id, else STRTAB_NONE */
	enum cov_known	known;
	enum cov_complete complete;
	enum cov_scope	scope;
	uint64_t	count;		/* events pushed (after --time) */
};

struct exit_reason {
	uint32_t	name;		/* string id */
	enum exit_class	class;
};

enum field_type { FIELD_INT, FIELD_UINT, FIELD_HEX, FIELD_STR, FIELD_ARRAY };
struct field_value {
	enum field_type	type;
	int64_t		i;
	uint64_t	u;
	const char *s; /* FIELD_STR: @len bytes, not necessarily NUL-terminated; FIELD_ARRAY: @len
			  bytes of integers, @u bytes each, signed when @i */
	size_t		len;
};

/* What the parser can tell about a record later, by its position. All may be NULL. */
struct stream_ops {
	/*
	 * cite_text() - the record at @pos as one line of text for a citation (the line itself for
	 * text forms, `comm-tid [cpu] time: event: fields` for binary ones). Called after the last
	 * push, in the parser's thread. Returns a malloc'd string or NULL.
	 */
	char *(*cite_text)(void *priv, const struct event *ev);
	/*
	 * place() - member and byte offset of the record at @pos, where records come out of other
	 * members or were unpacked; false: not known. Absent: the offset is @pos and the member the
	 * source's.
	 */
	bool (*place)(void *priv, uint64_t pos, int64_t *member_id, uint64_t *offset);
	/* fields() - call @emit for each field of the event, in format order; kernel names, raw
	 * values. */
	void (*fields)(void *priv, const struct event *ev,
		       void (*emit)(void *arg, const char *name, const struct field_value *v),
		       void *arg);
	/* stack() - call chain of the record, top first; returns number of frames put into @ips (at
	 * most @max). Thread-safe against push. */
	size_t (*stack)(void *priv, const struct event *ev, uint64_t *ips, size_t max);
	/*
	 * render() - the fields of @n events as the kernel's print format puts them, into @texts
	 * (malloc'd; NULL where that can't be done). May start a helper process; for printing only.
	 */
	void (*render)(void *priv, const struct event *const *evs, size_t n, char **texts);
	/* line_of() - line number (from 1) for text forms; absent for binary ones: cites then carry
	 * the offset. */
	void (*lines_of)(void *priv, const uint64_t *pos, uint64_t *line,
			 size_t n); /* @pos ascending */
};

/* What is known about the recording as a whole; strings are copied. NULL/0/-1: unknown. */
struct source_desc {
	int64_t		member_id;
	const char	*format;	/* parser's name: "perf.data", "ftrace", "trace-cmd report", "function_graph" ... */
	const char	*path;		/* member path (with "#instance" where there are several) */
	const char	*kernel;	/* uname -r */
	const char	*arch;
	const char	*host;
	const char	*command;
	int		cpus;
	const char	*clock;		/* sched | mono | boot | wall | tsc | local | unknown ... */
	int64_t clock_offset_ns; /* added to a time of the source it gives wall-clock time; where
				    CLOCK_DATA or the like says so */
	int64_t		clock_uncertainty_ns;
	bool		has_clock_offset;
	uint32_t time_resolution_ns; /* 1 for binary, 1000 for text with microseconds, 1e9 for
					stamps in seconds */
	bool		wakings_recorded;	/* set by the stream from its event types */
	const char	*side;		/* host | guest | unknown (NULL) */
};

struct batch {
	uint32_t	n;
	struct event	ev[STREAM_BATCH];
};

struct consumer {
	/* All run in the consumer thread except end(), which runs in the parser's thread after it
	 * has been joined. */
	bool sync; /* batch() runs in the parser's thread: it may read the stream's tables and call
		      its ops */
	struct error *(*begin)(void *priv,
			       struct stream *s); /* parser's thread, before the first batch */
	/* before() - parser's thread, before batch() gets the same events: a share of the work that
	 * needs nothing but the events themselves. May be NULL. */
	void (*before)(void *priv, struct stream *s, const struct batch *b);
	void (*batch)(void *priv, struct stream *s, const struct batch *b);
	struct error *(*end)(void *priv, struct stream *s);	/* write rows to the case file */
};

struct stream_time {
	bool set;
	uint64_t from_ns, to_ns;
	bool from_rel, to_rel;
	bool has_from, has_to;
};

struct stream {
	int64_t			source_id;
	struct source_desc	desc;		/* strings owned by the stream */
	struct case_db		*db;
	struct strtab		strings;
	struct event_type	*types;
	size_t			n_types, cap_types;
	struct exit_reason	*reasons;
	size_t			n_reasons, cap_reasons;
	const struct stream_ops	*ops;
	void			*ops_priv;
	const struct consumer	*consumer;
	void			*consumer_priv;
	uint64_t first_ns, last_ns; /* over pushed events that are not pseudo; 0,0 when none */
	uint64_t		n_events;		/* counted events */
	uint64_t		n_lost;			/* sum of EV_LOST.a[0] */
	uint64_t n_unordered; /* events that came earlier than one before them; they keep their time
			       */
	struct stream_time	window;			/* --time */
	struct strtab		stacks;			/* interned; see stream_stack_id() */
	int64_t *stack_rows; /* rows of table stack by stack id; 0 not written */
	struct batch		*cur;			/* being filled */
	struct stream_priv	*priv;			/* queue, thread */
};

/*
 * stream_open() - make the `source` row, take what @desc says, start the consumer's thread.
 * @consumer may be NULL (counts only). The caller pushes from one thread only.
 */
struct error *stream_open(struct stream **ret, struct case_db *db, const struct source_desc *desc,
			  const struct stream_ops *ops, void *ops_priv,
			  const struct consumer *consumer, void *consumer_priv);

/*
 * stream_event_type() - declare an event type; returns its index. @system may be NULL. The
 * catalogue (events.def) and the probe naming rules (p_FUNC_0, FUNC, r_FUNC_0, FUNC__return ...)
 * decide its kind, unless
 * @kind is not EV_OTHER. Same (system, name) gives the same index. EVENT_TYPE_NONE when there are
 * too many.
 */
uint16_t stream_event_type(struct stream *s, const char *system, const char *name,
			   enum event_kind kind, enum cov_known known, enum cov_complete complete,
			   enum cov_scope scope);

/*
 * stream_probe_kind() - function (a string id) and direction of a probe event by the names tools
 * give: p_FUNC_0, r_FUNC_0, FUNC, FUNC_1, FUNC__return.
 */
enum event_kind stream_probe_kind(struct stream *s, const char *name, uint32_t *func);

/*
 * stream_reason() - EXIT_PACK(index, class) of the exit reason called @name (class from
 * exit_class_of()). Thread rule: strings, reasons, stacks and types grow in the parser's thread; a
 * consumer reads them only in end().
 */
uint32_t stream_reason(struct stream *s, const char *name, size_t len);
static inline const char *stream_reason_name(const struct stream *s, uint32_t packed)
{
	uint32_t idx = EXIT_REASON_IDX(packed);

	return idx < s->n_reasons ? strtab_str(&s->strings, s->reasons[idx].name) : "?";
}

/*
 * stream_stack_id() - intern a stack of @n frames, each an address, or a mark that says whose
 * addresses follow (sym_maps.h); @space is whose the user's are (SYM_SPACE_NONE: not known).
 * stream_stack_text_id() - frames as text, newline separated, top first. Addresses become names
 * when all members have been read (symbols.h).
 */
uint32_t stream_stack_id(struct stream *s, const uint64_t *ips, size_t n, uint32_t space);
uint32_t stream_stack_text_id(struct stream *s, const char *frames, size_t len);
/* stream_stack_frames() - frames as text (addresses in hex or names), newline separated, top first;
 * malloc'd. */
char *stream_stack_frames(const struct stream *s, uint32_t id);

/* stream_stack_row() - id of the stack's row in table stack, written at the first call; 0 for
 * EVENT_U32_NONE. Only in end(). */
int64_t stream_stack_row(struct stream *s, uint32_t id);

/* stream_cite() - a citation of @ev's record: its place and its text; 0 on failure. Only after the
 * last push. */
int64_t stream_cite(struct stream *s, const struct event *ev);
/* stream_set() - replace one of s->desc's strings (which the stream owns) by a copy of @value. */
void stream_set(const char **field, const char *value);

/* stream_next() - the slot for the next event; fill all of it, then stream_push(). */
void stream_next_batch(struct stream *s);
static inline struct event *stream_next(struct stream *s)
{
	if (unlikely(s->cur->n == STREAM_BATCH))
		stream_next_batch(s);
	return &s->cur->ev[s->cur->n];
}

/* stream_push_other() - what stream_push() does for all but an event in its turn. */
void stream_push_other(struct stream *s);
static inline void stream_push(struct stream *s)
{
	const struct event *ev = &s->cur->ev[s->cur->n];

	if (unlikely(ev->ev == EVENT_TYPE_NONE || ev->time < s->last_ns || !s->n_events ||
		     s->window.set)) {
		stream_push_other(s);
		return;
	}
	s->cur->n++;
	s->types[ev->ev].count++;
	s->n_events++;
	s->last_ns = ev->time;
}

/* stream_interrupted() - SIGINT has come: the parser stops reading and closes normally.
 * stream_interrupt() is the signal handler's part. */
bool stream_interrupted(void);
void stream_interrupt(void);

/*
 * stream_close() - hand over the last batch, join the consumer, let it write its rows, write
 * `event_count`, `coverage`, `loss` and the source's totals. Frees the stream. Parsers call it
 * while their ops and the member's bytes are still valid.
 */
struct error *stream_close(struct stream *s);

#endif
