// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms.c - the kernel's symbols: /proc/kallsyms and System.map, kept to name the addresses of
 * call chains (symbols.h).
 *
 *   kernel.kallsyms			visible; hidden: all addresses are zero (kptr_restrict), so
 *					nothing can be named with it
 *
 * Formats: kernel/kallsyms.c; nm(1).
 */
#include "fact_out.h"
#include "symbols.h"

/* ffffffff81000000 T _stext */
static bool symbol(struct scan c, bool *zero)
{
	const char *from = c.p;

	*zero = true;
	while (c.p < c.end && (is_digit(*c.p) || (*c.p >= 'a' && *c.p <= 'f'))) {
		*zero &= *c.p == '0';
		c.p++;
	}
	return (c.p - from == 16 || c.p - from == 8) && scan_char(&c, ' ') && scan_left(&c) > 2 &&
	       is_alpha(*c.p) && c.p[1] == ' ';
}

static bool symbol_test(const struct line *ln)
{
	bool zero;

	return symbol(scan_line(ln), &zero);
}

static int sniff(const struct sniff *s)
{
	unsigned int n;

	return sniff_lines(s, symbol_test, &n) == 100 && n >= 20 ? 88 : 0;
}

static bool is_system_map(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strncmp(slash ? slash + 1 : name, "System.map", 10);
}

/* Whether addresses are visible; the first line that shows it is cited. */
static bool put_fact(struct parse_ctx *ctx)
{
	struct fact_out out = { .format = "kallsyms" };
	const char *next = (const char *)ctx->m->data,
		   *end = next + MIN(ctx->m->size, (uint64_t)(1u << 20)), *s;
	size_t len, first_len = 0;
	const char *first = NULL;
	bool zero, all_zero = true;

	while (scan_lines(&next, end, &s, &len)) {
		if (!symbol(scan_mem(s, len), &zero))
			continue;
		if (!first || (all_zero && !zero)) {
			first = s;
			first_len = len;
		}
		all_zero &= zero;
	}
	if (first)
		fact_put(ctx, &out, "kernel.kallsyms", all_zero ? "hidden" : "visible",
			 all_zero ? 6 : 7,
			 ctx_cite_at(ctx, (uint64_t)(first - (const char *)ctx->m->data), first,
				     first_len));
	return !all_zero;
}

static struct error *parse(struct parse_ctx *ctx)
{
	struct sym_list_desc d = { .kind = SYM_LIST_KALLSYMS, .path = ctx->m->path,
				   .side = ctx->side };

	if (is_system_map(ctx->m->name))
		d.kind = SYM_LIST_SYSTEM_MAP;
	else if (!put_fact(ctx))
		parse_remark(ctx, false, "all addresses are zero (kptr_restrict): send it as root sees it");
	return symbols_add_list(ctx->db, &d, (const char *)ctx->m->data, (size_t)ctx->m->size);
}

static const struct parser kallsyms = {
	.name	= "kallsyms",
	.kind	= PARSER_VALUE,
	.sniff	= sniff,
	.parse	= parse,
};
REGISTER(parsers, &kallsyms);
