// SPDX-License-Identifier: GPL-2.0-or-later
/* text_record.c - one recording out of text lines; see text_record.h. */
#include "text_record.h"

#define KEPT_LINES	4096
#define MARK_EVERY	1024	/* events */

struct text_record_line {
	uint64_t	pos, no;
	char		*text;
	size_t		len;
};

void text_record_init(struct text_record *r, struct parse_ctx *ctx, const char *format,
		      const struct stream_ops *ops)
{
	unsigned int serial = r->serial;

	memset(r, 0, sizeof(*r));
	r->serial = serial;
	r->ctx = ctx;
	r->ops = ops;
	r->desc.format = format;
	r->desc.member_id = ctx->m->id;
	r->desc.time_resolution_ns = 1000;
	r->desc.side = ctx->side;
}

bool text_record_open(struct text_record *r)
{
	size_t i;

	if (likely(r->s))
		return !r->err;
	if (r->err)
		return false;
	r->path = r->serial ? xasprintf("%s#%u", r->ctx->m->path, r->serial + 1) : xstrdup(r->ctx->m->path);
	r->serial++;
	r->desc.path = r->path;
	r->err = r->ctx->open_stream(r->ctx, &r->s, &r->desc, r->ops, r);
	if (r->err)
		return false;
	r->te = text_events_new(r->s);
	r->tasks = xmalloc(TEXT_TASK_SLOTS * sizeof(*r->tasks));
	for (i = 0; i < TEXT_TASK_SLOTS; i++)
		r->tasks[i].tid = -1;
	return true;
}

static struct event *common(struct text_record *r, uint64_t time, uint64_t pos, uint16_t cpu,
			    int32_t tid)
{
	struct event *ev = stream_next(r->s);

	memset(ev, 0, sizeof(*ev));
	ev->time = time;
	ev->pos = pos;
	ev->cpu = cpu;
	ev->tid = tid;
	return ev;
}

static void push_losses(struct text_record *r, uint64_t time)
{
	size_t i;

	for (i = 0; i < r->n_losses; i++) {
		struct event *ev = common(r, time, r->losses[i].pos, r->losses[i].cpu, -1);

		ev->ev = EVENT_TYPE_NONE;
		ev->kind = EV_LOST;
		ev->a[0] = r->losses[i].events;
		stream_push(r->s);
	}
	r->n_losses = 0;
}

/*
 * In embedded mode lines are few and come unquoted and rejoined: keep them as they are for citing.
 */
static void keep_line(struct text_record *r, const struct line *ln)
{
	struct text_record_line *l;

	if (r->n_lines && r->lines[r->n_lines - 1].pos >= ln->off)
		return;
	if (r->n_lines >= KEPT_LINES)
		return;
	GROW(r->lines, r->cap_lines, r->n_lines + 1);
	l = &r->lines[r->n_lines++];
	l->pos = ln->off;
	l->no = ln->no;
	l->text = xmalloc(ln->len + 1);		/* NUL bytes and all */
	memcpy(l->text, ln->s, ln->len);
	l->len = ln->len;
}

static void add_mark(struct text_record *r, const struct line *ln)
{
	if (r->n_marks && r->marks[r->n_marks - 1].pos >= ln->off)
		return;
	GROW(r->marks, r->cap_marks, r->n_marks + 1);
	r->marks[r->n_marks].pos = ln->off;
	r->marks[r->n_marks++].no = ln->no;
}

struct event *text_record_event(struct text_record *r, const struct line *ln, uint64_t time,
				uint16_t cpu, int32_t tid, uint8_t flags)
{
	struct event *ev;

	if (unlikely(r->n_losses))
		push_losses(r, time);
	if (unlikely(r->ctx->embedded))
		keep_line(r, ln);
	if (unlikely(!(r->since_mark++ % MARK_EVERY)))
		add_mark(r, ln);
	r->last_time = time;
	r->last_pos = ln->off;
	ev = stream_next(r->s);
	ev->time = time;
	ev->pos = ln->off;
	ev->cpu = cpu;
	ev->tid = tid;
	ev->flags = flags;
	return ev;
}

void text_record_task(struct text_record *r, const struct line *ln, uint64_t time, int32_t tid,
		      int32_t tgid, const char *comm, size_t len)
{
	struct text_task *t;
	struct event *ev;
	uint64_t w[2];

	if (tid <= 0)
		return;		/* the idle tasks, or nobody */
	t = &r->tasks[(uint32_t)tid % TEXT_TASK_SLOTS];
	comm_words(w, comm, len);
	if (likely(t->tid == tid && t->comm[0] == w[0] && t->comm[1] == w[1] && t->tgid == tgid))
		return;
	if (len == 5 && !memcmp(comm, "<...>", 5)) {
		if (tgid < 0 || (t->tid == tid && t->tgid == tgid))
			return;
		w[0] = w[1] = 0;
	}
	if (t->tid == tid && tgid < 0)
		tgid = t->tgid;
	t->tid = tid;
	t->tgid = tgid;
	t->comm[0] = w[0];
	t->comm[1] = w[1];
	if (r->n_losses)
		push_losses(r, time);
	ev = common(r, time, ln->off, EVENT_CPU_NONE, tid);
	ev->ev = EVENT_TYPE_NONE;
	ev->kind = EV_TASK;
	ev->a[0] = w[0];
	ev->a[1] = w[1];
	ev->b[0] = tgid < 0 ? EVENT_U32_NONE : (uint32_t)tgid;
	ev->b[1] = TASK_SEEN;
	stream_push(r->s);
}

