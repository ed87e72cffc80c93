/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.h - a plot as data: title, two axes, series, annotations. What draws it is a backend's:
 * svg_plot() here, gnuplot where it is there.
 *
 * Strings may come from a case; a backend escapes them for its place. Nothing is owned by the plot.
 */
#ifndef KM_PLOT_H
#define KM_PLOT_H

#include "base.h"

enum plot_kind {
	PLOT_POINTS,		/* a mark at each point */
	PLOT_BARS,		/* a bar from x to x_end, from the axis to y */
	PLOT_STEPS,		/* y holds from x to the next point's x */
};

enum plot_unit {
	PLOT_NUMBER,		/* a count */
	PLOT_SHARE,		/* 0 .. 1, shown as percent */
	PLOT_NS,		/* a duration in ns */
	PLOT_TIME,		/* a time in ns on a source's clock */
};

struct plot_point {
	double		x, y;
	double		x_end;		/* bars only */
};

struct plot_series {
	const char	*name;
	enum plot_kind	kind;
	int		colour;		/* 0 .. PLOT_COLOURS - 1 */
	const struct plot_point *points;
	size_t		n;
};

struct plot_axis {
	const char	*label;
	enum plot_unit	unit;
	bool		log;		/* points at or below 0 stand at the lower end */
	double		min, max;	/* both 0: as the points want it */
};

struct plot_note {
	double		x;		/* a line across the plot at x ... */
	const char	*text;		/* ... with these words */
};

struct plot {
	const char	*name;		/* of its files: lower-case letters, digits, hyphens */
	const char	*title;
	const char *summary; /* what it shows in a sentence, for who does not see it; may be NULL */
	struct plot_axis x, y;
	const struct plot_series *series;
	size_t		n_series;
	const struct plot_note *notes;
	size_t		n_notes;
};

#define PLOT_COLOURS	6

/*
 * plot_range() - where an axis begins and ends: as asked for, or round values around the points;
 * never empty, and above 0 where it is logarithmic.
 */
void plot_range(const struct plot *p, bool y, double *min, double *max);
/*
 * svg_plot() - write @p as an inline <svg>, 640 by 280 units, its colours by CSS class (page.css).
 * Escaped for HTML.
 */
void svg_plot(FILE *out, const struct plot *p);

#endif
