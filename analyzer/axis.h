/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * axis.h - sources whose times can be compared are put on one axis (table axis; what is known and
 * how: doc/case-file.md, "One axis"), and what they say of one time is tied together (table tie).
 */
#ifndef KM_AXIS_H
#define KM_AXIS_H

#include "error.h"

struct case_db;

/*
 * axis_relate() - write tables axis and tie, clock's rows for the relations that were used, and the
 * wall clock of sources for which it follows. Call once, after all members have been read.
 */
struct error *axis_relate(struct case_db *db);

#endif
