#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every recording among the fixtures: states tile, links tile; how much has a named cause; and chains that are known."""
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures"
results = []

NEVER = {
    "states add up to the time from first to last event":
        "SELECT count(*) FROM vcpu WHERE guest_ns + host_ns + vmm_ns + halted_ns + waiting_ns + blocked_ns + unknown_ns"
        " + lost_ns <> last_ns - first_ns"
        " OR min(guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, blocked_ns, unknown_ns, lost_ns) < 0",
    "slices add up to the states":
        "SELECT count(*) FROM vcpu v WHERE (SELECT sum(guest_ns) FROM state_slice s WHERE s.vcpu_id = v.id) <> guest_ns"
        " OR (SELECT sum(waiting_ns) FROM state_slice s WHERE s.vcpu_id = v.id) <> waiting_ns"
        " OR (SELECT count(*) FROM state_slice s WHERE s.vcpu_id = v.id) > 512",
    "links of depth 0 tile their stall":
        "SELECT count(*) FROM stall s WHERE duration_ns <> (SELECT coalesce(sum(duration_ns), -1) FROM chain_link l"
        " WHERE l.stall_id = s.id AND depth = 0)",
    "children tile their parent":
        "SELECT count(*) FROM (SELECT p.start_ns ps, p.duration_ns pd, min(c.start_ns) cs, sum(c.duration_ns) cd"
        " FROM chain_link p JOIN chain_link c ON c.parent_id = p.id GROUP BY p.id) WHERE ps <> cs OR pd <> cd",
    "links follow each other without gap or overlap":
        "SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY stall_id, parent_id"
        " ORDER BY seq) e FROM chain_link) WHERE e IS NOT NULL AND e <> start_ns",
    "no more is named than there is":
        "SELECT count(*) FROM stall WHERE named_ns > duration_ns OR named_ns < 0",
    "every stall has a cause, a pattern and a citation":
        "SELECT count(*) FROM stall WHERE cause IS NULL OR pattern_id IS NULL OR cites IS NULL",
    "patterns count all stalls":
        "SELECT count(*) FROM stall_total t WHERE stalls <> (SELECT coalesce(sum(count), 0) FROM pattern p"
        " WHERE p.source_id = t.source_id)",
    "link kinds are those of the contract":
        "SELECT count(*) FROM chain_link WHERE kind NOT IN ('running', 'host', 'vmm', 'runnable', 'preempted',"
        " 'throttled', 'blocked', 'irq', 'timer', 'retry-loop', 'folded', 'unknown', 'lost')",
}


def ok(good, what, *details):
    results.append(good)
    print(("ok" if good else "not ok"), len(results), "-", what)
    for line in details if not good else ():
        print("#", line)


