// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_ping.c - parsers/ping.c */
#include "lines.h"

FUZZ_PARSER("ping")
