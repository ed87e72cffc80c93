// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_header.c - perf.data's header, its attributes and ids, and the layout of samples; see
 * perf_file.h.
 */
#include "perf_file.h"

#define HEADER_SIZE	104
#define PIPE_HEADER_SIZE 16
#define ATTR_MIN	64	/* PERF_ATTR_SIZE_VER0 */
#define ATTR_MAX	4096

static const char magic2[8] = "PERFILE2", magic2_swapped[8] = "2ELIFREP", magic1[8] = "PERFFILE";

static struct perf_section section_at(const struct perf_file *pf, const uint8_t *p)
{
	return (struct perf_section){ get64(pf, p), get64(pf, p + 8) };
}

/* Cut @s to what the file has; false when nothing is left. */
static bool clip(const struct perf_file *pf, struct perf_section *s)
{
	if (s->off >= pf->size)
		return false;
	s->size = MIN(s->size, pf->size - s->off);
	return s->size > 0;
}

/*
 * The flags are a C bit field: a big-endian machine fills each byte from its highest bit, in the
 * same order of bytes. (The two bits of precise_ip come out reversed; nothing here needs them.)
 */
static uint64_t flags_of(const uint8_t *p, bool swap)
{
	uint64_t v = 0;
	size_t i;

	if (!swap)
		return load64(p);
	for (i = 0; i < 64; i++)
		v |= (uint64_t)(p[i / 8] >> (7 - i % 8) & 1) << i;
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? load64(p) : v;
}

bool perf_parse_attr(struct perf_attr *a, const uint8_t *p, size_t len, bool swap)
{
	struct perf_buf b = { p, p + len, false, swap };

	memset(a, 0, sizeof(*a));
	if (len < ATTR_MIN)
		return false;
	a->type = buf_u32(&b);
	buf_u32(&b);		/* size */
	a->config = buf_u64(&b);
	a->period = buf_u64(&b);
	a->sample_type = buf_u64(&b);
	a->read_format = buf_u64(&b);
	a->flags = flags_of(buf_bytes(&b, 8), swap);
	buf_bytes(&b, 24);	/* wakeup, breakpoint type; config1, config2 */
	a->branch_type = buf_u64(&b);
	a->regs_user = buf_u64(&b);
	buf_u32(&b);		/* sample_stack_user */
	a->clockid = (int32_t)buf_u32(&b);
	a->regs_intr = buf_u64(&b);
	return true;
}

/*
 * Parts of fixed size come in this order in a sample, and (those of `trailer`) in the same order
 * behind other records.
 */
static void set_layout(struct perf_attr *a)
{
	static const struct {
		uint64_t bit;
		size_t field;
	} parts[] = {
		{ PS_IDENTIFIER, offsetof(struct perf_attr, id) },
		{ PS_IP, offsetof(struct perf_attr, ip) },
		{ PS_TID, offsetof(struct perf_attr, tid) },
		{ PS_TIME, offsetof(struct perf_attr, time) },
		{ PS_ADDR, offsetof(struct perf_attr, addr) },
		{ PS_ID, offsetof(struct perf_attr, id) },
		{ PS_STREAM_ID, 0 },
		{ PS_CPU, offsetof(struct perf_attr, cpu) },
		{ PS_PERIOD, offsetof(struct perf_attr, period_at) },
	};
	static const struct {
		uint64_t bit;
		size_t field;
	} trailers[] = {
		/* from the end backwards */
		{ PS_IDENTIFIER, offsetof(struct perf_attr, t_id) },
		{ PS_CPU, offsetof(struct perf_attr, t_cpu) },
		{ PS_STREAM_ID, 0 },
		{ PS_ID, offsetof(struct perf_attr, t_id) },
		{ PS_TIME, offsetof(struct perf_attr, t_time) },
		{ PS_TID, offsetof(struct perf_attr, t_tid) },
	};
	uint16_t at = 8, back = 0;
	size_t i;

	a->ip = a->tid = a->time = a->addr = a->id = a->cpu = a->period_at = PERF_NONE;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		uint16_t *field = (uint16_t *)((char *)a + parts[i].field);

		if (!(a->sample_type & parts[i].bit))
			continue;
		if (parts[i].field && *field == PERF_NONE)
			*field = at;
		at = (uint16_t)(at + 8);
	}
	a->fixed = at;
	a->raw_size_at = PERF_NONE;
	if (a->sample_type & PS_RAW && !(a->sample_type & (PS_CALLCHAIN | PS_READ)))
		a->raw_size_at = at;
	if (!(a->flags & PA_SAMPLE_ID_ALL))
		return;
	for (i = 0; i < ARRAY_SIZE(trailers); i++) {
		uint16_t *field = (uint16_t *)((char *)a + trailers[i].field);

		if (!(a->sample_type & trailers[i].bit))
			continue;
		back = (uint16_t)(back + 8);
		if (trailers[i].field && !*field)
			*field = back;
	}
	a->trailer = back;
}

