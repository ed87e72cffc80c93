// SPDX-License-Identifier: GPL-2.0-or-later
/* gnuplot.c - a plot as a gnuplot script with its numbers; see gnuplot.h. */
#include "gnuplot.h"

#include <math.h>

#include "escape.h"

#define TITLE_COLUMNS	90
#define NAME_COLUMNS	40
#define WALL_CLOCK	1e18	/* ns: later than 2001, as no uptime is */

/* Colours that can be told apart with any kind of sight, as the program's own picture has them. */
static const unsigned int colours[PLOT_COLOURS] = { 0x1f64a6, 0xeda21a, 0xa5311c,
						    0xc77fae, 0x2e8b73, 0x6c5bb0 };
static const int marks[PLOT_COLOURS] = { 7, 5, 9, 13, 11, 1 };

/*
 * Between single quotes gnuplot replaces nothing (no backslash, backquote, @macro) but '' by ', and
 * that not at a string's beginning (5.4). So a quote becomes a typographic one, which means
 * nothing. escape_prose() leaves no control character, so the string cannot leave its line.
 */
void gnuplot_quote(FILE *out, const char *s, size_t columns)
{
	_cleanup_free_ char *clean = escape_prose(s);
	size_t n = display_cut(clean, columns), i;

	putc('\'', out);
	for (i = 0; i < n; i++)
		fputs(clean[i] == '\'' ? "’" : (char[2]){ clean[i] }, out);
	fputs(clean[n] ? "…'" : "'", out);
}

unsigned int gnuplot_colour(int colour)
{
	return colours[colour >= 0 ? colour % PLOT_COLOURS : 0];
}

static double scaled(double v, enum plot_unit unit)
{
	return unit == PLOT_SHARE ? v * 100 : unit == PLOT_NUMBER ? v : v / 1e9;
}

static bool usable(const struct plot_series *s, size_t i)
{
	return isfinite(s->points[i].x) && isfinite(s->points[i].y) && isfinite(s->points[i].x_end);
}

static size_t n_usable(const struct plot_series *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += usable(s, i);
	return n;
}

static void put_blocks(FILE *out, const struct plot *p)
{
	double x_min, x_max, y_min, y_max;
	size_t i, k, n = 0;

	plot_range(p, false, &x_min, &x_max);
	plot_range(p, true, &y_min, &y_max);
	for (i = 0; i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];

		if (!n_usable(s))
			continue;
		fputs(n++ ? "\n\n" : "", out);
		for (k = 0; k < s->n; k++) {
			double x = s->points[k].x, y = s->points[k].y;

			if (!usable(s, k))
				continue;
			/* what has no place on a logarithmic axis stands at its lower end */
			x = p->x.log && x <= 0 ? x_min : x;
			y = p->y.log && y <= 0 ? y_min : y;
			fprintf(out, "%.9f ", scaled(x, p->x.unit));
			if (s->kind == PLOT_BARS)
				fprintf(out, "%.9f ", scaled(s->points[k].x_end, p->x.unit));
			fprintf(out, "%.10g\n", scaled(y, p->y.unit));
		}
	}
}

void gnuplot_data(FILE *out, const struct plot *p)
{
	fputs("# Blocks with two empty lines between, one a series; columns: x y, of bars x x_end y.\n"
	      "# Times in seconds, shares in percent.\n", out);
	put_blocks(out, p);
}

/* Where the y axis begins: a bar that reaches to the first decade only shall be seen, too. */
static double lowest(const struct plot *p)
{
	double min, max;

	plot_range(p, true, &min, &max);
	return p->y.log && p->n_series && p->series[0].kind == PLOT_BARS ? min * 0.8 : min;
}

static void put_axis(FILE *out, const struct plot *p, bool y)
{
	const struct plot_axis *a = y ? &p->y : &p->x;
	const char *name = y ? "y" : "x", *unit = "";
	double min, max;
	size_t i;

	plot_range(p, y, &min, &max);
	min = y ? lowest(p) : min;
	switch (a->unit) {
	case PLOT_NS:
		fprintf(out, "set format %s '%%.0s %%cs'\n", name);
		break;
	case PLOT_SHARE:
		fprintf(out, "set format %s '%%g %%%%'\n", name);
		break;
	case PLOT_TIME:
		if (max >= WALL_CLOCK)
			fprintf(out, "set format %s '%%H:%%M:%s' timedate\n", name,
				max - min > 10e9 ? "%S" : max - min > 1e9 ? "%.1S" : "%.3S");
		else
			fprintf(out, "set format %s '%%.10g s'\n", name);
		unit = max >= WALL_CLOCK ? ".' (UTC)'" : "";
		break;
	default:
		fprintf(out, "set format %s '%s'\n", name, a->log ? "%.0s %c" : "%.7g");
	}
	for (i = 0; i < a->n_names; i++) {
		fputs(i ? ", " : "set xtics scale 0 noenhanced (", out);
		gnuplot_quote(out, a->names[i], PLOT_COLUMNS / a->n_names);
		fprintf(out, " %zu%s", i, i + 1 == a->n_names ? ")\n" : "");
	}
	if (a->log)
		fprintf(out, "set logscale %s 10\n", name);
	/* upwards a linear axis ends where gnuplot has a round number */
	if (y && !a->log)
		fprintf(out, "set %srange [%.9g:*]\n", name, scaled(min, a->unit));
	else
		fprintf(out, "set %srange [%.9f:%.9f]\n", name, scaled(min, a->unit),
			scaled(max, a->unit));
	fprintf(out, "set %slabel ", name);
	gnuplot_quote(out, a->label, TITLE_COLUMNS);
	fprintf(out, "%s noenhanced\n", unit);
}

