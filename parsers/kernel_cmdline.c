// SPDX-License-Identifier: GPL-2.0-or-later
/* kernel_cmdline.c - what a kernel's command line sets; see kernel_cmdline.h. */
#include "kernel_cmdline.h"

#define MAX_PARAMETERS	256

/* With a dot at the end: all of that module. */
static const char *const wanted[] = {
	"isolcpus", "nohz_full", "nohz", "rcu_nocbs", "mitigations", "preempt", "tsc", "clocksource", "idle", "intel_idle.",
	"processor.", "intel_pstate", "numa_balancing", "transparent_hugepage", "default_hugepagesz", "hugepages", "hugepagesz",
	"kvm.", "kvm_intel.", "kvm_amd.", "split_lock_detect", "nosmt", "threadirqs", "nmi_watchdog", "nowatchdog", "nosoftlockup",
	"no-kvmclock", "nopvspin", "no-steal-acc", "cpuidle_haltpoll.", "haltpoll.", "rcupdate.", "rcutree.", "skew_tick",
	"irqaffinity", "systemd.unified_cgroup_hierarchy", "psi", "intel_iommu", "amd_iommu", "iommu", "spectre_v2", "nopti",
};

static bool is_wanted(struct scan name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t n = strlen(wanted[i]);

		if (wanted[i][n - 1] == '.' ? scan_left(&name) > n && !memcmp(name.p, wanted[i], n)
					    : span_is(name.p, scan_left(&name), wanted[i]))
			return true;
	}
	return false;
}

struct error *kernel_cmdline_facts(struct parse_ctx *ctx, int64_t source, const char *side,
				   struct scan c, int64_t cite)
{
	unsigned int n;

	for (n = 0; n < MAX_PARAMETERS; n++) {
		_cleanup_free_ char *key = NULL, *value = NULL;
		struct scan name;
		const char *eq;

		scan_blanks(&c);
		if (scan_at_end(&c))
			break;
		name.p = c.p;
		while (c.p < c.end && !is_blank(*c.p))
			c.p++;
		name.end = c.p;
		eq = memchr(name.p, '=', scan_left(&name));
		value = eq ? xstrndup(eq + 1, MIN((size_t)(name.end - eq - 1), (size_t)400)) : xstrdup("yes");
		if (eq)
			name.end = eq;
		if (span_is(name.p, scan_left(&name), "cgroup_favordynmods"))
			key = xstrdup("cgroup.favordynmods.cmdline");
		else if (is_wanted(name))
			key = xasprintf("cmdline.%.*s", (int)MIN(scan_left(&name), (size_t)64), name.p);
		if (key)
			TRY(case_fact(ctx->db, source, side, key, value, ctx->snapshot, cite));
	}
	return NULL;
}
