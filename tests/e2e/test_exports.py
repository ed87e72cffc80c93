#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports for viewers: -f perfetto (Chrome JSON trace) and -f folded (stacks for flame graph tools)."""
import collections
import json
import os
import re
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures"
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def run(*args):
    p = subprocess.run([KVMORTEM, *args], capture_output=True, timeout=120)
    return p.returncode, p.stdout.decode()


def crossing(slices):
    """Slices of one track that overlap without one lying in the other: viewers drop those."""
    tracks = collections.defaultdict(list)
    for e in slices:
        # times stand with three digits behind the point: ns
        start = round(e["ts"] * 1000)
        tracks[e["pid"], e["tid"]].append((start, -round(e["dur"] * 1000)))
    bad = 0
    for spans in tracks.values():
        open_ends = []
        for start, length in sorted(spans):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and start - length > open_ends[-1] + 1:
                bad += 1
            open_ends.append(start - length)
    return bad


for capture in ("D-minshares-6.1/trace.txt.xz", "C-createvm-6.1-default", "A-healthy-ftrace-6.1"):
    path = os.path.join(CAPTURES, capture)
    status, out = run("-f", "perfetto", path)
    trace = json.loads(out)
    case = json.loads(run("-f", "json", path)[1])
    events = trace["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    stalls = [e for e in slices if e["cat"] == "stall"]
    check(status == 0 and len(stalls) == len(case["stalls"]), "%s: every stall is a slice" % capture)
    want = sorted((s["start_ns"], s["duration_ns"]) for s in case["stalls"])
    have = sorted((round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in stalls)
    check(want == have, "%s: with its times" % capture)
    links = sum(len(s["links"]) for s in case["stalls"])
    check(len(slices) - len(stalls) >= links, "%s: and every link" % capture)
    check(not crossing(slices), "%s: no two slices of a track cross" % capture)
    flows = collections.Counter(e["ph"] for e in events if e["ph"] in "sf")
    check(flows["s"] == flows["f"], "%s: arrows have two ends" % capture)
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    check(all((e["pid"], e["tid"]) in named for e in stalls), "%s: stalls' tracks have names" % capture)
    counters = [e for e in events if e["ph"] == "C"]
    check(not case["vms"] or (counters and all(0 <= sum(e["args"].values()) <= 100 for e in counters)),
          "%s: the states of a moment are at most all of it" % capture)

status, out = run("-f", "perfetto", os.path.join(CAPTURES, "D-minshares-6.1"))
check(any(e["ph"] == "s" for e in json.loads(out)["traceEvents"]), "a waker's link has an arrow to the wait")

path = os.path.join(CAPTURES, "A-healthy-perf-6.1-callchains")
status, out = run("-f", "folded", path)
lines = out.splitlines()
check(status == 0 and lines and all(re.fullmatch(r"[^;]+(;[^;]+)+ \d+", line) for line in lines), "folded: a stack and a number a line")
total = int(run("query", "-f", "json", path, "SELECT sum(count) AS n FROM stack_count WHERE event LIKE 'cpu-clock%'")[1].split('"n":')[1].split("}")[0])
check(sum(int(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("off-CPU")) == total, "folded: all samples count")
check(run("-f", "folded", os.path.join(CAPTURES, "D-minshares-6.1", "cgroup-after2.txt")) == (0, ""), "folded: no stacks, no lines")
for fmt in ("folded", "perfetto"):
    check(run("stalls", "-f", fmt, path)[0] == 2, "%s is for analyze" % fmt)

print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
