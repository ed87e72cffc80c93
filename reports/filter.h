/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - --vm and --vcpu for all views, as SQL functions of the case file's connection.
 *
 *   picked_vm(vm_id)             1 where the row belongs to a VM that is asked for
 *   picked(vm_id, vcpu_id)       the same and, with --vcpu, to such a vCPU (a NULL vcpu_id then is
 * not) rel_stddev(n, mean, m2)      standard deviation of the mean in percent of it, as perf's
 * rel_stddev_stats()
 *
 * Without --vm and --vcpu both are 1 for every row, also where the ids are NULL.
 */
#ifndef KM_FILTER_H
#define KM_FILTER_H

#include "command.h"

/*
 * filter_install() - (re)define the functions on @db for @opt. ERR_USAGE where nothing in the case
 * file answers to --vm or
 * --vcpu; the message lists what there is.
 */
struct error *filter_install(struct case_db *db, const struct options *opt);

#endif
