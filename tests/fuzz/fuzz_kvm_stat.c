// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_kvm_stat.c - parsers/kvm_stat.c */
#include "lines.h"

FUZZ_PARSER("perf kvm stat")
