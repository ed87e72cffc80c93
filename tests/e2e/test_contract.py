#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON contract on real captures: fields, sums, tiling, order, citations; and the text report's form."""
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
BASE = "fixtures/captures/"
CASES = [
    ["A-healthy-perf-6.1/perf.data"],
    ["A-healthy-ftrace-6.1/trace.txt"],
    ["B-root-churn-tdp1-prefix-kvm/trace-full.txt"],
    ["C-createvm-6.1-default/fgraph.txt"],
    ["C-createvm-6.1-default/strace.txt", "C-createvm-6.1-default/l1-dmesg.txt"],
    ["D-quota-l2-20ms/perf-kvm-sched.data", "D-quota-l2-20ms/cgroup-after2.txt"],
    ["D-minshares-6.1/perf-kprobes.data", "D-minshares-6.1/cgroup-after2.txt"],
    ["E-ksm-numa-on-4k/bpftrace-kfunc.txt", "E-ksm-numa-on-4k/numactl-H.txt"],
    ["G-damaged/perf-lost.data"],
    ["G-damaged/perf-killed.data"],
]
STATES = ["guest_ns", "host_ns", "vmm_ns", "halted_ns", "waiting_ns", "blocked_ns", "unknown_ns", "lost_ns"]
FIELDS = {
    "members": ["path", "format", "bytes", "status", "message"],
    "sources": ["id", "path", "format", "kernel", "arch", "host", "cpus", "clock", "clock_offset_ns",
                "clock_uncertainty_ns", "side", "first_ns", "last_ns", "events", "lost"],
    "coverage": ["source", "event", "known", "complete", "scope", "from_ns", "to_ns"],
    "verdicts": ["id", "title", "verdict", "subject", "score", "because", "fixed_by", "evidence", "missing", "record_next"],
    "vms": ["id", "source", "tgid", "name", "vcpus"],
    "stalls": ["id", "source", "subject", "vm", "vcpu", "task", "tid", "kind", "start_ns", "duration_ns", "pattern",
               "partial", "cause", "links"],
    "patterns": ["id", "shape", "count", "total_ns", "worst_ns", "worst_stall"],
    "losses": ["source", "cpu", "time_ns", "events", "what"],
}
LINK = ["id", "parent", "depth", "kind", "start_ns", "duration_ns", "task", "tid", "cpu", "what", "inferred", "cites"]
LINK_KINDS = {"running", "host", "vmm", "runnable", "preempted", "throttled", "blocked", "irq", "timer", "retry-loop",
              "folded", "unknown", "lost"}
STALL_KINDS = {"exit", "vmm", "runq", "blocked", "late-wake", "retry-loop", "exit-storm", "operation"}
VERDICTS = ["match", "likely", "possible", "cannot-tell", "ruled-out"]
EXITS = ["event", "vm", "vcpu", "reason", "count", "total_ns", "min_ns", "avg_ns", "max_ns"]
LATENCY = ["task", "tid", "runtime_ns", "oncpu_ns", "switches", "avg_delay_ns", "max_delay_ns", "max_delay_start_ns",
           "max_delay_end_ns"]


def run(*args, **kwargs):
    return subprocess.run([KVMORTEM, *args], capture_output=True, check=False, **kwargs)


def fields(report):
    for section, names in FIELDS.items():
        if section not in report:
            yield f"no {section}"
        for row in report.get(section, []):
            missing = [n for n in names if n not in row]
            if missing:
                yield f"{section} without {missing}"
    for name in ("stalls", "stalls_listed", "stall_ns", "named_ns", "state_known_ns"):
        if not isinstance(report["totals"].get(name), int):
            yield f"totals.{name} is no integer"


def sums(report):
    for vm in report["vms"]:
        for vcpu in vm["vcpus"]:
            if sum(vcpu[s] for s in STATES) != vcpu["last_ns"] - vcpu["first_ns"]:
                yield f"states of vCPU {vcpu['id']} do not add up"
            if any(vcpu[s] < 0 for s in STATES):
                yield f"a state of vCPU {vcpu['id']} is negative"
    totals = report["totals"]
    if totals["stalls_listed"] != len(report["stalls"]):
        yield "totals.stalls_listed is not the number of stalls"
    if totals["named_ns"] > totals["stall_ns"]:
        yield "more is named than there is"


