// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_analyses.c - event sequences that no kernel would write, through a stream into the engine
 * and all analyses; then the accounts of the rows must still add up.
 *
 * Ten bytes an event: kind, CPU and flags, tid, three small arguments, a signed time step.
 */
#include "engine.h"
#include "lines.h"
#include "stream.h"

#define RECORD		10
#define MAX_EVENTS	4000
#define N_TIDS		8

static void must(struct error *err)
{
	if (err) {
		fprintf(stderr, "%s\n", err->what);
		abort();
	}
}

struct names {
	uint16_t	types[EV_NKINDS];
	uint32_t	func;
};

static const struct {
	enum event_kind	kind;
	const char	*system, *name;
} kinds[] = {
	{ EV_SCHED_SWITCH, "sched", "sched_switch" },
	{ EV_SCHED_WAKING, "sched", "sched_waking" },
	{ EV_SCHED_WAKEUP, "sched", "sched_wakeup" },
	{ EV_SCHED_WAKEUP_NEW, "sched", "sched_wakeup_new" },
	{ EV_SCHED_MIGRATE, "sched", "sched_migrate_task" },
	{ EV_SCHED_STAT_RUNTIME, "sched", "sched_stat_runtime" },
	{ EV_KVM_ENTRY, "kvm", "kvm_entry" },
	{ EV_KVM_EXIT, "kvm", "kvm_exit" },
	{ EV_KVM_MMIO, "kvm", "kvm_mmio" },
	{ EV_KVM_PIO, "kvm", "kvm_pio" },
	{ EV_KVM_MSR, "kvm", "kvm_msr" },
	{ EV_KVM_PAGE_FAULT, "kvm", "kvm_page_fault" },
	{ EV_KVM_USERSPACE_EXIT, "kvm", "kvm_userspace_exit" },
	{ EV_KVM_SET_IRQ, "kvm", "kvm_set_irq" },
	{ EV_KVM_WAIT_LAPIC_EXPIRE, "kvm", "kvm_wait_lapic_expire" },
	{ EV_KVM_NESTED_VMEXIT_INJECT, "kvm", "kvm_nested_vmexit_inject" },
	{ EV_HRTIMER_EXPIRE_ENTRY, "timer", "hrtimer_expire_entry" },
	{ EV_STACK, NULL, NULL },
	{ EV_PROBE_ENTER, "kprobes", "p_throttle_cfs_rq" },
	{ EV_PROBE_RETURN, "kprobes", "r_throttle_cfs_rq" },
	{ EV_PROBE_ROOT, "kprobes", "p_hv_track_root_tdp" },
	{ EV_PROBE_REWEIGHT, "kprobes", "p_reweight_entity" },
	{ EV_SYS_ENTER, "raw_syscalls", "sys_enter" },
	{ EV_SYS_EXIT, "raw_syscalls", "sys_exit" },
	{ EV_FUNC_ENTER, NULL, NULL },
	{ EV_FUNC_EXIT, NULL, NULL },
	{ EV_FUNC_LEAF, NULL, NULL },
	{ EV_TASK, NULL, NULL },
	{ EV_TASK_FORK, NULL, NULL },
	{ EV_TASK_EXIT, NULL, NULL },
	{ EV_LOST, NULL, NULL },
};

static void fill(struct stream *s, struct event *ev, const uint8_t *r, const struct names *n)
{
	static const uint64_t states[] = { 0, TSTATE_PREEMPTED, TSTATE_INTERRUPTIBLE,
					   TSTATE_ZOMBIE };
	enum event_kind kind = kinds[r[0] % ARRAY_SIZE(kinds)].kind;
	char comm[16];

	memset(ev, 0, sizeof(*ev));
	ev->kind = (uint8_t)kind;
	ev->ev = n->types[kind];
	ev->cpu = (r[1] & 7) == 7 ? EVENT_CPU_NONE : r[1] & 3;
	ev->tid = r[2] == 255 ? -1 : r[2] % N_TIDS;
	snprintf(comm, sizeof(comm), r[3] & 1 ? "CPU %u/KVM" : "qemu-%u", r[4] % N_TIDS);
	comm_words(ev->a, comm, strlen(comm));
	ev->b[0] = r[4] % N_TIDS;
	ev->b[1] = r[3] & 3;
	ev->a[2] = r[5] % N_TIDS;
	ev->a[3] = states[r[3] & 3];
	if (kind == EV_KVM_EXIT || kind == EV_KVM_NESTED_VMEXIT_INJECT)
		ev->b[0] = stream_reason(s, r[4] & 1 ? "hlt" : "npf", 3);
	else if (kind == EV_TASK_FORK || kind == EV_KVM_MMIO)
		ev->a[0] = r[5] % N_TIDS;
	else if (kind == EV_PROBE_ENTER || kind == EV_PROBE_RETURN)
		ev->b[0] = n->func;
	else if (kind == EV_PROBE_REWEIGHT)
		ev->a[1] = r[3] & 1 ? 2 : 1024;
	else if (kind == EV_STACK)
		ev->b[0] = r[3] & 1 ? stream_stack_text_id(s, "schedule", 8) : EVENT_U32_NONE;
	else if (kind == EV_FUNC_ENTER || kind == EV_FUNC_EXIT || kind == EV_FUNC_LEAF)
		ev->b[1] = r[5];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct source_desc desc = { .format = "fuzz", .path = "fuzz", .member_id = 1 };
	static const struct stream_ops ops;
	struct engine_options opt = { 0 };
	struct names names;
	struct case_db *db = fuzz_db();
	struct engine *e;
	struct stream *s;
	uint64_t time = NSEC_PER_SEC;
	size_t i;

	e = engine_create(db, &opt);
	must(stream_open(&s, db, &desc, &ops, NULL, &engine_consumer, e));
	for (i = 0; i < EV_NKINDS; i++)
		names.types[i] = EVENT_TYPE_NONE;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].name)
			names.types[kinds[i].kind] =
				stream_event_type(s, kinds[i].system, kinds[i].name, kinds[i].kind,
						  COV_LISTED, COV_ALL, COV_SYSTEM);
	names.func = strtab_id(&s->strings, "throttle_cfs_rq", strlen("throttle_cfs_rq"));
	for (i = 0; i < MAX_EVENTS && size >= RECORD; i++, data += RECORD, size -= RECORD) {
		int32_t step;
		struct event *ev = stream_next(s);

		fill(s, ev, data, &names);
		memcpy(&step, data + 6, sizeof(step));
		step >>= data[1] >> 3;	/* mostly small steps; some go back */
		if (step < 0 && (uint64_t)-(int64_t)step > time)
			step = 0;
		time += (uint64_t)(int64_t)step;
		ev->time = time;
		ev->pos = i;
		stream_push(s);
	}
	must(stream_close(s));
	engine_destroy(e);
	if (case_int(db, 0, "SELECT count(*) FROM runq_wait WHERE"
		     " idle_ns + sibling_ns + other_ns + unknown_ns <> duration_ns OR"
		     " min(idle_ns, sibling_ns, other_ns, unknown_ns) < 0", ""))
		abort();
	if (case_int(db, 0, "SELECT count(*) FROM runq_delay WHERE switches < 1 OR max_delay_ns < 0 OR"
		     " avg_delay_ns > max_delay_ns OR oncpu_ns < 0", ""))
		abort();
	if (case_int(db, 0, "SELECT count(*) FROM exit_stat WHERE count < 1 OR min_ns > max_ns OR"
		     " total_ns < max_ns OR max_ns < 0", ""))
		abort();
	return 0;
}
