// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring_view.c - records of a binary ftrace recording looked at again by their position: citations,
 * fields, call chains; see ring.h. A compressed chunk is unpacked again, a few are kept.
 */
#include "ring.h"

#include "render.h"

/* A record seen again. */
struct seen {
	const struct ring_type *t;
	const uint8_t	*raw;		/* as recorded */
	uint8_t		*swapped;	/* in this machine's byte order; NULL: raw is */
	size_t		len;
	uint32_t	cpu;
	int32_t		tid;
	/* its page */
	const uint8_t	*page;
	uint32_t	next, end;
};

static const struct ring_chunk *chunk_at(const struct ring *r, uint64_t pos, uint32_t *index)
{
	size_t lo = 0, hi = r->n_chunks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->chunks[r->by_pos[mid]].pos <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	*index = r->by_pos[lo - 1];
	return pos - r->chunks[*index].pos < r->chunks[*index].size ? &r->chunks[*index] : NULL;
}

/* Bytes of a chunk, unpacked into the view that was used longest ago. */
static const uint8_t *chunk_bytes(struct ring *r, const struct ring_chunk *k, uint32_t index)
{
	size_t i, old = 0;

	if (!k->packed)
		return k->data;
	for (i = 0; i < RING_VIEW_CHUNKS; i++) {
		if (r->views[i].full && r->views[i].chunk == index) {
			r->views[i].used = ++r->clock;
			return r->views[i].bytes;
		}
		if (r->views[i].used < r->views[old].used)
			old = i;
	}
	r->views[old].bytes = xrealloc(r->views[old].bytes, k->size);
	r->views[old].chunk = index;
	r->views[old].used = ++r->clock;
	r->views[old].full = ring_unpack(r->packing, k->data, k->packed, r->views[old].bytes,
					 k->size);
	return r->views[old].full ? r->views[old].bytes : NULL;
}

static uint32_t cpu_of_chunk(const struct ring *r, uint32_t index)
{
	size_t lo = 0, hi = r->n_cpus;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->cpus[mid].first <= index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? r->cpus[lo - 1].cpu : 0;
}

static bool take_record(const struct ring *r, const uint8_t *page, uint32_t at, uint32_t end,
			struct seen *s)
{
	struct ring_record rec;
	uint32_t id;

	if (at < r->data_at || at >= end || !ring_record_at(r, page, at, end, &rec) ||
	    !rec.is_event || rec.len < (uint32_t)r->pid_at + 4)
		return false;
	id = r->type_size == 2 ? ring_load16(rec.payload + r->type_at, r->swap) :
	     ring_load32(rec.payload + r->type_at, r->swap) & 0xffff;
	s->t = r->types[id];
	s->raw = rec.payload;
	s->len = rec.len;
	s->tid = (int32_t)ring_load32(rec.payload + r->pid_at, r->swap);
	s->page = page;
	s->next = rec.next;
	s->end = end;
	return s->t != NULL;
}

/* The record at @pos; the lock is held. Free s->swapped. */
static bool record_of(struct ring *r, uint64_t pos, struct seen *s)
{
	const struct ring_chunk *k;
	const uint8_t *bytes;
	uint64_t off, page, avail;
	uint32_t index, end;

	memset(s, 0, sizeof(*s));
	k = chunk_at(r, pos, &index);
	bytes = k ? chunk_bytes(r, k, index) : NULL;
	if (!bytes)
		return false;
	off = pos - k->pos;
	page = off - off % r->page_size;
	avail = MIN((uint64_t)r->page_size, k->size - page);
	end = ring_page_end(r, bytes + page, avail);
	s->cpu = cpu_of_chunk(r, index);
	end = (uint32_t)MIN((uint64_t)end, avail);
	if (!take_record(r, bytes + page, (uint32_t)(off - page), end, s))
		return false;
	if (r->swap && s->t->format && s->len <= TP_MAX_RECORD) {
		s->swapped = xmalloc(s->len);
		memcpy(s->swapped, s->raw, s->len);
		tp_swap(s->t->format, s->swapped, s->len);
	}
	return true;
}

static const uint8_t *native(const struct seen *s)
{
	return s->swapped ? s->swapped : s->raw;
}

/* trace_printk(): text in the record, or a format whose arguments follow. */
static bool print_text(const struct ring *r, const struct seen *s, FILE *out)
{
	const struct tp_format *f = s->t->format;
	const struct tp_field *buf = tp_field_find(f, "buf"), *fmt = tp_field_find(f, "fmt|str");
	uint64_t at;
	size_t len;
	const char *text;

	if (strcmp(f->system, "ftrace"))
		return false;
	if (!strcmp(f->name, "print") && buf && buf->offset < s->len) {
		text = (const char *)s->raw + buf->offset;
		len = strnlen(text, s->len - buf->offset);
	} else if ((!strcmp(f->name, "bprint") || !strcmp(f->name, "bputs")) && fmt &&
		   tp_value(fmt, native(s), s->len, 0, &at)) {
		text = ring_printk_format(r, at, &len);
		if (!text)
			return false;
	} else {
		return false;
	}
	while (len && text[len - 1] == '\n')
		len--;
	fwrite(text, 1, len, out);
	return true;
}

