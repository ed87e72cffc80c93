// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_dat_v7.c - version 7 of trace.dat: a chain of option sections names all others; see
 * trace_dat.h.
 *
 * The recorder writes sections one behind the other and patches the places of later ones into
 * earlier ones at its end. In a file that was cut, or whose recorder was killed, the sections are
 * therefore also found by walking over them, and a buffer without its option by its alignment:
 * each CPU's chunks begin at a multiple of the page size.
 */
#include "trace_dat.h"

#define SECTION_HEAD		16
#define COMPRESSED		1
#define MAX_OPTION_SECTIONS	1000
#define MAX_SECTIONS		100000

struct section {
	uint16_t	id, flags;
	uint64_t	at, size;	/* of what follows the head, as far as the file has it */
	bool		cut;
};

static bool section_head(const struct trace_dat *td, uint64_t off, struct section *s)
{
	struct ring_buf b = { NULL, NULL, td->ring.swap, false };

	if (off > td->size || td->size - off < SECTION_HEAD)
		return false;
	b.p = td->data + off;
	b.end = td->data + td->size;
	s->id = ring_u16(&b);
	s->flags = ring_u16(&b);
	ring_u32(&b);		/* description: a string's place */
	s->size = ring_u64(&b);
	s->at = off + SECTION_HEAD;
	s->cut = s->size > td->size - s->at;
	if (s->cut)
		s->size = td->size - s->at;
	return true;
}

/*
 * The section's content, unpacked where it is compressed; *@owned is to be freed. NULL: damaged
 * or cut.
 */
static const uint8_t *section_bytes(struct trace_dat *td, const struct section *s, uint64_t *len,
				    uint8_t **owned)
{
	struct ring_buf b = { td->data + s->at, td->data + s->at + s->size, td->ring.swap, false };
	const uint8_t *p;
	uint32_t packed, size;

	*owned = NULL;
	*len = s->size;
	if (!(s->flags & COMPRESSED))
		return td->data + s->at;
	packed = ring_u32(&b);
	size = ring_u32(&b);
	p = ring_bytes(&b, packed);
	if (!p || size > RING_MAX_META)
		return NULL;
	*owned = xmalloc((size_t)size + 1);
	*len = size;
	if (!ring_unpack(td->ring.packing, p, packed, *owned, size)) {
		free(*owned);
		*owned = NULL;
	}
	return *owned;
}

static bool read_options(struct trace_dat *td, struct ring_buf *b, uint64_t *next)
{
	*next = 0;
	while (b->p < b->end) {
		uint16_t id = ring_u16(b);
		uint32_t size = ring_u32(b);
		const uint8_t *p = ring_bytes(b, size);

		if (!p)
			return false;
		if (!id) {
			if (size >= 8)
				*next = ring_load64(p, td->ring.swap);
			return true;
		}
		dat_option(td, id, p, size);
	}
	return false;
}

/* Options and everything they name. False when the chain breaks. */
static bool follow_options(struct trace_dat *td)
{
	uint64_t off = td->options_at, next;
	uint64_t budget = td->size + RING_MAX_META;	/* sections may not be read over and over */
	int n;

	for (n = 0; off && n < MAX_OPTION_SECTIONS; n++, off = next) {
		uint8_t *owned = NULL;
		const uint8_t *p;
		struct section s;
		uint64_t len;
		bool ok;

		if (!section_head(td, off, &s) || s.id != DAT_OPTIONS)
			return false;
		p = section_bytes(td, &s, &len, &owned);
		if (!p || len > budget) {
			free(owned);
			return false;
		}
		budget -= len;
		struct ring_buf b = { p, p + len, td->ring.swap, false };

		ok = read_options(td, &b, &next);
		free(owned);
		if (!ok)
			return false;
		if (next && next <= off)	/* later ones are written behind */
			return false;
	}
	return n > 0 && !off;
}

static const struct {
	uint16_t	id;
	bool		(*read)(struct trace_dat *td, struct ring_buf *b);
	const char	*what;
} readers[] = {
	{ DAT_HEADER_INFO, dat_header_info, "the page layout" },
	{ DAT_FTRACE, dat_ftrace, "formats of ftrace's own events" },
	{ DAT_EVENTS, dat_events, "event formats" },
	{ DAT_KALLSYMS, dat_kallsyms, "the kernel's symbols" },
	{ DAT_PRINTK, dat_printk, "formats of trace_printk" },
	{ DAT_CMDLINES, dat_cmdlines, "the names of tasks" },
};

static void read_section(struct trace_dat *td, const struct section *s)
{
	struct ring_text *keep = s->id == DAT_KALLSYMS ? &td->ring.kallsyms :
				 s->id == DAT_PRINTK ? &td->ring.printk : NULL;
	uint8_t *owned = NULL;
	const uint8_t *p;
	struct ring_buf b;
	uint64_t len;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(readers) && readers[i].id != s->id; i++)
		;
	if (i == ARRAY_SIZE(readers) || td->seen & 1u << s->id)
		return;
	td->seen |= 1u << s->id;
	p = section_bytes(td, s, &len, &owned);
	b = (struct ring_buf){ p, p ? p + len : NULL, td->ring.swap, false };
	if (!p || !readers[i].read(td, &b)) {
		if (s->cut)
			dat_cut(td, readers[i].what);
		else
			parse_remark(td->ctx, true, "its section with %s is damaged", readers[i].what);
	}
	if (keep && !keep->owned)
		keep->owned = (char *)owned;
	else
		free(owned);
}

