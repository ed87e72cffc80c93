// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring_funcs.c - functions in a binary ftrace recording: their names from the recording's own
 * kallsyms, read when the first function occurs, and the addresses of call chains; see ring.h.
 */
#include "ring.h"

#define MAX_SYMBOLS	(1u << 22)

void ring_bind_special(struct ring_type *t)
{
	static const struct { const char *name; uint8_t special; } names[] = {
		{ "kernel_stack", RING_STACK }, { "function", RING_FUNCTION },
		{ "funcgraph_entry", RING_CALL }, { "funcgraph_exit", RING_RETURN },
	};
	const struct tp_format *f = t->format;
	size_t i;

	if (strcmp(f->system, "ftrace"))
		return;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i].name))
			t->special = names[i].special;
	t->func = tp_field_find(f, "func|ip");
	t->depth = tp_field_find(f, "depth");
	t->calltime = tp_field_find(f, "calltime");
	t->rettime = tp_field_find(f, "rettime");
	if (t->special != RING_STACK && !t->func)
		t->special = RING_EVENT;
}

static int by_addr(const void *x, const void *y)
{
	const struct ring_symbol *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * "ffffffff81000000 T name        [module]": text symbols; all-zero addresses (kptr_restrict) are
 * none.
 */
static void add_symbol(struct ring *r, const char *p, const char *end)
{
	struct ring_symbol s = { 0 };
	int digits = 0;

	for (; p < end && hex_digit(*p) >= 0 && digits < 16; p++, digits++)
		s.addr = s.addr << 4 | (uint64_t)hex_digit(*p);
	if (!digits || !s.addr || end - p < 4 || p[0] != ' ' || p[2] != ' ' || !strchr("tTwW", p[1]))
		return;
	s.name = p + 3;
	for (p = s.name; p < end && *p != '\t' && *p != ' '; )
		p++;
	s.len = (uint32_t)MIN((ptrdiff_t)256, p - s.name);
	GROW(r->symbols, r->cap_symbols, r->n_symbols + 1);
	r->symbols[r->n_symbols++] = s;
}

static void read_symbols(struct ring *r)
{
	const char *p = r->kallsyms.s, *end = p ? p + r->kallsyms.len : NULL;

	r->symbols_read = true;
	while (p && p < end && r->n_symbols < MAX_SYMBOLS) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;

		add_symbol(r, p, stop);
		p = stop + 1;
	}
	if (r->n_symbols)
		qsort(r->symbols, r->n_symbols, sizeof(*r->symbols), by_addr);
}

/* The last of the symbols not behind @ip. */
static uint32_t name_of(struct ring *r, uint64_t ip)
{
	size_t lo = 0, hi;
	char hex[24];

	if (!r->symbols_read)
		read_symbols(r);
	hi = r->n_symbols;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->symbols[mid].addr <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo) {
		const struct ring_symbol *s = &r->symbols[lo - 1];

		return strtab_id(&r->s->strings, s->name, s->len);
	}
	snprintf(hex, sizeof(hex), "0x%" PRIx64, ip);
	return strtab_id(&r->s->strings, hex, strlen(hex));
}

uint32_t ring_func(struct ring *r, uint64_t ip)
{
	size_t slot = (ip ^ ip >> 12 ^ ip >> 24) % RING_FUNC_SLOTS;

	if (likely(r->funcs[slot].used && r->funcs[slot].ip == ip))
		return r->funcs[slot].name;
	r->funcs[slot].ip = ip;
	r->funcs[slot].name = name_of(r, ip);
	r->funcs[slot].used = true;
	return r->funcs[slot].name;
}

size_t ring_frames(const struct ring *r, const struct tp_format *f, const uint8_t *rec, size_t len,
		   uint64_t *ips, size_t max)
{
	const struct tp_field *caller = tp_field_find(f, "caller"), *count = tp_field_find(f, "size");
	size_t at, n = 0, want = max;

	if (!caller || caller->offset >= len)
		return 0;
	/* "size" counts frames; kernels before 5.5 leave it out, their frames end with -1. */
	if (count && count->size == 4 && count->offset + 4u <= len)
		want = MIN(want, (size_t)ring_load32(rec + count->offset, r->swap));
	for (at = caller->offset; n < want && at + r->long_size <= len; at += r->long_size) {
		uint64_t ip = r->long_size == 8 ? ring_load64(rec + at, r->swap) :
			      ring_load32(rec + at, r->swap);

		if (ip == UINT64_MAX || (r->long_size == 4 && ip == UINT32_MAX) || !ip)
			break;
		ips[n++] = ip;
	}
	return n;
}
