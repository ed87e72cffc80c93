#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random legal recordings against a slow reference (props_gen.py, props_ref.py): states tile and are those of the reference,
links tile and say what the reference knows, nothing depends on threads or on where the stream was cut into batches.

    test_props.py [N [FIRST]]     N seeds from FIRST on; by itself 160 from 1, or as many as a slow machine does in 25 s
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import props_gen
import props_ref

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
THRESHOLD_MS = 1
SHARE = re.compile(r"(?:behind |, )(.{1,15}?)(?::(\d+))? (\d+) %")
NEVER = {
    "states add up": "SELECT count(*) FROM vcpu WHERE guest_ns + host_ns + vmm_ns + halted_ns + waiting_ns + blocked_ns"
                     " + unknown_ns + lost_ns <> last_ns - first_ns OR min(guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns,"
                     " blocked_ns, unknown_ns, lost_ns) < 0",
    "slices follow each other": "SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY vcpu_id"
                                " ORDER BY start_ns) e FROM state_slice) WHERE e > start_ns",
    "links tile the stall": "SELECT count(*) FROM stall s WHERE duration_ns <> (SELECT coalesce(sum(duration_ns), -1) FROM"
                            " chain_link l WHERE l.stall_id = s.id AND depth = 0) OR start_ns <> (SELECT min(start_ns) FROM"
                            " chain_link l WHERE l.stall_id = s.id AND depth = 0)",
    "children tile their parent": "SELECT count(*) FROM (SELECT p.start_ns ps, p.duration_ns pd, min(c.start_ns) cs,"
                                  " sum(c.duration_ns) cd FROM chain_link p JOIN chain_link c ON c.parent_id = p.id"
                                  " GROUP BY p.id) WHERE ps <> cs OR pd <> cd",
    "neighbours meet": "SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY stall_id,"
                       " parent_id ORDER BY seq) e FROM chain_link) WHERE e IS NOT NULL AND e <> start_ns",
    "chains end": "SELECT count(*) FROM chain_link WHERE depth > 8 OR duration_ns <= 0",
    "no more named than there is": "SELECT count(*) FROM stall WHERE named_ns > duration_ns OR named_ns < 0",
    "totals": "SELECT count(*) FROM stall_total WHERE named_ns > stall_ns OR state_known_ns > stall_ns OR stalls <>"
              " (SELECT coalesce(sum(count), 0) FROM pattern)",
}


class Differs(Exception):
    pass