void dat_section_at(struct trace_dat *td, uint16_t id, uint64_t off)
{
	struct section s;

	if (!section_head(td, off, &s)) {
		dat_cut(td, "parts of the metadata");
		return;
	}
	if (s.id != id) {
		parse_remark(td->ctx, true, "damaged: no section %u at byte %" PRIu64, id, off);
		return;
	}
	read_section(td, &s);
}

/* Pages or chunks of a buffer whose option is missing: CPUs are counted from 0 as they come. */
static void find_cpus(struct trace_dat *td, const struct section *s)
{
	const uint64_t page = td->ring.page_size;
	struct dat_buffer *buf = dat_add_buffer(td, "");
	uint64_t at = (s->at + page - 1) / page * page, end = s->at + s->size, stamp = 0;
	size_t cap = 0;

	if (!buf)
		return;
	buf->page_size = (uint32_t)page;
	buf->packed = s->flags & COMPRESSED;
	while (at < end && buf->n_cpus < RING_MAX_CPUS &&
	       end - at > (buf->packed ? 12 : page - 1)) {
		struct dat_cpu c = { .cpu = (uint32_t)buf->n_cpus, .off = at };
		struct ring_buf b = { td->data + at, td->data + end, td->ring.swap, false };
		uint32_t i, n;

		if (buf->packed) {
			n = ring_u32(&b);
			for (i = 0; i < n && !b.bad; i++) {
				uint32_t packed = ring_u32(&b);

				ring_u32(&b);
				ring_bytes(&b, packed);
			}
			c.size = (uint64_t)(b.p - td->data) - at;
			at += (c.size + page - 1) / page * page;
		} else {	/* until the pages' times go back */
			for (stamp = 0; end - at >= page; at += page) {
				uint64_t t = ring_load64(td->data + at + td->ring.stamp_at,
							 td->ring.swap);

				if (t < stamp)
					break;
				stamp = t;
			}
			c.size = at - c.off;
		}
		GROW(buf->cpus, cap, buf->n_cpus + 1);
		buf->cpus[buf->n_cpus++] = c;
	}
	if (buf->n_cpus)
		parse_remark(td->ctx, true, "the list of CPUs is missing: their data was found by its "
			     "place, CPU numbers are counted from 0");
}

static void scan_sections(struct trace_dat *td, uint64_t off)
{
	struct section s;
	uint64_t next;
	int n;

	for (n = 0; n < MAX_SECTIONS && section_head(td, off, &s); n++) {
		uint8_t *owned = NULL;
		const uint8_t *p;
		uint64_t len;

		if (s.id == DAT_OPTIONS && !td->has_count &&
		    (p = section_bytes(td, &s, &len, &owned))) {
			struct ring_buf b = { p, p + len, td->ring.swap, false };

			read_options(td, &b, &next);
		}
		free(owned);
		if (s.id == DAT_BUFFER && !td->n_buffers)
			find_cpus(td, &s);
		else
			read_section(td, &s);
		if (s.cut)
			return;
		off = s.at + s.size;
	}
}

void dat_read_v7(struct trace_dat *td, struct ring_buf *b)
{
	const char *name = ring_string(b), *version = ring_string(b);

	td->options_at = ring_u64(b);
	if (!name || !version || b->bad) {
		dat_cut(td, "everything but its first bytes");
		return;
	}
	if (!strcmp(name, "zlib"))
		td->ring.packing = RING_ZLIB;
	else if (!strcmp(name, "zstd"))
		td->ring.packing = RING_ZSTD;
	else if (strcmp(name, "none"))
		parse_remark(td->ctx, true, "compressed with %.32s, which is not read: convert it with "
			     "`trace-cmd convert --compression zstd`", name);
	if (strcmp(name, "none"))
		td->packing = xasprintf("%.32s %.32s", name, version);
	if (!follow_options(td) || !td->n_buffers) {
		dat_cut(td, "options or the list of CPUs");
		scan_sections(td, (uint64_t)(b->p - td->data));
	}
}

void dat_v7_pages(struct trace_dat *td, const struct dat_buffer *buf)
{
	struct section s;
	bool packed = buf->packed;
	uint64_t used;
	size_t i;

	if (buf->off) {
		if (!section_head(td, buf->off, &s) || s.id != DAT_BUFFER) {
			dat_cut(td, "the events of some instances");
			return;
		}
		packed = s.flags & COMPRESSED;
	}
	for (i = 0; i < buf->n_cpus; i++) {
		const struct dat_cpu *c = &buf->cpus[i];
		uint64_t left = c->off < td->size ? td->size - c->off : 0;

		if (c->size > left)
			dat_cut(td, "events at the end of some CPUs");
		if (!c->size || !left)
			continue;
		/*
		 * The size that the option gives leaves out the count of chunks, so it is no
		 * bound.
		 */
		if (!packed)
			ring_add_pages(&td->ring, c->cpu, td->data + c->off, MIN(c->size, left),
				       c->off);
		else if (!ring_add_packed(&td->ring, c->cpu, td->data + c->off, left, &used))
			dat_cut(td, "events at the end of some CPUs");
	}
}

bool dat_v7_text(struct trace_dat *td, struct dat_buffer *buf)
{
	struct section s;

	if (!section_head(td, buf->off, &s) || s.id != DAT_BUFFER_TEXT) {
		dat_cut(td, "the latency tracer's text");
		return false;
	}
	buf->packed = s.flags & COMPRESSED;
	buf->data = td->data + s.at;
	buf->size = s.size;
	return true;
}