int perf_add_attr(struct perf_file *pf, const uint8_t *p, size_t len)
{
	struct perf_attr a;

	if (pf->n_attrs >= PERF_MAX_ATTRS || !perf_parse_attr(&a, p, len, pf->swap))
		return -1;
	set_layout(&a);
	a.ev = EVENT_TYPE_NONE;
	GROW(pf->attrs, pf->cap_attrs, pf->n_attrs + 1);
	pf->attrs[pf->n_attrs] = a;
	return (int)pf->n_attrs++;
}

static size_t id_slot(const struct perf_file *pf, uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15ull) >> 32) & (pf->ids_size - 1);
}

static void put_id(struct perf_file *pf, uint64_t id, uint32_t attr)
{
	size_t i = id_slot(pf, id);

	while (pf->ids[i].attr && pf->ids[i].id != id)
		i = (i + 1) & (pf->ids_size - 1);
	pf->n_ids += !pf->ids[i].attr;
	pf->ids[i] = (struct perf_id){ id, attr };
}

void perf_add_id(struct perf_file *pf, uint64_t id, size_t attr)
{
	if (pf->n_ids >= PERF_MAX_IDS)
		return;
	if (pf->n_ids * 2 >= pf->ids_size) {
		struct perf_id *old = pf->ids;
		size_t n = pf->ids_size, i;

		pf->ids_size = n ? n * 2 : 256;
		pf->ids = xcalloc(pf->ids_size, sizeof(*pf->ids));
		pf->n_ids = 0;
		for (i = 0; i < n; i++)
			if (old[i].attr)
				put_id(pf, old[i].id, old[i].attr);
		free(old);
	}
	put_id(pf, id, (uint32_t)attr + 1);
	pf->attrs[attr].n_ids++;
}

void perf_layout_done(struct perf_file *pf)
{
	const struct perf_attr *first = pf->attrs;
	bool same = true;
	size_t i;

	pf->id_at = PERF_NONE;
	pf->time_at = PERF_NONE;
	if (!pf->n_attrs)
		return;
	pf->time_at = first->time;
	pf->sample_id_all = first->flags & PA_SAMPLE_ID_ALL;
	pf->id_at = first->id;
	pf->id_from_end = first->t_id;
	for (i = 0; i < pf->n_attrs; i++) {
		const struct perf_attr *a = &pf->attrs[i];

		same &= a->id == first->id && a->t_id == first->t_id;
		if (a->time != first->time)
			pf->time_at = PERF_NONE;
		pf->has_time |= a->time != PERF_NONE;
	}
	if (pf->n_attrs > 1 && !same)
		parse_remark(pf->ctx, true,
			     "the recorded events carry their id at different places: samples may be told apart wrongly");
	if (pf->n_attrs > 1 && pf->id_at == PERF_NONE)
		parse_remark(pf->ctx, true, "%zu events were recorded without ids: all samples are taken for the first one",
			     pf->n_attrs);
}

struct perf_attr *perf_attr_by_id(const struct perf_file *pf, uint64_t id)
{
	size_t i;

	if (!pf->ids_size)
		return NULL;
	for (i = id_slot(pf, id); pf->ids[i].attr; i = (i + 1) & (pf->ids_size - 1))
		if (pf->ids[i].id == id)
			return &pf->attrs[pf->ids[i].attr - 1];
	return NULL;
}

struct perf_attr *perf_attr_of(const struct perf_file *pf, const uint8_t *rec, size_t size)
{
	uint64_t id;

