// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_cgroup.c - parsers/cgroup.c */
#include "lines.h"

FUZZ_PARSER("cgroup")