def tiled(links, start, duration, what):
    at = start
    for link in links:
        if link["start_ns"] != at:
            yield f"{what}: link {link['id']} starts at {link['start_ns']}, not {at}"
        at = link["start_ns"] + link["duration_ns"]
    if links and at != start + duration:
        yield f"{what}: its links end {at - start - duration} ns off"


def tiling(report):
    for stall in report["stalls"]:
        what = f"stall {stall['id']}"
        links = stall["links"]
        if stall["kind"] not in STALL_KINDS:
            yield f"{what} is of kind {stall['kind']}"
        for link in links:
            missing = [n for n in LINK if n not in link]
            if missing or link["kind"] not in LINK_KINDS:
                yield f"{what}: link {link['id']} of kind {link['kind']} without {missing}"
        yield from tiled([l for l in links if l["depth"] == 0], stall["start_ns"], stall["duration_ns"], what)
        for link in links:
            children = [l for l in links if l["parent"] == link["id"]]
            if any(c["depth"] != link["depth"] + 1 for c in children):
                yield f"{what}: a child of link {link['id']} is not one deeper"
            yield from tiled(children, link["start_ns"], link["duration_ns"], f"{what}, link {link['id']}")


def order(report):
    durations = [s["duration_ns"] for s in report["stalls"]]
    if durations != sorted(durations, reverse=True):
        yield "stalls are not longest first"
    ranks = [VERDICTS.index(v["verdict"]) for v in report["verdicts"]]
    if ranks != sorted(ranks):
        yield "verdicts are out of order"
    sources = {s["id"] for s in report["sources"]}
    vms = {v["id"] for v in report["vms"]}
    vcpus = {c["id"] for v in report["vms"] for c in v["vcpus"]}
    patterns = {p["id"] for p in report["patterns"]}
    stalls = {s["id"] for s in report["stalls"]}
    for stall in report["stalls"]:
        if stall["source"] not in sources or (stall["vm"] or min(vms, default=0)) not in vms | {0}:
            yield f"stall {stall['id']} names a source or VM that is not there"
        if stall["vcpu"] is not None and stall["vcpu"] not in vcpus:
            yield f"stall {stall['id']} names a vCPU that is not there"
        if stall["pattern"] is not None and stall["pattern"] not in patterns:
            yield f"stall {stall['id']} names a pattern that is not there"
    for pattern in report["patterns"]:
        if pattern["worst_stall"] not in stalls:
            yield f"pattern {pattern['id']} has no worst stall"
    for verdict in report["verdicts"]:
        if not set(verdict["subject"]["vcpus"]) <= vcpus:
            yield f"{verdict['id']} names a vCPU that is not there"


def evidence(report):
    for verdict in report["verdicts"]:
        if verdict["verdict"] not in ("match", "likely", "possible"):
            continue
        shown = 0
        for item in verdict["evidence"]:
            shown += item["outcome"] == "shown" and item["role"] == "for"
            if item["outcome"] == "shown" and not item["rows"]:
                yield f"{verdict['id']}: {item['id']} is shown without a sentence"
            for row in item["rows"]:
                if not row["says"].strip() or "{" in row["says"] or "None" in row["says"]:
                    yield f"{verdict['id']}: '{row['says']}'"
                if not row["cites"]:
                    yield f"{verdict['id']}: '{row['says']}' cites nothing"
        if not shown:
            yield f"{verdict['id']} is {verdict['verdict']} with nothing shown"


def all_cites(value):
    if isinstance(value, list):
        for v in value:
            yield from all_cites(v)
    elif isinstance(value, dict):
        yield from value.get("cites", [])
        for v in value.values():
            yield from all_cites(v)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def citations(report):
    """Every citation names a member and a place; of text, the cited line is what the citation says."""
    members = {m["path"] for m in report["members"]}
    texts = {}
    checked = 0
    for cite in all_cites(report):
        path = cite["member"]
        if path not in members:
            yield f"a citation names {path}, which is no member"
            return
        if "line" in cite and "offset" in cite:
            yield f"a citation of {path} has both a line and an offset"
        if "line" not in cite:
            continue
        if path not in texts:
            name = next((p for p in (path, path.split(":")[0]) if os.path.exists(p)), None)
            if not name:
                yield f"{path} is not to be found"
                return
            with (lzma.open(name) if name.endswith(".xz") else open(name, "rb")) as f:
                texts[path] = f.read().decode("utf-8", "replace").split("\n")
        lines = texts[path]
        said = squeeze(cite["text"] or "")
        if not 1 <= cite["line"] <= len(lines):
            yield f"{path} has no line {cite['line']}"
            return
        if said and squeeze(lines[cite["line"] - 1])[:40] not in said and said[:40] not in squeeze(lines[cite["line"] - 1]):
            yield f"{path}:{cite['line']} is '{lines[cite['line'] - 1][:60]}', cited as '{said[:60]}'"
            return
        checked += 1
    if not checked and any(m["format"] in ("ftrace", "strace") for m in report["members"]):
        yield "no citation of a line was there to be checked"


