// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ping.c - a log of ping, best with -D (stamps), and the times in it in which the host did not
 * answer.
 *
 *   [1704360681.922522] 64 bytes from 192.168.18.11: icmp_seq=48 ttl=64 time=0.515 ms
 *   [1704360710.369961] From 192.168.16.32 icmp_seq=73 Destination Host Unreachable
 *   [1704360790.194049] 64 bytes from 192.168.18.11: icmp_seq=49 ttl=64 time=107244 ms
 *
 * The stamp is that of the reply's arrival, so a request was sent at arrival - RTT. ping_gap rows:
 *
 *   burst  three or more replies in a row that arrive together though sent one interval after the
 *          other, so that their RTTs fall by about the interval: the host was stopped and then
 *          answered its backlog. It lasts from the sending of the first of them to its arrival.
 *          Requests lost or unreachable meanwhile are counted in it. Bursts that overlap are one,
 *          unless a prompt reply lies between.
 *   lost   three or more requests in a row without an answer (or reported unreachable) outside of
 *          bursts
 *   slow   single replies of half a second and more, twenty times the median, outside of bursts
 *
 * Without -D the requests are taken to go out evenly, one a second unless RTTs show another
 * interval; the clock is then "ping sequence". In prose a jump of sequence numbers may be the
 * writer's cut, so only reported losses count there.
 */
#include "scan.h"

#define MAX_ENTRIES	2000000
#define MAX_TEXTS	20000		/* lines of prose kept for citation */
#define MAX_GAPS	1000		/* rows; the longest */
#define MAX_RTT_NS	(86400 * (int64_t)NSEC_PER_SEC)
#define MAX_INTERVAL_NS	(3600 * (int64_t)NSEC_PER_SEC)
#define MAX_BURSTS	2000
#define MAX_ASKED	50000		/* losses and slow replies held against the bursts */
#define MIN_BURST	3
#define MIN_LOST	3
#define SLOW_NS		(500 * (int64_t)NSEC_PER_MSEC)
#define PROMPT_NS	(50 * (int64_t)NSEC_PER_MSEC)
#define MAX_NS		4000000000000000000LL	/* the year 2096 */

enum { ENTRY_REPLY, ENTRY_UNREACHABLE };

struct entry {
	int64_t		time_ns;	/* arrival, or when the failure was reported; -1 no stamp */
	int64_t		rtt_ns;
	uint64_t	off;
	uint32_t	line;
	uint32_t	seq;		/* unwrapped */
	uint32_t	text;		/* index + 1 into texts; 0: the member's bytes at off */
	uint8_t		kind;
	uint8_t		in_burst;
};

struct gap {
	const char	*kind;
	int64_t		start_ns, end_ns, max_rtt_ns, replies, lost;
	size_t		first, last;	/* entries to cite */
};

struct ping_state {
	int64_t		source_id;
	struct entry	*e;
	size_t		n, cap;
	char		**texts;
	size_t		*text_lens;
	size_t		n_texts, cap_texts, cap_lens;
	int64_t		sent;		/* of the footer; -1 */
	int64_t		footer_cite;
	uint32_t	last_seq;
	uint64_t	seq_base;
	bool		any_seq, stamped;
	int64_t		interval_ns, median_ns;
	int64_t		replies, unreachable, max_rtt_ns;
	struct gap	*gaps;
	size_t		n_gaps, cap_gaps, asked_lost;
};

struct ping_line {
	int64_t		time_ns, rtt_ns;
	uint64_t	seq;
	int		kind;
};

static bool scan_seq(struct scan *c, uint64_t *seq)
{
	static const char *const names[] = { " icmp_seq=", " icmp_req=", " seq=" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct scan d = *c;

		if (scan_to(&d, names[i]) && scan_u64(&d, seq) && *seq <= UINT32_MAX) {
			*c = d;
			return true;
		}
	}
	return false;
}

static const char *const failures[] = {
	"Destination Host Unreachable", "Destination Net Unreachable", "Destination Port Unreachable", "Time to live exceeded",
	"Packet filtered", "Destination unreachable",
};

