#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""signatures record: the script that it prints, the part of it that needs no recorder, and kvmortem on what that leaves."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CHURN = "kvm-tdp-mmu-root-churn-smm-unload"
EXIT = ("vcpu 0 reason MSR_WRITE rip 0xffff info1 0x0000000000000000 info2 0x0000000000000000 "
        "intr_info 0x00000000 error_code 0x00000000")
TRACE = "".join(f" CPU 0/KVM-101   (    100) [000] d..1.   1.00{i}000: kvm_exit: {EXIT}\n"
                f" CPU 0/KVM-101   (    100) [000] d..1.   1.00{i}500: kvm_entry: vcpu 0, rip 0xffff\n" for i in range(5))
HOST = {
    "proc/version": "Linux version 6.1.0-50-amd64 (builder@host) (gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-01-10)\n",
    "proc/vmstat": "nr_free_pages 1000\nnuma_pte_updates 4711\nnuma_hint_faults 12\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    "proc/4711/cgroup": "0::/machine.slice/vm.scope\n",
    "proc/4711/task/4712/cgroup": "0::/machine.slice/vm.scope/vcpu0\n",
    "sys/module/kvm/parameters/tdp_mmu": "Y\n",
    "sys/module/kvm/parameters/nx_huge_pages": "Y\n",
    "sys/kernel/mm/ksm/run": "1\n",
    "sys/kernel/mm/ksm/pages_sharing": "123456\n",
    "sys/fs/cgroup/machine.slice/vm.scope/cpu.max": "20000 100000\n",
    "sys/fs/cgroup/machine.slice/vm.scope/cpu.stat": "usage_usec 1000\nuser_usec 1\nsystem_usec 2\nnr_periods 574\nnr_throttled 572\nthrottled_usec 28115357\n",
    "sys/fs/cgroup/machine.slice/vm.scope/vcpu0/cpu.weight": "100\n",
}
EVIL = """id: my-evil
title: x
status: unverified
mechanism: x
evidence:
  - id: a
    strength: strong
    needs: ["fact:sysctl.kernel.x';touch /tmp/evil;'", "event:kvm_exit"]
    says: "x"
    sql: SELECT source_id AS source, cite_id AS cite FROM exit_stat
workaround: none
record_next:
  - why: "one\\ntouch /tmp/evil\\n"
    command: "bpftrace x\\ntouch /tmp/evil"
references: [none]
"""
count = 0


