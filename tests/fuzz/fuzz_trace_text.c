// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_trace_text.c - a text trace through its parser, whole or embedded as the first byte says,
 * with citations and fields of every event asked for; or its lines through the splitting and
 * reading functions alone, which is much faster.
 */
#include "../../parsers/fgraph_call.h"
#include "../../parsers/trace_fields.h"
#include "../../parsers/trace_line.h"
#include "lines.h"

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
	text_event_fields(t.rest, name, fields, len, fuzz_field, &sum);
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
	const struct parser *const *it;
	struct strtab messages;
	struct fuzz_kept kept = { .n = 0 };
	struct member m = { .id = 1, .path = "fuzz", .name = "fuzz" };
	struct parse_ctx ctx = {
		.m = &m, .open_stream = fuzz_open, .open_arg = &kept, .messages = &messages
	};
	_cleanup_free_ char *copy = NULL;
	_cleanup_error_ struct error *err = NULL;

	if (size < 2 || size > 65536)
		return 0;
	if (data[0] & 8)
		return lines_alone(data + 1, size - 1);
	strtab_init(&messages, 256);
	ctx.db = fuzz_db();
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
