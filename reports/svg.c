// SPDX-License-Identifier: GPL-2.0-or-later
/* svg.c - plots as the program's own inline SVG; see plot.h. */
#include "plot.h"

#include <math.h>

#include "html.h"

#define WIDTH		640
#define HEIGHT		280
#define LEFT		66
#define RIGHT		626
#define TOP		14
#define BOTTOM		236
#define TICKS_MAX	12

struct axis {
	double		min, max, from, to;	/* values, and where they stand */
	bool		log;
	enum plot_unit	unit;
	double		step;
};

/* Small marks whose shape tells series apart, too. */
static const char *const shapes[PLOT_COLOURS] = {
	"m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
	"m-2.5-2.5h5v5h-5z",
	"m0-3l3 5.5h-6z",
	"m0-3.5l3.5 3.5l-3.5 3.5l-3.5-3.5z",
	"m0 3l3-5.5h-6z",
	"m-3-1h6v2h-6z",
};

void plot_range(const struct plot *p, bool y, double *min, double *max)
{
	const struct plot_axis *a = y ? &p->y : &p->x;
	double low = INFINITY, high = -INFINITY;
	size_t i, k;

	for (i = 0; i < p->n_series; i++)
		for (k = 0; k < p->series[i].n; k++) {
			const struct plot_point *pt = &p->series[i].points[k];
			double v = y ? pt->y : pt->x,
			       end = !y && p->series[i].kind == PLOT_BARS ? pt->x_end : v;

			if (!isfinite(v) || !isfinite(end) || (a->log && end <= 0))
				continue;
			low = fmin(low, a->log && v <= 0 ? end : v);
			high = fmax(high, end);
		}
	if (a->min < a->max) {
		low = a->min;
		high = a->max;
	}
	if (!(low <= high))
		low = high = 1;
	if (y && !a->log)
		low = fmin(low, 0);
	if (a->log) {
		low = pow(10, floor(log10(low) + 1e-9));
		high = pow(10, ceil(log10(high) - 1e-9));
		high = high > low ? high : low * 10;
	} else if (!(high > low)) {
		high = low + 1;
	}
	*min = low;
	*max = high;
}

static void set_axis(struct axis *a, const struct plot *p, bool y)
{
	double span, power;

	*a = (struct axis){ .log = y ? p->y.log : p->x.log, .unit = y ? p->y.unit : p->x.unit,
			    .from = y ? BOTTOM : LEFT, .to = y ? TOP : RIGHT };
	plot_range(p, y, &a->min, &a->max);
	span = (a->max - a->min) / (y ? 4 : 5);
	power = pow(10, floor(log10(span)));
	a->step = span / power > 5   ? 10 * power
		  : span / power > 2 ? 5 * power
		  : span / power > 1 ? 2 * power
				     : power;
	if (y && !a->log)
		a->max = ceil(a->max / a->step - 1e-9) * a->step;
}

static double at(const struct axis *a, double v)
{
	double s;

	if (a->log)
		s = v <= a->min ? 0 : log10(v / a->min) / log10(a->max / a->min);
	else
		s = (v - a->min) / (a->max - a->min);
	s = !(s > 0) ? 0 : s > 1 ? 1 : s;
	return a->from + s * (a->to - a->from);
}

static void label(char buf[HUMAN_MAX], const struct axis *a, double v)
{
	int digits = (int)ceil(-log10(a->step / 1e9));

	switch (a->unit) {
	case PLOT_NS:
		snprintf(buf, HUMAN_MAX, "%.4g %s", v >= 1e9 ? v / 1e9 : v >= 1e6 ? v / 1e6 : v >= 1e3 ? v / 1e3 : v,
			 v >= 1e9 ? "s" : v >= 1e6 ? "ms" : v >= 1e3 ? "us" : "ns");
		if (v <= 0)
			strcpy(buf, "0");
		break;
	case PLOT_TIME:
		if (v < 1e18)
			snprintf(buf, HUMAN_MAX, "%.*f s", digits < 0 ? 0 : digits > 9 ? 9 : digits, v / 1e9);
		else
			human_time(buf, (int64_t)v);
		break;
	case PLOT_SHARE:
		snprintf(buf, HUMAN_MAX, "%.3g %%", v > 1e-9 ? 100 * v : 0.0);
		break;
	default:
		human_count(buf, (int64_t)v);
		if (v > 0 && v < 1)
			snprintf(buf, HUMAN_MAX, "%.2g", v);
	}
}

static void put_tick(struct html *h, const struct axis *a, bool y, double v)
{
	char buf[HUMAN_MAX];
	double pos = at(a, v);

	label(buf, a, v);
	if (y)
		html_rawf(h, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"y\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT, pos, RIGHT,
			  LEFT - 8, pos + 4, buf);
	else
		html_rawf(h, "<path class=\"tick\" d=\"M%.1f %dv5\"/><text%s x=\"%.1f\" y=\"%d\">%s</text>\n", pos, BOTTOM,
			  pos > RIGHT - 20 ? " class=\"y\"" : "", fmin(pos + (pos > RIGHT - 20 ? 14 : 0), WIDTH), BOTTOM + 19, buf);
}