def ok(good, what, detail=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good and detail:
        print("# " + str(detail).replace("\n", "\n# "))


def run(*args, **more):
    return subprocess.run(args, capture_output=True, text=True, **more)


def variable(script, name):
    found = re.search(rf"^{name}='([^']*)'$", script, re.M)
    return found.group(1).split("\n") if found and found.group(1) else []


def query(path, sql):
    done = run(KVMORTEM, "query", "-q", "-f", "json", path, sql)
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr


def script_text(tmp):
    """What the script has in it."""
    everything = run(KVMORTEM, "signatures", "record")
    ok(everything.returncode == 0 and everything.stdout.startswith("#!/bin/sh\n"), "without ids: a script for the whole catalogue", everything.stderr)
    one = run(KVMORTEM, "signatures", "record", CHURN).stdout
    ok("p hv_track_root_tdp root=%si" in variable(one, "PROBES") and "kvm_smm_transition|kvm_enter_smm" in variable(one, "EVENTS"),
       "for one signature: its probes and events", one[:1500])
    events = variable(everything.stdout, "EVENTS")
    ok(len(events) == len(set(events)) > 4 and len([e for e in events if e.endswith("kvm_exit")]) == 1, "each event once", events)
    for name, text in (("all.sh", everything.stdout), ("one.sh", one)):
        path = os.path.join(tmp, name)
        open(path, "w").write(text)
        ok(run("sh", "-n", path).returncode == 0, f"{name}: the shell reads it")
        if shutil.which("shellcheck"):
            r = run("shellcheck", path)
            ok(r.returncode == 0, f"{name}: shellcheck finds nothing", r.stdout)
    r = run(KVMORTEM, "signatures", "record", "no-such-one")
    ok(r.returncode == 2 and "no-such-one" in r.stderr, "neither an id nor a file: usage", r.stderr)


def of_a_case(tmp):
    trace = os.path.join(tmp, "trace.txt")
    open(trace, "w").write(TRACE)
    r = run(KVMORTEM, "signatures", "record", CHURN, trace)
    ok(r.returncode == 0 and "PID='100'" in r.stdout, "of a case: the VM's process is filled in", r.stdout[:1500] + r.stderr)
    ok("p hv_track_root_tdp root=%si" in variable(r.stdout, "PROBES") and not variable(r.stdout, "FILES")[1:], "and what could not be seen", r.stdout[:1500])
    r = run(KVMORTEM, "signatures", "record", "numa-scan-cost-only", trace)
    ok("trace-cmd record -p function_graph" in r.stdout and "-P 101 " in r.stdout, "what it has no part for stands in comments, filled", r.stdout[:1500])
    capture = "fixtures/captures/B-root-churn-tdp1-prefix-kvm/trace-full.txt.xz"
    r = run(KVMORTEM, "signatures", "record", CHURN, capture)
    ok(r.returncode == 2 and "nothing is left" in r.stderr, "a match has nothing left to record", r.stderr)
    evil = os.path.join(tmp, "evil")
    os.mkdir(evil)
    open(os.path.join(evil, "my-evil.yaml"), "w").write(EVIL)
    r = run(KVMORTEM, "signatures", "record", "my-evil", "--signatures", evil)
    ok(r.returncode == 0 and all(l.startswith("#") for l in r.stdout.splitlines() if "/tmp/evil" in l), "prose and keys of a catalogue never become shell", r.stdout[:1500])


def offline(tmp):
    """The script's part that only reads files, on a made-up host."""
    root, out = os.path.join(tmp, "root"), os.path.join(tmp, "out")
    os.mkdir(out)
    for name, text in HOST.items():
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        open(os.path.join(root, name), "w").write(text)
    env = dict(os.environ, KVMORTEM_ROOT=root)
    r = run("sh", os.path.join(tmp, "all.sh"), "--facts-only", "--pid", "4711", out, env=env)
    packed = r.stdout.strip()
    ok(r.returncode == 0 and packed.startswith(out) and os.path.exists(packed), "it prints the archive's name", r.stdout + r.stderr)
    ok(sorted(os.listdir(out)) == sorted([os.path.basename(packed), os.path.basename(packed)[:-7]]), "one directory and one archive are new", os.listdir(out))
    facts = {row["key"]: row["value"] for row in query(packed, "SELECT key, value FROM fact")}
    wanted = {"kernel.release": "6.1.0-50-amd64", "sysctl.kernel.numa_balancing": "1", "param.kvm.tdp_mmu": "Y", "param.kvm.nx_huge_pages": "Y",
              "ksm.pages_sharing": "123456", "vmstat.numa_pte_updates": "4711", "vmstat.numa_pte_updates.delta": "0"}
    ok(all(facts.get(k) == v for k, v in wanted.items()), "kvmortem reads its facts", {k: facts.get(k) for k in wanted})
    groups = query(packed, "SELECT path, quota_ns, nr_throttled FROM cgroup WHERE quota_ns > 0")
    ok(groups and groups[0]["path"].endswith("machine.slice/vm.scope") and groups[0]["nr_throttled"] == 572, "and its control groups", groups)
    ok("is not there" in open(glob.glob(os.path.join(out, "*", "record.log"))[0]).read() or r.stderr, "what is missing is said", r.stderr)
    r = run("sh", os.path.join(tmp, "all.sh"), "--facts-only", os.path.join(tmp, "missing"), env=env)
    ok(r.returncode == 1 and "no directory" in r.stderr, "a missing directory is refused", r.stderr)
    r = run("sh", os.path.join(tmp, "all.sh"), "--seconds", "1; reboot", out, env=env)
    ok(r.returncode == 1 and "needs a number" in r.stderr, "a number that is none is refused", r.stderr)
    if os.geteuid():
        r = run("sh", os.path.join(tmp, "all.sh"), out, env=env)
        ok(r.returncode == 1 and "root" in r.stderr, "without root nothing is recorded", r.stderr)
    r = run("sh", os.path.join(tmp, "all.sh"), "--max-mb", "999999", out, env=env)
    ok(r.returncode == 1 and ("free" in r.stderr or "root" in r.stderr), "too little free space is refused", r.stderr)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        script_text(tmp)
        of_a_case(tmp)
        offline(tmp)
    print(f"1..{count}")


main()
