/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ties.h - stalls and episodes, and what pings and kernel logs say of the same time.
 *
 * Two things are tied only when their sources are on one axis (axis.h), and when they overlap
 * however the two clocks lie within their uncertainties.
 */
#ifndef KM_TIES_H
#define KM_TIES_H

#include "error.h"

struct case_db;

/* ties_write() - fill table tie; at most 20,000 rows, the longest overlaps. */
struct error *ties_write(struct case_db *db);

#endif
