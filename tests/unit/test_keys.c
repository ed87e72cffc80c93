// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_keys.c - events counted by their keys (analyzer/an_keys.c), and how the catalogue's rows
 * (parsers/events.def) read the kernel's text of each.
 */
#include "drive.h"

#include "event_keys.h"
#include "parser.h"
#include "textfeed.h"

#define MS	1000000ull
#define NO	INT64_MIN

/* A text as the kernel prints it; its key, value and vCPU. */
static const struct want {
	const char	*text, *key;
	int64_t		value;
	int		vcpu;		/* -1: none but the thread's, which is none */
} wants[] = {
	{ "kvm_userspace_exit: reason KVM_EXIT_IOAPIC_EOI (26)", "reason=26", NO, -1 },
	{ "kvm_userspace_exit: reason error (14)", "errno=14", NO, -1 },
	{ "kvm_userspace_exit: reason restart (4)", "errno=4", NO, -1 },
	{ "kvm_pio: pio_write at 0xcf8 size 4 count 1 val 0x1", "port=0xcf8 rw=1", NO, -1 },
	{ "kvm_msr: msr_read c0000080 = 0x1", "ecx=0xc0000080 write=0", NO, -1 },
	{ "kvm_inj_virq: IRQ 0xec [reinjected]", "vector=0xec", NO, -1 },
	{ "kvm_halt_poll_ns: vcpu 3: halt_poll_ns 20000 (grow 10000)", "", 20000, 3 },
	{ "kvm_vcpu_wakeup: poll time 99 ns, polling invalid", "waited=0 valid=0", 99, -1 },
	{ "kvm_page_fault: vcpu 3 rip 0xfff0 address 0x1000 error_code 0x181", "", NO, 3 },
	{ "kvm_mmio: mmio write len 4 gpa 0xfee000b0 val 0x0", "gpa=0xfee000b0 type=2", NO, -1 },
	{ "workqueue_execute_start: work struct 00000000abcd: function irqfd_inject [kvm]", "function=irqfd_inject", NO, -1 },
	{ "workqueue_queue_work: work struct=00000000abcd function=irqfd_inject [kvm] workqueue=x req_cpu=1 cpu=1",
	  "function=irqfd_inject", NO, -1 },
	{ "kvm_set_irq: gsi 19 level 1 source 0", "gsi=19 level=1", NO, -1 },
	{ "kvm_msi_set_irq: dst 1f vec 65 (Fixed|physical|edge)", "vec=65 dst=31", NO, -1 },
	{ "kvm_msi_set_irq: dst 1 vec=65 (Fixed|physical|edge)", "vec=65 dst=1", NO, -1 },
	{ "kvm_ioapic_set_irq: pin 19 dst 1 vec 129 (Fixed|physical|level|masked)", "pin=19 masked=1", NO, -1 },
	{ "kvm_ioapic_set_irq: pin 19 dst 1 vec=129 (Fixed|physical|level) (coalesced)", "pin=19 masked=0", NO, -1 },
	{ "kvm_ioapic_delayed_eoi_inj: dst 1 vec 129 (Fixed|physical|level)", "vec=129", NO, -1 },
	{ "kvm_pic_set_irq: chip 1 pin 4 (edge|masked)", "chip=1 pin=4", NO, -1 },
	{ "kvm_ack_irq: irqchip IOAPIC pin 19", "irqchip=2 pin=19", NO, -1 },
	{ "kvm_ack_irq: irqchip PIC slave pin 2", "irqchip=1 pin=2", NO, -1 },
	{ "kvm_eoi: apicid 1f vector 129", "vector=129 apicid=31", NO, -1 },
	{ "kvm_pv_eoi: apicid 0 vector 129", "vector=129 apicid=0", NO, -1 },
	{ "kvm_apic: apic_write APIC_EOI = 0x0", "reg=APIC_EOI rw=1", NO, -1 },
	{ "kvm_apic: apic_read 0x3b0 = 0x0", "reg=0x3b0 rw=0", NO, -1 },
	{ "kvm_apic_ipi: dst 1 vec 253 (Fixed|physical|assert|edge|dst)", "vec=253 dst=1", NO, -1 },
	{ "kvm_apic_accept_irq: apicid 1 vec 253 (Fixed|edge)", "vec=253 apicid=1", NO, -1 },
	{ "kvm_apicv_accept_irq: apicid 1 vec 253 (Fixed|edge)", "vec=253 apicid=1", NO, -1 },
	{ "kvm_inj_exception: #PF (0x2) [reinjected]", "exception=#PF", NO, -1 },
	{ "kvm_wait_lapic_expire: vcpu 3: delta -1234 (early)", "", -1234, 3 },
	{ "kvm_hv_timer_state: vcpu_id 3 hv_timer 1", "hv_timer_in_use=1", NO, 3 },
	{ "kvm_pi_irte_update: PI is enabled and being updated for irq 30, vcpu 3, gsi: 0x18, gvec: 0x41", "gsi=24", NO, 3 },
	{ "kvm_apicv_inhibit_changed: set reason=1, inhibits=0x2 HYPERV", "reason=1 set=1", NO, -1 },
	{ "kvm_apicv_update_request: deactivate reason=1", "reason=1 activate=0", NO, -1 },
	{ "kvm_avic_incomplete_ipi: vcpu=3, icrh:icrl=0x00000001:000000fd, id=1, index=7", "id=1 index=7", NO, 3 },
	{ "kvm_avic_unaccelerated_access: vcpu=3, offset=0xb0(APIC_EOI), trap, write, vec=0x0", "offset=0xb0", NO, 3 },
	{ "kvm_avic_kick_vcpu_slowpath: icrh:icrl=0x000001:000000fd, index=7", "index=7", NO, -1 },
	{ "kvm_avic_doorbell: vcpuid=3, apicid=3", "", NO, 3 },
	{ "kvm_avic_ga_log: vmid=9, vcpuid=3", "vmid=9", NO, 3 },
	{ "kvm_hypercall: nr 0xb a0 0x0 a1 0x1 a2 0x2 a3 0x3", "nr=0xb", NO, -1 },
	{ "kvm_xen_hypercall: cpl 0 nr 0x1d a0 0x0 a1 0x0 a2 0x0 a3 0x0 a4 0x0 a5 0", "nr=0x1d", NO, -1 },
	{ "kvm_hv_hypercall: code 0xb fast var_cnt 0x0 rep_cnt 0x0 idx 0x0 in 0xe1 out 0x1", "code=0xb fast=1", NO, -1 },
	{ "kvm_hv_hypercall: code 0x3 slow cnt 0x0 idx 0x0 in 0xe1 out 0x1", "code=0x3 fast=0", NO, -1 },
	{ "kvm_hv_hypercall_done: result 0x5", "result=0x5", NO, -1 },
	{ "kvm_hv_flush_tlb: processor_mask 0x1 address_space 0x0 flags 0x3 ", "", 3, -1 },
	{ "kvm_hv_flush_tlb_ex: valid_bank_mask 0x1 format 0x0 address_space 0x0 flags 0x1 ", "", 1, -1 },
	{ "kvm_hv_send_ipi: vector 2f processor_mask 0x2", "vector=47", NO, -1 },
	{ "kvm_hv_send_ipi_ex: vector 2f format 0 valid_bank_mask 0x1", "vector=47", NO, -1 },
	{ "kvm_pv_tlb_flush: vcpu 3 need_flush_tlb true", "need_flush_tlb=1", NO, 3 },
	{ "kvm_hv_synic_set_irq: vcpu_id 3 sint 2 vector 149 ret 0", "sint=2 vector=149", NO, 3 },
	{ "kvm_hv_synic_send_eoi: vcpu_id 3 vector 149", "vector=149", NO, 3 },
	{ "kvm_hv_synic_set_msr: vcpu_id 3 msr 0x40000080 data 0x1 host 0", "msr=0x40000080 host=0", NO, 3 },
	{ "kvm_hv_notify_acked_sint: vcpu_id 3 sint 2", "sint=2", NO, 3 },
	{ "kvm_hv_stimer_set_config: vcpu_id 3 timer 1 config 0x30008 host 0", "timer_index=1 config=0x30008", NO, 3 },
	{ "kvm_hv_stimer_set_count: vcpu_id 3 timer 1 count 156250 host 0", "timer_index=1", 156250, 3 },
	{ "kvm_hv_stimer_start_periodic: vcpu_id 3 timer 1 time_now 5 exp_time 6", "timer_index=1", NO, 3 },
	{ "kvm_hv_stimer_start_one_shot: vcpu_id 3 timer 1 time_now 5 count 6", "timer_index=1", NO, 3 },
	{ "kvm_hv_stimer_callback: vcpu_id 3 timer 1", "timer_index=1", NO, 3 },
	{ "kvm_hv_stimer_expiration: vcpu_id 3 timer 1 direct 1 send result 0", "timer_index=1 direct=1", NO, 3 },
	{ "kvm_hv_stimer_cleanup: vcpu_id 3 timer 1", "timer_index=1", NO, 3 },
	{ "kvm_emulate_insn: 0:fffff80002c4:f3 a5 (prot64) failed", "rip=0xfffff80002c4 failed=1", NO, -1 },
	{ "kvm_emulate_insn: 0:fffff80002c4:f3 a5 (prot64)", "rip=0xfffff80002c4 failed=0", NO, -1 },
	{ "kvm_emulate_insn: 0:fffff80002c4: f3 a5 FAIL", "rip=0xfffff80002c4 failed=1", NO, -1 },
	{ "kvm_ple_window_update: vcpu 3 old 4096 new 8192 (growed)", "", 8192, 3 },
	{ "kvm_ple_window: vcpu 3: ple_window 4096 (shrink 8192)", "", 4096, 3 },
	{ "kvm_cpuid: func 40000001 idx 0 rax 1 rbx 0 rcx 0 rdx 0, cpuid entry found", "function=0x40000001 index=0x0", NO, -1 },
	{ "kvm_fpu: unload", "load=0", NO, -1 },
	{ "kvm_update_master_clock: masterclock 1 hostclock tsc offsetmatched 1", "use_master_clock=1 offset_matched=1", NO, -1 },
	{ "kvm_track_tsc: vcpu_id 3 masterclock 1 offsetmatched 3 nr_online 4 hostclock tsc",
	  "use_master_clock=1 nr_vcpus_matched_tsc=3", NO, 3 },
	{ "kvm_pvclock_update: vcpu_id 3, pvclock { version 2, tsc_timestamp 0x1 }", "", NO, 3 },
	{ "kvm_write_tsc_offset: vcpu=3 prev=0 next=18446744073709551615", "", NO, 3 },
	{ "kvm_guest_fault: ipa 0x8000000, hsr 0x93c08006, hxfar 0xffff000000, pc 0xffff800010011234", "", NO, -1 },
	{ "kvm_try_async_get_page: gva = 0x7f00, gfn = 0x12", "", NO, -1 },
	{ "kvm_async_pf_doublefault: gva = 0x7f00, gfn = 0x12", "", NO, -1 },
	{ "kvm_async_pf_not_present: token 0x1 gva 0x7f00", "", NO, -1 },
	{ "kvm_async_pf_ready: token 0x1 gva 0x7f00", "", NO, -1 },
	{ "kvm_async_pf_completed: gva 0x7f00 address 0x7fff00", "", NO, -1 },
	{ "kvm_age_hva: mmu notifier age hva: 0x00007f0000000000 -- 0x00007f0000001000", "", NO, -1 },
	{ "kvm_test_age_hva: mmu notifier test age hva: 0x00007f0000000000", "", NO, -1 },
	{ "kvm_set_spte_hva: mmu notifier set pte hva: 0x00007f0000000000", "", NO, -1 },
	{ "kvm_dirty_ring_push: ring 1: dirty 0x37f reset 0x1c0 slot 1 offset 0x37e (used 447)", "index=1 slot=1", NO, -1 },
	{ "kvm_dirty_ring_reset: ring 1: dirty 0x37f reset 0x1c0 (used 447)", "index=1", NO, -1 },
	{ "kvm_dirty_ring_exit: vcpu 3", "", NO, 3 },
	{ "kvm_pml_full: vcpu 3: PML full", "", NO, 3 },
	{ "kvm_rmp_fault: vcpu 3 gpa 0000000000001000 pfn 0x1 error_code 0x1 rmp_level 1 psmash_ret 0", "", NO, 3 },
	{ "vcpu_match_mmio: gva 0xffffffffff5fd0b0 gpa 0xfee000b0 Write GVA", "gpa=0xfee000b0 write=1", NO, -1 },
	{ "kvm_mmu_get_page: sp gen 0 gfn 12 l2 8-byte q0 direct wux nxe ad root 0 sync new", "level=2", NO, -1 },
	{ "kvm_mmu_prepare_zap_page: sp gen 0 gfn 0 l4 8-byte q0 direct wux nxe ad root 0 sync", "level=4", NO, -1 },
	{ "kvm_mmu_prepare_zap_page: sp gfn 12 2 q0 direct --- !nxe root 0 sync", "level=2", NO, -1 },
	{ "kvm_mmu_sync_page: sp gen 0 gfn 12 l1 8-byte q0 wux nxe ad root 0 unsync", "level=1", NO, -1 },
	{ "kvm_mmu_zap_all_fast: kvm-mmu-valid-gen 1 used_pages 3f", "", 63, -1 },
	{ "kvm_mmu_set_spte: gfn 12 spte 600000012b77 (rwxu) level 1 at 113", "level=1", NO, -1 },
	{ "kvm_mmu_spte_requested: gfn 12 pfn 34 level 2", "level=2", NO, -1 },
	{ "kvm_mmu_split_huge_page: gfn 200 spte 1 level 2 errno -12", "level=2 errno=-12", NO, -1 },
	{ "mark_mmio_spte: sptep:00000000abcd gfn fec00 access 7 gen 2", "gfn=0xfec00", NO, -1 },
	{ "handle_mmio_page_fault: addr:fec00000 gfn fec00 access 7", "gfn=0xfec00", NO, -1 },
	{ "check_mmio_spte: spte ffe kvm_gen 2 spte-gen 2 valid 1", "", NO, -1 },
	{ "fast_page_fault: vcpu 3 gva febd0000 error_code W|U sptep ff old 0 new 0 spurious 0 fixed 1", "spurious=0 fixed=1", NO, 3 },
	{ "kvm_nested_vmexit_inject: reason: EPT_VIOLATION ext_inf1: 0x1 ext_inf2: 0x2 ext_int: 0x0 ext_int_err: 0x0",
	  "exit_code=EPT_VIOLATION", NO, -1 },
	{ "kvm_nested_vmenter_failed: VM entry failed", "", NO, -1 },
	{ "kvm_nested_intercepts: cr_read: 0010 cr_write: 0010 excp: 00060042 intercepts: 1 2 3", "", NO, -1 },
	{ "kvm_nested_intr_vmexit: rip: 0x0000000000001000", "", NO, -1 },
	{ "kvm_vmgexit_enter: vcpu 3, exit_reason 80000003, exit_info1 1, exit_info2 2", "exit_reason=0x80000003", NO, 3 },
	{ "kvm_vmgexit_exit: vcpu 3, exit_reason 80000003, exit_info1 1, exit_info2 2", "exit_reason=0x80000003", NO, 3 },
	{ "vgic_update_irq_pending: VCPU: 3, IRQ 27, level: 1", "irq=27 level=1", NO, 3 },
	{ "kvm_irq_line: Inject SPI interrupt (1), vcpu->idx: 3, num: 33, level: 1", "irq_num=33 level=1", NO, 3 },
	{ "kvm_timer_update_irq: VCPU: 3, IRQ 27, level 1", "irq=27 level=1", NO, 3 },
	{ "kvm_wfx_arm64: guest executed wfi at: 0xffff800010011234", "is_wfe=0", NO, -1 },
	{ "kvm_hvc_arm64: HVC at 0xffff800010011234 (r0: 0x84000000, imm: 0x1)", "imm=0x1", NO, -1 },
	{ "kvm_s390_inject_vm: inject type:2401 (float) parm:1 parm64:2", "inttype=0x2401", NO, -1 },
	{ "kvm_s390_inject_vcpu: inject (vcpu 3): type:1201 (ext) parm:1 parm64:2", "inttype=0x1201", NO, 3 },
	{ "kvm_s390_deliver_interrupt: deliver interrupt (vcpu 3): type:1201 (ext) data:00000001 0000000000000002", "inttype=0x1201", NO, 3 },
	{ "kvm_s390_handle_diag: 03[0705000000000000-0000000000001000]: diagnose call 0044 (x)", "code=0x44", NO, -1 },
	{ "cpu_idle: state=4294967295 cpu_id=1", "state=4294967295", NO, -1 },
	{ "cpu_idle_miss: cpu_id=1 state=2 type=above", "state=2", NO, -1 },
	{ "cpu_frequency: state=2400000 cpu_id=1", "cpu_id=1", 2400000, -1 },
	{ "hrtimer_expire_entry: hrtimer=00000000a1 function=pit_timer_fn [kvm] now=123", "function=pit_timer_fn", NO, -1 },
	{ "hrtimer_expire_exit: hrtimer=00000000abcd", "", NO, -1 },
	{ "timer_expire_exit: timer=00000000abcd", "", NO, -1 },
	{ "hrtimer_start: hrtimer=00000000a1 function=apic_timer_fn [kvm] expires=1 softexpires=1 mode=ABS", "function=apic_timer_fn", NO, -1 },
	{ "timer_expire_entry: timer=00000000a1 function=delayed_work_timer_fn now=1 baseclk=1", "function=delayed_work_timer_fn", NO, -1 },
	{ "local_timer_entry: vector=236", "vector=236", NO, -1 },
	{ "reschedule_entry: vector=253", "vector=253", NO, -1 },
	{ "call_function_entry: vector=252", "vector=252", NO, -1 },
	{ "call_function_single_entry: vector=251", "vector=251", NO, -1 },
	{ "irq_work_entry: vector=246", "vector=246", NO, -1 },
	{ "x86_platform_ipi_entry: vector=247", "vector=247", NO, -1 },
	{ "thermal_apic_entry: vector=250", "vector=250", NO, -1 },
	{ "threshold_apic_entry: vector=249", "vector=249", NO, -1 },
	{ "spurious_apic_entry: vector=255", "vector=255", NO, -1 },
	{ "ipi_send_cpu: cpu=2 callsite=x+0x1/0x2 callback=generic_smp_call_function_single_interrupt+0x0/0x10",
	  "cpu=2 callback=generic_smp_call_function_single_interrupt+0x0/0x10", NO, -1 },
	{ "csd_function_entry: func=do_flush_tlb_all, csd=00000000abcd", "func=do_flush_tlb_all", NO, -1 },
	{ "contention_begin: 00000000a1b2c3d4 (flags=SPIN|WRITE)", "flags=0x5", NO, -1 },
	{ "contention_end: 00000000a1b2c3d4 (ret=0)", "ret=0", NO, -1 },
	{ "mmap_lock_start_locking: mm=00000000abcd memcg_path=/a write=true", "write=1", NO, -1 },
	{ "mmap_lock_acquire_returned: mm=00000000abcd memcg_path=/a write=false success=true", "write=0 success=1", NO, -1 },
	{ "sched_pi_setprio: comm=a b pid=9 oldprio=120 newprio=9", "pid=9 newprio=9", NO, -1 },
	{ "sched_stat_wait: comm=x pid=9 delay=1234 [ns]", "pid=9", 1234, -1 },
	{ "sched_stat_sleep: comm=x pid=9 delay=1234 [ns]", "pid=9", 1234, -1 },
	{ "sched_stat_blocked: comm=x pid=9 delay=1234 [ns]", "pid=9", 1234, -1 },
	{ "sched_stat_iowait: comm=x pid=9 delay=1234 [ns]", "pid=9", 1234, -1 },
	{ "sched_process_hang: comm=x pid=9", "pid=9", NO, -1 },
	{ "sched_move_numa: pid=9 tgid=9 ngid=0 src_cpu=1 src_nid=0 dst_cpu=9 dst_nid=1", "src_nid=0 dst_nid=1", NO, -1 },
	{ "sched_swap_numa: src_pid=9 src_tgid=9 src_ngid=0 src_cpu=1 src_nid=0 dst_pid=8 dst_cpu=9 dst_nid=1", "src_nid=0 dst_nid=1", NO, -1 },
	{ "sched_stick_numa: src_pid=9 src_tgid=9 src_ngid=0 src_cpu=1 src_nid=0 dst_pid=8", "src_nid=0", NO, -1 },
	{ "rcu_grace_period: rcu_preempt 1234 start", "gpevent=start rcuname=rcu_preempt", NO, -1 },
	{ "rcu_stall_warning: rcu_preempt SelfDetected", "rcuname=rcu_preempt", NO, -1 },
	{ "cgroup_rstat_locked: root=1 id=2 level=1 cpu=-1 lock contended:1", "contended=1", NO, -1 },
	{ "cgroup_rstat_lock_contended: root=1 id=2 level=1 cpu=-1 lock contended:1", "contended=1", NO, -1 },
	{ "page_fault_user: address=0x7f00 ip=0x1000 error_code=0x6", "error_code=0x6", NO, -1 },
	{ "page_fault_kernel: address=0x7f00 ip=copy_user+0x1 error_code=0x2", "error_code=0x2", NO, -1 },
	{ "mm_vmscan_direct_reclaim_begin: order=9 gfp_flags=GFP_KERNEL", "order=9", NO, -1 },
	{ "mm_vmscan_direct_reclaim_end: nr_reclaimed=33", "", 33, -1 },
	{ "mm_vmscan_memcg_reclaim_begin: order=0 may_writepage=1 gfp_flags=GFP_KERNEL", "order=0", NO, -1 },
	{ "mm_vmscan_memcg_reclaim_end: nr_reclaimed=33", "", 33, -1 },
	{ "mm_vmscan_memcg_softlimit_reclaim_begin: order=0 gfp_flags=GFP_KERNEL", "order=0", NO, -1 },
	{ "mm_vmscan_memcg_softlimit_reclaim_end: nr_reclaimed=33", "", 33, -1 },
	{ "mm_vmscan_node_reclaim_begin: nid=1 order=0 gfp_flags=GFP_KERNEL", "nid=1 order=0", NO, -1 },
	{ "mm_vmscan_node_reclaim_end: nr_reclaimed=33", "", 33, -1 },
	{ "mm_vmscan_kswapd_wake: nid=1 order=9", "nid=1 order=9", NO, -1 },
	{ "mm_vmscan_kswapd_sleep: nid=1", "nid=1", NO, -1 },
	{ "mm_vmscan_wakeup_kswapd: nid=1 order=9 gfp_flags=GFP_KERNEL", "nid=1 order=9", NO, -1 },
	{ "mm_vmscan_throttled: nid=1 usec_timeout=1000 usect_delayed=4000 reason=VMSCAN_THROTTLE_WRITEBACK", "nid=1", 4000, -1 },
	{ "mark_victim: pid=9", "pid=9", NO, -1 },
	{ "mm_compaction_begin: zone_start=0x1000 migrate_pfn=0x1 free_pfn=0x2 zone_end=0x3, mode=sync", "sync=1", NO, -1 },
	{ "mm_compaction_end: zone_start=0x1000 migrate_pfn=0x1 free_pfn=0x2 zone_end=0x3, mode=async status=complete",
	  "sync=0 status=complete", NO, -1 },
	{ "mm_compaction_try_to_compact_pages: order=9 gfp_mask=GFP_TRANSHUGE priority=1", "order=9", NO, -1 },
	{ "mm_compaction_migratepages: nr_migrated=32 nr_failed=0", "", 32, -1 },
	{ "mm_compaction_kcompactd_wake: nid=1 order=9 classzone_idx=Normal", "nid=1 order=9", NO, -1 },
	{ "mm_migrate_pages: nr_succeeded=1 nr_failed=0 mode=MIGRATE_ASYNC reason=numa_misplaced", "reason=numa_misplaced", 1, -1 },
	{ "mm_migrate_pages_start: mode=MIGRATE_ASYNC reason=compaction", "reason=compaction", NO, -1 },
	{ "mm_khugepaged_scan_pmd: mm=00000000abcd, scan_pfn=0x1, referenced=0, none_or_zero=511, status=exceed_none_pte, unmapped=0",
	  "status=exceed_none_pte", NO, -1 },
	{ "mm_khugepaged_scan_file: mm=00000000abcd, scan_pfn=0x1, filename=x, present=1, swap=0, result=succeeded", "result=succeeded", NO, -1 },
	{ "mm_khugepaged_collapse_file: mm=00000000abcd, hpage_pfn=0x1, index=1, addr=1, is_shmem=1, filename=x, nr=1, result=succeeded",
	  "result=succeeded", NO, -1 },
	{ "mm_collapse_huge_page: mm=00000000abcd, isolated=1, status=succeeded", "status=succeeded", NO, -1 },
	{ "mm_collapse_huge_page_isolate: scan_pfn=0x1, none_or_zero=0, referenced=1, status=succeeded", "status=succeeded", NO, -1 },
	{ "mm_collapse_huge_page_swapin: mm=00000000abcd, swapped_in=5, referenced=1, ret=1", "ret=1", 5, -1 },
	{ "balance_dirty_pages: bdi 8:0: limit=1 setpoint=1 dirty=1 bdi_setpoint=1 bdi_dirty=1 dirty_ratelimit=1 task_ratelimit=1 "
	  "dirtied=1 dirtied_pause=1 paused=7 pause=200 period=200 think=0 cgroup_ino=1", "", 200, -1 },
	{ "writeback_congestion_wait: usec_timeout=100000 usec_delayed=4000", "", 4000, -1 },
	{ "writeback_wait: bdi 8:0: sb_dev 0:0 nr_pages=1 sync_mode=0 kupdate=0 range_cyclic=1 background=1 reason=background cgroup_ino=1",
	  "reason=background", NO, -1 },
	{ "wait_on_page_writeback: bdi 8:0: ino=1 index=2", "", NO, -1 },
	{ "mm_filemap_fault: dev=8:0 ino=1 ofs=4096", "", NO, -1 },
	{ "mm_filemap_add_to_page_cache: dev 8:0 ino 1 pfn=0x1 ofs=4096 order=0", "", NO, -1 },
	{ "block_rq_issue: 8,0 WS 4096 () 1234 + 8 [qemu-system-x86]", "", 8, -1 },
	{ "block_rq_complete: 8,0 WS () 1234 + 8 [-5]", "error=-5", 8, -1 },
	{ "map: IOMMU: iova=0x0000000000001000 - 0x0000000000002000 paddr=0x1 size=4096", "", 4096, -1 },
	{ "unmap: IOMMU: iova=0x0000000000001000 - 0x0000000000002000 size=4096 unmapped_size=4096", "", 4096, -1 },
	{ "io_page_fault: IOMMU:vfio-pci 0000:01:00.0 iova=0x0000000000001000 flags=0x0010", "flags=0x10", NO, -1 },
};

