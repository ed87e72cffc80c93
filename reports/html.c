// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html.c - the HTML report: one self-contained page; see html.h.
 *
 * Sections are written to memory first: the citations they ask for come after them, and one of the
 * bulky ones that would make the page larger than PAGE_MAX is left out with a note.
 */
#include "html.h"

#include "config.h"
#include "embedded.h"

#define PAGE_MAX	960000	/* bytes; a bug tracker's attachment of 1 MB holds it */
#define CITE_BYTES	300	/* of these, a line of the list of citations, at most on average */

static const struct section {
	const char	*views;		/* words: of which views it is a part */
	const char	*id, *name;	/* in the page's table of contents; NULL: not listed */
	struct error	*(*write)(struct html *h);
	bool		bulk;		/* may be left out where the page gets too large */
} sections[] = {
	{ "analyze", NULL, NULL, html_summary, false },
	{ "analyze", "evidence", "Evidence", html_verdicts, false },
	{ "analyze", "action", "Action", html_action, false },
	{ "analyze info", "sources", "Sources", html_sources, true },
	{ "analyze", "vcpus", "vCPUs", html_vcpus, false },
	{ "analyze stalls", "timeline", "Timeline", html_timeline, true },
	{ "analyze stalls chain", "stalls", "Stalls", html_stalls, true },
	{ "analyze stalls", "patterns", "Patterns", html_patterns, true },
	{ "analyze exits", "exits", "Exits", html_exits, true },
	{ "analyze latency", "delays", "Delays", html_delays, true },
	{ "analyze", "plots", "Plots", html_plots, true },
	{ "analyze", "flames", "Stacks", html_flames, true },
	{ "analyze", "calls", "Calls", html_calls, true },
	{ "analyze", "logs", "Logs", html_logs, true },
	{ "analyze info", "facts", "Facts", html_facts, true },
	{ "analyze", "ruled-out", "Not this", html_ruled_out, false },
	{ "analyze info", "not-seen", "Visibility", html_not_seen, false },
	{ "diff", "differences", "Differences", html_diff, false },
};

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *p;

	for (p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

static const struct embedded_file *asset(const char *name)
{
	const struct embedded_file *f;

	for (f = embedded_assets; f->name && strcmp(f->name, name); f++)
		;
	return f;
}

static void put_head(struct html *h)
{
	const struct embedded_file *css = asset("page.css"), *js = asset("page.js");
	struct json_object *first = json_object_array_get_idx(h->verdicts, 0);

	html_rawf(h, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; "
		  "style-src &#39;sha256-%s&#39;; script-src &#39;sha256-%s&#39;; base-uri &#39;none&#39;; "
		  "form-action &#39;none&#39;\">\n"
		  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		  "<meta name=\"color-scheme\" content=\"light dark\">\n"
		  "<meta name=\"referrer\" content=\"no-referrer\">\n"
		  "<meta name=\"generator\" content=\"kvmortem %s\">\n<title>", css->sha256, js->sha256, KM_VERSION);
	if (first && strcmp(js_str(first, "verdict"), "ruled-out") &&
	    strcmp(js_str(first, "verdict"), "cannot-tell"))
		html_textf(h, "%s: %s", js_str(first, "verdict"), js_str(first, "title"));
	else
		html_text(h, "No known bug matches");
	html_rawf(h, " – kvmortem</title>\n<style>%s</style>\n</head>\n<body>\n", css->text);
}

static void put_top(struct html *h, uint64_t have)
{
	size_t i;

	html_raw(h, "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
		    "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
		    "<pattern id=\"p-unknown\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"p-bg\" width=\"6\" "
		    "height=\"6\"/><path class=\"p-faint\" d=\"M0 3H6\"/></pattern>"
		    "<pattern id=\"p-lost\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect class=\"p-bg\" width=\"4\" "
		    "height=\"4\"/><path class=\"p-line\" d=\"M0 1H4\"/></pattern>"
		    "<marker id=\"p-head\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">"
		    "<path class=\"p-head\" d=\"M0 0L8 4L0 8z\"/></marker></defs></svg>\n<header class=\"top\">\n"
		    "<span class=\"brand\">kvmortem</span>\n<nav aria-label=\"Sections\"><ul>\n");
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i].name && (have & 1ULL << i))
			html_rawf(h, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].name);
	if (h->n_cites)
		html_raw(h, "<li><a href=\"#citations\">Citations</a></li>\n");
	html_raw(h, "</ul></nav>\n<button type=\"button\" id=\"theme\" hidden>Dark</button>\n</header>\n");
}

