// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_summary.c - the first screen: which bug, how sure, since which kernel, what to do now, and
 * the one sentence of evidence that decides.
 */
#include "html.h"

#include "escape.h"
#include "html_verdict.h"

#define NOW_BYTES	330	/* of the workaround on the first screen */
#define CHANGES_SHOWN	2
#define EASES		" [adds a switch]"	/* of a change that is no fix: verdict.fixed_by */
#define OTHERS_SHOWN	4

/* How sure a verdict that leads the page is, in words for who has not met the five before. */
static const struct {
	const char	*verdict, *badge, *sure;
} levels[] = {
	{ "match", "Match", "Sure" },
	{ "likely", "Likely", "Likely, not certain" },
	{ "possible", "Possible", NULL },
	{ "cannot-tell", "Cannot tell", NULL },
	{ "ruled-out", "Ruled out", NULL },
};

static size_t level_of(struct json_object *v)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels) - 1 && !verdict_is(v, levels[i].verdict); i++)
		;
	return i;
}

static void answer(struct html *h, const char *question)
{
	html_raw(h, "<div><dt>");
	html_text(h, question);
	html_raw(h, "</dt><dd>");
}

static void answer_end(struct html *h)
{
	html_raw(h, "</dd></div>\n");
}

static void put_changes(struct html *h, struct json_object *v, const char *key, const char *lead)
{
	size_t i, n = js_len(v, key);

	for (i = 0; i < n && i < CHANGES_SHOWN; i++) {
		const char *change = js_string(js_at(v, key, i)), *tag = strstr(change, EASES);
		size_t len = tag ? (size_t)(tag - change) : strlen(change);
		_cleanup_free_ char *cut = xstrndup(change, len);

		html_raw(h, "<p><span class=\"lead\">");
		html_text(h, tag ? "Eased by" : i ? "and" : lead);
		html_raw(h, "</span> ");
		html_says(h, cut);
		html_raw(h, "</p>");
	}
}

static void put_kernels(struct html *h, struct json_object *v)
{
	const char *kernel = verdict_kernel(h, v);

	answer(h, "Since which kernel");
	if (js_len(v, "introduced_by"))
		put_changes(h, v, "introduced_by", "Since");
	else if (js_len(v, "fixed_by"))
		html_raw(h, "<p>The signature names no release that brought it.</p>");
	if (js_len(v, "fixed_by"))
		put_changes(h, v, "fixed_by", "Fixed by");
	else if (js_len(v, "introduced_by"))
		html_raw(h, "<p>No kernel change is known that mends it.</p>");
	else
		html_raw(h, "<p>Not tied to a kernel release: none is named that brought it, none that mends it.</p>");
	if (kernel) {
		html_raw(h, "<p><span class=\"lead\">This host runs</span> <b>");
		html_name(h, kernel, 80);
		html_raw(h, "</b></p>");
	}
	answer_end(h);
}

/* Whole sentences of @s up to @max bytes; *@all says whether that was everything. */
static size_t sentences(const char *s, size_t max, bool *all)
{
	size_t end = 0, i, n = strlen(s);

	*all = n <= max;
	if (*all)
		return n;
	for (i = 1; i < max; i++)
		if (s[i] == '.' && s[i + 1] == ' ' && !(s[i - 1] >= '0' && s[i - 1] <= '9'))
			end = i + 1;
	return end ? end : display_cut(s, max);
}

static void put_now(struct html *h, struct json_object *v)
{
	_cleanup_free_ char *flat = escape_prose(js_str(v, "workaround")), *part = NULL;
	bool all;

	answer(h, "What to do now");
	if (*js_str(v, "contradiction"))
		html_raw(h, "<p><b>First</b> find out why it is seen here all the same (“But”, under “How sure”).</p>");
	if (*flat) {
		part = xstrndup(flat, sentences(flat, NOW_BYTES, &all));
		html_raw(h, "<p>");
		html_says(h, part);
		html_raw(h, "</p>");
		if (!all)
			html_raw(h, "<p><a href=\"#action\">All of it</a></p>");
		if (js_len(v, "fixed_by") && !*js_str(v, "contradiction"))
			html_raw(h, "<p>For good: a kernel with the fix.</p>");
	} else if (js_len(v, "fixed_by")) {
		html_raw(h, "<p>Run a kernel with the fix.</p>");
	} else {
		html_raw(h, "<p>No workaround is known. <a href=\"#action\">What to record next</a></p>");
	}
	answer_end(h);
}

static void put_sure(struct html *h, struct json_object *v)
{
	size_t i = level_of(v);

	answer(h, "How sure");
	html_rawf(h, "<p><b>%s:</b> ", levels[i].sure);
	html_textf(h, "%.*s.", verdict_because_bytes(v), js_str(v, "because"));
	html_raw(h, "</p><ol class=\"ladder\" aria-label=\"The five verdicts, surest first\">");
	for (size_t k = 0; k < ARRAY_SIZE(levels); k++)
		html_rawf(h, "<li%s>%s</li>", k == i ? " class=\"here\" aria-current=\"true\"" : "", levels[k].badge);
	html_raw(h, "</ol>");
	if (*js_str(v, "contradiction")) {
		html_raw(h, "<p class=\"but\"><b>But</b> ");
		html_says(h, js_str(v, "contradiction"));
		html_raw(h, "</p>");
	}
	answer_end(h);
}

