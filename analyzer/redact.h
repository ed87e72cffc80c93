/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact.h - `--redact`: what names a customer is replaced in the case file, before any report is
 * made of it, so that every format shows the same placeholders.
 *
 * Replaced are the names of hosts, users and VMs that the case knows (facts, sources, log lines,
 * pings), wherever they stand; addresses (IPv4, IPv6, MAC, mail), UUIDs and absolute paths by their
 * form (the kernel's own /proc, /sys and /dev/kvm, and /usr, /lib and the like stay); of the paths
 * of members the parts that are no usual names of such files. One string has one placeholder
 * (host-1, ip-2 ...) in the whole report. The catalogue's own texts stay as they are.
 */
#ifndef KM_REDACT_H
#define KM_REDACT_H

#include "command.h"

struct redactor;

enum redact_kind {
	REDACT_HOST,
	REDACT_USER,
	REDACT_VM,
	REDACT_IP,
	REDACT_MAC,
	REDACT_MAIL,
	REDACT_UUID,
	REDACT_PATH,
	REDACT_FILE,
	REDACT_N
};

/*
 * case_redact() - rewrite @*db for opt->redact, and write the key to opt->redact_map where that is
 * given; without --redact nothing happens. A case file that can only be read is replaced by a copy
 * in memory. ERR_IO where the key can't be written.
 */
struct error *case_redact(struct case_db **db, const struct options *opt);

/* The parts, for tests. redactor_name() - @name is secret as @kind, wherever it stands as a word.
 */
struct redactor *redactor_create(void);
void redactor_free(struct redactor *r);
void redactor_name(struct redactor *r, enum redact_kind kind, const char *name);
/* redact_text() - @s with everything replaced; NULL where nothing was; malloc'd. */
char *redact_text(struct redactor *r, const char *s);
/* redact_member() - the same for the path of a member. */
char *redact_member(struct redactor *r, const char *path);

/* redact_find.c: the length of an address, UUID or path at @s (the start of a word), 0 for none. */
size_t redact_find(const char *s, enum redact_kind *kind);
/* redact_usual() - is this part of a member's path one that many such files are called? */
bool redact_usual(const char *part, size_t len);

#endif
