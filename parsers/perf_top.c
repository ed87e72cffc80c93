// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_top.c - screens of `perf top`: of --stdio (also kept by tee or script, with the terminal's
 * escapes), of the full-screen view as one copies it, and of the layout before Linux 3.8.
 *
 *   PerfTop:    4030 irqs/sec  kernel:57.4%  exact:  0.0% lost: 12/40 drop: 0/7 [4000Hz cycles],
 *   -------------------------------------------------------------------------------
 *
 *       10.57%  [kernel]           [k] _raw_spin_unlock_irqrestore
 *
 *   Samples: 1K of event 'cycles', 4000 Hz, Event count (approx.): 863700 lost: 0/0 drop: 0/0
 *   Overhead  Shared Object        Symbol
 *     10.57%  [kernel]             [k] _raw_spin_unlock_irqrestore
 *
 *             samples  pcnt function                 DSO
 *             _______ _____ ________________________ ____________________
 *             1043.00  9.4% _raw_spin_lock           [kernel.kallsyms]
 *
 * (tools/perf/util/top.c, perf_top__header_snprintf(); ui/browsers/hists.c.) A symbol's row of
 * stack_count holds what one second of each --stdio screen would have, added over the screens (a
 * screen prints a rate and shares); of the full-screen view, whose numbers only grow, the last
 * screen's. Where two shares stand in a row (call graphs) the second is what the symbol has itself.
 *
 *   perf.top.screens	number; means over them:
 *   perf.top.samples_per_s, perf.top.kernel_percent, perf.top.guest_percent
 */
#include "fact_out.h"

#define MAX_SYMBOLS	20000
#define PLAIN_MAX	512
#define UNIT		1000000		/* of shares and rates */

struct symbol { int64_t count, cite; };

struct top {
	struct fact_out	out;
	bool		open, growing, old;	/* the screen at work, and its kind */
	char		event[128];
	int64_t		rate;			/* samples of the screen, times UNIT */
	int64_t		screens, sum_rate, sum_kernel, sum_guest, with_guest, head_cite;
	int64_t		lost, dropped, lost_cite, dropped_cite;
	struct strtab	names;			/* "event\nsymbol" */
	struct symbol	*symbols;
	size_t		n, cap;
};

/* The line without the terminal's escapes, blanks at its ends and the newline's CR. */
static struct scan plain(const struct line *ln, char buf[PLAIN_MAX])
{
	size_t i, n = 0;
	struct scan c;

	for (i = 0; i < ln->len && n < PLAIN_MAX; i++) {
		if (ln->s[i] == '\033' && i + 1 < ln->len && ln->s[i + 1] == '[') {
			i += 2;
			while (i < ln->len && (is_digit(ln->s[i]) || ln->s[i] == ';'))
				i++;
			continue;
		}
		if ((unsigned char)ln->s[i] >= ' ' || ln->s[i] == '\t')
			buf[n++] = ln->s[i];
	}
	c = scan_mem(buf, n);
	scan_blanks(&c);
	scan_trim(&c);
	return c;
}

static bool share_after(const struct scan *c, const char *lit, int64_t *share)
{
	struct scan f = *c;

	if (!scan_to(&f, lit))
		return false;
	scan_blanks(&f);
	return scan_dec(&f, UNIT, share, NULL) && scan_char(&f, '%') && *share <= 100LL * UNIT;
}

/* "lost: 12/40": the second is since the beginning. */
static void take_total(struct parse_ctx *ctx, const struct line *ln, const struct scan *c,
		       const char *lit, int64_t *total, int64_t *cite)
{
	struct scan f = *c;
	int64_t now, all;

	if (!scan_to(&f, lit) || !scan_i64(&f, &now) || !scan_char(&f, '/') ||
	    !scan_i64(&f, &all) || all <= *total)
		return;
	*total = all;
	*cite = ctx_cite(ctx, ln, CASE_NO_TIME);
}

static bool rate_line(struct scan c, int64_t *rate)
{
	if (!scan_lit(&c, "PerfTop:"))
		return false;
	scan_blanks(&c);
	return scan_dec(&c, UNIT, rate, NULL) && scan_lit(&c, " irqs/sec");
}

