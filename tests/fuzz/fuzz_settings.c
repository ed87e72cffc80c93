// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_settings.c - parsers/values.c */
#include "lines.h"

FUZZ_PARSER("settings")
