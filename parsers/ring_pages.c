// SPDX-License-Identifier: GPL-2.0-or-later
/* ring_pages.c - one CPU's ring buffer pages, record by record; see ring.h. */
#include "ring.h"

#define MISSED_EVENTS	(1u << 31)	/* kernel: RB_MISSED_EVENTS */
#define MISSED_STORED	(1u << 30)	/* RB_MISSED_STORED: their number stands behind the data */
#define COMMIT_MASK	((1u << 27) - 1)
#define STAMP_BITS	59		/* of an absolute time stamp in a record */

enum { TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

static uint64_t commit_of(const struct ring *r, const uint8_t *page)
{
	return r->long_size == 8 ? ring_load64(page + r->commit_at, r->swap) :
	       ring_load32(page + r->commit_at, r->swap);
}

uint32_t ring_page_end(const struct ring *r, const uint8_t *page, uint64_t avail)
{
	uint64_t commit;

	if (avail < r->data_at)
		return 0;
	commit = commit_of(r, page);
	/* The flag is added as a negative int, so the upper half may be its sign. */
	if (r->long_size == 8 && commit >> 32 &&
	    !(commit >> 32 == UINT32_MAX && commit & MISSED_EVENTS))
		return 0;
	commit &= COMMIT_MASK;
	if (commit > r->page_size - r->data_at)
		return 0;
	return (uint32_t)(r->data_at + commit);
}

bool ring_lost_before(const struct ring *r, const uint8_t *page, uint64_t avail, uint64_t *n)
{
	uint64_t commit = commit_of(r, page);
	uint64_t at = r->data_at + (commit & COMMIT_MASK);

	*n = 0;
	if (!(commit & MISSED_EVENTS))
		return false;
	if (commit & MISSED_STORED && at + r->long_size <= avail &&
	    at + r->long_size <= r->page_size)
		*n = r->long_size == 8 ? ring_load64(page + at, r->swap) :
		     ring_load32(page + at, r->swap);
	if (*n > UINT32_MAX)	/* more than a page's worth of time can hold: damage */
		*n = 0;
	return true;
}

static inline bool record_at(const struct ring *r, const uint8_t *page, uint32_t at, uint32_t end,
			     struct ring_record *out)
{
	uint32_t word, type, len, extra;