/* "[4000Hz cpu-clock:pppH],": the event, without how often it was sampled. */
static void event_of(struct top *t, struct scan c)
{
	const char *end;
	int64_t v;

	*t->event = '\0';
	if (!scan_to(&c, "["))
		return;
	end = scan_find(&c, "], ");
	if (!end)
		end = memrchr(c.p, ']', scan_left(&c));
	if (!end)
		return;
	c.end = end;
	if (scan_i64(&c, &v)) {
		scan_lit(&c, "Hz");
		scan_blanks(&c);
	}
	snprintf(t->event, sizeof(t->event), "%.*s", (int)MIN(scan_left(&c), sizeof(t->event) - 1), c.p);
}

static bool take_rate(struct parse_ctx *ctx, struct top *t, const struct line *ln, struct scan c)
{
	int64_t rate, kernel = 0, guest = 0, user = 0;

	if (!rate_line(c, &rate))
		return false;
	t->open = true;
	t->growing = t->old = false;
	t->rate = MIN(rate, (int64_t)UNIT * UNIT);
	event_of(t, c);
	t->head_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	take_total(ctx, ln, &c, "lost: ", &t->lost, &t->lost_cite);
	take_total(ctx, ln, &c, "drop: ", &t->dropped, &t->dropped_cite);
	if (t->screens >= UNIT)
		return true;
	t->screens++;
	t->sum_rate += t->rate;
	if (share_after(&c, "kernel:", &kernel))
		t->sum_kernel += kernel;
	if (share_after(&c, "guest kernel:", &guest)) {
		t->with_guest++;
		share_after(&c, "guest us:", &user);
		t->sum_guest += guest + user;
	}
	return true;
}

/* Samples: 16K of event 'cycles', 4000 Hz, Event count (approx.): 863700 lost: 0/0 drop: 0/0 */
static bool samples_line(struct scan c, int64_t *samples, const char **event, size_t *len)
{
	const char *end;

	if (!scan_lit(&c, "Samples: ") || !scan_i64(&c, samples) || *samples > UNIT || *samples < 0)
		return false;
	if (scan_char(&c, 'K'))
		*samples *= 1000;
	else if (scan_char(&c, 'M'))
		*samples *= 1000000;
	if (!scan_to(&c, "of event") || !scan_to(&c, "'") || !scan_find(&c, "lost: ") || !scan_find(&c, "drop: "))
		return false;
	end = scan_find(&c, "', ");
	if (!end)
		return false;
	*event = c.p;
	*len = (size_t)(end - c.p);
	return true;
}

static bool take_samples(struct parse_ctx *ctx, struct top *t, const struct line *ln, struct scan c)
{
	const char *event;
	int64_t samples;
	size_t len, i;

	if (!samples_line(c, &samples, &event, &len))
		return false;
	t->open = t->growing = true;
	t->old = false;
	t->rate = MIN(samples, (int64_t)UNIT * UNIT / 1000) * UNIT;
	snprintf(t->event, sizeof(t->event), "%.*s", (int)MIN(len, sizeof(t->event) - 1), event);
	t->head_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
	take_total(ctx, ln, &c, "lost: ", &t->lost, &t->lost_cite);
	take_total(ctx, ln, &c, "drop: ", &t->dropped, &t->dropped_cite);
	for (i = 0; i < t->n; i++)	/* this screen's shares are of everything so far */
		if (starts_with(t->names.strings[i], t->names.lens[i], t->event) &&
		    t->names.strings[i][strlen(t->event)] == '\n')
			t->symbols[i].count = 0;
	return true;
}

static bool old_title(struct scan c)
{
	return scan_lit(&c, "samples") && scan_blanks(&c) && scan_lit(&c, "pcnt ") &&
	       scan_find(&c, "function");
}

