/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - one ftrace recording in the kernel's binary pages, whatever carried them (trace.dat,
 * copies of trace_pipe_raw); shared by its carriers and private to ring_*.c.
 *
 *   ring_meta.c    header_page, event formats, kallsyms, printk formats, saved command lines
 *   ring_bytes.c   where each CPU's pages lie; compressed chunks
 *   ring_pages.c   one CPU's pages, record by record
 *   ring_events.c  all CPUs merged by time, records to events
 *   ring_funcs.c   addresses of functions to names, call chains
 *   ring_stats.c   what the kernel counted of each CPU's buffer
 *   ring_view.c    records looked at again: citations, fields, stacks
 *
 * Format: include/linux/ring_buffer.h and kernel/trace/ring_buffer.c of the kernel. A page is a
 * time stamp, a commit field (length of the data; bits 30 and 31: events were lost before it),
 * and records: a word of type_len (5 bits) and time_delta (27 bits, ns since the record before),
 * then the payload, which begins with common_type. Own code walks it, as libtraceevent's reads
 * past pages whose commit field lies: every length is checked against the page and the file.
 *
 * What absence proves. A recorder writes the formats of the events it was asked for, or of all
 * there are (`extract`, `-e all`); switched off again (-v), filtered (-f) or bound to another
 * instance, an event has its format in the file all the same, and no option records the command
 * line. So a format does not prove that its event could have been recorded: events that occurred
 * are `seen`, all others are not in the coverage at all, and absence in a trace.dat never rules
 * anything out.
 */
#ifndef KM_RING_H
#define KM_RING_H

#include <pthread.h>

#include "parser.h"
#include "tp_format.h"

#define RING_MAX_CPUS		16384
#define RING_MAX_PAGE		(1u << 22)	/* a sub-buffer (buffer_subbuf_size_kb) */
#define RING_MAX_CHUNK		(16u << 20)	/* of compressed pages */
#define RING_MAX_CHUNKS		(1u << 22)
#define RING_MAX_WINDOWS	(512u << 20)	/* chunks of all CPUs decompressed at a time */
#define RING_MAX_RATIO		1000		/* unpacked to packed, beyond the first GiB */
#define RING_RATIO_FLOOR	(1ull << 30)
#define RING_MAX_TIME		((uint64_t)INT64_MAX / 2)
#define RING_MAX_META		(256u << 20)	/* one part of the metadata, decompressed */

enum ring_packing { RING_PLAIN, RING_ZLIB, RING_ZSTD };

/* A cursor over untrusted bytes: reading past the end sets `bad` and gives zeros. */
struct ring_buf {
	const uint8_t	*p, *end;
	bool		swap, bad;
};

static inline const uint8_t *ring_bytes(struct ring_buf *b, uint64_t n)
{
	const uint8_t *p = b->p;

	if (n > (uint64_t)(b->end - b->p)) {
		b->bad = true;
		b->p = b->end;
		return NULL;
	}
	b->p += n;
	return p;
}

static inline uint16_t ring_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t ring_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t ring_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint16_t ring_u16(struct ring_buf *b)
{
	const uint8_t *p = ring_bytes(b, 2);

	return p ? ring_load16(p, b->swap) : 0;
}

static inline uint32_t ring_u32(struct ring_buf *b)
{
	const uint8_t *p = ring_bytes(b, 4);

	return p ? ring_load32(p, b->swap) : 0;
}

static inline uint64_t ring_u64(struct ring_buf *b)
{
	const uint8_t *p = ring_bytes(b, 8);

	return p ? ring_load64(p, b->swap) : 0;
}

/* ring_string() - text up to a NUL inside the buffer, or NULL. */
static inline const char *ring_string(struct ring_buf *b)
{
	const uint8_t *nul = memchr(b->p, '\0', (size_t)(b->end - b->p));
	const char *s = (const char *)b->p;

	if (!nul) {
		b->bad = true;
		b->p = b->end;
		return NULL;
	}
	b->p = nul + 1;
	return s;
}

