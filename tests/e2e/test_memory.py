#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory does not grow with a recording's length: the peak of anonymous memory for one and for eight times the same trace."""
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
TRACE = "fixtures/captures/D-minshares-6.1/trace.txt.xz"
BASE = 5        # the trace repeated so often is long enough to fill the pools of fixed size
results = []


def ok(good, what, *details):
    results.append(good)
    print(("ok" if good else "not ok"), len(results), "-", what)
    for line in details:
        print("#", line)


def repeated(text, times, path):
    """the lines with a time, again and again, each time later by the whole span"""
    head, parts = [], []
    for line in text.split(b"\n"):
        at = line.find(b"] ") if not line.startswith(b"#") else -1
        dot = line.find(b".", line.find(b". ", at) + 2) if at > 0 else -1
        start = line.rfind(b" ", 0, dot) + 1
        if dot > 0 and line[start:dot].isdigit():
            parts.append((line[:start], int(line[start:dot]), line[dot:]))
        elif not parts and b"entries-in-buffer" not in line:
            head.append(line)
    span = parts[-1][1] - parts[0][1] + 1
    with open(path, "wb") as out:
        out.write(b"\n".join(head) + b"\n")
        for i in range(times):
            out.write(b"".join(b"%s%d%s\n" % (a, t + i * span, b) for a, t, b in parts))
    return len(parts) * times


def peak(path):
    """peak of anonymous memory in kB, and the status"""
    run = subprocess.Popen([KVMORTEM, "stalls", "-q", path], stdout=subprocess.DEVNULL)
    most = 0
    while run.poll() is None:
        try:
            with open("/proc/%d/status" % run.pid, encoding="ascii") as f:
                for line in f:
                    if line.startswith("RssAnon:"):
                        most = max(most, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.002)
    return most, run.returncode


def sanitized():
    """a build with the address sanitizer keeps what was freed"""
    with open(KVMORTEM, "rb") as f:
        return b"__asan_init" in f.read()


def main():
    if not os.path.exists("/proc/self/status"):
        print("1..0 # SKIP no /proc")
        return 0
    tmp = tempfile.mkdtemp()
    try:
        with lzma.open(TRACE) as f:
            text = f.read()
        path = os.path.join(tmp, "trace.txt")
        sizes = []
        for times in (BASE, 8 * BASE):
            n = repeated(text, times, path)
            kb, status = peak(path)
            sizes.append(kb)
            ok(status == 0 and kb > 0, "%d events are analysed" % n, "peak of anonymous memory %d kB" % kb)
        if sanitized():
            ok(True, "eight times the recording # SKIP a sanitizer's memory is its own")
        else:
            ok(sizes[1] <= 1.1 * sizes[0], "eight times the recording takes no more than 10 % more memory",
               "%d and %d kB" % tuple(sizes))
    finally:
        shutil.rmtree(tmp)
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
