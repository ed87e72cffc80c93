#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of one boot stand on one axis and agree there; two boots are kept apart; what pings say is tied where the clocks are known."""
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES, CLOCKS = "fixtures/captures/", "fixtures/clocks/"
LOCAL_NS = 31540000


def run(*args):
    return subprocess.run([KVMORTEM, *args], capture_output=True, text=True).stdout


def info(*paths):
    return json.loads(run("info", "-f", "json", *paths))


def sources(report):
    """Sources with times by the last part of their path."""
    return {s["path"].split("/")[-1]: s for s in report["sources"] if s["axis"] is not None}


def xz(path):
    with lzma.open(path, "rt") as f:
        return f.read()


class Tap:
    number = failed = 0

    def ok(self, good, what, why=""):
        self.number += 1
        self.failed += not good
        print(f"{'' if good else 'not '}ok {self.number} - {what}")
        if not good and why:
            print("#", str(why).replace("\n", "\n# ")[:2000])

    def done(self):
        print(f"1..{self.number}")
        sys.exit(self.failed > 0)


def same_boot(tap):
    """The log's lines about an unhandled MSR write lie between the trace's exit for it and its kvm_msr event."""
    log = CLOCKS + "A-healthy-perf-6.1-dmesg.txt"
    captures = [CAPTURES + "A-healthy-perf-6.1/" + f for f in ("perf.data.xz", "perf-z.data", "perf-kvmstat.data.xz")]
    by_name = sources(info(log, *captures))
    tap.ok(len(by_name) == 4 and len({s["axis"] for s in by_name.values()}) == 1, "three perf.data and the kernel log of a boot are on one axis",
           by_name)
    tap.ok(len({s["boot"] for s in by_name.values()}) == 1, "and known to be of one boot")
    dmesg = by_name["A-healthy-perf-6.1-dmesg.txt"]
    with open(log) as f:
        printed = [float(m[1]) for m in map(re.compile(r"\[ *(\d+\.\d+)\] kvm \[\d+\]: vcpu0, guest rIP").match, f) if m]
    found = 0
    for path in captures:
        s = by_name[path.split("/")[-1]]
        times = {}
        for line in run("events", "-f", "ndjson", path).splitlines():
            if '"kvm:kvm_msr"' in line:
                e = json.loads(line)
                if e["fields"]["ecx"] == 0xc0010007:
                    times.setdefault(e["fields"]["write"], []).append(e["time_ns"] + s["axis_offset_ns"])
        slack = s["axis_uncertainty_ns"] + dmesg["axis_uncertainty_ns"]
        for sec in printed:
            t = round(sec * 1e9) + dmesg["axis_offset_ns"]
            if s["first_ns"] <= t - s["axis_offset_ns"] <= s["last_ns"]:
                before = max(w for w in times[0] if w <= t + slack)
                after = min(w for w in times[1] if w >= before)
                found += 1
                tap.ok(before - slack <= t <= after + slack, f"{path.split('/')[-1]}: the write the log tells of at {sec} s lies around it",
                       (before, t, after))
    tap.ok(found == 3, "each of the recordings has such a write", found)


def local_clock(tap, folder):
    """ftrace text on the local clock, trace.dat, perf.data and log of one boot."""
    base = CAPTURES + "D-control-l2-noquota/"
    text = os.path.join(folder, "trace.txt")
    stamp = re.compile(r"(\[\d+\] +)(\d+)\.(\d{6}):")

    def earlier(m):
        us = int(m[2]) * 1000000 + int(m[3]) - LOCAL_NS // 1000
        return f"{m[1]}{us // 1000000}.{us % 1000000:06d}:"

    with open(text, "w") as f:
        f.write(stamp.sub(earlier, xz(base + "oracle/trace.dat.report.txt.xz")))
    log = CLOCKS + "D-control-l2-noquota-dmesg.txt"
    by_name = sources(info(text, base + "trace.dat.xz", base + "perf-kvm-sched.data.xz", log))
    trace = by_name["trace.txt"]
    tap.ok(len({s["axis"] for s in by_name.values()}) == 1 and len(by_name) == 4, "text, trace.dat, perf.data and log are on one axis",
           {k: (s["axis"], s["axis_why"]) for k, s in by_name.items()})
    off = abs((trace["axis_offset_ns"] or 0) - LOCAL_NS)
    tap.ok(off <= trace["axis_uncertainty_ns"] < 10000, "the text's offset is found by the context switches, within what is stated", trace)
    tap.ok("context switches" in trace["axis_why"], "and said to be", trace["axis_why"])

    by_name = sources(info(text, base + "perf-kvm-sched.data.xz", log))
    tap.ok(by_name["trace.txt"]["axis_offset_ns"] is None and "TSC was unstable" in by_name["trace.txt"]["axis_why"],
           "without it, and with an unstable TSC, the offset is not known", by_name["trace.txt"])
    tap.ok("The TSC was unstable" in run("info", base + "perf-kvm-sched.data.xz", log), "which is remarked on")

    stable = os.path.join(folder, "dmesg.txt")
    with open(log) as f, open(stable, "w") as g:
        for line in f:
            if "Marking TSC unstable" not in line:
                g.write(line)
            if "Linux version" in line:
                g.write(f"[    0.700000] sched_clock: Marking stable (660000000, {LOCAL_NS})->(735000000, {LOCAL_NS})\n")
    by_name = sources(info(text, base + "perf-kvm-sched.data.xz", stable))
    trace = by_name["trace.txt"]
    tap.ok(trace["axis"] == by_name["dmesg.txt"]["axis"] == by_name["perf-kvm-sched.data.xz"]["axis"] and trace["axis_offset_ns"] == LOCAL_NS,
           "with the kernel's line about it the offset is that line's", by_name)
    return text


