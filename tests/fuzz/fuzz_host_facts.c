// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_host_facts.c - the parsers of host facts that have no target of their own; the first byte
 * chooses one.
 */
#include "lines.h"

static const char *const formats[] = {
	"libvirt domain", "qemu command line",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = NULL;

	if (!size)
		return 0;
	copy = malloc(size - 1 ? size - 1 : 1);
	memcpy(copy, data + 1, size - 1);
	return fuzz_parser(formats[(size_t)data[0] % ARRAY_SIZE(formats)], "fuzz.txt", copy, size - 1);
}
