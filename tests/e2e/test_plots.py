#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots: series of exits over time agree with the tables."""
import json
import os
import subprocess
import sys

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))
ROOTS = "fixtures/captures/B-root-churn-tdp1-prefix-kvm/perf.data.xz"
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def query(path, sql):
    p = subprocess.run([KVMORTEM, "query", "-q", "-f", "json", path, sql], capture_output=True, text=True, timeout=120)
    return json.loads(p.stdout)["rows"]


def test_series():
    rows = query(ROOTS, "SELECT name, SUM(value) AS n, MIN(t_ns) AS t FROM series WHERE name GLOB 'exits*' GROUP BY name")
    stats = query(ROOTS, "SELECT reason, SUM(count) AS n FROM exit_stat WHERE event = 'vmexit' AND origin = 'computed' GROUP BY reason ORDER BY n DESC, reason")
    series = {r["name"]: r["n"] for r in rows}
    total = sum(r["n"] for r in stats)
    # an exit counts in the tables when its entry has come, so the last one of a vCPU may be missing there
    check(0 <= series.get("exits", -99) - total <= 4, "all exits are in the series of exits")
    top = stats[:min(5, len(stats))]
    check(len(series) == len(top) + 1, "with it those of the commonest reasons, at most five")
    check(all(0 <= series.get("exits: " + r["reason"], -99) - r["n"] <= 4 for r in top), "each with its number")


test_series()
print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
