// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_dat.c - the parser of trace-cmd's trace.dat, versions 6 and 7: metadata first, then one
 * stream per tracing instance. The parts are described in trace_dat.h, the events in ring.h.
 */
#include "textfeed.h"
#include "trace_dat.h"

static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

static int sniff(const struct sniff *s)
{
	if (s->len < 3)
		return 0;
	/* A file of the magic's first bytes alone can be nothing else. */
	return !memcmp(s->head, magic, MIN(s->len, sizeof(magic))) ? 100 : 0;
}

void dat_cut(struct trace_dat *td, const char *what)
{
	if (!td->cut)
		parse_remark(td->ctx, true, "cut or not finished by its recorder (%" PRIu64
			     " bytes): %s can't be read", td->size, what);
	td->cut = true;
}

void dat_fact(struct trace_dat *td, const char *key, const char *value)
{
	if (td->n_facts >= DAT_MAX_FACTS)
		return;
	GROW(td->facts, td->cap_facts, td->n_facts + 1);
	td->facts[td->n_facts++] = (struct dat_fact){ xstrdup(key), xstrdup(value) };
}

struct dat_buffer *dat_add_buffer(struct trace_dat *td, const char *name)
{
	struct dat_buffer *buf;

	if (td->n_buffers >= DAT_MAX_BUFFERS)
		return NULL;
	GROW(td->buffers, td->cap_buffers, td->n_buffers + 1);
	buf = &td->buffers[td->n_buffers++];
	memset(buf, 0, sizeof(*buf));
	buf->name = xstrndup(name, strnlen(name, 255));
	buf->page_size = td->ring.page_size;
	return buf;
}

static const char *side_of(const struct trace_dat *td)
{
	const char *side = td->ctx->side;

	if (side && strcmp(side, "unknown"))
		return side;
	/*
	 * Only guests' files hold corrections of their times; a kernel with kvm's events is a
	 * host.
	 */
	return td->guest_file ? "guest" : td->host_file || ring_has_system(&td->ring, "kvm") ? "host" : side;
}

static struct error *write_facts(struct trace_dat *td, int64_t source_id, const char *side)
{
	size_t i;

	for (i = 0; i < td->n_facts; i++)
		TRY(case_fact(td->ctx->db, source_id, side, td->facts[i].key, td->facts[i].value,
			      td->ctx->snapshot, 0));
	return NULL;
}

/* Text of the latency tracers: the parser of ftrace's text reads it. */
static struct error *read_text(struct trace_dat *td, struct dat_buffer *buf)
{
	_cleanup_free_ uint8_t *owned = NULL;
	struct parse_ctx ctx = *td->ctx;
	struct member m = *td->ctx->m;
	const struct parser *p;
	struct error *err;
	uint64_t used, n = 0;
	size_t i;

	if (td->version >= 7 && !dat_v7_text(td, buf))
		return NULL;
	m.data = buf->data;
	m.size = buf->size;
	if (buf->packed) {
		struct ring *r = &td->ring;

		ring_clear_pages(r);
		if (!ring_add_packed(r, 0, buf->data, buf->size, &used))
			dat_cut(td, "the end of the latency tracer's text");
		for (i = 0; i < r->n_chunks; i++)
			n += r->chunks[i].size;
		if (n > RING_MAX_META)
			return error_new(ERR_INPUT, "its text has over 256 MiB: send `trace-cmd report` "
					 "output");
		m.data = owned = xmalloc(n + 1);
		m.size = 0;
		for (i = 0; i < r->n_chunks; i++) {
			const struct ring_chunk *k = &r->chunks[i];

			if (!ring_unpack(r->packing, k->data, k->packed, owned + m.size, k->size)) {
				r->bad_chunks++;
				break;
			}
			m.size += k->size;
		}
		ring_clear_pages(r);
	}
	while (m.size && !m.data[m.size - 1])
		m.size--;
	ctx.m = &m;
	parse_remark(td->ctx, false, "a latency tracer's text");
	p = m.size ? recognise(m.name, m.data, m.size) : NULL;
	if (!p || p->kind != PARSER_LINES)
		return error_new(ERR_INPUT, "its text is not understood: send tracefs' file `trace`");
	err = parser_run(&ctx, p);
	td->ctx->partly |= ctx.partly;
	return err;
}

/* The places of a version 6 file's pages. */
static void v6_pages(struct trace_dat *td, const struct dat_buffer *buf)
{
	size_t i;

	for (i = 0; i < buf->n_cpus; i++) {
		const struct dat_cpu *c = &buf->cpus[i];
		uint64_t left = c->off < td->size ? td->size - c->off : 0;

		if (c->size > left)
			dat_cut(td, "events at the end of some CPUs");
		if (c->size && left)
			ring_add_pages(&td->ring, c->cpu, td->data + c->off, MIN(c->size, left),
				       c->off);
	}
}

static struct error *read_buffer(struct trace_dat *td, struct dat_buffer *buf)
{
	_cleanup_free_ char *path = NULL;
	struct ring *r = &td->ring;
	struct source_desc d = { 0 };
	const char *clock = buf->clock && *buf->clock ? buf->clock : td->clock;
	struct error *err, *closed;

