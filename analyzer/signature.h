/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signature.h - known bugs: YAML files (doc/signatures.md), their evidence over the case file, and verdicts (design §6).
 */
#ifndef KM_SIGNATURE_H
#define KM_SIGNATURE_H

#include "casefile.h"

struct signature;
struct catalogue;

/* catalogue_load() - the embedded signatures and those of @dirs (a directory's id replaces an embedded one of the same id). */
struct error *catalogue_load(struct catalogue **ret, const char *const *dirs, size_t n_dirs);
void catalogue_free(struct catalogue *c);
size_t catalogue_count(const struct catalogue *c);
const struct signature *catalogue_get(const struct catalogue *c, size_t i);	/* sorted by id */
const struct signature *catalogue_find(const struct catalogue *c, const char *id);
const char *signature_id(const struct signature *s);
const char *signature_title(const struct signature *s);
const char *signature_yaml(const struct signature *s);		/* the file's text */

/* verdicts_compute() - evaluate every signature on @db and write tables verdict and evidence, ordered by rank. */
struct error *verdicts_compute(struct case_db *db, const struct catalogue *c);

/* signature_lint() - check one file; findings go to @out, one line each ("FILE: what"); returns their number, -1 when the file can't be read. */
int signature_lint(const char *path, FILE *out);

/*
 * Kernel releases. kernel_in_range() judges `affects:` ranges in C: 1 affected, 0 not, -1 unknown.
 * kernel_has_fix(): 1 the release is known to carry the fix, 0 known not to, -1 unknown.
 */
struct kernel_version { bool known; int v[3]; int rc; char distro[16]; int distro_rel; int distro_build; char raw[80]; };
bool kernel_parse(const char *release, struct kernel_version *kv);
int kernel_cmp(const struct kernel_version *a, const struct kernel_version *b);

#endif