static struct error *open_engine(struct parse_ctx *ctx, struct stream **ret,
				 const struct source_desc *desc, const struct stream_ops *ops,
				 void *ops_priv)
{
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &engine_consumer, ctx->open_arg);
}

/* The case of @text through the ftrace parser and an engine. @whole: all must be understood. */
static struct case_db *parse(const char *text, bool whole)
{
	static const struct engine_options opt;
	struct member m = { .id = 1, .path = (char *)"m", .name = (char *)"m", .data = (const uint8_t *)text,
			    .size = strlen(text) };
	struct parse_ctx ctx = { .m = &m, .open_stream = open_engine };
	const struct parser *const *it;
	struct strtab messages;
	struct case_db *db;

	drive_ok(case_create(&db, NULL));
	strtab_init(&messages, 256);
	ctx.messages = &messages;
	ctx.db = db;
	ctx.open_arg = engine_create(db, &opt);
	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, "ftrace"))
			ctx.parser = *it;
	drive_ok(textfeed_whole(&ctx, ctx.parser));
	engine_destroy(ctx.open_arg);
	if (whole)
		assert_int_equal(messages.n, 0);	/* no "not understood" */
	strtab_deinit(&messages);
	return db;
}

static void texts(void **state)
{
	bool seen[EV_NKINDS] = { false };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
		const struct want *w = &wants[i];
		_cleanup_free_ char *text = xasprintf(
			"        CPU 0/KVM-6       [002] d..1.    10.000000: kvm_entry: vcpu 0, rip 0x1\n"
			"        CPU 3/KVM-7       [002] d..1.    10.000000: kvm_entry: vcpu 3, rip 0x1\n"
			"            bash-5       [003] d..1.    10.000001: %s\n", w->text);
		struct case_db *db = parse(text, true);
		int64_t n = case_int(db, -1, "SELECT count(*) FROM event_key WHERE tid = 5 AND key = ?", "s", w->key);
		int64_t value = case_int(db, NO, "SELECT value_max FROM event_key WHERE value_sum IS NOT NULL", "");
		int64_t vcpu = case_int(db, -1, "SELECT vcpu FROM event_key k JOIN vcpu v ON v.id = k.vcpu_id", "");

		if (n != 1)
			fail_msg("%s: no key '%s'", w->text, w->key);
		if (value != w->value)
			fail_msg("%s: value %" PRId64 ", not %" PRId64, w->text, value, w->value);
		if (vcpu != w->vcpu)
			fail_msg("%s: vCPU %d, not %d", w->text, (int)vcpu, w->vcpu);
		for (int k = 0; k < EV_NKINDS; k++) {
			const char *names = event_keys_of((enum event_kind)k)->name, *at;
			size_t len = strcspn(w->text, ":");
			_cleanup_free_ char *name = xstrndup(w->text, len);

			at = names ? strstr(names, name) : NULL;
			if (at && (at == names || at[-1] == '|') && (!at[len] || at[len] == '|'))
				seen[k] = true;
		}
		case_close(db);
	}
	for (int k = EV_N_ENGINE; k < EV_NKINDS; k++)
		if (!seen[k])
			fail_msg("no text of %s is tested", event_keys_of((enum event_kind)k)->name);
}

