// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_ftrace_text.c - text traces: each event's slots in every printed form, headers, losses,
 * stacks, damage.
 */
#include "text_capture.h"

#define HEAD	"            bash-5       [003] d..1.    10.000001: "
#define PLUGIN	"            bash-5     [003]    10.000001: "

/* One event of a text, with the slots it must fill. */
struct want {
	const char	*text;		/* behind the line's head */
	const char	*type;
	enum event_kind	kind;
	uint64_t	a[4];
	uint32_t	b[2];
	const char	*comm;		/* in a[0..1], or a[2..3]; those are then not compared */
	const char	*reason;	/* b[0] not compared */
	const char	*func;		/* b[0] not compared */
	const char	*work;		/* a[1] not compared */
};

#define NO	EVENT_U32_NONE

static const struct want wants[] = {
	{ "sched_switch: prev_comm=CPU 0/KVM prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=a b=c next_pid=9 next_prio=98",
	  "sched_switch", EV_SCHED_SWITCH, { 0, 0, 7, TSTATE_PREEMPTED }, { 9, 98 }, .comm = "a b=c" },
	{ "sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=x next_pid=-1 next_prio=-1",
	  "sched_switch", EV_SCHED_SWITCH, { 0, 0, 0, 0 }, { UINT32_MAX, UINT32_MAX }, .comm = "x" },
	{ "sched_switch: prev_comm= next_pid=1 prev_pid=7 prev_prio=120 prev_state=D|K ==> next_comm= prev_pid=2 next_pid=9 next_prio=120",
	  "sched_switch", EV_SCHED_SWITCH, { 0, 0, 7, TSTATE_UNINTERRUPTIBLE }, { 9, 120 }, .comm = " prev_pid=2" },
	{ "sched_switch:         CPU 0/KVM:7 [120] S ==> kworker/0:1:17 [100]", "sched_switch", EV_SCHED_SWITCH,
	  { 0, 0, 7, TSTATE_INTERRUPTIBLE }, { 17, 100 }, .comm = "kworker/0:1" },
	{ "sched_switch:         rcu_preempt:15 [120] W ==> swapper/1:0 [120]", "sched_switch", EV_SCHED_SWITCH,
	  { 0, 0, 15, TSTATE_IDLE }, { 0, 120 }, .comm = "swapper/1" },
	{ "sched_switch: prev_comm=x prev_pid=3 prev_prio=120 prev_state=256 next_comm=y z next_pid=4 next_prio=120",
	  "sched_switch", EV_SCHED_SWITCH, { 0, 0, 3, TSTATE_PREEMPTED }, { 4, 120 }, .comm = "y z" },
	{ "sched_waking: comm=CPU 0/KVM pid=174 prio=120 target_cpu=026", "sched_waking", EV_SCHED_WAKING,
	  { 0, 0, 120, 1 }, { 174, 26 }, .comm = "CPU 0/KVM" },
	{ "sched_wakeup: comm=x pid=174 prio=120 success=0 target_cpu=001", "sched_wakeup", EV_SCHED_WAKEUP,
	  { 0, 0, 120, 0 }, { 174, 1 }, .comm = "x" },
	{ "sched_wakeup:         kworker/0:1:17 [120] CPU:003", "sched_wakeup", EV_SCHED_WAKEUP,
	  { 0, 0, 120, 1 }, { 17, 3 }, .comm = "kworker/0:1" },
	{ "sched_wakeup_new:     kthreadd:258 [120] success=1 CPU:001", "sched_wakeup_new", EV_SCHED_WAKEUP_NEW,
	  { 0, 0, 120, 1 }, { 258, 1 }, .comm = "kthreadd" },
	{ "sched_migrate_task: comm=rcu_preempt pid=15 prio=120 orig_cpu=1 dest_cpu=0", "sched_migrate_task", EV_SCHED_MIGRATE,
	  { 0, 0, 1, 0 }, { 15, 0 }, .comm = "rcu_preempt" },
	{ "sched_stat_runtime: comm=l1init pid=141 runtime=4404321 [ns] vruntime=19800673474 [ns]", "sched_stat_runtime",
	  EV_SCHED_STAT_RUNTIME, { 4404321, 19800673474 }, { 141, 0 }, .comm = "l1init" },
	{ "sched_stat_runtime: comm=l1init pid=141 runtime=4404321 [ns]", "sched_stat_runtime",
	  EV_SCHED_STAT_RUNTIME, { 4404321, 0 }, { 141, 0 }, .comm = "l1init" },
	{ "sched_process_fork: comm=kthreadd pid=2 child_comm=kt child_pid=258", "sched_process_fork", EV_SCHED_FORK,
	  { 0 }, { 258, 2 }, .comm = "kt" },
	{ "sched_process_exit: comm=hackbench pid=200 prio=120", "sched_process_exit", EV_SCHED_EXIT, { 0 }, { 200, 0 },
	  .comm = "hackbench" },
	{ "sched_process_exec: filename=/usr/bin/sleep pid=204 old_pid=205", "sched_process_exec", EV_SCHED_EXEC,
	  { 0 }, { 204, 205 }, .comm = NULL },
	{ "kvm_guest_enter: VCPU 2: pc=0xc000000000001234 pexcp=0x0 ceded=0", "kvm_guest_enter", EV_KVM_ENTRY, { 0xc000000000001234 }, { 2, 0 },
	  .comm = NULL },
	{ "kvm_guest_exit: VCPU 2: trap=HV_DECREMENTER pc=0xc000000000001238 msr=0x9000, ceded=0", "kvm_guest_exit", EV_KVM_EXIT,
	  { 0xc000000000001238 }, { 0, 2 }, .reason = "HV_DECREMENTER" },
	{ "kvm_s390_sie_enter: 01[0704d00180000000-0000000000123456]: entering sie flags 0", "kvm_s390_sie_enter", EV_KVM_ENTRY, { 0x123456 },
	  { 1, 0 }, .comm = NULL },
	{ "kvm_s390_sie_exit: 01[0704d00180000000-0000000000123458]: exit sie icptcode 4 (Instruction)", "kvm_s390_sie_exit", EV_KVM_EXIT,
	  { 0x123458 }, { 0, 1 }, .reason = "Instruction" },
	{ "kvm_entry: vcpu 0, rip 0xfff0", "kvm_entry", EV_KVM_ENTRY, { 0xfff0 }, { 0, 0 }, .comm = NULL },
	{ "kvm_entry: vcpu 3, rip 0xfff0[immediate exit]", "kvm_entry", EV_KVM_ENTRY, { 0xfff0 }, { 3, 0 }, .comm = NULL },
	{ "kvm_entry:             vcpu 2 rip 0xffffffff83a73916", "kvm_entry", EV_KVM_ENTRY, { 0xffffffff83a73916 }, { 2, 0 }, .comm = NULL },
	{ "kvm_entry: vcpu 1", "kvm_entry", EV_KVM_ENTRY, { 0 }, { 1, 0 }, .comm = NULL },
	{ "kvm_entry: PC: 0xffff800010011234", "kvm_entry", EV_KVM_ENTRY, { 0xffff800010011234 }, { NO, 0 }, .comm = NULL },
	{ "kvm_exit: vcpu 1 reason io rip 0xea50a info1 0x0000000000700040 info2 0x000000000000ea50c intr_info 0x80000306 error_code 0x00000002",
	  "kvm_exit", EV_KVM_EXIT, { 0xea50a, 0x700040, 0xea50c, 2 }, { 0, 1 }, .reason = "io" },
	{ "kvm_exit: reason EPT_VIOLATION rip 0xffffffff81059a76 info 184 0", "kvm_exit", EV_KVM_EXIT,
	  { 0xffffffff81059a76, 0x184, 0 }, { 0, NO }, .reason = "EPT_VIOLATION" },
	{ "kvm_exit: vcpu 0 reason UD excp rip 0x10 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0", "kvm_exit", EV_KVM_EXIT,
	  { 0x10 }, { 0, 0 }, .reason = "UD excp" },
	{ "kvm_exit:             reason EXIT_NPF rip 0xfff0 info 100000014 fffffff0", "kvm_exit", EV_KVM_EXIT,
	  { 0xfff0, 0x100000014, 0xfffffff0 }, { 0, NO }, .reason = "npf" },
	{ "kvm_exit:             vcpu 5 reason EXIT_EXCP_UD rip 0x1 info 0 0", "kvm_exit", EV_KVM_EXIT, { 1 }, { 0, 5 },
	  .reason = "UD excp" },
	{ "kvm_exit: TRAP: HSR_EC: 0x0024 (DABT_LOW), PC: 0x000000004008a2b4", "kvm_exit", EV_KVM_EXIT,
	  { 0x4008a2b4, 0x24 }, { 0, NO }, .reason = "TRAP" },
	{ "kvm_exit: exit_reason=1024 guest_rip=0xe05b isa=2 info1=0x14 info2=0xfe05b intr_info=0x0 error_code=0x0 vcpu_id=7",
	  "kvm_exit", EV_KVM_EXIT, { 0xe05b, 0x14, 0xfe05b }, { 0, 7 }, .reason = "npf" },
	{ "kvm_userspace_exit: reason KVM_EXIT_IO (2)", "kvm_userspace_exit", EV_KVM_USERSPACE_EXIT, { 0 }, { 2, 0 }, .comm = NULL },
	{ "kvm_userspace_exit: reason restart (4)", "kvm_userspace_exit", EV_KVM_USERSPACE_EXIT, { 0 }, { NO, (uint32_t)-4 }, .comm = NULL },
	{ "kvm_page_fault: vcpu 0 rip 0xfff0 address 0x00000000fffffff0 error_code 0x100000014", "kvm_page_fault",
	  EV_KVM_PAGE_FAULT, { 0xfffffff0, 0x100000014, 0xfff0 }, { 0, 0 }, .comm = NULL },
	{ "kvm_page_fault: address fee000b0 error_code 181", "kvm_page_fault", EV_KVM_PAGE_FAULT, { 0xfee000b0, 0x181 }, { NO, 0 }, .comm = NULL },
	{ "kvm_inj_virq: IRQ 0xec [reinjected]", "kvm_inj_virq", EV_KVM_INJ_VIRQ, { 0 }, { 0xec, 0 }, .comm = NULL },
	{ "kvm_inj_virq: irq 236", "kvm_inj_virq", EV_KVM_INJ_VIRQ, { 0 }, { 236, 0 }, .comm = NULL },
	{ "kvm_vcpu_wakeup: wait time 123456 ns, polling invalid", "kvm_vcpu_wakeup", EV_KVM_VCPU_WAKEUP, { 123456 }, { 1, 0 }, .comm = NULL },
	{ "kvm_vcpu_wakeup: poll time 99 ns", "kvm_vcpu_wakeup", EV_KVM_VCPU_WAKEUP, { 99 }, { 0, 1 }, .comm = NULL },
	{ "kvm_halt_poll_ns: vcpu 2: halt_poll_ns 20000 (grow 10000)", "kvm_halt_poll_ns", EV_KVM_HALT_POLL_NS,
	  { 20000, 10000 }, { 2, 0 }, .comm = NULL },
	{ "kvm_halt_poll_ns: vcpu 2: halt_poll_ns 0 (shrink 10000)", "kvm_halt_poll_ns", EV_KVM_HALT_POLL_NS,
	  { 0, 10000 }, { 2, 0 }, .comm = NULL },
	{ "kvm_msr: msr_write 4b564d01 = 0xe8c21", "kvm_msr", EV_KVM_MSR, { 0xe8c21 }, { 0x4b564d01, 1 }, .comm = NULL },
	{ "kvm_msr: msr_read 10 = 0x5 (#GP)", "kvm_msr", EV_KVM_MSR, { 5 }, { 0x10, 0 }, .comm = NULL },
	{ "kvm_cr: cr_write 0 = 0x80050033", "kvm_cr", EV_KVM_CR, { 0x80050033 }, { 0, 1 }, .comm = NULL },
	{ "kvm_pio: pio_write at 0x70 size 1 count 1 val 0x8f ", "kvm_pio", EV_KVM_PIO, { 1, 1, 0x8f }, { 0x70, 1 }, .comm = NULL },
	{ "kvm_pio: pio_read at 0x1f0 size 2 count 256", "kvm_pio", EV_KVM_PIO, { 2, 256, 0 }, { 0x1f0, 0 }, .comm = NULL },
	{ "kvm_mmio: mmio unsatisfied-read len 4 gpa 0xfee000f0 val 0x0", "kvm_mmio", EV_KVM_MMIO, { 0xfee000f0, 0 }, { 0, 4 }, .comm = NULL },
	{ "kvm_mmio: mmio write len 8 gpa 0xfec00000 val 0x1ff", "kvm_mmio", EV_KVM_MMIO, { 0xfec00000, 0x1ff }, { 2, 8 }, .comm = NULL },
	{ "kvm_fast_mmio: fast mmio at gpa 0xfe003000", "kvm_fast_mmio", EV_KVM_FAST_MMIO, { 0xfe003000 }, { 0, 0 }, .comm = NULL },
	{ "kvm_smm_transition: vcpu 0: entering SMM, smbase 0x30000", "kvm_smm_transition", EV_KVM_SMM, { 0x30000 }, { 0, 1 }, .comm = NULL },
	{ "kvm_smm_transition: vcpu 4: leaving SMM, smbase 0x7ffb1000", "kvm_smm_transition", EV_KVM_SMM, { 0x7ffb1000 }, { 4, 0 }, .comm = NULL },
	{ "kvm_unmap_hva_range: mmu notifier unmap range: 0x007fbcc7e00000 -- 0x007fbcd3e00000", "kvm_unmap_hva_range",
	  EV_KVM_UNMAP_HVA, { 0x7fbcc7e00000, 0x7fbcd3e00000 }, { 0, 0 }, .comm = NULL },
	{ "sys_enter: NR 16 (3, ae01, ffffffffffffffff, 0, 1, 2)", "sys_enter", EV_SYS_ENTER, { 3, 0xae01, UINT64_MAX }, { 16, 0 }, .comm = NULL },
	{ "sys_exit: NR 16 = -4", "sys_exit", EV_SYS_EXIT, { (uint64_t)-4 }, { 16, 0 }, .comm = NULL },
	{ "sys_ioctl(fd: 3, cmd: ae01, arg: ff)", "sys_enter_ioctl", EV_SYSCALL_ENTER, { 3, 0xae01, 0xff }, { 0 }, .func = "ioctl" },
	{ "sys_ioctl -> 0x4", "sys_exit_ioctl", EV_SYSCALL_EXIT, { 4 }, { 0 }, .func = "ioctl" },
	{ "sys_enter_ioctl:      fd: 0x00000003, cmd: 0x0000ae01, arg: 0x00000000", "sys_enter_ioctl", EV_SYSCALL_ENTER,
	  { 3, 0xae01, 0 }, { 0 }, .func = "ioctl" },
	{ "sys_exit_ioctl:       0x4", "sys_exit_ioctl", EV_SYSCALL_EXIT, { 4 }, { 0 }, .func = "ioctl" },
	{ "p_hv_track_root_tdp_0: (hv_track_root_tdp+0x0/0x70 [kvm]) si=0x18b082000", "p_hv_track_root_tdp_0", EV_PROBE_ROOT,
	  { 0x18b082000 }, { 0 }, .func = "hv_track_root_tdp" },
	{ "anyname: (hv_track_root_tdp+0x0/0x70 [kvm]) vcpu=0x5 root_tdp=0x77", "anyname", EV_PROBE_ROOT,
	  { 0x77 }, { 0 }, .func = "hv_track_root_tdp" },
	{ "p_hv_track_root_tdp_0: (ffffffffc0683a70) si=0x2e6a000", "p_hv_track_root_tdp_0", EV_PROBE_ROOT,
	  { 0x2e6a000 }, { 0 }, .func = "hv_track_root_tdp" },
	{ "p_reweight: (reweight_entity+0x0/0x2b0) se=0xffff8881 old=1048576 new=2 vruntime=123", "p_reweight", EV_PROBE_REWEIGHT,
	  { 0xffff8881, 1048576, 2, 123 }, { 0 }, .func = "reweight_entity" },
	{ "r_kvm: (kvm_dev_ioctl+0x12/0x30 [kvm] <- kvm_mmu_post_init_vm) ret=0xfffffff4", "r_kvm", EV_PROBE_RETURN,
	  { 0xfffffff4 }, { 0 }, .func = "kvm_mmu_post_init_vm" },
	{ "r_tdp_mmu_zap_leafs:  (ffffffffc0a05eb0 <- ffffffffc0a07944)", "r_tdp_mmu_zap_leafs", EV_PROBE_RETURN,
	  { 0 }, { 0 }, .func = "tdp_mmu_zap_leafs" },
	{ "r_x_0: __probe_func=0xffffffffc0a05eb0 __probe_ret_ip=0xffffffffc0a07944 ret=0x9", "r_x_0", EV_PROBE_RETURN,
	  { 9 }, { 0 }, .func = "x" },
	{ "irq_handler_entry: irq=29 name=iwlwifi", "irq_handler_entry", EV_IRQ_ENTRY, { 0 }, { 29, 0 }, .comm = NULL },
	{ "softirq_exit: vec=1 [action=TIMER]", "softirq_exit", EV_SOFTIRQ_EXIT, { 0 }, { 1, 0 }, .comm = NULL },
	{ "workqueue_execute_start: work struct 00000000deadbeef: function vmstat_update", "workqueue_execute_start", EV_WQ_START,
	  { 0xdeadbeef }, { 0, 0 }, .work = "vmstat_update" },
	{ "funcgraph_entry:      ! 128.458 us  |    kvm_mmu_load [kvm]();", "funcgraph_entry", EV_FUNC_LEAF, { 128458 }, { 0, 1 },
	  .func = "kvm_mmu_load" },
	{ "funcgraph_exit:         1.234 us   |  }", "funcgraph_exit", EV_FUNC_EXIT, { 1234 }, { NO, 0 }, .comm = NULL },
	{ "schedule <-worker_thread", "function", EV_OTHER, { 0 }, { 0 }, .func = "schedule" },
	{ "kvm_set_irq: gsi 4 level 0 source 0", "kvm_set_irq", EV_KVM_SET_IRQ, { 0 }, { 4, 0 }, .comm = NULL },
	{ "kvm_exit: cut off here", "kvm_exit", EV_OTHER, { 0 }, { 0, NO }, .comm = NULL },
};