/* What the walk does with a record besides counting it. */
enum ring_special { RING_EVENT, RING_STACK, RING_FUNCTION, RING_CALL, RING_RETURN };

/* One event id. */
struct ring_type {
	struct tp_format *format;	/* NULL: the file lacks it */
	struct tp_decoder *dec;		/* of the stream in hand; NULL: only counted */
	const struct tp_field *func, *depth, *calltime, *rettime;
	uint16_t	ev;
	uint8_t		special;	/* enum ring_special */
	bool		bound;		/* to the stream in hand */
	bool		quick;		/* bound, and nothing to do but to decode it */
};

/* Text that belongs to the file or was decompressed out of it. */
struct ring_text {
	const char	*s;
	uint64_t	len;
	char		*owned;
};

struct ring_symbol {
	uint64_t	addr;
	const char	*name;		/* in the kallsyms text */
	uint32_t	len;
};

struct ring_comm {
	int32_t		tid, tgid;	/* tgid -1 unknown */
	char		comm[16];
};

/* A stretch of pages: a CPU's whole part of the file, or one compressed chunk of it. */
struct ring_chunk {
	uint64_t	pos;		/* of its first byte, as events' positions count */
	uint64_t	size;		/* of its pages */
	const uint8_t	*data;
	uint64_t	packed;		/* bytes at data; 0: the pages themselves */
};

/* One CPU and how far it has been read. */
struct ring_cpu {
	uint32_t	cpu;
	uint32_t	n_chunks;
	size_t		first, chunk;	/* in ring.chunks */
	const uint8_t	*bytes;		/* of the chunk in hand */
	uint64_t	n_bytes;
	uint8_t		*window;	/* where it was decompressed to */
	uint64_t	page;		/* the page in hand: its offset in bytes */
	uint64_t	page_pos;	/* and its position */
	uint32_t	at, end;	/* in the page: the next record, behind the last */
	uint64_t	stamp;		/* the last record's time as recorded */
	/* The record in hand. */
	uint64_t	time;		/* ns on the stream's clock */
	uint64_t	pos;
	const uint8_t	*rec;
	uint32_t	len;
	bool		lost;		/* events are missing before it */
	uint64_t	n_lost, lost_pos;	/* how many (0 unknown), where */
	uint64_t	sum_lost;	/* of all the CPU's pages */
};

/* Corrections of a guest's time stamps to its host's (option TIME_SHIFT), by CPU. */
struct ring_shift {
	struct ring_shift_at {
		uint64_t	time;
		int64_t		offset;
		uint64_t	scaling;
		uint32_t	fraction;
	}		*at;
	uint32_t	n;
};

#define RING_VIEW_CHUNKS	4
#define RING_FUNC_SLOTS		4096