def two_boots(tap):
    one, two = CAPTURES + "D-minshares-6.1/perf-kprobes.data.xz", CAPTURES + "D-minshares-control/perf-kprobes.data.xz"
    logs = [CLOCKS + f"D-minshares-{k}-dmesg.txt" for k in ("6.1", "control")]
    report = info(one, two, *logs)
    timed = [s for s in report["sources"] if s["axis"] is not None]
    tap.ok(len(timed) == 4 and len({s["axis"] for s in timed}) == 4, "recordings and logs of two boots are on four axes", timed)
    tap.ok(all(s["axis_offset_ns"] is None and "more than one boot" in s["axis_why"] for s in timed), "and it is said why",
           [s["axis_why"] for s in timed])
    timed = [s for s in info(one, two)["sources"] if s["axis"] is not None]
    tap.ok(len({s["axis"] for s in timed}) == 2 and all("not the same context switches" in s["axis_why"] for s in timed),
           "two recordings of the same seconds of two boots are told apart without logs", [s["axis_why"] for s in timed])
    report = json.loads(run("analyze", "-f", "json", one, two, *logs))
    tap.ok(report["ties"] == [], "nothing is tied")


def ping(tap, folder):
    """A ping log on the wall clock over a recording that knows it."""
    data = CLOCKS + "perf-mono.data.xz"
    s = next(iter(sources(info(data)).values()))
    report = json.loads(run("stalls", "-f", "json", data))
    worst = report["stalls"][0]
    start = worst["start_ns"] + s["clock_offset_ns"]
    tap.ok(s["axis_clock"] == "wall" and s["clock"] == "mono", "perf record -k mono: the wall clock is known", s)
    log = os.path.join(folder, "ping.txt")
    with open(log, "w") as f:
        f.write("PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.\n")
        for seq in range(1, 61):
            sent = start - 20 * 10**9 + seq * 10**9
            # what is sent from 2 s before the stall on is answered 8 s after it began
            late = start + 8 * 10**9 if start - 2 * 10**9 < sent < start + 8 * 10**9 else sent + 400000
            f.write(f"[{late // 10**9}.{late % 10**9 // 1000:06d}] 64 bytes from 192.0.2.7: icmp_seq={seq} ttl=64 time={(late - sent) / 1e6:.3f} ms\n")
    case = json.loads(run("analyze", "-f", "json", data, log))
    ties = [t for t in case["ties"] if t["stall"] is not None and t["kind"] == "ping"]
    tap.ok(any(t["overlap_ns"] == worst["duration_ns"] for t in ties) and len(case["ping_gaps"]) == 1, "the longest stall lies in the ping gap",
           (worst, case["ping_gaps"], ties[:2]))
    text = run("analyze", data, log)
    tap.ok("while a ping got no answer in time for" in text and "ping.txt:" in text, "the report says so and cites the ping", text)
    begin = (start + 10**9) // 10**9
    when = subprocess.run(["date", "-u", "-d", f"@{begin}", "+%Y-%m-%dT%H:%M:%SZ"], capture_output=True, text=True).stdout.strip()
    counts = info("--time", when + ",", data)["sources"]
    tap.ok(0 < counts[0]["events"] < s["events"] and counts[0]["first_ns"] + s["clock_offset_ns"] >= begin * 10**9,
           "--time takes a date for it", (when, counts))
    plain = CAPTURES + "A-healthy-perf-6.1/perf.data.xz"
    case = json.loads(run("analyze", "-f", "json", plain, log))
    tap.ok(case["ties"] == [], "a recording without a wall clock is tied to no ping")


def first_look(tap, text):
    base = CAPTURES + "D-control-l2-noquota/"
    args = (base + "perf-kvm-sched.data.xz", base + "trace.dat.xz", CLOCKS + "D-control-l2-noquota-dmesg.txt", text)
    out = subprocess.run([KVMORTEM, "info", *args], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}).stdout
    part = out.split("Time spans")[1].split("\nSources")[0]
    tap.ok(all(len(line) <= 80 for line in part.splitlines()), "spans and questions fit into 80 columns", part)
    bars = re.findall(r"\|( *=+ *)\|", part)
    tap.ok(len(bars) == 4 and len({len(b) for b in bars}) == 1 and bars[0].startswith("="), "a bar for each source", part)
    answers = {q["id"]: q for q in info(*args)["questions"]}
    tap.ok(answers["guest-time"]["answer"] == "yes" and "kvm_entry" in answers["guest-time"]["because"], "kvm_entry and kvm_exit answer guest time",
           answers["guest-time"])
    tap.ok(answers["answering"]["answer"] == "no" and answers["answering"]["sources"] == [], "no ping, no answer to when it was silent")
    tap.ok(answers["one-axis"]["answer"] == "yes", "all on one axis", answers["one-axis"])
    answers = {q["id"]: q for q in info(CAPTURES + "D-minshares-6.1/perf-sched-ev.data.xz")["questions"]}
    tap.ok(answers["guest-time"]["answer"] == "no" and answers["waker"]["answer"] == "yes", "sched events alone: who woke, not time in guest", answers)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        same_boot(tap)
        text = local_clock(tap, folder)
        two_boots(tap)
        ping(tap, folder)
        first_look(tap, text)
    tap.done()


main()
