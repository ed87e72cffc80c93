// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_kernel_config.c - parsers/kernel_config.c */
#include "lines.h"

FUZZ_PARSER("kernel config")
