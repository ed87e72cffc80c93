/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - what differs between two cases: verdicts, facts, where the vCPUs' time went, patterns,
 * exits, waits, calls, roots, rates of events.
 *
 * The comparison is SQL over both case files in one connection; its result is the temporary table
 *
 *   difference(section, name, good, bad, good_num, bad_num, unit, effect)
 *
 * section: verdict | fact | state | pattern | exit | delay | call | root | event, unit: text |
 * share (of the vCPUs' time) | ns | per_s | ratio | count; good and bad are the values as text
 * where the unit is text, else the numbers are in good_num and bad_num, NULL where a case does not
 * have it. effect says how much it matters: of times, the part of the vCPUs' time that the
 * difference makes up; of verdicts and facts an order of their own.
 */
#ifndef KM_DIFF_H
#define KM_DIFF_H

#include "casefile.h"

/* diff_build() - make the table in @bad's connection, which gets a copy of @good as schema `good`.
 */
struct error *diff_build(struct case_db *good, struct case_db *bad);

#endif
