/* SPDX-License-Identifier: GPL-2.0-or-later */
/* axis_int.h - shared between axis.c (offsets), axis_boots.c (which sources are of one boot). */
#ifndef KM_AXIS_INT_H
#define KM_AXIS_INT_H

#include "axis.h"
#include "casefile.h"
#include "marks.h"

#define DRIFT			10000	/* of a clock: 100 ppm are assumed */
#define AXIS_MAX_SOURCES	96	/* pairs of them are compared */

struct axis_source {
	int64_t		id, member_id;
	char		*path, *format, *kernel, *host, *side, *clock;
	char		*boot_id;	/* the kernel's random/boot_id without dashes, or NULL */
	int64_t		first, last;
	int64_t		resolution;	/* ns: how exact its stamps are on its own clock */
	bool		recording;
	bool		all_switches;	/* it has every context switch of the system in its span */
	bool		has_wall;
	int64_t		wall_offset, wall_uncertainty;
	const struct marks *marks;	/* NULL: none */
	bool		log;
	size_t		boot;		/* index of the first source of the same boot */
	char		*alone;		/* why it is given to no boot, or NULL */
};

/* @b's time minus @a's, at one moment. */
struct axis_edge {
	size_t		a, b;		/* index of a source, or axis->n for the wall clock */
	int64_t		offset, uncertainty;
	char		*how;
	int64_t		cite;
};

struct axis {
	struct case_db	*db;
	struct axis_source *v;
	size_t		n;
	struct axis_edge *edges;
	size_t		n_edges, cap_edges;
};

/* axis_edge_add() - @how is taken over. */
void axis_edge_add(struct axis *x, size_t a, size_t b, int64_t offset, int64_t uncertainty,
		   int64_t cite, char *how);

/*
 * axis_find_boots() - fill in source.boot and source.alone; adds an edge for each pair that
 * recorded the same moments.
 */
struct error *axis_find_boots(struct axis *x);

/* axis_file() - the last two parts of a source's path, for words. */
const char *axis_file(const struct axis_source *s);

/*
 * axis_switches_agree(), axis_logs_agree() - are these the same moments? Of context switches: at
 * least 8 in common, nine of ten of them within 5 ms of the median difference. Of log lines: see
 * axis_boots.c.
 */
bool axis_switches_agree(const struct marks_match *m);
bool axis_logs_agree(const struct marks_match *m);

#endif
