// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gnuplot_page.c - gnuplot as the page's plot_backend (plot.h).
 *
 * What gnuplot writes is read as XML and drawn anew: of each path, polygon, mark and word only
 * position, and the class for its colour, are taken. So nothing that gnuplot writes gets into the
 * page as it is, its attributes that the page's policy forbids or that know no dark mode are gone,
 * and neighbours of one colour are one <path>. What is not understood is left out; a picture that
 * lacks its axis or any series is none.
 * Source: output of gnuplot 5.4 and 6.0, "set terminal svg".
 */
#include <ctype.h>
#include <expat.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "gnuplot.h"
#include "html.h"

#define ONE_MS		5000	/* a picture; usual is 50 */
#define ALL_MS		15000	/* all pictures of a page; the rest is drawn by ourselves */
#define SVG_MAX		(4 << 20)	/* bytes of what gnuplot writes */
#define PICTURE_MAX	60000	/* bytes on the page */
#define DEPTH_MAX	32
#define TEXT_MAX	400
#define NO_COLOUR	0xff000000u

struct pen {
	char		*program;
	int64_t		left_ms;
};

/* What an element hands to those inside of it. */
struct level {
	double		x, y;		/* moved there */
	bool		upright;	/* rotated by -90 degrees */
	unsigned int	color, stroke;	/* 0xRRGGBB or NO_COLOUR */
	char		anchor;		/* s, m, e */
	bool		skip;		/* definitions */
};

struct picture {
	struct level	levels[DEPTH_MAX];
	size_t		depth;
	bool		bad;		/* nested too deeply */
	struct html	out;
	char		class[32];	/* of the <path> that is open, "" for none */
	char		text[TEXT_MAX];
	size_t		n_text;
	bool		in_text;
	size_t		n_axis, n_series;
	XML_Parser	parser;
};

static unsigned int colour_of(const char *s, unsigned int current)
{
	unsigned int r, g, b;
	int end = 0;

	if (!strcmp(s, "currentColor"))
		return current;
	if (!strcmp(s, "black"))
		return GNUPLOT_TICK;
	if (sscanf(s, "rgb( %3u , %3u , %3u )%n", &r, &g, &b, &end) == 3 && end && !s[end])
		return r << 16 | g << 8 | b;
	if (s[0] == '#' && strlen(s) == 7 && sscanf(s + 1, "%6x%n", &r, &end) == 1 && end == 6)
		return r;
	return NO_COLOUR;
}

static int series_of(unsigned int colour)
{
	int i;

	for (i = 0; i < PLOT_COLOURS; i++)
		if (colour == gnuplot_colour(i))
			return i;
	return -1;
}

static const char *attribute(const char *const *atts, const char *name)
{
	for (; atts[0]; atts += 2)
		if (!strcmp(atts[0], name))
			return atts[1];
	return NULL;
}

/* "translate(x,y)" and what follows of it. */
static void transform(struct level *l, const char *s)
{
	double x, y;

	if (sscanf(s, "translate(%lf,%lf)", &x, &y) == 2 && isfinite(x) && isfinite(y)) {
		l->x += x;
		l->y += y;
	}
	l->upright |= strstr(s, "rotate(-90") || strstr(s, "rotate(270");
}

static void end_path(struct picture *p)
{
	if (p->class[0])
		html_raw(&p->out, "\"/>\n");
	p->class[0] = 0;
}

/* The path of this class is open after it. */
static void begin_path(struct picture *p, const char *class)
{
	if (!strcmp(p->class, class))
		return;
	end_path(p);
	snprintf(p->class, sizeof(p->class), "%s", class);
	html_rawf(&p->out, "<path class=\"%s\" d=\"", p->class);
}

static void put_number(struct picture *p, double v, char before)
{
	char buf[32];
	size_t n;

	snprintf(buf, sizeof(buf), "%.1f", fmax(-999, fmin(v, 9999)));
	n = strlen(buf);
	if (!strcmp(buf + n - 2, ".0"))
		buf[n - 2] = 0;
	html_rawf(&p->out, "%.1s%s", (char[2]){ before }, buf);
}

/* The next pair of "x,y" in @s, moved, to a tenth; what comes after it, or NULL. */
static const char *next_pair(const char *s, const struct level *l, double *x, double *y)
{
	char *end;

	*x = strtod(s, &end);
	if (end == s)
		return NULL;
	s = end + (*end == ',');
	*y = strtod(s, &end);
	if (end == s || !isfinite(*x) || !isfinite(*y))
		return NULL;
	*x = round((*x + l->x) * 10) / 10;
	*y = round((*y + l->y) * 10) / 10;
	return end;
}