/* Cut anywhere, a counted event is still one of that name. */
static void cut_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wants); i += 7) {
		size_t name = strcspn(wants[i].text, ":") + 1, len = strlen(wants[i].text);

		for (size_t n = name; n < len; n += 3) {
			_cleanup_free_ char *text = xasprintf("            bash-5       [003] d..1.    10.000001: %.*s\n",
							      (int)n, wants[i].text);
			struct case_db *db = parse(text, false);

			assert_int_equal(case_int(db, -1, "SELECT sum(count) FROM event_count", ""), 1);
			case_close(db);
		}
	}
}

static void set_irq(struct drive *d, uint64_t time, int32_t tid, uint32_t gsi, uint32_t level)
{
	struct event *ev = drive_next(d, EV_KVM_SET_IRQ, drive_type(d, "kvm", "kvm_set_irq"), time, 0, tid);

	ev->b[0] = gsi;
	ev->b[1] = level;
	stream_push(d->s);
}

static void expire(struct drive *d, uint64_t time, int32_t tid, int64_t delta)
{
	struct event *ev = drive_next(d, EV_KVM_WAIT_LAPIC_EXPIRE, drive_type(d, "kvm", "kvm_wait_lapic_expire"),
				      time, 0, tid);

	ev->a[0] = (uint64_t)delta;
	ev->b[0] = EVENT_U32_NONE;
	stream_push(d->s);
}

