// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_dat_parts.c - the parts that both versions of trace.dat consist of; see trace_dat.h. */
#include "trace_dat.h"

#define MAX_SYSTEMS	65536

/* A name, a u64 size and that many bytes. */
static const uint8_t *named_part(struct ring_buf *b, const char *name, uint64_t *size)
{
	const char *s = ring_string(b);

	if (!s || strcmp(s, name))
		return NULL;
	*size = ring_u64(b);
	return ring_bytes(b, *size);
}

bool dat_header_info(struct trace_dat *td, struct ring_buf *b)
{
	uint64_t size;
	const uint8_t *p = named_part(b, "header_page", &size);

	if (!p)
		return false;
	if (!ring_header_page(&td->ring, (const char *)p, size))
		parse_remark(td->ctx, true, size ? "its header_page is not understood: pages are read in "
			     "the usual layout" : "it has no header_page (a kernel before 2.6.31): pages "
			     "are read in today's layout");
	td->seen |= 1u << DAT_HEADER_INFO;
	return named_part(b, "header_event", &size) != NULL;
}

static bool read_formats(struct trace_dat *td, struct ring_buf *b, const char *system)
{
	uint32_t n = ring_u32(b), i;

	for (i = 0; i < n && !b->bad; i++) {
		uint64_t size = ring_u64(b);
		const uint8_t *text = ring_bytes(b, size);

		if (!text)
			return false;
		ring_add_format(&td->ring, system, (const char *)text, size);
	}
	return !b->bad;
}

bool dat_ftrace(struct trace_dat *td, struct ring_buf *b)
{
	td->seen |= 1u << DAT_FTRACE;
	return read_formats(td, b, "ftrace");
}

bool dat_events(struct trace_dat *td, struct ring_buf *b)
{
	uint32_t systems = ring_u32(b), i;

	td->seen |= 1u << DAT_EVENTS;
	for (i = 0; i < systems && i < MAX_SYSTEMS && !b->bad; i++) {
		const char *name = ring_string(b);

		if (!name || strlen(name) > 128 || !read_formats(td, b, name))
			return false;
	}
	return !b->bad;
}

bool dat_kallsyms(struct trace_dat *td, struct ring_buf *b)
{
	uint32_t size = ring_u32(b);

	td->seen |= 1u << DAT_KALLSYMS;
	td->ring.kallsyms.s = (const char *)ring_bytes(b, size);
	td->ring.kallsyms.len = td->ring.kallsyms.s ? size : 0;
	return !b->bad;
}

bool dat_printk(struct trace_dat *td, struct ring_buf *b)
{
	uint32_t size = ring_u32(b);

	td->seen |= 1u << DAT_PRINTK;
	td->ring.printk.s = (const char *)ring_bytes(b, size);
	td->ring.printk.len = td->ring.printk.s ? size : 0;
	return !b->bad;
}

bool dat_cmdlines(struct trace_dat *td, struct ring_buf *b)
{
	uint64_t size = ring_u64(b);
	const uint8_t *text = ring_bytes(b, size);

	td->seen |= 1u << DAT_CMDLINES;
	if (text)
		ring_add_cmdlines(&td->ring, (const char *)text, size);
	return !b->bad;
}