/*
 * Coordinates of "d": pairs of numbers with letters M L between. All that gnuplot writes there is
 * absolute. Steps along one axis are written as H and V.
 */
static void put_coordinates(struct picture *p, const struct level *l, const char *s)
{
	double x, y, last_x = NAN, last_y = NAN;
	bool first = true;

	while (*s) {
		const char *end = next_pair(s, l, &x, &y);

		if (!end) {
			first |= *s++ == 'M';
			continue;
		}
		s = end;
		if (!first && x == last_x) {
			put_number(p, y, 'V');
		} else if (!first && y == last_y) {
			put_number(p, x, 'H');
		} else {
			put_number(p, x, first ? 'M' : 'L');
			put_number(p, y, ' ');
		}
		first = false;
		last_x = x;
		last_y = y;
	}
}

static void on_path(struct picture *p, const struct level *l, const char *const *atts)
{
	const char *d = attribute(atts, "d"), *stroke = attribute(atts, "stroke");
	unsigned int colour = stroke ? colour_of(stroke, l->color) : l->stroke;
	int series = series_of(colour);
	char class[32];

	/* outlines of bars say what the bars say */
	if (!d || strchr(d, 'Z'))
		return;
	if (series >= 0)
		snprintf(class, sizeof(class), "steps c%d d%d", series, series);
	else if (colour == GNUPLOT_GRID || colour == GNUPLOT_NOTE || colour == GNUPLOT_TICK)
		snprintf(class, sizeof(class), "%s", colour == GNUPLOT_GRID ? "grid" :
			 colour == GNUPLOT_NOTE ? "mark-line" : "tick");
	else
		return;
	p->n_series += series >= 0;
	p->n_axis += colour == GNUPLOT_TICK;
	begin_path(p, class);
	put_coordinates(p, l, d);
}

/* A bar, a little narrower than it is, so that neighbours can be told apart. */
static void on_polygon(struct picture *p, const struct level *l, const char *const *atts)
{
	const char *s = attribute(atts, "points"), *fill = attribute(atts, "fill");
	int series = series_of(fill ? colour_of(fill, l->color) : NO_COLOUR);
	double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY, x, y;
	char class[32];

	if (!s || series < 0)
		return;
	while ((s = next_pair(s, l, &x, &y))) {
		left = fmin(left, x);
		right = fmax(right, x);
		top = fmin(top, y);
		bottom = fmax(bottom, y);
	}
	if (!(left <= right))
		return;
	snprintf(class, sizeof(class), "bars c%d", series);
	p->n_series++;
	begin_path(p, class);
	put_number(p, left + .5, 'M');
	put_number(p, bottom, ' ');
	put_number(p, fmin(top, bottom - 1), 'V');
	put_number(p, fmax(right - .5, left + 1.5), 'H');
	put_number(p, bottom, 'V');
	html_raw(&p->out, "z");
}

static void on_mark(struct picture *p, const struct level *l, const char *const *atts)
{
	const char *color = attribute(atts, "color");
	int series = series_of(color ? colour_of(color, l->color) : l->color);
	char class[32];

	if (series < 0)
		return;
	snprintf(class, sizeof(class), "points c%d", series);
	p->n_series++;
	begin_path(p, class);
	put_number(p, l->x, 'M');
	put_number(p, l->y, ' ');
	html_raw(&p->out, svg_marks[series]);
}

static void XMLCALL on_start(void *arg, const char *name, const char **atts)
{
	struct picture *p = arg;
	struct level *l = &p->levels[p->depth], next = *l;
	const char *const *a = atts;
	const char *s;

	if (p->depth + 1 == DEPTH_MAX) {
		p->bad = true;
		return;
	}
	s = attribute(a, "color");
	next.color = s ? colour_of(s, next.color) : next.color;
	s = attribute(a, "stroke");
	next.stroke = s ? colour_of(s, next.color) : next.stroke;
	s = attribute(a, "text-anchor");
	next.anchor = s ? s[0] : next.anchor;
	s = attribute(a, "transform");
	if (s)
		transform(&next, s);
	next.skip |= !strcmp(name, "defs");
	p->levels[++p->depth] = next;
	if (next.skip)
		return;
	if (!strcmp(name, "path"))
		on_path(p, &next, a);
	else if (!strcmp(name, "polygon"))
		on_polygon(p, &next, a);
	else if (!strcmp(name, "use"))
		on_mark(p, &next, a);
	else if (!strcmp(name, "text")) {
		p->in_text = true;
		p->n_text = 0;
	}
}

