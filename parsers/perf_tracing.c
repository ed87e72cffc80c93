// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_tracing.c - the tracepoint formats that perf embeds (feature TRACING_DATA), which is
 * trace.dat's old header (tools/perf/util/trace-event-info.c writes it); see perf_file.h.
 */
#include "perf_file.h"

#define MAX_SYSTEMS	4096
#define MAX_SYSTEM_NAME	128

static void add_format(struct perf_file *pf, const char *system, const uint8_t *text, size_t len)
{
	_cleanup_error_ struct error *err = NULL;
	struct tp_format *f;

	if (pf->n_formats >= PERF_MAX_FORMATS)
		return;
	err = tp_format_parse(&f, system, (const char *)text, len);
	if (err) {
		parse_remark(pf->ctx, true, "a format of %s is not understood (%s): its events are only counted", system,
			     err->what);
		return;
	}
	GROW(pf->formats, pf->cap_formats, pf->n_formats + 1);
	pf->formats[pf->n_formats++] = f;
}

/* A name, a u64 size and that many bytes. */
static bool skip_named(struct perf_buf *b, const char *name)
{
	const char *s = buf_string(b);

	return s && !strcmp(s, name) && buf_bytes(b, buf_u64(b));
}

static bool read_system(struct perf_file *pf, struct perf_buf *b, const char *system)
{
	uint32_t n = buf_u32(b), i;

	for (i = 0; i < n && !b->bad; i++) {
		uint64_t size = buf_u64(b);
		const uint8_t *text = buf_bytes(b, size);

		if (!text)
			return false;
		if (*system)
			add_format(pf, system, text, size);
	}
	return !b->bad;
}

static bool read_all(struct perf_file *pf, struct perf_buf *b)
{
	static const uint8_t magic[10] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *p = buf_bytes(b, sizeof(magic));
	uint32_t systems, i;

	if (!p || memcmp(p, magic, sizeof(magic)) || !buf_string(b))
		return false;
	buf_bytes(b, 2);	/* byte order: the file's; size of long */
	buf_u32(b);		/* page size */
	if (!skip_named(b, "header_page") || !skip_named(b, "header_event"))
		return false;
	if (!read_system(pf, b, ""))	/* ftrace's own events never occur in perf.data */
		return false;
	systems = buf_u32(b);
	for (i = 0; i < systems && i < MAX_SYSTEMS; i++) {
		const char *name = buf_string(b);

		if (!name || strlen(name) > MAX_SYSTEM_NAME || !*name || !read_system(pf, b, name))
			return false;
	}
	return true;	/* kallsyms, printk formats and comms follow; nothing here needs them */
}

static int by_id(const void *x, const void *y)
{
	const struct tp_format *a = *(struct tp_format *const *)x,
			       *b = *(struct tp_format *const *)y;

	return a->id < b->id ? -1 : a->id > b->id;
}

void perf_tracing_data(struct perf_file *pf, struct perf_buf b)
{
	if (!read_all(pf, &b))
		parse_remark(pf->ctx, true, "the embedded tracepoint formats are damaged: only %zu were read", pf->n_formats);
	perf_tracing_done(pf);
}

void perf_tracing_done(struct perf_file *pf)
{
	if (pf->n_formats)
		qsort(pf->formats, pf->n_formats, sizeof(*pf->formats), by_id);
}

const struct tp_format *perf_format(const struct perf_file *pf, uint64_t id)
{
	size_t lo = 0, hi = pf->n_formats;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (pf->formats[mid]->id == id)
			return pf->formats[mid];
		if (pf->formats[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