	if (buf->text)
		return read_text(td, buf);
	if (buf->page_size <= r->data_at || buf->page_size > RING_MAX_PAGE)
		return error_new(ERR_INPUT, "damaged: pages of %" PRIu32 " bytes", buf->page_size);
	r->page_size = buf->page_size;
	ring_clear_pages(r);
	if (td->version < 7)
		v6_pages(td, buf);
	else
		dat_v7_pages(td, buf);
	ring_index_pages(r);
	path = *buf->name ? xasprintf("%s#%s", td->ctx->m->path, buf->name) : xstrdup(td->ctx->m->path);
	d.member_id = td->ctx->m->id;
	d.format = "trace.dat";
	d.path = path;
	d.kernel = td->release;
	d.arch = td->machine;
	d.host = td->host;
	d.cpus = (int)(td->has_count ? td->cpu_count : (uint32_t)buf->n_cpus);
	d.clock = ring_clock(clock);
	d.time_resolution_ns = 1;
	d.side = side_of(td);
	d.has_clock_offset = td->has_date;
	d.clock_offset_ns = td->date_ns;
	d.clock_uncertainty_ns = NSEC_PER_MSEC;
	if (clock && (!strcmp(clock, "counter") || (!strcmp(clock, "x86-tsc") && !r->mult)))
		parse_remark(td->ctx, true, "its clock \"%s\" does not count nanoseconds: durations are ticks",
			     clock);
	err = td->ctx->open_stream(td->ctx, &r->s, &d, &ring_ops, r);
	if (!err) {
		ring_run(r);
		err = write_facts(td, r->s->source_id, d.side);
		if (!err)
			err = ring_losses(r, buf->name, true, r->s->source_id);
	}
	if (r->s) {
		closed = stream_close(r->s);
		r->s = NULL;
		if (!err)
			err = closed;
		else
			error_free(closed);
	}
	return err;
}

static bool has_data(const struct dat_buffer *buf)
{
	size_t i;

	for (i = 0; i < buf->n_cpus; i++)
		if (buf->cpus[i].size)
			return true;
	return buf->text;
}

/*
 * Buffers with data; the top one also without, where no other has any: an empty recording is one.
 */
static struct error *read_buffers(struct trace_dat *td)
{
	bool any = false;
	size_t i;

	for (i = 0; i < td->n_buffers && !stream_interrupted(); i++) {
		if (!has_data(&td->buffers[i]))
			continue;
		TRY(read_buffer(td, &td->buffers[i]));
		any = true;
	}
	if (!any && td->n_buffers)
		return read_buffer(td, &td->buffers[0]);
	if (!td->n_buffers)
		return error_new(ERR_INPUT, "no events in it");
	return NULL;
}

static void basic_facts(struct trace_dat *td)
{
	const struct { const char *key, *value; } facts[] = {
		{ "kernel.release", td->release }, { "host.name", td->host },
		{ "trace_cmd.version", td->recorder }, { "trace_cmd.clock", td->clock },
		{ "trace_cmd.compression", td->packing },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(facts); i++)
		if (facts[i].value && *facts[i].value)
			dat_fact(td, facts[i].key, facts[i].value);
}

/* The magic, the version as text, byte order, size of long, page size. */
static struct error *read_file(struct trace_dat *td)
{
	struct ring_buf b = { td->data, td->data + td->size, false, false };
	const char *version;
	const uint8_t *p;

	ring_bytes(&b, sizeof(magic));
	version = ring_string(&b);
	p = ring_bytes(&b, 2);
	if (!version || !p)
		return error_new(ERR_INPUT, "cut after its first bytes: nothing in it can be read");
	td->version = (unsigned int)strtoul(version, NULL, 10);
	if (td->version < 6 || td->version > 7)
		return error_new(ERR_INPUT, "trace.dat version %.8s is not read (6 and 7 are): convert it with "
				 "`trace-cmd convert`", version);
	if (p[0] > 1 || (p[1] != 4 && p[1] != 8))
		return error_new(ERR_INPUT, "damaged in its first bytes: byte order %u, size of long %u", p[0],
				 p[1]);
	td->ring.big_endian = p[0];
	td->ring.swap = td->ring.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	td->ring.long_size = p[1];
	b.swap = td->ring.swap;
	td->ring.page_size = ring_u32(&b);
	if (b.bad)
		return error_new(ERR_INPUT, "cut after its first bytes: nothing in it can be read");
	if (td->ring.page_size < 512 || td->ring.page_size > RING_MAX_PAGE)
		return error_new(ERR_INPUT, "damaged in its first bytes: pages of %" PRIu32 " bytes",
				 td->ring.page_size);
	if (td->version == 6)
		dat_read_v6(td, &b);
	else
		dat_read_v7(td, &b);
	basic_facts(td);
	return read_buffers(td);
}

static void release(struct trace_dat *td)
{
	size_t i;

	ring_deinit(&td->ring);
	for (i = 0; i < td->n_buffers; i++) {
		free(td->buffers[i].name);
		free(td->buffers[i].clock);
		free(td->buffers[i].cpus);
	}
	for (i = 0; i < td->n_facts; i++) {
		free(td->facts[i].key);
		free(td->facts[i].value);
	}
	free(td->facts);
	free(td->buffers);
	free(td->packing);
	free(td->clock);
	free(td->host);
	free(td->release);
	free(td->machine);
	free(td->recorder);
	free(td);
}

static struct error *parse(struct parse_ctx *ctx)
{
	struct trace_dat *td = xcalloc(1, sizeof(*td));
	struct error *err;

	td->ctx = ctx;
	td->data = ctx->m->data;
	td->size = ctx->m->size;
	ring_init(&td->ring, ctx);
	err = read_file(td);
	ring_remarks(&td->ring, td->cut);
	release(td);
	return err;
}

static const struct parser trace_dat = {
	.name = "trace.dat",
	.kind = PARSER_BINARY,
	.sniff = sniff,
	.parse = parse,
};
REGISTER(parsers, &trace_dat);
