// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel_config.c - a kernel's .config, whole (/boot/config-*, /proc/config.gz) or lines of it in a
 * mail.
 *
 *   CONFIG_PREEMPT_DYNAMIC=y
 *   # CONFIG_PREEMPT is not set
 *
 * Facts:
 *
 *   kernel.config.NAME         y | m | n | number | string without quotes; NAME without CONFIG_
 *   kernel.preempt.model       rt | dynamic | full | lazy | voluntary | none, by PREEMPT_RT,
 *                              PREEMPT_DYNAMIC, PREEMPT, PREEMPT_LAZY, PREEMPT_VOLUNTARY,
 *                              PREEMPT_NONE, in this order; the last four only where it is known
 *                              that PREEMPT_DYNAMIC is not set
 *   kernel.preempt.needbreak   y where CONFIG_PREEMPTION is compiled in: spinlocks and rwlocks are
 *                              then dropped on contention also with the live model none or
 *                              voluntary, until commit c793a62823d1. PREEMPT_DYNAMIC selects
 *                              PREEMPTION whatever the default model is. n where PREEMPTION is not
 *                              set. No fact where an excerpt does not tell.
 */
#include "scan.h"

struct config_state {
	int64_t		source_id;
	uint64_t	lines;
	uint64_t	prev_no;	/* number of the last line seen ... */
	bool		prev_ok;	/* ... and whether it lets a lone option stand below it */
	char		preemption, preempt, rt, dynamic, lazy, voluntary, none; /* y, n or 0 */
	int64_t		model_cite, preemption_cite;
};

struct option {
	const char	*name, *value;
	size_t		name_len, value_len;
};

static bool option_name(struct scan *c, struct option *o)
{
	if (!scan_lit(c, "CONFIG_"))
		return false;
	o->name = c->p;
	while (c->p < c->end && is_word(*c->p))
		c->p++;
	o->name_len = (size_t)(c->p - o->name);
	return o->name_len > 0 && o->name_len < 128;
}

static bool parse_option(const struct line *ln, struct option *o)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_lit(&c, "# ")) {
		if (!option_name(&c, o) || !scan_lit(&c, " is not set") || !scan_at_end(&c))
			return false;
		o->value = "n";
		o->value_len = 1;
		return true;
	}
	if (!option_name(&c, o) || !scan_char(&c, '=') || scan_at_end(&c) || scan_left(&c) > 1024)
		return false;
	o->value = c.p;
	o->value_len = scan_left(&c);
	if (*c.p == '"') {
		if (o->value_len < 2 || c.end[-1] != '"')
			return false;
		o->value++;
		o->value_len -= 2;
		return true;
	}
	return !memchr(c.p, ' ', o->value_len) && (is_word(*c.p) || *c.p == '-');
}

static bool comment_or_blank(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	return scan_at_end(&c) || *c.p == '#';
}

static bool sniff_test(const struct line *ln)
{
	struct option o;

	return parse_option(ln, &o) || comment_or_blank(ln);
}

static int config_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, options = 0;
	struct option o;

	while (options < 3 && scan_lines(&next, end, &ln.s, &ln.len))
		options += parse_option(&ln, &o);
	return options >= 1 && sniff_lines(s, sniff_test, &n) >= 95 ? 80 : 0;
}

static struct error *config_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct config_state *st = xcalloc(1, sizeof(*st));

	st->prev_ok = true;
	*state = st;
	return NULL;
}

static void note_preempt(struct config_state *st, const struct option *o, int64_t cite)
{
	const struct { const char *name; char *to; int64_t *cite; } wanted[] = {
		{ "PREEMPTION", &st->preemption, &st->preemption_cite }, { "PREEMPT", &st->preempt, &st->model_cite },
		{ "PREEMPT_RT", &st->rt, &st->model_cite }, { "PREEMPT_DYNAMIC", &st->dynamic, &st->model_cite },
		{ "PREEMPT_LAZY", &st->lazy, &st->model_cite }, { "PREEMPT_VOLUNTARY", &st->voluntary, &st->model_cite },
		{ "PREEMPT_NONE", &st->none, &st->model_cite },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!span_is(o->name, o->name_len, wanted[i].name))
			continue;
		*wanted[i].to = o->value[0] == 'y' ? 'y' : 'n';
		/*
		 * the citation of the model is that of the option which decides: dynamic over the
		 * default chosen
		 */
		if (*wanted[i].to == 'y' &&
		    (wanted[i].to == &st->dynamic || wanted[i].to == &st->rt || st->dynamic != 'y'))
			*wanted[i].cite = cite;
		else if (!*wanted[i].cite)
			*wanted[i].cite = cite;
	}
}

