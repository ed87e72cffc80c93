-- SPDX-License-Identifier: GPL-2.0-or-later
-- The case file's schema (embedded at build; documented in doc/case-file.md). Times are integers in ns on
-- the source's own clock, durations end in _ns. NULL means unknown. Kernel addresses are TEXT ('0x...').
-- cites are either one id of table cite (cite_id) or a JSON array of them (cites).

CREATE TABLE member(
	id INTEGER PRIMARY KEY, parent_id INTEGER, path TEXT NOT NULL, format TEXT, bytes INTEGER,
	status TEXT NOT NULL,		-- read | partly | ignored | failed
	message TEXT);
CREATE TABLE source(
	id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES member(id), path TEXT, format TEXT, kernel TEXT, arch TEXT, host TEXT,
	cpus INTEGER, clock TEXT, clock_offset_ns INTEGER, clock_uncertainty_ns INTEGER,
	side TEXT NOT NULL DEFAULT 'unknown',	-- host | guest | unknown
	first_ns INTEGER, last_ns INTEGER, events INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0);
CREATE TABLE recording(			-- a source that fed an engine
	source_id INTEGER PRIMARY KEY, command TEXT, time_resolution_ns INTEGER, unordered INTEGER NOT NULL DEFAULT 0,
	interrupted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE clock(
	source_id INTEGER NOT NULL, name TEXT NOT NULL, relation TEXT,	-- to what, and how it is known
	offset_ns INTEGER, uncertainty_ns INTEGER, cite_id INTEGER);
CREATE TABLE axis(			-- sources whose times can be compared: those with one number
	source_id INTEGER PRIMARY KEY, axis INTEGER NOT NULL, clock TEXT NOT NULL, boot INTEGER,
	offset_ns INTEGER,		-- to be added to the source's times to get the axis's; NULL: the axis has this source only
	uncertainty_ns INTEGER, why TEXT NOT NULL, cite_id INTEGER);
CREATE TABLE coverage(
	source_id INTEGER NOT NULL, event TEXT NOT NULL,
	known TEXT NOT NULL,		-- listed | seen | unknown
	complete TEXT NOT NULL,		-- all | sampled | filtered | lossy
	scope TEXT NOT NULL,		-- system | tasks | cpus
	from_ns INTEGER, to_ns INTEGER);
CREATE TABLE fact(			-- what a host (or guest) is and how it is set
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, side TEXT NOT NULL DEFAULT 'unknown',
	key TEXT NOT NULL,		-- see doc/case-file.md, "Fact keys"
	value TEXT NOT NULL, num REAL,	-- num: the value as a number where it is one
	snapshot TEXT,			-- label where the same file was taken more than once: before, after, mid, 1, 2 ...
	cite_id INTEGER,
	cites TEXT);			-- KEY.delta facts: both snapshots' cites, JSON array
CREATE INDEX fact_key ON fact(key);
CREATE TABLE log_line(			-- lines of a log that mean something
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, side TEXT NOT NULL DEFAULT 'unknown', time_ns INTEGER,
	kind TEXT NOT NULL,		-- soft_lockup | hard_lockup | rcu_stall | hung_task | oops | call_trace | oom | rt_throttling | ...
	cpu INTEGER, task TEXT, tid INTEGER, duration_ns INTEGER, text TEXT NOT NULL, stack_id INTEGER, cite_id INTEGER);
CREATE TABLE loss(
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, cpu INTEGER, time_ns INTEGER,
	events INTEGER,			-- NULL: an unknown number
	what TEXT NOT NULL, cite_id INTEGER);
CREATE TABLE cite(
	id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL, line INTEGER, offset INTEGER, time_ns INTEGER, text TEXT);
CREATE TABLE event_count(source_id INTEGER NOT NULL, event TEXT NOT NULL, count INTEGER NOT NULL);

CREATE TABLE vm(
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, tgid INTEGER, name TEXT);
CREATE TABLE task(
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, tid INTEGER NOT NULL, tgid INTEGER, comm TEXT,
	role TEXT NOT NULL,		-- vcpu | vmm | iothread | vhost | kworker | ksmd | khugepaged | nx-recovery | migration | kthread | idle | other
	vm_id INTEGER, first_ns INTEGER, last_ns INTEGER, oncpu_ns INTEGER, events INTEGER);
CREATE TABLE vcpu(
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER NOT NULL, vcpu INTEGER, -- the guest's number; NULL unknown
	task_id INTEGER, tid INTEGER, comm TEXT, first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
	guest_ns INTEGER NOT NULL, host_ns INTEGER NOT NULL, vmm_ns INTEGER NOT NULL, halted_ns INTEGER NOT NULL,
	waiting_ns INTEGER NOT NULL, blocked_ns INTEGER NOT NULL, unknown_ns INTEGER NOT NULL, lost_ns INTEGER NOT NULL);
CREATE INDEX vcpu_tid ON vcpu(tid);
CREATE TABLE state_slice(		-- time per state in equal bins, for timelines
	source_id INTEGER NOT NULL, vcpu_id INTEGER NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
	guest_ns INTEGER, host_ns INTEGER, vmm_ns INTEGER, halted_ns INTEGER, waiting_ns INTEGER, blocked_ns INTEGER,
	unknown_ns INTEGER, lost_ns INTEGER);
CREATE TABLE exit_stat(			-- as perf kvm stat report counts, per vCPU
	source_id INTEGER NOT NULL, origin TEXT NOT NULL DEFAULT 'computed',	-- computed | table (a ready perf kvm stat report)
	event TEXT NOT NULL,		-- vmexit | mmio | ioport | msr
	vm_id INTEGER, vcpu_id INTEGER, vcpu INTEGER, reason TEXT NOT NULL, count INTEGER NOT NULL, total_ns INTEGER,
	min_ns INTEGER, max_ns INTEGER, max_start_ns INTEGER, mean REAL, m2 REAL, cite_id INTEGER);
CREATE TABLE stall(
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, subject TEXT NOT NULL,	-- vcpu | operation
	vm_id INTEGER, vcpu_id INTEGER, task_id INTEGER, task TEXT, tid INTEGER,
	kind TEXT NOT NULL,		-- exit | vmm | runq | blocked | late-wake | retry-loop | exit-storm | operation
	start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, pattern_id INTEGER, partial INTEGER NOT NULL DEFAULT 0,
	cause TEXT, what TEXT,		-- what: exit reason, syscall, function
	named_ns INTEGER NOT NULL DEFAULT 0, episode_id INTEGER, cites TEXT);
CREATE TABLE chain_link(
	id INTEGER PRIMARY KEY, stall_id INTEGER NOT NULL, parent_id INTEGER, depth INTEGER NOT NULL, seq INTEGER NOT NULL,
	kind TEXT NOT NULL,		-- running | host | vmm | runnable | preempted | throttled | blocked | irq | timer | retry-loop | folded | unknown | lost
	start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, task TEXT, tid INTEGER, cpu INTEGER,
	what TEXT, inferred INTEGER NOT NULL DEFAULT 0, cites TEXT,
	stack_id INTEGER);		-- the stack of a sample in it
CREATE INDEX chain_link_stall ON chain_link(stall_id);
CREATE TABLE pattern(			-- chains of one shape
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, shape TEXT NOT NULL, count INTEGER NOT NULL, total_ns INTEGER NOT NULL,
	worst_ns INTEGER NOT NULL, worst_stall_id INTEGER);
CREATE TABLE stall_total(source_id INTEGER PRIMARY KEY, stalls INTEGER NOT NULL, stall_ns INTEGER NOT NULL,
	named_ns INTEGER NOT NULL, state_known_ns INTEGER NOT NULL, threshold_ns INTEGER NOT NULL);
CREATE TABLE episode(id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER, start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL, stalls INTEGER NOT NULL, vcpus INTEGER NOT NULL);
CREATE TABLE retry_loop(		-- the same exit again and again at one rip and gpa
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER, vcpu_id INTEGER, tid INTEGER, reason TEXT, rip TEXT, gpa TEXT,
	count INTEGER NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
	invalidations INTEGER,		-- mmu_notifier invalidations seen in that time; NULL where they could not be seen
	cite_id INTEGER);
CREATE TABLE runq_delay(		-- per task, as perf sched latency -p counts
	source_id INTEGER NOT NULL, origin TEXT NOT NULL,	-- computed | table (a ready perf sched latency dump) | timehist (perf sched timehist, added up)
	task_id INTEGER, task TEXT NOT NULL, tid INTEGER,	-- tid NULL: merged or not printed
	runtime_ns INTEGER, oncpu_ns INTEGER, switches INTEGER NOT NULL, total_delay_ns INTEGER, avg_delay_ns INTEGER,
	max_delay_ns INTEGER, max_delay_start_ns INTEGER, max_delay_end_ns INTEGER, vcpu INTEGER, -- vcpu: 1 when a vCPU thread by role or comm
	cite_id INTEGER);
CREATE TABLE runq_wait(			-- the longest run-queue waits of vCPU threads and who had the CPU meanwhile
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER, vcpu_id INTEGER, task_id INTEGER, task TEXT, tid INTEGER NOT NULL,
	cpu INTEGER,			-- where it waited; NULL when it migrated or is unknown
	start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
	began TEXT NOT NULL,		-- preempted | woken | unknown
	idle_ns INTEGER NOT NULL, sibling_ns INTEGER NOT NULL, other_ns INTEGER NOT NULL, unknown_ns INTEGER NOT NULL,
	top_task TEXT, top_tid INTEGER, top_ns INTEGER,	-- the task that had most of that CPU
	sibling_task TEXT, sibling_tid INTEGER,	-- the VM's own thread that had most of that CPU
	refills INTEGER NOT NULL,	-- times the CPU went from idle for > 1 ms back to a thread of the same VM (quota refills)
	weight_jump INTEGER NOT NULL DEFAULT 0,	-- a reweight_jump lies at the start of this wait
	unfinished INTEGER NOT NULL DEFAULT 0,	-- the recording ended first: duration_ns is up to its end
	cites TEXT);
CREATE TABLE reweight_jump(		-- group entity reweighted to MIN_SHARES and back, vruntime jumped in between
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, se TEXT, down_ns INTEGER NOT NULL, up_ns INTEGER NOT NULL,
	low_weight INTEGER NOT NULL, weight INTEGER NOT NULL, vruntime_jump_ns INTEGER NOT NULL, cites TEXT);
CREATE TABLE throttle(			-- CFS bandwidth throttling of a group
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER, cgroup TEXT, inferred INTEGER NOT NULL,
	origin TEXT NOT NULL,		-- probe | waits | cpu.stat
	from_ns INTEGER, to_ns INTEGER,
	count INTEGER NOT NULL,		-- probe: throttle_cfs_rq() calls; waits: periods in which threads came back at the phase
	period_ns INTEGER,
	throttled_ns INTEGER,		-- probe: summed over CPUs; waits: of the thread held longest, a lower bound
	tasks TEXT,			-- JSON array of the tids held
	cites TEXT);
CREATE TABLE cgroup(			-- cpu controller, one row per group and snapshot
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, path TEXT NOT NULL, version INTEGER, snapshot TEXT,
	quota_ns INTEGER,		-- NULL: not known; -1: max (no quota)
	period_ns INTEGER, burst_ns INTEGER, weight INTEGER, usage_ns INTEGER, nr_periods INTEGER, nr_throttled INTEGER,
	throttled_ns INTEGER, threads TEXT, -- JSON array of tids
	cite_id INTEGER);
CREATE TABLE event_key(			-- how often an event came with one value of its key fields, per thread
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, vm_id INTEGER, vcpu_id INTEGER, task_id INTEGER, task TEXT, tid INTEGER,
	event TEXT NOT NULL,		-- tracepoint without its system: kvm_set_irq
	key TEXT NOT NULL,		-- the key fields and their values: 'gsi=19 level=1', 'reason=26', '' where the event has no key
	k0 INTEGER, k1 INTEGER,		-- the same as numbers
	count INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
	busiest INTEGER NOT NULL,	-- most events in one aligned 10 ms
	value_sum REAL, value_min INTEGER, value_max INTEGER,	-- of the event's value field; NULL where it has none
	cites TEXT);			-- first, last, and the one with the largest value
CREATE INDEX event_key_event ON event_key(event);
CREATE TABLE fault_stat(		-- guest page faults that KVM handled, per vCPU
	source_id INTEGER NOT NULL, vm_id INTEGER, vcpu_id INTEGER, tid INTEGER, from_ns INTEGER NOT NULL, to_ns INTEGER NOT NULL,
	faults INTEGER NOT NULL, pages INTEGER,	-- pages: different guest pages; NULL: the exits do not say which (no kvm_page_fault, Intel)
	again INTEGER,			-- faults on a page that had faulted before
	capped INTEGER NOT NULL,	-- 1: more different pages than were kept; pages and again are lower bounds
	reads INTEGER, writes INTEGER, fetches INTEGER, present INTEGER,	-- by error code; NULL where it is not recorded. present: protection faults
	busiest INTEGER NOT NULL,	-- most faults in one aligned 10 ms
	busiest_ns INTEGER,		-- where that was
	cites TEXT);
CREATE TABLE silence(			-- stretches over 1 ms in which no CPU of a system-wide recording had any event
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
	cpus INTEGER NOT NULL,		-- CPUs seen so far
	busy INTEGER NOT NULL,		-- of these, CPUs whose last event left them with a task or guest running
	usual_ns INTEGER NOT NULL,	-- the longest ordinary gap: the 99.9th percentile of gaps between events of this recording
	lost INTEGER NOT NULL,		-- 1: a loss mark lies in it or at its edge
	cites TEXT);			-- the events before and after
CREATE TABLE root_stat(			-- TDP/MMU roots a vCPU went through
	source_id INTEGER NOT NULL, vm_id INTEGER, vcpu_id INTEGER, tid INTEGER, from_ns INTEGER, to_ns INTEGER,
	loads INTEGER NOT NULL, unique_roots INTEGER NOT NULL, last_but_one INTEGER NOT NULL, -- loads that went back to the last but one root
	top1 INTEGER NOT NULL, top2 INTEGER NOT NULL,	-- loads of the two commonest roots
	smm_transitions INTEGER, cr0_writes INTEGER, cr0_wp_toggles INTEGER,	-- NULL where the event could not be seen
	loads_after_smm INTEGER, loads_after_cr0 INTEGER,
	pages_refaulted INTEGER,	-- gpas faulted under more than 10 different roots; NULL where faults could not be seen
	max_faults_per_page INTEGER, exit_to_load_ns INTEGER, load_to_entry_ns INTEGER, -- averages
	after_reasons TEXT,		-- JSON object: exit reason before the load -> count
	cites TEXT);
CREATE TABLE stack(id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, frames TEXT NOT NULL, -- newline separated, top first
	depth INTEGER NOT NULL, top TEXT);
CREATE TABLE stack_count(source_id INTEGER NOT NULL, stack_id INTEGER NOT NULL, event TEXT NOT NULL, task_id INTEGER, tid INTEGER,
	count INTEGER NOT NULL, total_ns INTEGER, first_ns INTEGER, last_ns INTEGER,	-- NULL in ready tables
	cite_id INTEGER,		-- the first of them; the 500 commonest are cited
	state TEXT, max_ns INTEGER);	-- of a switch-out: the state it left its CPU in (D S R I ...); total_ns and max_ns: off the CPU then
CREATE TABLE address(			-- what the addresses in binary recordings' stored stacks are, each once
	source_id INTEGER NOT NULL, address TEXT NOT NULL,
	seq INTEGER NOT NULL,		-- inlined functions first: 0 is the innermost, the last has the code
	func TEXT,			-- NULL: no symbol there
	offset INTEGER,			-- in the function; where that is NULL, in the file or module
	dso TEXT,			-- file, module, [bpf]; NULL: the kernel itself
	file TEXT, line INTEGER);	-- source code, from DWARF
CREATE TABLE span(			-- long function calls and system calls (the longest of each function)
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, parent_id INTEGER, func TEXT NOT NULL,	-- system calls: ioctl:KVM_CREATE_VM, futex ...
	origin TEXT NOT NULL,		-- fgraph | kprobe | bpftrace | syscall | strace | perf trace
	vm_id INTEGER, task_id INTEGER, task TEXT, tid INTEGER, cpu INTEGER, start_ns INTEGER, duration_ns INTEGER NOT NULL,
	time_resolution_ns INTEGER NOT NULL DEFAULT 1, offcpu_ns INTEGER, -- off CPU inside the call; NULL unknown
	result TEXT, stack_id INTEGER, cite_id INTEGER);
CREATE INDEX span_func ON span(func);
CREATE TABLE span_child(		-- time of callees inside a stored span, by function, at any depth
	span_id INTEGER NOT NULL, func TEXT NOT NULL, count INTEGER NOT NULL, total_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL);
CREATE TABLE span_stat(			-- all calls
	source_id INTEGER NOT NULL, func TEXT NOT NULL, origin TEXT NOT NULL, parent TEXT, -- parent: '' for any
	count INTEGER NOT NULL, total_ns INTEGER NOT NULL, min_ns INTEGER, max_ns INTEGER, tasks INTEGER,
	min_threshold_ns INTEGER);	-- the tracer reported only calls longer than this; NULL: all
CREATE TABLE lock_contention(		-- rows of perf lock contention
	source_id INTEGER NOT NULL, type TEXT,	-- spinlock | rwlock:W | rwsem:R | mutex ...; NULL: not printed
	caller TEXT NOT NULL, tid INTEGER, count INTEGER NOT NULL, total_ns INTEGER NOT NULL, max_ns INTEGER, avg_ns INTEGER,
	snapshot TEXT, cite_id INTEGER);
CREATE TABLE syscall_stat(
	source_id INTEGER NOT NULL, name TEXT NOT NULL, task_id INTEGER, tid INTEGER, count INTEGER NOT NULL, errors INTEGER NOT NULL DEFAULT 0,
	total_ns INTEGER NOT NULL, min_ns INTEGER, max_ns INTEGER, cite_id INTEGER);
CREATE TABLE histogram(source_id INTEGER NOT NULL, name TEXT NOT NULL, subject_id INTEGER, low_ns INTEGER NOT NULL,
	high_ns INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE TABLE series(source_id INTEGER NOT NULL, name TEXT NOT NULL, subject_id INTEGER, t_ns INTEGER NOT NULL,
	bin_ns INTEGER NOT NULL, value REAL NOT NULL);
CREATE TABLE ping_gap(			-- times in which a host did not answer; wall clock
	id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, kind TEXT NOT NULL,	-- burst (late replies together) | lost | slow
	start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, replies INTEGER NOT NULL, lost INTEGER NOT NULL,
	max_rtt_ns INTEGER, cites TEXT);
CREATE TABLE ping_stat(source_id INTEGER NOT NULL, sent INTEGER, replies INTEGER, unreachable INTEGER, median_rtt_ns INTEGER,
	max_rtt_ns INTEGER, cite_id INTEGER);
CREATE TABLE tie(			-- what two sources on one axis say of one time
	id INTEGER PRIMARY KEY, episode_id INTEGER, stall_id INTEGER,	-- either
	ping_gap_id INTEGER, log_line_id INTEGER,	-- either
	overlap_ns INTEGER NOT NULL,	-- of their times, as they stand
	uncertainty_ns INTEGER NOT NULL);	-- they overlap however the clocks lie within this

CREATE TABLE verdict(
	id INTEGER PRIMARY KEY, signature TEXT NOT NULL, title TEXT NOT NULL,
	verdict TEXT NOT NULL,		-- match | likely | possible | cannot-tell | ruled-out
	source_id INTEGER, vm_id INTEGER, vcpus TEXT, from_ns INTEGER, to_ns INTEGER, score REAL NOT NULL, because TEXT NOT NULL,
	fixed_by TEXT, missing TEXT, record_next TEXT,	-- JSON arrays
	workaround TEXT, mechanism TEXT, contradiction TEXT,
	lookalikes TEXT,		-- JSON array: what it may be mistaken for, and what tells them apart
	introduced_by TEXT);		-- JSON array
CREATE TABLE evidence(
	id INTEGER PRIMARY KEY, verdict_id INTEGER NOT NULL, item TEXT NOT NULL, role TEXT NOT NULL, strength TEXT,
	outcome TEXT NOT NULL,		-- shown | not-shown | not-visible | error
	says TEXT,			-- one row per shown row; NULL when not shown
	cites TEXT, vm_id INTEGER, source_id INTEGER, from_ns INTEGER, to_ns INTEGER);
CREATE INDEX evidence_verdict ON evidence(verdict_id);
