#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of programs whose waits are known (fixtures/ground-truth): their chains, link by link."""
import os
import shutil
import sqlite3
import subprocess
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
TRUTH = "fixtures/ground-truth"
VCPU = "CPU 0/KVM"
ANY = (0, 10**9)
# What is far shorter than the stall is the scheduler's own time; how much depends on the machine.
SHORT = (0, 0.2)
# depth, kind, task, ms from..to, parts of the text, inferred
CHAINS = {
    "mutex.data.xz": ((30, 40), "blocked", (
        (0, "blocked", VCPU, (30, 40), ("(D) waiting for a mutex until woken by holder on CPU 1", "who held it (inferred)"), 1),
        (1, "running", "holder", (30, 40), ("holder runs on CPU 1",), 0),
        (0, "runnable", VCPU, SHORT, ("waits on CPU 1 behind holder 100 %",), 0),
    )),
    "handoff.data.xz": ((19, 22), "blocked", (
        (0, "blocked", VCPU, (19, 22), ("(D) waiting for a mutex until woken by holder on CPU 1", "who held it (inferred)"), 1),
        (1, "blocked", "holder", (19, 22), ("until woken by handler on CPU 0",), 0),
        (2, "running", "handler", (4, 6), ("handler runs on CPU 0",), 0),
        (2, "blocked", "handler", (14, 16), ("until woken from hardirq on CPU 0, timer ",), 0),
        (2, "runnable", "handler", SHORT, ("waits on CPU 0",), 0),
        (2, "running", "handler", SHORT, ("handler runs on CPU 0",), 0),
        (1, "runnable", "holder", SHORT, ("waits on CPU 1",), 0),
        (1, "running", "holder", SHORT, ("holder runs on CPU 1",), 0),
        (0, "runnable", VCPU, SHORT, ("waits on CPU 0 behind handler 100 %",), 0),
    )),
    "neighbour.data.xz": ((199, 201), "runq", (
        (0, "preempted", VCPU, (199, 201), ("waits on CPU 1 behind ", "neighbour-a 50 %", "neighbour-b 50 %"), 0),
    )),
    "kworker.data.xz": ((30, 31), "blocked", (
        (0, "blocked", VCPU, (30, 31), ("(D) until woken by kworker/1:", " on CPU 1 work "), 0),
        (1, "runnable", "kworker/1:", (29.9, 31), ("waits on CPU 1 behind hog 100 %",), 0),
        (1, "running", "kworker/1:", (0, 0.5), ("runs on CPU 1 work ", "queued by " + VCPU), 0),
        (0, "runnable", VCPU, SHORT, ("waits on CPU 0",), 0),
    )),
}
# Generated, for what can't be made to happen at will: events of a fault during which ksmd invalidates and memory is reclaimed.
FAULT = """# tracer: nop
       CPU 0/KVM-10      (    9) [000] d..2. 100.000000: kvm_entry: vcpu 0, rip 0xfff0
       CPU 0/KVM-10      (    9) [000] d..2. 100.010000: kvm_exit: vcpu 0 reason EPT_VIOLATION rip 0xfff0 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0
       CPU 0/KVM-10      (    9) [000] ..... 100.010100: kvm_page_fault: vcpu 0 rip 0xfff0 address 0x0000000000001000 error_code 0x14
       CPU 0/KVM-10      (    9) [000] ..... 100.010200: mm_vmscan_direct_reclaim_begin: order=0 gfp_flags=GFP_HIGHUSER_MOVABLE
            ksmd-50      (   50) [001] ..... 100.020000: kvm_unmap_hva_range: mmu notifier unmap range: 0x7f0000000000 -- 0x7f0000001000
            ksmd-50      (   50) [001] ..... 100.021000: kvm_unmap_hva_range: mmu notifier unmap range: 0x7f0000002000 -- 0x7f0000003000
       CPU 0/KVM-10      (    9) [000] ..... 100.038200: mm_vmscan_direct_reclaim_end: nr_reclaimed=32
       CPU 0/KVM-10      (    9) [000] d..2. 100.040000: kvm_entry: vcpu 0, rip 0xfff0
       CPU 0/KVM-10      (    9) [000] d..2. 100.050000: kvm_exit: vcpu 0 reason HLT rip 0xfff0 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0
"""
results = []


def ok(good, what, *details):
    results.append(good)
    print(("ok" if good else "not ok"), len(results), "-", what)
    for line in details if not good else ():
        print("#", line)


def within(ns, limits):
    return limits[0] * 1e6 <= ns <= limits[1] * 1e6


def check(name, case):
    length, kind, want = CHAINS[name]
    stall = case.execute("SELECT id, kind, duration_ns, named_ns FROM stall WHERE task = ? ORDER BY duration_ns DESC LIMIT 1",
                         (VCPU,)).fetchone()
    ok(stall and stall[1] == kind and within(stall[2], length), "%s: the stall and its length" % name, stall)
    got = case.execute("SELECT depth, kind, task, duration_ns, what, inferred FROM chain_link WHERE stall_id = ? ORDER BY seq",
                       (stall[0],)).fetchall()
    same = len(got) == len(want) and all(
        g[0] == w[0] and g[1] == w[1] and g[2].startswith(w[2]) and within(g[3], w[3]) and all(p in g[4] for p in w[4]) and
        g[5] == w[5] for g, w in zip(got, want))
    ok(same, "%s: the chain, link by link" % name, *got)
    ok(stall[3] >= 0.99 * stall[2], "%s: all of it has a named cause" % name, stall)


def check_fault(tmp):
    path, out = os.path.join(tmp, "fault.txt"), os.path.join(tmp, "fault.sqlite")
    with open(path, "w", encoding="ascii") as f:
        f.write(FAULT)
    subprocess.run([KVMORTEM, path, "-q", "-o", out], capture_output=True, check=True)
    case = sqlite3.connect(out)
    what = case.execute("SELECT what FROM chain_link WHERE kind = 'host' ORDER BY duration_ns DESC LIMIT 1").fetchone()[0]
    case.close()
    ok("page fault at gpa 0x1000" in what and "in direct reclaim for 28.000 ms" in what and
       "2 mmu notifier invalidations meanwhile, by ksmd" in what, "a fault: reclaim and invalidations are named", what)


def main():
    tmp = tempfile.mkdtemp()
    try:
        check_fault(tmp)
        for name in sorted(CHAINS):
            out = os.path.join(tmp, name + ".sqlite")
            run = subprocess.run([KVMORTEM, os.path.join(TRUTH, name), "-q", "--stall-threshold", "1", "-o", out],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                ok(False, name, run.stderr)
                continue
            case = sqlite3.connect(out)
            check(name, case)
            case.close()
    finally:
        shutil.rmtree(tmp)
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
