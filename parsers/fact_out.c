// SPDX-License-Identifier: GPL-2.0-or-later
/* fact_out.c - where the parsers of host facts put what they found; see fact_out.h. */
#include "fact_out.h"

void fact_failed(struct parse_ctx *ctx, struct error *err)
{
	if (!err)
		return;
	parse_remark(ctx, true, "%s", err->what);
	error_free(err);
}

bool fact_source(struct parse_ctx *ctx, struct fact_out *o)
{
	if (!o->source_id)
		fact_failed(ctx, ctx_source(ctx, &o->source_id, o->format));
	return o->source_id;
}

void fact_put(struct parse_ctx *ctx, struct fact_out *o, const char *key, const char *s, size_t len,
	      int64_t cite)
{
	_cleanup_free_ char *value = xstrndup(s, MIN(len, (size_t)4096));

	if (o->n++ >= FACTS_MAX) {
		parse_remark(ctx, true, "more than %d facts in one file: the rest is left out", FACTS_MAX);
		return;
	}
	if (fact_source(ctx, o))
		fact_failed(ctx, case_fact(ctx->db, o->source_id, o->side ? o->side : ctx->side,
					   key, value, ctx->snapshot, cite));
}

void fact_line(struct parse_ctx *ctx, struct fact_out *o, const struct line *ln, const char *key,
	       struct scan value)
{
	if (o->n < FACTS_MAX)
		fact_put(ctx, o, key, value.p, scan_left(&value), ctx_cite(ctx, ln, CASE_NO_TIME));
	else
		fact_put(ctx, o, key, "", 0, 0);
}

void fact_i64(struct parse_ctx *ctx, struct fact_out *o, const struct line *ln, const char *key,
	      int64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRId64, value);
	fact_line(ctx, o, ln, key, scan_mem(buf, strlen(buf)));
}

void fact_name(char buf[65], const char *s, size_t len)
{
	size_t i;

	len = MIN(len, (size_t)64);
	for (i = 0; i < len; i++)
		buf[i] = (unsigned char)s[i] < ' ' || s[i] == 0x7f ? '_' : s[i];
	buf[len] = '\0';
}

const char *fact_host_side(const struct parse_ctx *ctx)
{
	return ctx->side && strcmp(ctx->side, "unknown") ? ctx->side : "host";
}