static void check_event(const struct want *w, const struct seen *e)
{
	size_t i, comm_at = e->ev.kind == EV_SCHED_STAT_RUNTIME ? 2 : 0;

	if (e->ev.kind != w->kind)
		fail_msg("kind %d, not %d: %s", e->ev.kind, w->kind, w->text);
	assert_string_equal(e->type, w->type);
	for (i = 0; i < 4; i++)
		if (!(w->comm && (i == comm_at || i == comm_at + 1)) && !(w->work && i == 1) &&
		    e->ev.a[i] != w->a[i])
			fail_msg("a%zu is 0x%" PRIx64 ", not 0x%" PRIx64 ": %s", i, e->ev.a[i], w->a[i], w->text);
	if (!w->reason && !w->func && e->ev.b[0] != w->b[0])
		fail_msg("b0 is 0x%x, not 0x%x: %s", e->ev.b[0], w->b[0], w->text);
	if (e->ev.b[1] != w->b[1])
		fail_msg("b1 is 0x%x, not 0x%x: %s", e->ev.b[1], w->b[1], w->text);
	if (w->comm)
		assert_string_equal(e->comm, w->comm);
	if (w->reason)
		assert_string_equal(e->reason, w->reason);
	if (w->func)
		assert_string_equal(e->func, w->func);
	if (w->work)
		assert_string_equal(e->work, w->work);
}

