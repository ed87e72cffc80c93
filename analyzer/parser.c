// SPDX-License-Identifier: GPL-2.0-or-later
/* parser.c - what parsers share: remarks, sources, citations; see parser.h. */
#include "parser.h"

#include <stdarg.h>

void parse_remark(struct parse_ctx *ctx, bool partly, const char *fmt, ...)
{
	char *msg;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&msg, fmt, ap);
	va_end(ap);
	if (partly)
		ctx->partly = true;
	if (n < 0)
		return;
	if (ctx->messages)
		strtab_id(ctx->messages, msg, (size_t)n);
	free(msg);
}

struct error *ctx_source(struct parse_ctx *ctx, int64_t *source_id, const char *format)
{
	struct shared_sources *sh = ctx->parser && ctx->parser->kind == PARSER_VALUE ? ctx->shared
										     : NULL;
	size_t i;

	if (!format)
		format = ctx->parser ? ctx->parser->name : "unknown";
	for (i = 0; sh && i < sh->n; i++) {
		if (!strcmp(sh->of[i].format, format)) {
			*source_id = sh->of[i].id;
			return NULL;
		}
	}
	TRY(case_source(ctx->db, source_id, ctx->m->id, ctx->m->path, format, ctx->side));
	if (sh && sh->n < ARRAY_SIZE(sh->of)) {
		sh->of[sh->n].format = format;	/* parsers' names are literals */
		sh->of[sh->n++].id = *source_id;
	}
	return NULL;
}

int64_t ctx_cite(struct parse_ctx *ctx, const struct line *ln, int64_t time_ns)
{
	return case_cite(ctx->db, ctx->m->id, (int64_t)ln->no, -1, time_ns, ln->s, ln->len);
}

static uint64_t count_lines(const uint8_t *p, uint64_t len)
{
	const uint8_t *end = p + len;
	uint64_t n = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

int64_t ctx_cite_at(struct parse_ctx *ctx, uint64_t off, const char *text, size_t len)
{
	const struct member *m = ctx->m;

	if (ctx->parser && ctx->parser->kind == PARSER_BINARY)
		return case_cite(ctx->db, m->id, -1, (int64_t)off, CASE_NO_TIME, text, len);
	off = MIN(off, m->size);
	return case_cite(ctx->db, m->id, (int64_t)(ctx->base_line + 1 + count_lines(m->data, off)),
			 -1, CASE_NO_TIME, text, len);
}
