# SPDX-License-Identifier: GPL-2.0-or-later
"""props_gen.py - random but legal recordings of a small machine with guests, for test_props.py.

A seeded simulation of CPUs, tasks, vCPU threads, interrupts, work queues, system calls, hot-plug of CPUs and vCPUs. What a
recorder would have seen of it is `events` (some kinds may not be recorded, it may begin late, buffers may overflow); what
really happened to each vCPU thread is `truth`. Written as ftrace text.
"""
import random

IDLE = 0
US, MS = 1000, 1000000
KVM_RUN, KVM_GET_REGS, KVM_TYPE_IOCTLS = 0xae80, 0x8090ae81, (0xae04, 0xae41, 0x4020ae46)
REASONS = ("npf", "io", "msr", "interrupt", "EPT_VIOLATION", "EXTERNAL_INTERRUPT", "PAUSE_INSTRUCTION", "CPUID")
HALTS = ("hlt", "HLT")
ODD = ("a b", "x-12", "[brackets]", "a=>b", "100 %", "n,m", "-", "pid=7", "( 12)", "tab [001]", "w: 1.5: y", "ä€", "sh -c x")


class Event:
    """kind and fields as the tracepoint has them; tid: current; flags: 'h', 's' or '.' for what interrupted it"""
    __slots__ = ("time", "cpu", "tid", "comm", "tgid", "flags", "kind", "f")

    def __init__(self, time, cpu, task, flags, kind, f):
        self.time, self.cpu, self.tid, self.flags, self.kind, self.f = time, cpu, task.tid, flags, kind, f
        self.comm = "<idle>" if task.tid == IDLE else task.comm
        self.tgid = task.tgid


class Task:
    def __init__(self, tid, tgid, comm, role, cpu):
        self.tid, self.tgid, self.comm, self.role, self.cpu = tid, tgid, comm, role, cpu
        self.state = "sleep"        # run, ready, sleep, dead
        self.mode = "user"          # vCPU threads: guest, host, halt, vmm
        self.in_halt = False        # in an exit that asked for sleep
        self.user_halt = False      # ... which the VMM does
        self.in_run = False         # inside ioctl(KVM_RUN)
        self.syscall = None
        self.work = None
        self.sleep_state = "S"


