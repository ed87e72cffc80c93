// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_strace.c - parsers/strace.c */
#include "lines.h"

FUZZ_PARSER("strace")