	if (end - at < 4)
		return false;
	word = ring_load32(page + at, r->swap);
	type = r->big_endian ? word >> 27 : word & 31;
	out->delta = r->big_endian ? word & ((1u << 27) - 1) : word >> 5;
	out->absolute = false;
	out->is_event = true;
	if (likely(type && type < TYPE_PADDING)) {
		len = type * 4;
		out->payload = page + at + 4;
		out->len = len;
		if (len > end - at - 4)
			return false;
		out->next = at + 4 + len;
		return true;
	}
	if (type == TYPE_PADDING && !out->delta) {	/* the rest of the page is empty */
		out->is_event = false;
		out->next = end;
		return true;
	}
	if (end - at < 8)
		return false;
	extra = ring_load32(page + at + 4, r->swap);
	out->is_event = !type;
	if (type == TYPE_EXTEND || type == TYPE_STAMP) {
		out->delta |= (uint64_t)extra << 27;
		out->absolute = type == TYPE_STAMP;
		out->next = at + 8;
		return true;
	}
	/* A large record's (or a discarded one's) length counts itself, not the word before. */
	if (extra < 4 || extra > end - at - 4)
		return false;
	out->payload = page + at + 8;
	out->len = extra - 4;
	out->next = at + 4 + MIN((extra + 3) & ~3u, end - at - 4);
	return true;
}

bool ring_record_at(const struct ring *r, const uint8_t *page, uint32_t at, uint32_t end,
		    struct ring_record *out)
{
	return record_at(r, page, at, end, out);
}

/* Note what can't be read of a page: the events in it are lost. */
static void bad_page(struct ring *r, struct ring_cpu *c)
{
	if (!r->bad_pages++)
		r->bad_page_pos = r->chunks[c->chunk].pos + c->page;
	c->lost = true;
	c->n_lost = 0;
	c->lost_pos = r->chunks[c->chunk].pos + c->page;
}

/* The page in hand: where its data lies, and what was lost before it. */
static void open_page(struct ring *r, struct ring_cpu *c)
{
	const uint64_t avail = MIN((uint64_t)r->page_size, c->n_bytes - c->page);
	const uint8_t *page = c->bytes + c->page;
	uint32_t end = ring_page_end(r, page, avail);
	uint64_t n;

	c->at = c->end = r->data_at;
	c->page_pos = r->chunks[c->chunk].pos + c->page;
	if (!end) {
		if (avail < r->data_at)
			r->cut_pages++;
		else
			bad_page(r, c);
		return;
	}
	if (end > avail) {
		r->cut_pages++;
		end = (uint32_t)avail;
	}
	c->end = end;
	c->stamp = ring_load64(page + r->stamp_at, r->swap);
	if (unlikely(ring_lost_before(r, page, avail, &n))) {
		c->n_lost = c->lost && (!n || !c->n_lost) ? 0 : n + (c->lost ? c->n_lost : 0);
		c->sum_lost += n;
		c->lost = true;
		c->lost_pos = r->chunks[c->chunk].pos + c->page;
	}
}

/* The next page, over chunks; false at the end. */
static bool next_page(struct ring *r, struct ring_cpu *c)
{
	if (c->bytes)
		c->page += r->page_size;
	for (;;) {
		if (c->bytes && c->page < c->n_bytes)
			break;
		if (c->bytes)
			c->chunk++;
		if (c->chunk >= c->first + c->n_chunks)
			return false;
		if (!ring_load_chunk(r, c)) {
			r->bad_chunks++;
			c->lost = true;
			c->n_lost = 0;
			c->lost_pos = r->chunks[c->chunk].pos;
			c->page = c->n_bytes;	/* go on behind it */
		}
	}
	open_page(r, c);
	return true;
}

/* What a guest's time stamp is on its host's clock (trace-cmd: timestamp_correction_calc()). */
static uint64_t shifted(const struct ring *r, const struct ring_shift *s, uint64_t t)
{
	const struct ring_shift_at *a = s->at, *b;
	uint32_t lo = 0, hi = s->n - 1;
	int64_t cor;

	if (s->n == 1)
		return t + (uint64_t)s->at[0].offset;
	while (hi - lo > 1) {	/* the two samples around t, or the outermost two */
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->at[mid].time <= t)
			lo = mid;
		else
			hi = mid;
	}
	a = &s->at[lo];
	b = &s->at[lo + 1];
	cor = a->offset;
	if (r->interpolate && b->time > a->time) {
		__int128 step = (__int128)(int64_t)(t - a->time) * (b->offset - a->offset);

		cor += (int64_t)((step + (int64_t)((b->time - a->time) / 2)) /
				 (int64_t)(b->time - a->time));
	}
	if (a->scaling)
		t = (uint64_t)((unsigned __int128)t * a->scaling >> (a->fraction & 63));
	return t + (uint64_t)cor;
}

static inline uint64_t time_of(const struct ring *r, const struct ring_cpu *c)
{
	uint64_t t = c->stamp;

	if (unlikely(r->n_shifts > c->cpu && r->shifts[c->cpu].n))
		t = shifted(r, &r->shifts[c->cpu], t);
	if (unlikely(r->mult))
		t = (uint64_t)((unsigned __int128)t * r->mult >> r->shift);
	return t + (uint64_t)r->offset_ns;
}

bool ring_next_any(struct ring *r, struct ring_cpu *c)
{
	struct ring_record rec;

	for (;;) {
		if (unlikely(c->at >= c->end)) {
			if (!next_page(r, c))
				return false;
			continue;
		}
		if (unlikely(!record_at(r, c->bytes + c->page, c->at, c->end, &rec))) {
			/*
			 * In a page that the file's end cuts, a record that crosses it is no
			 * damage.
			 */
			if (c->n_bytes - c->page >= r->page_size)
				bad_page(r, c);
			c->at = c->end;
			continue;
		}
		if (unlikely(rec.absolute)) {
			const uint64_t high = c->stamp >> STAMP_BITS << STAMP_BITS;

			/* Only 59 bits fit: the rest is the page's (kernel: rb_fix_abs_ts()). */
			if ((high | rec.delta) < c->stamp && high)
				c->stamp = (high | rec.delta) + (1ull << STAMP_BITS);
			else
				c->stamp = high | rec.delta;
		} else {
			c->stamp += rec.delta;
		}
		c->pos = c->page_pos + c->at;
		c->at = rec.next;
		if (unlikely(!rec.is_event || rec.len < (uint32_t)r->pid_at + 4))
			continue;
		c->time = time_of(r, c);
		if (unlikely(c->time > RING_MAX_TIME)) {
			r->bad_times++;
			continue;
		}
		c->rec = rec.payload;
		c->len = rec.len;
		return true;
	}
}
