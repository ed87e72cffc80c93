/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_fields.h - the text behind "NAME: " of a trace line into an event's slots (events.def).
 *
 * An event's name is looked up in a small hash table of the stream; its descriptor knows the
 * printed forms of the event (kernel renderings old and new, libtraceevent's plugins) and which of
 * them came last. Where none fits, "field=value" pairs under the kernel's own names are read
 * ("trace-cmd report -R", "[FAILED TO PARSE]"). No allocation per line.
 *
 * Printed forms: TP_printk() of include/trace/events/{sched,kvm,irq,workqueue,syscalls}.h,
 * arch/x86/kvm/trace.h, arch/arm64/kvm/trace_arm.h; plugins/plugin_{sched_switch,kvm}.c of
 * libtraceevent.
 */
#ifndef KM_TRACE_FIELDS_H
#define KM_TRACE_FIELDS_H

#include "stream.h"

struct text_events;
struct text_event;

struct text_events *text_events_new(struct stream *s);
void text_events_free(struct text_events *te);

/*
 * text_event() - the descriptor of the event called @name (with @system where the form prints one,
 * else NULL); declares the event type in the stream when new. @fields is the text after "NAME: " of
 * its first line: "(func+0x0/0x70) ..." makes it a probe.
 */
struct text_event *text_event(struct text_events *te, const char *system, size_t system_len,
			      const char *name, size_t len, const char *fields, size_t fields_len);
/*
 * text_event_special() - an event that carries no name in the text, under the name and kind given.
 */
struct text_event *text_event_special(struct text_events *te, const char *name,
				      enum event_kind kind);

/*
 * text_event_decode() - fill ev->ev, kind, a[] and b[] from the text after "NAME: ". False when the text of a known event could not be
 * read: it is then an EV_OTHER of that name.
 */
bool text_event_decode(struct text_events *te, struct text_event *d, const char *fields, size_t len,
		       struct event *ev);

/*
 * text_syscall() - "sys_ioctl(fd: 3, cmd: ae01, arg: 0)" and "sys_ioctl -> 0x4": forms of syscalls:sys_enter_* and sys_exit_* without
 * a name. NULL when @rest is neither.
 */
struct text_event *text_syscall(struct text_events *te, const char *rest, size_t len,
				const char **fields);

/*
 * text_event_fields() - emit the fields that the text of event @name shows (for `events`).
 * Stateless.
 */
void text_event_fields(const char *name, size_t name_len, const char *fields, size_t len,
		       void (*emit)(void *arg, const char *name, const struct field_value *v),
		       void *arg);

/*
 * text_event_cut() - is this the beginning of a known event's text, but not all of it (a mailer
 * wrapped the line)? Stateless.
 */
bool text_event_cut(const char *name, size_t name_len, const char *fields, size_t len);

#endif