	if (pf->n_attrs == 1)
		return pf->attrs;
	if (!pf->n_attrs)
		return NULL;
	if (rec_type(rec) == PERF_SAMPLE) {
		if (pf->id_at == PERF_NONE)
			return pf->attrs;
		if (pf->id_at + 8u > size)
			return NULL;
		id = load64(rec + pf->id_at);
	} else {
		if (!pf->id_from_end)
			return pf->attrs;
		if (pf->id_from_end + 8u > size)
			return NULL;
		id = load64(rec + size - pf->id_from_end);
		if (!id)	/* synthesised by the recorder */
			return pf->attrs;
	}
	return perf_attr_by_id(pf, id);
}

char *perf_attr_label(const struct perf_attr *a)
{
	static const char *const hardware[] = {
		"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
		"major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	};

	if (a->type == PT_TRACEPOINT)
		return xasprintf("tracepoint:%" PRIu64, a->config);
	if (a->type == PT_HARDWARE && a->config < ARRAY_SIZE(hardware))
		return xstrdup(hardware[a->config]);
	if (a->type == PT_SOFTWARE && a->config < ARRAY_SIZE(software))
		return xstrdup(software[a->config]);
	return xasprintf("event:%" PRIu32 ":0x%" PRIx64, a->type, a->config);
}

/* include/uapi/linux/perf_event.h, read_format */
size_t perf_read_part(uint64_t fmt, const uint8_t *p, size_t left)
{
	size_t times = 8 * (!!(fmt & PR_ENABLED) + !!(fmt & PR_RUNNING));
	size_t value = 8 * (1 + !!(fmt & PR_ID) + !!(fmt & PR_LOST));
	uint64_t nr;

	if (!(fmt & PR_GROUP))
		return value + times <= left ? value + times : 0;
	if (left < 8 + times)
		return 0;
	nr = load64(p);
	if (nr > (left - 8 - times) / value)
		return 0;
	return 8 + times + (size_t)nr * value;
}

bool perf_sample_parse(const struct perf_attr *a, const uint8_t *rec, size_t size,
		       struct perf_sample *out)
{
	size_t at = a->fixed;

	memset(out, 0, sizeof(*out));
	if (at > size)
		return false;
	if (a->sample_type & PS_READ) {
		size_t n = perf_read_part(a->read_format, rec + at, size - at);

		if (!n)
			return false;
		at += n;
	}
	if (a->sample_type & PS_CALLCHAIN) {
		uint64_t nr;

		if (size - at < 8)
			return false;
		nr = load64(rec + at);
		if (nr > (size - at - 8) / 8)
			return false;
		out->callchain = (uint32_t)at + 8;
		out->n_callchain = (uint32_t)nr;
		at += 8 + (size_t)nr * 8;
	}
	if (a->sample_type & PS_RAW) {
		if (size - at < 4 || load32(rec + at) > size - at - 4)
			return false;
		out->raw = (uint32_t)at + 4;
		out->raw_size = load32(rec + at);
	}
	return true;
}

static struct error *read_ids(struct perf_file *pf, struct perf_section sec, size_t attr)
{
	uint64_t i, n = sec.size / 8;

	if (!n)
		return NULL;
	if (!clip(pf, &sec) || sec.size / 8 < n) {
		parse_remark(pf->ctx, true, "the ids of event %zu lie outside the file", attr + 1);
		n = sec.off < pf->size ? sec.size / 8 : 0;
	}
	for (i = 0; i < n && i < PERF_MAX_IDS; i++)
		perf_add_id(pf, get64(pf, pf->data + sec.off + i * 8), attr);
	return NULL;
}

/* Names by id from the section that perf wrote before 3.8: u64 config, char name[64]. */
static void read_event_types(struct perf_file *pf)
{
	struct perf_section sec = pf->types_sec;
	uint64_t at;
	size_t i;

	if (!clip(pf, &sec))
		return;
	for (at = 0; at + 72 <= sec.size; at += 72) {
		const uint8_t *p = pf->data + sec.off + at;
		size_t len = strnlen((const char *)p + 8, 64);

		for (i = 0; i < pf->n_attrs && len; i++)
			if (!pf->attrs[i].name && pf->attrs[i].type == PT_TRACEPOINT &&
			    pf->attrs[i].config == get64(pf, p))
				pf->attrs[i].name = xstrndup((const char *)p + 8, len);
	}
}

static struct error *read_attrs(struct perf_file *pf)
{
	struct perf_section sec = pf->attrs_sec;
	uint64_t want = sec.size, at;

	if (pf->attr_size < ATTR_MIN + 16 || pf->attr_size > ATTR_MAX)
		return error_new(ERR_INPUT, "perf.data header: event descriptions of %" PRIu64 " bytes each: damaged header",
				 pf->attr_size);
	if (!clip(pf, &sec))
		return error_new(ERR_INPUT, "perf.data is cut: no event descriptions (they should start at byte %" PRIu64
				 " of %" PRIu64 ")", pf->attrs_sec.off, pf->size);
	if (sec.size < want)
		parse_remark(pf->ctx, true, "cut inside the event descriptions at byte %" PRIu64, pf->size);
	for (at = 0; at + pf->attr_size <= sec.size; at += pf->attr_size) {
		const uint8_t *p = pf->data + sec.off + at;
		int idx = perf_add_attr(pf, p, pf->attr_size - 16);

		if (idx < 0) {
			parse_remark(pf->ctx, true, "more than %d events, the rest is left out", PERF_MAX_ATTRS);
			break;
		}
		TRY(read_ids(pf, section_at(pf, p + pf->attr_size - 16), (size_t)idx));
	}
	if (!pf->n_attrs)
		return error_new(ERR_INPUT, "perf.data holds no event descriptions");
	read_event_types(pf);
	return NULL;
}

/*
 * The bits are an array of unsigned long: a big-endian host with 32 bits swaps each half on its
 * own. HOSTNAME (3) is always there and tells which (as tools/perf/util/header.c does).
 */
static void read_feature_bits(struct perf_file *pf, const uint8_t *p)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pf->features); i++)
		pf->features[i] = get64(pf, p + 8 * i);
	if (!pf->swap || pf->features[0] >> 3 & 1)
		return;
	for (i = 0; i < ARRAY_SIZE(pf->features); i++)
		pf->features[i] = (uint64_t)get32(pf, p + 8 * i + 4) << 32 | get32(pf, p + 8 * i);
}

