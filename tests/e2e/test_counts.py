#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Event counts of every binary capture equal those of the reference tool, for every event."""
import glob
import json
import os
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")


def ours(path):
    run = subprocess.run([KVMORTEM, "info", "-f", "json", path], capture_output=True, text=True)
    counts = {}
    for source in json.loads(run.stdout)["sources"]:
        for event, count in source.get("event_counts", {}).items():
            counts[event] = counts.get(event, 0) + count
    return counts


def oracle(path):
    counts = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            count, event = line.split(None, 1)
            if event.strip() != "TOTAL":
                counts[event.strip()] = int(count)
    return counts


def main():
    number = 0
    failed = 0
    for table in sorted(glob.glob("fixtures/captures/*/oracle/*.counts.txt")):
        path = table.replace("/oracle/", "/")[:-len(".counts.txt")]
        if not os.path.exists(path):
            path += ".xz"
        number += 1
        want, got = oracle(table), ours(path)
        diff = {e: (got.get(e, 0), want.get(e, 0)) for e in {*got, *want} if got.get(e, 0) != want.get(e, 0)}
        print(f"{'not ok' if diff else 'ok'} {number} - {path}: {sum(want.values())} events of {len(want)} kinds")
        for event, (g, w) in sorted(diff.items()):
            print(f"# {event}: {g}, the reference tool says {w}")
        failed += bool(diff)
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