static void put_notes(FILE *out, const struct plot *p)
{
	size_t i;

	for (i = 0; i < p->n_notes; i++) {
		double x = scaled(p->notes[i].x, p->x.unit);

		if (!isfinite(x))
			continue;
		fprintf(out, "set arrow from first %.9f, graph 0 to first %.9f, graph 1 nohead dashtype 2 linecolor rgb '#%06x'\nset label ", x, x, GNUPLOT_NOTE);
		gnuplot_quote(out, p->notes[i].text, NAME_COLUMNS);
		fprintf(out, " at first %.9f, graph 0.95 offset 0.5, 0 noenhanced\n", x);
	}
}

static void put_series(FILE *out, const struct plot *p, const struct plot_series *s)
{
	unsigned int colour = gnuplot_colour(s->colour);

	switch (s->kind) {
	case PLOT_BARS:
		fprintf(out, "using 1:3:1:2:(%.9g):3 with boxxyerror fillstyle transparent solid 0.7 linecolor rgb '#%06x'",
			scaled(lowest(p), p->y.unit), colour);
		break;
	case PLOT_STEPS:
		fprintf(out, "using 1:2 with steps linewidth 2 dashtype %d linecolor rgb '#%06x'",
			s->colour % 4 + 1, colour);
		break;
	case PLOT_POINTS:
	default:
		fprintf(out, "using 1:2 with points pointtype %d pointsize 0.6 linecolor rgb '#%06x'",
			marks[s->colour % PLOT_COLOURS], colour);
	}
}

static void put_all_series(FILE *out, const struct plot *p, const char *data)
{
	size_t i, n = 0;

	for (i = 0; i < p->n_series; i++) {
		if (!n_usable(&p->series[i]))
			continue;
		fprintf(out, "%s %s index %zu ", n ? ", \\\n    " : "plot", data, n);
		put_series(out, p, &p->series[i]);
		fputs(" title ", out);
		gnuplot_quote(out, p->series[i].name, NAME_COLUMNS);
		fputs(" noenhanced", out);
		n++;
	}
	putc('\n', out);
}

static void put_settings(FILE *out, const struct plot *p)
{
	fprintf(out, "set grid ytics linetype 1 linecolor rgb '#%06x'\nset tics nomirror\nset border 3\n", GNUPLOT_GRID);
	put_axis(out, p, false);
	put_axis(out, p, true);
	put_notes(out, p);
}

void gnuplot_script(FILE *out, const struct plot *p)
{
	_cleanup_free_ char *data = xasprintf("'%s.dat'", p->name);

	fprintf(out, "# To draw it again, run in this directory: gnuplot %s.gp\nset encoding utf8\nset title ", p->name);
	gnuplot_quote(out, p->title, TITLE_COLUMNS);
	fputs(" noenhanced\n", out);
	fputs(plot_has_key(p) ? "set key above\n" : "unset key\n", out);
	put_settings(out, p);
	fprintf(out, "set terminal svg size 900,450 dynamic noenhanced font 'sans,12' background '#ffffff'\n"
		     "set output '%s.svg'\n", p->name);
	put_all_series(out, p, data);
	fprintf(out, "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) { set terminal pngcairo size 1200,600 noenhanced font 'sans,12' } "
		     "else { set terminal png size 1200,600 noenhanced }\n"
		     "set output '%s.png'\nreplot\nset output\n", p->name);
}

void gnuplot_inline(FILE *out, const struct plot *p)
{
	fputs("set encoding utf8\n$data << EOD\n", out);
	put_blocks(out, p);
	fputs("EOD\nunset key\n", out);
	put_settings(out, p);
	fprintf(out, "set terminal svg size %d,%d fixed noenhanced font 'sans,12'\n", PLOT_WIDTH, PLOT_HEIGHT);
	put_all_series(out, p, "$data");
}
