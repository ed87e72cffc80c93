/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html.h - the HTML report's parts: what writes safe markup, citations, and one function a section.
 *
 * The page is one file without any reference outwards; its policy (CSP) admits nothing but the
 * embedded style and script by their hashes. So no markup here may carry style="" or on...="".
 * Every string that came from a case goes through html_text() and its kin. A section writes to
 * h->out; html.c measures it and leaves out what would make the page too large.
 */
#ifndef KM_HTML_H
#define KM_HTML_H

#include "plot.h"
#include "text.h"

#define HTML_NAME_COLUMNS	32	/* a name is cut here; its title attribute holds more */
#define HTML_SAYS_COLUMNS	1200	/* a sentence is cut here */

struct html_cite {
	char *key; /* member, place and time: one line of the list of citations */
	struct json_object *cite;
};

struct html {
	struct report_ctx *ctx;
	FILE		*out;		/* where sections write */
	struct text	text;		/* names, as the text report gives them */
	struct html_cite *cites;
	size_t		n_cites, cap_cites;
	size_t		*cite_slots;	/* hash of cites by key: index + 1 */
	size_t		n_slots;
	size_t		left_out;	/* citations beyond the page's limit */
	struct json_object *verdicts;	/* as the model gives them */
	int64_t		*drawn;		/* ids of the stalls whose chain is on the page */
	size_t		n_drawn;
	struct plot_pen	*pen;		/* draws the plots */
};

/* Raw markup of our own: never with %s of a case's string. */
void html_raw(struct html *h, const char *markup);
void html_rawf(struct html *h, const char *fmt, ...) __printf_like(2, 3);
/*
 * html_text() - escaped for text and attributes: markup characters as references, controls and
 * what hides or turns text round (bidirectional overrides) as visible \e, \u{202e}, invalid UTF-8
 * as U+FFFD. html_textf() formats first.
 */
void html_text(struct html *h, const char *s);
void html_textf(struct html *h, const char *fmt, ...) __printf_like(2, 3);
/*
 * html_name() - a name out of a case, isolated from the direction of what is around it, cut at
 * @columns with the rest in its title. html_says() - a sentence likewise.
 */
void html_name(struct html *h, const char *s, size_t columns);
void html_says(struct html *h, const char *s);
/* html_cut() - escaped and cut, no element around: for attributes and SVG text. */
void html_cut(struct html *h, const char *s, size_t columns);
/* html_wbr() - as html_text(), with break opportunities after / _ and : of long words. */
void html_wbr(struct html *h, const char *s);

/* html_section() - <section> with a heading and an anchor; html_section_end() closes it. */
void html_section(struct html *h, const char *id, const char *heading);
void html_section_end(struct html *h);

/*
 * Tables: html_table() opens one with @caption (text) and its column heads, a head that begins
 * with '>' is a column of numbers. A row is html_row(), cells, html_row_end().
 */
void html_table(struct html *h, const char *caption, const char *const *heads, size_t n);
void html_table_end(struct html *h);
void html_row(struct html *h);
void html_row_end(struct html *h);
/* html_head() - the row's own heading. html_cell() - text, html_num() - a number; NULL: empty. */
void html_head(struct html *h, const char *s);
void html_cell(struct html *h, const char *s);
void html_num(struct html *h, const char *s);
/* html_share() - a share of @whole as a number with a bar behind it. */
void html_share(struct html *h, int64_t part, int64_t whole);

/*
 * html_cites() - links to at most @max of the citations in @array, and how many more there are;
 * @brief leaves times out. Each becomes a line of the list of citations, within the page's limit.
 */
void html_cites(struct html *h, struct json_object *array, size_t max, bool brief);
/* html_cites_trim() - forget those after the first @n: what cited them is left out. */
void html_cites_trim(struct html *h, size_t n);
struct error *html_cite_list(struct html *h);
void html_cites_free(struct html *h);

/*
 * html_lines() - what a text view says, one list item a line, for what needs no links; nothing
 * where it says nothing. @skip_first leaves out its heading.
 */
struct error *html_lines(struct html *h, struct error *(*view)(struct text *t), bool skip_first,
			 const char *class);

/* Sections, in the order of the page; each writes nothing where the case has nothing of it. */
struct error *html_summary(struct html *h);	/* the first screen */
struct error *html_verdicts(struct html *h);
struct error *html_action(struct html *h);
struct error *html_sources(struct html *h);
struct error *html_vcpus(struct html *h);
struct error *html_timeline(struct html *h);
struct error *html_stalls(struct html *h);
struct error *html_patterns(struct html *h);
struct error *html_exits(struct html *h);
struct error *html_delays(struct html *h);
struct error *html_delay_plots(struct html *h);	/* within html_delays() */
struct error *html_plots(struct html *h);
struct error *html_calls(struct html *h);
struct error *html_flames(struct html *h);
struct error *html_logs(struct html *h);
struct error *html_facts(struct html *h);
struct error *html_ruled_out(struct html *h);
struct error *html_not_seen(struct html *h);
struct error *html_diff(struct html *h);

/*
 * html_pick_drawn() - choose the stalls whose chains are drawn: those that --stall or --at ask for,
 * else the longest and the worst of each pattern. html_is_drawn() - is stall @id among them?
 */
struct error *html_pick_drawn(struct html *h);
bool html_is_drawn(const struct html *h, int64_t id);
/* html_link_class() - a link's @kind if it is one of the contract's, else "unknown": fit for markup. */
const char *html_link_class(const char *kind);
/* html_chain() - one stall's chain: drawn, and as a table with citations. */
void html_chain(struct html *h, struct json_object *stall);

/* The eight states of a vCPU in the order of the JSON contract. */
struct html_state {
	const char	*key, *class, *name, *words;
};
extern const struct html_state html_states[8];

#endif
