// SPDX-License-Identifier: GPL-2.0-or-later
/* svg.c - plots as the program's own inline SVG; see plot.h. */
#include "plot.h"

#include <math.h>

#include "html.h"

#define WIDTH		PLOT_WIDTH
#define HEIGHT		PLOT_HEIGHT
#define LEFT		72
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

const char *const svg_marks[PLOT_COLOURS] = {
	"m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
	"m-2.5-2.5h5v5h-5z",
	"m0-3l3 5.5h-6z",
	"m0-3.5l3.5 3.5l-3.5 3.5l-3.5-3.5z",
	"m0 3l3-5.5h-6z",
	"m-3-1h6v2h-6z",
};

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

static void put_names(struct html *h, const struct plot *p, const struct axis *x)
{
	size_t i;

	for (i = 0; i < p->x.n_names; i++) {
		html_rawf(h, "<text x=\"%.1f\" y=\"%d\">", at(x, (double)i), BOTTOM + 19);
		html_cut(h, p->x.names[i], PLOT_COLUMNS / p->x.n_names);
		html_raw(h, "</text>\n");
	}
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
		html_rawf(h, "M%.1f %.1f%s", at(x, s->points[i].x), at(y, s->points[i].y), svg_marks[s->colour]);
	html_raw(h, "\"/>\n");
}

/* Outside of the picture, where it can wrap. */
static void put_legend(struct html *h, const struct plot *p)
{
	size_t i;

	if (!plot_has_key(p))
		return;
	html_raw(h, "<ul class=\"key\">");
	for (i = 0; i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];

		html_rawf(h, "<li><svg width=\"14\" height=\"10\" aria-hidden=\"true\"><path class=\"%s c%d d%d\" d=\"%s%s\"/></svg>",
			  s->kind == PLOT_STEPS ? "steps" : "points", s->colour, s->colour,
			  s->kind == PLOT_STEPS ? "M0 5h14" : "M7 5", s->kind == PLOT_STEPS ? "" : svg_marks[s->colour]);
		html_name(h, s->name, 36);
		html_raw(h, "</li>");
	}
	html_raw(h, "</ul>");
}

void svg_picture(FILE *out, const struct plot *p)
{
	struct html html = { .out = out }, *h = &html;
	struct axis x, y;
	size_t i;

	set_axis(&x, p, false);
	set_axis(&y, p, true);
	put_ticks(h, &y, true);
	for (i = 0; i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];

		if (s->kind == PLOT_BARS)
			put_bars(h, s, &x, &y);
		else if (s->kind == PLOT_STEPS)
			put_steps(h, s, &x, &y);
		else
			put_points(h, s, &x, &y);
	}
	html_rawf(h, "<path class=\"tick\" d=\"M%d %dH%d\"/>\n", LEFT, BOTTOM, RIGHT);
	if (p->x.names)
		put_names(h, p, &x);
	else
		put_ticks(h, &x, false);
	for (i = 0; i < p->n_notes; i++) {
		html_rawf(h, "<path class=\"mark-line\" d=\"M%.1f %dV%d\"/><text class=\"key\" x=\"%.1f\" y=\"%d\">", at(&x, p->notes[i].x), TOP,
			  BOTTOM, at(&x, p->notes[i].x) + 4, TOP + 12);
		html_cut(h, p->notes[i].text, 30);
		html_raw(h, "</text>\n");
	}
	html_rawf(h, "<text x=\"%d\" y=\"%d\">", (LEFT + RIGHT) / 2, BOTTOM + 38);
	html_text(h, p->x.label);
	html_rawf(h, "</text><text class=\"y-label\" transform=\"translate(12 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
	html_text(h, p->y.label);
	html_raw(h, "</text>");
}

void svg_plot(FILE *out, const struct plot *p, struct plot_pen *pen)
{
	struct html h = { .out = out };

	html_rawf(&h, "<figure class=\"plot\"><figcaption>");
	html_text(&h, p->title);
	html_raw(&h, "</figcaption>");
	put_legend(&h, p);
	html_rawf(&h, "<svg role=\"img\" viewBox=\"0 0 %d %d\" aria-label=\"", WIDTH, HEIGHT);
	html_text(&h, p->summary ? p->summary : p->title);
	html_raw(&h, "\">\n");
	if (!plot_pen_picture(pen, out, p))
		svg_picture(out, p);
	html_raw(&h, "</svg></figure>\n");
}

/* What page.css says of plots, in light colours. */
static const char file_style[] =
	"text{font:12px sans-serif;fill:#4c5560;text-anchor:middle}.title{font-weight:600;fill:#1c2024}.y{text-anchor:end}"
	".title,.key{text-anchor:start}.grid{stroke:#d0d4d8;fill:none}.tick{stroke:#4c5560;fill:none}"
	".mark-line{stroke:#b3261e;stroke-dasharray:4 3;fill:none}"
	".c0{fill:#1f64a6;stroke:#1f64a6}.c1{fill:#eda21a;stroke:#eda21a}.c2{fill:#a5311c;stroke:#a5311c}"
	".c3{fill:#c77fae;stroke:#c77fae}.c4{fill:#2e8b73;stroke:#2e8b73}.c5{fill:#6c5bb0;stroke:#6c5bb0}"
	".bars,.points{stroke:none;opacity:.75}.steps{fill:none;stroke-width:2;stroke-linejoin:round}"
	".d1.steps{stroke-dasharray:6 3}.d2.steps{stroke-dasharray:2 3}.d3.steps{stroke-dasharray:9 3 2 3}";

void svg_plot_file(FILE *out, const struct plot *p)
{
	struct html h = { .out = out };
	size_t i, rows = plot_has_key(p) ? (p->n_series + 1) / 2 : 0;
	int top = 26 + 18 * (int)rows;

	html_rawf(&h, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		  "viewBox=\"0 %d %d %d\">\n<style>%s</style>\n<rect fill=\"#fff\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
		  WIDTH * 3 / 2, (HEIGHT + top) * 3 / 2, -top, WIDTH, HEIGHT + top, file_style,
		  -top, WIDTH, HEIGHT + top);
	html_rawf(&h, "<text class=\"title\" x=\"12\" y=\"%d\">", 18 - top);
	html_cut(&h, p->title, 90);
	html_raw(&h, "</text>\n");
	for (i = 0; rows && i < p->n_series; i++) {
		const struct plot_series *s = &p->series[i];
		int x = 12 + (int)(i % 2) * WIDTH / 2, y = 36 - top + 18 * (int)(i / 2);

		html_rawf(&h, "<path class=\"%s c%d d%d\" d=\"M%d %d%s\"/><text class=\"key\" x=\"%d\" y=\"%d\">",
			  s->kind == PLOT_STEPS ? "steps" : "points", s->colour, s->colour,
			  s->kind == PLOT_STEPS ? x : x + 7, y, s->kind == PLOT_STEPS ? "h14" : svg_marks[s->colour], x + 20, y + 4);
		html_cut(&h, s->name, 44);
		html_raw(&h, "</text>\n");
	}
	svg_picture(out, p);
	html_raw(&h, "</svg>\n");
}
