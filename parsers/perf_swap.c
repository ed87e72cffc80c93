// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_swap.c - records of the other byte order (a big-endian host's: s390x, ppc64) turned into
 * this machine's, field by field; see perf_file.h. What nothing here reads stays as it is.
 */
#include "perf_file.h"

static void swap16(uint8_t *p)
{
	uint16_t v = __builtin_bswap16(load16(p));

	memcpy(p, &v, sizeof(v));
}

static void swap32s(uint8_t *p, size_t n)
{
	for (; n; n--, p += 4) {
		uint32_t v = __builtin_bswap32(load32(p));

		memcpy(p, &v, sizeof(v));
	}
}

static void swap64s(uint8_t *p, size_t n)
{
	for (; n; n--, p += 8) {
		uint64_t v = __builtin_bswap64(load64(p));

		memcpy(p, &v, sizeof(v));
	}
}

/* A pair of u32, or one u64. */
static void swap_word(uint8_t *p, bool pair)
{
	if (pair)
		swap32s(p, 2);
	else
		swap64s(p, 1);
}

/* What sample_id_all adds to the end of records; @fixed bytes come before it. */
static void swap_trailer(const struct perf_file *pf, uint8_t *rec, size_t size, size_t fixed)
{
	const bool by_id = pf->n_attrs > 1 && pf->id_from_end;
	const struct perf_attr *a;
	size_t back;

	if (!pf->n_attrs || !pf->sample_id_all)
		return;
	if (by_id && size >= fixed + pf->id_from_end)
		swap64s(rec + size - pf->id_from_end, 1);
	a = perf_attr_of(pf, rec, size);
	if (!a)
		a = pf->attrs;
	for (back = 8; back <= a->trailer && fixed + back <= size; back += 8)
		if (!by_id || back != pf->id_from_end)
			swap_word(rec + size - back, back == a->t_tid || back == a->t_cpu);
}

/* READ, CALLCHAIN and RAW; what comes behind isn't read. */
static void swap_variable(const struct perf_file *pf, const struct perf_attr *a, uint8_t *rec,
			  size_t size)
{
	const struct tp_format *format;
	size_t at = a->fixed, n;

	if (a->sample_type & PS_READ) {
		if (size - at < 8)
			return;
		swap64s(rec + at, 1);	/* a value, or how many follow */
		n = perf_read_part(a->read_format, rec + at, size - at);
		if (!n)
			return;
		swap64s(rec + at + 8, n / 8 - 1);
		at += n;
	}
	if (a->sample_type & PS_CALLCHAIN) {
		uint64_t nr;

		if (size - at < 8)
			return;
		swap64s(rec + at, 1);
		nr = load64(rec + at);
		if (nr > (size - at - 8) / 8)
			return;
		swap64s(rec + at + 8, nr);
		at += 8 + (size_t)nr * 8;
	}
	if (!(a->sample_type & PS_RAW) || size - at < 4)
		return;
	swap32s(rec + at, 1);
	n = load32(rec + at);
	format = a->type == PT_TRACEPOINT ? perf_format(pf, a->config) : NULL;
	if (format && n <= size - at - 4)
		tp_swap(format, rec + at + 4, n);
}

static void swap_sample(const struct perf_file *pf, uint8_t *rec, size_t size)
{
	const bool by_id = pf->n_attrs > 1 && pf->id_at != PERF_NONE;
	const struct perf_attr *a;
	size_t at;

	if (by_id && pf->id_at + 8u <= size)
		swap64s(rec + pf->id_at, 1);
	a = perf_attr_of(pf, rec, size);
	if (!a || a->fixed > size)
		return;
	for (at = 8; at < a->fixed; at += 8)
		if (!by_id || at != pf->id_at)
			swap_word(rec + at, at == a->tid || at == a->cpu);
	swap_variable(pf, a, rec, size);
}

/* u64 number, then u64 pid and a comm of 16 bytes each. */
static void swap_thread_map(uint8_t *rec, size_t size)
{
	size_t at;

	swap64s(rec + 8, size >= 16);
	for (at = 16; at + 24 <= size; at += 24)
		swap64s(rec + at, 1);
}

/* What lies between the first numbers and the name. */
static void swap_rest(uint8_t *rec, uint32_t type, size_t size)
{
	if (type == PERF_MMAP2 && size >= 72)
		swap32s(rec + 64, 2);		/* prot, flags */
	if (type == PERF_KSYMBOL && size >= 24) {
		swap32s(rec + 16, 1);
		swap16(rec + 22);
	}
}

void perf_swap_record(const struct perf_file *pf, uint8_t *rec, size_t size)
{
	/* Fixed parts behind the header: u32s, then u64s (include/uapi/linux/perf_event.h). */
	static const struct { uint8_t type, n32, n64;
	} shapes[] = {
		{ PERF_MMAP, 2, 3 },	 { PERF_MMAP2, 2, 3 },	  { PERF_KSYMBOL, 0, 1 },
		{ PERF_LOST, 0, 2 },	  { PERF_COMM, 2, 0 },
		{ PERF_EXIT, 4, 1 },	 { PERF_FORK, 4, 1 },	  { PERF_LOST_SAMPLES, 0, 1 },
		{ PERF_AUXTRACE, 0, 1 }, { PERF_BUILD_ID, 1, 0 },
	};
	uint32_t type;
	size_t i;

	swap32s(rec, 1);
	swap16(rec + 4);
	swap16(rec + 6);
	type = rec_type(rec);
	if (type == PERF_SAMPLE)
		swap_sample(pf, rec, size);
	else if (type == PERF_THREAD_MAP)
		swap_thread_map(rec, size);
	else if (type == PERF_ID_INDEX)
		swap64s(rec + 8, (size - 8) / 8);
	swap_rest(rec, type, size);
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const size_t n32 = shapes[i].n32, fixed = 8 + 4 * n32 + 8u * shapes[i].n64;

		if (shapes[i].type != type || size < fixed)
			continue;
		swap32s(rec + 8, n32);
		swap64s(rec + 8 + 4 * n32, shapes[i].n64);
		if (type < PERF_KERNEL_MAX)
			swap_trailer(pf, rec, size, fixed);
	}
}
