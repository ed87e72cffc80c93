# SPDX-License-Identifier: GPL-2.0-or-later
"""props_ref.py - a slow reference for states, stalls and what tasks and CPUs did, which holds a whole recording in memory.

It knows the rules of doc/case-file.md and analyzer/states.h and nothing else of the engine. For whole recordings it says
for every ns what state a vCPU thread is in; for every task whether it ran, was runnable or slept until woken by whom; and for
every CPU who had it.
"""
import bisect
import re

KVM_RUN = 0xae80
HALTS = ("hlt", "HLT")
USER_HLT = 5            # KVM_EXIT_HLT: the VMM sleeps for its guest
STATES = ("guest", "host", "vmm", "halted", "waiting", "blocked", "unknown", "lost")
VCPU_NAME = re.compile(r"(CPU \d{1,5}/KVM|vcpu\d{1,5}|fc_vcpu \d{1,5}|kvm-vcpu-\d{1,5})$")
WAKES = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
OWN = ("kvm_entry", "kvm_exit", "kvm_userspace_exit", "kvm_vcpu_wakeup", "sys_enter", "sys_exit")


class Span:
    """@state from start to end; flags: in_exit, edge (not over at the recording's end); why: what else is known"""
    __slots__ = ("start", "end", "state", "in_exit", "edge", "preempted", "sleep")

    def __init__(self, start, end, state, in_exit=False, edge=False, preempted=False, sleep=None):
        self.start, self.end, self.state, self.in_exit, self.edge = start, end, state, in_exit, edge
        self.preempted, self.sleep = preempted, sleep


