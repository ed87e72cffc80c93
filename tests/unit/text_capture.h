/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text_capture.h - for tests of text parsers: a text goes through a parser as a whole member or as
 * mixed text, and its events are kept with names in the place of ids.
 */
#ifndef KM_TEXT_CAPTURE_H
#define KM_TEXT_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "casefile.h"
#include "parser.h"
#include "textfeed.h"

struct seen {
	struct event	ev;
	const char	*type;		/* "" for pseudo events */
	const char	*reason;	/* of KVM_EXIT */
	const char	*func;		/* string b0 of probes, functions, syscalls */
	const char	*work;		/* string a1 of queued work */
	char		*stack;
	char		*cite;
	char		comm[17];	/* a[0], a[1] as a comm */
	uint64_t	line;
};

struct capture {
	struct case_db	*db;
	struct member	m;
	struct parse_ctx ctx;
	struct strtab	messages, names;
	struct seen	*seen;
	size_t		n, cap;
	unsigned int	streams;
	struct consumer	consumer;
	/* of the last stream */
	char		clock[24], format[24], path[64];
	int		cpus;
	uint64_t	n_events, n_lost;
	size_t		done;		/* events of streams before */
};

static inline const char *kept(struct capture *c, const char *s)
{
	return strtab_str(&c->names, strtab_id(&c->names, s, strlen(s)));
}

static inline void capture_batch(void *priv, struct stream *s, const struct batch *b)
{
	struct capture *c = priv;
	uint32_t i;

	(void)s;
	GROW(c->seen, c->cap, c->n + b->n);
	for (i = 0; i < b->n; i++) {
		memset(&c->seen[c->n], 0, sizeof(c->seen[c->n]));
		c->seen[c->n++].ev = b->ev[i];
	}
}

static inline struct error *capture_end(void *priv, struct stream *s)
{
	struct capture *c = priv;

	for (; c->done < c->n; c->done++) {
		struct seen *e = &c->seen[c->done];
		const struct event *ev = &e->ev;
		bool named = ev->kind == EV_PROBE_ENTER || ev->kind == EV_PROBE_RETURN ||
			     ev->kind == EV_PROBE_ROOT || ev->kind == EV_PROBE_REWEIGHT ||
			     ev->kind == EV_FUNC_ENTER || ev->kind == EV_FUNC_EXIT ||
			     ev->kind == EV_FUNC_LEAF || ev->kind == EV_SYSCALL_ENTER ||
			     ev->kind == EV_SYSCALL_EXIT;

		e->type = ev->ev == EVENT_TYPE_NONE ? "" : kept(c, s->types[ev->ev].name);
		named = named || !strcmp(e->type, "function");
		e->reason = ev->kind == EV_KVM_EXIT ? kept(c, stream_reason_name(s, ev->b[0])) : "";
		e->func = named && ev->b[0] != EVENT_U32_NONE ? kept(c, strtab_str(&s->strings, ev->b[0])) : "";
		if (ev->kind == EV_WQ_START || ev->kind == EV_WQ_QUEUE)
			e->work = kept(c, strtab_str(&s->strings, (uint32_t)ev->a[1]));
		if (ev->kind == EV_STACK || (ev->kind == EV_SAMPLE && ev->b[0] != EVENT_U32_NONE))
			e->stack = stream_stack_frames(s, ev->b[0]);
		e->cite = s->ops->cite_text ? s->ops->cite_text(s->ops_priv, ev) : NULL;
		if (s->ops->lines_of) {
			uint64_t pos = ev->pos;

			s->ops->lines_of(s->ops_priv, &pos, &e->line, 1);
		}
		memcpy(e->comm, ev->kind == EV_SCHED_STAT_RUNTIME ? &ev->a[2] : ev->a, 16);
	}
	snprintf(c->clock, sizeof(c->clock), "%s", s->desc.clock ? s->desc.clock : "");
	snprintf(c->format, sizeof(c->format), "%s", s->desc.format);
	snprintf(c->path, sizeof(c->path), "%s", s->desc.path);
	c->cpus = s->desc.cpus;
	c->n_events += s->n_events;
	c->n_lost += s->n_lost;
	return NULL;
}

static inline struct error *capture_open(struct parse_ctx *ctx, struct stream **ret,
					 const struct source_desc *desc,
					 const struct stream_ops *ops, void *ops_priv)
{
	struct capture *c = ctx->open_arg;

	c->streams++;
	c->consumer = (struct consumer){ .batch = capture_batch, .end = capture_end };
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &c->consumer, c);
}

static inline const struct parser *parser_named(const char *name)
{
	const struct parser *const *it;

	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, name))
			return *it;
	fail_msg("no parser %s", name);
	return NULL;
}

static inline void capture_init(struct capture *c, const char *text, size_t len)
{
	struct error *err;

	memset(c, 0, sizeof(*c));
	err = case_create(&c->db, NULL);
	if (err)
		fail_msg("%s", err->what);
	c->m = (struct member){ .id = 1, .path = "m", .name = "m", .data = (const uint8_t *)text, .size = len };
	strtab_init(&c->messages, 256);
	strtab_init(&c->names, 0);
	c->ctx = (struct parse_ctx){.db = c->db,
				    .m = &c->m,
				    .open_stream = capture_open,
				    .open_arg = c,
				    .messages = &c->messages};
}

/* capture() - @text as a member of @format (a parser's name), or as mixed text where it is NULL. */
static inline void capture(struct capture *c, const char *format, const char *text)
{
	struct error *err;
	uint64_t taken;

	capture_init(c, text, strlen(text));
	if (format) {
		c->ctx.parser = parser_named(format);
		err = textfeed_whole(&c->ctx, c->ctx.parser);
	} else {
		err = textfeed_mixed(&c->ctx, &taken);
	}
	if (err)
		fail_msg("%s", err->what);
}

static inline void capture_free(struct capture *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		free(c->seen[i].stack);
		free(c->seen[i].cite);
	}
	free(c->seen);
	strtab_deinit(&c->messages);
	strtab_deinit(&c->names);
	case_close(c->db);
}

/* nth() - the @i'th event of @kind. */
static inline const struct seen *nth(const struct capture *c, enum event_kind kind, size_t i)
{
	size_t k;

	for (k = 0; k < c->n; k++)
		if (c->seen[k].ev.kind == kind && !i--)
			return &c->seen[k];
	fail_msg("no such event of kind %d", kind);
	return NULL;
}

static inline size_t count_kind(const struct capture *c, enum event_kind kind)
{
	size_t k, n = 0;

	for (k = 0; k < c->n; k++)
		n += c->seen[k].ev.kind == kind;
	return n;
}

/* remark_has() - was a remark made that contains @part? */
static inline bool remark_has(const struct capture *c, const char *part)
{
	size_t i;

	for (i = 0; i < c->messages.n; i++)
		if (strstr(strtab_str(&c->messages, (uint32_t)i), part))
			return true;
	return false;
}

#endif
