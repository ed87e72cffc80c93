#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The result is the same whatever -j says: in one thread, or decoded beside the engine; of each kind of recording."""
import os
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures/"
INPUTS = [
    ["A-healthy-ftrace-6.1/trace-v6.dat.xz"],       # ring buffer pages as they are
    ["A-healthy-ftrace-6.1/trace.dat.xz"],          # compressed ones
    ["A-healthy-perf-6.1/perf-z.data"],             # records compressed by zstd
    ["D-quota-l2-20ms/perf-kvm-sched.data.xz"],
    ["G-damaged/perf-lost.data.xz"],                # losses end what is open in both threads
    ["D-minshares-6.1/trace.txt.xz", "D-minshares-6.1/cgroup-after2.txt"],
]


def analysed(paths, jobs):
    done = subprocess.run([KVMORTEM, "-f", "json", "-j", str(jobs)] + paths, capture_output=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def main():
    bad = 0
    for number, names in enumerate(INPUTS, 1):
        paths = [CAPTURES + name for name in names]
        one = analysed(paths, 1)
        wrong = [f"-j {jobs}" for jobs in (2, 4) if analysed(paths, jobs) != one]
        if one[0] or not one[1]:
            wrong.append(f"status {one[0]}, {len(one[1])} bytes")
        print(f"{'not ok' if wrong else 'ok'} {number} - -j 1, 2 and 4 say the same of {' '.join(names)}{': ' if wrong else ''}{', '.join(wrong)}")
        bad += bool(wrong)
    print(f"1..{len(INPUTS)}")
    return 1 if bad else 0


sys.exit(main())