static void put_text(struct picture *p, const struct level *l)
{
	p->text[p->n_text] = 0;
	end_path(p);
	html_raw(&p->out, "<text");
	if (l->upright)
		html_rawf(&p->out, " class=\"y-label\" transform=\"translate(%.1f %.1f) rotate(-90)\"", l->x, l->y);
	else
		html_rawf(&p->out, "%s x=\"%.1f\" y=\"%.1f\"", l->anchor == 'e' ? " class=\"y\"" :
			  l->anchor == 's' ? " class=\"key\"" : "", l->x, l->y);
	html_raw(&p->out, ">");
	html_text(&p->out, p->text);
	html_raw(&p->out, "</text>\n");
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct picture *p = arg;

	if (p->bad)
		return;
	if (!strcmp(name, "text") && p->in_text) {
		put_text(p, &p->levels[p->depth]);
		p->in_text = false;
	}
	p->depth--;
}

static void XMLCALL on_text(void *arg, const char *s, int len)
{
	struct picture *p = arg;
	size_t n = MIN((size_t)len, TEXT_MAX - 1 - p->n_text);

	if (!p->in_text)
		return;
	memcpy(p->text + p->n_text, s, n);
	p->n_text += n;
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *system, const char *public,
			       int internal)
{
	struct picture *p = arg;

	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	p->bad = true;
	XML_StopParser(p->parser, XML_FALSE);
}

/* @svg redrawn, malloc'd; NULL where it is no picture. */
static char *redraw(const char *svg, size_t size)
{
	struct picture p = {
		.levels[0] = { .color = NO_COLOUR, .stroke = NO_COLOUR, .anchor = 's' },
	};
	XML_Parser x = XML_ParserCreate("UTF-8");
	size_t n = 0;
	char *text = NULL;
	bool ok;

	p.out.out = open_memstream(&text, &n);
	if (!x || !p.out.out) {
		if (x)
			XML_ParserFree(x);
		if (p.out.out)
			fclose(p.out.out);
		free(text);
		return NULL;
	}
	p.parser = x;
	XML_SetUserData(x, &p);
	XML_SetElementHandler(x, on_start, on_end);
	XML_SetCharacterDataHandler(x, on_text);
	XML_SetStartDoctypeDeclHandler(x, on_doctype);
	ok = XML_Parse(x, svg, (int)size, 1) == XML_STATUS_OK;
	end_path(&p);
	XML_ParserFree(x);
	ok = !fclose(p.out.out) && ok && !p.bad && p.n_axis && p.n_series && n <= PICTURE_MAX;
	if (ok)
		return text;
	free(text);
	return NULL;
}

static bool write_script(int fd, const struct plot *p)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;
	gnuplot_inline(out, p);
	return !fclose(out) && pwrite(fd, text, size, 0) == (ssize_t)size;
}

/* What gnuplot says of @p, redrawn and malloc'd; NULL where it does not. */
static char *run(struct pen *pen, const struct plot *p, int in, int out)
{
	struct gnuplot_job job = { .program = pen->program, .dir = -1, .in = in, .out = out,
				   .timeout_ms = ONE_MS, .left_ms = &pen->left_ms };
	_cleanup_free_ char *svg = NULL;
	struct stat st;

	if (in < 0 || out < 0 || !write_script(in, p) || !gnuplot_run(&job) || fstat(out, &st) ||
	    st.st_size <= 0 || st.st_size > SVG_MAX)
		return NULL;
	svg = xcalloc(1, (size_t)st.st_size);
	if (pread(out, svg, (size_t)st.st_size, 0) != st.st_size)
		return NULL;
	return redraw(svg, (size_t)st.st_size);
}

static void pen_close(void *state)
{
	struct pen *pen = state;

	free(pen->program);
	free(pen);
}

static void *pen_open(void)
{
	struct pen *pen = xcalloc(1, sizeof(*pen));

	pen->program = gnuplot_find();
	pen->left_ms = ALL_MS;
	if (pen->program)
		return pen;
	pen_close(pen);
	return NULL;
}

static bool pen_picture(void *state, FILE *to, const struct plot *p)
{
	_cleanup_free_ char *text = NULL;
	struct pen *pen = state;
	int in, out;

	if (pen->left_ms <= 0)
		return false;
	in = memfd_create("script", MFD_CLOEXEC);
	out = memfd_create("picture", MFD_CLOEXEC);
	text = run(pen, p, in, out);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	if (text)
		fputs(text, to);
	return text != NULL;
}

static const struct plot_backend gnuplot_backend = {
	.name = "gnuplot",
	.open = pen_open,
	.picture = pen_picture,
	.close = pen_close,
};
REGISTER(plot_backends, &gnuplot_backend);
