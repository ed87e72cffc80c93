// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring_bytes.c - where a binary ftrace recording's pages lie, plain or in compressed chunks; see
 * ring.h.
 *
 * An event's position is the offset of its record in the member. Where pages are compressed,
 * positions count the unpacked pages of all CPUs one behind the other, from the member's size on.
 */
#include <zlib.h>
#include <zstd.h>

#include "ring.h"

bool ring_unpack(enum ring_packing how, const uint8_t *p, size_t packed, uint8_t *out, size_t size)
{
	uLongf got = size;
	size_t n;

	switch (how) {
	case RING_ZLIB:
		return uncompress(out, &got, p, packed) == Z_OK && got == size;
	case RING_ZSTD:
		n = ZSTD_decompress(out, size, p, packed);
		return !ZSTD_isError(n) && n == size;
	default:
		return false;
	}
}

static struct ring_cpu *add_cpu(struct ring *r, uint32_t cpu)
{
	struct ring_cpu *c;

	GROW(r->cpus, r->cap_cpus, r->n_cpus + 1);
	c = &r->cpus[r->n_cpus++];
	memset(c, 0, sizeof(*c));
	c->cpu = cpu;
	c->first = c->chunk = r->n_chunks;
	return c;
}

static void add_chunk(struct ring *r, struct ring_cpu *c, const struct ring_chunk *chunk)
{
	GROW(r->chunks, r->cap_chunks, r->n_chunks + 1);
	r->chunks[r->n_chunks++] = *chunk;
	c->n_chunks++;
}

/* Nothing may be read over and over because the places of several CPUs overlap. */
static bool has_room(struct ring *r, uint64_t size)
{
	if (size <= r->room - r->taken) {
		r->taken += size;
		return true;
	}
	if (!r->overlap)
		parse_remark(r->ctx, true, "damaged: the places of its CPUs' data overlap, some are not "
			     "read");
	r->overlap = true;
	return false;
}

/* Pages shrink about 15 to 1, never thousandfold. */
static bool is_bomb(struct ring *r, const struct ring_chunk *k)
{
	r->packed += k->packed;
	r->unpacked += k->size;
	if (r->unpacked <= RING_RATIO_FLOOR + RING_MAX_RATIO * r->packed)
		return false;
	if (!r->bomb)
		parse_remark(r->ctx, true, "its compressed pieces grow over %d times: the rest is not "
			     "read", RING_MAX_RATIO);
	r->bomb = true;
	return true;
}

void ring_add_pages(struct ring *r, uint32_t cpu, const uint8_t *data, uint64_t size, uint64_t pos)
{
	struct ring_chunk chunk = { .pos = pos, .size = size, .data = data };

	if (r->n_cpus < RING_MAX_CPUS && size && has_room(r, size))
		add_chunk(r, add_cpu(r, cpu), &chunk);
}

bool ring_add_packed(struct ring *r, uint32_t cpu, const uint8_t *data, uint64_t size,
		     uint64_t *used)
{
	struct ring_buf b = { data, data + size, r->swap, false };
	uint32_t n = ring_u32(&b), i;
	struct ring_cpu *c;

	*used = 4;
	if (b.bad || r->n_cpus >= RING_MAX_CPUS)
		return false;
	c = add_cpu(r, cpu);
	for (i = 0; i < n && r->n_chunks < RING_MAX_CHUNKS; i++) {
		struct ring_chunk chunk = { .pos = r->next_pos };

		chunk.packed = ring_u32(&b);
		chunk.size = ring_u32(&b);
		chunk.data = ring_bytes(&b, chunk.packed);
		if (!chunk.data)
			break;
		if (!chunk.packed || !chunk.size || chunk.size > RING_MAX_CHUNK) {
			r->bad_chunks++;
			break;
		}
		if (!has_room(r, chunk.packed) || is_bomb(r, &chunk))
			break;
		add_chunk(r, c, &chunk);
		r->next_pos += chunk.size;
		*used = (uint64_t)(b.p - data);
	}
	return i == n;
}

void ring_clear_pages(struct ring *r)
{
	size_t i;

	for (i = 0; i < r->n_cpus; i++)
		free(r->cpus[i].window);
	for (i = 0; i < RING_VIEW_CHUNKS; i++)
		r->views[i].full = false;
	r->n_cpus = r->n_chunks = 0;
	free(r->by_pos);
	r->by_pos = NULL;
}

static int by_position(const void *x, const void *y, void *arg)
{
	const struct ring_chunk *chunks = arg;
	uint64_t a = chunks[*(const uint32_t *)x].pos, b = chunks[*(const uint32_t *)y].pos;

	return a < b ? -1 : a > b;
}

void ring_index_pages(struct ring *r)
{
	uint64_t windows = 0;
	size_t i, j;

	r->by_pos = xcalloc(r->n_chunks + 1, sizeof(*r->by_pos));
	for (i = 0; i < r->n_chunks; i++)
		r->by_pos[i] = (uint32_t)i;
	if (r->n_chunks)
		qsort_r(r->by_pos, r->n_chunks, sizeof(*r->by_pos), by_position, r->chunks);
	for (i = 0; i < r->n_cpus; i++) {
		struct ring_cpu *c = &r->cpus[i];
		uint64_t most = 0;

		for (j = 0; j < c->n_chunks; j++)
			if (r->chunks[c->first + j].packed)
				most = MAX(most, r->chunks[c->first + j].size);
		if (windows + most > RING_MAX_WINDOWS) {
			parse_remark(r->ctx, true, "compressed pieces of all CPUs need over 512 MiB at a "
				     "time: CPU %" PRIu32 " is not read (record with smaller pages)", c->cpu);
			c->n_chunks = 0;
			continue;
		}
		windows += most;
		c->window = most ? xmalloc(most) : NULL;
	}
}

bool ring_load_chunk(struct ring *r, struct ring_cpu *c)
{
	const struct ring_chunk *k = &r->chunks[c->chunk];

	c->page = 0;
	c->bytes = k->data;
	c->n_bytes = k->size;
	if (!k->packed)
		return true;
	c->bytes = c->window;
	return ring_unpack(r->packing, k->data, k->packed, c->window, k->size);
}
