/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_dat.h - one trace.dat (trace-cmd's file) being read; private to trace_dat*.c.
 *
 *   trace_dat.c          the parser: initial header, buffers one after the other, facts
 *   trace_dat_parts.c    the parts that versions 6 and 7 share: headers, formats, tables of names
 *   trace_dat_options.c  options
 *   trace_dat_v6.c       version 6: parts in a fixed order, then the CPUs' offsets
 *   trace_dat_v7.c       version 7: sections behind a chain of options, compressed or not
 *
 * Format: trace-cmd's manual pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
 */
#ifndef KM_TRACE_DAT_H
#define KM_TRACE_DAT_H

#include "ring.h"

#define DAT_MAX_BUFFERS	256
#define DAT_MAX_FACTS	1024

enum dat_section {
	DAT_OPTIONS = 0, DAT_BUFFER = 3, DAT_STRINGS = 15, DAT_HEADER_INFO = 16, DAT_FTRACE = 17,
	DAT_EVENTS = 18, DAT_KALLSYMS = 19, DAT_PRINTK = 20, DAT_CMDLINES = 21,
	DAT_BUFFER_TEXT = 22,
};

struct dat_cpu {
	uint32_t	cpu;
	uint64_t	off, size;
};

/* One tracing instance; the top one has no name. */
struct dat_buffer {
	char		*name, *clock;
	uint32_t	page_size;
	uint64_t	off;		/* of its section (version 7) or header (6) */
	bool		text;		/* the latency tracer's text instead of pages */
	bool		packed;
	const uint8_t	*data;		/* text: its bytes, or chunks of them */
	uint64_t	size;
	struct dat_cpu	*cpus;
	size_t		n_cpus;
};

struct dat_fact {
	char		*key, *value;
};

struct trace_dat {
	struct parse_ctx *ctx;
	const uint8_t	*data;
	uint64_t	size;
	struct ring	ring;
	unsigned int	version;
	char		*packing;	/* "zstd 1.5.4"; NULL: none */
	uint64_t	options_at;	/* version 7 */
	/* options */
	char		*clock, *host, *release, *machine, *recorder;
	uint32_t	cpu_count;
	bool		has_count, has_date, guest_file, host_file;
	int64_t		date_ns;	/* wall clock minus the trace's */
	struct dat_buffer *buffers;
	size_t		n_buffers, cap_buffers;
	struct dat_fact	*facts;
	size_t		n_facts, cap_facts;
	uint64_t	unknown_options;
	unsigned int	seen;		/* bit per section that was read */
	bool		cut;		/* the file ends before what it says it holds: said */
};

/* dat_cut() - one remark about the file's early end; @what is missing. Only the first is made. */
void dat_cut(struct trace_dat *td, const char *what);
void dat_fact(struct trace_dat *td, const char *key, const char *value);
struct dat_buffer *dat_add_buffer(struct trace_dat *td, const char *name);

/* trace_dat_parts.c: each takes what is there and returns whether it was all there. */
bool dat_header_info(struct trace_dat *td, struct ring_buf *b);
bool dat_ftrace(struct trace_dat *td, struct ring_buf *b);
bool dat_events(struct trace_dat *td, struct ring_buf *b);
bool dat_kallsyms(struct trace_dat *td, struct ring_buf *b);
bool dat_printk(struct trace_dat *td, struct ring_buf *b);
bool dat_cmdlines(struct trace_dat *td, struct ring_buf *b);

/* trace_dat_options.c */
void dat_option(struct trace_dat *td, uint16_t id, const uint8_t *p, uint32_t size);

/* trace_dat_v6.c, trace_dat_v7.c: everything up to the buffers; @b stands behind the page size. */
void dat_read_v6(struct trace_dat *td, struct ring_buf *b);
void dat_read_v7(struct trace_dat *td, struct ring_buf *b);
/* dat_section_at() - option @id names a section; version 7 reads it. */
void dat_section_at(struct trace_dat *td, uint16_t id, uint64_t off);
/* dat_v7_text() - where a buffer's text is; false when it is missing. */
bool dat_v7_text(struct trace_dat *td, struct dat_buffer *buf);
/* dat_v7_pages() - the CPUs' pages of a buffer into the ring. */
void dat_v7_pages(struct trace_dat *td, const struct dat_buffer *buf);

#endif
