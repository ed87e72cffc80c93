/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_verdict.h - what the page's parts about verdicts share. Private to html_*.c. */
#ifndef KM_HTML_VERDICT_H
#define KM_HTML_VERDICT_H

#include "html.h"

/* verdict_is() - is @v's word @word? evidence_is() - the same of an item's role and outcome. */
bool verdict_is(struct json_object *v, const char *word);
bool evidence_is(struct json_object *e, const char *role, const char *outcome);
/* verdict_because_bytes() - of `because`, which rule decided, without the arithmetic. */
int verdict_because_bytes(struct json_object *v);
/* verdict_kernel() - the release of the kernel that the verdict's subject ran on; NULL unknown. */
const char *verdict_kernel(struct html *h, struct json_object *v);
/* html_subject() - "VM 1 (qemu, tgid 347), vCPU 0, from ... to ... of perf.data", escaped. */
void html_subject(struct html *h, struct json_object *v);
/* js_string() - a string value; "" where it is none. */
const char *js_string(struct json_object *o);
/* html_reason() - why a verdict is what it is: the decisive sentence against it, or the rule. */
void html_reason(struct html *h, struct json_object *v);

#endif
