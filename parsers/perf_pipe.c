// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_pipe.c - pipe mode (perf record -o -): a header of 16 bytes, then what file mode keeps in
 * sections comes as records among the events; see perf_file.h.
 *
 * Layouts: tools/lib/perf/include/perf/event.h. perf writes them before the first event.
 */
#include "perf_file.h"

#define ATTR_MIN		64	/* PERF_ATTR_SIZE_VER0 */
#define UPDATE_NAME		2	/* PERF_EVENT_UPDATE__NAME */

bool perf_is_meta(uint32_t type)
{
	return type == PERF_ATTR || type == PERF_EVENT_TYPE || type == PERF_TRACING_DATA ||
	       type == PERF_EVENT_UPDATE || type == PERF_FEATURE;
}

/* struct perf_event_attr, then ids to the record's end. */
static void meta_attr(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	size_t len = size >= 8 + ATTR_MIN ? get32(pf, rec + 12) : 0, at;
	int idx;

	if (size >= 8 + ATTR_MIN && !len)	/* before the attribute said its size */
		len = ATTR_MIN;
	if (len < ATTR_MIN || len > size - 8) {
		parse_remark(pf->ctx, true, "an event's description is damaged (%zu of %zu bytes)", len, size);
		return;
	}
	idx = perf_add_attr(pf, rec + 8, len);
	if (idx < 0) {
		parse_remark(pf->ctx, true, "more than %d events, the rest is left out", PERF_MAX_ATTRS);
		return;
	}
	for (at = 8 + len; size - at >= 8; at += 8)
		perf_add_id(pf, get64(pf, rec + at), (size_t)idx);
	if (pf->meta_end)
		perf_layout_done(pf);
}

static void set_name(struct perf_attr *a, const uint8_t *name, size_t max)
{
	size_t len = strnlen((const char *)name, max);

	if (!a->name && len)
		a->name = xstrndup((const char *)name, len);
}

/* u64 id of the tracepoint, name[64]: perf before 3.8. */
static void meta_event_type(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	size_t i;

	for (i = 0; i < pf->n_attrs && size > 16; i++)
		if (pf->attrs[i].type == PT_TRACEPOINT && pf->attrs[i].config == get64(pf, rec + 8))
			set_name(&pf->attrs[i], rec + 16, size - 16);
}

/* u64 type, u64 id of the event, and what is new: only names matter here. */
static void meta_event_update(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	struct perf_attr *a;

	if (size <= 24 || get64(pf, rec + 8) != UPDATE_NAME)
		return;
	a = perf_attr_by_id(pf, get64(pf, rec + 16));
	if (a)
		set_name(a, rec + 24, size - 24);
}

void perf_meta(struct perf_file *pf, uint32_t type, const uint8_t *rec, size_t size,
	       uint64_t extra)
{
	switch (type) {
	case PERF_ATTR:
		meta_attr(pf, rec, size);
		break;
	case PERF_EVENT_TYPE:
		meta_event_type(pf, rec, size);
		break;
	case PERF_EVENT_UPDATE:
		meta_event_update(pf, rec, size);
		break;
	case PERF_TRACING_DATA:
		perf_tracing_data(
			pf, (struct perf_buf){ rec + size, rec + size + extra, false, pf->swap });
		break;
	case PERF_FEATURE:
		if (size >= 16 && get64(pf, rec + 8) < PERF_MAX_FEATURE)
			perf_feature(pf, (unsigned int)get64(pf, rec + 8),
				     (struct perf_buf){ rec + 16, rec + size, false, pf->swap });
		break;
	}
}

uint64_t perf_extra(const struct perf_file *pf, uint32_t type, const uint8_t *rec, size_t size,
		    uint64_t left)
{
	const bool swap = pf->swap && !pf->flat;

	if (type == PERF_AUXTRACE && size >= 16) {
		uint64_t n = load64(rec + 8);

		return MIN(swap ? __builtin_bswap64(n) : n, left);
	}
	if (type == PERF_TRACING_DATA && pf->pipe && size >= 12) {
		uint64_t n = swap ? __builtin_bswap32(load32(rec + 8)) : load32(rec + 8);

		return MIN((n + 7) & ~7ull, left);
	}
	return 0;
}

struct error *perf_pipe_scan(struct perf_file *pf, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	while (end - at >= 8) {
		const uint8_t *rec = pf->data + at;
		const uint32_t type = get32(pf, rec);
		const uint16_t size = get16(pf, rec + 6);
		uint64_t extra;

		if (size < 8 || size > end - at || type == PERF_SAMPLE || type == PERF_COMPRESSED ||
		    type == PERF_COMPRESSED2)
			break;
		extra = perf_extra(pf, type, rec, size, end - at - size);
		if (perf_is_meta(type))
			perf_meta(pf, type, rec, size, extra);
		at += size + extra;
	}
	pf->meta_end = at;
	if (!pf->n_attrs)
		return error_new(ERR_INPUT, "perf.data in pipe mode describes no event before byte %" PRIu64
				 ": its beginning is missing or damaged", at);
	perf_layout_done(pf);
	return NULL;
}
