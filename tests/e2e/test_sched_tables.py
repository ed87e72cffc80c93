#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables runq_delay, exit_stat, runq_wait and throttle against the reference tools' output for the same recording."""
import glob
import json
import lzma
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
FIXTURES = "fixtures/sched"
CAPTURES = "fixtures/captures"
results = []


def ok(good, what, *details):
    results.append(good)
    print(("ok" if good else "not ok"), len(results), "-", what)
    for line in details[:10] if not good else ():
        print("#", line)


def case_of(path, tmp):
    out = os.path.join(tmp, os.path.basename(path) + ".sqlite")
    run = subprocess.run([KVMORTEM, path, "-o", out], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError("%s: status %d: %s" % (path, run.returncode, run.stderr))
    return sqlite3.connect(out)


def usec(ns):
    return "%d.%06d" % (ns // 10**9, ns % 10**9 // 1000)


LATENCY = re.compile(r"^  (.+?):(\d+) +\| +([\d.]+) ms \| +(\d+) \| avg: *([\d.]+) ms \| max: *([\d.]+) ms "
                     r"\| max start: +([\d.]+) s \| max end: +([\d.]+) s$")


def diff(want, got):
    return ["reference: %s" % (r,) for r in sorted(want - got)] + ["ours: %s" % (r,) for r in sorted(got - want)]


def check_latency(case, path, where):
    with open(path, errors="replace") as f:
        want = {m.groups() for m in map(LATENCY.match, f.read().split("\n")) if m}
    got = set()
    rows = case.execute("SELECT task, tid, runtime_ns, switches, avg_delay_ns, max_delay_ns, max_delay_start_ns,"
                        " max_delay_end_ns FROM runq_delay WHERE origin = 'computed'").fetchall()
    for task, tid, runtime, switches, avg, longest, start, end in rows:
        got.add((task, str(tid), "%.3f" % (runtime / 1e6), str(switches), "%.3f" % (avg / 1e6),
                 "%.3f" % (longest / 1e6), usec(start), usec(end)))
    ok(want and want == got and len(rows) == len(got), "%s/%s: %d rows" % (where, os.path.basename(path), len(want)),
       *diff(want, got))


KVMSTAT = re.compile(r"^ *(\S.*?) +(\d+) +([\d.]+)% +([\d.]+)% +([\d.]+)us +([\d.]+)us +([\d.]+)us \( \+- *([\d.]+)% \)$")


def merged(case, event, where=""):
    """Rows as perf prints them for all vCPUs together."""
    keys = {}
    for reason, n, total, low, high, mean, m2 in case.execute(
            "SELECT reason, count, total_ns, min_ns, max_ns, mean, m2 FROM exit_stat WHERE event = ?" + where, (event,)):
        n0, total0, low0, high0, mean0, m20 = keys.get(reason, (0, 0, low, high, 0.0, 0.0))
        delta = mean - mean0
        keys[reason] = (n0 + n, total0 + total, min(low0, low), max(high0, high),
                        mean0 + delta * n / (n0 + n), m20 + m2 + delta * delta * n0 * n / (n0 + n))
    all_n = sum(k[0] for k in keys.values())
    all_ns = sum(k[1] for k in keys.values())
    rows = set()
    for reason, (n, total, low, high, mean, m2) in keys.items():
        dev = math.sqrt(m2 / (n - 1) / n) if n > 1 else 0.0
        rows.add((reason[:19], str(n), "%.2f" % (n / all_n * 100), "%.2f" % (total / all_ns * 100 if all_ns else 0),
                  "%.2f" % (low / 1000), "%.2f" % (high / 1000), "%.2f" % (total / n / 1000),
                  "%.2f" % (100 * dev / mean if mean else 0)))
    return rows


def parse_kvmstat(text):
    return {m.groups() for m in map(KVMSTAT.match, text.split("\n")) if m}


def check_kvmstat(case, path, event, where):
    with open(path) as f:
        want = parse_kvmstat(f.read())
    got = merged(case, event)
    ok(want == got, "%s/%s: %d rows" % (where, os.path.basename(path), len(want)), *diff(want, got))


WAIT = re.compile(r"^([\d.]+) ([\d.]+) +([\d.]+) cpu(\d+) (preempted|woken)(, not over at the end)? *CPU 1/KVM ([\d.]+) "
                  r"\(\d+%\) idle ([\d.]+) \(\d+%\) others ([\d.]+) refills (\d+)$")


def check_waits(case, path):
    """An independent script's account of the longest waits of CPU 0/KVM."""
    want, bad = [], []
    with open(path) as f:
        for m in filter(None, map(WAIT.match, f.read().split("\n"))):
            want.append(m.groups())
    rows = case.execute("SELECT start_ns, duration_ns, cpu, began, unfinished, sibling_ns, idle_ns,"
                        " other_ns + unknown_ns, refills FROM runq_wait WHERE task = 'CPU 0/KVM'"
                        " ORDER BY duration_ns DESC").fetchall()
    for w, r in zip(want, rows):
        start, ns, cpu, began, unfinished, sibling, idle, other, refills = r
        near = all(abs(float(a) - b / 1e6) <= 0.051 for a, b in ((w[6], sibling), (w[7], idle), (w[8], other)))
        same = abs(float(w[0]) - start / 1e9) <= 1.1e-6 and (began, cpu) == (w[4], int(w[3])) and \
            bool(w[5]) == bool(unfinished) and int(w[9]) == refills
        if not near or not same or (not unfinished and abs(float(w[2]) - ns / 1e6) > 0.0011):
            bad.append("reference %s, ours %s" % (w, r))
    ok(want and len(rows) >= len(want) and not bad, "%s: %d waits" % (os.path.basename(path), len(want)), *bad)


def check_sums(case, name):
    n = case.execute("SELECT count(*) FROM runq_wait WHERE idle_ns + sibling_ns + other_ns + unknown_ns <> duration_ns"
                     " OR min(idle_ns, sibling_ns, other_ns, unknown_ns) < 0").fetchone()[0]
    ok(n == 0, "%s: accounts of waits add up" % name)


def check_throttle(case, where, name):
    rows = case.execute("SELECT period_ns, count, tasks FROM throttle WHERE origin = 'waits' AND inferred = 1").fetchall()
    if where.startswith(("D-quota", "D-minshares")):
        ok(len(rows) == 1 and rows[0][0] == 10**8 and rows[0][1] >= 3 and json.loads(rows[0][2]),
           "%s/%s: throttling is inferred, period 100 ms" % (where, name), rows)
    else:
        ok(not rows, "%s/%s: no throttling is inferred" % (where, name), rows)
    if "kprobes" in name:
        row = case.execute("SELECT count, period_ns, throttled_ns FROM throttle WHERE origin = 'probe'").fetchone()
        ok(row and row[0] >= 90 and row[1] == 10**8 and 0.3 < row[2] / (row[0] * 1e8) < 0.9,
           "%s/%s: throttling seen by probes" % (where, name), row)


def check_jumps(case, where):
    jumps = case.execute("SELECT vruntime_jump_ns FROM reweight_jump ORDER BY 1 DESC").fetchall()
    marked = case.execute("SELECT count(*), min(duration_ns) FROM runq_wait WHERE weight_jump").fetchone()
    if where == "D-minshares-6.1":
        ok(len(jumps) == 2 and all(1.7e9 < j[0] < 2e9 for j in jumps), "%s: two vruntime jumps" % where, jumps)
        ok(marked[0] == 2 and marked[1] > 3e9, "%s: they mark the two longest waits" % where, marked)
    else:
        ok(len(jumps) == 4 and not any(j[0] for j in jumps) and not marked[0],
           "%s: MIN_SHARES without a jump marks no wait" % where, jumps, marked)


def unpacked(path, tmp):
    data = os.path.join(tmp, "unpacked.data")
    with (lzma.open(path) if path.endswith(".xz") else open(path, "rb")) as src, open(data, "wb") as dst:
        shutil.copyfileobj(src, dst)
    return data


def check_live(case, path, tmp):
    """The installed perf's own view, where there is one."""
    data = unpacked(path, tmp)
    for event in ("vmexit", "ioport", "mmio", "msr"):
        run = subprocess.run(["perf", "kvm", "-i", data, "stat", "report", "--event=" + event], capture_output=True,
                             text=True)
        if run.returncode != 0 or "Total Samples" not in run.stdout + run.stderr:
            ok(True, "%s: %s # SKIP this perf can't tell" % (os.path.basename(path), event))
            continue
        want, got = parse_kvmstat(run.stdout + run.stderr), merged(case, event)
        ok(want == got, "%s: %s as the installed perf prints it, %d rows" % (os.path.basename(path), event, len(want)),
           *diff(want, got))
    # perf's minimum for one vCPU is always 0: all other figures are the same.
    run = subprocess.run(["perf", "kvm", "-i", data, "stat", "report", "--vcpu=0"], capture_output=True, text=True)
    want = {r[:4] + r[5:] for r in parse_kvmstat(run.stdout + run.stderr)}
    got = {r[:4] + r[5:] for r in merged(case, "vmexit", " AND vcpu = 0")}
    if run.returncode == 0 and want:
        ok(want == got, "%s: vCPU 0 as the installed perf prints it, but for the minimum" % os.path.basename(path),
           *diff(want, got))


def main():
    paths = sorted(glob.glob(CAPTURES + "/*/*.data") + glob.glob(CAPTURES + "/*/*.data.xz") + glob.glob(CAPTURES + "/*/*.dir") +
                   glob.glob(CAPTURES + "/D-*/trace.txt.xz") + glob.glob(FIXTURES + "/*.data.xz"))
    with tempfile.TemporaryDirectory() as tmp:
        for path in paths:
            where, name = os.path.basename(os.path.dirname(path)), os.path.basename(path).replace(".xz", "")
            oracle = os.path.join(os.path.dirname(path), "oracle" if path.startswith(CAPTURES) else "", name)
            waits = os.path.join(FIXTURES, "%s.%s.waits.txt" % (where, name))
            if not glob.glob(oracle + ".*latency*") + glob.glob(oracle + ".kvmstat*") and not os.path.exists(waits):
                continue
            case = case_of(path, tmp)
            if os.path.exists(oracle + ".sched-latency-p-max-612.txt"):
                check_latency(case, oracle + ".sched-latency-p-max-612.txt", where)
            for event in ("vmexit", "ioport", "mmio"):
                if os.path.exists(oracle + ".kvmstat-%s.txt" % event):
                    check_kvmstat(case, oracle + ".kvmstat-%s.txt" % event, event, where)
            if os.path.exists(waits):
                check_waits(case, waits)
            check_sums(case, "%s/%s" % (where, name))
            check_throttle(case, where, name)
            if "kprobes" in name:
                check_jumps(case, where)
            if "kvm" in name and shutil.which("perf"):
                check_live(case, path, tmp)
            case.close()
    print("1..%d" % len(results))
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