/* Each text alone, and all of them in one recording, where each event's forms alternate. */
static void every_form(void **state)
{
	_cleanup_free_ char *all = xstrdup("");
	struct capture c;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		_cleanup_free_ char *line = xasprintf(HEAD "%s\n", wants[i].text);
		char *more = xasprintf("%s" HEAD "%s\n", all, wants[i].text);

		free(all);
		all = more;
		capture(&c, "ftrace", line);
		assert_int_equal(c.n_events, 1);
		assert_int_equal(c.n, 2);	/* and the task's name */
		check_event(&wants[i], &c.seen[1]);
		assert_int_equal(c.seen[1].ev.time, 10000001000);
		assert_int_equal(c.seen[1].ev.cpu, 3);
		assert_int_equal(c.seen[1].ev.tid, 5);
		assert_int_equal(c.seen[1].ev.flags, EVF_KNOWN | EVF_IRQS_OFF);
		capture_free(&c);
	}
	capture(&c, "ftrace", all);
	assert_int_equal(c.n_events, ARRAY_SIZE(wants));
	for (i = k = 0; i < c.n; i++)
		if (c.seen[i].ev.ev != EVENT_TYPE_NONE)
			check_event(&wants[k++], &c.seen[i]);
	assert_true(remark_has(&c, "text of 1 event not understood"));
	capture_free(&c);
}

