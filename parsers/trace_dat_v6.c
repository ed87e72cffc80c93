// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_dat_v6.c - version 6 of trace.dat: its parts in their fixed order; see trace_dat.h. */
#include "trace_dat.h"

static bool read_options(struct trace_dat *td, struct ring_buf *b)
{
	for (;;) {
		uint16_t id = ring_u16(b);
		const uint8_t *p;
		uint32_t size;

		if (b->bad)
			return false;
		if (!id)
			return true;
		size = ring_u32(b);
		p = ring_bytes(b, size);
		if (!p)
			return false;
		dat_option(td, id, p, size);
	}
}

/* What follows the CPU count, and stands at an instance's offset: options, then text or offsets. */
static void read_data(struct trace_dat *td, struct ring_buf *b, struct dat_buffer *buf,
		      bool options)
{
	const uint8_t *kind = ring_bytes(b, 10);
	size_t at = (size_t)(buf - td->buffers);
	uint32_t n, i;

	if (kind && options && !memcmp(kind, "options", 7)) {
		if (!read_options(td, b)) {
			dat_cut(td, "the options and all events");
			return;
		}
		kind = ring_bytes(b, 10);
		buf = &td->buffers[at];		/* options add buffers */
	}
	if (!kind) {
		dat_cut(td, "all events");
		return;
	}
	if (!memcmp(kind, "latency", 7)) {
		buf->text = true;
		buf->data = b->p;
		buf->size = (uint64_t)(b->end - b->p);
		return;
	}
	if (memcmp(kind, "flyrecord", 9)) {
		parse_remark(td->ctx, true, "damaged at byte %" PRIu64 ": no trace data where it should be "
			     "described", (uint64_t)(kind - td->data));
		return;
	}
	n = td->cpu_count;
	buf->cpus = xcalloc(n + 1, sizeof(*buf->cpus));
	for (i = 0; i < n; i++) {
		buf->cpus[i].cpu = i;
		buf->cpus[i].off = ring_u64(b);
		buf->cpus[i].size = ring_u64(b);
		if (b->bad) {
			dat_cut(td, "the places of the CPUs' data, and all events");
			break;
		}
		buf->n_cpus = i + 1;
	}
}

void dat_read_v6(struct trace_dat *td, struct ring_buf *b)
{
	static const struct {
		bool	(*read)(struct trace_dat *td, struct ring_buf *b);
		const char *what;
	} parts[] = {
		{ dat_header_info, "the page layout, the event formats and all events" },
		{ dat_ftrace, "some event formats and all events" },
		{ dat_events, "some event formats and all events" },
		{ dat_kallsyms, "the kernel's symbols and all events" },
		{ dat_printk, "the formats of trace_printk and all events" },
		{ dat_cmdlines, "the names of tasks and all events" },
	};
	struct dat_buffer *top;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].read(td, b))
			continue;
		if (b->bad)
			dat_cut(td, parts[i].what);
		else
			parse_remark(td->ctx, true, "damaged at byte %" PRIu64 ": %s can't be read",
				     (uint64_t)(b->p - td->data), parts[i].what);
		return;
	}
	td->cpu_count = ring_u32(b);
	if (b->bad) {
		dat_cut(td, "all events");
		return;
	}
	if (td->cpu_count > RING_MAX_CPUS) {
		parse_remark(td->ctx, true, "damaged: it claims %" PRIu32 " CPUs: no events are read",
			     td->cpu_count);
		return;
	}
	top = dat_add_buffer(td, "");
	read_data(td, b, top, true);
	for (i = 1; i < td->n_buffers; i++) {
		struct ring_buf at = *b;

		if (td->buffers[i].off >= td->size) {
			dat_cut(td, "the events of some instances");
			continue;
		}
		at.p = td->data + td->buffers[i].off;
		at.bad = false;
		read_data(td, &at, &td->buffers[i], false);
	}
}
