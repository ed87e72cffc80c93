// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html_cites.c - citations: links at what is said, and the list they lead to.
 *
 * A place that is cited twice is one line of the list. The list is bounded: what is cited first,
 * the evidence, is told with its text in full length, the rest shorter; beyond CITES_MAX a place is
 * named without a link, and on a page that gets too large the list has places only.
 */
#include "html.h"

#define CITES_MAX	1400
#define CITES_FULL	300	/* so many have their text up to TEXT_FULL columns */
#define TEXT_FULL	400
#define TEXT_SHORT	110
#define FULL_UNTIL	820000	/* bytes of the page; from there on only the place is listed */
#define SLOTS		4096	/* > 2 * CITES_MAX, a power of two */

static char *place(struct html *h, struct json_object *c)
{
	const char *member = text_path(&h->text, js_str(c, "member"));

	if (js_has(c, "line"))
		return xasprintf("%s:%" PRId64, member, js_int(c, "line"));
	if (js_has(c, "offset"))
		return xasprintf("%s@%" PRId64, member, js_int(c, "offset"));
	return xstrdup(member);
}

static uint64_t hash(const char *s)
{
	uint64_t v = 14695981039346656037ULL;	/* FNV-1a */

	for (; *s; s++)
		v = (v ^ (unsigned char)*s) * 1099511628211ULL;
	return v;
}

/* The number of @c in the list, from 1; 0 where the list is full. Takes @key. */
static size_t number(struct html *h, struct json_object *c, char *key)
{
	size_t slot = hash(key) & (SLOTS - 1);

	if (!h->cite_slots) {
		h->cite_slots = xcalloc(SLOTS, sizeof(*h->cite_slots));
		h->n_slots = SLOTS;
	}
	for (; h->cite_slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (!strcmp(h->cites[h->cite_slots[slot] - 1].key, key)) {
			free(key);
			return h->cite_slots[slot];
		}
	if (h->n_cites == CITES_MAX) {
		h->left_out++;
		free(key);
		return 0;
	}
	GROW(h->cites, h->cap_cites, h->n_cites + 1);
	h->cites[h->n_cites++] = (struct html_cite){ .key = key, .cite = json_object_get(c) };
	h->cite_slots[slot] = h->n_cites;
	return h->n_cites;
}

void html_cites_trim(struct html *h, size_t n)
{
	/* the last ones in are the last ones of their runs of slots */
	while (h->n_cites > n) {
		struct html_cite *c = &h->cites[--h->n_cites];
		size_t slot = hash(c->key) & (SLOTS - 1);

		while (h->cite_slots[slot] != h->n_cites + 1)
			slot = (slot + 1) & (SLOTS - 1);
		h->cite_slots[slot] = 0;
		free(c->key);
		json_object_put(c->cite);
	}
}

static void put_one(struct html *h, struct json_object *c, bool brief, const char *last_member)
{
	const char *member = text_path(&h->text, js_str(c, "member"));
	_cleanup_free_ char *where = place(h, c);
	bool same = last_member && !strcmp(last_member, member);
	char time[HUMAN_MAX];
	size_t n;

	n = number(h, c, xasprintf("%s %" PRId64, where, js_int(c, "time_ns")));
	if (n)
		html_rawf(h, "<a class=\"c\" href=\"#c%zu\">", n);
	else
		html_raw(h, "<span class=\"c\">");
	html_name(h, same && strlen(where) > strlen(member) ? where + strlen(member) : where, 60);
	if (!brief && js_has(c, "time_ns")) {
		html_raw(h, " <time>");
		html_text(h, human_time(time, js_int(c, "time_ns")));
		html_raw(h, "</time>");
	}
	html_raw(h, n ? "</a>" : "</span>");
}

void html_cites(struct html *h, struct json_object *array, size_t max, bool brief)
{
	size_t n = array && json_object_is_type(array, json_type_array) ?
			   json_object_array_length(array) : 0, i;
	const char *last = NULL;

	if (!n)
		return;
	html_raw(h, "<span class=\"cites\">");
	for (i = 0; i < n && i < max; i++) {
		struct json_object *c = json_object_array_get_idx(array, i);

		if (i)
			html_raw(h, " ");
		put_one(h, c, brief, brief ? last : NULL);
		last = text_path(&h->text, js_str(c, "member"));
	}
	if (n > max)
		html_rawf(h, " <span class=\"more\">and %zu more</span>", n - max);
	html_raw(h, "</span>");
}

struct error *html_cite_list(struct html *h)
{
	char time[HUMAN_MAX];
	size_t i;

	if (!h->n_cites)
		return NULL;
	html_section(h, "citations", "Citations");
	html_raw(h, "<p class=\"note\">Where each statement on this page comes from: file, line or byte offset, time on "
		    "that file’s own clock, and what stands there.");
	if (h->text.prefix && *h->text.prefix && h->text.paths > 1) {
		html_raw(h, " Files are named within <code>");
		html_name(h, h->text.prefix, 120);
		html_raw(h, "</code>.");
	}
	if (h->left_out)
		html_raw(h, " To keep the page small not every citation is listed: <code>-f json</code> has all.");
	html_raw(h, "</p>\n<ol class=\"citelist\">\n");
	for (i = 0; i < h->n_cites; i++) {
		struct json_object *c = h->cites[i].cite;
		_cleanup_free_ char *where = place(h, c);

		bool full = ftell(h->out) < FULL_UNTIL;

		html_rawf(h, "<li id=\"c%zu\" tabindex=\"-1\"><b>", i + 1);
		if (full)
			html_name(h, where, 120);
		else
			html_cut(h, where, 60);
		html_raw(h, "</b>");
		if (js_has(c, "time_ns")) {
			html_raw(h, " <time>");
			html_text(h, human_time(time, js_int(c, "time_ns")));
			html_raw(h, "</time>");
		}
		if (full && *js_str(c, "text")) {
			html_raw(h, " <code>");
			html_name(h, js_str(c, "text"), i < CITES_FULL ? TEXT_FULL : TEXT_SHORT);
			html_raw(h, "</code>");
		}
		html_raw(h, "</li>\n");
	}
	html_raw(h, "</ol>\n");
	html_section_end(h);
	return NULL;
}

void html_cites_free(struct html *h)
{
	size_t i;

	for (i = 0; i < h->n_cites; i++) {
		free(h->cites[i].key);
		json_object_put(h->cites[i].cite);
	}
	free(h->cites);
	free(h->cite_slots);
}
