// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_values.c - parsers/values.c */
#include "lines.h"

FUZZ_NAMED("value")
