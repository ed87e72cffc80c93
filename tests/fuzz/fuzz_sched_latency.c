// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_sched_latency.c - parsers/sched_latency.c */
#include "lines.h"

FUZZ_PARSER("perf sched latency")