static void put_ticks(struct html *h, const struct axis *a, bool y)
{
	double v, decades = a->log ? log10(a->max / a->min) : 0;
	int every = (int)ceil(decades / (y ? 5 : 7)), n = 0;

	if (a->log) {
		for (v = a->min; v <= a->max * 1.001 && n < TICKS_MAX;
		     v *= pow(10, every > 0 ? every : 1), n++)
			put_tick(h, a, y, v);
		return;
	}
	for (v = ceil(a->min / a->step - 1e-9) * a->step;
	     v <= a->max + a->step * 1e-6 && n < TICKS_MAX; v += a->step, n++)
		put_tick(h, a, y, v);
}

static void put_bars(struct html *h, const struct plot_series *s, const struct axis *x,
		     const struct axis *y)
{
	size_t i;

	html_rawf(h, "<path class=\"bars c%d\" d=\"", s->colour);
	for (i = 0; i < s->n; i++) {
		double from = at(x, s->points[i].x), to = at(x, s->points[i].x_end),
		       top = at(y, s->points[i].y);

		if (isfinite(s->points[i].y) && s->points[i].y > 0)
			html_rawf(h, "M%.1f %dV%.1fH%.1fV%dz", from + .5, BOTTOM, fmin(top, BOTTOM - 1), fmax(to - .5, from + 1), BOTTOM);
	}
	html_raw(h, "\"/>\n");
}

static void put_steps(struct html *h, const struct plot_series *s, const struct axis *x,
		      const struct axis *y)
{
	size_t i;

	html_rawf(h, "<path class=\"steps c%d d%d\" d=\"", s->colour, s->colour);
	for (i = 0; i < s->n; i++)
		html_rawf(h, i ? "H%.1fV%.1f" : "M%.1f %.1f", at(x, s->points[i].x), at(y, s->points[i].y));
	html_rawf(h, "\"/>\n");
}

static void put_points(struct html *h, const struct plot_series *s, const struct axis *x,
		       const struct axis *y)
{
	size_t i;

	html_rawf(h, "<path class=\"points c%d\" d=\"", s->colour);
	for (i = 0; i < s->n; i++)
		html_rawf(h, "M%.1f %.1f%s", at(x, s->points[i].x), at(y, s->points[i].y), shapes[s->colour]);
	html_raw(h, "\"/>\n");
}

/* Outside of the picture, where it can wrap. */
static void put_legend(struct html *h, const struct plot *p)
{
	size_t i;

	if (p->n_series < 2)
		return;
	html_raw(h, "<ul class=\"key\">");
	for (i = 0; i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];

		html_rawf(h, "<li><svg width=\"14\" height=\"10\" aria-hidden=\"true\"><path class=\"%s c%d d%d\" d=\"%s%s\"/></svg>",
			  s->kind == PLOT_STEPS ? "steps" : "points", s->colour, s->colour,
			  s->kind == PLOT_STEPS ? "M0 5h14" : "M7 5", s->kind == PLOT_STEPS ? "" : shapes[s->colour]);
		html_name(h, s->name, 36);
		html_raw(h, "</li>");
	}
	html_raw(h, "</ul>");
}

void svg_plot(FILE *out, const struct plot *p)
{
	struct html h = { .out = out };
	struct axis x, y;
	size_t i;

	set_axis(&x, p, false);
	set_axis(&y, p, true);
	html_rawf(&h, "<figure class=\"plot\"><figcaption>");
	html_text(&h, p->title);
	html_raw(&h, "</figcaption>");
	put_legend(&h, p);
	html_rawf(&h, "<svg role=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"", WIDTH, HEIGHT);
	html_text(&h, p->summary ? p->summary : p->title);
	html_raw(&h, "\">\n");
	put_ticks(&h, &y, true);
	for (i = 0; i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];

		if (s->kind == PLOT_BARS)
			put_bars(&h, s, &x, &y);
		else if (s->kind == PLOT_STEPS)
			put_steps(&h, s, &x, &y);
		else
			put_points(&h, s, &x, &y);
	}
	html_rawf(&h, "<path class=\"tick\" d=\"M%d %dH%d\"/>\n", LEFT, BOTTOM, RIGHT);
	put_ticks(&h, &x, false);
	for (i = 0; i < p->n_notes; i++) {
		html_rawf(&h, "<path class=\"mark-line\" d=\"M%.1f %dV%d\"/><text class=\"key\" x=\"%.1f\" y=\"%d\">", at(&x, p->notes[i].x), TOP,
			  BOTTOM, at(&x, p->notes[i].x) + 4, TOP + 12);
		html_cut(&h, p->notes[i].text, 30);
		html_raw(&h, "</text>\n");
	}
	html_rawf(&h, "<text x=\"%d\" y=\"%d\">", (LEFT + RIGHT) / 2, BOTTOM + 38);
	html_text(&h, p->x.label);
	html_rawf(&h, "</text><text class=\"y-label\" transform=\"translate(12 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
	html_text(&h, p->y.label);
	html_raw(&h, "</text></svg></figure>\n");
}
