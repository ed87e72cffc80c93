// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * textfeed.c - lines of text members to the parsers that know them; see textfeed.h.
 *
 * A mixed text goes through a small window of unquoted lines, so that a record a mailer wrapped can
 * be tried joined before it is tried line by line.
 */
#include "textfeed.h"

#include "sections.h"
#include "unquote.h"

#define WINDOW		6		/* lines; a record is wrapped into at most this many */
#define SEEN_MAX	(1u << 18)	/* taken lines remembered to know them again when quoted */

/* One embeddable parser at work on a mixed text. */
struct feed {
	const struct parser *p;
	struct parse_ctx ctx;
	void		*state;
	bool		begun, dead;
	uint64_t	taken;
	int64_t sources_before, sources_begun; /* source ids that begin() made: (before, begun] */
};

struct seen_line {
	uint64_t	hash;
	uint32_t	block;
	uint32_t	depth;
};

struct mixed {
	struct parse_ctx *ctx;
	struct feed	*feeds;
	size_t		n_feeds;
	struct mail_walk walk;
	struct mail_line win[WINDOW];
	size_t		head, count;	/* ring */
	char		*joined;
	size_t		cap_joined;
	struct seen_line *seen;		/* open addressing; hash 0 is empty */
	size_t		n_seen, seen_size;
	uint32_t	block;		/* run of lines of one quoting depth */
	unsigned int	depth;
	bool last_was_new; /* the line before was taken, and not known from elsewhere */
	long		hunk_old, hunk_new;	/* lines left of a diff hunk */
	uint64_t	taken;
	uint64_t	sections;
	struct shared_sources shared;
	struct error	*err;
};

static int by_priority(const void *a, const void *b)
{
	const struct feed *x = a, *y = b;

	if (x->p->priority != y->p->priority)
		return x->p->priority < y->p->priority ? -1 : 1;
	return strcmp(x->p->name, y->p->name);
}

static void mixed_init(struct mixed *mx, struct parse_ctx *ctx, const struct parser *except)
{
	const struct parser *const *it;

	memset(mx, 0, sizeof(*mx));
	mx->ctx = ctx;
	mx->feeds = xcalloc(SET_COUNT(parsers) + 1, sizeof(*mx->feeds));
	SET_FOREACH(parsers, it) {
		struct feed *f = &mx->feeds[mx->n_feeds];

		if ((*it)->kind != PARSER_LINES || !(*it)->embed || *it == except)
			continue;
		f->p = *it;
		f->ctx = *ctx;
		f->ctx.embedded = true;
		f->ctx.parser = *it;
		mx->n_feeds++;
	}
	if (mx->n_feeds)
		qsort(mx->feeds, mx->n_feeds, sizeof(*mx->feeds), by_priority);
}

static int64_t last_source(struct parse_ctx *ctx)
{
	return case_int(ctx->db, 0, "SELECT COALESCE(MAX(id), 0) FROM source", "");
}

static enum line_result offer_to(struct mixed *mx, struct feed *f, const struct line *ln)
{
	struct error *err;

	if (f->dead)
		return LINE_NOT_MINE;
	if (!f->begun) {
		f->sources_before = last_source(&f->ctx);
		err = f->p->begin ? f->p->begin(&f->ctx, &f->state) : NULL;
		f->sources_begun = last_source(&f->ctx);
		f->begun = true;
		if (err) {
			f->dead = true;
			parse_remark(mx->ctx, true, "%s: %s", f->p->name, err->what);
			error_free(err);
			return LINE_NOT_MINE;
		}
	}
	return f->p->line(&f->ctx, f->state, ln);
}

/* Ask all parsers by priority. SKIPPED counts as an answer: the line is of that format. */
static enum line_result offer(struct mixed *mx, const struct line *ln)
{
	struct line bare = *ln;
	enum line_result r;
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < mx->n_feeds; i++) {
			r = offer_to(mx, &mx->feeds[i], &bare);
			if (r == LINE_TAKEN) {
				mx->feeds[i].taken++;
				mx->taken++;
			}
			if (r != LINE_NOT_MINE)
				return r;
		}
		/* Once more without the indentation: the whole paragraph may be indented. */
		if (!bare.len || (*bare.s != ' ' && *bare.s != '\t'))
			break;
		while (bare.len && (*bare.s == ' ' || *bare.s == '\t')) {
			bare.s++;
			bare.len--;
		}
	}
	return LINE_NOT_MINE;
}

static struct error *mixed_finish(struct mixed *mx)
{
	struct error *err = mx->err;
	size_t i;

