// SPDX-License-Identifier: GPL-2.0-or-later
/* html_plots.c - the case's plots (plots.c) on the page. */
#include "html.h"

#include "plots.h"

#define SOURCES_MAX	3

struct page {
	struct html	*h;
	size_t		shown;
};

static struct error *put_delay(void *arg, const struct plot *p)
{
	struct html *h = arg;

	svg_plot(h->out, p, h->pen);
	return NULL;
}

struct error *html_delay_plots(struct html *h)
{
	html_raw(h, "<div class=\"plots\">\n");
	TRY(plots_delays(&h->text, SOURCES_MAX, put_delay, h));
	html_raw(h, "</div>\n");
	return NULL;
}

static struct error *put_over_time(void *arg, const struct plot *p)
{
	struct page *page = arg;

	if (!page->shown++) {
		html_section(page->h, "plots", "Over time");
		html_raw(page->h, "<div class=\"plots\">\n");
	}
	svg_plot(page->h->out, p, page->h->pen);
	return NULL;
}

struct error *html_plots(struct html *h)
{
	struct page page = { .h = h };

	TRY(plots_over_time(&h->text, SOURCES_MAX, put_over_time, &page));
	if (page.shown) {
		html_raw(h, "</div>\n");
		html_section_end(h);
	}
	return NULL;
}
