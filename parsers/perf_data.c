// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_data.c - the parser of perf.data files: header, features, then one walk over the records.
 * The parts are described in perf_file.h.
 */
#include "perf_file.h"
#include "render.h"

static int sniff(const struct sniff *s)
{
	if (s->len < 8)
		return 0;
	return !memcmp(s->head, "PERFILE2", 8) || !memcmp(s->head, "2ELIFREP", 8) || !memcmp(s->head, "PERFFILE", 8) ? 100 : 0;
}

/* Feature DIR_FORMAT of a header in file mode. */
static bool is_dir_head(const struct sniff *s)
{
	const size_t byte = 72 + 24 / 8;

	if (s->len < 104)
		return false;
	if (!memcmp(s->head, "PERFILE2\x68", 9))
		return s->head[byte] & 1u << (24 % 8);
	return !memcmp(s->head, "2ELIFREP", 8) && s->head[15] == 0x68 && s->head[72 + 7 - 24 / 8] & 1u << (24 % 8);
}

/* A directory of perf record --threads: "data" has the header, "data.0" ... bare records. */
static enum tree_role claim(const struct sniff *s, size_t *root)
{
	const char *slash = strrchr(s->name, '/'), *base = slash ? slash + 1 : s->name;
	uint32_t type;
	uint16_t size;

	*root = (size_t)(base - s->name);
	if (!strcmp(base, "data"))
		return is_dir_head(s) ? TREE_HEAD : TREE_NONE;
	if (strncmp(base, "data.", 5) || !base[5] || strspn(base + 5, "0123456789") != strlen(base + 5) || s->len < 8)
		return TREE_NONE;
	type = load32(s->head);
	size = load16(s->head + 6);
	if (type >= PERF_RECORD_MAX) {
		type = __builtin_bswap32(type);
		size = __builtin_bswap16(size);
	}
	return type && type < PERF_RECORD_MAX && size >= 8 && size <= s->size ? TREE_PART
									      : TREE_NONE;
}

/* The data section as far as the file has it. */
static void data_bounds(struct perf_file *pf, uint64_t *start, uint64_t *end)
{
	const struct perf_section *d = &pf->data_sec;

	*start = d->off;
	if (pf->pipe) {
		*end = pf->size;
	} else if (!d->size) {
		pf->killed = true;
		*end = pf->size;
		parse_remark(pf->ctx, true, "the recorder was killed before it wrote the data's size and the event formats "
			     "(header: data size 0): samples are read to the end of the file");
	} else if (d->size > pf->size - d->off) {
		*end = pf->size;
		pf->killed = true;	/* what should follow the data is missing too */
		parse_remark(pf->ctx, true, "cut at byte %" PRIu64 ": the header says that events reach to byte %" PRIu64
			     ", feature sections (host, event formats) are missing", pf->size, d->off + d->size);
	} else {
		*end = d->off + d->size;
	}
}

/* Name of the clock that times were taken from (perf record -k). */
static const char *clock_name(const struct perf_file *pf)
{
	size_t i;

	for (i = 0; i < pf->n_attrs; i++) {
		if (!(pf->attrs[i].flags & PA_USE_CLOCKID))
			continue;
		switch (pf->attrs[i].clockid) {
		case 0:
			return "wall";
		case 1:
			return "mono";
		case 4:
			return "mono_raw";
		case 7:
			return "boot";
		case 11:
			return "tai";
		default:
			return "unknown";
		}
	}
	return pf->has_time ? "sched" : "unknown";
}

/*
 * Whose recording it is: who was asked for kvm's events is a host, unless the bundle says
 * otherwise.
 */
static const char *side_of(const struct perf_file *pf)
{
	const char *side = pf->ctx->side;
	size_t i;

	for (i = 0; i < pf->n_attrs && (!side || !strcmp(side, "unknown")); i++) {
		const struct perf_attr *a = &pf->attrs[i];
		const struct tp_format *f =
			a->type == PT_TRACEPOINT ? perf_format(pf, a->config) : NULL;

		if (f && !strcmp(f->system, "kvm"))
			return "host";
	}
	return side;
}

