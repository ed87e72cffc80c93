/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_file.h - one perf.data being read; shared by perf_*.c and private to them.
 *
 *   perf_header.c    file header, attributes and ids, where each part of a sample lies
 *   perf_features.c  feature sections: facts about the host and the recording
 *   perf_tracing.c   the embedded tracepoint formats
 *   perf_order.c     windows of runs, merged by time
 *   perf_records.c   records to events
 *   perf_tasks.c     comms and thread groups from the recorder's own records
 *   perf_view.c      records looked at again: citations, fields, stacks
 *   perf_pipe.c      pipe mode: descriptions that come as records
 *   perf_flat.c      records unpacked (zstd, other byte order) into one plain stream
 *   perf_symbols.c   call chains, and what names their addresses
 *   perf_swap.c      a record of the other byte order
 *   perf_data.c      the parser: puts these together
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h
 * of the kernel. All handlers take byte ranges, so that other carriers of the same records (pipe
 * mode, directory mode, compressed records) can use them.
 */
#ifndef KM_PERF_FILE_H
#define KM_PERF_FILE_H

#include "parser.h"
#include "spool.h"
#include "sym_maps.h"
#include "tp_format.h"

#define PERF_MAX_ATTRS		4096
#define PERF_MAX_IDS		(1u << 20)
#define PERF_MAX_FACTS		8192
#define PERF_MAX_FORMATS	60000
#define PERF_MAX_FEATURE	256
#define PERF_MAX_NODES		1024
#define PERF_MAX_TIME		((uint64_t)INT64_MAX / 2)	/* 146 years: later is damage */
#define PERF_NONE		0xffff		/* a part that a layout lacks */

enum perf_record {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_THROTTLE = 5,
	PERF_UNTHROTTLE = 6,
	PERF_FORK = 7,
	PERF_READ = 8,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_AUX = 11,
	PERF_ITRACE_START = 12,
	PERF_LOST_SAMPLES = 13,
	PERF_KSYMBOL = 17,
	PERF_KERNEL_MAX = 64,	/* below: by the kernel, with a sample_id if sample_id_all */
	PERF_ATTR = 64,
	PERF_EVENT_TYPE = 65,
	PERF_TRACING_DATA = 66,
	PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_ID_INDEX = 69,
	PERF_AUXTRACE_INFO = 70,
	PERF_AUXTRACE = 71,
	PERF_AUXTRACE_ERROR = 72,
	PERF_THREAD_MAP = 73,
	PERF_CPU_MAP = 74,
	PERF_STAT_CONFIG = 75,
	PERF_EVENT_UPDATE = 78,
	PERF_TIME_CONV = 79,
	PERF_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_FINISHED_INIT = 82, PERF_COMPRESSED2 = 83,
	PERF_RECORD_MAX = 128	/* anything from here on is taken for damage */
};

enum perf_sample_bit {
	PS_IP = 1 << 0,
	PS_TID = 1 << 1,
	PS_TIME = 1 << 2,
	PS_ADDR = 1 << 3,
	PS_READ = 1 << 4,
	PS_CALLCHAIN = 1 << 5,
	PS_ID = 1 << 6,
	PS_CPU = 1 << 7,
	PS_PERIOD = 1 << 8,
	PS_STREAM_ID = 1 << 9,
	PS_RAW = 1 << 10,
	PS_BRANCH_STACK = 1 << 11,
	PS_REGS_USER = 1 << 12,
	PS_STACK_USER = 1 << 13,
	PS_WEIGHT = 1 << 14,
	PS_DATA_SRC = 1 << 15,
	PS_IDENTIFIER = 1 << 16,
	PS_TRANSACTION = 1 << 17,
	PS_REGS_INTR = 1 << 18,
	PS_PHYS_ADDR = 1 << 19,
	PS_AUX = 1 << 20,
	PS_CGROUP = 1 << 21,
	PS_DATA_PAGE_SIZE = 1 << 22, PS_CODE_PAGE_SIZE = 1 << 23, PS_WEIGHT_STRUCT = 1 << 24
};

