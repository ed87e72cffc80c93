/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.h - for unit tests of analyses: feed generated events through a stream into an engine,
 * then ask the case.
 *
 * DRIVE_OPEN(d) ... drive_NAME(&d, ...) ... drive_close(&d): then drive_int(&d, "SELECT ...").
 * Times are given in ns.
 */
#ifndef KM_TEST_DRIVE_H
#define KM_TEST_DRIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "casefile.h"
#include "engine.h"
#include "stream.h"

struct drive {
	struct case_db		*db;
	struct engine		*engine;
	struct stream		*s;
	struct engine_options	opt;
	struct stream_ops	ops;
	uint64_t		pos;
};

static inline void drive_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->what);
}

static inline void drive_open(struct drive *d)
{
	static const struct source_desc desc = { .format = "test", .path = "test", .member_id = 1 };

	memset(d, 0, sizeof(*d));
	drive_ok(case_create(&d->db, NULL));
	d->engine = engine_create(d->db, &d->opt);
	drive_ok(stream_open(&d->s, d->db, &desc, &d->ops, d, &engine_consumer, d->engine));
}

/* Ends the recording: the rows are written. */
static inline void drive_close(struct drive *d)
{
	drive_ok(stream_close(d->s));
	engine_destroy(d->engine);
}

static inline void drive_free(struct drive *d)
{
	case_close(d->db);
}

/* First column of the first row; -1 where there is none or it is NULL. */
#define drive_int(d, sql)	case_int((d)->db, -1, sql, "")

static inline uint16_t drive_type(struct drive *d, const char *system, const char *name)
{
	return stream_event_type(d->s, system, name, EV_OTHER, COV_LISTED, COV_ALL, COV_SYSTEM);
}

static inline struct event *drive_next(struct drive *d, enum event_kind kind, uint16_t type,
				       uint64_t time, uint16_t cpu, int32_t tid)
{
	struct event *ev = stream_next(d->s);

	memset(ev, 0, sizeof(*ev));
	ev->kind = (uint8_t)kind;
	ev->ev = type;
	ev->time = time;
	ev->cpu = cpu;
	ev->tid = tid;
	ev->pos = d->pos += 8;
	return ev;
}

static inline void drive_switch(struct drive *d, uint64_t time, uint16_t cpu, int32_t prev,
				uint64_t prev_state, int32_t next, const char *next_comm)
{
	struct event *ev = drive_next(d, EV_SCHED_SWITCH, drive_type(d, "sched", "sched_switch"),
				      time, cpu, prev);

	comm_words(ev->a, next_comm, strlen(next_comm));
	ev->a[2] = (uint64_t)(int64_t)prev;
	ev->a[3] = prev_state;
	ev->b[0] = (uint32_t)next;
	ev->b[1] = 120;
	stream_push(d->s);
}

/* @kind: EV_SCHED_WAKING, EV_SCHED_WAKEUP or EV_SCHED_WAKEUP_NEW */
static inline void drive_wake(struct drive *d, enum event_kind kind, uint64_t time, uint16_t cpu,
			      int32_t by, int32_t tid, const char *comm, uint32_t target)
{
	const char *name = kind == EV_SCHED_WAKING   ? "sched_waking"
			   : kind == EV_SCHED_WAKEUP ? "sched_wakeup"
						     : "sched_wakeup_new";
	struct event *ev = drive_next(d, kind, drive_type(d, "sched", name), time, cpu, by);

	comm_words(ev->a, comm, strlen(comm));
	ev->a[3] = 1;
	ev->b[0] = (uint32_t)tid;
	ev->b[1] = target;
	stream_push(d->s);
}

static inline void drive_migrate(struct drive *d, uint64_t time, uint16_t cpu, int32_t by,
				 int32_t tid, uint32_t from, uint32_t to)
{
	struct event *ev = drive_next(d, EV_SCHED_MIGRATE,
				      drive_type(d, "sched", "sched_migrate_task"), time, cpu, by);

	ev->a[2] = from;
	ev->b[0] = (uint32_t)tid;
	ev->b[1] = to;
	stream_push(d->s);
}

