// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html.c - the HTML report: one self-contained page; see html.h.
 *
 * Sections are written to memory first: the citations they ask for come after them, and a section
 * that would make the page larger than PAGE_MAX is left out with a note.
 */
#include "html.h"

#include "config.h"
#include "embedded.h"

#define PAGE_MAX	960000	/* bytes; a bug tracker's attachment of 1 MB holds it */
#define CITES_ROOM	330000	/* of these, for the list of citations */

static const struct section {
	const char	*views;		/* words: of which views it is a part */
	const char	*id, *name;	/* in the page's table of contents; NULL: not listed */
	struct error	*(*write)(struct html *h);
} sections[] = {
	{ "analyze", NULL, NULL, html_summary },
	{ "analyze", "evidence", "Evidence", html_verdicts },
	{ "analyze", "action", "What to do", html_action },
	{ "analyze info", "sources", "Sources", html_sources },
	{ "analyze", "vcpus", "vCPUs", html_vcpus },
	{ "analyze stalls", "timeline", "Timeline", html_timeline },
	{ "analyze stalls chain", "stalls", "Stalls", html_stalls },
	{ "analyze stalls", "patterns", "Patterns", html_patterns },
	{ "analyze exits", "exits", "Exits", html_exits },
	{ "analyze latency", "delays", "Run-queue delay", html_delays },
	{ "analyze", "calls", "Calls", html_calls },
	{ "analyze", "logs", "Logs", html_logs },
	{ "analyze info", "facts", "Facts", html_facts },
	{ "analyze", "ruled-out", "Not this", html_ruled_out },
	{ "analyze info", "not-seen", "Visibility", html_not_seen },
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
		    "height=\"6\"/><circle class=\"p-dot\" cx=\"3\" cy=\"3\" r=\"1.3\"/></pattern>"
		    "<pattern id=\"p-lost\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"p-bg\" width=\"6\" "
		    "height=\"6\"/><path class=\"p-line\" d=\"M0 6L6 0\"/></pattern>"
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

/* Each section into memory; what does not fit is left out and named. */
static struct error *put_sections(struct html *h, uint64_t *have)
{
	FILE *body = h->out;
	size_t total = strlen(asset("page.css")->text) + strlen(asset("page.js")->text) + CITES_ROOM, i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_free_ char *text = NULL;
		struct error *err;
		size_t size = 0;

		if (!has_word(sections[i].views, h->ctx->view))
			continue;
		h->out = open_memstream(&text, &size);
		if (!h->out)
			return error_io("report");
		err = sections[i].write(h);
		fclose(h->out);
		h->out = body;
		TRY(err);
		if (total + size > PAGE_MAX) {
			html_rawf(h, "<p class=\"note\">%s: left out, it would make this page too large.</p>\n",
				  sections[i].name ? sections[i].name : "A part");
			continue;
		}
		total += size;
		fwrite(text, 1, size, body);
		*have |= size ? 1ULL << i : 0;
	}
	return html_cite_list(h);
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

	if (!has_word("analyze info stalls chain exits latency", ctx->view))
		return error_new(ERR_USAGE, "format html has no view for '%s'", ctx->view);
	err = put_page(&h);
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