enum perf_read_bit { PR_ENABLED = 1, PR_RUNNING = 2, PR_ID = 4, PR_GROUP = 8, PR_LOST = 16 };

enum perf_type { PT_HARDWARE, PT_SOFTWARE, PT_TRACEPOINT, PT_HW_CACHE, PT_RAW, PT_BREAKPOINT };

enum perf_attr_flag {
	PA_INHERIT = 1u << 1,
	PA_EXCLUDE_USER = 1u << 4,
	PA_EXCLUDE_KERNEL = 1u << 5,
	PA_FREQ = 1u << 10,
	PA_SAMPLE_ID_ALL = 1u << 18,
	PA_EXCLUDE_HOST = 1u << 19,
	PA_EXCLUDE_GUEST = 1u << 20,
	PA_USE_CLOCKID = 1u << 25
};

/* One event as it was opened, and where the parts of its samples lie. */
struct perf_attr {
	uint32_t	type;
	int32_t		clockid;
	uint64_t	config, period, sample_type, read_format, flags;
	uint64_t	branch_type, regs_user, regs_intr;
	char		*name;		/* of EVENT_DESC or the old event_types section, or NULL */
	uint64_t	n_ids;
	/* From the start of a sample's record (header included); PERF_NONE where absent. */
	uint16_t	ip, tid, time, addr, id, cpu, period_at;
	uint16_t	fixed;		/* end of the fixed parts: READ, CALLCHAIN ... follow */
	uint16_t	raw_size_at;	/* of RAW if nothing variable comes before; or PERF_NONE */
	/* From the end of a non-sample record, when sample_id_all; 0 where absent. */
	uint16_t	trailer, t_tid, t_time, t_id, t_cpu;
	/* What it is bound to. */
	const struct tp_format *format;
	struct tp_decoder *dec;
	uint16_t	ev;		/* index of the stream's event type */
	bool		bound;
	enum cov_complete complete;
};

struct perf_id {
	uint64_t	id;
	uint32_t	attr;		/* index + 1; 0: empty slot */
};

struct perf_section {
	uint64_t	off, size;
};

/* A stretch of records whose times do not go back. */
struct perf_run {
	uint64_t	pos, end;	/* file offsets: the next record, and behind the last */
	uint64_t	time;		/* of the record at pos */
};

struct perf_comm {
	int32_t		tid;
	uint32_t	comm;		/* id in comms */
	uint64_t	time, pos;
};

#define PERF_TASK_CACHE	4096

struct perf_fact {
	char		*key, *value;
};

struct render;

/* A file of records that belongs to the recording. */
struct perf_part {
	int64_t		id;		/* of its member */
	const uint8_t	*data;
	uint64_t	size;
	const char	*label;		/* "data.1: " for messages, or "" */
};

/* Where in the bundle a stretch of the unpacked records comes from. */
struct perf_place {
	uint64_t	pos, off;	/* in the unpacked stream; in its member */
	int64_t		member_id;
	bool		packed;		/* all of the stretch out of the one record at off */
};

