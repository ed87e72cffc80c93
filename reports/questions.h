/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * questions.h - what kinds of question the input can answer, from coverage and from what rows
 * there are; one table, questions.c.
 */
#ifndef KM_QUESTIONS_H
#define KM_QUESTIONS_H

#include "model.h"

/*
 * questions_array() - one object a question: id, question, answer (yes, partly, no), because,
 * sources (ids of those that answer). The caller puts it.
 */
struct error *questions_array(struct report_ctx *ctx, struct json_object **ret);

#endif