/* Behind the shares: "[kernel]  [k] name"; in the old layout "name  [kernel.kallsyms]". */
static bool symbol_of(const struct top *t, struct scan *c)
{
	const char *p;

	if (t->old) {
		for (p = c->p; p < c->end && !is_blank(*p); p++)
			;
		if (p - c->p == 16 && strspn(c->p, "0123456789abcdef") >= 16) {	/* RIP */
			c->p = p;
			scan_blanks(c);
			for (p = c->p; p < c->end && !is_blank(*p); p++)
				;
		}
		c->end = p;
		return !scan_at_end(c);
	}
	for (p = c->p; c->end - p > 5; p++) {
		if (p[0] == ' ' && p[1] == '[' && strchr(".kguH!", p[2]) && p[2] && p[3] == ']' && p[4] == ' ') {
			c->p = p + 5;
			scan_blanks(c);
			return !scan_at_end(c);
		}
	}
	return false;
}

/* A row's symbol and share; false when the line is none. */
static bool read_row(const struct top *t, struct scan c, struct scan *name, int64_t *share)
{
	int64_t own, samples;

	if (t->old && (!scan_dec(&c, UNIT, &samples, NULL) || !scan_blanks(&c)))
		return false;
	if (!scan_dec(&c, UNIT, share, NULL) || !scan_char(&c, '%') || *share > 100LL * UNIT)
		return false;
	scan_blanks(&c);
	if (!t->old) {
		struct scan f = c;

		if (scan_dec(&f, UNIT, &own, NULL) && scan_char(&f, '%') && own <= *share) {
			*share = own;
			c = f;
		}
	}
	if (!symbol_of(t, &c))
		return false;
	*name = c;
	return true;
}

static bool take_row(struct parse_ctx *ctx, struct top *t, const struct line *ln, struct scan c)
{
	char key[sizeof(t->event) + 130];
	struct scan name;
	int64_t share;
	uint32_t id;
	double own;

	if (!t->open || !read_row(t, c, &name, &share))
		return false;
	if (!share)
		return true;
	snprintf(key, sizeof(key), "%s\n%.*s", t->event, (int)MIN(scan_left(&name), (size_t)127), name.p);
	id = strtab_id(&t->names, key, strlen(key));
	if (id == STRTAB_NONE) {
		parse_remark(ctx, true, "more than %d symbols: the rest is left out", MAX_SYMBOLS);
		return true;
	}
	if (id >= t->n) {
		GROW(t->symbols, t->cap, (size_t)id + 1);
		t->n = (size_t)id + 1;
		t->symbols[id] = (struct symbol){ 0, ctx_cite(ctx, ln, CASE_NO_TIME) };
	}
	/* whole samples: the share of a screen that has few is at least one */
	own = (double)t->rate / UNIT * (double)share / UNIT / 100;
	t->symbols[id].count += MAX((int64_t)(own + 0.5), (int64_t)1);
	return true;
}

static bool is_frame(const struct scan *c)
{
	static const char *const starts[] = { "-----", "_______", "Overhead ", "Children ", "Mapped keys:", "Enter selection",
					      "[", "For a higher level overview", "Press '?'", "|", "--", "Too slow to read ring buffer" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts_with(c->p, scan_left(c), starts[i]))
			return true;
	return false;
}

static enum line_result top_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct top *t = state;
	char buf[PLAIN_MAX];
	struct scan c = plain(ln, buf), at = c;

	/* the prompt that a screen ends with stands before the next screen's clearing */
	if (scan_to(&at, "unmapped key to continue: ") && scan_left(&at))
		c = at;
	scan_blanks(&c);
	if (take_rate(ctx, t, ln, c) || take_samples(ctx, t, ln, c) || take_row(ctx, t, ln, c))
		return LINE_TAKEN;
	if (t->open && old_title(c)) {
		t->old = true;
		return LINE_SKIPPED;
	}
	if (!ctx->embedded)
		return scan_at_end(&c) || is_frame(&c) || (t->open && is_blank(*ln->s)) ?
		       LINE_SKIPPED : LINE_NOT_MINE;
	if (!t->open || scan_at_end(&c))
		return LINE_NOT_MINE;
	if (is_frame(&c) && !starts_with(c.p, scan_left(&c), "["))
		return LINE_SKIPPED;
	t->open = false;	/* prose again */
	return LINE_NOT_MINE;
}

