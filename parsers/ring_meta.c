// SPDX-License-Identifier: GPL-2.0-or-later
/* ring_meta.c - what a binary ftrace recording says about itself besides its events; see ring.h. */
#include "ring.h"

#include "render.h"

#define MAX_COMMS	(1u << 20)

void ring_init(struct ring *r, struct parse_ctx *ctx)
{
	memset(r, 0, sizeof(*r));
	r->ctx = ctx;
	r->types = xcalloc(1u << 16, sizeof(*r->types));
	r->page_size = 4096;
	r->long_size = 8;
	r->commit_at = 8;
	r->data_at = 16;
	r->type_size = 2;
	r->pid_at = 4;
	r->scratch = xmalloc(TP_MAX_RECORD);
	r->next_pos = r->room = ctx->m->size;
	pthread_mutex_init(&r->lock, NULL);
}

void ring_deinit(struct ring *r)
{
	size_t i;

	ring_clear_pages(r);
	for (i = 0; i < r->n_ids; i++) {
		struct ring_type *t = r->types[r->ids[i]];

		tp_decoder_free(t->dec);
		tp_format_free(t->format);
		free(t);
	}
	free(r->ids);
	for (i = 0; i < r->n_shifts; i++)
		free(r->shifts[i].at);
	for (i = 0; i < RING_VIEW_CHUNKS; i++)
		free(r->views[i].bytes);
	free(r->shifts);
	free(r->types);
	free(r->comms);
	free(r->chunks);
	free(r->by_pos);
	free(r->cpus);
	free(r->heap);
	free(r->scratch);
	free(r->symbols);
	free(r->kallsyms.owned);
	free(r->printk.owned);
	free(r->stats);
	render_stop(r->render);
	text_out_free(&r->cite);
	pthread_mutex_destroy(&r->lock);
}

/* Number behind "@key:" in the rest of a line; false when there is none below 2^16. */
static bool key_number(const char *s, const char *end, const char *key, uint32_t *ret)
{
	const char *p = memmem(s, (size_t)(end - s), key, strlen(key));
	uint32_t v = 0;
	bool any = false;

	if (!p)
		return false;
	for (p += strlen(key); p < end && *p >= '0' && *p <= '9' && v < 1u << 16; p++) {
		v = v * 10 + (uint32_t)(*p - '0');
		any = true;
	}
	*ret = v;
	return any && v < 1u << 16;
}

/* "	field: local_t commit;	offset:8;	size:8;	signed:1;" */
bool ring_header_page(struct ring *r, const char *text, size_t len)
{
	static const char *const names[] = { " timestamp;", " commit;", " data;" };
	uint32_t offset[3] = { 0 }, size[3] = { 0 };
	const char *p = text, *end = text + len;
	unsigned int seen = 0;
	size_t i;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;

		for (i = 0; i < ARRAY_SIZE(names); i++) {
			if (memmem(p, (size_t)(stop - p), names[i], strlen(names[i])) &&
			    key_number(p, stop, "offset:", &offset[i]) &&
			    (key_number(p, stop, "size:", &size[i]) || i == 2))
				seen |= 1u << i;
		}
		p = stop + 1;
	}
	if (seen != 7 || size[0] != 8 || (size[1] != 4 && size[1] != 8) ||
	    offset[0] + 8 > offset[2] || offset[1] + size[1] > offset[2] ||
	    offset[2] >= r->page_size)
		return false;
	r->stamp_at = (uint16_t)offset[0];
	r->commit_at = (uint16_t)offset[1];
	r->long_size = (uint8_t)size[1];
	r->data_at = (uint16_t)offset[2];
	if (size[2])	/* a sub-buffer may be larger than a page */
		r->page_size = offset[2] + size[2];
	return true;
}

/* The common fields are the same in all formats: they come from the kernel's trace_entry. */
static void take_common(struct ring *r, const struct tp_format *f)
{
	const struct tp_field *type = tp_field_find(f, "common_type"), *pid;

	pid = tp_field_find(f, "common_pid");
	if (!type || !pid || type->shape != TP_INTEGER || pid->shape != TP_INTEGER ||
	    pid->elem != 4 || type->elem > 4 || type->elem < 2 || type->offset > 64 ||
	    pid->offset > 64)
		return;
	r->type_at = (uint16_t)type->offset;
	r->type_size = type->elem;
	r->pid_at = (uint16_t)pid->offset;
}

struct ring_type *ring_add_type(struct ring *r, uint16_t id)
{
	struct ring_type *t = xcalloc(1, sizeof(*t));

	t->ev = EVENT_TYPE_NONE;
	GROW(r->ids, r->cap_ids, r->n_ids + 1);
	r->ids[r->n_ids++] = id;
	r->types[id] = t;
	return t;
}