static void stack_text(const struct ring *r, const struct seen *s, FILE *out)
{
	uint64_t ips[STACK_MAX_FRAMES];
	size_t n = ring_frames(r, s->t->format, s->raw, s->len, ips, STACK_MAX_FRAMES), i;

	for (i = 0; i < n; i++)
		fprintf(out, "%s0x%" PRIx64, i ? " <- " : "", ips[i]);
}

static char *cite_text(void *priv, const struct event *ev)
{
	struct ring *r = priv;
	char *text = NULL;
	struct seen s;
	FILE *out;

	if (ev->kind == EV_LOST && ev->a[0])
		return xasprintf("CPU:%u [%" PRIu64 " EVENTS DROPPED]", ev->cpu, ev->a[0]);
	if (ev->kind == EV_LOST)
		return xasprintf("CPU:%u [EVENTS DROPPED]", ev->cpu);
	pthread_mutex_lock(&r->lock);
	if (record_of(r, ev->pos, &s) && (out = text_out_begin(&r->cite))) {
		/*
		 * Task and CPU are the record's own: a cite may be asked for by time and
		 * position.
		 */
		fprintf(out, "%s-%" PRId32 " [%03" PRIu32 "] %llu.%06llu: ", ring_comm_of(r, s.tid), s.tid,
			s.cpu, ev->time / NSEC_PER_SEC, ev->time % NSEC_PER_SEC / NSEC_PER_USEC);
		if (s.t->format)
			fprintf(out, "%s: ", s.t->format->name);
		if (s.t->format && s.t->special == RING_STACK)
			stack_text(r, &s, out);
		else if (s.t->format && !print_text(r, &s, out))
			tp_text(s.t->format, native(&s), s.len, out);
		text = text_out_end(&r->cite);
	}
	free(s.swapped);
	pthread_mutex_unlock(&r->lock);
	return text;
}

static void fields(void *priv, const struct event *ev,
		   void (*emit)(void *arg, const char *name, const struct field_value *v),
		   void *arg)
{
	struct ring *r = priv;
	struct seen s;

	pthread_mutex_lock(&r->lock);
	if (record_of(r, ev->pos, &s) && s.t->format)
		tp_emit(s.t->format, native(&s), s.len, emit, arg);
	free(s.swapped);
	pthread_mutex_unlock(&r->lock);
}

/*
 * The call chain that the recorder put behind the event (option stacktrace), or that the record
 * is.
 */
static size_t stack(void *priv, const struct event *ev, uint64_t *ips, size_t max)
{
	struct ring *r = priv;
	struct seen s, after;
	size_t n = 0;

	pthread_mutex_lock(&r->lock);
	if (record_of(r, ev->pos, &s)) {
		after = s;
		if (s.t->special != RING_STACK &&
		    (!take_record(r, s.page, s.next, s.end, &after) || after.tid != s.tid))
			after.t = NULL;
		if (after.t && after.t->special == RING_STACK)
			n = ring_frames(r, after.t->format, after.raw, after.len, ips, max);
	}
	free(s.swapped);
	pthread_mutex_unlock(&r->lock);
	return n;
}

/* Start the renderer with all formats. */
static void start_renderer(struct ring *r)
{
	const struct tp_format **formats = xcalloc(r->n_formats + 1, sizeof(*formats));
	struct error *err;
	size_t i, n = 0;

	for (i = 0; i < r->n_ids && n < r->n_formats; i++)
		if (r->types[r->ids[i]]->format)
			formats[n++] = r->types[r->ids[i]]->format;
	err = render_start(&r->render, formats, n, r->big_endian, r->long_size);
	if (err) {
		parse_remark(r->ctx, false, "%s: fields are shown plainly", err->what);
		r->render_failed = true;
		error_free(err);
	}
	free(formats);
}

static void render(void *priv, const struct event *const *evs, size_t n, char **texts)
{
	struct ring *r = priv;
	struct render_event *batch = xcalloc(n, sizeof(*batch));
	char **out = xcalloc(n, sizeof(*out));
	size_t *index = xcalloc(n, sizeof(*index));
	uint8_t **copies = xcalloc(n, sizeof(*copies));
	size_t i, k = 0;

	if (!r->render && !r->render_failed)
		start_renderer(r);
	pthread_mutex_lock(&r->lock);
	for (i = 0; i < n && !r->render_failed; i++) {
		struct seen s;

		if (evs[i]->ev != EVENT_TYPE_NONE && record_of(r, evs[i]->pos, &s)) {
			if (s.t->format && s.len <= TP_MAX_RECORD) {
				copies[k] = xmalloc(s.len + 1);
				memcpy(copies[k], s.raw, s.len);
				batch[k] = (struct render_event){ s.t->format->id, evs[i]->cpu,
					evs[i]->time, copies[k], (uint32_t)s.len };
				index[k++] = i;
			}
			free(s.swapped);
		}
	}
	pthread_mutex_unlock(&r->lock);
	if (k && !render_batch(r->render, batch, k, out)) {
		parse_remark(r->ctx, true, "the renderer of print formats died (damaged or hostile "
			     "formats): fields are shown plainly");
		r->render_failed = true;
	}
	for (i = 0; i < k; i++) {
		texts[index[i]] = out[i];
		free(copies[i]);
	}
	free(copies);
	free(index);
	free(out);
	free(batch);
}

const struct stream_ops ring_ops = {
	.cite_text = cite_text,
	.fields = fields,
	.stack = stack,
	.render = render,
};