static inline void drive_runtime(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid,
				 uint64_t ns)
{
	struct event *ev = drive_next(d, EV_SCHED_STAT_RUNTIME,
				      drive_type(d, "sched", "sched_stat_runtime"), time, cpu, tid);

	ev->a[0] = ns;
	ev->b[0] = (uint32_t)tid;
	stream_push(d->s);
}

static inline void drive_comm(struct drive *d, uint64_t time, int32_t tid, int32_t tgid,
			      const char *comm, enum task_source source)
{
	struct event *ev = drive_next(d, EV_TASK, EVENT_TYPE_NONE, time, EVENT_CPU_NONE, tid);

	comm_words(ev->a, comm, strlen(comm));
	ev->b[0] = (uint32_t)tgid;
	ev->b[1] = source;
	stream_push(d->s);
}

static inline void drive_fork(struct drive *d, uint64_t time, int32_t tid, int32_t tgid,
			      int32_t ptid, int32_t ptgid)
{
	struct event *ev = drive_next(d, EV_TASK_FORK, EVENT_TYPE_NONE, time, EVENT_CPU_NONE, ptid);

	ev->b[0] = (uint32_t)tid;
	ev->b[1] = (uint32_t)ptid;
	ev->a[0] = (uint64_t)(int64_t)tgid;
	ev->a[1] = (uint64_t)(int64_t)ptgid;
	stream_push(d->s);
}

static inline void drive_lost(struct drive *d, uint64_t time, uint16_t cpu, uint64_t n)
{
	struct event *ev = drive_next(d, EV_LOST, EVENT_TYPE_NONE, time, cpu, -1);

	ev->a[0] = n;
	stream_push(d->s);
}

static inline void drive_entry(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid,
			       uint32_t vcpu)
{
	drive_next(d, EV_KVM_ENTRY, drive_type(d, "kvm", "kvm_entry"), time, cpu, tid)->b[0] = vcpu;
	stream_push(d->s);
}

static inline void drive_exit(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid,
			      uint32_t vcpu, const char *reason)
{
	struct event *ev =
		drive_next(d, EV_KVM_EXIT, drive_type(d, "kvm", "kvm_exit"), time, cpu, tid);

	ev->b[0] = stream_reason(d->s, reason, strlen(reason));
	ev->b[1] = vcpu;
	stream_push(d->s);
}

static inline void drive_mmio(struct drive *d, uint64_t time, uint16_t cpu, int32_t tid,
			      uint32_t type, uint64_t gpa)
{
	struct event *ev =
		drive_next(d, EV_KVM_MMIO, drive_type(d, "kvm", "kvm_mmio"), time, cpu, tid);

	ev->a[0] = gpa;
	ev->b[0] = type;
	stream_push(d->s);
}

/* @kind: EV_KVM_PIO (port, rw) or EV_KVM_MSR (msr, write) */
static inline void drive_io(struct drive *d, enum event_kind kind, uint64_t time, uint16_t cpu,
			    int32_t tid, uint32_t port, uint32_t write)
{
	struct event *ev = drive_next(
		d, kind, drive_type(d, "kvm", kind == EV_KVM_PIO ? "kvm_pio" : "kvm_msr"), time,
		cpu, tid);

	ev->b[0] = port;
	ev->b[1] = write;
	stream_push(d->s);
}

/*
 * A probe called @name as its user called it (p_throttle, p_reweight ...): the stream decides its
 * kind and function.
 */
static inline void drive_probe(struct drive *d, const char *name, uint64_t time, uint16_t cpu,
			       int32_t tid, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	enum event_kind kind = strstr(name, "reweight") ? EV_PROBE_REWEIGHT : EV_OTHER;	/* parsers tell by arguments */
	uint16_t type =
		stream_event_type(d->s, "kprobes", name, kind, COV_LISTED, COV_ALL, COV_SYSTEM);
	struct event *ev = drive_next(d, d->s->types[type].kind, type, time, cpu, tid);

	ev->b[0] = d->s->types[type].func;
	ev->a[0] = a0;
	ev->a[1] = a1;
	ev->a[2] = a2;
	ev->a[3] = a3;
	stream_push(d->s);
}

#endif
