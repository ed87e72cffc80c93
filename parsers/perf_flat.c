// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_flat.c - records that don't lie in the member as they are needed, made into one plain
 * stream of this machine's byte order: zstd-compressed ones unpacked, those of the other byte
 * order swapped, those of a directory's files put behind each other. See perf_file.h.
 *
 * perf record -z compresses one continuous zstd stream per file and cuts it into COMPRESSED
 * records (tools/perf/util/zstd.c): a record inside it may go on in the next one. The plain
 * stream goes to the bundle's temporary space; what it holds is described by perf_place.
 */
#include "perf_file.h"

#include <zstd.h>

#define OUT_BYTES	(256u << 10)
#define STEP_BYTES	(128u << 10)
#define MAX_RECORD	(64u << 10)
#define MAX_RATIO	1000
#define RATIO_FLOOR	(1ull << 30)

/* What is on its way out of one file of records. */
struct flat {
	struct perf_file *pf;
	const struct perf_part *part;
	uint8_t		*out;
	size_t		out_n;
	uint64_t	at;		/* of the plain stream */
	ZSTD_DCtx	*zstd;
	bool		zstd_bad;	/* said once; the rest can't be unpacked */
	uint8_t		*pend;		/* unpacked, the beginning of a record */
	size_t		pend_n;
	uint64_t	unpacked, limit;
	uint64_t	records;
};

static struct error *out_flush(struct flat *f)
{
	TRY(blob_add(&f->pf->blob, f->out, f->out_n));
	f->out_n = 0;
	return NULL;
}

/* Note that what comes next lies at @off of the part. */
static void place(struct flat *f, uint64_t off, bool packed)
{
	struct perf_file *pf = f->pf;
	struct perf_place *last = pf->n_places ? &pf->places[pf->n_places - 1] : NULL;
	const struct perf_place now = {
		.pos = f->at, .off = off, .member_id = f->part->id, .packed = packed
	};

	if (last && !packed && !last->packed && last->member_id == now.member_id &&
	    off - last->off == f->at - last->pos)
		return;
	if (last && last->pos == f->at) {
		*last = now;
		return;
	}
	GROW(pf->places, pf->cap_places, pf->n_places + 1);
	if (pf->places)
		pf->places[pf->n_places++] = now;
}

/* Append @size bytes; a whole @record is turned into this machine's byte order. */
static struct error *emit(struct flat *f, const uint8_t *p, size_t size, bool record)
{
	uint8_t *to;

	if (f->out_n + size > OUT_BYTES)
		TRY(out_flush(f));
	to = f->out + f->out_n;
	memcpy(to, p, size);
	if (record && f->pf->swap)
		perf_swap_record(f->pf, to, size);
	if (record && rec_type(to) == PERF_AUXTRACE && size >= 16)
		memset(to + 8, 0, 8);	/* what follows it is left out */
	f->out_n += size;
	f->at += size;
	return NULL;
}

static void zstd_bad(struct flat *f, uint64_t off, const char *why)
{
	f->zstd_bad = true;
	f->pend_n = 0;
	parse_remark(f->pf->ctx, true, "%sthe compressed events can't be unpacked from byte %" PRIu64 " on (%s)",
		     f->part->label, off, why);
}

/* Give out the whole records that have been unpacked. */
static struct error *drain(struct flat *f, uint64_t off)
{
	size_t at = 0;

	while (f->pend_n - at >= 8) {
		const uint8_t *rec = f->pend + at;
		const uint16_t size = get16(f->pf, rec + 6);

		if (size < 8) {
			zstd_bad(f, off, "no records in it");
			return NULL;
		}
		if (size > f->pend_n - at)
			break;
		place(f, off, true);
		TRY(emit(f, rec, size, true));
		at += size;
	}
	memmove(f->pend, f->pend + at, f->pend_n - at);
	f->pend_n -= at;
	return NULL;
}

/*
 * Nothing was written here. A short piece of a frame may be zeros and right; of so many zeros the
 * compressor makes fewer bytes.
 */
static bool only_zeros(const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i])
			return false;
	return len >= 64;
}

static struct error *unpack(struct flat *f, const uint8_t *p, size_t len, uint64_t off)
{
	ZSTD_inBuffer in = { p, len, 0 };

