/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_build.h - builds small trace.dat files and ring buffer pages in memory, for tests: both
 * versions, byte orders and sizes of long; plain, zlib and zstd.
 */
#ifndef KM_RING_BUILD_H
#define KM_RING_BUILD_H

#include <zlib.h>
#include <zstd.h>

#include "base.h"

enum { ID_STACK = 4, ID_PRINT = 5, ID_RETURN = 10, ID_CALL = 11, ID_SWITCH = 300, ID_PROBE = 301 };
enum packing { NONE, ZLIB, ZSTD };

struct out {
	uint8_t		*data;
	size_t		n, cap;
	bool		big;
	uint8_t		lsize;		/* 4 or 8 */
};

static inline void put(struct out *o, uint64_t v, size_t bytes)
{
	size_t i;

	GROW(o->data, o->cap, o->n + bytes);
	for (i = 0; i < bytes; i++)
		o->data[o->n + i] = (uint8_t)(v >> 8 * (o->big ? bytes - 1 - i : i));
	o->n += bytes;
}

static inline void put_bytes(struct out *o, const void *p, size_t n)
{
	GROW(o->data, o->cap, o->n + n + 1);
	memcpy(o->data + o->n, p, n);
	o->n += n;
}

static inline void put_text(struct out *o, const char *s)
{
	put_bytes(o, s, strlen(s) + 1);
}

static inline void put_comm(struct out *o, const char *s)
{
	char comm[16] = { 0 };

	memcpy(comm, s, strlen(s));
	put_bytes(o, comm, sizeof(comm));
}

static inline void set(struct out *o, size_t at, uint64_t v, size_t bytes)
{
	size_t n = o->n;

	o->n = at;
	put(o, v, bytes);
	o->n = n;
}

static inline void pad(struct out *o, size_t to)
{
	while (o->n % to)
		put(o, 0, 1);
}

/* ---- records ---- */

/* Begin a page at @time; returns where its commit field is. */
static inline size_t page_begin(struct out *o, uint64_t time)
{
	size_t at = o->n;

	put(o, time, 8);
	put(o, 0, o->lsize);
	return at + 8;
}

/* @flags: bits 30 and 31; @lost is stored behind the data with bit 30. */
static inline void page_end(struct out *o, size_t commit, uint32_t flags, uint64_t lost)
{
	uint64_t len = o->n - commit - o->lsize;

	/* The kernel adds the flags as a negative int. */
	set(o, commit, (uint64_t)((int64_t)(int32_t)flags + (int64_t)len), o->lsize);
	if (flags & 1u << 30)
		put(o, lost, o->lsize);
	while ((o->n - (commit - 8)) % 4096)
		put(o, 0, 1);
}

static inline void word(struct out *o, uint32_t type, uint32_t delta)
{
	put(o, o->big ? type << 27 | delta : delta << 5 | type, 4);
}

static inline void extend(struct out *o, uint64_t delta)
{
	word(o, 30, (uint32_t)(delta & ((1u << 27) - 1)));
	put(o, delta >> 27, 4);
}

static inline void stamp(struct out *o, uint64_t time)
{
	word(o, 31, (uint32_t)(time & ((1u << 27) - 1)));
	put(o, time >> 27 & UINT32_MAX, 4);
}

/* A record with the payload @p; @large forces the form with a length of its own. */
static inline void record(struct out *o, uint32_t delta, const struct out *p, bool large)
{
	size_t len = (p->n + 3) & ~(size_t)3;

	if (len / 4 <= 28 && !large) {
		word(o, (uint32_t)len / 4, delta);
	} else {
		word(o, 0, delta);
		put(o, len + 4, 4);
	}
	put_bytes(o, p->data, p->n);
	while (len-- > p->n)
		put(o, 0, 1);
}

static inline struct out common(const struct out *o, uint16_t id, int32_t tid)
{
	struct out p = { .big = o->big, .lsize = o->lsize };

	put(&p, id, 2);
	put(&p, 1, 1);
	put(&p, 0, 1);
	put(&p, (uint32_t)tid, 4);
	return p;
}

static inline void finish(struct out *o, uint32_t delta, struct out *p, bool large)
{
	record(o, delta, p, large);
	free(p->data);
}

