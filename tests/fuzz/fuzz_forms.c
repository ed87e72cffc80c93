// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_forms.c - further tables and dumps; the first byte chooses the parser: a letter, so that the
 * list may grow.
 */
#include "lines.h"

static const struct { char letter; const char *format, *name; } forms[] = {
	{ 'H', "smi", "hwlat.txt" },
	{ 'J', "journal export", "journal" },
	{ 'K', "kvm_stat log", "kvm_stat.csv" },
	{ 'L', "lscpu", "lscpu.txt" },
	{ 'M', "cpuinfo", "lscpu.json" },
	{ 'S', "sched debug", "sched_debug" },
	{ 'T', "perf top", "top.txt" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = NULL;
	size_t i;

	if (!size)
		return 0;
	copy = malloc(size - 1 ? size - 1 : 1);
	memcpy(copy, data + 1, size - 1);
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if ((char)data[0] == forms[i].letter)
			return fuzz_parser(forms[i].format, forms[i].name, copy, size - 1);
	return 0;
}