void ring_add_format(struct ring *r, const char *system, const char *text, size_t len)
{
	_cleanup_error_ struct error *err = NULL;
	struct ring_type *t;
	struct tp_format *f;

	err = tp_format_parse(&f, system, text, len);
	if (err) {
		r->bad_formats++;
		return;
	}
	if (f->id >= 1u << 16 || r->types[f->id]) {
		tp_format_free(f);
		return;
	}
	if (!r->n_formats++)
		take_common(r, f);
	t = ring_add_type(r, (uint16_t)f->id);
	t->format = f;
	ring_bind_special(t);
}

bool ring_has_system(const struct ring *r, const char *system)
{
	size_t i;

	for (i = 0; i < r->n_ids; i++) {
		const struct tp_format *f = r->types[r->ids[i]]->format;

		if (f && !strcmp(f->system, system))
			return true;
	}
	return false;
}

static int by_tid(const void *x, const void *y)
{
	const struct ring_comm *a = x, *b = y;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static struct ring_comm *find_comm(const struct ring *r, int32_t tid)
{
	struct ring_comm key = { .tid = tid };

	return r->n_comms ? bsearch(&key, r->comms, r->n_comms, sizeof(key), by_tid) : NULL;
}

/* A positive number and a blank at @*p; moves behind them. */
static bool tid_blank(const char **p, const char *end, int32_t *ret)
{
	const char *s = *p;
	int64_t v = 0;

	while (s < end && *s == ' ')
		s++;
	if (s == end || *s < '0' || *s > '9')
		return false;
	for (; s < end && *s >= '0' && *s <= '9' && v <= INT32_MAX; s++)
		v = v * 10 + (*s - '0');
	if (v > INT32_MAX || s == end || *s != ' ')
		return false;
	*p = s + 1;
	*ret = (int32_t)v;
	return true;
}

void ring_add_cmdlines(struct ring *r, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	size_t i, n = 0;

	while (p < end && r->n_comms < MAX_COMMS) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
		struct ring_comm c = { .tgid = -1 };

		if (tid_blank(&p, stop, &c.tid) && p < stop) {
			memcpy(c.comm, p, MIN((size_t)(stop - p), sizeof(c.comm) - 1));
			GROW(r->comms, r->cap_comms, r->n_comms + 1);
			r->comms[r->n_comms++] = c;
		}
		p = stop + 1;
	}
	if (!r->n_comms)
		return;
	qsort(r->comms, r->n_comms, sizeof(*r->comms), by_tid);
	for (i = 0; i < r->n_comms; i++)
		if (!n || r->comms[n - 1].tid != r->comms[i].tid)
			r->comms[n++] = r->comms[i];
	r->n_comms = n;
}

void ring_add_tgids(struct ring *r, const char *text, size_t len)
{
	const char *p = text, *end = text + len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
		_cleanup_free_ char *tgid = NULL;
		struct ring_comm *c;
		int32_t tid;

		if (tid_blank(&p, stop, &tid) && stop - p < 16 && (c = find_comm(r, tid))) {
			tgid = xstrndup(p, (size_t)(stop - p));
			c->tgid = (int32_t)strtol(tgid, NULL, 10);
			if (c->tgid <= 0)
				c->tgid = -1;
		}
		p = stop + 1;
	}
}

const char *ring_comm_of(const struct ring *r, int32_t tid)
{
	const struct ring_comm *c = tid ? find_comm(r, tid) : NULL;

	return !tid ? "<idle>" : c ? c->comm : "<...>";
}

/* Lines of printk_formats: 0xADDR : "text" */
const char *ring_printk_format(const struct ring *r, uint64_t at, size_t *len)
{
	const char *p = r->printk.s, *end = p ? p + r->printk.len : NULL;

	while (p && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end, *q;
		char digits[24] = { 0 };

		memcpy(digits, p, MIN((size_t)(stop - p), sizeof(digits) - 1));
		q = memchr(p, '"', (size_t)(stop - p));
		if (q && strtoull(digits, NULL, 16) == at) {
			p = q + 1;
			q = memrchr(p, '"', (size_t)(stop - p));
			*len = (size_t)((q ? q : stop) - p);
			return p;
		}
		p = stop + 1;
	}
	return NULL;
}

/*
 * Ours for ftrace's clocks (kernel/trace/trace_clock.c): "global" and "perf" are
 * sched_clock_cpu(), which perf's default clock is too; "local" lacks __sched_clock_offset.
 */
const char *ring_clock(const char *clock)
{
	static const struct { const char *ftrace, *ours; } names[] = {
		{ "local", "local" }, { "global", "sched" }, { "perf", "sched" }, { "mono", "mono" },
		{ "mono_raw", "mono_raw" }, { "boot", "boot" }, { "tai", "tai" }, { "x86-tsc", "tsc" },
		{ "tsc2nsec", "tsc" }, { "counter", "counter" },
	};
	size_t i;

	for (i = 0; clock && i < ARRAY_SIZE(names); i++)
		if (!strcmp(clock, names[i].ftrace))
			return names[i].ours;
	return "unknown";
}

/* "local [global] counter": the word in brackets. */
char *ring_chosen_clock(const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *close;

	close = open ? memchr(open, ']', len - (size_t)(open - text)) : NULL;
	return close ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}