static struct error *store_option(struct parse_ctx *ctx, struct config_state *st,
				  const struct line *ln, const struct option *o)
{
	_cleanup_free_ char *key = xasprintf("kernel.config.%.*s", (int)o->name_len, o->name);
	_cleanup_free_ char *value = xstrndup(o->value, o->value_len);
	int64_t cite;

	if (!st->source_id)
		TRY(ctx_source(ctx, &st->source_id, "kernel config"));
	cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	st->lines++;
	note_preempt(st, o, cite);
	return case_fact(ctx->db, st->source_id, ctx->side, key, value, ctx->snapshot, cite);
}

/*
 * In prose an option counts when it has a line to itself: behind another one, a blank line, a
 * command or a heading that ends in a colon, so that a sentence wrapped before "CONFIG_X=y" does
 * not count.
 */
static bool stands_alone(const struct config_state *st, const struct line *ln)
{
	return ln->no != st->prev_no + 1 || st->prev_ok;
}

static enum line_result config_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct config_state *st = state;
	struct option o;
	struct error *err;
	struct scan c = scan_line(ln);
	bool is_option = parse_option(ln, &o), alone = !ctx->embedded || stands_alone(st, ln);

	scan_trim(&c);
	scan_blanks(&c);
	st->prev_no = ln->no;
	st->prev_ok = (is_option && alone) || scan_at_end(&c) || *c.p == '$' || *c.p == '#' ||
		      c.end[-1] == ':';
	if (!is_option || !alone)
		return !ctx->embedded && comment_or_blank(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
	err = store_option(ctx, st, ln, &o);
	if (err) {
		parse_remark(ctx, true, "%s", err->what);
		error_free(err);
	}
	return LINE_TAKEN;
}

static struct error *config_store(struct parse_ctx *ctx, struct config_state *st)
{
	const struct { char on; const char *model; } models[] = {
		{ st->rt, "rt" }, { st->dynamic, "dynamic" }, { st->preempt, "full" }, { st->lazy, "lazy" },
		{ st->voluntary, "voluntary" }, { st->none, "none" },
	};
	bool whole = !ctx->embedded && st->lines > 500;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(models); i++) {
		if (models[i].on != 'y')
			continue;
		/*
		 * an excerpt without a word on PREEMPT_DYNAMIC can't tell the model from the
		 * default chosen
		 */
		if (i > 1 && !st->dynamic && !whole)
			break;
		TRY(case_fact(ctx->db, st->source_id, ctx->side, "kernel.preempt.model", models[i].model, ctx->snapshot,
			      st->model_cite));
		break;
	}
	if (st->preemption == 'y' || st->dynamic == 'y' || st->rt == 'y' || st->preempt == 'y')
		return case_fact(ctx->db, st->source_id, ctx->side, "kernel.preempt.needbreak", "y", ctx->snapshot,
				 st->preemption_cite ? st->preemption_cite : st->model_cite);
	if (st->preemption == 'n' || (whole && (st->voluntary || st->none)))
		return case_fact(ctx->db, st->source_id, ctx->side, "kernel.preempt.needbreak", "n", ctx->snapshot,
				 st->preemption_cite ? st->preemption_cite : st->model_cite);
	return NULL;
}

static struct error *config_end(struct parse_ctx *ctx, void *state)
{
	struct config_state *st = state;
	struct error *err = NULL;

	if (st->source_id)
		err = config_store(ctx, st);
	free(st);
	return err;
}

static const struct parser kernel_config = {
	.name		= "kernel config",
	.kind		= PARSER_LINES,
	.priority	= 70,
	.embed		= true,
	.sniff		= config_sniff,
	.begin		= config_begin,
	.line		= config_line,
	.end		= config_end,
};
REGISTER(parsers, &kernel_config);