/*
 * Truncated anywhere, an event is counted and either whole or EV_OTHER; nothing is read beyond the
 * text.
 */
static void cut_anywhere(void **state)
{
	size_t i, len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		for (len = 1; len < strlen(wants[i].text); len += 3) {
			_cleanup_free_ char *line = xasprintf(HEAD "%.*s", (int)len, wants[i].text);
			struct capture c;

			capture(&c, "ftrace", line);
			assert_true(c.n_events <= 1);
			capture_free(&c);
		}
	}
}

static void header_with_overrun(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "ftrace",
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/2161   #P:8\n#\n"
		"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |         |   |||||     |         |\n"
		"             cat-195     [000] .....    51.524730: sys_exit: NR 0 = 380\n"
		"##### CPU 1 buffer started ####\n"
		"             cat-205     [001] .....    51.524799: sys_exit: NR 0 = 380\n");
	assert_string_equal(c.format, "ftrace");
	assert_string_equal(c.clock, "local");
	assert_int_equal(c.cpus, 8);
	assert_int_equal(c.n_events, 2);
	assert_int_equal(c.n_lost, 2159);
	/* before the first event, the system; before CPU 1's first, CPU 1 */
	assert_int_equal(c.seen[0].ev.kind, EV_LOST);
	assert_int_equal(c.seen[0].ev.a[0], 2159);
	assert_int_equal(c.seen[0].ev.cpu, EVENT_CPU_NONE);
	assert_int_equal(c.seen[0].ev.time, 51524730000);
	assert_int_equal(nth(&c, EV_LOST, 1)->ev.cpu, 1);
	assert_int_equal(nth(&c, EV_LOST, 1)->ev.a[0], 0);
	assert_int_equal(nth(&c, EV_LOST, 1)->ev.time, 51524799000);
	assert_int_equal(nth(&c, EV_SYS_EXIT, 0)->line, 7);
	assert_int_equal(nth(&c, EV_SYS_EXIT, 1)->line, 9);
	assert_string_equal(nth(&c, EV_SYS_EXIT, 1)->cite, "cat-205     [001] .....    51.524799: sys_exit: NR 0 = 380");
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
}