class Reference:
    def __init__(self, events):
        self.events = events
        self.last = events[-1].time if events else 0
        self.kinds = {e.kind for e in events}
        self.first_entry = next((e.time for e in events if e.kind == "kvm_entry"), 1 << 63)
        self.no_wakes = not self.kinds & set(WAKES)
        self.first_own, self.last_seen, self.comm, self.tgid = {}, {}, {0: "swapper"}, {}
        for e in events:
            if e.tid:
                self.first_own.setdefault(e.tid, e.time)
                self.last_seen[e.tid] = e.time
                self.comm[e.tid], self.tgid[e.tid] = e.comm, e.tgid
            if e.kind == "sched_switch" and e.f["next_pid"]:
                self.last_seen[e.f["next_pid"]] = e.time
                self.comm[e.f["next_pid"]] = e.f["next_comm"]
            if e.kind in WAKES or e.kind == "sched_migrate_task":
                if e.kind in WAKES:
                    self.comm[e.f["pid"]] = e.f["comm"]
        self.vcpus = {}                     # tid -> index of the event from which on it is known to be one
        for i, e in enumerate(events):
            if e.tid and (e.kind in ("kvm_entry", "kvm_exit") or VCPU_NAME.match(e.comm)):
                self.vcpus.setdefault(e.tid, i)
            for tid, comm in ((e.f.get("pid"), e.f.get("comm")), (e.f.get("next_pid"), e.f.get("next_comm"))):
                if tid and e.kind in WAKES + ("sched_switch",) and VCPU_NAME.match(comm):
                    self.vcpus.setdefault(tid, i + 1)       # that event itself is not yet one of a vCPU

    # -- vCPU threads

    def marks(self, tid):
        """what happened to the thread, in order: (time, what, detail)"""
        for i, e in enumerate(self.events):
            f, known = e.f, i >= self.vcpus[tid]
            if e.kind == "sched_switch":
                if f["prev_pid"] == tid:
                    yield e, "out", f["prev_state"], known
                if f["next_pid"] == tid:
                    yield e, "in", None, known
            elif e.kind in WAKES and f["pid"] == tid:
                yield e, "wake", None, known
            elif e.tid == tid and e.kind in OWN and known:
                yield e, e.kind, None, known

    def states(self, tid):
        """spans of the thread from its first to its last mark, then what is open"""
        run, ctx, halting, in_run, kvm = None, None, False, False, False
        sleep = user_halt = None
        since, spans = None, []

        def close(end, state, **kw):
            nonlocal since
            if since is not None and end > since:
                spans.append(Span(since, end, state, **kw))
            since = end

        def as_it_looks():
            in_exit = ctx in ("host", "vmm")
            if run == "run":
                return dict(state=ctx or "unknown", in_exit=in_exit)
            if run == "ready" or run == "woken":
                return dict(state="waiting" if ctx != "halted" else "halted", in_exit=in_exit, preempted=run == "ready")
            if run == "asleep":
                if sleep == "halt":
                    return dict(state="halted", in_exit=in_exit)
                if self.no_wakes:
                    return dict(state="unknown", in_exit=in_exit)
                if ctx is None and sleep != "D":
                    return dict(state="unknown")
                return dict(state="blocked", in_exit=in_exit, sleep=sleep)
            return dict(state="unknown")

        for e, what, detail, known in self.marks(tid):
            t = e.time
            if since is None or not known and not (what == "wake" and run in ("run", "ready", "woken")):
                since = t
            if what == "out":
                if run == "run" and ctx != "guest":
                    close(t, **as_it_looks())
                else:
                    close(t, "unknown")
                if ctx == "guest":
                    ctx = None
                if detail.startswith("R"):
                    run = "ready"
                elif detail in "XZ":
                    run, ctx = None, None
                else:
                    run = "asleep"
                    sleep = "halt" if halting and detail == "S" and (ctx != "vmm" or user_halt) else detail
            elif what == "in":
                if run in ("ready", "woken"):
                    close(t, **as_it_looks())
                elif run == "asleep" and sleep == "halt" and self.no_wakes:
                    close(t, **as_it_looks())
                elif run == "asleep":
                    close(t, "unknown", in_exit=ctx in ("host", "vmm"))
                else:
                    close(t, "unknown")
                if run == "asleep" and ctx == "halted":
                    ctx = "host"
                run = "run"
            elif what == "wake":
                if run in ("run", "ready", "woken"):
                    continue
                if run == "asleep":
                    close(t, **as_it_looks())
                    ctx = "host" if ctx == "halted" else ctx
                else:
                    close(t, "unknown")
                run = "woken"
            else:
                if what == "sys_enter":
                    in_run = e.f["args"][1] == KVM_RUN
                    if not in_run or ctx in ("guest", "host", "halted"):
                        continue
                if what == "sys_exit":
                    ended, in_run = in_run, False
                    if not ended and not (kvm and ctx is None):
                        continue
                    if ctx == "vmm":
                        continue
                if what == "kvm_vcpu_wakeup" and ctx != "halted":
                    continue
                kvm |= what in ("kvm_entry", "kvm_exit")
                if run != "run":
                    close(t, "unknown")
                    run = "run"
                known = {"kvm_entry": ctx != "guest", "kvm_exit": ctx == "guest", "kvm_vcpu_wakeup": True}
                if known.get(what, ctx != "guest"):
                    close(t, **as_it_looks())
                else:
                    close(t, "unknown")
                halting = what == "kvm_exit" and e.f["reason"] in HALTS or (
                    halting and what not in ("kvm_entry", "kvm_exit", "sys_exit"))
                if what in ("kvm_entry", "kvm_exit", "kvm_userspace_exit"):
                    user_halt = e.f.get("reason") == USER_HLT
                    halting |= user_halt
                ctx = {"kvm_entry": "guest", "kvm_exit": "halted" if halting else "host", "kvm_userspace_exit": "vmm",
                       "kvm_vcpu_wakeup": "host", "sys_enter": "host" if e.time >= self.first_entry else None, "sys_exit": "vmm"}[what]
        if since is not None:
            close(self.last, edge=True, **as_it_looks())
        return spans

    def sums(self, spans, tid, windows):
        """ns per state in each of the windows, of the time between the thread's first and last event"""
        first, last = self.first_own.get(tid, 1 << 63), self.last_seen.get(tid, 0)
        out = []
        for a, b in windows:
            a, b = max(a, first), min(b, last)
            ns = dict.fromkeys(STATES, 0)
            for s in spans:
                x, y = max(a, s.start), min(b, s.end)
                if y <= x:
                    continue
                ns[s.state] += y - x
            if b > a:
                ns["unknown"] += b - a - sum(ns.values())
            out.append(ns)
        return out

    def stalls(self, tid, spans, threshold):
        """(start, end) of stretches without progress"""
        out, cur = [], []
        for s in spans:
            pause = s.state in ("guest", "halted", "lost") or (s.state == "unknown" and not s.in_exit)
            if s.edge and not pause and (s.state == "vmm" or (s.state == "blocked" and s.sleep != "D")):
                break
            if pause:
                if cur:
                    out.append(cur)
                cur = []
            else:
                cur.append(s)
        if cur:
            out.append(cur)
        return [(c[0].start, c[-1].end, c) for c in out if c[-1].end - c[0].start >= threshold]

    # -- all tasks and CPUs

    def schedule(self):
        """by task: spans with state run/ready/asleep/unknown, who woke it; by CPU: who had it"""
        self.of, self.on = {}, {}
        seen, cpus = {}, {}

        def turn(tid, t, state, cpu, wake=None):
            was = seen.get(tid)
            if was and t > was[1]:
                self.of.setdefault(tid, []).append((was[1], t, was[0], was[2], wake if was[0] == "asleep" else None))
            seen[tid] = (state, t, cpu)

        for e in self.events:
            f = e.f
            if e.kind == "sched_switch":
                had = cpus.get(e.cpu)
                if had and had[1] < e.time and had[0] == f["prev_pid"]:
                    self.on.setdefault(e.cpu, []).append((had[1], e.time, had[0]))
                cpus[e.cpu] = (f["next_pid"], e.time)
                if f["prev_pid"]:
                    st = f["prev_state"]
                    turn(f["prev_pid"], e.time, "ready" if st[0] == "R" else "unknown" if st in "XZ" else "asleep", e.cpu)
                if f["next_pid"]:
                    was = seen.get(f["next_pid"])
                    if was and was[0] == "asleep":
                        # nobody was seen to wake it
                        seen[f["next_pid"]] = ("unwoken", was[1], was[2])
                    turn(f["next_pid"], e.time, "run", e.cpu)
            elif e.kind in WAKES:
                was = seen.get(f["pid"])
                if was and was[0] in ("run", "ready"):
                    continue
                if e.kind == "sched_wakeup_new" and not was:
                    seen[f["pid"]] = ("asleep", 0, None)
                turn(f["pid"], e.time, "ready", f["target_cpu"], e)
        for tid, (state, t, cpu) in seen.items():
            self.of.setdefault(tid, []).append((t, self.last + 1, state, cpu, None))
        for cpu, (tid, t) in cpus.items():
            self.on.setdefault(cpu, []).append((t, self.last + 1, tid))
        self.starts = {tid: [x[0] for x in v] for tid, v in self.of.items()}

    def at(self, tid, start, end):
        """the spans of a task that overlap [start, end)"""
        v = self.of.get(tid, [])
        i = max(0, bisect.bisect_right(self.starts.get(tid, []), start) - 1)
        out = []
        while i < len(v) and v[i][0] < end:
            if v[i][1] > start:
                out.append(v[i])
            i += 1
        return out

    def shares(self, cpu, start, end):
        ns = {}
        for a, b, tid in self.on.get(cpu, ()):
            x, y = max(a, start), min(b, end)
            if y > x:
                ns[tid] = ns.get(tid, 0) + y - x
        return ns