static bool parse_ping(const struct line *ln, struct ping_line *l)
{
	struct scan c = scan_line(ln);
	uint64_t bytes;
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	l->time_ns = l->rtt_ns = -1;
	if (scan_char(&c, '[') && (!scan_dec(&c, NSEC_PER_SEC, &l->time_ns, NULL) ||
				   l->time_ns > MAX_NS || !scan_lit(&c, "] ")))
		return false;
	if (scan_lit(&c, "no answer yet for icmp_seq=")) {
		l->kind = ENTRY_UNREACHABLE;
		return scan_u64(&c, &l->seq) && l->seq <= UINT32_MAX && scan_at_end(&c);
	}
	if (scan_lit(&c, "From ")) {
		l->kind = ENTRY_UNREACHABLE;
		if (!scan_seq(&c, &l->seq))
			return false;
		scan_blanks(&c);
		for (i = 0; i < ARRAY_SIZE(failures); i++)
			if (scan_lit(&c, failures[i]))
				return true;
		return false;
	}
	l->kind = ENTRY_REPLY;
	if (!scan_u64(&c, &bytes) || !scan_lit(&c, " bytes from ") || !scan_seq(&c, &l->seq) || !scan_to(&c, " time"))
		return false;
	if (!scan_char(&c, '=') && !scan_char(&c, '<'))
		return false;
	return scan_dec(&c, NSEC_PER_MSEC, &l->rtt_ns, NULL) && l->rtt_ns <= MAX_RTT_NS && scan_lit(&c, " ms");
}

/*
 * A reply without its time, or a failure whose words are not all there: the mailer's line was full.
 */
static bool ping_wants_more(const char *s, size_t len)
{
	struct scan c = scan_mem(s, len);
	uint64_t seq, bytes;
	size_t i;

	scan_trim(&c);
	scan_blanks(&c);
	if (scan_char(&c, '[') && (!scan_dec(&c, NSEC_PER_SEC, &(int64_t){ 0 }, NULL) || !scan_lit(&c, "] ")))
		return false;
	if (scan_lit(&c, "From ")) {
		if (!scan_seq(&c, &seq))
			return false;
		scan_blanks(&c);
		for (i = 0; i < ARRAY_SIZE(failures); i++)
			if (scan_left(&c) < strlen(failures[i]) &&
			    !memcmp(c.p, failures[i], scan_left(&c)))
				return true;
		return false;
	}
	return scan_u64(&c, &bytes) && scan_lit(&c, " bytes from ") && !scan_find(&c, " time=") && !scan_find(&c, " time<") &&
	       scan_left(&c) < 200;
}

/* N packets transmitted, M received ... */
static bool parse_footer(const struct line *ln, int64_t *sent)
{
	struct scan c = scan_line(ln);
	uint64_t v;

	if (!scan_u64(&c, &v) || !scan_lit(&c, " packets transmitted, ") || v > INT64_MAX)
		return false;
	*sent = (int64_t)v;
	return true;
}

static bool is_frame(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	return scan_at_end(&c) || (scan_lit(&c, "PING ") && scan_find(&c, "bytes")) || scan_lit(&c, "rtt min/avg/max") ||
	       scan_lit(&c, "round-trip min/avg/max") || (scan_lit(&c, "--- ") && scan_find(&c, " ping statistics ---"));
}

static bool sniff_test(const struct line *ln)
{
	struct ping_line l;
	int64_t sent;

	return parse_ping(ln, &l) || parse_footer(ln, &sent) || is_frame(ln);
}

static int ping_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct line ln = { .no = 0 };
	unsigned int n, lines = 0;
	struct ping_line l;

	while (lines < 2 && scan_lines(&next, end, &ln.s, &ln.len))
		lines += parse_ping(&ln, &l);
	return lines >= 2 && sniff_lines(s, sniff_test, &n) >= 80 ? 85 : 0;
}

static struct error *ping_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct ping_state *st = xcalloc(1, sizeof(*st));

	st->sent = -1;
	*state = st;
	return NULL;
}

/* icmp_seq has 16 bits: after 65535 comes 0. */
static uint32_t unwrap_seq(struct ping_state *st, uint32_t seq)
{
	if (st->any_seq && seq <= UINT16_MAX && seq + 32768 < (st->last_seq & UINT16_MAX) &&
	    st->seq_base < UINT32_MAX - 131072)
		st->seq_base += 65536;
	else if (st->any_seq && seq <= UINT16_MAX && seq > (st->last_seq & UINT16_MAX) + 32768 &&
		 st->seq_base >= 65536)
		return (uint32_t)(st->seq_base - 65536 + seq); /* a late one from before the wrap */
	st->any_seq = true;
	st->last_seq = (uint32_t)(st->seq_base + seq);
	return st->last_seq;
}

