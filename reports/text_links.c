// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text_links.c - a stall's causal chain as an indented tree.
 *
 * In full every link is a line. In short, links that say the same are one line with their number
 * and their sum: a wait of seconds behind a sibling is otherwise told as dozens of turns of the
 * same two tasks.
 */
#include "text.h"

#include "escape.h"

#define LINK_INDENT	6	/* columns before a link's share */
#define LINK_TEXT	23	/* columns before a link's words */
#define LINK_DEPTH	12	/* deeper links are not indented further */
#define LINKS_GROUPED	4000	/* a longer chain is told by its first so many links */
#define NO_GROUP	SIZE_MAX

/*
 * Link kinds (design §9): what one says where the row has no words of its own, and what many of
 * them are called.
 */
static const struct {
	const char	*kind, *words, *sum;
} kinds[] = {
	{ "running", "runs", "running" },
	{ "host", "in the host kernel", "handling exits in the host kernel" },
	{ "vmm", "in the VMM", "in the VMM" },
	{ "runnable", "runnable, waits for a CPU", "waiting for a CPU" },
	{ "preempted", "preempted, waits for a CPU", "preempted" },
	{ "throttled", "throttled by its CPU quota", "throttled" },
	{ "blocked", "blocked", "blocked" },
	{ "irq", "an interrupt", "in interrupts" },
	{ "timer", "a timer", "waiting for a timer" },
	{ "retry-loop", "the same exit again and again", "repeating one exit" },
	{ "folded", "many short stretches", "many short stretches" },
	{ "unknown", "not recorded", "unknown" },
	{ "lost", "events were lost", "lost with lost events" },
};

static const char *link_words(const char *kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].words;
	return kind;
}

char *text_link_phrase(struct json_object *link, int64_t own_tid)
{
	const char *what =
		*js_str(link, "what") ? js_str(link, "what") : link_words(js_str(link, "kind"));
	const char *comm = js_str(link, "task");
	bool other = *comm && js_int(link, "tid") != own_tid && strncmp(what, comm, strlen(comm));
	_cleanup_free_ char *task = text_task(comm, link, "tid");

	return xasprintf("%s%s%s%s", other ? task : "", other ? ": " : "", what,
			 js_int(link, "inferred") && !strstr(what, "(inferred)") ? " (inferred)"
										 : "");
}

/* Links that say the same below parents that say the same. */
struct group {
	struct json_object *first;
	char		*says;
	size_t		parent;		/* index, NO_GROUP at depth 0 */
	size_t		links;
	int64_t		ns;
	bool		shown;
};

struct groups {
	struct group	*g;
	size_t		n, cap;
	int64_t		*id;		/* link id -> group: two arrays side by side */
	size_t		*of;
	size_t		n_links;
};

static void groups_free(struct groups *gs)
{
	size_t i;

	for (i = 0; i < gs->n; i++)
		free(gs->g[i].says);
	free(gs->g);
	free(gs->id);
	free(gs->of);
}

static size_t group_of_link(const struct groups *gs, int64_t id)
{
	size_t i;

	/* a parent stands shortly before its children */
	for (i = gs->n_links; i-- > 0;)
		if (gs->id[i] == id)
			return gs->of[i];
	return NO_GROUP;
}

/* @alone: every link is a group of its own. */
static void group_links(struct groups *gs, struct json_object *stall, bool alone)
{
	size_t n = js_len(stall, "links"), i, k;

	if (!alone)
		n = MIN(n, (size_t)LINKS_GROUPED);
	gs->id = xcalloc(n + 1, sizeof(*gs->id));
	gs->of = xcalloc(n + 1, sizeof(*gs->of));
	for (i = 0; i < n; i++) {
		struct json_object *link = js_at(stall, "links", i);
		char *says = text_link_phrase(link, js_int(stall, "tid"));
		size_t parent = !alone && js_has(link, "parent") ?
					group_of_link(gs, js_int(link, "parent")) : NO_GROUP;

		for (k = alone ? gs->n : 0; k < gs->n; k++)
			if (gs->g[k].parent == parent && !strcmp(gs->g[k].says, says))
				break;
		if (k == gs->n) {
			GROW(gs->g, gs->cap, gs->n + 1);
			gs->g[gs->n++] =
				(struct group){ .first = link, .says = says, .parent = parent };
		} else {
			free(says);
		}
		gs->g[k].links++;
		gs->g[k].ns += js_int(link, "duration_ns");
		gs->id[i] = js_int(link, "id");
		gs->of[i] = k;
		gs->n_links++;
	}
}

