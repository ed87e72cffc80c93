#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.dat and raw pages: every event as the reference tool prints it, forms of one recording alike, losses, damage."""
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures/"
REPORTED = ["C-createvm-6.1-default", "D-quota-l2-20ms", "D-control-l2-noquota", "E-ksm-numa-on-4k", "E-control-numa-off"]
LINE = re.compile(r"^ *(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{6}): +(\w+):")
number = 0
failed = 0


def ok(good, what, *notes):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    for note in notes if not good else []:
        print(f"# {note}")


def run(*args):
    return subprocess.run([KVMORTEM, *args], capture_output=True, text=True)


def report(path, *command):
    return json.loads(run(*command, "-f", "json", path).stdout)


def printed(path):
    """(task, cpu, time in microseconds, event) of each line of a report by trace-cmd."""
    with lzma.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = LINE.match(line)
            if match:
                yield int(match[2]), int(match[3]), int(match[4]) * 10**6 + int(match[5]), match[6]


def decoded(path):
    for line in run("events", "-f", "ndjson", path).stdout.splitlines():
        event = json.loads(line)
        yield event["tid"], event["cpu"], (event["time_ns"] + 500) // 1000, event["event"]


def same_events(directory, name="trace.dat"):
    base = CAPTURES + directory + "/"
    ours = sorted(decoded(base + name + ".xz"))
    theirs = sorted(printed(base + "oracle/" + name + ".report.txt.xz"))
    diff = [(a, b) for a, b in zip(ours, theirs) if a != b]
    ok(len(ours) == len(theirs) and not diff, f"{directory}: {len(theirs)} events as trace-cmd prints them",
       f"{len(ours)} ours", *diff[:3])


def verdict_levels(analysis):
    return sorted((v["id"], v["verdict"]) for v in analysis["verdicts"])


def states(analysis):
    return {(vm["tgid"], vcpu["vcpu"]): {k: v for k, v in vcpu.items() if k.endswith("_ns")}
            for vm in analysis["vms"] for vcpu in vm["vcpus"]}


def shapes(analysis):
    return sorted((p["shape"], p["count"]) for p in analysis["patterns"])


