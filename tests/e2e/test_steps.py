#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each signature's SQL costs on a fixed case, in SQLite's VM steps: none may grow by more than a tenth unnoticed, none is missing.

    python3 tests/e2e/test_steps.py --record    writes fixtures/signatures/steps.tsv anew
"""
import os
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
TABLE = "fixtures/signatures/steps.tsv"
# Waits, throttles, weights and control groups, and below them exits, faults, roots and spans.
CASE = ["fixtures/captures/D-minshares-6.1/trace.txt.xz", "fixtures/captures/D-minshares-6.1/cgroup-after2.txt",
        "fixtures/captures/B-root-churn-tdp1-prefix-kvm/trace-full.txt.xz", "fixtures/captures/E-ksm-numa-on-4k/fgraph.txt.xz"]
SLACK = 200         # steps: a cheap query may not fail for one row more
LIMIT = 20000000    # of one item, at which it is an error


def measured():
    out = subprocess.run([KVMORTEM, "signatures", "cost", "-q"] + CASE, capture_output=True, text=True, check=True).stdout
    return {name: int(steps) for name, steps in (line.split("\t") for line in out.splitlines())}


def recorded():
    with open(TABLE, encoding="utf-8") as lines:
        return {name: int(steps) for name, steps in (line.split("\t") for line in lines if not line.startswith("#"))}


def main():
    now = measured()
    if "--record" in sys.argv:
        with open(TABLE, "w", encoding="utf-8") as out:
            out.write("# SIGNATURE, SQLite VM steps of its SQL on the case of tests/e2e/test_steps.py (--record writes this)\n")
            out.writelines(f"{name}\t{steps}\n" for name, steps in sorted(now.items()))
        return 0
    was = recorded()
    bad = 0
    for number, name in enumerate(sorted(set(now) | set(was)), 1):
        wrong = ("no such signature" if name not in now else "not recorded" if name not in was else
                 "over the limit" if now[name] >= LIMIT else
                 "grew by more than a tenth" if now[name] > was[name] * 1.1 + SLACK else "")
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {now.get(name)} steps, {was.get(name)} recorded{': ' + wrong if wrong else ''}")
        bad += bool(wrong)
    print(f"1..{len(set(now) | set(was))}")
    if bad:
        print("# python3 tests/e2e/test_steps.py --record writes them anew, where it is meant")
    return 1 if bad else 0


sys.exit(main())
