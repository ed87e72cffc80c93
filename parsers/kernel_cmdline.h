/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_cmdline.h - what a kernel's command line (dmesg, /proc/cmdline) sets. */
#ifndef KM_KERNEL_CMDLINE_H
#define KM_KERNEL_CMDLINE_H

#include "scan.h"

/*
 * kernel_cmdline_facts() - facts `cmdline.NAME` of the parameters of @c that matter to scheduling,
 * time, memory and KVM ("yes" for those without value), and `cgroup.favordynmods.cmdline`; all cite
 * @cite. Names as the kernel's Documentation/admin-guide/kernel-parameters.txt has them.
 */
struct error *kernel_cmdline_facts(struct parse_ctx *ctx, int64_t source, const char *side,
				   struct scan c, int64_t cite);

#endif