def case_of(path, tmp):
    out = os.path.join(tmp, "case.sqlite")
    if os.path.exists(out):
        os.unlink(out)
    run = subprocess.run([KVMORTEM, path, "-q", "-o", out], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError("%s: status %d: %s" % (path, run.returncode, run.stderr))
    return sqlite3.connect(out)


def one(case, sql, *args):
    row = case.execute(sql, args).fetchone()
    return row[0] if row else None


def recorded(case, *events):
    have = {r[0].split(":")[-1] for r in case.execute("SELECT event FROM coverage")}
    return all(any(e in have for e in names.split("|")) for names in events)


def check(path, case):
    where = os.path.relpath(path, CAPTURES)
    bad = [what for what, sql in NEVER.items() if one(case, sql)]
    ok(not bad, "%s: states and links tile" % where, *bad)
    for stalls, ns, named, known in case.execute(
            "SELECT stalls, stall_ns, named_ns, state_known_ns FROM stall_total WHERE stalls > 0"):
        vcpu = one(case, "SELECT 100.0 * sum(last_ns - first_ns - unknown_ns - lost_ns) / sum(last_ns - first_ns) FROM vcpu")
        print("# %s: %d stalls, %.1f ms: state known %.1f %%, cause named %.1f %%; vCPU time with a known state %s" %
              (where, stalls, ns / 1e6, 100.0 * known / ns, 100.0 * named / ns,
               "%.1f %%" % vcpu if vcpu is not None else "-"))
        # what tells who waits for whom has to be there, and enough of it to be a figure
        if recorded(case, "kvm_entry", "kvm_exit", "sched_switch", "sched_waking|sched_wakeup") and ns > 10**9 and \
                recorded(case, "kvm_userspace_exit", "kvm_page_fault|kvm_pio") and not one(case, "SELECT count(*) FROM loss"):
            ok(named >= 0.95 * ns, "%s: at least 95 %% of the stall time has a named cause" % where,
               "it is %.2f %%" % (100.0 * named / ns))


def check_minshares(case):
    """The founding case: README.txt of the capture gives the wait and its shares."""
    row = case.execute("SELECT id, kind, duration_ns, task FROM stall ORDER BY duration_ns DESC LIMIT 1").fetchone()
    ok(row[1] == "runq" and row[3] == "CPU 0/KVM" and round(row[2] / 1e5) == 38238, "minshares: the 3823.8 ms wait", row)
    what = one(case, "SELECT what FROM chain_link WHERE stall_id = ? AND depth = 0", row[0])
    ok("CPU 1/KVM 50 %" in what and "CPU idle 50 %" in what, "minshares: behind CPU 1/KVM, half of it idle", what)
    ran = one(case, "SELECT sum(duration_ns) FROM chain_link WHERE stall_id = ? AND kind = 'running' AND task = 'CPU 1/KVM'", row[0])
    idle = one(case, "SELECT sum(duration_ns) FROM chain_link WHERE stall_id = ? AND kind = 'throttled'", row[0])
    ok(round(idle / 1e5) == 18975 and abs(ran - 1925.3e6) < 1e6, "minshares: the alternation in its children", ran, idle)


def check_createvm(case):
    """KVM_CREATE_VM waits for the nx recovery thread, which waits for a grace period."""
    kinds = {r[0] for r in case.execute("SELECT what FROM stall WHERE subject = 'operation'")}
    ok(kinds == {"KVM_CREATE_VM"}, "createvm: the operations are KVM_CREATE_VM", kinds)
    n = one(case, "SELECT count(*) FROM chain_link a JOIN chain_link b ON b.parent_id = a.id WHERE a.depth = 0"
            " AND a.kind = 'blocked' AND a.what LIKE '%kvm_vm_create_worker_thread()%until woken by kvm-nx-lpage-re%'"
            " AND b.kind = 'blocked' AND b.what LIKE '%in synchronize_rcu()%softirq%'")
    ok(n > 0, "createvm: blocked until the worker, which is blocked in synchronize_rcu()", n)
    ok(one(case, "SELECT count(*) FROM chain_link WHERE what LIKE 'not created yet: until started by kthreadd%'") > 0,
       "createvm: before that, until kthreadd has made it")


def check_quota(case):
    ok(one(case, "SELECT sum(duration_ns) * 100 / (SELECT sum(duration_ns) FROM stall) FROM chain_link"
           " WHERE kind = 'throttled' AND inferred = 1") > 90, "quota: over 90 % of the stall time is throttling")


def check_no_throttle(case):
    ok(one(case, "SELECT count(*) FROM chain_link WHERE kind = 'throttled'") == 0, "no quota: no throttle is inferred")


KNOWN = {
    "D-minshares-6.1/perf-kprobes.data.xz": check_minshares,
    "C-createvm-6.1-default/perf.data.xz": check_createvm,
    "D-quota-l2-20ms/perf-kvm-sched.data": check_quota,
    "D-control-l2-noquota/perf-kvm-sched.data": check_no_throttle,
    "A-healthy-perf-6.1/perf.data": check_no_throttle,
}


def main():
    names = sorted(glob.glob(CAPTURES + "/*/*.data") + glob.glob(CAPTURES + "/*/*.data.xz") +
                   glob.glob(CAPTURES + "/*/trace*.txt*"))
    tmp = tempfile.mkdtemp()
    seen = set()
    try:
        for path in names:
            case = case_of(path, tmp)
            check(path, case)
            for name, fn in KNOWN.items():
                if os.path.relpath(path, CAPTURES).removesuffix(".xz") == name.removesuffix(".xz"):
                    fn(case)
                    seen.add(name)
            case.close()
    finally:
        shutil.rmtree(tmp)
    ok(seen == set(KNOWN), "all recordings with a known chain are there", *(set(KNOWN) - seen))
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