struct ring {
	struct parse_ctx *ctx;
	/* the recording's form */
	bool		swap, big_endian;
	bool		plain;		/* this machine's byte order, times only to be moved */
	uint8_t		long_size;	/* of the kernel */
	uint32_t	page_size;
	uint16_t	stamp_at, commit_at, data_at;
	uint16_t	type_at, pid_at;	/* common_type, common_pid in a record */
	uint8_t		type_size;
	enum ring_packing packing;
	/* metadata */
	struct ring_type **types;	/* by id; 65536 slots */
	uint16_t	*ids;		/* of those that are there, in the order they came */
	size_t		n_ids, cap_ids, n_formats;
	uint64_t	bad_formats;
	struct ring_text kallsyms, printk;
	struct ring_comm *comms;	/* sorted by tid */
	size_t		n_comms, cap_comms;
	char		*stats;		/* per_cpu/cpuN/stats of all CPUs and instances */
	size_t		n_stats;
	/* pages */
	struct ring_chunk *chunks;
	size_t		n_chunks, cap_chunks;
	uint32_t	*by_pos;	/* indexes of chunks, ascending by pos */
	struct ring_cpu	*cpus;
	size_t		n_cpus, cap_cpus;
	uint64_t	next_pos;	/* for compressed chunks */
	uint64_t	taken, room;	/* bytes of pages, and how many there can be at most */
	uint64_t	packed, unpacked;
	bool		overlap, bomb;	/* said */
	/* times */
	int64_t		offset_ns;	/* added to every time */
	uint32_t	mult, shift;	/* TSC to ns; mult 0: none */
	struct ring_shift *shifts;	/* by CPU */
	uint32_t	n_shifts;
	bool		interpolate;
	/* stream */
	struct stream	*s;
	uint32_t	*heap;
	size_t		heap_n;
	uint8_t		*scratch;	/* a record of the other byte order */
	struct ring_symbol *symbols;	/* sorted; made at the first function */
	size_t		n_symbols, cap_symbols;
	bool		symbols_read;
	struct { uint64_t ip; uint32_t name; bool used; } funcs[RING_FUNC_SLOTS];
	/* sums */
	uint64_t	unknown_ids, short_records, bad_times;
	uint64_t	bad_pages, bad_page_pos, bad_chunks, cut_pages;
	/* views */
	pthread_mutex_t	lock;
	struct text_out	cite;
	struct {
		uint8_t		*bytes;
		uint64_t	used;
		uint32_t	chunk;
		bool		full;
	}		views[RING_VIEW_CHUNKS];	/* chunks unpacked again */
	uint64_t	clock;
	struct render	*render;
	bool		render_failed;
};

void ring_init(struct ring *r, struct parse_ctx *ctx);
void ring_deinit(struct ring *r);

/* ring_meta.c */
/*
 * ring_header_page() - where time stamp, commit field and data lie; false when it makes no sense.
 */
bool ring_header_page(struct ring *r, const char *text, size_t len);
/* ring_add_type() - make the slot of @id, which must be free. */
struct ring_type *ring_add_type(struct ring *r, uint16_t id);
/* ring_add_format() - one format file; what isn't understood is counted in bad_formats. */
void ring_add_format(struct ring *r, const char *system, const char *text, size_t len);
/* ring_add_cmdlines() - "TID COMM" lines; ring_add_tgids() - "TID TGID" lines, after them. */
void ring_add_cmdlines(struct ring *r, const char *text, size_t len);
void ring_add_tgids(struct ring *r, const char *text, size_t len);
/* ring_comm_of() - the name saved for @tid; "<...>" where there is none. */
const char *ring_comm_of(const struct ring *r, int32_t tid);
/* ring_has_system() - does any format belong to @system? */
bool ring_has_system(const struct ring *r, const char *system);
/*
 * ring_printk_format() - the text at address @at in the file's printk_formats; NULL when unknown.
 */
const char *ring_printk_format(const struct ring *r, uint64_t at, size_t *len);

/* ring_clock() - our name of the clock that ftrace calls @clock (NULL: unknown). */
const char *ring_clock(const char *clock);
/* ring_chosen_clock() - the one in brackets in a trace_clock file; malloc'd, NULL when none is. */
char *ring_chosen_clock(const char *text, size_t len);

/* ring_stats.c */
/* ring_add_stats() - text of a CPU's stats file, with a line "CPU: N" before it. */
void ring_add_stats(struct ring *r, const char *text, size_t len);
/*
 * ring_losses() - rows of what an instance's statistics say is missing; after ring_run().
 * @recorded: they were taken when the recorder had emptied the buffer.
 */
struct error *ring_losses(struct ring *r, const char *instance, bool recorded, int64_t source_id);

/* ring_bytes.c */
/* ring_unpack() - decompress exactly @size bytes; false when the data is damaged or gives other. */
bool ring_unpack(enum ring_packing how, const uint8_t *p, size_t packed, uint8_t *out, size_t size);
/*
 * ring_add_pages() - @cpu's pages as they are: @size bytes at @data, position @pos of the first.
 * CPUs do not share pages, so all together are never more than the member (r->room).
 */
