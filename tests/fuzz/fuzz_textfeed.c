// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_textfeed.c - recognition and text feeding, with every text parser behind it. The first line
 * is the member's name.
 */
#include "lines.h"

static struct error *count_only(struct parse_ctx *ctx, struct stream **ret,
				const struct source_desc *desc, const struct stream_ops *ops,
				void *ops_priv)
{
	return stream_open(ret, ctx->db, desc, ops, ops_priv, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', MIN(size, (size_t)256));
	_cleanup_free_ char *name = NULL, *copy = NULL;
	struct parse_ctx proto = { .open_stream = count_only };
	struct member m = { .path = "fuzz" };
	struct error *err;

	name = nl ? xstrndup((const char *)data, (size_t)(nl - data)) : xstrdup("x.txt");
	m.name = name;
	m.size = nl ? size - (size_t)(nl + 1 - data) : size;
	/* A copy of exactly this size: the sanitizer sees reads beyond. */
	copy = malloc(m.size ? m.size : 1);
	memcpy(copy, nl ? nl + 1 : data, m.size);
	m.data = (const uint8_t *)copy;
	m.truncated = size & 1;
	if (!m.size)
		return 0;
	proto.db = fuzz_db();
	err = case_insert(proto.db, &m.id, "INSERT INTO member(path, status) VALUES('fuzz', 'ignored')", "");
	if (!err)
		err = analyze_member(&proto, &m);
	if (err && err->code == ERR_INTERNAL)
		abort();
	error_free(err);
	return 0;
}