class World:
    def __init__(self, seed, steps=600):
        r = self.r = random.Random(seed)
        self.steps = steps
        self.unit = r.choice((1, 1000))
        self.now = r.randrange(1, 500) * 10**9 + r.randrange(1000) * 1000
        self.n_cpus = r.randrange(1, 5)
        self.online = set(range(self.n_cpus))
        self.idle = [Task(IDLE, IDLE, "swapper/%d" % c, "idle", c) for c in range(self.n_cpus)]
        for t in self.idle:
            t.state = "run"
        self.cur = list(self.idle)
        self.events, self.truth, self.tasks = [], {}, []
        self.next_tid = r.randrange(90, 3000)
        self.queued = []
        self.scale = r.choice((20 * US, 300 * US, 3 * MS))
        self.have = self.profile()
        self.amd = r.random() < 0.5
        self.make_tasks()

    # -- what is recorded

    def profile(self):
        r = self.r
        have = {"switch": True, "waking": True, "wakeup": True, "migrate": True, "entry": True, "exit": True, "uexit": True,
                "sub": True, "irq": True, "sys": r.random() < 0.4, "wq": True, "vwake": True, "fork": True}
        kind = r.randrange(12)
        if kind == 0:
            for k in ("switch", "waking", "wakeup", "migrate"):
                have[k] = False
        elif kind == 1:
            for k in ("entry", "exit", "uexit", "sub", "vwake"):
                have[k] = False
        elif kind == 2:
            have["waking"] = have["wakeup"] = False
        elif kind == 3:
            have[r.choice(("waking", "wakeup"))] = False
        elif kind == 4:
            have["migrate"] = have["vwake"] = False
        elif kind == 5:
            have["uexit"] = have["sub"] = False
        return have

    def recorded(self, kind):
        key = {"sched_switch": "switch", "sched_waking": "waking", "sched_wakeup": "wakeup", "sched_wakeup_new": "wakeup",
               "sched_migrate_task": "migrate", "kvm_entry": "entry", "kvm_exit": "exit", "kvm_userspace_exit": "uexit",
               "kvm_vcpu_wakeup": "vwake", "sys_enter": "sys", "sys_exit": "sys", "sched_process_fork": "fork"}.get(kind)
        if not key:
            key = "sub" if kind.startswith("kvm_") else "wq" if kind.startswith("workqueue") else "irq"
        return self.have[key]

    def emit(self, cpu, kind, flags=".", task=None, **f):
        if self.recorded(kind):
            self.events.append(Event(self.now, cpu, task or self.cur[cpu], flags, kind, f))

    def tick(self, scale=None):
        self.now += self.r.choice((0, 1, 1, 2, 3)) * self.unit if scale is None else \
            self.unit * (1 + self.r.randrange(max(1, scale // self.unit)))

    # -- tasks

    def new_tid(self):
        self.next_tid += self.r.randrange(1, 4)
        return self.next_tid

    def add(self, tgid, comm, role, cpu=None):
        tid = self.new_tid()
        t = Task(tid, tgid if tgid else tid, comm, role, self.r.choice(sorted(self.online)) if cpu is None else cpu)
        self.tasks.append(t)
        if role == "vcpu":
            t.mode = "vmm"
            self.truth[tid] = [(self.now, "blocked")]
        return t

    def make_tasks(self):
        r = self.r
        for vm in range(r.randrange(1, 4)):
            main = self.add(0, r.choice(("qemu-system-x86", "firecracker", "lkvm", "crosvm")), "vmm")
            for n in range(r.randrange(1, 4)):
                self.add(main.tid, r.choice(("CPU %d/KVM", "vcpu%d", "fc_vcpu %d", "kvm-vcpu-%d")) % n, "vcpu")
            if r.random() < 0.3:
                self.add(main.tid, r.choice(ODD), "vcpu")        # a vCPU by what it does only
        for comm in r.sample(ODD, 3) + ["vhost-77", "kworker/0:1", "kworker/u8:2", "rcu_preempt", "make", "IO iothread1"]:
            self.add(0, comm, "kworker" if comm.startswith("kworker") else "other")

    def vcpu_truth(self, t):
        if t.role != "vcpu":
            return
        if t.state == "dead":
            s = "gone"
        elif t.state == "ready":
            s = "waiting"
        elif t.state == "sleep":
            s = "halted" if t.in_halt and t.sleep_state == "S" and (t.mode != "vmm" or t.user_halt) else "blocked"
        else:
            s = {"guest": "guest", "host": "host", "halt": "halted", "vmm": "vmm"}[t.mode]
        self.truth[t.tid].append((self.now, s))

    # -- the scheduler

    def switch(self, cpu, state):
        """the current task leaves @cpu in @state; somebody else comes"""
        prev = self.cur[cpu]
        if prev.mode == "guest" and prev.role == "vcpu":
            self.vm_exit(cpu, "interrupt" if self.amd else "EXTERNAL_INTERRUPT")
            self.tick()
        ready = [t for t in self.tasks if t.state == "ready" and t.cpu == cpu] if cpu in self.online else []
        steal = [t for t in self.tasks if t.state == "ready" and t.cpu != cpu] if cpu in self.online else []
        if not ready and steal and self.r.random() < 0.4:
            ready = [self.r.choice(steal)]
            self.migrate(cpu, ready[0], cpu)
            self.tick()
        nxt = self.r.choice(ready) if ready else self.idle[cpu]
        if nxt is prev or (prev.tid == IDLE and nxt.tid == IDLE):
            return
        self.emit(cpu, "sched_switch", prev_comm=prev.comm, prev_pid=prev.tid, prev_state=state, next_comm=nxt.comm,
                  next_pid=nxt.tid)
        if prev.tid != IDLE:
            prev.state = "dead" if state in "XZ" else "ready" if state.startswith("R") else "sleep"
            prev.sleep_state = state
            self.vcpu_truth(prev)
        nxt.state, nxt.cpu = "run", cpu
        self.cur[cpu] = nxt
        self.vcpu_truth(nxt)

    def migrate(self, by, task, to):
        if task.cpu != to:
            self.emit(by, "sched_migrate_task", comm=task.comm, pid=task.tid, orig_cpu=task.cpu, dest_cpu=to)
            task.cpu = to

    def wake(self, cpu, task, flags="."):
        target = task.cpu if self.r.random() < 0.7 and task.cpu in self.online else self.r.choice(sorted(self.online))
        self.emit(cpu, "sched_waking", flags, comm=task.comm, pid=task.tid, target_cpu=task.cpu)
        task.state = "ready"
        if task.role == "vcpu" and task.mode == "halt":
            task.mode = "host"
        if not self.have["waking"] and self.have["wakeup"]:
            wake_at = len(self.events)
        else:
            wake_at = None
            self.vcpu_truth(task)
        self.tick()
        self.migrate(cpu, task, target)
        self.tick()
        remote = target != cpu and self.r.random() < 0.3
        if remote:
            self.leave_guest(target)
        self.emit(target if remote else cpu, "sched_wakeup", "h" if remote else flags, comm=task.comm, pid=task.tid,
                  target_cpu=target)
        if wake_at is not None:
            self.vcpu_truth(task)

    def leave_guest(self, cpu):
        if self.cur[cpu].role == "vcpu" and self.cur[cpu].mode == "guest":
            self.vm_exit(cpu, "interrupt" if self.amd else "EXTERNAL_INTERRUPT")
            self.tick()

    # -- guests

    def vm_exit(self, cpu, reason):
        t = self.cur[cpu]
        self.emit(cpu, "kvm_exit", reason=reason, vcpu=0)
        t.mode = "halt" if reason in HALTS else "host"
        t.in_halt = reason in HALTS
        
        self.vcpu_truth(t)

    def vm_entry(self, cpu):
        t = self.cur[cpu]
        self.emit(cpu, "kvm_entry", vcpu=0)
        t.mode, t.in_halt = "guest", False
        self.vcpu_truth(t)

    def sys_enter(self, cpu, nr, args):
        self.emit(cpu, "sys_enter", nr=nr, args=args)
        self.cur[cpu].syscall = nr

    def sys_exit(self, cpu):
        t = self.cur[cpu]
        self.emit(cpu, "sys_exit", nr=t.syscall, ret=0)
        t.syscall = None

    def step_vcpu(self, cpu):
        r, t = self.r, self.cur[cpu]
        if t.mode == "guest":
            if r.random() < 0.3:
                self.vm_exit(cpu, HALTS[0] if self.amd else HALTS[1])
            else:
                self.vm_exit(cpu, r.choice(REASONS))
        elif t.mode == "halt":
            if r.random() < 0.4:
                self.emit(cpu, "kvm_vcpu_wakeup", ns=r.randrange(100000))
                t.mode = "host"
                self.vcpu_truth(t)
            else:
                self.switch(cpu, "S")
        elif t.mode == "host":
            what = r.randrange(10)
            if what < 4:
                self.vm_entry(cpu)
            elif what < 5:
                self.emit(cpu, r.choice(("kvm_page_fault", "kvm_pio", "kvm_msr", "kvm_nested_vmexit", "kvm_nested_vmenter")))
            elif what < 7:
                t.user_halt = t.in_halt and r.random() < 0.5
                self.emit(cpu, "kvm_userspace_exit", reason=5 if t.user_halt else r.choice((2, 6)))
                t.mode = "vmm"
                self.vcpu_truth(t)
                self.tick()
                if t.syscall == 16:
                    self.sys_exit(cpu)
            elif what < 9:
                self.switch(cpu, r.choice("SDDR"))
            else:
                self.switch(cpu, "R")
        elif t.syscall is not None:
            if r.random() < 0.5:
                self.switch(cpu, r.choice("SSD"))
            else:
                self.sys_exit(cpu)
        else:
            what = r.randrange(8)
            if what < 4:
                self.sys_enter(cpu, 16, (7, KVM_RUN, 0))
                if self.have["sys"]:
                    t.mode = "host"
                    self.vcpu_truth(t)
                self.tick(self.scale)
                self.vm_entry(cpu)
            elif what < 5:
                self.sys_enter(cpu, *r.choice(((16, (7, KVM_GET_REGS, 0)), (202, (1, 0, 0)), (7, (1, 2, 3)))))
            elif what < 7:
                self.switch(cpu, r.choice("SDR"))
            else:
                self.wake_some(cpu)

    # -- others

    def wake_some(self, cpu, flags="."):
        asleep = [t for t in self.tasks if t.state == "sleep"]
        if asleep:
            self.wake(cpu, self.r.choice(asleep), flags)

    def interrupt(self, cpu):
        soft = self.r.random() < 0.5
        self.leave_guest(cpu)
        if soft:
            self.emit(cpu, "softirq_entry", "s", vec=self.r.choice((1, 3, 7, 9)))
        else:
            self.emit(cpu, "irq_handler_entry", "h", irq=self.r.randrange(40))
        self.tick(20 * US)
        self.wake_some(cpu, "s" if soft else "h")
        self.tick()
        self.emit(cpu, "softirq_exit" if soft else "irq_handler_exit", "s" if soft else "h", vec=1, irq=3)

    def step_other(self, cpu):
        r, t = self.r, self.cur[cpu]
        what = r.randrange(12)
        if t.work:
            if what < 3:
                self.wake_some(cpu)
            elif what < 6:
                self.switch(cpu, r.choice("DR"))
            else:
                self.emit(cpu, "workqueue_execute_end", work=t.work)
                t.work = None
        elif what < 3:
            self.wake_some(cpu)
        elif what < 4:
            if t.syscall is None:
                self.sys_enter(cpu, *r.choice(((202, (1, 0, 0)), (0, (3, 0, 0)), (16, (9, r.choice(KVM_TYPE_IOCTLS), 0)))))
            else:
                self.sys_exit(cpu)
        elif what < 5 and t.role == "kworker" and self.queued:
            t.work = self.queued.pop(0)
            self.emit(cpu, "workqueue_execute_start", work=t.work)
        elif what < 6:
            work = 0xffff888000000000 + r.randrange(1 << 20) * 8
            self.queued.append(work)
            self.emit(cpu, "workqueue_queue_work", work=work)
            workers = [k for k in self.tasks if k.role == "kworker" and k.state == "sleep"]
            if workers:
                self.tick()
                self.wake(cpu, r.choice(workers))
        elif what < 7 and r.random() < 0.3:
            self.fork(cpu)
        elif what < 8 and r.random() < 0.1 and t.role == "other" and not t.syscall:
            self.switch(cpu, r.choice("XZ"))
        else:
            self.switch(cpu, r.choice(("S", "S", "D", "R", "R+", "I" if t.role == "kworker" else "S")))

    def fork(self, cpu):
        """a task, or a vCPU that is plugged in: it is named after its creator until it names itself"""
        r, by = self.r, self.cur[cpu]
        if len(self.tasks) > 40:
            return
        vcpu = by.role == "vmm" and r.random() < 0.6
        t = self.add(by.tgid if vcpu else 0, by.comm, "vcpu" if vcpu else "other", cpu)
        self.emit(cpu, "sched_process_fork", parent_comm=by.comm, parent_pid=by.tid, child_comm=t.comm, child_pid=t.tid)
        self.tick()
        t.state = "ready"
        self.vcpu_truth(t)
        t.cpu = r.choice(sorted(self.online))
        self.emit(cpu, "sched_wakeup_new", comm=t.comm, pid=t.tid, target_cpu=t.cpu)
        if vcpu:
            t.comm = "CPU %d/KVM" % r.randrange(3, 9)

    def hotplug(self):
        cpu = self.r.randrange(self.n_cpus)
        if cpu not in self.online:
            self.online.add(cpu)
            return
        if len(self.online) < 2 or self.cur[cpu].tid != IDLE:
            return
        self.online.discard(cpu)
        for t in self.tasks:
            if t.state == "ready" and t.cpu == cpu:
                self.migrate(cpu, t, self.r.choice(sorted(self.online)))
                self.tick()

    def run(self):
        r = self.r
        for _ in range(self.steps):
            self.tick(r.choice((2 * US, self.scale, self.scale, 10 * self.scale)) if r.random() < 0.95 else 40 * MS)
            if r.random() < 0.01:
                self.hotplug()
            cpu = r.choice(sorted(self.online))
            t = self.cur[cpu]
            if r.random() < 0.12:
                self.interrupt(cpu)
            elif t.tid == IDLE:
                self.switch(cpu, "R")
            elif t.role == "vcpu":
                self.step_vcpu(cpu)
            else:
                self.step_other(cpu)
        self.damage()
        return self

    # -- what the recorder did to it

    def damage(self):
        r = self.r
        self.losses = {}                    # index of the event before which the text says so: [(cpu, n)]
        self.late = r.random() < 0.4
        self.lossy = r.random() < 0.3
        # what perf script prints has no flags, so that interrupts are told by their own events
        self.perf = not self.lossy and r.random() < 0.3
        if self.late:
            self.events = self.events[r.randrange(len(self.events) // 2 + 1):]
        if not self.lossy:
            return
        keep, open_loss = [], {}
        windows = []
        for _ in range(r.randrange(1, 4)):
            at = r.randrange(len(self.events) + 1)
            windows.append((at, at + r.randrange(1, 60), r.randrange(self.n_cpus)))
        for i, e in enumerate(self.events):
            if any(a <= i < b and e.cpu == c for a, b, c in windows):
                open_loss[e.cpu] = open_loss.get(e.cpu, 0) + 1
                continue
            # a CPU's buffer says that it lost something before its next event
            if e.cpu in open_loss:
                self.losses.setdefault(len(keep), []).append((e.cpu, open_loss.pop(e.cpu)))
            keep.append(e)
        # at the end of the recording nobody tells what was lost: such events were simply not recorded
        self.events = keep
        self.end_cut = set(open_loss)

    # -- text

    def line(self, e):
        f = e.f
        rip = 0xffffffff81000000 + e.time % 4096
        text = {
            "sched_switch": lambda: "prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120" % (
                f["prev_comm"], f["prev_pid"], f["prev_state"], f["next_comm"], f["next_pid"]),
            "sched_waking": lambda: "comm=%s pid=%d prio=120 target_cpu=%03d" % (f["comm"], f["pid"], f["target_cpu"]),
            "sched_migrate_task": lambda: "comm=%s pid=%d prio=120 orig_cpu=%d dest_cpu=%d" % (
                f["comm"], f["pid"], f["orig_cpu"], f["dest_cpu"]),
            "sched_process_fork": lambda: "comm=%s pid=%d child_comm=%s child_pid=%d" % (
                f["parent_comm"], f["parent_pid"], f["child_comm"], f["child_pid"]),
            "kvm_entry": lambda: "vcpu %d, rip 0x%x" % (f["vcpu"], rip),
            "kvm_exit": lambda: "vcpu %d reason %s rip 0x%x info1 0x0000000000000000 info2 0x0000000000000000"
                                " intr_info 0x00000000 error_code 0x00000000" % (f["vcpu"], f["reason"], rip),
            "kvm_userspace_exit": lambda: "reason %s (%d)" % (
                {2: "KVM_EXIT_IO", 5: "KVM_EXIT_HLT", 6: "KVM_EXIT_MMIO"}[f["reason"]], f["reason"]),
            "kvm_vcpu_wakeup": lambda: "poll time %d ns, polling valid" % f["ns"],
            "kvm_page_fault": lambda: "vcpu 0 rip 0x%x address 0x0000000012345000 error_code 0x0000000100000014" % rip,
            "kvm_pio": lambda: "pio_write at 0x3f8 size 1 count 1 val 0x41",
            "kvm_msr": lambda: "msr_write 6e0 = 0x12345",
            "kvm_nested_vmexit": lambda: "reason EPT_VIOLATION rip 0x%x info1 0x0000000000000000 info2 0x0000000000000000"
                                         " intr_info 0x00000000 error_code 0x00000000" % rip,
            "kvm_nested_vmenter": lambda: "rip: 0x%016x vmcs: 0x0000000000100000 nested_rip: 0x%016x int_ctl: 0x00000000"
                                          " event_inj: 0x00000000 nested_ept=y nested_eptp: 0x0000000000200000" % (rip, rip),
            "sys_enter": lambda: "NR %d (%x, %x, %x, 0, 0, 0)" % ((f["nr"],) + f["args"]),
            "sys_exit": lambda: "NR %d = %d" % (f["nr"], f["ret"]),
            "irq_handler_entry": lambda: "irq=%d name=eth0" % f["irq"],
            "irq_handler_exit": lambda: "irq=%d ret=handled" % f["irq"],
            "softirq_entry": lambda: "vec=%d [action=RCU]" % f["vec"],
            "softirq_exit": lambda: "vec=%d [action=RCU]" % f["vec"],
            "workqueue_queue_work": lambda: "work struct=%016x function=vmstat_update workqueue=mm_percpu_wq req_cpu=64 cpu=0" % f["work"],
            "workqueue_execute_start": lambda: "work struct %016x: function vmstat_update" % f["work"],
            "workqueue_execute_end": lambda: "work struct %016x: function vmstat_update" % f["work"],
        }
        text["sched_wakeup"] = text["sched_wakeup_new"] = text["sched_waking"]
        body = text[e.kind]()
        if self.unit == 1:
            stamp = "%d.%09d" % divmod(e.time, 10**9)
        else:
            stamp = "%d.%06d" % (e.time // 10**9, e.time % 10**9 // 1000)
        if self.perf:
            who = "%d/%-7d" % (0 if e.tid == IDLE else e.tgid, e.tid)
            system = {"kvm": "kvm", "sys": "raw_syscalls", "irq": "irq", "sof": "irq", "wor": "workqueue"}.get(e.kind[:3], "sched")
            return "%16s %s [%03d] %s: %s:%s: %s\n" % ("swapper" if e.tid == IDLE else e.comm, who, e.cpu, stamp, system, e.kind, body)
        tgid = "-----" if e.tid == IDLE else "%5d" % e.tgid
        return "%16s-%-7d (%s) [%03d] d.%s2. %s: %s: %s\n" % (e.comm, e.tid, tgid, e.cpu, e.flags, stamp, e.kind, body)

    def text(self, pad=0):
        if self.perf:
            return "".join(self.line(e) for e in self.events)
        out = ["# tracer: nop\n#\n# entries-in-buffer/entries-written: %d/%d   #P:%d\n#\n" % (
            len(self.events) + pad, len(self.events) + pad, self.n_cpus),
            "#           TASK-PID     TGID     CPU#  |||||  TIMESTAMP  FUNCTION\n"]
        first = self.events[0].time if self.events else 0
        for _ in range(pad):
            out.append("%16s-%-7d (-----) [%03d] d..2. %d.%09d: %s: state=1 cpu_id=0\n" % (
                ("<idle>", 0, 0) + divmod(first, 10**9) + ("cpu_idle",)))
        for i, e in enumerate(self.events):
            for cpu, n in self.losses.get(i, ()):
                out.append("CPU:%d [LOST %d EVENTS]\n" % (cpu, n))
            out.append(self.line(e))
        return "".join(out)