def like_text(directory):
    """The file and its text: equal but for half a microsecond at each edge."""
    base = CAPTURES + directory + "/"
    binary, text = report(base + "trace.dat.xz"), report(base + "oracle/trace.dat.report.txt.xz")
    # The text doesn't say which kernel recorded it.
    by_kernel = {v["id"] for v in binary["verdicts"] if v["because"].startswith("kernel ")}
    ours, theirs = ([v for v in verdict_levels(a) if v[0] not in by_kernel] for a in (binary, text))
    ok(ours and ours == theirs, f"{directory}: verdicts as from the report's text", set(ours) ^ set(theirs))
    one, other = states(binary), states(text)
    edges = sum(s["events"] for s in binary["sources"])
    far = [(k, name, one[k][name], other.get(k, {}).get(name)) for k in one for name in one[k]
           if abs(one[k][name] - other.get(k, {}).get(name, 0)) > 1000 * max(1, edges // 8)]
    ok(one.keys() == other.keys() and not far, f"{directory}: where the vCPUs' time went, as from the text", far[:3])
    return binary, text


def packings(directory, temp):
    """The same recording in other versions and packings gives the same analysis."""
    plain = os.path.join(temp, "in.dat")
    with lzma.open(CAPTURES + directory + "/trace.dat.xz") as packed, open(plain, "wb") as out:
        shutil.copyfileobj(packed, out)
    want = report(plain)
    for version, packing in (("6", None), ("7", "none"), ("7", "zstd")):
        path = os.path.join(temp, f"v{version}-{packing}.dat")
        command = ["trace-cmd", "convert", "-i", plain, "-o", path, "--file-version", version]
        if packing:
            command += ["--compression", packing]
        subprocess.run(command, capture_output=True, check=False)
        if not os.path.exists(path):
            continue
        got = report(path)
        alike = all(f(got) == f(want) for f in (verdict_levels, states, shapes)) and got["totals"] == want["totals"]
        ok(alike, f"{directory}: version {version}, {packing or 'not packed'}: the same analysis")


def losses():
    base = CAPTURES + "G-damaged/"
    info = report(base + "trace-lost.dat.xz", "info")
    ours = sorted((r["cpu"], r["events"]) for r in info["losses"] if "recorder" in r["what"])
    with lzma.open(base + "oracle/trace-lost.dat.report.txt.xz", "rt") as lines:
        theirs = sorted((int(m[1]), int(m[2])) for m in re.finditer(r"CPU:(\d+) \[(\d+) EVENTS DROPPED\]", lines.read()))
    ok(ours == theirs and len(ours) == 3, "losses as trace-cmd prints them", ours, theirs)
    ok(any("left" in r["what"] and r["events"] == 156 for r in info["losses"]), "events left in the kernel's buffer")
    ok(all(c["complete"] == "lossy" for c in info["coverage"]), "coverage is lossy")


def raw_pages():
    info = report(CAPTURES + "A-healthy-ftrace-6.1/raw.tar.xz", "info")
    source = [s for s in info["sources"] if s["format"] == "raw tracefs"]
    # What the kernel itself counted (per_cpu/cpuN/stats: entries).
    ok(len(source) == 1 and source[0]["events"] == 47068 + 30740, "raw pages: as many events as the kernel counted")
    ok(source[0]["clock"] == "sched" and source[0]["cpus"] == 2, "raw pages: clock and CPUs")
    ok(not any(c["event"].startswith("tracepoint:") for c in info["coverage"]), "raw pages: all formats found")


def cuts(name, temp):
    with lzma.open(CAPTURES + "A-healthy-ftrace-6.1/" + name + ".xz") as packed:
        data = packed.read()
    whole = None
    for share in (0.001, 0.3, 0.72, 0.9, 0.97):
        path = os.path.join(temp, "cut.dat")
        with open(path, "wb") as out:
            out.write(data[:int(len(data) * share)])
        done = run("info", "-f", "json", path)
        info = json.loads(done.stdout)
        member = info["members"][0]
        events = sum(s["events"] for s in info["sources"])
        said = member["status"] in ("partly", "failed") and member["message"] and done.stderr.count("\n") == 1
        ok(said and done.returncode in (0, 1) and (whole is None or events >= whole),
           f"{name} cut at {share}: one line, {events} events read", done.stderr, member)
        whole = events
    ok(whole > 50000, f"{name}: what stands before the cut is read")


def main():
    for directory in REPORTED:
        same_events(directory)
    same_events("G-damaged", "trace-lost.dat")
    for directory in ("D-quota-l2-20ms", "D-control-l2-noquota", "E-ksm-numa-on-4k", "C-createvm-6.1-default"):
        binary, text = like_text(directory)
        ok(shapes(binary) == shapes(text), f"{directory}: chains of the same shapes, as often",
           set(shapes(binary)) ^ set(shapes(text)))
        edge = 1000 * 2 * max(1, binary["totals"]["stalls"])
        ok(binary["totals"]["stalls"] == text["totals"]["stalls"] and
           all(abs(binary["totals"][k] - text["totals"][k]) <= edge for k in ("stall_ns", "named_ns")),
           f"{directory}: as many stalls, as long, as much of them named", binary["totals"], text["totals"])
        durations = [sorted(x["duration_ns"] for x in a["stalls"]) for a in (binary, text)]
        far = [(x, y) for x, y in zip(*durations) if abs(x - y) > 2000]
        ok(len(durations[0]) == len(durations[1]) and not far, f"{directory}: each stall within 1 us an edge", far[:3])
    with tempfile.TemporaryDirectory() as temp:
        if shutil.which("trace-cmd"):
            packings("D-quota-l2-20ms", temp)
        for name in ("trace-v6.dat", "trace-none.dat"):
            cuts(name, temp)
    losses()
    raw_pages()
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