#define KEY(d, where, col)	drive_int(d, "SELECT " col " FROM event_key WHERE " where)

static void counts(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	drive_entry(&d, MS, 0, 7, 3);
	for (uint64_t i = 0; i < 6; i++)	/* 18, 19, 20, 21, 22, 23 ms */
		set_irq(&d, (18 + i) * MS, 7, 19, 1);
	set_irq(&d, 30 * MS, 7, 19, 0);
	set_irq(&d, 31 * MS, 8, 19, 1);
	expire(&d, 32 * MS, 7, -500);
	expire(&d, 33 * MS, 7, 700);
	expire(&d, 34 * MS, 7, -1);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM event_key"), 4);
	assert_int_equal(KEY(&d, "key = 'gsi=19 level=1' AND tid = 7", "count"), 6);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "first_ns"), 18 * MS);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "last_ns"), 23 * MS);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "busiest"), 4);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "value_sum IS NULL"), 1);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "json_array_length(cites)"), 2);
	assert_int_equal(KEY(&d, "k0 = 19 AND k1 = 1 AND tid = 7", "vcpu_id IS NOT NULL AND vm_id IS NOT NULL"), 1);
	assert_int_equal(KEY(&d, "k1 = 0", "count"), 1);
	assert_int_equal(KEY(&d, "tid = 8", "vcpu_id IS NULL AND vm_id IS NULL"), 1);
	assert_int_equal(KEY(&d, "event = 'kvm_wait_lapic_expire'", "value_sum"), 199);
	assert_int_equal(KEY(&d, "event = 'kvm_wait_lapic_expire'", "value_min"), -500);
	assert_int_equal(KEY(&d, "event = 'kvm_wait_lapic_expire'", "value_max"), 700);
	assert_int_equal(KEY(&d, "event = 'kvm_wait_lapic_expire'", "json_array_length(cites)"), 3);
	assert_int_equal(KEY(&d, "event = 'kvm_wait_lapic_expire'", "key = ''"), 1);
	drive_free(&d);
}

