// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfetto.c - `-f perfetto`: the case as a Chrome JSON trace, which the Perfetto UI (and
 * chrome://tracing) open: a process per VM, a track per thread with its stalls and the links of
 * their causal chains, flow arrows from a waker's link to the wait that it ended, counters of the
 * vCPUs' states over time, logs and losses as instants. Times are microseconds on the source's own
 * clock; each source is its own group of processes.
 *
 * Format: "Trace Event Format" (events X, M, C, i, s, f).
 */
#include "model.h"

#define PID_SPAN 1000000 /* process ids of one source: tracks of different sources never mix */

struct out {
	FILE		*f;
	bool		any;
};

static void put(struct out *o, struct json_object *event)
{
	fprintf(o->f, "%s%s", o->any ? ",\n" : "",
		json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
	o->any = true;
	json_object_put(event);
}

static struct json_object *event(const char *phase, const char *name, int64_t pid, int64_t tid)
{
	struct json_object *e = json_object_new_object();

	json_object_object_add(e, "ph", json_object_new_string(phase));
	json_object_object_add(e, "name", json_object_new_string(name));
	json_object_object_add(e, "pid", json_object_new_int64(pid));
	json_object_object_add(e, "tid", json_object_new_int64(tid));
	return e;
}

/* Microseconds with the ns behind the point, exact: a double has not enough digits for wall clocks.
 */
static void add_time(struct json_object *e, const char *key, int64_t ns)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
	json_object_object_add(e, key, json_object_new_double_s((double)ns / 1e3, buf));
}

static int64_t pid_of(int64_t source, int64_t vm)
{
	return source * PID_SPAN + vm;
}

static void put_name(struct out *o, const char *what, int64_t pid, int64_t tid, const char *name)
{
	struct json_object *e = event("M", what, pid, tid), *args = json_object_new_object();

	json_object_object_add(args, "name", json_object_new_string(name));
	json_object_object_add(e, "args", args);
	put(o, e);
}

static struct error *put_processes(struct report_ctx *ctx, struct out *o)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(ctx->db, &st, "SELECT v.source_id, v.id, 'VM ' || v.id || coalesce(' (' || v.name || ')', '') || "
		       "coalesce(' in ' || s.path, '') FROM vm v JOIN source s ON s.id = v.source_id WHERE picked_vm(v.id)", ""));
	while (case_step(ctx->db, st, &err))
		put_name(o, "process_name", pid_of(sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)), 0,
			 (const char *)sqlite3_column_text(st, 2));
	case_done(st);
	TRY(err);
	TRY(case_query(ctx->db, &st, "SELECT id, 'host' || coalesce(' in ' || path, '') FROM source WHERE events > 0", ""));
	while (case_step(ctx->db, st, &err))
		put_name(o, "process_name", pid_of(sqlite3_column_int64(st, 0), 0), 0,
			 (const char *)sqlite3_column_text(st, 1));
	case_done(st);
	TRY(err);
	TRY(case_query(ctx->db, &st, "SELECT t.source_id, coalesce(t.vm_id, 0), t.tid, coalesce(t.comm, '') || ' ' || t.tid "
		       "FROM task t WHERE (t.vm_id IS NOT NULL AND picked_vm(t.vm_id)) OR EXISTS (SELECT 1 FROM chain_link l JOIN "
		       "stall s ON s.id = l.stall_id WHERE l.tid = t.tid AND s.source_id = t.source_id)", ""));
	while (case_step(ctx->db, st, &err))
		put_name(o, "thread_name", pid_of(sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)),
			 sqlite3_column_int64(st, 2), (const char *)sqlite3_column_text(st, 3));
	case_done(st);
	return err;
}

/* How much of each bin a vCPU spent in which state, in percent. */
static struct error *put_states(struct report_ctx *ctx, struct out *o)
{
	static const char *const states[] = { "guest", "host", "vmm", "halted", "waiting", "blocked", "unknown", "lost" };
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i;

	TRY(case_query(ctx->db, &st,
		       "SELECT b.source_id, v.vm_id, coalesce('vCPU ' || v.vcpu, 'vCPU of ' || v.tid), b.start_ns, b.duration_ns, "
		       "b.guest_ns, b.host_ns, b.vmm_ns, b.halted_ns, b.waiting_ns, b.blocked_ns, b.unknown_ns, b.lost_ns "
		       "FROM state_slice b JOIN vcpu v ON v.id = b.vcpu_id WHERE picked(v.vm_id, v.id) AND b.duration_ns > 0 "
		       "ORDER BY b.source_id, b.vcpu_id, b.start_ns", ""));
	while (case_step(ctx->db, st, &err)) {
		const char *vcpu = (const char *)sqlite3_column_text(st, 2);
		_cleanup_free_ char *name = xasprintf("%s: state (%%)", vcpu);
		struct json_object *e = event("C", name, pid_of(sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)), 0),
				   *args = json_object_new_object();

