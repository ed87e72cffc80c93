// SPDX-License-Identifier: GPL-2.0-or-later
/* html_stalls.c - the stalls: which of them are drawn, and the section that holds their chains. */
#include "html.h"

#define LONGEST		10
#define PER_SOURCE	3
#define WORST		12	/* of the heaviest patterns */
#define DRAWN_MAX	24
#define ROOM		420000	/* bytes of chains */

bool html_is_drawn(const struct html *h, int64_t id)
{
	size_t i;

	for (i = 0; i < h->n_drawn; i++)
		if (h->drawn[i] == id)
			return true;
	return false;
}

static void add(struct html *h, int64_t id)
{
	if (h->n_drawn < DRAWN_MAX && !html_is_drawn(h, id))
		h->drawn[h->n_drawn++] = id;
}

static struct error *add_query(struct html *h, const char *sql, int64_t limit)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(h->ctx->db, &st, sql, "i", limit));
	while (case_step(h->ctx->db, st, &err))
		add(h, sqlite3_column_int64(st, 0));
	case_done(st);
	return err;
}

static struct error *add_asked(struct html *h)
{
	_cleanup_json_ struct json_object *stalls = NULL, *slices = NULL;
	size_t i;

	TRY(model_pick_stalls(h->ctx, &stalls, &slices));
	for (i = 0; i < json_object_array_length(stalls); i++)
		add(h, js_int(json_object_array_get_idx(stalls, i), "id"));
	return NULL;
}

struct error *html_pick_drawn(struct html *h)
{
	h->drawn = xcalloc(DRAWN_MAX, sizeof(*h->drawn));
	if (!strcmp(h->ctx->view, "chain"))
		return add_asked(h);
	TRY(add_query(h, "SELECT id FROM stall WHERE picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id LIMIT ?", LONGEST));
	TRY(add_query(h, "SELECT id FROM (SELECT id, duration_ns, row_number() OVER (PARTITION BY source_id ORDER BY duration_ns DESC, id) AS n "
		      "FROM stall WHERE picked(vm_id, vcpu_id)) WHERE n <= ? ORDER BY duration_ns DESC, id", PER_SOURCE));
	return add_query(h, "SELECT s.id FROM pattern p JOIN stall s ON s.id = p.worst_stall_id WHERE picked(s.vm_id, s.vcpu_id) "
			 "ORDER BY p.total_ns DESC, p.id LIMIT ?", WORST);
}

static struct error *put_totals(struct html *h)
{
	_cleanup_json_ struct json_object *totals = NULL;
	char total[HUMAN_MAX], threshold[HUMAN_MAX], named[HUMAN_MAX], count[HUMAN_MAX];
	struct json_object *sum;

	TRY(model_array(h->ctx, MODEL_TOTALS, NULL, NULL, &totals));
	sum = json_object_array_get_idx(totals, 0);
	if (js_int(sum, "stalls") > 0 && js_has(sum, "threshold_ns")) {
		html_raw(h, "<p>");
		html_textf(h, "%s stall%s of %s or more, %s in all; the cause of %s of that time is named. Here are the longest, and the worst of "
			   "each of the heaviest patterns.", human_count(count, js_int(sum, "stalls")), js_int(sum, "stalls") == 1 ? "" : "s",
			   human_ns(threshold, js_int(sum, "threshold_ns")), human_ns(total, js_int(sum, "stall_ns")),
			   human_share(named, js_int(sum, "named_ns"), js_int(sum, "stall_ns")));
		html_raw(h, "</p>\n");
	}
	return NULL;
}

/* The chain; beyond ROOM bytes of them only the line that its links lead to. */
static struct error *put_chain(void *arg, struct json_object *stall)
{
	_cleanup_free_ char *line = NULL;
	struct html *h = arg;

	if (ftell(h->out) < ROOM) {
		html_chain(h, stall);
		return NULL;
	}
	line = text_stall_line(&h->text, stall);
	html_rawf(h, "<p id=\"stall-%" PRId64 "\" tabindex=\"-1\"><span class=\"id\">#%" PRId64 "</span> ", js_int(stall, "id"), js_int(stall, "id"));
	html_name(h, line, 240);
	html_rawf(h, " (<code>kvmortem chain --stall %" PRId64 "</code>)</p>\n", js_int(stall, "id"));
	return NULL;
}

struct error *html_stalls(struct html *h)
{
	char id[24];
	size_t i;

	if (!h->n_drawn)
		return NULL;
	html_section(h, "stalls", "Stalls and their causes");
	TRY(put_totals(h));
	TRY(html_lines(h, text_episodes, false, "lines"));
	for (i = 0; i < h->n_drawn; i++) {
		snprintf(id, sizeof(id), "%" PRId64, h->drawn[i]);
		TRY(model_each(h->ctx, MODEL_STALL, id, NULL, put_chain, h));
	}
	html_section_end(h);
	return NULL;
}