	for (i = 0; i < mx->n_feeds; i++) {
		struct feed *f = &mx->feeds[i];
		struct error *e = f->begun && f->p->end ? f->p->end(&f->ctx, f->state) : NULL;
		int64_t id;

		if (e && !err)
			err = e;
		else
			error_free(e);
		for (id = f->sources_before + 1; !f->taken && !err && id <= f->sources_begun; id++)
			err = case_insert(mx->ctx->db, NULL, "DELETE FROM source WHERE id = ?", "i", id);
		if (f->ctx.partly)
			mx->ctx->partly = true;
	}
	free(mx->feeds);
	for (i = 0; i < WINDOW; i++)
		free(mx->win[i].own);
	free(mx->joined);
	free(mx->seen);
	return err;
}

/* ---- lines known from a lower or other quoting depth ---- */

/* Hash of the line without blanks: mailers change those. Never 0. */
static uint64_t line_hash(const struct line *ln)
{
	uint64_t h = 0xcbf29ce484222325ULL;	/* FNV-1a */
	size_t i;

	for (i = 0; i < ln->len; i++)
		if (ln->s[i] != ' ' && ln->s[i] != '\t')
			h = (h ^ (uint8_t)ln->s[i]) * 0x100000001b3ULL;
	return h ? h : 1;
}

static struct seen_line *seen_slot(const struct mixed *mx, uint64_t hash)
{
	size_t i = hash & (mx->seen_size - 1);

	while (mx->seen[i].hash && mx->seen[i].hash != hash)
		i = (i + 1) & (mx->seen_size - 1);
	return &mx->seen[i];
}

static void remember(struct mixed *mx, const struct line *ln)
{
	uint64_t hash = line_hash(ln);
	struct seen_line *slot, *old = mx->seen;
	size_t i, old_size = mx->seen_size;

	if (mx->n_seen >= SEEN_MAX)
		return;
	if (mx->n_seen * 2 >= mx->seen_size) {
		mx->seen_size = old_size ? old_size * 2 : 256;
		mx->seen = xcalloc(mx->seen_size, sizeof(*mx->seen));
		for (i = 0; i < old_size; i++)
			if (old[i].hash)
				*seen_slot(mx, old[i].hash) = old[i];
		free(old);
	}
	slot = seen_slot(mx, hash);
	if (slot->hash)
		return;
	*slot = (struct seen_line){ .hash = hash, .block = mx->block, .depth = mx->depth };
	mx->n_seen++;
}

/* Does the line carry something that makes it one record among many: a time stamp, a duration? */
static bool has_record_mark(const struct line *ln)
{
	size_t i, digits = 0, fraction = 0;
	bool dot = false;

	for (i = 0; i < ln->len; i++) {
		char c = ln->s[i];

		if (c >= '0' && c <= '9') {
			digits++;
			fraction += dot;
		} else {
			dot = c == '.' && digits;
			if (!dot)
				digits = 0;
			fraction = 0;
		}
		if ((dot && fraction >= 3) ||
		    (digits >= 8 && !dot && i + 1 < ln->len && ln->s[i + 1] == ']'))
			return true;
	}
	return false;
}

/*
 * A quoted line that was taken elsewhere in the text, or the other way round. Stack frames stay
 * with their record.
 */
static bool is_repeat(const struct mixed *mx, const struct line *ln)
{
	const struct seen_line *s;

	if (!mx->seen_size)
		return false;
	s = seen_slot(mx, line_hash(ln));
	if (!s->hash || s->block == mx->block || (!s->depth && !mx->depth))
		return false;
	return has_record_mark(ln) || !mx->last_was_new;
}

/* ---- diffs ---- */

static bool parse_count(const char **p, const char *end, long *n)
{
	long v = 0;
	bool any = false;

	while (*p < end && **p >= '0' && **p <= '9' && v < 1000000) {
		v = v * 10 + (**p - '0');
		(*p)++;
		any = true;
	}
	*n = v;
	return any;
}

/* "@@ -OLD[,N] +NEW[,N] @@": the line counts of unified diff. */
static bool hunk_header(const struct line *ln, long *old, long *new)
{
	const char *p = ln->s, *end = ln->s + ln->len;
	long at;

	if (ln->len < 9 || memcmp(p, "@@ -", 4))
		return false;
	p += 4;
	*old = *new = 1;
	if (!parse_count(&p, end, &at) ||
	    (p < end && *p == ',' && (p++, !parse_count(&p, end, old))))
		return false;
	if (end - p < 3 || p[0] != ' ' || p[1] != '+')
		return false;
	p += 2;
	return parse_count(&p, end, &at) &&
	       !(p < end && *p == ',' && (p++, !parse_count(&p, end, new)));
}