		for (i = 0; i < ARRAY_SIZE(states); i++)
			json_object_object_add(
				args, states[i],
				json_object_new_int64(sqlite3_column_int64(st, 5 + (int)i) * 100 /
						      sqlite3_column_int64(st, 4)));
		add_time(e, "ts", sqlite3_column_int64(st, 3));
		json_object_object_add(e, "args", args);
		put(o, e);
	}
	case_done(st);
	return err;
}

/* The process that a thread of @source is shown in. */
static int64_t home_of(struct report_ctx *ctx, int64_t source, int64_t tid)
{
	return pid_of(source, case_int(ctx->db, 0, "SELECT coalesce(vm_id, 0) FROM task WHERE source_id = ? AND tid = ? LIMIT 1",
				       "ii", source, tid));
}

static void put_flow(struct out *o, int64_t id, const char *phase, int64_t pid, int64_t tid,
		     int64_t ns)
{
	struct json_object *e = event(phase, "woken by", pid, tid);

	json_object_object_add(e, "cat", json_object_new_string("chain"));
	json_object_object_add(e, "id", json_object_new_int64(id));
	if (*phase == 'f')
		json_object_object_add(e, "bp", json_object_new_string("e"));
	add_time(e, "ts", ns);
	put(o, e);
}

static struct json_object *args_of(struct json_object *link)
{
	struct json_object *args = json_object_new_object(), *c = js_at(link, "cites", 0);

	json_object_object_add(args, "what", json_object_new_string(js_str(link, "what")));
	if (js_int(link, "inferred"))
		json_object_object_add(args, "inferred", json_object_new_boolean(true));
	if (c)
		json_object_object_add(args, "cite", json_object_get(c));
	return args;
}

static struct json_object *slice(const char *category, const char *name, int64_t pid, int64_t tid,
				 int64_t start, int64_t duration, struct json_object *args)
{
	struct json_object *e = event("X", name, pid, tid);

	json_object_object_add(e, "cat", json_object_new_string(category));
	add_time(e, "ts", start);
	add_time(e, "dur", duration);
	json_object_object_add(e, "args", args);
	return e;
}

/* A link of another thread than the stalled one: it is shown once more on its own thread's track.
 */
struct foreign {
	int64_t		id, pid, tid, start, duration;
	int64_t		to_pid, to_tid, woken;	/* where its arrow goes; woken 0: it has none */
	struct json_object *link;
};

struct stall_arg {
	struct report_ctx *ctx;
	struct out	*o;
	struct foreign	*f;
	size_t		n, cap;
};

static struct json_object *parent_of(struct json_object *stall, struct json_object *link)
{
	size_t i;

	for (i = 0; js_has(link, "parent") && i < js_len(stall, "links"); i++)
		if (js_int(js_at(stall, "links", i), "id") == js_int(link, "parent"))
			return js_at(stall, "links", i);
	return NULL;
}

static void put_link(struct stall_arg *a, struct json_object *stall, int64_t pid,
		     struct json_object *link)
{
	int64_t own = js_int(stall, "tid"), tid = js_has(link, "tid") ? js_int(link, "tid") : own,
		start = js_int(link, "start_ns"), duration = js_int(link, "duration_ns");
	const char *kind = js_str(link, "kind"), *what = js_str(link, "what");
	_cleanup_free_ char *name = tid == own ? xasprintf("%s%s%s", kind, *what ? ": " : "", what) :
				    xasprintf("%s: %s%s%s", js_str(link, "task"), kind, *what ? ": " : "", what);
	struct json_object *parent;

	/* on the stalled thread's track everything nests: links tile it, children lie in their
	 * parents */
	put(a->o, slice(kind, name, pid, own, start, duration, args_of(link)));
	if (tid == own || tid <= 0)
		return;
	GROW(a->f, a->cap, a->n + 1);
	parent = parent_of(stall, link);
	a->f[a->n] = (struct foreign){
		.id = js_int(link, "id"), .pid = home_of(a->ctx, js_int(stall, "source"), tid), .tid = tid,
		.start = start, .duration = duration, .to_pid = pid, .to_tid = own,
		.link = json_object_get(link),
	};
	if (parent && js_int(parent, "start_ns") + js_int(parent, "duration_ns") == start + duration)
		a->f[a->n].woken = start + duration;
	a->n++;
}

