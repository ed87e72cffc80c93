/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gnuplot.h - gnuplot where it is there: scripts for it, and running it.
 *
 * gnuplot_page.c draws with it for the page (a plot_backend, plot.h), gnuplot_files.c writes what
 * --plots DIR asks for (plot_files_write(), command.h).
 */
#ifndef KM_GNUPLOT_H
#define KM_GNUPLOT_H

#include "command.h"
#include "plot.h"

/*
 * gnuplot_script() - a script that reads NAME.dat and makes NAME.svg and NAME.png of @p, all in the
 * directory that gnuplot runs in. gnuplot_data() - NAME.dat: a block a series, in seconds and
 * percent. Strings of the case stand in the script only, between single quotes.
 * gnuplot_inline() - numbers and script in one, an SVG of svg_plot()'s size to standard output,
 * without title and key.
 * Source: the gnuplot 5.4 manual, "Quote Marks", "Substitution and Command line macros", "Index".
 */
void gnuplot_script(FILE *out, const struct plot *p);
void gnuplot_data(FILE *out, const struct plot *p);
void gnuplot_inline(FILE *out, const struct plot *p);
/* gnuplot_quote() - @s as a single-quoted string on one line, cut at @columns. */
void gnuplot_quote(FILE *out, const char *s, size_t columns);
/* gnuplot_colour() - a series' colour as 0xRRGGBB; @colour 0 .. PLOT_COLOURS - 1. */
unsigned int gnuplot_colour(int colour);

#define GNUPLOT_TICK	0x000000u	/* axes and their words */
#define GNUPLOT_GRID	0xd0d4d8u
#define GNUPLOT_NOTE	0xb3261eu

/* gnuplot_find() - its absolute path out of PATH, relative parts of which are skipped, malloc'd;
 * NULL where there is none or the build does without. */
char *gnuplot_find(void);

struct gnuplot_job {
	const char	*program;	/* absolute */
	const char	*script;	/* a file in @dir; NULL: read @in */
	int		dir;		/* to run in; -1: the root directory */
	int		in, out;	/* -1: /dev/null */
	int		timeout_ms;
	int64_t		*left_ms;	/* for this and further ones; what it took is taken off */
};

/*
 * gnuplot_run() - run it: no shell, a fixed environment, nothing read from the user's own settings,
 * no terminal, memory and file size limited, killed with all it started when @timeout_ms or
 * *@left_ms is over, reaped in any case. True where it ended well.
 */
bool gnuplot_run(const struct gnuplot_job *job);

#endif
