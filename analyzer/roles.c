// SPDX-License-Identifier: GPL-2.0-or-later
/* roles.c - what a task is by its name; see engine.h. */
#include "engine.h"

#include <ctype.h>

/* Names of vCPU threads: QEMU's debug-threads, Firecracker, kvmtool, cloud-hypervisor, rust-vmm,
 * bhyve-like tests. */
static const struct vcpu_name {
	const char	*before, *after;
} vcpu_names[] = {
	{ "CPU ", "/KVM" }, { "CPU ", "/TCG" }, { "fc_vcpu ", "" }, { "kvm-vcpu-", "" }, { "vcpu", "" },
	{ "vcpu-", "" }, { "vcpu ", "" }, { "crosvm_vcpu", "" },
};

int comm_vcpu_number(const char *comm)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vcpu_names); i++) {
		size_t n = strlen(vcpu_names[i].before);
		const char *p = comm + n, *q;

		if (strncmp(comm, vcpu_names[i].before, n))
			continue;
		for (q = p; isdigit((unsigned char)*q) && q - p < 5; q++)
			;
		/* function_graph and some tools cut the name: "CPU 0/K" */
		if (q > p && (!strcmp(q, vcpu_names[i].after) ||
			      (*vcpu_names[i].after && q[0] == '/' &&
			       !strncmp(q, vcpu_names[i].after, strlen(q)))))
			return atoi(p);
	}
	return -1;
}

static const struct role_rule {
	const char	*prefix;
	enum task_role	role;
} role_rules[] = {
	{ "swapper", ROLE_IDLE }, { "<idle>", ROLE_IDLE },
	{ "vhost-", ROLE_VHOST }, { "kworker/", ROLE_KWORKER }, { "ksmd", ROLE_KSMD }, { "khugepaged", ROLE_KHUGEPAGED },
	{ "kvm-nx-lpage", ROLE_NX_RECOVERY }, { "migration/", ROLE_MIGRATION }, { "IO mon_iothread", ROLE_IOTHREAD },
	{ "IO iothread", ROLE_IOTHREAD }, { "IO ", ROLE_IOTHREAD }, { "qemu-", ROLE_VMM }, { "qemu:", ROLE_VMM },
	{ "kvm-pit", ROLE_KTHREAD }, { "ksoftirqd/", ROLE_KTHREAD }, { "rcu", ROLE_KTHREAD }, { "kcompactd", ROLE_KTHREAD },
	{ "kswapd", ROLE_KTHREAD }, { "irq/", ROLE_KTHREAD }, { "kthreadd", ROLE_KTHREAD }, { "cpuhp/", ROLE_KTHREAD },
	{ "firecracker", ROLE_VMM }, { "lkvm", ROLE_VMM }, { "cloud-hyperviso", ROLE_VMM }, { "perf", ROLE_RECORDER },
	{ "trace-cmd", ROLE_RECORDER }, { "bpftrace", ROLE_RECORDER },
};

enum task_role role_of_comm(const char *comm, bool kthread_hint)
{
	size_t i;

	if (comm_vcpu_number(comm) >= 0)
		return ROLE_VCPU;
	for (i = 0; i < ARRAY_SIZE(role_rules); i++)
		if (!strncmp(comm, role_rules[i].prefix, strlen(role_rules[i].prefix)))
			return role_rules[i].role;
	return kthread_hint ? ROLE_KTHREAD : ROLE_OTHER;
}

const char *role_name(enum task_role role)
{
	static const char *const names[ROLE_N] = {
		[ROLE_OTHER] = "other", [ROLE_IDLE] = "idle", [ROLE_VCPU] = "vcpu", [ROLE_VMM] = "vmm",
		[ROLE_IOTHREAD] = "iothread", [ROLE_VHOST] = "vhost", [ROLE_KWORKER] = "kworker", [ROLE_KSMD] = "ksmd",
		[ROLE_KHUGEPAGED] = "khugepaged", [ROLE_NX_RECOVERY] = "nx-recovery", [ROLE_MIGRATION] = "migration",
		[ROLE_KTHREAD] = "kthread", [ROLE_RECORDER] = "recorder",
	};

	return role < ROLE_N ? names[role] : "other";
}