	if (!f->zstd)
		f->zstd = ZSTD_createDCtx();
	if (!f->zstd)
		return error_new(ERR_INTERNAL, "out of memory for zstd");
	if (!f->zstd_bad && only_zeros(p, len))	/* inside a frame they would even be accepted */
		zstd_bad(f, off, "only zeros stand there: the file was not written or copied whole");
	while (!f->zstd_bad) {
		ZSTD_outBuffer out = { f->pend, MAX_RECORD + STEP_BYTES, f->pend_n };
		size_t r = ZSTD_decompressStream(f->zstd, &out, &in);
		const size_t got = out.pos - f->pend_n;

		if (ZSTD_isError(r)) {
			zstd_bad(f, off, ZSTD_getErrorName(r));
			break;
		}
		f->unpacked += got;
		if (f->unpacked > f->limit)
			return error_new(ERR_INPUT, "the compressed events grow to more than %d times the file's size: not read",
					 MAX_RATIO);
		f->pend_n = out.pos;
		TRY(drain(f, off));
		if (in.pos == in.size && out.pos < out.size)
			break;
		if (!got && in.pos == in.size)
			break;
	}
	return NULL;
}

/* Payload of a COMPRESSED or COMPRESSED2 record of which @size bytes are there. */
static struct error *take_packed(struct flat *f, uint32_t type, const uint8_t *rec, size_t size,
				 uint64_t off)
{
	size_t head = type == PERF_COMPRESSED ? 8 : 16, len;

	if (size <= head || f->zstd_bad)
		return NULL;
	len = size - head;
	if (type == PERF_COMPRESSED2)	/* u64 data_size, the rest is padding */
		len = MIN((uint64_t)len, get64(f->pf, rec + 8));
	return unpack(f, rec + head, len, off);
}

/* One record at @off of the part, or what is left of it. */
static struct error *take(struct flat *f, const uint8_t *rec, uint64_t left, uint64_t off,
			  uint64_t *used)
{
	struct perf_file *pf = f->pf;
	const uint32_t type = get32(pf, rec);
	const uint16_t size = get16(pf, rec + 6);
	uint64_t extra;

	*used = MIN((uint64_t)8, left);
	if (size < 8 || !type || type >= PERF_RECORD_MAX) { /* perf_walk() looks for the next one */
		place(f, off, false);
		return emit(f, rec, *used, false);
	}
	if (type == PERF_COMPRESSED || type == PERF_COMPRESSED2) {
		*used = MIN((uint64_t)size, left);
		if (size > left)
			parse_remark(pf->ctx, true, "%scut inside a compressed record at byte %" PRIu64,
				     f->part->label, off);
		return take_packed(f, type, rec, *used, off);
	}
	if (size > left) {
		*used = left;
		parse_remark(pf->ctx, true, "%scut inside a record at byte %" PRIu64 ": the last %" PRIu64
			     " bytes could not be read", f->part->label, off, left);
		return NULL;
	}
	/* Without rounds the files are merged as a whole. */
	if (type == PERF_FINISHED_ROUND && pf->dir_version) {
		*used = size;
		return NULL;
	}
	extra = perf_extra(pf, type, rec, size, left - size);
	*used = size + extra;
	if (pf->pipe && perf_is_meta(type)) {
		if (off >= pf->meta_end)
			perf_meta(pf, type, rec, size, extra);
		return NULL;
	}
	place(f, off, false);
	return emit(f, rec, size, true);
}

static struct error *walk_part(struct flat *f, const struct perf_part *part, uint64_t start,
			       uint64_t end)
{
	struct error *err = NULL;
	uint64_t at = start, used;

	f->zstd_bad = false;
	f->pend_n = 0;
	if (f->zstd)
		ZSTD_DCtx_reset(f->zstd, ZSTD_reset_session_only);
	while (!err && end - at >= 8) {
		err = take(f, part->data + at, end - at, at, &used);
		at += used;
		if (!(f->records++ & 0xffff) && stream_interrupted())
			end = at;
	}
	if (!err && at < end)
		parse_remark(f->pf->ctx, true, "%scut inside a record at byte %" PRIu64 ": the last %" PRIu64
			     " bytes could not be read", part->label, at, end - at);
	if (!err && f->pend_n)
		parse_remark(f->pf->ctx, true, "%sthe compressed events end inside a record", part->label);
	f->part = NULL;
	return err;
}