static enum line_result ping_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct ping_state *st = state;
	struct ping_line l;
	struct entry *e;

	if (!parse_ping(ln, &l)) {
		if (st->n && parse_footer(ln, &st->sent)) {
			st->footer_cite = ctx_cite(ctx, ln, CASE_NO_TIME);
			return LINE_TAKEN;
		}
		return !ctx->embedded && is_frame(ln) ? LINE_SKIPPED : LINE_NOT_MINE;
	}
	if (st->n >= MAX_ENTRIES) {
		parse_remark(ctx, true, "more than %d replies: the rest of the ping log is left out", MAX_ENTRIES);
		return LINE_SKIPPED;
	}
	if (!st->source_id) {
		struct error *err = ctx_source(ctx, &st->source_id, "ping");

		if (err) {
			parse_remark(ctx, true, "%s", err->what);
			error_free(err);
			return LINE_SKIPPED;
		}
	}
	GROW(st->e, st->cap, st->n + 1);
	e = &st->e[st->n++];
	memset(e, 0, sizeof(*e));
	e->time_ns = l.time_ns;
	e->rtt_ns = l.rtt_ns;
	e->kind = (uint8_t)l.kind;
	e->seq = unwrap_seq(st, (uint32_t)l.seq);
	e->off = ln->off;
	e->line = (uint32_t)MIN(ln->no, (uint64_t)UINT32_MAX);
	st->stamped |= l.time_ns >= 0;
	if ((ctx->embedded || ln->rejoined) && st->n_texts < MAX_TEXTS) {
		GROW(st->texts, st->cap_texts, st->n_texts + 1);
		GROW(st->text_lens, st->cap_lens, st->n_texts + 1);
		st->texts[st->n_texts] = xmalloc(ln->len);
		memcpy(st->texts[st->n_texts], ln->s, ln->len);
		st->text_lens[st->n_texts++] = ln->len;
		e->text = (uint32_t)st->n_texts;
	}
	return LINE_TAKEN;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(int64_t *v, size_t n, int64_t dflt)
{
	if (!n)
		return dflt;
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

/* The interval of sending and the median RTT; arrival times where there are no stamps. */
static void measure(struct ping_state *st)
{
	_cleanup_free_ int64_t *v = xcalloc(st->n, sizeof(*v));
	const struct entry *prev = NULL;
	size_t i, n = 0;

	for (i = 0; i < st->n; i++) {
		const struct entry *e = &st->e[i];

		if (e->kind != ENTRY_REPLY) {
			st->unreachable++;
			continue;
		}
		st->replies++;
		st->max_rtt_ns = MAX(st->max_rtt_ns, e->rtt_ns);
		v[n++] = e->rtt_ns;
	}
	st->median_ns = median(v, n, 0);
	for (i = n = 0; i < st->n; i++) {
		const struct entry *e = &st->e[i];

		if (e->kind != ENTRY_REPLY)
			continue;
		if (prev && e->seq == prev->seq + 1) {
			int64_t step = st->stamped ? (e->time_ns - e->rtt_ns) -
							     (prev->time_ns - prev->rtt_ns)
						   : prev->rtt_ns - e->rtt_ns;

			if (st->stamped ? (e->time_ns >= 0 && prev->time_ns >= 0 && step > 0)
					: step >= 100 * (int64_t)NSEC_PER_MSEC)
				v[n++] = step;
		}
		prev = e;
	}
	/*
	 * Without stamps only the steps of a backlog show the interval; one step may be anything.
	 */
	st->interval_ns =
		st->stamped || n >= MIN_BURST ? median(v, n, NSEC_PER_SEC) : (int64_t)NSEC_PER_SEC;
	if (st->interval_ns <= 0 || st->interval_ns > MAX_INTERVAL_NS)
		st->interval_ns = (int64_t)NSEC_PER_SEC;
	if (st->stamped)
		return;
	for (i = 0; i < st->n; i++) {
		int64_t sent = 0;

		if (__builtin_mul_overflow((int64_t)(st->e[i].seq - st->e[0].seq), st->interval_ns,
					   &sent) ||
		    sent > MAX_NS)
			sent = MAX_NS;
		st->e[i].time_ns = sent + MAX(st->e[i].rtt_ns, (int64_t)0);
	}
}

static int64_t sent_ns(const struct entry *e)
{
	return e->time_ns - MAX(e->rtt_ns, (int64_t)0);
}

/*
 * Do replies @a and then @b come out of one backlog: sent about an interval a number apart, arrived
 * together?
 */
static bool together(const struct ping_state *st, const struct entry *a, const struct entry *b)
{
	int64_t steps = (int64_t)b->seq - a->seq, fall = a->rtt_ns - b->rtt_ns,
		apart = b->time_ns - a->time_ns;

	if (steps < 1 || steps > 65536 || a->time_ns < 0 || b->time_ns < 0)
		return false;
	if (apart < 0 || apart > MAX(st->interval_ns / 4, 20 * (int64_t)NSEC_PER_MSEC))
		return false;
	return fall >= steps * (st->interval_ns / 2) &&
	       fall / steps <= st->interval_ns + st->interval_ns / 2;
}

static struct gap *new_gap(struct ping_state *st, const char *kind)
{
	struct gap *g;

	GROW(st->gaps, st->cap_gaps, st->n_gaps + 1);
	g = &st->gaps[st->n_gaps++];
	memset(g, 0, sizeof(*g));
	g->kind = kind;
	return g;
}

static bool is_prompt(const struct ping_state *st, const struct entry *e)
{
	int64_t limit = MIN(10 * st->median_ns, st->interval_ns / 2);

	return e->kind == ENTRY_REPLY && e->rtt_ns <= MAX(PROMPT_NS, limit);
}

/* Is there a prompt reply between entries @from and @to? */
static bool prompt_between(const struct ping_state *st, size_t from, size_t to)
{
	size_t i;

	for (i = from + 1; i < to; i++)
		if (is_prompt(st, &st->e[i]))
			return true;
	return false;
}

/* A burst [first, last] with @replies: a new row, or part of the one before. */
static void add_burst(struct ping_state *st, size_t first, size_t last, int64_t replies)
{
	struct gap *g = st->n_gaps ? &st->gaps[st->n_gaps - 1] : NULL;
	int64_t start = sent_ns(&st->e[first]);
	size_t i;

	for (i = first; i <= last; i++)
		st->e[i].in_burst = 1;
	if (g && start < g->end_ns && !prompt_between(st, g->last, first)) {
		g->replies += replies;
		g->last = last;
		g->start_ns = MIN(g->start_ns, start);
		g->end_ns = MAX(g->end_ns, st->e[first].time_ns);
		g->max_rtt_ns = MAX(g->max_rtt_ns, st->e[first].rtt_ns);
		return;
	}
	if (st->n_gaps >= MAX_BURSTS)
		return;
	g = new_gap(st, "burst");
	g->start_ns = start;
	g->end_ns = st->e[first].time_ns;
	g->max_rtt_ns = st->e[first].rtt_ns;
	g->replies = replies;
	g->first = first;
	g->last = last;
}

static void find_bursts(struct ping_state *st)
{
	size_t first = 0, last = 0, i;
	int64_t replies = 0;

	for (i = 0; i < st->n; i++) {
		const struct entry *e = &st->e[i];

		if (e->kind != ENTRY_REPLY)
			continue;
		if (replies && together(st, &st->e[last], e)) {
			replies++;
		} else {
			if (replies >= MIN_BURST)
				add_burst(st, first, last, replies);
			first = i;
			replies = 1;
		}
		last = i;
	}
	if (replies >= MIN_BURST)
		add_burst(st, first, last, replies);
}

static bool overlap(const struct gap *g, int64_t from, int64_t to)
{
	return from <= g->end_ns && to >= g->start_ns;
}

/*
 * Requests without an answer from @from to @to: into the burst they fall in, or a row of their own.
 */
static void add_lost(struct ping_state *st, size_t n_bursts, int64_t from, int64_t to, int64_t n,
		     size_t first, size_t last)
{
	struct gap *g;
	size_t i;

	if (st->asked_lost++ >= MAX_ASKED)
		return;
	for (i = 0; i < n_bursts; i++) {
		if (overlap(&st->gaps[i], from, to)) {
			st->gaps[i].lost += n;
			return;
		}
	}
	if (n < MIN_LOST)
		return;
	g = new_gap(st, "lost");
	g->start_ns = from;
	g->end_ns = MAX(from, to);
	g->lost = n;
	g->first = first;
	g->last = last;
}

/* Runs of lines that report a failure. */
static void find_unreachable(struct ping_state *st, size_t n_bursts)
{
	size_t i, j;

	for (i = 0; i < st->n; i = j) {
		j = i + 1;
		if (st->e[i].kind != ENTRY_UNREACHABLE)
			continue;
		while (j < st->n && st->e[j].kind == ENTRY_UNREACHABLE)
			j++;
		add_lost(st, n_bursts, st->e[i].time_ns, st->e[j - 1].time_ns, (int64_t)(j - i), i,
			 j - 1);
	}
}

static int by_seq(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a,
			   *y = *(const struct entry *const *)b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Sequence numbers that nobody answered and nothing was said of. */
static void find_missing(struct ping_state *st, size_t n_bursts)
{
	_cleanup_free_ const struct entry **v = xcalloc(st->n, sizeof(*v));
	size_t i;

	for (i = 0; i < st->n; i++)
		v[i] = &st->e[i];
	qsort(v, st->n, sizeof(*v), by_seq);
	for (i = 1; i < st->n; i++) {
		const struct entry *a = v[i - 1], *b = v[i];
		int64_t missing = (int64_t)b->seq - a->seq - 1;

		if (missing < 1 || missing > 65536 * 1024 || a->time_ns < 0 || b->time_ns < 0)
			continue;
		add_lost(st, n_bursts, sent_ns(a) + st->interval_ns, sent_ns(b), missing,
			 (size_t)(a - st->e), (size_t)(b - st->e));
	}
}

static void find_slow(struct ping_state *st, size_t n_gaps)
{
	int64_t limit = MAX(SLOW_NS, 20 * st->median_ns);
	size_t i, k, asked = 0;

	for (i = 0; i < st->n && asked < MAX_ASKED; i++) {
		const struct entry *e = &st->e[i];
		bool known = e->kind != ENTRY_REPLY || e->in_burst || e->rtt_ns < limit;
		struct gap *g;

		asked += !known;
		for (k = 0; k < n_gaps && !known; k++)
			known = overlap(&st->gaps[k], sent_ns(e), e->time_ns);
		if (known)
			continue;
		g = st->n_gaps > n_gaps ? &st->gaps[st->n_gaps - 1] : NULL;
		/* the same slowness, seen by the next request */
		if (g && overlap(g, sent_ns(e), e->time_ns)) {
			g->replies++;
			g->end_ns = MAX(g->end_ns, e->time_ns);
			g->start_ns = MIN(g->start_ns, sent_ns(e));
			g->max_rtt_ns = MAX(g->max_rtt_ns, e->rtt_ns);
			g->last = i;
			continue;
		}
		g = new_gap(st, "slow");
		g->start_ns = sent_ns(e);
		g->end_ns = e->time_ns;
		g->max_rtt_ns = e->rtt_ns;
		g->replies = 1;
		g->first = g->last = i;
	}
}

static int64_t cite_entry(struct parse_ctx *ctx, const struct ping_state *st, const struct entry *e)
{
	struct line ln = { .off = e->off, .no = e->line };
	const char *nl;

	if (e->text) {
		ln.s = st->texts[e->text - 1];
		ln.len = st->text_lens[e->text - 1];
	} else if (e->off < ctx->m->size) {
		ln.s = (const char *)ctx->m->data + e->off;
		nl = memchr(ln.s, '\n', ctx->m->size - e->off);
		ln.len = nl ? (size_t)(nl - ln.s) : ctx->m->size - e->off;
		if (ln.len && ln.s[ln.len - 1] == '\r')
			ln.len--;
	} else {
		return 0;
	}
	return ctx_cite(ctx, &ln, st->stamped && e->time_ns >= 0 ? e->time_ns : CASE_NO_TIME);
}

static int by_duration(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;
	int64_t dx = x->end_ns - x->start_ns, dy = y->end_ns - y->start_ns;

	return dx > dy ? -1 : dx < dy ? 1 : x->first < y->first ? -1 : x->first > y->first;
}

static int by_start(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static struct error *store_gap(struct parse_ctx *ctx, struct ping_state *st, const struct gap *g)
{
	int64_t a = cite_entry(ctx, st, &st->e[g->first]), b = 0;
	_cleanup_free_ char *cites = NULL;

	if (g->last != g->first)
		b = cite_entry(ctx, st, &st->e[g->last]);
	cites = b ? xasprintf("[%" PRId64 ",%" PRId64 "]", a, b) : xasprintf("[%" PRId64 "]", a);
	return case_insert(
		ctx->db, NULL,
		"INSERT INTO ping_gap(source_id, kind, start_ns, end_ns, duration_ns, replies, lost, max_rtt_ns, cites)"
		" VALUES(?,?,?,?,?,?,?,?,?)",
		"isiiiiiIs", st->source_id, g->kind, g->start_ns, g->end_ns,
		g->end_ns - g->start_ns, g->replies, g->lost, g->max_rtt_ns ? &g->max_rtt_ns : NULL,
		cites);
}

static struct error *ping_store(struct parse_ctx *ctx, struct ping_state *st)
{
	int64_t first = INT64_MAX, last = INT64_MIN, cite;
	bool cut = st->n_gaps > MAX_GAPS;
	size_t i;

	for (i = 0; i < st->n; i++) {
		first = MIN(first, sent_ns(&st->e[i]));
		last = MAX(last, st->e[i].time_ns);
	}
	TRY(case_insert(ctx->db, NULL, "UPDATE source SET clock = ?, first_ns = ?, last_ns = ? WHERE id = ?", "siii",
			st->stamped ? "wall" : "ping sequence", first, last, st->source_id));
	TRY(case_insert(ctx->db, NULL, "INSERT INTO clock(source_id, name, relation) VALUES(?,?,?)", "iss", st->source_id,
			st->stamped ? "wall" : "ping sequence", st->stamped ? "seconds since 1970 (ping -D), the reply's arrival" :
			"no stamps: requests taken to go out evenly from the first on; record with ping -D"));
	cite = st->footer_cite ? st->footer_cite : cite_entry(ctx, st, &st->e[0]);
	TRY(case_insert(
		ctx->db, NULL,
		"INSERT INTO ping_stat(source_id, sent, replies, unreachable, median_rtt_ns, max_rtt_ns, cite_id) VALUES(?,?,?,?,?,?,?)",
		"iIiiIII", st->source_id, st->sent >= 0 ? &st->sent : NULL, st->replies,
		st->unreachable, st->replies ? &st->median_ns : NULL,
		st->replies ? &st->max_rtt_ns : NULL, cite > 0 ? &cite : NULL));
	if (cut) {
		qsort(st->gaps, st->n_gaps, sizeof(*st->gaps), by_duration);
		st->n_gaps = MAX_GAPS;
		parse_remark(ctx, false, "only the longest %d times without an answer are listed", MAX_GAPS);
	}
	if (st->n_gaps)
		qsort(st->gaps, st->n_gaps, sizeof(*st->gaps), by_start);
	for (i = 0; i < st->n_gaps; i++)
		TRY(store_gap(ctx, st, &st->gaps[i]));
	return NULL;
}

static struct error *ping_end(struct parse_ctx *ctx, void *state)
{
	struct ping_state *st = state;
	struct error *err = NULL;
	size_t i, n_bursts;

	if (st->source_id) {
		measure(st);
		find_bursts(st);
		n_bursts = st->n_gaps;
		find_unreachable(st, n_bursts);
		if (!ctx->embedded)
			find_missing(st, n_bursts);
		find_slow(st, st->n_gaps);
		err = ping_store(ctx, st);
	}
	for (i = 0; i < st->n_texts; i++)
		free(st->texts[i]);
	free(st->texts);
	free(st->text_lens);
	free(st->gaps);
	free(st->e);
	free(st);
	return err;
}

static const struct parser ping = {
	.name		= "ping",
	.kind		= PARSER_LINES,
	.priority	= 50,
	.embed		= true,
	.sniff		= ping_sniff,
	.begin		= ping_begin,
	.line		= ping_line,
	.end		= ping_end,
	.wants_more	= ping_wants_more,
};
REGISTER(parsers, &ping);