def analyse(text, tmp, *options):
    trace, out = os.path.join(tmp, "trace.txt"), os.path.join(tmp, "case.sqlite")
    with open(trace, "w", encoding="utf-8") as f:
        f.write(text)
    if os.path.exists(out):
        os.unlink(out)
    run = subprocess.run([KVMORTEM, "-q", "--stall-threshold", str(THRESHOLD_MS), *options, trace, "-o", out],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise Differs("status %d: %s" % (run.returncode, run.stderr))
    db = sqlite3.connect(out)
    db.row_factory = sqlite3.Row
    return db


def dump(db):
    """all that must not depend on how the input was read; ids of citations are left out"""
    out = []
    for sql in ("SELECT tid, vcpu, comm, first_ns, last_ns, guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, blocked_ns,"
                " unknown_ns, lost_ns FROM vcpu ORDER BY id",
                "SELECT vcpu_id, start_ns, duration_ns, guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, blocked_ns, unknown_ns,"
                " lost_ns FROM state_slice ORDER BY rowid",
                "SELECT task, tid, subject, kind, start_ns, duration_ns, pattern_id, partial, cause, what, named_ns FROM stall"
                " ORDER BY id",
                "SELECT stall_id, parent_id, depth, seq, kind, start_ns, duration_ns, task, tid, cpu, what, inferred FROM chain_link"
                " ORDER BY id", "SELECT shape, count, total_ns FROM pattern ORDER BY id"):
        out.append([tuple(r) for r in db.execute(sql)])
    return out


def check_invariants(db):
    for what, sql in NEVER.items():
        n = db.execute(sql).fetchone()[0]
        if n:
            raise Differs("%s: %d" % (what, n))


def check_states(db, ref):
    for v in db.execute("SELECT * FROM vcpu"):
        tid = v["tid"]
        if tid not in ref.vcpus:
            raise Differs("tid %d is no vCPU thread" % tid)
        if tid not in ref.first_own:
            continue                    # others name it; there is no event of its own
        if (v["first_ns"], v["last_ns"]) != (ref.first_own[tid], ref.last_seen[tid]):
            raise Differs("vCPU %d: from %d to %d, not %d to %d" % (tid, v["first_ns"], v["last_ns"], ref.first_own[tid],
                                                                   ref.last_seen[tid]))
        spans = ref.states(tid)
        slices = db.execute("SELECT * FROM state_slice WHERE vcpu_id = ? ORDER BY start_ns", (v["id"],)).fetchall()
        windows = [(0, 1 << 62)] + [(s["start_ns"], s["start_ns"] + s["duration_ns"]) for s in slices]
        for row, want, (a, b) in zip([v] + slices, ref.sums(spans, tid, windows), windows):
            got = {s: row[s + "_ns"] for s in props_ref.STATES}
            if got != want:
                raise Differs("vCPU %d from %d to %d: %s" % (tid, a, b, ", ".join(
                    "%s %d, reference %d" % (s, got[s], want[s]) for s in got if got[s] != want[s])))


def check_truth(db, world):
    """nothing is guessed: what is said to be known was so"""
    may = {"guest": ("guest",), "vmm": ("vmm",), "host": ("host",), "waiting": ("waiting",), "blocked": ("blocked",),
           "halted": ("halted",)}
    if not world.have["uexit"]:
        may["host"] += ("vmm",)
        may["blocked"] += ("halted",)
        may["halted"] += ("blocked", "vmm")
    if not world.have["vwake"] or not world.have["waking"] and not world.have["wakeup"]:
        may["halted"] += ("host", "waiting")
    if not world.have["switch"]:
        return
    for v in db.execute("SELECT * FROM vcpu"):
        if v["tid"] not in world.truth:
            continue
        track = world.truth[v["tid"]]
        ends = [t for t, _ in track[1:]] + [1 << 62]
        for s in db.execute("SELECT * FROM state_slice WHERE vcpu_id = ?", (v["id"],)):
            a, b = s["start_ns"], s["start_ns"] + s["duration_ns"]
            was = dict.fromkeys(props_ref.STATES + ("gone",), 0)
            for (t, state), end in zip(track, ends):
                if end > a and t < b:
                    was[state] += min(end, b) - max(t, a)
            for state, of in may.items():
                # a wake-up's first half may be lost and its second not
                if s[state + "_ns"] > sum(was[o] for o in of) + (60 * world.unit if world.lossy else 0):
                    raise Differs("vCPU %d from %d to %d: %s %d, it was %d" % (v["tid"], a, b, state, s[state + "_ns"],
                                                                              sum(was[o] for o in of)))


def check_stalls(db, ref):
    got = sorted((r["tid"], r["start_ns"], r["start_ns"] + r["duration_ns"]) for r in
                 db.execute("SELECT * FROM stall WHERE subject = 'vcpu' AND kind NOT IN ('retry-loop', 'exit-storm')"))
    want = sorted((tid, a, b) for tid in ref.vcpus for a, b, _ in ref.stalls(tid, ref.states(tid), THRESHOLD_MS * 10**6))
    if got != want:
        raise Differs("stalls: %s; only the reference has %s" % (sorted(set(got) - set(want)), sorted(set(want) - set(got))))


def check_shares(row, ref, ns):
    """the shares that a wait names are who had the CPU"""
    on = ref.shares(row["cpu"], row["start_ns"], row["start_ns"] + ns)
    on.pop(row["tid"], None)
    if len([t for t in on if t]) > 3 or "idles" in row["what"]:
        return
    want = sorted(round(100 * n / ns) for t, n in on.items() if t and n * 200 >= ns)
    got = sorted(int(m.group(3)) for m in SHARE.finditer(row["what"]) if m.group(1) not in ("CPU idle", "not known", "others"))
    if len(want) != len(got) or any(abs(a - b) > 1 for a, b in zip(want, got)):
        raise Differs("wait at %d: %s; reference %s" % (row["start_ns"], row["what"], on))


def check_link(row, ref, ends, children, flags):
    a, b = row["start_ns"], row["start_ns"] + row["duration_ns"]
    spans = ref.at(row["tid"], a, b)
    states = {s[2] for s in spans} if spans and spans[0][0] <= a else {s[2] for s in spans} | {"unknown"}
    want = {"running": {"run"}, "runnable": {"ready"}, "preempted": {"ready"}, "throttled": {"ready"}, "blocked": {"asleep"}}.get(row["kind"])
    if row["kind"] == "unknown" and row["depth"]:
        want = states if states & {"unknown", "unwoken"} or "asleep" in states and b > ref.last else {"unknown"}
    if want and states != want:
        raise Differs("%s of tid %d from %d to %d: the reference has %s" % (row["kind"], row["tid"], a, b, spans))
    if row["kind"] == "blocked":
        wake = spans[0][4]
        if (wake is None) != ("not woken before" in row["what"]):
            raise Differs("%s at %d; reference: %s" % (row["what"], a, wake and (wake.comm, wake.tid)))
        if wake is None:
            return
        if wake.flags != "." or wake.tid == 0:
            if not flags and "until woken from" not in row["what"]:
                return                  # no flags, and the interrupt's begin was not recorded
            if "until woken from" not in row["what"]:
                raise Differs("%s at %d: it was an interrupt" % (row["what"], a))
        else:
            if not row["what"].startswith(("blocked", "not created")) or ref.comm[wake.tid] not in row["what"]:
                raise Differs("%s at %d: it was %s:%d" % (row["what"], a, ref.comm[wake.tid], wake.tid))
            if not children and wake.tid != row["tid"] and row["depth"] < 6 and ends < 150:
                raise Differs("%s at %d goes on into nothing" % (row["what"], a))
        if children and any(c["tid"] != wake.tid for c in children):
            raise Differs("children of %s at %d are not of its waker %d" % (row["what"], a, wake.tid))


def check_links(db, ref, flags):
    ref.schedule()
    for s in db.execute("SELECT * FROM stall"):
        links = db.execute("SELECT * FROM chain_link WHERE stall_id = ? ORDER BY seq", (s["id"],)).fetchall()
        by_id = {r["id"]: r for r in links}
        for r in links:
            parent = by_id.get(r["parent_id"])
            if parent is not None and parent["kind"] != "blocked":
                continue                # how a wait alternated is in coarse strokes
            if r["kind"] in ("folded", "retry-loop", "lost"):
                continue
            check_link(r, ref, len(links), [c for c in links if c["parent_id"] == r["id"]], flags)
            if r["kind"] in ("runnable", "preempted") and r["cpu"] is not None and r["duration_ns"] > 10000:
                check_shares(r, ref, r["duration_ns"])


def one(seed, tmp):
    world = props_gen.World(seed, 300 if seed % 8 else 1500).run()
    if not world.events:
        return
    text = world.text()
    db = analyse(text, tmp)
    check_invariants(db)
    check_truth(db, world)
    if not world.lossy:
        ref = props_ref.Reference(world.events)
        check_states(db, ref)
        check_stalls(db, ref)
        check_links(db, ref, not world.perf)
    if seed % 4 == 0 and not world.perf:
        whole = dump(db)
        for name, other in (("-j 1", analyse(text, tmp, "-j", "1")), ("-j 3", analyse(text, tmp, "-j", "3")),
                            ("other batches", analyse(world.text(4096 - seed * 37 % 1500), tmp))):
            if dump(other) != whole:
                diff = [(a, b) for x, y in zip(dump(other), whole) for a, b in zip(x, y) if a != b]
                raise Differs("%s: %s" % (name, diff[:2] or "more or fewer rows"))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 160
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    tmp = tempfile.mkdtemp()
    good, bad = 0, []
    until = time.monotonic() + (25 if len(sys.argv) == 1 else 10**6)
    try:
        for seed in range(first, first + n):
            if time.monotonic() > until:
                break
            try:
                one(seed, tmp)
                good += 1
            except Differs as e:
                bad.append((seed, str(e)))
                print("not ok - seed %d: %s" % (seed, e))
    finally:
        shutil.rmtree(tmp)
    print("%s 1 - %d random recordings are as the reference says" % ("not ok" if bad else "ok", good))
    print("1..1")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
