// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_vmstat.c - parsers/vmstat.c */
#include "lines.h"

FUZZ_PARSER("vmstat")
