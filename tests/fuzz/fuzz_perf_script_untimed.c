// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_perf_script_untimed.c - parsers/perf_script_untimed.c */
#include "lines.h"

FUZZ_PARSER("perf script without times")
