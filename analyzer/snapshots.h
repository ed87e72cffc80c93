/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshots.h - differences between snapshots of the same file.
 *
 * Two members are snapshots of one file when their paths differ in a label only (vmstat-before.txt,
 * vmstat-after.txt; before/vmstat, after/vmstat), or when one text holds the file twice under its
 * heading. They are ordered by the label's meaning (start, before, mid, after, end; then numbers),
 * or by their order in the text. Neighbours are paired:
 *
 *   fact      KEY.delta for the counters and gauges vmstat.*, ksm.*, meminfo.* and proc.uptime_s;
 *             cgroup.PATH.nr_periods.delta, .nr_throttled.delta, .throttled_ns.delta and
 *             .usage_ns.delta; snapshot 'before..after', both cited in `cites`. A counter that went
 *             back (a reboot between) gives none.
 *   throttle  origin 'cpu.stat': a row per group and pair with the difference; where a group has
 *             one snapshot only, its totals, when it was throttled at all. One cite means totals,
 *             two mean a difference.
 */
#ifndef KM_SNAPSHOTS_H
#define KM_SNAPSHOTS_H

#include "error.h"

struct case_db;

/*
 * snapshots_pair() - write the differences. Call once, after all members have been parsed and
 * before signatures.
 */
struct error *snapshots_pair(struct case_db *db);

#endif