def other_views(paths):
    info = json.loads(run("info", "-f", "json", *paths).stdout)
    for source in info["sources"]:
        if sum(source["event_counts"].values() if source["event_counts"] else []) != source["events"]:
            yield f"event counts of {source['path']} do not add up to {source['events']}"
    exits = json.loads(run("exits", "-f", "json", *paths).stdout)["rows"]
    by_vcpu = json.loads(run("exits", "--by", "vcpu", "-f", "json", *paths).stdout)["rows"]
    if sum(r["total_ns"] for r in exits) != sum(r["total_ns"] for r in by_vcpu):
        yield "exits per vCPU do not add up to all"
    for row in exits:
        if any(n not in row for n in EXITS) or row["avg_ns"] != row["total_ns"] // row["count"] or \
           not row["min_ns"] <= row["avg_ns"] <= row["max_ns"]:
            yield f"exits: {row}"
    for row in json.loads(run("latency", "-f", "json", *paths).stdout)["rows"]:
        if any(n not in row for n in LATENCY) or (row["tid"] and row["task"].endswith(f":{row['tid']}")):
            yield f"latency: {row}"
    stalls = json.loads(run("stalls", "-f", "json", *paths).stdout)["stalls"]
    if stalls:
        chain = json.loads(run("chain", "--stall", str(stalls[-1]["id"]), "-f", "json", *paths).stdout)["stalls"]
        if chain != [stalls[-1]]:
            yield "chain --stall shows another stall than stalls does"


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def text_form(paths):
    """At 80 columns no line is longer but commands to be copied; nothing is printed that is no text."""
    for view in ("analyze", "info", "exits", "latency", "stalls", "chain"):
        out = run(view, *paths, env={**os.environ, "COLUMNS": "80"}).stdout.decode("utf-8")
        lines = out.split("\n")
        commands = False
        for line in lines:
            commands = line == "  Record" or (commands and line.startswith("    "))
            words = line.split()
            if columns(line) > 80 and not commands and len(max(words, key=len)) < 70:
                yield f"{view}: {columns(line)} columns: '{line}'"
            if line != line.rstrip() or any(unicodedata.category(c) in ("Cc", "Cf") for c in line):
                yield f"{view}: '{line}'"
        if "(null)" in out or "nan" in re.findall(r"\bnan\b", out):
            yield f"{view}: (null) or nan"
        if view == "analyze" and len(lines) > 150:
            yield f"the report has {len(lines)} lines"


def kept(paths, report):
    """A kept case file gives the same report."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "case.sqlite")
        made = run("-o", path, *paths)
        again = run("-f", "json", path)
        if made.stdout or json.loads(again.stdout) != report:
            yield "the kept case file gives another report"


def main():
    number = failed = 0
    checks = [("fields", fields), ("sums", sums), ("links tile their stalls", tiling), ("order and references", order),
              ("evidence has sentences and citations", evidence), ("citations lead to their lines", citations)]
    for case in CASES:
        paths = [BASE + p if os.path.exists(BASE + p) else BASE + p + ".xz" for p in case]
        ran = run("-f", "json", *paths)
        try:
            report = json.loads(ran.stdout)
        except ValueError:
            report = None
        if any(m["status"] == "failed" for m in report["members"]) if report else False:
            report = None
        todo = [(name, (lambda c=check: c(report))) for name, check in checks if report]
        todo.append(("is read, output is JSON", lambda: [] if report else [f"status {ran.returncode}: {ran.stderr[:200]}"]))
        todo.append(("the other views", lambda: other_views(paths)))
        todo.append(("text", lambda: text_form(paths)))
        if report:
            todo.append(("a kept case file", lambda: kept(paths, report)))
        for name, check in todo:
            number += 1
            wrong = list(check())
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {' '.join(case)}: {name}")
            for sentence in wrong[:5]:
                print(f"# {sentence}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
