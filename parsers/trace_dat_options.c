// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_dat_options.c - what the options of a trace.dat say; see trace_dat.h. Unknown ones are
 * skipped, as the format asks for.
 */
#include "trace_dat.h"

#define MAX_SHIFT_SAMPLES	(1u << 20)

enum option {
	OPT_DATE = 1, OPT_CPUSTAT = 2, OPT_BUFFER = 3, OPT_TRACECLOCK = 4, OPT_UNAME = 5,
	OPT_HOOK = 6,
	OPT_OFFSET = 7, OPT_CPUCOUNT = 8, OPT_VERSION = 9, OPT_PROCMAPS = 10, OPT_TRACEID = 11,
	OPT_TIME_SHIFT = 12, OPT_GUEST = 13, OPT_TSC2NSEC = 14, OPT_STRINGS = 15,
	OPT_BUFFER_TEXT = 22,
	OPT_LAST_BOOT = 25,
};

/* The option's text without its NUL or line end; malloc'd. */
static char *text_of(const struct ring_buf *b)
{
	size_t n = strnlen((const char *)b->p, (size_t)(b->end - b->p));

	while (n && (b->p[n - 1] == '\n' || b->p[n - 1] == ' '))
		n--;
	return xstrndup((const char *)b->p, MIN(n, (size_t)4096));
}

static void set_text(char **field, char *value)
{
	free(*field);
	*field = value;
}

/* "Linux NODE RELEASE MACHINE" */
static void take_uname(struct trace_dat *td, const struct ring_buf *b)
{
	_cleanup_free_ char *text = text_of(b);
	char *save, *word = strtok_r(text, " ", &save);
	char **fields[] = { NULL, &td->host, &td->release, &td->machine };
	size_t i;

	for (i = 0; word && i < ARRAY_SIZE(fields); i++, word = strtok_r(NULL, " ", &save))
		if (fields[i])
			set_text(fields[i], xstrdup(word));
}

/* BUFFER and BUFFER_TEXT; version 6 has only offset and name. */
static void take_buffer(struct trace_dat *td, struct ring_buf *b, bool is_text)
{
	uint64_t off = ring_u64(b);
	const char *name = ring_string(b), *clock;
	struct dat_buffer *buf;
	uint32_t n, i;

	if (!name)
		return;
	buf = dat_add_buffer(td, name);
	if (!buf)
		return;
	buf->off = off;
	buf->text = is_text;
	buf->page_size = td->ring.page_size;
	if (td->version < 7)
		return;
	clock = ring_string(b);
	if (clock)
		buf->clock = xstrdup(clock);
	if (is_text)
		return;
	buf->page_size = ring_u32(b);
	n = ring_u32(b);
	if (b->bad || n > (uint64_t)(b->end - b->p) / 20 || n > RING_MAX_CPUS) {
		parse_remark(td->ctx, true, "the list of CPUs of buffer \"%s\" is damaged: its events are "
			     "not read", name);
		return;
	}
	buf->cpus = xcalloc(n + 1, sizeof(*buf->cpus));
	for (i = 0; i < n; i++) {
		buf->cpus[i].cpu = ring_u32(b);
		buf->cpus[i].off = ring_u64(b);
		buf->cpus[i].size = ring_u64(b);
	}
	buf->n_cpus = n;
}

static int by_time(const void *x, const void *y)
{
	const struct ring_shift_at *a = x, *b = y;

	return a->time < b->time ? -1 : a->time > b->time;
}

static void shift_cpu(struct ring_shift *s, struct ring_buf *b)
{
	uint32_t i, n;

	s->n = ring_u32(b);
	if (s->n > MAX_SHIFT_SAMPLES || s->n > (uint64_t)(b->end - b->p) / 24) {
		b->bad = true;
		s->n = 0;
	}
	s->at = xcalloc(s->n + 1, sizeof(*s->at));
	for (i = 0; i < s->n; i++)
		s->at[i].time = ring_u64(b);
	for (i = 0; i < s->n; i++)
		s->at[i].offset = (int64_t)ring_u64(b);
	for (i = 0; i < s->n; i++)
		s->at[i].scaling = ring_u64(b);
	if (!s->n)
		return;
	qsort(s->at, s->n, sizeof(*s->at), by_time);
	for (n = 1, i = 1; i < s->n; i++)
		if (s->at[i].time != s->at[n - 1].time)
			s->at[n++] = s->at[i];
	s->n = n;
}