/* The first shown row of the strongest evidence. */
static void put_proof(struct html *h, struct json_object *v)
{
	static const char *const strengths[] = { "decisive", "strong", "supporting" };
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(strengths); k++)
		for (i = 0; i < js_len(v, "evidence"); i++) {
			struct json_object *e = js_at(v, "evidence", i), *row = js_at(e, "rows", 0);

			if (!evidence_is(e, "for", "shown") || strcmp(js_str(e, "strength"), strengths[k]) || !row)
				continue;
			html_rawf(h, "<div class=\"proof\"><h2>The %s evidence</h2><p>", strengths[k]);
			html_says(h, js_str(row, "says"));
			html_raw(h, " ");
			html_cites(h, js_get(row, "cites"), 2, false);
			html_raw(h, "</p><p><a href=\"#evidence\">All evidence</a></p></div>\n");
			return;
		}
}

/* Other signatures that are shown or possible, one link each. */
static void put_others(struct html *h, const char *id)
{
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++) {
		struct json_object *v = json_object_array_get_idx(h->verdicts, i);
		size_t level = level_of(v);

		if (level > 2 || !strcmp(js_str(v, "id"), id) || verdict_seen_before(h->verdicts, i))
			continue;
		if (!n++)
			html_raw(h, "<ul class=\"others\" aria-label=\"Other verdicts\">");
		if (n > OTHERS_SHOWN)
			break;
		html_rawf(h, "<li><span class=\"badge v-%s\">%s</span> <a href=\"#e-%zu\">", levels[level].verdict,
			  levels[level].badge, i);
		html_says(h, js_str(v, "title"));
		html_raw(h, "</a></li>\n");
	}
	if (n)
		html_raw(h, "</ul>\n");
}

static void put_bug(struct html *h, struct json_object *v)
{
	size_t i = level_of(v);

	html_rawf(h, "<section class=\"verdict v-%s\" aria-labelledby=\"verdict\">\n<p class=\"kicker\">"
		  "<span class=\"badge v-%s\">%s</span> <span>Signature <code>", levels[i].verdict, levels[i].verdict,
		  levels[i].badge);
	html_wbr(h, js_str(v, "id"));
	html_raw(h, "</code></span></p>\n<h1 id=\"verdict\">");
	html_says(h, js_str(v, "title"));
	html_raw(h, "</h1>\n<p class=\"where\">");
	html_subject(h, v);
	html_raw(h, "</p>\n<dl class=\"answers\">\n");
	put_sure(h, v);
	put_kernels(h, v);
	put_now(h, v);
	html_raw(h, "</dl>\n");
	put_proof(h, v);
	put_others(h, js_str(v, "id"));
	html_raw(h, "</section>\n");
}

/* Signatures of that verdict; of several subjects the first one, the surest, tells. */
static size_t count(struct html *h, const char *word)
{
	size_t i, n = 0;

	for (i = 0; i < json_object_array_length(h->verdicts); i++)
		n += (!word || verdict_is(json_object_array_get_idx(h->verdicts, i), word)) &&
		     !verdict_seen_before(h->verdicts, i);
	return n;
}

/* What most of the stalls' time went to: the heaviest pattern. */
static struct error *put_heaviest(struct html *h)
{
	_cleanup_json_ struct json_object *rows = NULL;
	char total[HUMAN_MAX], n[HUMAN_MAX];
	struct json_object *r;

	TRY(model_array(h->ctx, MODEL_PATTERNS, NULL, NULL, &rows));
	answer(h, "Where the time went");
	r = json_object_array_get_idx(rows, 0);
	if (!r) {
		html_raw(h, "<p>No stall was seen: whenever a vCPU had something to do it ran, as far as the input "
			    "shows.</p>");
	} else {
		html_rawf(h, "<p><b>%s</b> in %s stalls of one pattern: ", human_ns(total, js_int(r, "total_ns")),
			  human_count(n, js_int(r, "count")));
		html_name(h, js_str(r, "shape"), 200);
		html_raw(h, "</p><p><a href=\"#stalls\">The stalls</a></p>");
	}
	answer_end(h);
	return NULL;
}

/* Nothing is shown: what is merely possible is a list below the sentence that says so. */
static struct error *put_none(struct html *h)
{
	size_t open = count(h, "cannot-tell"), out = count(h, "ruled-out");
	size_t possible = count(h, "possible");

	html_rawf(h, "<section class=\"verdict v-none\" aria-labelledby=\"verdict\">\n"
		     "<p class=\"kicker\"><span class=\"badge v-none\">No match</span></p>\n"
		     "<h1 id=\"verdict\">%s</h1>\n<dl class=\"answers\">\n",
		  possible ? "No known bug is shown." : "No known bug matches.");
	answer(h, "How sure");
	html_rawf(h, "<p>%zu signatures were checked: ", count(h, NULL));
	if (possible)
		html_rawf(h, "%zu %s possible, not proven (below)%s", possible, possible == 1 ? "is" : "are",
			  out || open ? ", " : "");
	if (out)
		html_rawf(h, "%zu %s ruled out%s", out, out == 1 ? "is" : "are", open ? ", " : "");
	if (open)
		html_rawf(h, "%zu can’t be told: what would show them was not recorded", open);
	html_raw(h, possible || out || open ? ".</p>" : "no verdict.</p>");
	answer_end(h);
	TRY(put_heaviest(h));
	answer(h, "What to do now");
	html_raw(h, open ? "<p>Record what was not visible here, then ask again: <a href=\"#action\">what to record</a>.</p>"
			 : "<p>Nothing that is known would help. The stalls below say who held the vCPUs up.</p>");
	answer_end(h);
	html_raw(h, "</dl>\n");
	put_others(h, "");
	html_raw(h, "</section>\n");
	return NULL;
}

struct error *html_summary(struct html *h)
{
	struct json_object *first = json_object_array_get_idx(h->verdicts, 0);

	if (!first || level_of(first) > 1)
		return put_none(h);
	put_bug(h, first);
	return NULL;
}
