// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_trace_text.c - a text trace through its parser, whole or embedded as the first byte says,
 * with citations and fields of every event asked for; or its lines through the splitting and
 * reading functions alone, which is much faster.
 */
#include "../../parsers/fgraph_call.h"
#include "../../parsers/trace_fields.h"
#include "../../parsers/trace_line.h"
#include "textfeed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEPT	64

struct kept {
	struct consumer	consumer;
	struct event	ev[KEPT];
	size_t		n;
};

static void keep(void *priv, struct stream *s, const struct batch *b)
{
	struct kept *k = priv;
	uint32_t i;

	(void)s;
	for (i = 0; i < b->n && k->n < KEPT; i++)
		k->ev[k->n++] = b->ev[i];
}

static void ignore(void *arg, const char *name, const struct field_value *v)
{
	size_t *sum = arg;

	*sum += strlen(name) + (v->type == FIELD_STR ? v->len : 0);
}

static struct error *ask(void *priv, struct stream *s)
{
	struct kept *k = priv;
	size_t i, sum = 0;

	for (i = 0; i < k->n; i++) {
		uint64_t pos = k->ev[i].pos, line;

		free(s->ops->cite_text(s->ops_priv, &k->ev[i]));
		s->ops->fields(s->ops_priv, &k->ev[i], ignore, &sum);
		s->ops->lines_of(s->ops_priv, &pos, &line, 1);
	}
	k->n = 0;
	return NULL;
}

static struct error *open_kept(struct parse_ctx *ctx, struct stream **ret,
			       const struct source_desc *desc, const struct stream_ops *ops,
			       void *ops_priv)
{
	struct kept *k = ctx->open_arg;

	k->consumer = (struct consumer){ .batch = keep, .end = ask };
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &k->consumer, k);
}

static void one_line(const char *s, size_t len)
{
	struct fgraph_call call;
	struct trace_line t;
	const char *fields;
	uint64_t n;
	uint16_t cpu;
	size_t sum = 0, name;

	trace_lost_line(s, len, &cpu, &n);
	fgraph_duration(s, len, &n);
	fgraph_call(s, len, &call);
	if (!trace_line_split(s, len, &t) && !trace_line_split_latency(s, len, &t))
		return;
	name = trace_line_name(&t, &fields);
	if (!name)
		return;
	len = (size_t)(t.rest + t.rest_len - fields);
	text_event_fields(t.rest, name, fields, len, ignore, &sum);
	text_event_cut(t.rest, name, fields, len);
}

/* Each line in memory of its own size. */
static int lines_alone(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *nl = memchr(data, '\n', size);
		size_t len = nl ? (size_t)(nl - data) : size;
		_cleanup_free_ char *line = malloc(len ? len : 1);

		memcpy(line, data, len);
		one_line(line, len);
		data += len + (nl != NULL);
		size -= len + (nl != NULL);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "ftrace", "trace-cmd report", "function_graph" };
	static struct case_db *db;
	static unsigned int runs;
	const struct parser *const *it;
	struct strtab messages;
	struct kept kept = { .n = 0 };
	struct member m = { .id = 1, .path = "fuzz", .name = "fuzz" };
	struct parse_ctx ctx = {
		.m = &m, .open_stream = open_kept, .open_arg = &kept, .messages = &messages
	};
	_cleanup_free_ char *copy = NULL;
	_cleanup_error_ struct error *err = NULL;

	if (size < 2 || size > 65536)
		return 0;
	if (data[0] & 8)
		return lines_alone(data + 1, size - 1);
	if (db && runs++ % 100 == 99) {
		case_close(db);
		db = NULL;
	}
	if (!db && case_create(&db, NULL))
		abort();
	strtab_init(&messages, 256);
	ctx.db = db;
	ctx.embedded = data[0] & 4;
	m.size = size - 1;
	copy = malloc(m.size);
	memcpy(copy, data + 1, m.size);
	m.data = (const uint8_t *)copy;
	SET_FOREACH(parsers, it) {
		if (strcmp((*it)->name, formats[(data[0] & 3) % ARRAY_SIZE(formats)]))
			continue;
		ctx.parser = *it;
		err = textfeed_whole(&ctx, *it);
		break;
	}
	if (err && err->code == ERR_INTERNAL)
		abort();
	strtab_deinit(&messages);
	return 0;
}