static struct error *put_stall(void *arg, struct json_object *stall)
{
	struct stall_arg *a = arg;
	int64_t tid = js_int(stall, "tid"), pid = home_of(a->ctx, js_int(stall, "source"), tid);
	_cleanup_free_ char *name = xasprintf("stall #%" PRId64 ": %s %s", js_int(stall, "id"), js_str(stall, "kind"),
					      js_str(stall, "what"));
	struct json_object *args = json_object_new_object();
	size_t i;

	json_object_object_add(args, "cause", json_object_new_string(js_str(stall, "cause")));
	put(a->o, slice("stall", name, pid, tid, js_int(stall, "start_ns"), js_int(stall, "duration_ns"), args));
	for (i = 0; i < js_len(stall, "links"); i++)
		put_link(a, stall, pid, js_at(stall, "links", i));
	return NULL;
}

static int by_track(const void *x, const void *y)
{
	const struct foreign *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/*
 * Slices of one track must not cross, and two chains may go through one thread at one time: each
 * thread has as many tracks for others' chains as lie side by side, up to LANES.
 */
#define LANES		8
#define LANE_TID	100000000	/* more than any thread id */

static void put_foreign(struct stall_arg *a)
{
	int64_t ends[LANES] = { 0 }, named = 0;
	size_t i;
	int lane;

	if (a->n)
		qsort(a->f, a->n, sizeof(*a->f), by_track);
	for (i = 0; i < a->n; i++) {
		struct foreign *f = &a->f[i];
		int64_t tid;

		if (!i || f->pid != f[-1].pid || f->tid != f[-1].tid) {
			memset(ends, 0, sizeof(ends));
			named = 0;
		}
		for (lane = 0; lane < LANES && ends[lane] > f->start; lane++)
			;
		if (lane == LANES)
			continue;
		tid = LANE_TID * (lane + 1) + f->tid;
		ends[lane] = f->start + f->duration;
		if (lane >= named) {
			_cleanup_free_ char *name = xasprintf("%s %" PRId64 ": in others' chains",
							      js_str(f->link, "task"), f->tid);

			put_name(a->o, "thread_name", f->pid, tid, name);
			named = lane + 1;
		}
		put(a->o, slice(js_str(f->link, "kind"), *js_str(f->link, "what") ? js_str(f->link, "what") :
				js_str(f->link, "kind"), f->pid, tid, f->start, f->duration, args_of(f->link)));
		if (!f->woken)
			continue;
		put_flow(a->o, f->id, "s", f->pid, tid, f->woken - 1);
		put_flow(a->o, f->id, "f", f->to_pid, f->to_tid, f->woken - 1);
	}
}

static struct error *put_instants(struct report_ctx *ctx, struct out *o)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(ctx->db, &st, "SELECT source_id, time_ns, 'events lost: ' || coalesce(events, 'unknown number') FROM loss "
		       "WHERE time_ns IS NOT NULL", ""));
	while (case_step(ctx->db, st, &err)) {
		struct json_object *e = event("i", (const char *)sqlite3_column_text(st, 2),
					      pid_of(sqlite3_column_int64(st, 0), 0), 0);

		json_object_object_add(e, "s", json_object_new_string("g"));
		add_time(e, "ts", sqlite3_column_int64(st, 1));
		put(o, e);
	}
	case_done(st);
	return err;
}

static struct error *perfetto_render(struct report_ctx *ctx)
{
	struct out o = { .f = ctx->out };
	struct stall_arg arg = { .ctx = ctx, .o = &o };
	struct error *err;
	size_t i;

	if (strcmp(ctx->view, "analyze"))
		return error_new(ERR_USAGE, "-f perfetto is made by `analyze` only");
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", ctx->out);
	err = put_processes(ctx, &o);
	if (!err)
		err = put_states(ctx, &o);
	if (!err)
		err = model_each(ctx, MODEL_STALLS, NULL, NULL, put_stall, &arg);
	if (!err)
		put_foreign(&arg);
	if (!err)
		err = put_instants(ctx, &o);
	fputs("\n]}\n", ctx->out);
	for (i = 0; i < arg.n; i++)
		json_object_put(arg.f[i].link);
	free(arg.f);
	return err;
}

static const struct report perfetto_report = {
	.format = "perfetto",
	.render = perfetto_render,
};
REGISTER(reports, &perfetto_report);
