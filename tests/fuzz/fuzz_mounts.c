// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_mounts.c - parsers/mounts.c */
#include "lines.h"

FUZZ_PARSER("mounts")