static void put_foot(struct html *h)
{
	html_rawf(h, "</main>\n<footer><p>Made by kvmortem %s from what was sent in. Times are on each file’s own "
		  "clock. This page is one file: it loads nothing and reports nothing.</p></footer>\n"
		  "<script>%s</script>\n</body>\n</html>\n", KM_VERSION, asset("page.js")->text);
}

/* A section that is not there still is where links lead to. */
static void put_left_out(struct html *h, const struct section *s)
{
	size_t k;

	html_rawf(h, "<p class=\"note\" id=\"%s\">%s: left out, it would make this page too large.</p>\n", s->id ? s->id : "summary",
		  s->name ? s->name : "Summary");
	for (k = 0; s->write == html_stalls && k < h->n_drawn; k++)
		html_rawf(h, "<span id=\"stall-%" PRId64 "\"></span>\n", h->drawn[k]);
}

static size_t page_bytes(const struct html *h, size_t sections_bytes)
{
	return strlen(asset("page.css")->text) + strlen(asset("page.js")->text) + sections_bytes + h->n_cites * CITE_BYTES;
}

/* A section into memory (malloc'd). */
static struct error *put_section(struct html *h, const struct section *s, char **text, size_t *size)
{
	FILE *body = h->out;
	struct error *err;

	h->out = open_memstream(text, size);
	if (!h->out) {
		h->out = body;
		return error_io("report");
	}
	err = s->write(h);
	fclose(h->out);
	h->out = body;
	return err;
}

/* The verdict first, then the bulk as far as there is room; the page has its own order. */
static struct error *put_sections(struct html *h, uint64_t *have)
{
	char *text[ARRAY_SIZE(sections)] = { NULL };
	size_t size[ARRAY_SIZE(sections)] = { 0 }, total = 0, i, pass, cites;
	bool dropped[ARRAY_SIZE(sections)] = { false };
	struct error *err = NULL;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < ARRAY_SIZE(sections) && !err; i++) {
			if (sections[i].bulk != pass || !has_word(sections[i].views, h->ctx->view))
				continue;
			cites = h->n_cites;
			err = put_section(h, &sections[i], &text[i], &size[i]);
			dropped[i] = size[i] && page_bytes(h, total + size[i]) > PAGE_MAX;
			if (dropped[i])
				html_cites_trim(h, cites);
			else
				total += size[i];
		}
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!err && dropped[i])
			put_left_out(h, &sections[i]);
		else if (!err && size[i])
			fwrite(text[i], 1, size[i], h->out);
		*have |= size[i] && !dropped[i] ? 1ULL << i : 0;
		free(text[i]);
	}
	return err ? err : html_cite_list(h);
}

static struct error *prepare(struct html *h)
{
	TRY(text_open(&h->text, h->ctx));
	TRY(model_array(h->ctx, MODEL_VERDICTS, NULL, NULL, &h->verdicts));
	return html_pick_drawn(h);
}

static struct error *put_page(struct html *h)
{
	_cleanup_free_ char *text = NULL;
	uint64_t have = 0;
	size_t size = 0;
	struct error *err;

	TRY(prepare(h));
	h->out = open_memstream(&text, &size);
	if (!h->out)
		return error_io("report");
	err = put_sections(h, &have);
	fclose(h->out);
	h->out = h->ctx->out;
	TRY(err);
	put_head(h);
	put_top(h, have);
	html_raw(h, "<main id=\"main\">\n");
	fwrite(text, 1, size, h->out);
	put_foot(h);
	return NULL;
}

static struct error *html_render(struct report_ctx *ctx)
{
	struct html h = { .ctx = ctx, .out = ctx->out };
	struct error *err;

	if (!has_word("analyze info stalls chain exits latency diff", ctx->view))
		return error_new(ERR_USAGE, "format html has no view for '%s'", ctx->view);
	h.pen = plot_pen_open();
	err = put_page(&h);
	plot_pen_close(h.pen);
	html_cites_free(&h);
	free(h.drawn);
	text_close(&h.text);
	json_object_put(h.verdicts);
	/* cppcheck-suppress returnDanglingLifetime ; no error points into it */
	return err;
}

static const struct report html_report = {
	.format = "html",
	.ending = ".html",
	.render = html_render,
};
REGISTER(reports, &html_report);
