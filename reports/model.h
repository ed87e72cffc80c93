/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - what reports show, as JSON objects made from the case file.
 *
 * The JSON contract (design §9, doc/json.md) is the model of every report: `-f json` prints these
 * objects, the others lay out the same ones. A section is a table of SQL statements (model.c); --vm
 * and --vcpu are applied in that SQL.
 */
#ifndef KM_MODEL_H
#define KM_MODEL_H

#include <json-c/json.h>

#include "command.h"

enum model_section {
	MODEL_MEMBERS,
	MODEL_SOURCES,
	MODEL_SOURCES_COUNTED,
	MODEL_COVERAGE,
	MODEL_VERDICTS,
	MODEL_VMS,
	MODEL_STALLS,
	MODEL_STALL,
	MODEL_PATTERNS,
	MODEL_TOTALS,
	MODEL_LOSSES,
	MODEL_FACTS,
	MODEL_LOG_LINES,
	MODEL_EPISODES,
	MODEL_RUNQ_WAITS,
	MODEL_THROTTLES,
	MODEL_ROOTS,
	MODEL_RETRY_LOOPS,
	MODEL_PING_GAPS,
	MODEL_TIES,
	MODEL_EXITS,
	MODEL_LATENCY,
	MODEL_SLICES_AT,
	MODEL_N
};

/* model_key() - the section's name in JSON ("members", "rows" ...). */
const char *model_key(enum model_section section);

typedef struct error *(*model_fn)(void *arg, struct json_object *row);

/*
 * model_each() - call @fn for each object of @section in report order; the object is freed
 * afterwards (@fn may json_object_get() it).
 * @arg1 and @arg2 are the section's arguments, NULL where it has none:
 *   MODEL_STALLS      @arg1 at most so many (NULL: all)
 *   MODEL_STALL       @arg1 stall id
 *   MODEL_TIES        NULL: all; else @arg1 stall_id | episode_id, @arg2 the id
 *   MODEL_EXITS       @arg1 event (vmexit ...), @arg2 all | vm | vcpu
 *   MODEL_SLICES_AT   @arg1 time on the source's clock, @arg2 source id
 */
struct error *model_each(struct report_ctx *ctx, enum model_section section, const char *arg1,
			 const char *arg2, model_fn fn, void *arg);

/* model_array() - the same as one array; the caller puts it. */
struct error *model_array(struct report_ctx *ctx, enum model_section section, const char *arg1,
			  const char *arg2, struct json_object **ret);

/*
 * model_pick_stalls() - the stalls that chain --stall N or --at TIME mean, as an array; of none
 * given the longest. With --at and no stall at that time *@slices (else NULL) is an array of
 * MODEL_SLICES_AT.
 */
struct error *model_pick_stalls(struct report_ctx *ctx, struct json_object **stalls,
				struct json_object **slices);

/* Getters that never fail: "" or 0 where the member is missing or null. */
struct json_object *js_get(struct json_object *o, const char *key);
const char *js_str(struct json_object *o, const char *key);
int64_t js_int(struct json_object *o, const char *key);
bool js_has(struct json_object *o, const char *key);	/* there and not null */
size_t js_len(struct json_object *o, const char *key);	/* of an array */
struct json_object *js_at(struct json_object *o, const char *key, size_t i);

static inline void cleanup_json(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_		__attribute__((cleanup(cleanup_json)))

#endif
