/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * render.h - for the targets of binary recordings: a batch's first events through the renderer.
 *
 * It takes a fork, a hundred times the rest of a run; so only inputs that end in an 'R' get it, and
 * of these every 64th, the first among them (which the corpus has for it).
 */
#ifndef KM_FUZZ_RENDER_H
#define KM_FUZZ_RENDER_H

#include "stream.h"

#define RENDER_EVENTS	16

static inline bool fuzz_wants_render(const uint8_t *data, size_t size)
{
	static unsigned int n;

	return size && data[size - 1] == 'R' && n++ % 64 == 0;
}

static inline void fuzz_render(struct stream *s, const struct batch *b)
{
	const struct event *evs[RENDER_EVENTS];
	char *texts[RENDER_EVENTS] = { NULL };
	size_t n = MIN((size_t)b->n, (size_t)RENDER_EVENTS), i;

	if (!s->ops->render)
		return;
	for (i = 0; i < n; i++)
		evs[i] = &b->ev[i];
	s->ops->render(s->ops_priv, evs, n, texts);
	for (i = 0; i < n; i++)
		free(texts[i]);
}

#endif
