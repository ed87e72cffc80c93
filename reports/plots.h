/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plots.h - the plots that a case has, as data (plot.h), for the page and for --plots. */
#ifndef KM_PLOTS_H
#define KM_PLOTS_H

#include "plot.h"
#include "text.h"

/* Called with a plot, which lives only during the call. An error ends the walk. */
typedef struct error *(*plot_fn)(void *arg, const struct plot *p);

/*
 * plots_delays() - waits of vCPUs for a CPU: a histogram and a CDF, both on logarithmic axes, per
 * recording. plots_over_time() - exits and roots as rates, throttling, the longest waits, long
 * calls, then plots_snapshots(). Of each kind for @max_sources recordings at most; --vm and --vcpu
 * apply (filter.h). plots_snapshots() - counters of the host: KSM, NUMA balancing, throttled
 * groups.
 */
struct error *plots_delays(struct text *t, size_t max_sources, plot_fn fn, void *arg);
struct error *plots_over_time(struct text *t, size_t max_sources, plot_fn fn, void *arg);
struct error *plots_snapshots(struct text *t, plot_fn fn, void *arg);

#endif
