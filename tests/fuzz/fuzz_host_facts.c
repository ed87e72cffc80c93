// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_host_facts.c - the parsers of host facts that have no target of their own; the first byte
 * chooses one.
 */
#include "lines.h"

/* Names by which those are known that go by name. */
static const char *const names[] = {
	[2] = "proc/pressure/cpu", [5] = "debug/kvm/12-3/vcpu0/exits", [7] = "proc/12/schedstat", [16] = "qemu-server/100.conf",
};

static const char *const formats[] = {
	"libvirt domain", "qemu command line", "pressure", "interrupts", "cpuinfo", "kvm counters", "kvm_stat", "task",
	"schedstat", "stat", "sched features", "kallsyms", "top", "sysstat", "rtla", "perf lock contention",
	"proxmox vm",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = NULL;
	size_t i;

	if (!size)
		return 0;
	copy = malloc(size - 1 ? size - 1 : 1);
	memcpy(copy, data + 1, size - 1);
	i = (size_t)data[0] % ARRAY_SIZE(formats);
	if (i == 7 && data[0] >= 128)
		return fuzz_parser(formats[i], data[0] & 16 ? "proc/12/stat" : "proc/12/status", copy, size - 1);
	return fuzz_parser(formats[i], i < ARRAY_SIZE(names) && names[i] ? names[i] : "fuzz.txt", copy, size - 1);
}