/* A guest's file: its peer, flags, and per CPU the host's time at some of the guest's times. */
static void take_shift(struct trace_dat *td, struct ring_buf *b)
{
	struct ring *r = &td->ring;
	_cleanup_free_ char *peer = xasprintf("0x%" PRIx64, ring_u64(b));
	uint32_t cpus, i, j;

	r->interpolate = ring_u32(b) & 1;
	cpus = ring_u32(b);
	if (b->bad || cpus > RING_MAX_CPUS || r->shifts)
		return;
	td->guest_file = true;
	dat_fact(td, "trace_cmd.peer", peer);	/* the host's trace_cmd.id */
	r->shifts = xcalloc(cpus + 1, sizeof(*r->shifts));
	for (i = 0; i < cpus && !b->bad; i++, r->n_shifts++)
		shift_cpu(&r->shifts[i], b);
	if (b->bad) {
		parse_remark(td->ctx, true, "the corrections of a guest's times to its host's are damaged: "
			     "times are the guest's own");
		r->n_shifts = 0;	/* memory stays until the end with the array */
		for (i = 0; i < cpus; i++)
			free(r->shifts[i].at);
		return;
	}
	/* Newer recorders add how many bits of the scaling are a fraction, in the same order. */
	for (i = 0; i < cpus && b->p < b->end; i++)
		for (j = 0; j < r->shifts[i].n && b->end - b->p >= 8; j++)
			r->shifts[i].at[j].fraction = (uint32_t)ring_u64(b);
}

/* A traced guest: name, trace id, and the host thread of each vCPU. */
static void take_guest(struct trace_dat *td, struct ring_buf *b)
{
	const char *name = ring_string(b);
	_cleanup_free_ char *id = xasprintf("0x%" PRIx64, ring_u64(b));
	_cleanup_free_ char *id_key = NULL;
	uint32_t cpus, i;

	cpus = ring_u32(b);
	if (!name || b->bad)
		return;
	td->host_file = true;
	id_key = xasprintf("trace_cmd.guest.%.64s.id", name);
	dat_fact(td, id_key, id);	/* the guest's trace_cmd.id */
	for (i = 0; i < cpus && i < RING_MAX_CPUS; i++) {
		uint32_t cpu = ring_u32(b), tid = ring_u32(b);
		_cleanup_free_ char *key = NULL;
		_cleanup_free_ char *value = NULL;

		if (b->bad)
			return;
		key = xasprintf("trace_cmd.guest.%.64s.vcpu.%" PRIu32 ".tid", name, cpu);
		value = xasprintf("%" PRIu32, tid);
		dat_fact(td, key, value);
	}
}

void dat_option(struct trace_dat *td, uint16_t id, const uint8_t *p, uint32_t size)
{
	struct ring_buf b = { p, p + size, td->ring.swap, false };
	_cleanup_free_ char *text = NULL;

	switch (id) {
	case OPT_DATE:	/* microseconds, in hexadecimal */
		text = text_of(&b);
		td->date_ns = (int64_t)((uint64_t)strtoll(text, NULL, 0) * NSEC_PER_USEC);
		td->has_date = true;
		break;
	case OPT_OFFSET:
		text = text_of(&b);
		td->ring.offset_ns = strtoll(text, NULL, 0);
		break;
	case OPT_CPUSTAT:
		ring_add_stats(&td->ring, (const char *)p, strnlen((const char *)p, size));
		break;
	case OPT_BUFFER:
	case OPT_BUFFER_TEXT:
		take_buffer(td, &b, id == OPT_BUFFER_TEXT);
		break;
	case OPT_TRACECLOCK:
		set_text(&td->clock, ring_chosen_clock((const char *)p, size));
		break;
	case OPT_UNAME:
		take_uname(td, &b);
		break;
	case OPT_VERSION:
		set_text(&td->recorder, text_of(&b));
		break;
	case OPT_CPUCOUNT:
		td->cpu_count = ring_u32(&b);
		td->has_count = !b.bad && td->cpu_count <= RING_MAX_CPUS;
		break;
	case OPT_TIME_SHIFT:
		take_shift(td, &b);
		break;
	case OPT_GUEST:
		take_guest(td, &b);
		break;
	case OPT_TSC2NSEC:
		td->ring.mult = ring_u32(&b);
		td->ring.shift = ring_u32(&b) & 63;
		break;
	case OPT_TRACEID:
		text = xasprintf("0x%" PRIx64, ring_u64(&b));
		dat_fact(td, "trace_cmd.id", text);
		break;
	case OPT_HOOK:
	case OPT_PROCMAPS:
	case OPT_STRINGS:
	case OPT_LAST_BOOT:
		break;	/* nothing here needs them */
	default:
		if (td->version >= 7 && size >= 8 && id >= DAT_HEADER_INFO && id <= DAT_CMDLINES)
			dat_section_at(td, id, ring_u64(&b));
		else
			td->unknown_options++;
	}
}