void text_record_lost(struct text_record *r, const struct line *ln, uint16_t cpu, uint64_t events)
{
	if (r->n_losses == TEXT_PENDING_LOSSES) {	/* fold what is more into the last */
		r->losses[r->n_losses - 1].cpu = EVENT_CPU_NONE;
		r->losses[r->n_losses - 1].events += events;
		return;
	}
	r->losses[r->n_losses].pos = ln->off;
	r->losses[r->n_losses].cpu = cpu;
	r->losses[r->n_losses++].events = events;
}

void text_record_bad_field(struct text_record *r, const struct line *ln, uint16_t ev)
{
	if (r->bad_fields++)
		return;
	r->first_bad_field = ln->no;
	if (ev < r->s->n_types)
		snprintf(r->bad_name, sizeof(r->bad_name), "%s", r->s->types[ev].name);
}

struct error *text_record_close(struct text_record *r)
{
	struct error *err;
	size_t i;

	if (!r->s && r->n_losses && !r->ctx->embedded)
		text_record_open(r);
	if (r->s && !r->err && r->n_losses)
		push_losses(r, r->last_time);
	if (r->bad_fields)
		parse_remark(r->ctx, true, "text of %" PRIu64 " event%s not understood, first line %" PRIu64 " (%s)",
			     r->bad_fields, r->bad_fields == 1 ? "" : "s", r->first_bad_field, r->bad_name);
	err = r->s ? stream_close(r->s) : NULL;
	r->s = NULL;
	if (r->err) {
		error_free(err);
		err = r->err;
		r->err = NULL;
	}
	text_events_free(r->te);
	r->te = NULL;
	free(r->tasks);
	r->tasks = NULL;
	free(r->path);
	r->path = NULL;
	for (i = 0; i < r->n_lines; i++)
		free(r->lines[i].text);
	free(r->marks);
	r->marks = NULL;
	r->n_marks = r->cap_marks = 0;
	free(r->lines);
	r->lines = NULL;
	r->n_lines = r->cap_lines = 0;
	return err;
}

bool text_record_restarts(struct text_record *r)
{
	if (!r->s)
		return false;
	if (r->serial < TEXT_MAX_RECORDINGS)
		return true;
	parse_remark(r->ctx, true, "more than %d recordings: the rest is taken as one",
		     TEXT_MAX_RECORDINGS);
	return false;
}

const char *text_record_text(const struct text_record *r, uint64_t pos, size_t *len)
{
	const struct member *m = r->ctx->m;
	size_t lo = 0, hi = r->n_lines;
	const char *s, *nl;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->lines[mid].pos == pos) {
			*len = r->lines[mid].len;
			return r->lines[mid].text;
		}
		if (r->lines[mid].pos < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (pos >= m->size)
		return NULL;
	s = (const char *)m->data + pos;
	nl = memchr(s, '\n', m->size - pos);
	*len = nl ? (size_t)(nl - s) : (size_t)(m->size - pos);
	if (*len && s[*len - 1] == '\r')
		(*len)--;
	return s;
}

char *text_record_cite(void *priv, const struct event *ev)
{
	size_t len;
	const char *s = text_record_text(priv, ev->pos, &len);

	while (s && len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	return s ? xstrndup(s, MIN(len, (size_t)4096)) : NULL;
}

void text_record_lines_of(void *priv, const uint64_t *pos, uint64_t *line, size_t n)
{
	const struct text_record *r = priv;
	const char *data = (const char *)r->ctx->m->data;
	uint64_t size = r->ctx->m->size;
	size_t i;

	for (i = 0; i < n; i++) {
		const char *to = data + MIN(pos[i], size), *p = data, *nl;
		uint64_t no = r->ctx->base_line + 1;
		size_t lo = 0, hi = r->n_marks;

		while (lo < hi) {	/* the last mark not behind pos */
			size_t mid = (lo + hi) / 2;

			if (r->marks[mid].pos <= pos[i])
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo && r->marks[lo - 1].pos <= size) {
			p = data + r->marks[lo - 1].pos;
			no = r->marks[lo - 1].no;
		}
		while (p < to && (nl = memchr(p, '\n', (size_t)(to - p)))) {
			no++;
			p = nl + 1;
		}
		line[i] = no;
	}
}