static inline void sched_switch(struct out *o, uint32_t delta, int32_t prev, const char *prev_comm,
				uint64_t state, int32_t next, const char *next_comm)
{
	struct out p = common(o, ID_SWITCH, prev);

	put_comm(&p, prev_comm);
	put(&p, (uint32_t)prev, 4);
	put(&p, 120, 4);
	put(&p, state, o->lsize);
	put_comm(&p, next_comm);
	put(&p, (uint32_t)next, 4);
	put(&p, 100, 4);
	finish(o, delta, &p, false);
}

static inline void kprobe(struct out *o, uint32_t delta, int32_t tid, uint32_t arg)
{
	struct out p = common(o, ID_PROBE, tid);

	put(&p, 0x1234, o->lsize);
	put(&p, arg, 4);
	finish(o, delta, &p, true);
}

static inline void kernel_stack(struct out *o, uint32_t delta, int32_t tid, uint64_t base,
				uint32_t n)
{
	struct out p = common(o, ID_STACK, tid);
	uint32_t i;

	put(&p, n, 4);
	while (p.n % o->lsize)
		put(&p, 0, 1);
	for (i = 0; i < n; i++)
		put(&p, base + i, o->lsize);
	finish(o, delta, &p, false);
}

static inline void call(struct out *o, uint32_t delta, int32_t tid, uint64_t func,
			uint64_t duration)
{
	struct out p = common(o, duration ? ID_RETURN : ID_CALL, tid);

	put(&p, func, o->lsize);
	put(&p, 0, 4);
	if (duration) {
		put(&p, 0, 4);
		while (p.n % 8)
			put(&p, 0, 1);
		put(&p, 5000, 8);
		put(&p, 5000 + duration, 8);
	}
	finish(o, delta, &p, false);
}

/* ---- formats ---- */

struct field { const char *decl; uint8_t size; bool is_signed; };	/* size 0: a long */

static inline char *format_text(const char *name, uint32_t id, const struct field *f, size_t n,
				uint8_t lsize, const char *print)
{
	static const struct field common_fields[] = {
		{ "unsigned short common_type", 2, false }, { "unsigned char common_flags", 1, false },
		{ "unsigned char common_preempt_count", 1, false }, { "int common_pid", 4, true },
	};
	char *text = xasprintf("name: %s\nID: %u\nformat:\n", name, id), *more;
	size_t i, at = 0;

	for (i = 0; i < ARRAY_SIZE(common_fields) + n; i++) {
		const struct field *fl = i < 4 ? &common_fields[i] : &f[i - 4];
		size_t size = fl->size ? fl->size : lsize;
		size_t align = size == 16 ? 1 : MIN(size, (size_t)8);

		at = (at + align - 1) / align * align;
		more = xasprintf("%s\tfield:%s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n", text, fl->decl, at,
				 strstr(fl->decl, "[]") ? 0 : size, fl->is_signed);
		free(text);
		text = more;
		at += size;
	}
	more = xasprintf("%s\nprint fmt: %s\n", text, print);
	free(text);
	return more;
}

static inline void put_format(struct out *o, const char *name, uint32_t id, const struct field *f,
			      size_t n, const char *print)
{
	char *text = format_text(name, id, f, n, o->lsize, print);

	put(o, strlen(text), 8);
	put_bytes(o, text, strlen(text));
	free(text);
}

static inline void put_header_info(struct out *o)
{
	char *text = xasprintf("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			       "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			       "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
			       o->lsize, 8 + o->lsize, 4088 - o->lsize);

	put_text(o, "header_page");
	put(o, strlen(text), 8);
	put_bytes(o, text, strlen(text));
	put_text(o, "header_event");
	put(o, 4, 8);
	put_bytes(o, "none", 4);
	free(text);
}

static inline void put_ftrace(struct out *o)
{
	static const struct field stack[] = { { "int size", 4, true }, { "unsigned long caller[]", 0, false } };
	static const struct field graph[] = {
		{ "unsigned long func", 0, false }, { "int depth", 4, true }, { "unsigned int overrun", 4, false },
		{ "unsigned long long calltime", 8, false }, { "unsigned long long rettime", 8, false },
	};
	static const struct field print[] = { { "unsigned long ip", 0, false }, { "char buf[]", 1, false } };

	put(o, 4, 4);
	put_format(o, "kernel_stack", ID_STACK, stack, 2, "\"\"");
	put_format(o, "funcgraph_entry", ID_CALL, graph, 2, "\"\"");
	put_format(o, "funcgraph_exit", ID_RETURN, graph, 5, "\"\"");
	put_format(o, "print", ID_PRINT, print, 2, "\"\"");
}

