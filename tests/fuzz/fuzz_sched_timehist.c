// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_sched_timehist.c - parsers/sched_timehist.c */
#include "lines.h"

FUZZ_PARSER("perf sched timehist")
