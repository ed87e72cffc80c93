/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.h - for unit tests of analyses: a stream into a fresh engine and case file, and events written in one line each.
 * The record "position" is the event's number, so a test can see which event was cited.
 */
#ifndef KM_TEST_FEED_H
#define KM_TEST_FEED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine.h"

struct feed {
	struct case_db		*db;
	struct engine		*e;
	struct stream		*s;
	struct engine_options	opt;
	uint64_t		n;
};

static inline void ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->what);
}

static inline void feed_open(struct feed *f)
{
	struct source_desc desc = { .member_id = 1, .format = "test", .path = "test", .time_resolution_ns = 1 };

	memset(f, 0, sizeof(*f));
	ok(case_create(&f->db, NULL));
	f->e = engine_create(f->db, &f->opt);
	ok(stream_open(&f->s, f->db, &desc, NULL, NULL, &engine_consumer, f->e));
}

static inline uint16_t feed_type(struct feed *f, const char *system, const char *name)
{
	return stream_event_type(f->s, system, name, EV_OTHER, COV_LISTED, COV_ALL, COV_SYSTEM);
}

/* feed_event() - an event of declared type @type at @time µs on @cpu in task @tid; the caller fills a[] and b[] and calls feed_push(). */
static inline struct event *feed_event(struct feed *f, uint16_t type, uint64_t us, int cpu, int tid)
{
	struct event *ev = stream_next(f->s);

	memset(ev, 0, sizeof(*ev));
	ev->time = us * 1000;
	ev->pos = ++f->n;
	ev->cpu = (uint16_t)cpu;
	ev->tid = tid;
	ev->ev = type;
	ev->kind = type == EVENT_TYPE_NONE ? EV_OTHER : (uint8_t)f->s->types[type].kind;
	return ev;
}

static inline void feed_switch(struct feed *f, uint64_t us, int cpu, int prev, uint64_t state, int next, const char *comm)
{
	struct event *ev = feed_event(f, feed_type(f, "sched", "sched_switch"), us, cpu, prev);

	comm_words(ev->a, comm, strlen(comm));
	ev->a[2] = (uint64_t)prev;
	ev->a[3] = state;
	ev->b[0] = (uint32_t)next;
	stream_push(f->s);
}

static inline void feed_waking(struct feed *f, uint64_t us, int cpu, int waker, int wakee, const char *comm, uint8_t flags)
{
	struct event *ev = feed_event(f, feed_type(f, "sched", "sched_waking"), us, cpu, waker);

	comm_words(ev->a, comm, strlen(comm));
	ev->b[0] = (uint32_t)wakee;
	ev->b[1] = (uint32_t)cpu;
	ev->flags = flags;
	stream_push(f->s);
}

static inline void feed_task(struct feed *f, int tid, int tgid, const char *comm)
{
	struct event *ev = feed_event(f, EVENT_TYPE_NONE, 0, EVENT_CPU_NONE, tid);

	ev->kind = EV_TASK;
	comm_words(ev->a, comm, strlen(comm));
	ev->b[0] = tgid < 0 ? EVENT_U32_NONE : (uint32_t)tgid;
	stream_push(f->s);
}

static inline void feed_entry(struct feed *f, uint64_t us, int cpu, int tid, uint32_t vcpu)
{
	struct event *ev = feed_event(f, feed_type(f, "kvm", "kvm_entry"), us, cpu, tid);

	ev->b[0] = vcpu;
	stream_push(f->s);
}

static inline void feed_exit(struct feed *f, uint64_t us, int cpu, int tid, const char *reason, uint64_t rip, uint32_t vcpu)
{
	struct event *ev = feed_event(f, feed_type(f, "kvm", "kvm_exit"), us, cpu, tid);

	ev->a[0] = rip;
	ev->b[0] = stream_reason(f->s, reason, strlen(reason));
	ev->b[1] = vcpu;
	stream_push(f->s);
}

static inline void feed_lost(struct feed *f, uint64_t us, int cpu, uint64_t events)
{
	struct event *ev = feed_event(f, EVENT_TYPE_NONE, us, cpu, -1);

	ev->kind = EV_LOST;
	ev->a[0] = events;
	stream_push(f->s);
}

/* feed_close() - end of the recording: rows are in f->db afterwards. feed_free() - everything away. */
static inline void feed_close(struct feed *f)
{
	ok(stream_close(f->s));
	f->s = NULL;
}

static inline void feed_free(struct feed *f)
{
	engine_destroy(f->e);
	case_close(f->db);
}

/* feed_int() - one number out of the case file. */
#define feed_int(f, sql)	case_int((f)->db, -12345, sql, "")

#endif