static void losses_between_events(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "ftrace",
		"CPU:1 [LOST 1000 EVENTS]\n"
		"       hackbench-196     [001] .....    50.102354: sys_exit: NR 0 = 100\n"
		"CPU:0 [LOST 7 EVENTS]\nCPU:1 [12 EVENTS DROPPED]\nCPU:0 [EVENTS DROPPED]\n");
	assert_int_equal(c.n_lost, 1019);
	assert_int_equal(count_kind(&c, EV_LOST), 4);
	assert_int_equal(nth(&c, EV_LOST, 0)->ev.cpu, 1);
	assert_int_equal(nth(&c, EV_LOST, 3)->ev.cpu, 0);
	assert_int_equal(nth(&c, EV_LOST, 3)->ev.a[0], 0);
	capture_free(&c);
}

static void tasks_are_told_once(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "ftrace",
		"           <...>-143     (-----) [000] .....     1.000001: sys_exit: NR 0 = 1\n"
		"          l1init-143     (    140) [000] .....     1.000002: sys_exit: NR 0 = 1\n"
		"          l1init-143     (    140) [000] .....     1.000003: sys_exit: NR 0 = 1\n"
		"           <...>-143     (    140) [000] .....     1.000004: sys_exit: NR 0 = 1\n"
		"          l1init-143     (-----) [000] .....     1.000005: sys_exit: NR 0 = 1\n"
		"       CPU 0/KVM-143     (    140) [000] .....     1.000006: sys_exit: NR 0 = 1\n"
		"          <idle>-0       (      0) [000] .....     1.000007: sys_exit: NR 0 = 1\n");
	assert_int_equal(c.n_events, 7);
	assert_string_equal(nth(&c, EV_TASK, 0)->comm, "l1init");
	assert_int_equal(nth(&c, EV_TASK, 0)->ev.b[0], 140);
	assert_int_equal(nth(&c, EV_TASK, 0)->ev.tid, 143);
	assert_int_equal(nth(&c, EV_TASK, 0)->ev.time, 1000002000);
	assert_string_equal(nth(&c, EV_TASK, count_kind(&c, EV_TASK) - 1)->comm, "CPU 0/KVM");
	assert_true(count_kind(&c, EV_TASK) <= 4);
	capture_free(&c);
}

