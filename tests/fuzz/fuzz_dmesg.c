// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_dmesg.c - parsers/dmesg.c */
#include "lines.h"

FUZZ_PARSER("dmesg")