struct perf_file {
	struct parse_ctx *ctx;
	struct text_out	cite;
	const uint8_t	*data;		/* the records; the member's own bytes unless unpacked */
	uint64_t	size;
	const uint8_t	*file;		/* the member */
	uint64_t	file_size;
	bool		swap;		/* the member is of the other byte order */
	bool		pipe;		/* descriptions come as records, no sections */
	uint64_t meta_end; /* pipe mode: descriptions before this offset have been taken */
	bool		packed;		/* feature COMPRESSED is set */
	bool		flat;		/* data is the unpacked stream in blob */
	struct spool	own_spool;	/* where the member has none */
	struct blob	blob;
	struct perf_place *places;	/* of the unpacked stream, ascending */
	size_t		n_places, cap_places;
	/* header */
	uint64_t	attr_size;
	struct perf_section attrs_sec, data_sec, types_sec;
	uint64_t	features[4];
	bool		killed;		/* the recorder never wrote the data's size */
	struct perf_attr *attrs;
	size_t		n_attrs, cap_attrs;
	struct perf_id	*ids;		/* open addressing */
	size_t		n_ids, ids_size;
	uint16_t	id_at;		/* in a sample; PERF_NONE: one attribute only */
	uint16_t	id_from_end;	/* in other records; 0: none */
	bool		sample_id_all;
	uint16_t	time_at;	/* of a sample's time when all agree; else PERF_NONE */
	bool		has_time;
	/* features */
	char		*host, *release, *perf_version, *arch, *cmdline, *cpu_desc;
	int		cpus_online, cpus_available;
	bool		has_clock_data;
	uint32_t	clock_data_id;
	uint64_t	clock_wall_ns, clock_mono_ns;
	struct perf_fact *facts;
	size_t		n_facts, cap_facts;
	uint64_t	dir_version;	/* of feature DIR_FORMAT; 0: events lie in this file */
	int		thread_map;	/* -1 not seen, 0 tasks, 1 the whole system */
	uint64_t	mapped_cpus;	/* distinct CPUs in ID_INDEX; 0 unknown */
	/* formats, sorted by id after perf_tracing_done() */
	struct tp_format **formats;
	size_t		n_formats, cap_formats;
	/* stream and order */
	struct stream	*s;
	struct perf_run	*runs;
	size_t		n_runs, cap_runs;
	bool		run_open;
	uint32_t	*heap;
	size_t		heap_n, cap_heap;
	uint64_t	max_time, next_flush, tail_time;
	bool		early_flush;
	/* tasks */
	struct { int32_t tid, pid; bool used; } seen[PERF_TASK_CACHE];
	struct strtab	comms;
	struct perf_comm *comm_hist;
	size_t		n_comms, cap_comms;
	struct perf_comm *comm_now;	/* open addressing by tid; time is unused */
	size_t		n_now, now_size;
	bool		comms_sorted;
	/* sums */
	uint64_t	lost, lost_samples, unknown_ids, unformatted, short_raw, compressed;
	uint64_t	bad_samples, bad_times, kernel_maps;
	uint64_t	damaged;	/* places */
	uint64_t	damaged_at;	/* the first one */
	uint64_t	damaged_bytes;	/* what could not be read */
	struct sym_maps	*maps;	/* see sym_maps.h */
	uint64_t	chains_left_out;
	struct render	*render;	/* see render.h; made when first asked for */
	bool		render_failed;
};

/* A cursor over untrusted bytes: reading past the end sets `bad` and gives zeros. */
struct perf_buf {
	const uint8_t	*p, *end;
	bool		bad;
	bool		swap;		/* numbers are of the other byte order */
};