static struct error *take_part(struct flat *f, const struct perf_part *part, uint64_t start,
			       uint64_t end)
{
	struct error *err;

	f->part = part;
	err = walk_part(f, part, start, end);
	f->part = NULL;
	return err;
}

/* Whether compressed records come before the first plain sample: a killed recorder sets no feature.
 */
static bool is_packed(const struct perf_file *pf, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	while (end - at >= 8) {
		const uint32_t type = rec_type(pf->data + at);
		const uint16_t size = rec_size(pf->data + at);

		if (type == PERF_COMPRESSED || type == PERF_COMPRESSED2)
			return true;
		if (size < 8 || size > end - at || type == PERF_SAMPLE)
			return false;
		at += size + perf_extra(pf, type, pf->data + at, size, end - at - size);
	}
	return false;
}

static int by_number(const void *x, const void *y)
{
	const struct tree_part *const *a = x, *const *b = y;
	unsigned long na = strtoul((*a)->name + 5, NULL, 10),
		      nb = strtoul((*b)->name + 5, NULL, 10);

	return na < nb ? -1 : na > nb;
}

/* data.0, data.1 ... of a directory: records without a header. */
static struct error *take_files(struct flat *f)
{
	const struct tree *t = f->pf->ctx->tree;
	_cleanup_free_ struct tree_part **files = NULL;
	const char *before = "";
	size_t i, n = 0;

	if (!f->pf->dir_version)
		return NULL;
	files = xcalloc(t && t->n ? t->n : 1, sizeof(*files));
	for (i = 0; t && i < t->n; i++)
		if (t->parts[i].role == TREE_PART && strcmp(t->parts[i].name, before)) {
			before = t->parts[i].name;
			files[n++] = &t->parts[i];
		}
	if (!n)
		parse_remark(f->pf->ctx, true, "the head of a perf.data directory: its events lie in the files data.0, data.1 ... "
			     "beside it, which aren't here (name the directory, or pack all of it)");
	qsort(files, n, sizeof(*files), by_number);
	for (i = 0; i < n && !stream_interrupted(); i++) {
		_cleanup_free_ char *label = xasprintf("%s: ", files[i]->name);
		const struct perf_part part = { files[i]->m.id, files[i]->m.data, files[i]->m.size,
						label };

		files[i]->used = true;
		f->limit += part.size * MAX_RATIO;
		TRY(take_part(f, &part, 0, part.size));
	}
	return NULL;
}

static struct error *flatten(struct flat *f, uint64_t start, uint64_t end)
{
	static const uint8_t header[16] = "PERFILE2\x10";	/* no record lies at 0 */
	struct perf_file *pf = f->pf;
	const struct perf_part whole = {
		.id = pf->ctx->m->id, .data = pf->file, .size = pf->file_size, .label = ""
	};

	TRY(emit(f, header, sizeof(header), false));
	TRY(take_part(f, &whole, start, end));
	TRY(take_files(f));
	TRY(out_flush(f));
	return blob_map(&pf->blob, &pf->data, &pf->size);
}

struct error *perf_flatten(struct perf_file *pf, uint64_t *start, uint64_t *end)
{
	struct spool *sp = pf->ctx->m->spool ? pf->ctx->m->spool : &pf->own_spool;
	struct flat f = { .pf = pf };
	struct error *err;

	if (!pf->dir_version && !pf->packed && !pf->swap && !is_packed(pf, *start, *end))
		return NULL;
	f.limit = pf->file_size * MAX_RATIO + RATIO_FLOOR;
	f.out = xmalloc(OUT_BYTES);
	f.pend = xmalloc(MAX_RECORD + STEP_BYTES);
	blob_begin(&pf->blob, sp);
	err = flatten(&f, *start, *end);
	pf->flat = true;
	*start = 16;
	*end = pf->size;
	free(f.out);
	free(f.pend);
	ZSTD_freeDCtx(f.zstd);
	return err;
}

bool perf_place_of(const struct perf_file *pf, uint64_t pos, int64_t *member_id, uint64_t *off)
{
	size_t lo = 0, hi = pf->n_places;

	*member_id = pf->ctx->m->id;
	*off = pos;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (pf->places[mid].pos <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return !pf->flat;
	*member_id = pf->places[lo - 1].member_id;
	*off = pf->places[lo - 1].off +
	       (pf->places[lo - 1].packed ? 0 : pos - pf->places[lo - 1].pos);
	return true;
}
