// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_numactl.c - parsers/numactl.c */
#include "lines.h"

FUZZ_PARSER("numactl")
