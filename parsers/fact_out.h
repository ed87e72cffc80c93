/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fact_out.h - where the parsers of host facts put what they found: a source made at the first
 * fact, a bound on their number, errors turned into remarks.
 */
#ifndef KM_FACT_OUT_H
#define KM_FACT_OUT_H

#include "scan.h"

#define FACTS_MAX	50000	/* of one member and parser */

struct fact_out {
	const char	*format;	/* of the source; a literal */
	const char	*side;		/* NULL: the member's */
	int64_t		source_id;	/* 0 as long as nothing was put */
	uint64_t	n;
};

/* fact_source() - make the source if there is none yet; false (and a remark) when that fails. */
bool fact_source(struct parse_ctx *ctx, struct fact_out *o);
/* fact_put() - add the fact @key with the value @s, cut at 4096 bytes; @cite as ctx_cite() gives.
 */
void fact_put(struct parse_ctx *ctx, struct fact_out *o, const char *key, const char *s, size_t len,
	      int64_t cite);
/* fact_line() - the same, citing @ln. */
void fact_line(struct parse_ctx *ctx, struct fact_out *o, const struct line *ln, const char *key,
	       struct scan value);
/* fact_i64() - the same with a number. */
void fact_i64(struct parse_ctx *ctx, struct fact_out *o, const struct line *ln, const char *key,
	      int64_t value);
/* fact_name() - @s as a part of a key: at most 64 bytes, control characters are underscores. */
void fact_name(char buf[65], const char *s, size_t len);
/* fact_host_side() - the side of what only a host of VMs has: the path's word, else "host". */
const char *fact_host_side(const struct parse_ctx *ctx);
/* fact_failed() - a remark of an error that concerns the member only. */
void fact_failed(struct parse_ctx *ctx, struct error *err);

#endif
