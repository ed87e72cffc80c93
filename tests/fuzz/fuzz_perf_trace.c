// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_perf_trace.c - parsers/perf_trace.c, call_log.c */
#include "lines.h"

FUZZ_PARSER("perf trace")