void ring_add_pages(struct ring *r, uint32_t cpu, const uint8_t *data, uint64_t size, uint64_t pos);
/*
 * ring_add_packed() - @cpu's pages in compressed chunks: a count, and for each its packed and its
 * unpacked size and its bytes. Returns false when the bytes end too early: what there is, is taken.
 * *@used counts the bytes.
 */
bool ring_add_packed(struct ring *r, uint32_t cpu, const uint8_t *data, uint64_t size,
		     uint64_t *used);
/* ring_clear_pages() - forget all pages: the next instance comes. */
void ring_clear_pages(struct ring *r);
/* ring_index_pages() - after the last page was added. */
void ring_index_pages(struct ring *r);
/* ring_load_chunk() - the pages of the CPU's chunk in hand; false when they can't be had. */
bool ring_load_chunk(struct ring *r, struct ring_cpu *c);

/* ring_pages.c */
/* One record of a page. */
struct ring_record {
	const uint8_t	*payload;
	uint32_t	len, next;	/* next: offset in the page of the record after it */
	bool		is_event;
	uint64_t	delta;
	bool		absolute;	/* delta is a time stamp */
};
/* ring_record_at() - the record at @at of a page whose data ends at @end; false at a bad length. */
bool ring_record_at(const struct ring *r, const uint8_t *page, uint32_t at, uint32_t end,
		    struct ring_record *out);
/* ring_page_end() - end of the data in a page of which @avail bytes are there; 0 for a bad one. */
uint32_t ring_page_end(const struct ring *r, const uint8_t *page, uint64_t avail);
/* ring_next_any() - go to the CPU's next event; false at the end. */
bool ring_next_any(struct ring *r, struct ring_cpu *c);
/* ring_next() - the same; what most records are is told here. */
static inline bool ring_next(struct ring *r, struct ring_cpu *c)
{
	uint32_t word, len;
	const uint8_t *rec;

	if (unlikely(!r->plain || c->end < c->at + 8))
		return ring_next_any(r, c);
	rec = c->bytes + c->page + c->at;
	word = ring_load32(rec, false);
	len = (word & 31) * 4;
	if (unlikely(len < (uint32_t)r->pid_at + 4 || len > 28 * 4 || len > c->end - c->at - 4))
		return ring_next_any(r, c);
	c->stamp += word >> 5;
	c->time = c->stamp + (uint64_t)r->offset_ns;
	if (unlikely(c->time > RING_MAX_TIME)) {
		c->stamp -= word >> 5;
		return ring_next_any(r, c);
	}
	c->pos = c->page_pos + c->at;
	c->at += 4 + len;
	c->rec = rec + 4;
	c->len = len;
	return true;
}
/* ring_lost_before() - how many events the page header says are missing (0: unknown number). */
bool ring_lost_before(const struct ring *r, const uint8_t *page, uint64_t avail, uint64_t *n);

/* ring_events.c */
/*
 * ring_run() - all events of all CPUs into the stream r->s, and what could not be read as
 * remarks.
 */
void ring_run(struct ring *r);
/* ring_remarks() - after the last instance; @cut: that the recording ends early has been said. */
void ring_remarks(const struct ring *r, bool cut);

/* ring_funcs.c */
/* ring_func() - string id of the function at @ip. */
uint32_t ring_func(struct ring *r, uint64_t ip);
/* ring_frames() - addresses of a kernel_stack record, top first. */
size_t ring_frames(const struct ring *r, const struct tp_format *f, const uint8_t *rec, size_t len,
		   uint64_t *ips, size_t max);
void ring_bind_special(struct ring_type *t);

/* ring_view.c */
extern const struct stream_ops ring_ops;

#endif
