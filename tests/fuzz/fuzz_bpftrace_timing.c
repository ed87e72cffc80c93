// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_bpftrace_timing.c - parsers/bpftrace_timing.c */
#include "lines.h"

FUZZ_PARSER("bpftrace timing")
