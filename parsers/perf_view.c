// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_view.c - a perf.data's records looked at again by their place: citations, fields, call
 * chains; see perf_file.h.
 */
#include "perf_file.h"

#include "render.h"

/* The record of @ev, checked again: the file may have changed since. */
static const uint8_t *record_of(const struct perf_file *pf, const struct event *ev, size_t *size)
{
	const uint8_t *rec;

	if (ev->pos >= pf->size || pf->size - ev->pos < 8)
		return NULL;
	rec = pf->data + ev->pos;
	*size = rec_size(rec);
	return *size >= 8 && *size <= pf->size - ev->pos ? rec : NULL;
}

/* A sample's attribute and parts; NULL when @ev's record isn't a sample. */
static const struct perf_attr *sample_of(const struct perf_file *pf, const struct event *ev,
					 const uint8_t **rec, size_t *size, struct perf_sample *ps)
{
	const struct perf_attr *a;

	*rec = record_of(pf, ev, size);
	if (!*rec || rec_type(*rec) != PERF_SAMPLE)
		return NULL;
	a = perf_attr_of(pf, *rec, *size);
	return a && perf_sample_parse(a, *rec, *size, ps) ? a : NULL;
}

static void sample_text(const struct perf_file *pf, const struct perf_attr *a,
			const struct perf_sample *ps, const uint8_t *rec, FILE *out)
{
	(void)pf;
	if (a->format && ps->raw)
		tp_text(a->format, rec + ps->raw, ps->raw_size, out);
	else if (a->ip != PERF_NONE)
		fprintf(out, "ip=0x%" PRIx64, load64(rec + a->ip));
}

static char *cite_text(void *priv, const struct event *ev)
{
	struct perf_file *pf = priv;
	const struct perf_attr *a;
	struct perf_sample ps;
	const uint8_t *rec;
	char comm[24];
	size_t size;
	FILE *out;

	rec = record_of(pf, ev, &size);
	if (!rec)
		return NULL;
	if (rec_type(rec) == PERF_LOST && size >= 24)
		return xasprintf("perf: %" PRIu64 " events lost before %llu.%06llu", load64(rec + 16),
				 ev->time / NSEC_PER_SEC, ev->time % NSEC_PER_SEC / NSEC_PER_USEC);
	a = sample_of(pf, ev, &rec, &size, &ps);
	if (!a)
		return NULL;
	out = text_out_begin(&pf->cite);
	if (!out)
		return NULL;
	/*
	 * Time, task and CPU are the record's own: a cite may be asked for by time and position
	 * alone.
	 */
	if (a->tid != PERF_NONE) {
		int32_t tid = (int32_t)load32(rec + a->tid + 4);

		perf_comm_at(pf, tid, a->time != PERF_NONE ? load64(rec + a->time) : ev->time,
			     ev->pos, comm);
		fprintf(out, "%s-%" PRId32 " ", comm, tid);
	}
	if (a->cpu != PERF_NONE)
		fprintf(out, "[%03" PRIu32 "] ", load32(rec + a->cpu));
	fprintf(out, "%llu.%06llu: ", ev->time / NSEC_PER_SEC, ev->time % NSEC_PER_SEC / NSEC_PER_USEC);
	if (a->ev < pf->s->n_types)
		fprintf(out, "%s: ", pf->s->types[a->ev].name);
	sample_text(pf, a, &ps, rec, out);
	return text_out_end(&pf->cite);
}

static void fields(void *priv, const struct event *ev,
		   void (*emit)(void *arg, const char *name, const struct field_value *v),
		   void *arg)
{
	const struct perf_file *pf = priv;
	const struct perf_attr *a;
	struct perf_sample ps;
	const uint8_t *rec;
	size_t size, i;

	a = sample_of(pf, ev, &rec, &size, &ps);
	if (!a)
		return;
	if (a->format && ps.raw) {
		tp_emit(a->format, rec + ps.raw, ps.raw_size, emit, arg);
		return;
	}
	const struct { const char *name; uint16_t at; enum field_type type; } parts[] = {
		{ "ip", a->ip, FIELD_HEX }, { "addr", a->addr, FIELD_HEX }, { "period", a->period_at, FIELD_UINT },
	};
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		struct field_value v = { .type = parts[i].type };

		if (parts[i].at == PERF_NONE)
			continue;
		v.u = load64(rec + parts[i].at);
		v.i = (int64_t)v.u;
		emit(arg, parts[i].name, &v);
	}
}

static size_t stack(void *priv, const struct event *ev, uint64_t *ips, size_t max)
{
	const struct perf_file *pf = priv;
	struct perf_sample ps;
	const uint8_t *rec;
	size_t size, i, n = 0;

	if (!sample_of(pf, ev, &rec, &size, &ps))
		return 0;
	for (i = 0; i < ps.n_callchain && n < max; i++) {
		uint64_t ip = load64(rec + ps.callchain + 8 * i);

		if (ip < (uint64_t)-4095)	/* else a PERF_CONTEXT_... mark */
			ips[n++] = ip;
	}
	return n;
}

/* Start the renderer with the formats of the recorded events. */
static void start_renderer(struct perf_file *pf)
{
	const struct tp_format **formats = xcalloc(pf->n_attrs, sizeof(*formats));
	struct error *err;
	size_t i, n = 0;

	for (i = 0; i < pf->n_attrs; i++)
		if (pf->attrs[i].format)
			formats[n++] = pf->attrs[i].format;
	err = render_start(&pf->render, formats, n, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 8);
	if (err) {
		parse_remark(pf->ctx, false, "%s: fields are shown plainly", err->what);
		pf->render_failed = true;
		error_free(err);
	}
	free(formats);
}

static void render(void *priv, const struct event *const *evs, size_t n, char **texts)
{
	struct perf_file *pf = priv;
	_cleanup_free_ struct render_event *batch = xcalloc(n, sizeof(*batch));
	_cleanup_free_ char **out = xcalloc(n, sizeof(*out));
	_cleanup_free_ size_t *index = xcalloc(n, sizeof(*index));
	size_t i, k = 0;

	if (!pf->render && !pf->render_failed)
		start_renderer(pf);
	if (pf->render_failed)
		return;
	for (i = 0; i < n; i++) {
		const struct perf_attr *a;
		struct perf_sample ps;
		const uint8_t *rec;
		size_t size;

		a = sample_of(pf, evs[i], &rec, &size, &ps);
		if (!a || !a->format || !ps.raw)
			continue;
		batch[k] = (struct render_event){ a->format->id, evs[i]->cpu, evs[i]->time,
						  rec + ps.raw, ps.raw_size };
		index[k++] = i;
	}
	if (!render_batch(pf->render, batch, k, out)) {
		parse_remark(pf->ctx, true,
			     "the renderer of print formats died (damaged or hostile formats): fields are shown plainly");
		pf->render_failed = true;
	}
	for (i = 0; i < k; i++)
		texts[index[i]] = out[i];
}

static bool place(void *priv, uint64_t pos, int64_t *member_id, uint64_t *offset)
{
	return perf_place_of(priv, pos, member_id, offset);
}

const struct stream_ops perf_ops = {
	.place = place,
	.render = render,
	.cite_text = cite_text,
	.fields = fields,
	.stack = stack,
};