static void describe(const struct perf_file *pf, struct source_desc *d)
{
	d->member_id = pf->ctx->m->id;
	d->format = "perf.data";
	d->path = pf->ctx->m->path;
	d->kernel = pf->release;
	d->arch = pf->arch;
	d->host = pf->host;
	d->command = pf->cmdline;
	d->cpus = pf->cpus_online;
	d->clock = clock_name(pf);
	d->time_resolution_ns = 1;
	d->side = side_of(pf);
	if (pf->has_clock_data) {
		d->has_clock_offset = true;
		d->clock_offset_ns = (int64_t)(pf->clock_wall_ns - pf->clock_mono_ns);
		d->clock_uncertainty_ns = NSEC_PER_USEC;
	}
}

static void release(struct perf_file *pf)
{
	size_t i;

	for (i = 0; i < pf->n_attrs; i++) {
		free(pf->attrs[i].name);
		tp_decoder_free(pf->attrs[i].dec);
	}
	for (i = 0; i < pf->n_formats; i++)
		tp_format_free(pf->formats[i]);
	for (i = 0; i < pf->n_facts; i++) {
		free(pf->facts[i].key);
		free(pf->facts[i].value);
	}
	render_stop(pf->render);
	sym_maps_free(pf->maps);
	text_out_free(&pf->cite);
	free(pf->attrs);
	free(pf->ids);
	free(pf->formats);
	free(pf->facts);
	free(pf->runs);
	free(pf->heap);
	free(pf->comm_hist);
	free(pf->comm_now);
	strtab_deinit(&pf->comms);
	free(pf->host);
	free(pf->release);
	free(pf->perf_version);
	free(pf->arch);
	free(pf->cmdline);
	free(pf->cpu_desc);
	if (pf->flat)
		blob_end(&pf->blob);
	spool_deinit(&pf->own_spool);
	free(pf->places);
	free(pf);
}

/*
 * Samples that the kernel counted as lost beyond those it left a LOST record for (perf 6.1 and
 * later ask it at the end).
 */
static struct error *note_lost_samples(struct perf_file *pf)
{
	uint64_t more = pf->lost_samples > pf->lost ? pf->lost_samples - pf->lost : 0;

	if (!more)
		return NULL;
	pf->s->n_lost += more;	/* no event type is complete then */
	return case_loss(pf->ctx->db, pf->s->source_id, -1, CASE_NO_TIME,
			 (int64_t)MIN(more, (uint64_t)INT64_MAX),
			 "samples lost, as counted by the kernel at the end", 0);
}

static struct error *read_records(struct perf_file *pf, uint64_t start, uint64_t end)
{
	struct source_desc desc = { 0 };
	struct error *err, *closed;

	describe(pf, &desc);
	err = pf->ctx->open_stream(pf->ctx, &pf->s, &desc, &perf_ops, pf);
	if (!err) {
		perf_prescan(pf, start, end);
		perf_bind(pf);
		perf_walk(pf, start, end);
		perf_sums(pf);
		perf_give_maps(pf);
		err = perf_write_facts(pf);
	}
	if (pf->s) {
		if (!err)
			err = note_lost_samples(pf);
		closed = stream_close(pf->s);
		if (!err)
			err = closed;
		else
			error_free(closed);
	}
	return err;
}

static struct error *parse(struct parse_ctx *ctx)
{
	struct perf_file *pf = xcalloc(1, sizeof(*pf));
	uint64_t start, end;
	struct error *err;

	pf->ctx = ctx;
	pf->data = pf->file = ctx->m->data;
	pf->size = pf->file_size = ctx->m->size;
	spool_init(&pf->own_spool, NULL, 0);
	strtab_init(&pf->comms, 1u << 20);
	pf->maps = sym_maps_create();
	err = perf_read_header(pf);
	if (!err) {
		data_bounds(pf, &start, &end);
		perf_read_features(pf);
		if (pf->pipe)
			err = perf_pipe_scan(pf, start, end);
		if (!err)
			err = perf_flatten(pf, &start, &end);
		if (!err)
			err = read_records(pf, start, end);
	}
	release(pf);
	return err;
}

static const struct parser perf_data = {
	.name = "perf.data",
	.kind = PARSER_BINARY,
	.sniff = sniff,
	.claim = claim,
	.orphan = "records of a perf.data directory without its file \"data\", which describes them: send all of the directory",
	.parse = parse,
};
REGISTER(parsers, &perf_data);