static void stacks(void **state)
{
	struct capture c;
	size_t i;

	(void)state;
	capture(&c, "ftrace",
		HEAD "sched_waking: comm=x pid=9 prio=120 target_cpu=000\n"
		HEAD "<stack trace>\n => try_to_wake_up+0x1c/0x40\n => kvm_vcpu_kick [kvm]\n => <ffffffff8dae1742>\n"
		HEAD "sched_wakeup: comm=x pid=9 prio=120 target_cpu=000\n"
		HEAD "<user stack trace>\n =>  <00007f44d871a018>\n");
	assert_string_equal(nth(&c, EV_STACK, 0)->stack, "try_to_wake_up\nkvm_vcpu_kick\nffffffff8dae1742");
	assert_int_equal(count_kind(&c, EV_STACK), 1);
	assert_int_equal(c.n_events, 4);
	/* the stack follows its event at once; the block itself is counted after it */
	for (i = 0; c.seen[i].ev.kind != EV_SCHED_WAKING; i++)
		;
	assert_int_equal(c.seen[i + 1].ev.kind, EV_STACK);
	assert_int_equal(c.seen[i + 1].ev.tid, 5);
	assert_int_equal(c.seen[i + 1].ev.cpu, 3);
	assert_string_equal(c.seen[i + 2].type, "kernel_stack");
	assert_string_equal(c.seen[c.n - 1].type, "user_stack");
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
	capture(&c, "trace-cmd report",
		"cpus=2\n" PLUGIN "sched_switch:         a:5 [120] R ==> b:6 [120]\n"
		PLUGIN "kernel_stack:         <stack trace >\n=> __schedule (ffffffff8e4474c8)\n=> schedule (ffffffff8e447a0a)\n\n"
		PLUGIN "sched_switch:         b:6 [120] R ==> a:5 [120]\n");
	assert_string_equal(nth(&c, EV_STACK, 0)->stack, "__schedule\nschedule");
	assert_string_equal(c.format, "trace-cmd report");
	assert_int_equal(c.cpus, 2);
	assert_int_equal(c.n_events, 3);
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
}

