// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_forms.c - how events of the catalogue are printed, as tables; see trace_forms.h.
 *
 * Sources: TP_printk() of include/trace/events/{sched,kvm,irq,workqueue,syscalls}.h,
 * arch/x86/kvm/trace.h, arch/x86/kvm/mmu/mmutrace.h, arch/arm64/kvm/trace_arm.h of kernels 3.10
 * to 6.12; libtraceevent's plugins.
 */
#include "trace_forms.h"

#include <strings.h>

#define L(s)				(s), sizeof(s) - 1
#define OP(lit, conv, slot, name)	{ L(lit), C_##conv, S_##slot, S_NONE, 0, name, NULL, NULL }
#define OPT(lit, conv, slot, name)			\
	{ L(lit), C_##conv, S_##slot, S_NONE, FORM_OPTIONAL, name, NULL, NULL }
#define FIND(lit, conv, slot, name)			\
	{ L(lit), C_##conv, S_##slot, S_NONE, FORM_SEARCH, name, NULL, NULL }
#define FINDOPT(lit, conv, slot, name)		\
	{ L(lit), C_##conv, S_##slot, S_NONE, FORM_SEARCH | FORM_OPTIONAL, name, NULL, NULL }
#define ENUM(lit, list, slot, name)	{ L(lit), C_ENUM, S_##slot, S_NONE, 0, name, NULL, list }
#define WHO(lit, slot, slot2, n1, n2)	{ L(lit), C_COMM_PID, S_##slot, S_##slot2, 0, n1, n2, NULL }

static const char *const read_write[] = { "read", "write", NULL };
static const char *const mmio_types[] = { "unsatisfied-read", "read", "write", NULL };
static const char *const leaving_entering[] = { "leaving", "entering", NULL };
static const char *const poll_wait[] = { "poll", "wait", NULL };
static const char *const invalid_valid[] = { "invalid", "valid", NULL };

static const struct form_op switch_kernel[] = {
	OP("prev_comm=", COMM, NONE, "prev_comm"), OP(" prev_pid=", DEC, A2, "prev_pid"), OP(" prev_prio=", DEC, NONE, "prev_prio"),
	OP(" prev_state=", STATE, A3, "prev_state"), OP(" ==> next_comm=", COMM, A0, "next_comm"),
	OP(" next_pid=", DEC, B0, "next_pid"), OP(" next_prio=", DEC, B1, "next_prio"),
};
static const struct form_op switch_plugin[] = {
	WHO("", NONE, A2, "prev_comm", "prev_pid"), OP(" [", DEC, NONE, "prev_prio"), OP("] ", PSTATE, A3, "prev_state"),
	WHO(" ==> ", A0, B0, "next_comm", "next_pid"), OP(" [", DEC, B1, "next_prio"),
};
static const struct form_op wake_kernel[] = {
	OP("comm=", COMM, A0, "comm"), OP(" pid=", DEC, B0, "pid"), OP(" prio=", DEC, A2, "prio"),
	OPT(" success=", DEC, A3, "success"), OPT(" target_cpu=", DEC, B1, "target_cpu"),
};
static const struct form_op wake_plugin[] = {
	WHO("", A0, B0, "comm", "pid"), OP(" [", DEC, A2, "prio"), OPT("] success=", DEC, A3, "success"),
	OPT("]", TEXT, NONE, NULL), OPT(" CPU:", DEC, B1, "target_cpu"),
};
static const struct form_op migrate[] = {
	OP("comm=", COMM, A0, "comm"), OP(" pid=", DEC, B0, "pid"), OP(" prio=", DEC, NONE, "prio"),
	OP(" orig_cpu=", DEC, A2, "orig_cpu"), OP(" dest_cpu=", DEC, B1, "dest_cpu"),
};
static const struct form_op stat_runtime[] = {
	OP("comm=", COMM, A2, "comm"), OP(" pid=", DEC, B0, "pid"), OP(" runtime=", DEC, A0, "runtime"),
	OPT(" [ns]", TEXT, NONE, NULL), OPT(" vruntime=", DEC, A1, "vruntime"),
};
static const struct form_op fork_form[] = {
	OP("comm=", COMM, NONE, "parent_comm"), OP(" pid=", DEC, B1, "parent_pid"),
	OP(" child_comm=", COMM, A0, "child_comm"), OP(" child_pid=", DEC, B0, "child_pid"),
};
static const struct form_op exit_form[] = {
	OP("comm=", COMM, A0, "comm"), OP(" pid=", DEC, B0, "pid"), OPT(" prio=", DEC, NONE, "prio"),
};
static const struct form_op exec_form[] = {
	OP("filename=", TEXT, NONE, "filename"), OP(" pid=", DEC, B0, "pid"), OP(" old_pid=", DEC, B1, "old_pid"),
};

static const struct form_op entry_comma[] = { OP("vcpu ", DEC, B0, "vcpu_id"), OP(", rip ", HEX, A0, "rip") };
static const struct form_op entry_plugin[] = { OP("vcpu ", DEC, B0, "vcpu_id"), OPT(" rip ", HEX, A0, "rip") };
static const struct form_op entry_arm[] = { OP("PC: ", HEX, A0, "vcpu_pc") };
static const struct form_op entry_s390[] = {
	OP("", DEC, B0, "id"), OP("[", HEX, NONE, "pswmask"), OP("-", HEX, A0, "pswaddr"),
	OP("]: entering sie flags ", HEX, NONE, "cpuflags"),
};
static const struct form_op entry_ppc[] = { OP("VCPU ", DEC, B0, "vcpu_id"), OP(": pc=", HEX, A0, "pc") };
static const struct form_op exit_s390[] = {
	OP("", DEC, B1, "id"), OP("[", HEX, NONE, "pswmask"), OP("-", HEX, A0, "pswaddr"),
	OP("]: exit sie icptcode ", DEC, NONE, "icptcode"), OP(" (", REASON, B0, "icptcode"), OP(")", TEXT, NONE, NULL),
};
static const struct form_op exit_ppc[] = {
	OP("VCPU ", DEC, B1, "vcpu_id"), OP(": trap=", REASON, B0, "trap"), OP(" pc=", HEX, A0, "pc"),
};
static const struct form_op exit_new[] = {
	OP("vcpu ", DEC, B1, "vcpu_id"), OP(" reason ", REASON, B0, "exit_reason"), OP(" rip ", HEX, A0, "guest_rip"),
	OP(" info1 ", HEX, A1, "info1"), OP(" info2 ", HEX, A2, "info2"), OP(" intr_info ", HEX, NONE, "intr_info"),
	OP(" error_code ", HEX, A3, "error_code"), OPT(" requests ", HEX, NONE, "requests"),
};
static const struct form_op exit_vcpu_info[] = {
	OP("vcpu ", DEC, B1, "vcpu_id"), OP(" reason ", REASON, B0, "exit_reason"), OP(" rip ", HEX, A0, "guest_rip"),
	OPT(" info ", HEX, A1, "info1"), OPT(" ", HEX, A2, "info2"),
};
static const struct form_op exit_old[] = {
	OP("reason ", REASON, B0, "exit_reason"), OP(" rip ", HEX, A0, "guest_rip"),
	OPT(" info ", HEX, A1, "info1"), OPT(" ", HEX, A2, "info2"),
};
static const struct form_op exit_arm[] = {
	OP("", REASON, B0, "ret"), OP(": HSR_EC: ", HEX, A1, "esr_ec"), FIND(", PC: ", HEX, A0, "vcpu_pc"),
};
static const struct form_op fault_new[] = {
	OP("vcpu ", DEC, B0, "vcpu_id"), OP(" rip ", HEX, A2, "guest_rip"), OP(" address ", HEX, A0, "fault_address"),
	OP(" error_code ", HEX, A1, "error_code"),
};
static const struct form_op fault_old[] = {
	OP("address ", HEX, A0, "fault_address"), OP(" error_code ", HEX, A1, "error_code"), OPT(" rip ", HEX, A2, "guest_rip"),
};
static const struct form_op inj_virq[] = { FIND("IRQ 0x", HEX, B0, "vector") };
static const struct form_op inj_virq_soft[] = { FIND("INTn 0x", HEX, B0, "vector") };
static const struct form_op inj_virq_old[] = { OP("irq ", DEC, B0, "irq") };
static const struct form_op vcpu_wakeup[] = {
	ENUM("", poll_wait, B0, "waited"), OP(" time ", DEC, A0, "ns"), OPT(" ns", TEXT, NONE, NULL),
	{ L(", polling "), C_ENUM, S_B1, S_NONE, FORM_OPTIONAL, "valid", NULL, invalid_valid },
};
static const struct form_op halt_poll[] = {
	OP("vcpu ", DEC, B0, "vcpu_id"), OP(": halt_poll_ns ", DEC, A0, "new"), FIND(" (grow ", DEC, A1, "old"),
};
static const struct form_op halt_poll_shrink[] = {
	OP("vcpu ", DEC, B0, "vcpu_id"), OP(": halt_poll_ns ", DEC, A0, "new"), FINDOPT(" (shrink ", DEC, A1, "old"),
};
static const struct form_op msr[] = {
	ENUM("msr_", read_write, B1, "write"), OP(" ", HEX, B0, "ecx"), OPT(" = ", HEX, A0, "data"),
};
static const struct form_op cr[] = {
	ENUM("cr_", read_write, B1, "rw"), OP(" ", HEX, B0, "cr"), OP(" = ", HEX, A0, "val"),
};
static const struct form_op pio[] = {
	ENUM("pio_", read_write, B1, "rw"), OP(" at ", HEX, B0, "port"), OP(" size ", DEC, A0, "size"),
	OP(" count ", DEC, A1, "count"), OPT(" val ", HEX, A2, "val"),
};
static const struct form_op mmio[] = {
	ENUM("mmio ", mmio_types, B0, "type"), OP(" len ", DEC, B1, "len"), OP(" gpa ", HEX, A0, "gpa"),
	OPT(" val ", HEX, A1, "val"),
};
static const struct form_op fast_mmio[] = { OP("fast mmio at gpa ", HEX, A0, "gpa") };
static const struct form_op smm[] = {
	OP("vcpu ", DEC, B0, "vcpu_id"), ENUM(": ", leaving_entering, B1, "entering"), OP(" SMM, smbase ", HEX, A0, "smbase"),
};
static const struct form_op unmap_hva[] = {
	OP("mmu notifier unmap range: ", HEX, A0, "start"), OP(" -- ", HEX, A1, "end"),
};
static const struct form_op vmenter[] = { OP("rip: ", HEX, A0, "rip") };
static const struct form_op nested_exit_old[] = {
	OP("rip: ", HEX, A0, "rip"), OP(" reason: ", REASON, B0, "exit_code"), FINDOPT(" ext_inf1: ", HEX, NONE, "exit_info1"),
};
static const struct form_op spte_changed[] = {
	OP("as id ", DEC, NONE, "as_id"), OP(" gfn ", HEX, A0, "gfn"), OP(" level ", DEC, B0, "level"),
	OP(" old_spte ", HEX, A1, "old_spte"), OP(" new_spte ", HEX, A2, "new_spte"),
};
static const struct form_op sys_enter[] = {
	OP("NR ", DEC, B0, "id"), FIND("(", HEX, A0, "arg0"), OPT(", ", HEX, A1, "arg1"), OPT(", ", HEX, A2, "arg2"),
};
static const struct form_op sys_exit[] = { OP("NR ", DEC, B0, "id"), FIND(" = ", NUM, A0, "ret") };
static const struct form_op irq_entry[] = { OP("irq=", DEC, B0, "irq"), OPT(" name=", TEXT, NONE, "name") };
static const struct form_op irq_exit[] = { OP("irq=", DEC, B0, "irq"), OPT(" ret=", TEXT, NONE, "ret") };
static const struct form_op softirq[] = { OP("vec=", DEC, B0, "vec"), OPT(" [action=", TEXT, NONE, "action") };
static const struct form_op wq_queue[] = { OP("work struct=", HEX, A0, "work"), OPT(" function=", WORD, A1, "function") };
static const struct form_op wq_start[] = { OP("work struct ", HEX, A0, "work"), OPT(": function ", WORD, A1, "function") };

#define FORM(ops)	{ ops, ARRAY_SIZE(ops) }

static const struct form forms[EV_NKINDS][FORMS_MAX] = {
	[EV_SCHED_SWITCH] = { FORM(switch_kernel), FORM(switch_plugin) },
	[EV_SCHED_WAKING] = { FORM(wake_kernel), FORM(wake_plugin) },
	[EV_SCHED_WAKEUP] = { FORM(wake_kernel), FORM(wake_plugin) },
	[EV_SCHED_WAKEUP_NEW] = { FORM(wake_kernel), FORM(wake_plugin) },
	[EV_SCHED_MIGRATE] = { FORM(migrate) },
	[EV_SCHED_STAT_RUNTIME] = { FORM(stat_runtime) },
	[EV_SCHED_FORK] = { FORM(fork_form) },
	[EV_SCHED_EXIT] = { FORM(exit_form) },
	[EV_SCHED_EXEC] = { FORM(exec_form) },
	[EV_KVM_ENTRY] = { FORM(entry_comma), FORM(entry_plugin), FORM(entry_arm), FORM(entry_ppc),
			   FORM(entry_s390) },
	[EV_KVM_EXIT] = { FORM(exit_new), FORM(exit_old), FORM(exit_vcpu_info), FORM(exit_arm),
			  FORM(exit_ppc), FORM(exit_s390) },
	[EV_KVM_PAGE_FAULT] = { FORM(fault_new), FORM(fault_old) },
	[EV_KVM_INJ_VIRQ] = { FORM(inj_virq), FORM(inj_virq_old), FORM(inj_virq_soft) },
	[EV_KVM_VCPU_WAKEUP] = { FORM(vcpu_wakeup) },
	[EV_KVM_HALT_POLL_NS] = { FORM(halt_poll), FORM(halt_poll_shrink) },
	[EV_KVM_MSR] = { FORM(msr) },
	[EV_KVM_CR] = { FORM(cr) },
	[EV_KVM_PIO] = { FORM(pio) },
	[EV_KVM_MMIO] = { FORM(mmio) },
	[EV_KVM_FAST_MMIO] = { FORM(fast_mmio) },
	[EV_KVM_SMM] = { FORM(smm) },
	[EV_KVM_ENTER_SMM] = { FORM(smm) },
	[EV_KVM_UNMAP_HVA] = { FORM(unmap_hva) },
	[EV_KVM_NESTED_VMENTER] = { FORM(vmenter) },
	[EV_KVM_NESTED_VMEXIT] = { FORM(nested_exit_old), FORM(exit_new), FORM(exit_vcpu_info) },
	[EV_KVM_TDP_SPTE_CHANGED] = { FORM(spte_changed) },
	[EV_SYS_ENTER] = { FORM(sys_enter) },
	[EV_SYS_EXIT] = { FORM(sys_exit) },
	[EV_IRQ_ENTRY] = { FORM(irq_entry) },
	[EV_IRQ_EXIT] = { FORM(irq_exit) },
	[EV_SOFTIRQ_ENTRY] = { FORM(softirq) },
	[EV_SOFTIRQ_EXIT] = { FORM(softirq) },
	[EV_WQ_QUEUE] = { FORM(wq_queue) },
	[EV_WQ_START] = { FORM(wq_start) },
	[EV_WQ_END] = { FORM(wq_start) },
};

const struct form *forms_of(enum event_kind kind)
{
	return (unsigned int)kind < EV_NKINDS && forms[kind][0].n ? forms[kind] : NULL;
}

/* The catalogue's fields, a table per kind. */
#define F(slot, conv, names)		{ S_##slot, RAW_##conv, true, names, 0 },
#define O(slot, conv, names, dflt)	{ S_##slot, RAW_##conv, false, names, dflt },
#define EVENT(kind, system, name, ...) \
	static const struct raw_field raw_##kind[] = { __VA_ARGS__ };
#include "events.def"
#undef EVENT
#undef F
#undef O

const struct raw_field *raw_fields_of(enum event_kind kind, size_t *n)
{
	switch (kind) {
#define EVENT(kind_, system, name, ...)			\
	case EV_##kind_:				\
		*n = ARRAY_SIZE(raw_##kind_);		\
		return raw_##kind_;
#include "events.def"
#undef EVENT
	default:
		*n = 0;
		return NULL;
	}
}

static const struct {
	enum event_kind	kind;
	const char	*text;
} patterns[] = {
#define F(slot, conv, names)
#define O(slot, conv, names, dflt)
#define TEXT(pattern)			.text = pattern,
#define EVENT(kind_, system, name, ...)	[EV_##kind_] = { .kind = EV_##kind_, __VA_ARGS__ },
#include "events.def"
#undef EVENT
#undef F
#undef O
};

const char *pattern_of(enum event_kind kind)
{
	return (unsigned int)kind < ARRAY_SIZE(patterns) ? patterns[kind].text : NULL;
}

static const struct spelling {
	const char	*plugin, *kernel;
} spellings[] = {
	{ "INTR", "interrupt" }, { "IOIO", "io" }, { "VMMCALL", "hypercall" }, { "ERR", "invalid_guest_state" },
	{ "IDTR_READ", "read_idtr" }, { "GDTR_READ", "read_gdtr" }, { "LDTR_READ", "read_ldtr" }, { "TR_READ", "read_rt" },
	{ "IDTR_WRITE", "write_idtr" }, { "GDTR_WRITE", "write_gdtr" }, { "LDTR_WRITE", "write_ldtr" },
	{ "TR_WRITE", "write_rt" },
	{ "EXCP_DE", "DE excp" }, { "EXCP_DB", "DB excp" }, { "EXCP_BP", "BP excp" }, { "EXCP_OF", "OF excp" },
	{ "EXCP_BR", "BR excp" }, { "EXCP_UD", "UD excp" }, { "EXCP_NM", "NM excp" }, { "EXCP_DF", "DF excp" },
	{ "EXCP_TS", "TS excp" }, { "EXCP_NP", "NP excp" }, { "EXCP_SS", "SS excp" }, { "EXCP_GP", "GP excp" },
	{ "EXCP_PF", "PF excp" }, { "EXCP_MF", "MF excp" }, { "EXCP_AC", "AC excp" }, { "EXCP_MC", "MC excp" },
	{ "EXCP_XF", "XF excp" },
};

const char *plugin_reason(const char *name, size_t len)
{
	uint64_t code;
	size_t i;

	if (len <= 5 || memcmp(name, "EXIT_", 5))
		return NULL;
	name += 5;
	len -= 5;
	for (i = 0; i < ARRAY_SIZE(spellings); i++)
		if (strlen(spellings[i].plugin) == len && !memcmp(spellings[i].plugin, name, len))
			return spellings[i].kernel;
	/* The rest differs in case only. SVM's codes end at 0x403. */
	for (code = 0; code <= 0x403; code++) {
		const char *kernel = exit_reason_name(2, code);

		if (kernel && strlen(kernel) == len && !strncasecmp(kernel, name, len))
			return kernel;
	}
	return NULL;
}