static inline uint32_t buf_u32(struct perf_buf *b)
{
	uint32_t v = 0;

	if (b->end - b->p < 4) {
		b->bad = true;
		b->p = b->end;
		return 0;
	}
	memcpy(&v, b->p, sizeof(v));
	b->p += 4;
	return b->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t buf_u64(struct perf_buf *b)
{
	uint64_t v = 0;

	if (b->end - b->p < 8) {
		b->bad = true;
		b->p = b->end;
		return 0;
	}
	memcpy(&v, b->p, sizeof(v));
	b->p += 8;
	return b->swap ? __builtin_bswap64(v) : v;
}

/* buf_bytes() - the next @n bytes, or NULL. */
static inline const uint8_t *buf_bytes(struct perf_buf *b, uint64_t n)
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

/* buf_string() - text up to a NUL inside the buffer, or NULL. */
static inline const char *buf_string(struct perf_buf *b)
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

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint16_t load16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The same in the member's byte order. */
static inline uint64_t get64(const struct perf_file *pf, const uint8_t *p)
{
	return pf->swap ? __builtin_bswap64(load64(p)) : load64(p);
}

static inline uint32_t get32(const struct perf_file *pf, const uint8_t *p)
{
	return pf->swap ? __builtin_bswap32(load32(p)) : load32(p);
}

static inline uint16_t get16(const struct perf_file *pf, const uint8_t *p)
{
	return pf->swap ? __builtin_bswap16(load16(p)) : load16(p);
}

/* The 8 bytes that start every record. */
static inline uint32_t rec_type(const uint8_t *rec)
{
	return load32(rec);
}

static inline uint16_t rec_misc(const uint8_t *rec)
{
	return load16(rec + 4);
}

static inline uint16_t rec_size(const uint8_t *rec)
{
	return load16(rec + 6);
}

/* perf_header.c */
/* perf_read_header() - the file header, attributes and ids; in pipe mode the header only. */
struct error *perf_read_header(struct perf_file *pf);
/*
 * perf_add_attr() - add the attribute in the @len bytes at @p (a struct perf_event_attr of any
 * size); its index, or -1.
 */
int perf_add_attr(struct perf_file *pf, const uint8_t *p, size_t len);
/*
 * perf_parse_attr() - the same into @a, without layout; false when it is too short. @swap: of the
 * other byte order.
 */
bool perf_parse_attr(struct perf_attr *a, const uint8_t *p, size_t len, bool swap);
void perf_add_id(struct perf_file *pf, uint64_t id, size_t attr);
/*
 * perf_layout_done() - after the last attribute: where ids and times lie when a record's
 * attribute isn't known yet.
 */
void perf_layout_done(struct perf_file *pf);
/* perf_attr_by_id() - the attribute with @id; NULL when there is none. */
struct perf_attr *perf_attr_by_id(const struct perf_file *pf, uint64_t id);
/*
 * perf_attr_of() - the attribute of a record of @size bytes at @rec; NULL when its id is
 * unknown.
 */
struct perf_attr *perf_attr_of(const struct perf_file *pf, const uint8_t *rec, size_t size);
/*
 * perf_attr_label() - a name for an attribute that the file doesn't name: "tracepoint:1574",
 * "cpu-clock"; malloc'd.
 */
char *perf_attr_label(const struct perf_attr *a);

/* Where the variable parts of a sample lie; offsets from the record's start, 0 where absent. */
struct perf_sample {
	uint32_t	callchain, n_callchain;
	uint32_t	raw, raw_size;	/* raw_size counts what lies inside the record */
};
/* perf_read_part() - bytes of a READ part at @p; 0 when it doesn't fit @left bytes. */
size_t perf_read_part(uint64_t fmt, const uint8_t *p, size_t left);
/*
 * perf_sample_parse() - walk all parts of a sample up to RAW; false when they don't fit the
 * record.
 */
bool perf_sample_parse(const struct perf_attr *a, const uint8_t *rec, size_t size,
		       struct perf_sample *out);

/* perf_features.c */
void perf_read_features(struct perf_file *pf);
/* perf_feature() - one feature section (file mode) or record (pipe mode). */
void perf_feature(struct perf_file *pf, unsigned int bit, struct perf_buf b);
void perf_add_fact(struct perf_file *pf, const char *key, const char *value);
void perf_add_build_id(struct perf_file *pf, const uint8_t *rec, size_t size, uint16_t misc);
/* perf_write_facts() - facts into the case file, after the stream has its source row. */
struct error *perf_write_facts(struct perf_file *pf);

/* perf_pipe.c */
/* perf_is_meta() - records that describe the recording, in pipe mode. */
bool perf_is_meta(uint32_t type);
/*
 * perf_meta() - take one, of @size bytes at @rec in the member's byte order; @extra bytes follow
 * it (TRACING_DATA).
 */
void perf_meta(struct perf_file *pf, uint32_t type, const uint8_t *rec, size_t size,
	       uint64_t extra);
/*
 * perf_pipe_scan() - take all of [@start, @end) up to the first event; ERR_INPUT when no event is
 * described. Later ones are taken on the way.
 */
struct error *perf_pipe_scan(struct perf_file *pf, uint64_t start, uint64_t end);
/*
 * perf_extra() - bytes behind a record of the member that belong to it; at most @left. @type and
 * @size are the record's.
 */
uint64_t perf_extra(const struct perf_file *pf, uint32_t type, const uint8_t *rec, size_t size,
		    uint64_t left);

/* perf_flat.c */
/*
 * perf_flatten() - where the records [*@start, *@end) don't lie ready in the member, make a plain
 * stream of them in temporary space and let pf->data and the bounds be that. ERR_INPUT when that
 * is too large.
 */
struct error *perf_flatten(struct perf_file *pf, uint64_t *start, uint64_t *end);
/*
 * perf_place_of() - member and offset of the record at @pos of pf->data (for one that was
 * compressed: of the record it was in); false where none is known.
 */
bool perf_place_of(const struct perf_file *pf, uint64_t pos, int64_t *member_id, uint64_t *off);

/* perf_swap.c */
/*
 * perf_swap_record() - turn the @size bytes of a record in the other byte order, in place, into
 * this machine's. Attributes and formats must be known.
 */
void perf_swap_record(const struct perf_file *pf, uint8_t *rec, size_t size);

/* perf_tracing.c */
void perf_tracing_data(struct perf_file *pf, struct perf_buf b);
void perf_tracing_done(struct perf_file *pf);
const struct tp_format *perf_format(const struct perf_file *pf, uint64_t id);

/* perf_order.c */
/*
 * perf_queue() - a record with @time at file offset @pos, up to @end. Times that go back start a
 * new run.
 */
void perf_queue(struct perf_file *pf, uint64_t time, uint64_t pos, uint64_t end);
/*
 * perf_round() - FINISHED_ROUND: everything up to the latest time of the round before can go
 * out. perf_flush(): all.
 */
void perf_round(struct perf_file *pf);
void perf_flush(struct perf_file *pf);

/* perf_records.c */
/* perf_bind() - declare every attribute's event type and compile its decoder. */
void perf_bind(struct perf_file *pf);
/* perf_walk() - all records of the data section [@start, @end). */
void perf_walk(struct perf_file *pf, uint64_t start, uint64_t end);
/* perf_sums() - remarks about what could not be read or understood, after the last record. */
void perf_sums(struct perf_file *pf);
/* perf_prescan() - the synthesised maps before the first sample: whom the recorder watched. */
void perf_prescan(struct perf_file *pf, uint64_t start, uint64_t end);
/* perf_record_time() - time of the record, false when it has none. */
bool perf_record_time(const struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t *time);
/* perf_deliver() - turn the record at @pos into events. */
void perf_deliver(struct perf_file *pf, uint64_t pos, uint64_t time);

/* perf_symbols.c */
/* perf_map_record() - take a MMAP, MMAP2 or KSYMBOL record. */
void perf_map_record(struct perf_file *pf, const uint8_t *rec, size_t size);
/* perf_chain() - the interned stack of a sample's call chain; EVENT_U32_NONE when it has none. */
uint32_t perf_chain(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
		    const struct perf_sample *ps);
/* perf_push_chain() - push the call chain of the tracepoint's event @of, which was just pushed. */
void perf_push_chain(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
		     size_t size, const struct event *of);
/* perf_give_maps() - after the last record: the maps go to the case's store. */
void perf_give_maps(struct perf_file *pf);

/* perf_tasks.c */
void perf_task_comm(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos);
void perf_task_fork(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos);
void perf_task_exit(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos);
/* perf_task_seen() - a sample shows that @tid belongs to @pid; pushes EV_TASK when that is news. */
void perf_task_seen(struct perf_file *pf, int32_t tid, int32_t pid, uint64_t time, uint64_t pos);
/* perf_comm_at() - comm of @tid at (@time, @pos); ":tid" where none was recorded. */
void perf_comm_at(struct perf_file *pf, int32_t tid, uint64_t time, uint64_t pos, char buf[24]);

/* perf_view.c */
extern const struct stream_ops perf_ops;

#endif
