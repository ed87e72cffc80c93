#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Text traces: event counts equal an independent count of the lines (and trace-cmd's own), losses are kept, nothing is dropped."""
import glob
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
HERE = "fixtures/text-traces/"
EVENT = re.compile(r" \[\d+\] +(?:[^\d\s]\S* +)?\d+\.\d+: (?:([A-Za-z_]\w*):|(<stack trace>))")
GRAPH = re.compile(r"^ *(?:\d+\.\d+ \| +)?\d+\) ")
LOST = re.compile(r"^CPU:\d+ \[(?:LOST )?(\d+) EVENTS")


def independent(text):
    """Events by name and lost events, by plain expressions over the lines."""
    counts, lost = {}, 0
    for line in text.splitlines():
        name = None
        found = EVENT.search(line)
        if found:
            name = found[1] or "kernel_stack"
        elif GRAPH.match(line) and "=>" not in line:
            if re.search(r"(\{|;)$", line):
                name = "funcgraph_entry"
            elif re.search(r"\|\s+\}", line):
                name = "funcgraph_exit"
        if name:
            counts[name] = counts.get(name, 0) + 1
        found = LOST.match(line)
        if found:
            lost += int(found[1])
        found = re.match(r"# entries-in-buffer/entries-written: (\d+)/(\d+)", line)
        if found:
            lost += int(found[2]) - int(found[1])
    return counts, lost


def info(path):
    run = subprocess.run([KVMORTEM, "info", "-f", "json", path], capture_output=True, text=True)
    return json.loads(run.stdout)


def sums(report):
    counts = {}
    for source in report["sources"]:
        for event, count in source.get("event_counts", {}).items():
            counts[event] = counts.get(event, 0) + count
    return counts, sum(s["lost"] for s in report["sources"])


class Tap:
    number = failed = 0

    def ok(self, good, what, why=""):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {what}")
        if not good:
            print(f"# {why}")


def events(path, limit=None):
    run = subprocess.run([KVMORTEM, "events", "-f", "ndjson", path], capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return rows[:limit]


def check_counts(tap):
    paths = sorted(glob.glob(HERE + "*.xz") + glob.glob("fixtures/captures/*/trace*.txt.xz") +
                   glob.glob("fixtures/captures/*/fgraph*.txt.xz"))
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8", errors="replace") as file:
            want, lost = independent(file.read())
        report = info(path)
        got, got_lost = sums(report)
        statuses = {m["status"] for m in report["members"] if m["format"] not in (None, "xz", "archive")}
        diff = {e: (got.get(e), want.get(e)) for e in {*got, *want} if got.get(e) != want.get(e)}
        tap.ok(not diff and "failed" not in statuses and (want or "empty" in path),
               f"{path}: {sum(want.values())} events of {len(want)} names", f"{diff} {statuses}")
        tap.ok(got_lost == lost, f"{path}: {lost} lost events", f"reports {got_lost}")


def check_trace_cmd(tap):
    for table in sorted(glob.glob(HERE + "*.dat.counts.txt")):
        with open(table, encoding="utf-8") as lines:
            want = {e: int(c) for c, e in (line.split() for line in lines) if e != "TOTAL"}
        got, _ = sums(info(table.replace(".counts.txt", ".report.txt.xz")))
        diff = {e: (got.get(e), want.get(e)) for e in {*got, *want} if got.get(e) != want.get(e)}
        tap.ok(not diff, f"{table}: as trace-cmd counts", str(diff))


def check_forms(tap):
    """The same lines in two printed forms give the same time, task, CPU and event."""
    plugin, raw = events(HERE + "a-boot-cut.report.txt.xz"), events(HERE + "a-boot-cut.report-R.txt.xz")
    keys = ("time_ns", "cpu", "tid", "event")
    same = [[e.get(k) for k in keys] for e in plugin] == [[e.get(k) for k in keys] for e in raw]
    tap.ok(len(raw) > 3000 and same, f"report and report -R: {len(raw)} events alike", f"{len(plugin)}, {len(raw)}")
    wrong = []
    for one, other in zip(plugin, raw):
        for key in ("next_pid", "prev_pid", "pid", "guest_rip", "info1", "port", "ecx", "gpa", "fault_address"):
            if key in one["fields"] and key in other["fields"] and one["fields"][key] != other["fields"][key]:
                wrong.append((key, one, other))
    tap.ok(not wrong, "report and report -R: the fields that both show are equal", str(wrong[:1]))


def check_damage(tap):
    """A wrapped trace is read but for the damaged lines, and says so."""
    with lzma.open(HERE + "b-roots-cut.report.txt.xz", "rt") as file:
        lines = file.read().splitlines()
    lines[100] = lines[100][:60] + "\n" + lines[100][60:]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        report = info(file.name)
    got, _ = sums(report)
    member = report["members"][-1]
    tap.ok(sum(got.values()) == len(lines) - 1, "a wrapped line costs no other", str(sum(got.values())))
    tap.ok(member["status"] == "partly" and "line 102" in (member["message"] or ""), "and is told with its line",
           str(member))


def main():
    tap = Tap()
    check_counts(tap)
    check_trace_cmd(tap)
    check_forms(tap)
    check_damage(tap)
    print(f"1..{tap.number}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