static inline void put_events(struct out *o)
{
	static const struct field sched[] = {
		{ "char prev_comm[16]", 16, false }, { "pid_t prev_pid", 4, true }, { "int prev_prio", 4, true },
		{ "long prev_state", 0, true }, { "char next_comm[16]", 16, false }, { "pid_t next_pid", 4, true },
		{ "int next_prio", 4, true },
	};
	static const struct field probe[] = {
		{ "unsigned long __probe_ip", 0, false }, { "u32 arg1", 4, false },
	};

	put(o, 2, 4);
	put_text(o, "sched");
	put(o, 1, 4);
	put_format(o, "sched_switch", ID_SWITCH, sched, ARRAY_SIZE(sched), "\"%s\", REC->prev_comm");
	put_text(o, "kprobes");
	put(o, 1, 4);
	put_format(o, "p_do_work_0", ID_PROBE, probe, ARRAY_SIZE(probe), "\"%u\", REC->arg1");
}

static inline void put_sized(struct out *o, const char *text, size_t bytes)
{
	put(o, strlen(text), bytes);
	put_bytes(o, text, strlen(text));
}

#define SYMBOLS		"00001000 T first_func\n00002000 t second_func\t[kvm]\n00003000 D data\n"
#define COMMS		"7 qemu-system-x86\n8 CPU 0/KVM\n"

/* ---- files ---- */

struct cpu_data { uint32_t cpu; struct out pages; };

static inline void file_begin(struct out *o, const char *version, bool big, uint8_t lsize)
{
	memset(o, 0, sizeof(*o));
	o->big = big;
	o->lsize = lsize;
	put_bytes(o, "\x17\x08\x44tracing", 10);
	put_text(o, version);
	put(o, big, 1);
	put(o, lsize, 1);
	put(o, 4096, 4);
}

static inline void option(struct out *o, uint16_t id, const void *p, uint32_t size)
{
	put(o, id, 2);
	put(o, size, 4);
	put_bytes(o, p, size);
}

static inline void option_text(struct out *o, uint16_t id, const char *text)
{
	option(o, id, text, (uint32_t)strlen(text) + 1);
}

static inline void usual_options(struct out *o)
{
	option_text(o, 4, "local global [mono] boot\n");
	option_text(o, 5, "Linux node1 6.1.0 x86_64");
	option_text(o, 9, "3.1.6");
	option(o, 4711, "future", 6);
}

/* The places of the CPUs' pages, which follow them. */
static inline void flyrecord(struct out *o, const struct cpu_data *cpus, size_t n)
{
	size_t table, i;

	put_bytes(o, "flyrecord\0", 10);
	table = o->n;
	for (i = 0; i < 2 * n; i++)
		put(o, 0, 8);
	for (i = 0; i < n; i++) {
		pad(o, 4096);
		set(o, table + 16 * i, o->n, 8);
		set(o, table + 16 * i + 8, cpus[i].pages.n, 8);
		put_bytes(o, cpus[i].pages.data, cpus[i].pages.n);
	}
}

/* A version 6 file up to its CPU count. */
static inline void v6_head(struct out *o, bool big, uint8_t lsize, uint32_t cpus)
{
	file_begin(o, "6", big, lsize);
	put_header_info(o);
	put_ftrace(o);
	put_events(o);
	put_sized(o, SYMBOLS, 4);
	put_sized(o, "", 4);
	put_sized(o, COMMS, 8);
	put(o, cpus, 4);
}

static inline void v6_file(struct out *o, bool big, uint8_t lsize, const struct cpu_data *cpus,
			   size_t n)
{
	v6_head(o, big, lsize, (uint32_t)n);
	put_bytes(o, "options  \0", 10);
	usual_options(o);
	put(o, 0, 2);
	flyrecord(o, cpus, n);
}

static inline void pack(struct out *o, enum packing how, const void *p, size_t n)
{
	uLongf zn = compressBound(n);
	size_t cap = MAX((size_t)zn, ZSTD_compressBound(n));
	uint8_t *buf = xmalloc(cap);

	if (how == ZLIB)
		compress(buf, &zn, p, n);
	else
		zn = ZSTD_compress(buf, cap, p, n, 1);
	put(o, zn, 4);
	put(o, n, 4);
	put_bytes(o, buf, zn);
	free(buf);
}

