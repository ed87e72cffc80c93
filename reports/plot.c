// SPDX-License-Identifier: GPL-2.0-or-later
/* plot.c - ranges of axes, and who draws; see plot.h. */
#include "plot.h"

#include <math.h>

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

bool plot_has_key(const struct plot *p)
{
	return p->n_series > 1 || (p->n_series && p->series[0].kind == PLOT_POINTS);
}

struct plot_pen {
	const struct plot_backend *backend;
	void		*state;		/* NULL: it has none, or gave up */
};

struct plot_pen *plot_pen_open(void)
{
	struct plot_pen *pen = xcalloc(1, sizeof(*pen));
	const struct plot_backend *const *it;

	SET_FOREACH(plot_backends, it) {
		if (pen->state)
			break;
		pen->backend = *it;
		pen->state = pen->backend->open();
	}
	return pen;
}

bool plot_pen_picture(struct plot_pen *pen, FILE *out, const struct plot *p)
{
	return pen && pen->state && pen->backend->picture(pen->state, out, p);
}

void plot_pen_close(struct plot_pen *pen)
{
	if (pen && pen->state)
		pen->backend->close(pen->state);
	free(pen);
}
