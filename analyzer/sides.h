/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sides.h - whose log it is, where only all logs together tell. */
#ifndef KM_SIDES_H
#define KM_SIDES_H

#include "casefile.h"

/*
 * sides_settle() - one kernel log says that it runs under KVM ("Hypervisor detected: KVM") and says
 * nothing of guests of its own; another says that it booted on bare hardware: the first is the
 * guest's, the second the host's, with all their facts and lines whose side is not known. A log
 * under KVM alone stays `unknown`: it may be a host that is itself a VM. Call once, after all
 * members have been parsed.
 */
struct error *sides_settle(struct case_db *db);

#endif
