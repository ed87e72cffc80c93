// SPDX-License-Identifier: GPL-2.0-or-later
/* text_ties.c - what other sources say of the time of a stall or an episode (table tie). */
#include "text.h"

#define TIES_SHOWN	2
#define EPISODES_SHOWN	3

static void say(struct text *t, struct json_object *tie, char **to)
{
	_cleanup_free_ char *cites = text_cites(t, js_get(tie, "cites"), 1);
	char length[HUMAN_MAX];

	if (!strcmp(js_str(tie, "kind"), "ping"))
		text_join(to, "; ", "while a ping got no answer in time for %s", human_ns(length, js_int(tie, "duration_ns")));
	else
		text_join(to, "; ", "at a time of which a log says: %s", js_str(tie, "text"));
	if (cites)
		text_join(to, "", " [%s]", cites);
}

char *text_ties(struct text *t, const char *kind, int64_t id)
{
	_cleanup_json_ struct json_object *ties = NULL;
	char arg[24], *line = NULL;
	struct error *err;
	size_t i, n;

	snprintf(arg, sizeof(arg), "%" PRId64, id);
	err = model_array(t->ctx, MODEL_TIES, kind, arg, &ties);
	if (err) {
		error_free(err);
		return NULL;
	}
	n = json_object_array_length(ties);
	for (i = 0; i < n && i < TIES_SHOWN; i++)
		say(t, json_object_array_get_idx(ties, i), &line);
	if (n > TIES_SHOWN)
		text_join(&line, "; ", "and %zu more", n - TIES_SHOWN);
	return line;
}

struct error *text_episodes(struct text *t)
{
	_cleanup_json_ struct json_object *all = NULL;
	size_t i, shown = 0;

	TRY(model_array(t->ctx, MODEL_EPISODES, NULL, NULL, &all));
	for (i = 0; i < json_object_array_length(all); i++) {
		struct json_object *e = json_object_array_get_idx(all, i);
		_cleanup_free_ char *ties = text_ties(t, "episode_id", js_int(e, "id"));
		char length[HUMAN_MAX], start[HUMAN_MAX];

		if (!ties || (shown++ >= EPISODES_SHOWN && !t->verbose))
			continue;
		text_para(t, 2, 4, "%" PRId64 " vCPUs of VM %" PRId64 " stalled together for %s from %s: %s", js_int(e, "vcpus"),
			  js_int(e, "vm"), human_ns(length, js_int(e, "end_ns") - js_int(e, "start_ns")),
			  human_time(start, js_int(e, "start_ns")), ties);
	}
	return NULL;
}