static void clocks(void **state)
{
	static const struct {
		const char *line, *clock;
		uint64_t time;
	} rows[] = {
		{ "bash-5 [000] d..1.    10.000001: a: b\n", "local", 10000001000 },
		{ "bash-5 [000] d..1.    10.000000001: a: b\n", "local", 10000000001 },
		{ "bash-5 [000] d..1.  1700000000.000001: a: b\n", "wall", 1700000000000001000 },
		{ "bash-5 [000] d..1.  4711: a: b\n", "unknown", 4711 },
		{ "bash-5  0d.s2   17us+: a: b\n", "unknown", 17000 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct capture c;

		capture(&c, "ftrace", rows[i].line);
		assert_int_equal(c.n_events, 1);
		assert_string_equal(c.clock, rows[i].clock);
		assert_int_equal(nth(&c, EV_OTHER, 0)->ev.time, rows[i].time);
		capture_free(&c);
	}
}

/* A second header begins another recording: the two must not feed one engine. */
static void two_recordings(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "ftrace",
		"# tracer: nop\n#\n" HEAD "kvm_entry: vcpu 0, rip 0x1\n"
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:2\n" HEAD "kvm_entry: vcpu 0, rip 0x2\n");
	assert_int_equal(c.streams, 2);
	assert_string_equal(c.path, "m#2");
	assert_int_equal(c.n_events, 2);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 1)->line, 7);
	capture_free(&c);
	capture(&c, "ftrace", "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n#\n");
	assert_int_equal(c.streams, 1);
	assert_int_equal(c.n_events, 0);
	capture_free(&c);
}

static void damaged_lines(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "ftrace",
		HEAD "kvm_entry: vcpu 0, rip 0x1\n"
		"            bash-5       [003] d..1.    10.000001: kvm_exit: vcpu 0 reason npf rip 0xfff0 info1\n"
		"0x14 info2 0x0 intr_info 0x0 error_code 0x0\n"
		HEAD "kvm_entry: vcpu 0, rip 0x1\n");
	assert_int_equal(c.n_events, 3);
	assert_int_equal(count_kind(&c, EV_KVM_ENTRY), 2);
	assert_int_equal(count_kind(&c, EV_KVM_EXIT), 0);
	assert_true(remark_has(&c, "1 of 4 lines not understood, the first is line 3"));
	assert_true(remark_has(&c, "text of 1 event not understood, first line 2 (kvm_exit)"));
	assert_true(c.ctx.partly);
	capture_free(&c);
}

/*
 * In a mail: quoted, wrapped in the head and in the fields, among prose that looks a little like
 * it.
 */