/* The groups that fill most of the stall, at most @max; one below a parent that is not shown is
 * not. */
static size_t choose(struct groups *gs, int64_t least, size_t max)
{
	size_t n, i, best;

	for (n = 0; n < max; n++) {
		best = gs->n;
		for (i = 0; i < gs->n; i++) {
			const struct group *g = &gs->g[i];

			if (g->shown || g->ns < least ||
			    (g->parent != NO_GROUP && !gs->g[g->parent].shown))
				continue;
			if (best == gs->n || g->ns > gs->g[best].ns)
				best = i;
		}
		if (best == gs->n)
			break;
		gs->g[best].shown = true;
	}
	return n;
}

/* A group as a paragraph: share and time in columns, the words indented by depth and wrapped. */
static void put_group(struct text *t, struct json_object *stall, const struct group *g)
{
	int hang = LINK_TEXT + (int)MIN(js_int(g->first, "depth"), (int64_t)LINK_DEPTH) * 2;
	_cleanup_free_ char *where = NULL, *label = NULL;
	char share[HUMAN_MAX], time[HUMAN_MAX];

	where = text_places(t, js_get(g->first, "cites"), t->verbose ? 4 : 1,
			    text_source(t, js_int(stall, "source")));
	label = xasprintf("%6s %8s", human_share(share, g->ns, js_int(stall, "duration_ns")),
			  human_ns(time, g->ns));
	if (g->links > 1)
		text_item(t, LINK_INDENT, hang, "", label, "%zu times %s%s%s%s", g->links, g->says,
			  where ? " [first: " : "", where ? where : "", where ? "]" : "");
	else
		text_item(t, LINK_INDENT, hang, "", label, "%s%s%s%s", g->says, where ? " [" : "",
			  where ? where : "", where ? "]" : "");
}

/* How a long chain divides by kind of link: the links shown are only a part of it. */
static void put_kinds(struct text *t, struct json_object *stall)
{
	_cleanup_free_ char *line = NULL;
	char share[HUMAN_MAX];
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		int64_t ns = 0;

		for (i = 0; i < js_len(stall, "links"); i++) {
			struct json_object *link = js_at(stall, "links", i);

			if (!js_int(link, "depth") && !strcmp(js_str(link, "kind"), kinds[k].kind))
				ns += js_int(link, "duration_ns");
		}
		if (ns * 200 >= js_int(stall, "duration_ns"))
			text_join(&line, ", ", "%s %s",
				  human_share(share, ns, js_int(stall, "duration_ns")),
				  kinds[k].sum);
	}
	if (line)
		text_para(t, LINK_INDENT, LINK_INDENT + 2, "In all: %s.", line);
}

static void put_short(struct text *t, struct json_object *stall, size_t max)
{
	struct groups gs = { 0 };
	size_t left = js_len(stall, "links"), shown = 0, i;
	int64_t at_top = 0;
	char time[HUMAN_MAX];

	group_links(&gs, stall, false);
	choose(&gs, js_int(stall, "duration_ns") / 200, max);
	for (i = 0; i < gs.n; i++)
		if (gs.g[i].shown && gs.g[i].parent == NO_GROUP)
			at_top += gs.g[i].ns;
	if (at_top * 10 < js_int(stall, "duration_ns") * 9)
		put_kinds(t, stall);
	for (i = 0; i < gs.n; i++) {
		if (!gs.g[i].shown)
			continue;
		put_group(t, stall, &gs.g[i]);
		left -= gs.g[i].links;
		shown++;
	}
	at_top = js_int(stall, "duration_ns") - at_top;
	if (left && shown)
		text_para(t, LINK_INDENT + 1, LINK_INDENT + 1,
			  "and %zu more link%s%s%s (`kvmortem chain --stall %" PRId64
			  "` shows all)",
			  left, left == 1 ? "" : "s", at_top > 0 ? ", " : "",
			  at_top > 0 ? human_ns(time, at_top) : "", js_int(stall, "id"));
	groups_free(&gs);
}

void text_links(struct text *t, struct json_object *stall, size_t max)
{
	struct groups gs = { 0 };
	size_t i;

	if (max) {
		put_short(t, stall, max);
		return;
	}
	group_links(&gs, stall, true);
	for (i = 0; i < gs.n; i++)
		put_group(t, stall, &gs.g[i]);
	groups_free(&gs);
}