static struct error *top_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct top *t = xcalloc(1, sizeof(*t));

	t->out.format = "perf top";
	strtab_init(&t->names, MAX_SYMBOLS);
	*state = t;
	return NULL;
}

static struct error *store_symbol(struct parse_ctx *ctx, const struct top *t, uint32_t i)
{
	_cleanup_free_ char *key = xstrndup(t->names.strings[i], t->names.lens[i]);
	const struct symbol *s = &t->symbols[i];
	char *name = strchr(key, '\n');
	int64_t stack;

	if (!s->count || !name)
		return NULL;
	*name++ = '\0';
	TRY(case_stack(ctx->db, &stack, t->out.source_id, name, "\n"));
	return case_insert(ctx->db, NULL, "INSERT INTO stack_count(source_id, stack_id, event, count, cite_id) VALUES(?,?,?,?,?)",
			   "iisiI", t->out.source_id, stack, *key ? key : "samples", s->count, s->cite > 0 ? &s->cite : NULL);
}

static void put_mean(struct parse_ctx *ctx, struct top *t, const char *key, int64_t sum, int64_t n)
{
	char text[40];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%.1f", (double)sum / (double)n / UNIT);
	fact_put(ctx, &t->out, key, text, strlen(text), t->head_cite);
}

static struct error *store(struct parse_ctx *ctx, struct top *t)
{
	char text[24];
	uint32_t i;

	for (i = 0; i < t->n; i++)
		TRY(store_symbol(ctx, t, i));
	if (t->lost)
		TRY(case_loss(ctx->db, t->out.source_id, -1, CASE_NO_TIME, t->lost, "samples lost, as perf top counted", t->lost_cite));
	if (t->dropped)
		TRY(case_loss(ctx->db, t->out.source_id, -1, CASE_NO_TIME, t->dropped,
			      "samples dropped as perf top was too slow", t->dropped_cite));
	if (!t->screens)
		return NULL;
	snprintf(text, sizeof(text), "%" PRId64, t->screens);
	fact_put(ctx, &t->out, "perf.top.screens", text, strlen(text), t->head_cite);
	put_mean(ctx, t, "perf.top.samples_per_s", t->sum_rate, t->screens);
	put_mean(ctx, t, "perf.top.kernel_percent", t->sum_kernel, t->screens);
	put_mean(ctx, t, "perf.top.guest_percent", t->sum_guest, t->with_guest);
	return NULL;
}

static struct error *top_end(struct parse_ctx *ctx, void *state)
{
	struct top *t = state;
	struct error *err = NULL;

	if ((t->n || t->screens) && fact_source(ctx, &t->out))
		err = store(ctx, t);
	if (!t->n && !ctx->embedded)
		parse_remark(ctx, false, "perf top without rows that have a symbol");
	strtab_deinit(&t->names);
	free(t->symbols);
	free(t);
	return err;
}

static int top_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *event;
	struct line ln = { .no = 0 };
	char buf[PLAIN_MAX];
	int64_t v;
	size_t len, n = 0;

	while (n < 20 && scan_lines(&next, end, &ln.s, &ln.len)) {
		struct scan c = plain(&ln, buf);

		if (rate_line(c, &v) || samples_line(c, &v, &event, &len))
			return 85;
		if (!is_frame(&c))
			n += !scan_at_end(&c);
	}
	return 0;
}

/* The head of a screen is wider than a mail. */
static bool top_wants_more(const char *s, size_t len)
{
	struct scan c = scan_mem(s, len);
	int64_t v;

	scan_blanks(&c);
	return rate_line(c, &v) && !scan_find(&c, "(") && len < 160;
}

static const struct parser perf_top = {
	.name		= "perf top",
	.kind		= PARSER_LINES,
	.priority	= 24,
	.embed		= true,
	.sniff		= top_sniff,
	.begin		= top_begin,
	.line		= top_line,
	.end		= top_end,
	.wants_more	= top_wants_more,
};
REGISTER(parsers, &perf_top);
