// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_perf_report.c - parsers/perf_report.c */
#include "lines.h"

FUZZ_PARSER("perf report")