struct error *perf_read_header(struct perf_file *pf)
{
	const uint8_t *p = pf->data;
	uint64_t hsize;

	if (pf->size < 16)
		return error_new(ERR_INPUT, "perf.data is cut inside its header (%" PRIu64 " bytes)", pf->size);
	/* The old magic reads the same in both orders: the header's size, below 256, tells. */
	pf->swap = !memcmp(p, magic2_swapped, 8) ||
		   (!memcmp(p, magic1, 8) && load64(p + 8) >> 56);
	if (!pf->swap && memcmp(p, magic2, 8) && memcmp(p, magic1, 8))
		return error_new(ERR_INPUT, "no perf.data");
	hsize = get64(pf, p + 8);
	if (hsize == PIPE_HEADER_SIZE) {
		pf->pipe = true;
		pf->data_sec =
			(struct perf_section){ PIPE_HEADER_SIZE, pf->size - PIPE_HEADER_SIZE };
		return NULL;
	}
	if (hsize != HEADER_SIZE && hsize != HEADER_SIZE - 32)
		return error_new(ERR_INPUT, "perf.data with a header of %" PRIu64 " bytes: damaged header", hsize);
	if (pf->size < hsize)
		return error_new(ERR_INPUT, "perf.data is cut inside its header (%" PRIu64 " of %" PRIu64 " bytes)", pf->size,
				 hsize);
	pf->attr_size = get64(pf, p + 16);
	pf->attrs_sec = section_at(pf, p + 24);
	pf->data_sec = section_at(pf, p + 40);
	pf->types_sec = section_at(pf, p + 56);
	if (hsize == HEADER_SIZE)
		read_feature_bits(pf, p + 72);
	TRY(read_attrs(pf));
	perf_layout_done(pf);
	if (pf->data_sec.off >= pf->size)
		return error_new(ERR_INPUT, "perf.data is cut before its events (byte %" PRIu64 ", they start at %" PRIu64 ")",
				 pf->size, pf->data_sec.off);
	return NULL;
}
