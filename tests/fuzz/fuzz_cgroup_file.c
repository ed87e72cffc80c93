// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_cgroup_file.c - parsers/cgroup.c */
#include "lines.h"

FUZZ_NAMED("cgroup file")