/* Is the line part of a unified diff? */
static bool in_diff(struct mixed *mx, const struct line *ln)
{
	static const char *const heads[] = { "diff --git ", "--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null" };
	size_t i;

	if (mx->hunk_old <= 0 && mx->hunk_new <= 0 && (!ln->len || !memchr("@d-+", *ln->s, 4)))
		return false;
	if (hunk_header(ln, &mx->hunk_old, &mx->hunk_new))
		return true;
	if (mx->hunk_old > 0 || mx->hunk_new > 0) {
		switch (ln->len ? *ln->s : ' ') {
		case ' ':
		case '\t':	/* a context line whose blank a mailer ate */
			mx->hunk_old--;
			mx->hunk_new--;
			return true;
		case '-':
			mx->hunk_old--;
			return true;
		case '+':
			mx->hunk_new--;
			return true;
		case '\\':
			return true;
		}
		mx->hunk_old = mx->hunk_new = 0;	/* not a hunk any more */
	}
	for (i = 0; i < ARRAY_SIZE(heads); i++)
		if (ln->len >= strlen(heads[i]) && !memcmp(ln->s, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* Source text of a script that would print evidence is not evidence. */
static bool is_script(const struct line *ln)
{
	const char *p = ln->s, *end = ln->s + ln->len;

	while (p < end && (p = memchr(p, '(', (size_t)(end - p)))) {
		if (p - ln->s >= 6 && !memcmp(p - 6, "printf", 6))
			return true;
		p++;
	}
	return false;
}

/* ---- the window ---- */

static struct mail_line *window_at(struct mixed *mx, size_t i)
{
	return &mx->win[(mx->head + i) % WINDOW];
}

static bool window_fill(struct mixed *mx, size_t want)
{
	while (mx->count < want && mx->count < WINDOW) {
		if (!mail_walk_next(&mx->walk, window_at(mx, mx->count)))
			return false;
		mx->count++;
	}
	return mx->count >= want;
}

static void window_drop(struct mixed *mx, size_t n)
{
	mx->head = (mx->head + n) % WINDOW;
	mx->count -= n;
}

static bool wants_more(const struct mixed *mx, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < mx->n_feeds; i++)
		if (mx->feeds[i].p->wants_more && mx->feeds[i].p->wants_more(s, len))
			return true;
	return false;
}

static void join(struct mixed *mx, struct line *ln, const struct line *next)
{
	const char *s = next->s;
	size_t len = next->len;
	bool first = ln->s != mx->joined;

	while (len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	GROW(mx->joined, mx->cap_joined, ln->len + len + 2);
	if (first)
		memcpy(mx->joined, ln->s, ln->len);
	mx->joined[ln->len] = ' ';
	memcpy(mx->joined + ln->len + 1, s, len);
	ln->s = mx->joined;
	ln->len += len + 1;
	ln->rejoined = true;
}

/*
 * Offer the first line of the window joined with those that complete it; returns how many lines
 * were used, 0 none.
 */
static size_t try_joined(struct mixed *mx, enum line_result *r)
{
	struct line ln = window_at(mx, 0)->ln;
	unsigned int depth = window_at(mx, 0)->depth;
	size_t n = 1;

	while (n < WINDOW && wants_more(mx, ln.s, ln.len)) {
		const struct mail_line *next;

		if (!window_fill(mx, n + 1))
			break;
		next = window_at(mx, n);
		if (next->depth != depth || !next->ln.len)
			break;
		join(mx, &ln, &next->ln);
		n++;
	}
	if (n == 1)
		return 0;
	if (is_repeat(mx, &ln)) {
		*r = LINE_SKIPPED;
		mx->last_was_new = false;
		return n;
	}
	*r = offer(mx, &ln);
	if (*r == LINE_NOT_MINE)
		return 0;
	mx->last_was_new = *r == LINE_TAKEN;
	if (*r == LINE_TAKEN)
		remember(mx, &ln);
	return n;
}

static void offer_single(struct mixed *mx, const struct line *ln)
{
	enum line_result r;

	if (is_repeat(mx, ln)) {
		mx->last_was_new = false;
		return;
	}
	r = offer(mx, ln);
	if (r != LINE_SKIPPED)
		mx->last_was_new = r == LINE_TAKEN;
	if (r == LINE_TAKEN)
		remember(mx, ln);
}

/* ---- sections ---- */

/* Read a section whose name some parser knows like a member of that name; false when it is none. */
static bool take_section(struct mixed *mx)
{
	struct section sec;
	struct member sub = *mx->ctx->m;
	struct parse_ctx ctx = *mx->ctx;
	const struct parser *p;
	struct error *err;

	/* The window is empty but for the head: the walk stands right behind it. */
	if (mx->count != 1 || !section_read(&sec, window_at(mx, 0), &mx->walk))
		return false;
	p = sec.text_len ? recognise(sec.name, (const uint8_t *)sec.text, sec.text_len) : NULL;
	if (p && p->kind == PARSER_BINARY)
		p = NULL;
	if (!p || (p->kind == PARSER_LINES && !sec.named)) {
		section_free(&sec);
		return false;
	}
	sub.name = sec.name;
	sub.data = (const uint8_t *)sec.text;
	sub.size = sec.text_len;
	ctx.m = &sub;
	ctx.shared = &mx->shared;
	ctx.base_line = sec.first_line - 1;
	ctx.parser = p;
	err = parser_run(&ctx, p);
	if (err) {
		parse_remark(mx->ctx, true, "%s: %s", sec.name, err->what);
		error_free(err);
	} else {
		mx->taken += sec.lines;
		mx->sections++;
	}
	if (ctx.partly)
		mx->ctx->partly = true;
	mx->walk = sec.after;
	section_free(&sec);
	window_drop(mx, 1);
	return true;
}

static void next_block(struct mixed *mx, unsigned int depth)
{
	if (depth == mx->depth)
		return;
	mx->depth = depth;
	mx->block++;
	mx->last_was_new = false;
	mx->hunk_old = mx->hunk_new = 0;
}

static struct error *run_mixed(struct mixed *mx)
{
	uint64_t n = 0;

	while (window_fill(mx, 1)) {
		struct mail_line *l = window_at(mx, 0);
		enum line_result r;
		size_t used;

		if (!(++n & 4095) && stream_interrupted())
			break;
		next_block(mx, l->depth);
		if (in_diff(mx, &l->ln) || is_script(&l->ln)) {
			window_drop(mx, 1);
			continue;
		}
		if (section_head(&l->ln) && take_section(mx))
			continue;
		used = l->ln.len ? try_joined(mx, &r) : 0;
		if (!used) {
			offer_single(mx, &window_at(mx, 0)->ln);
			used = 1;
		}
		window_drop(mx, used);
	}
	if (mx->walk.w.cut)
		parse_remark(mx->ctx, true, "lines longer than 64 KiB: cut there (%" PRIu64 ")", mx->walk.w.cut);
	return NULL;
}

static void describe(const struct mixed *mx)
{
	char buf[400];
	size_t o = 0, i;

	for (i = 0; i < mx->n_feeds && o < sizeof(buf) - 60; i++)
		if (mx->feeds[i].taken)
			o += (size_t)snprintf(buf + o, sizeof(buf) - o, "%s%" PRIu64 " of %.24s", o ? ", " : "",
					      mx->feeds[i].taken, mx->feeds[i].p->name);
	if (mx->sections)
		parse_remark(mx->ctx, false, "%" PRIu64 " files pasted under their path", mx->sections);
	if (o)
		parse_remark(mx->ctx, false, "%s: %s", mx->walk.w.data ? "lines taken" : "besides, lines of other formats", buf);
}

struct error *textfeed_mixed(struct parse_ctx *ctx, uint64_t *taken)
{
	struct mixed mx;
	struct error *err;

	mixed_init(&mx, ctx, NULL);
	mail_walk_init(&mx.walk, ctx->m->data, ctx->m->size);
	run_mixed(&mx);
	describe(&mx);
	*taken = mx.taken;
	err = mixed_finish(&mx);
	return err;
}

struct error *textfeed_whole(struct parse_ctx *ctx, const struct parser *p)
{
	uint64_t not_mine = 0, first = 0, n = 0;
	struct mixed others;
	struct line_walk w;
	struct line ln;
	struct error *err, *e;
	void *state = NULL;

	if (p->begin)
		TRY(p->begin(ctx, &state));
	mixed_init(&others, ctx, p);
	line_walk_init(&w, ctx->m->data, ctx->m->size);
	while (line_walk_next(&w, &ln)) {
		if (w.open_end && ctx->m->truncated)
			break;	/* half a line says nothing, or worse, something wrong */
		ln.no += ctx->base_line;
		/* A terminal's transcript holds more than one tool's output. */
		if (p->line(ctx, state, &ln) == LINE_NOT_MINE && ln.len && !is_script(&ln) &&
		    offer(&others, &ln) == LINE_NOT_MINE) {
			if (!not_mine++)
				first = ln.no;
		}
		if (unlikely(!(++n & 4095)) && stream_interrupted())
			break;
	}
	err = p->end ? p->end(ctx, state) : NULL;
	if (others.taken)
		describe(&others);
	e = mixed_finish(&others);
	if (err)
		error_free(e);
	else
		err = e;
	if (w.cut)
		parse_remark(ctx, true, "lines longer than 64 KiB: cut there (%" PRIu64 ")", w.cut);
	if (not_mine)
		parse_remark(ctx, false, "%" PRIu64 " of %" PRIu64 " lines not understood, the first is line %" PRIu64,
			     not_mine, n, first);
	return err;
}
