/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.h - a plot as data: title, two axes, series, annotations, and what draws it: a backend where
 * one is there (gnuplot_page.c), else the program itself (svg.c).
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
	const char *const *names;	/* of 0, 1 ... on a linear x axis; NULL: it has numbers */
	size_t		n_names;
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
#define PLOT_COLUMNS	84	/* letters that have room along the x axis */

/*
 * plot_range() - where an axis begins and ends: as asked for, or round values around the points;
 * never empty, and above 0 where it is logarithmic.
 */
void plot_range(const struct plot *p, bool y, double *min, double *max);
/* plot_has_key() - do its series have to be named beside it? */
bool plot_has_key(const struct plot *p);

#define PLOT_WIDTH	640	/* of a picture on the page, in units of its viewBox */
#define PLOT_HEIGHT	280

/*
 * A backend draws pictures for the page. It registers itself: REGISTER(plot_backends, &x).
 *   open()	what it needs for a page's plots; NULL where it cannot work here
 *   picture()	write what goes between <svg> and </svg>: <path> and <text> with the classes of
 *		page.css only, all escaped; false, and nothing written, where it cannot
 */
struct plot_backend {
	const char	*name;
	void		*(*open)(void);
	bool		(*picture)(void *state, FILE *out, const struct plot *p);
	void		(*close)(void *state);
};
SET_DECLARE(plot_backends, struct plot_backend);

/* plot_pen_open() - the backend that is there, for the plots of one page. plot_pen_picture() - its
 * picture of @p; false where there is none. plot_pen_close() frees; NULL is fine for both. */
struct plot_pen *plot_pen_open(void);
bool plot_pen_picture(struct plot_pen *pen, FILE *out, const struct plot *p);
void plot_pen_close(struct plot_pen *pen);

/*
 * svg_plot() - write @p as a <figure> with caption, key and an inline <svg>, its colours by CSS
 * class (page.css); the picture is @pen's or svg_picture()'s. Escaped for HTML.
 */
void svg_plot(FILE *out, const struct plot *p, struct plot_pen *pen);
/* svg_picture() - the program's own picture: what goes between <svg> and </svg>. */
void svg_picture(FILE *out, const struct plot *p);
/* svg_plot_file() - a file that needs nothing else, with title and key inside. */
void svg_plot_file(FILE *out, const struct plot *p);
/* Small marks, by colour, whose shape tells series apart, too: for a path's d after "Mx y". */
extern const char *const svg_marks[PLOT_COLOURS];

#endif
