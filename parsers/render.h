/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * render.h - full print formats, rendered by libtraceevent in a short-lived child process.
 *
 * libtraceevent is not hardened against hostile formats, so it runs where it can do no harm: a
 * child under seccomp (it may only read and write its socket and manage its memory) and rlimits.
 * When the child dies or hangs, everything that is left is not rendered; nothing else is
 * affected.
 */
#ifndef KM_RENDER_H
#define KM_RENDER_H

#include "tp_format.h"

struct render;

struct render_event {
	uint32_t	id;		/* of the format */
	uint32_t	cpu;
	uint64_t	time;
	const uint8_t	*raw;
	uint32_t	size;
};

/*
 * render_start() - start a child that knows the @n @formats. ERR_INTERNAL when it can't be
 * started.
 */
struct error *render_start(struct render **ret, const struct tp_format *const *formats, size_t n,
			   bool big_endian, unsigned int long_size);
/*
 * render_batch() - texts of @n events into @texts: malloc'd, NULL where there is none (format
 * unknown or not understood). False once the child has died: then and from then on all are NULL.
 */
bool render_batch(struct render *r, const struct render_event *ev, size_t n, char **texts);
/* render_stop() - end the child. @r may be NULL. */
void render_stop(struct render *r);

#endif