/* A section with the content @c; returns where it is. */
static inline uint64_t section(struct out *o, enum packing how, uint16_t id, struct out *c)
{
	uint64_t at = o->n;

	put(o, id, 2);
	put(o, how != NONE && id != 0, 2);
	put(o, 0, 4);
	put(o, 0, 8);
	if (how != NONE && id != 0)
		pack(o, how, c->data, c->n);
	else
		put_bytes(o, c->data, c->n);
	set(o, at + 8, o->n - at - 16, 8);
	free(c->data);
	memset(c, 0, sizeof(*c));
	return at;
}

static inline struct out empty(const struct out *o)
{
	return (struct out){ .big = o->big, .lsize = o->lsize };
}

static inline void option_u64(struct out *o, uint16_t id, uint64_t v)
{
	put(o, id, 2);
	put(o, 8, 4);
	put(o, v, 8);
}

/* The pages of a buffer as a section, and the option that tells of it into @options. */
static inline void v7_buffer(struct out *o, enum packing how, const char *name,
			     const struct cpu_data *cpus, size_t n, struct out *options)
{
	uint64_t at = o->n, start;
	size_t i, j, chunks, size_at = options->n + 2;

	put(o, 3, 2);
	put(o, how != NONE, 2);
	put(o, 0, 4);
	put(o, 0, 8);
	put(options, 3, 2);
	put(options, 0, 4);
	put(options, at, 8);
	put_text(options, name);
	put_text(options, "mono");
	put(options, 4096, 4);
	put(options, n, 4);
	for (i = 0; i < n; i++) {
		pad(o, 4096);
		start = o->n;
		chunks = (cpus[i].pages.n + 8191) / 8192;
		if (how != NONE)
			put(o, chunks, 4);
		else
			put_bytes(o, cpus[i].pages.data, cpus[i].pages.n);
		for (j = 0; how != NONE && j < chunks; j++)
			pack(o, how, cpus[i].pages.data + 8192 * j,
			     MIN((size_t)8192, cpus[i].pages.n - 8192 * j));
		put(options, cpus[i].cpu, 4);
		put(options, start, 8);
		put(options, o->n - start - (how != NONE ? 4 : 0), 8);
	}
	set(o, at + 8, o->n - at - 16, 8);
	set(options, size_at, options->n - size_at - 4, 4);
}

/* Two option sections, as the recorder writes them: what is known first, then the buffers. */
static inline void v7_file(struct out *o, enum packing how, bool big, uint8_t lsize,
			   const struct cpu_data *cpus, size_t n, const char *instance)
{
	static const char *const names[] = { "none", "zlib", "zstd" };
	struct out c, options, buffers;
	size_t first, last;

	file_begin(o, "7", big, lsize);
	put_text(o, names[how]);
	put_text(o, how == NONE ? "" : "1.5.4");
	first = o->n;
	put(o, 0, 8);
	options = empty(o);
	c = empty(o);
	put_header_info(&c);
	option_u64(&options, 16, section(o, how, 16, &c));
	c = empty(o);
	put_ftrace(&c);
	option_u64(&options, 17, section(o, how, 17, &c));
	c = empty(o);
	put_events(&c);
	option_u64(&options, 18, section(o, how, 18, &c));
	c = empty(o);
	put_sized(&c, SYMBOLS, 4);
	option_u64(&options, 19, section(o, how, 19, &c));
	c = empty(o);
	put_sized(&c, COMMS, 8);
	option_u64(&options, 21, section(o, how, 21, &c));
	usual_options(&options);
	put(&options, 8, 2);
	put(&options, 4, 4);
	put(&options, 2, 4);
	option_u64(&options, 0, 0);
	set(o, first, o->n, 8);
	section(o, how, 0, &options);
	last = o->n - 8;
	buffers = empty(o);
	v7_buffer(o, how, "", cpus, n, &buffers);
	if (instance)
		v7_buffer(o, how, instance, cpus, 1, &buffers);
	option_u64(&buffers, 0, 0);
	set(o, last, o->n, 8);
	section(o, how, 0, &buffers);
}

#endif