/* The commonest 1,000 keys are rows, the rest is added up per thread. */
static void many_keys(void **state)
{
	struct drive d;

	(void)state;
	drive_open(&d);
	for (uint32_t i = 0; i < 1500; i++)
		for (uint32_t k = 0; k < 1 + (i < 1000); k++)
			set_irq(&d, MS + i, i < 1200 ? 7 : 8, i, 1);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT count(*) FROM event_key"), 1002);
	assert_int_equal(KEY(&d, "key = 'others' AND tid = 7", "count"), 200);
	assert_int_equal(KEY(&d, "key = 'others' AND tid = 8", "count"), 300);
	assert_int_equal(KEY(&d, "key = 'others' AND tid = 7", "k0 IS NULL"), 1);
	assert_int_equal(KEY(&d, "key = 'others' AND tid = 8", "first_ns"), MS + 1200);
	assert_int_equal(drive_int(&d, "SELECT sum(count) FROM event_key"), 2500);
	drive_free(&d);
}

/* More keys than are kept, in more threads than even their others are. */
static void too_many_keys(void **state)
{
	struct drive d;
	uint32_t n = 0;

	(void)state;
	drive_open(&d);
	for (uint32_t i = 0; i < 70000; i++, n++)
		set_irq(&d, MS + i, 7, i, 1);
	for (uint32_t i = 0; i < 70000; i++, n++)
		set_irq(&d, 2 * MS + i, 100 + (int32_t)i, 0, 1);
	drive_close(&d);
	assert_int_equal(drive_int(&d, "SELECT sum(count) FROM event_key"), n);
	assert_true(drive_int(&d, "SELECT count(*) FROM event_key") <= 2001);
	assert_int_equal(KEY(&d, "key = 'others' AND tid = 7", "count"), 69000);
	assert_int_equal(KEY(&d, "key = 'others' AND tid IS NULL", "count > 0"), 1);
	drive_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),     cmocka_unit_test(cut_texts),
		cmocka_unit_test(counts),    cmocka_unit_test(many_keys),
		cmocka_unit_test(too_many_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
