// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_perf_script.c - parsers/perf_script.c and what it splits lines and reads headers with. */
#include "lines.h"

FUZZ_PARSER("perf script")