static void in_prose(void **state)
{
	static const char mail[] =
		"Date: Thu, 13 Apr 2023 11:53:24 +0200\nSubject: trace\n\n"
		"The ftrace output [000] looks like this: see 12.5: foo\n\n"
		"> qemu-system-x86-18971   [015] d.... 95922.997039: kvm_exit: vcpu 0 reason\n"
		"> EXCEPTION_NMI rip 0xfd0bd info1 0x0000000000000000 info2 0x0000000000000413\n"
		"> intr_info 0x80000306 error_code 0x00000000\n"
		"> qemu-system-x86-18971   [015] ..... 95922.997052: p_hv_track_root_tdp_0: (hv_track_root_tdp+0x0/0x70 [kvm]) si=0x18b082000\n"
		">  qemu-system-x86-18971   [015] d....\n>  95922.997133: kvm_entry: vcpu 0, rip 0xf7d6b\n\n"
		"# a comment of a script\nI think 3-4 [weeks] are enough. CPU:1 is fine.\n => so what\n";
	struct capture c;

	(void)state;
	capture(&c, NULL, mail);
	assert_int_equal(c.n_events, 3);
	assert_string_equal(nth(&c, EV_KVM_EXIT, 0)->reason, "EXCEPTION_NMI");
	assert_int_equal(nth(&c, EV_KVM_EXIT, 0)->ev.a[2], 0x413);
	assert_int_equal(nth(&c, EV_PROBE_ROOT, 0)->ev.a[0], 0x18b082000);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 0)->ev.a[0], 0xf7d6b);
	assert_string_equal(nth(&c, EV_KVM_EXIT, 0)->cite,
			    "qemu-system-x86-18971   [015] d.... 95922.997039: kvm_exit: vcpu 0 reason EXCEPTION_NMI rip 0xfd0bd "
			    "info1 0x0000000000000000 info2 0x0000000000000413 intr_info 0x80000306 error_code 0x00000000");
	assert_int_equal(nth(&c, EV_KVM_EXIT, 0)->line, 6);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 0)->line, 10);
	capture_free(&c);
	capture(&c, NULL, "Nothing here is a trace: [001] 12.5: foo bar-1 [2] x\n# tracer: is a word\nCPU:1 [LOST 3 EVENTS]\n");
	assert_int_equal(c.n_events, 0);
	assert_int_equal(c.streams, 0);
	capture_free(&c);
}

static void sniffing(void **state)
{
	static const struct {
		const char *text, *format;
	} rows[] = {
		{ "# tracer: nop\n#\n", "ftrace" },
		{ "# tracer: function\n#\n" HEAD "schedule <-worker_thread\n", "ftrace" },
		{ HEAD "kvm_entry: vcpu 0\n" HEAD "kvm_entry: vcpu 0\n", "ftrace" },
		{ "CPU:1 [LOST 1000 EVENTS]\n" HEAD "kvm_entry: vcpu 0\n", "ftrace" },
		{ "cpus=2\n" PLUGIN "kvm_entry:             vcpu 0 rip 0x1\n", "trace-cmd report" },
		{ "# tracer: function_graph\n#\n", "function_graph" },
		{ "cpus=2\nand nothing more\n", NULL },
		{ "Dear all,\n\n" HEAD "kvm_entry: vcpu 0\nwhat is this?\n", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct parser *p = recognise("x", (const uint8_t *)rows[i].text, strlen(rows[i].text));

		if (p && !strcmp(p->name, "text"))
			p = NULL;
		if (rows[i].format)
			assert_string_equal(p ? p->name : "none", rows[i].format);
		else
			assert_true(!p || (strcmp(p->name, "ftrace") && strcmp(p->name, "trace-cmd report")));
	}
}

/* Nor must headers make recordings without end. */
static void many_headers(void **state)
{
	static const char one[] = "# tracer: nop\nbash-5 [000] d..1. 10.000001: a: b\n";
	_cleanup_free_ char *text = xmalloc(300 * sizeof(one));
	struct capture c;
	size_t i;

	(void)state;
	for (i = 0; i < 300; i++)
		strcpy(text + i * (sizeof(one) - 1), one);
	capture(&c, "ftrace", text);
	assert_int_equal(c.streams, 64);
	assert_int_equal(c.n_events, 300);
	assert_true(remark_has(&c, "more than 64 recordings"));
	capture_free(&c);
}

/* Garbled names must not make types without end. */
static void many_names(void **state)
{
	size_t cap = 6000 * 80, len = 0;
	_cleanup_free_ char *text = xmalloc(cap);
	struct capture c;
	int i;

	(void)state;
	for (i = 0; i < 6000; i++)
		len += (size_t)snprintf(text + len, cap - len, "bash-5 [000] d..1. 10.000001: name_%d: x=%d\n", i, i);
	capture(&c, "ftrace", text);
	assert_int_equal(c.n_events, 6000);
	assert_string_equal(c.seen[c.n - 1].type, "(more event names)");
	capture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(header_with_overrun),
		cmocka_unit_test(losses_between_events),
		cmocka_unit_test(tasks_are_told_once),
		cmocka_unit_test(stacks),
		cmocka_unit_test(clocks),
		cmocka_unit_test(two_recordings),
		cmocka_unit_test(damaged_lines),
		cmocka_unit_test(in_prose),
		cmocka_unit_test(sniffing),
		cmocka_unit_test(many_names),
		cmocka_unit_test(many_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
