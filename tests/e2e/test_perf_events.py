#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kvmortem events on real perf.data files: every line as perf script prints it (oracle/*.events.txt.xz), in its order;
NDJSON with the kernel's fields and raw values; damaged files with one clear line, and all of what is whole."""
import glob
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

BIN = os.environ.get("KVMORTEM", "./kvmortem")
TOP = "fixtures/captures"
count = failed = 0


def report(ok, what, why=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")
    if not ok and why:
        print("# " + str(why)[:2000].replace("\n", "\n# "))


def run(*args):
    p = subprocess.run([BIN, *args], capture_output=True, timeout=600)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


PERF = re.compile(r"^\s*(.*?)\s+(-?\d+)\s+\[(\d+)\]\s+(\d+\.\d+):\s+(\S+):\s?(.*)$")
OURS = re.compile(r"^(.*?)-(-?\d+) \[(\d+)\] (\d+\.\d+): (\S+): ?(.*)$")


def key(m):
    """What both print of an event. perf calls a task that it finds in guest mode [guest/PID]; a plain sample has no fields there."""
    comm, tid, cpu, time, event, text = m.groups()
    return (tid, int(cpu), time, event, "" if text.startswith("ip=") else text.rstrip()), comm


def number(text):
    """A k=v text's integers."""
    return {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)(?=\s|$)", text)}


def check_events(oracle):
    path = oracle.replace("/oracle/", "/").replace(".events.txt.xz", ".xz")
    with lzma.open(oracle, "rt", errors="replace") as f:
        want = [PERF.match(line) for line in f if line.strip()]
    status, out, err = run("events", path)
    got = [OURS.match(line) for line in out.splitlines() if "[LOST " not in line]
    if None in want or None in got:
        report(False, f"{path}: lines are understood")
        return
    want, got = [key(m) for m in want], [key(m) for m in got]
    same = [w[0] for w in want] == [g[0] for g in got]
    why = next((f"{w} / {g}" for w, g in zip(want, got) if w[0] != g[0]), f"{len(want)} / {len(got)} lines")
    report(status == 0 and same, f"{path}: {len(want)} events as perf script prints them, in its order", why + err)
    comms = [(w, g) for w, g in zip(want, got) if w[1] != g[1] and not w[1].startswith("[guest/")]
    report(not comms, f"{path}: comms as perf script has them", comms[:3])

    status, out, err = run("events", "-f", "ndjson", path)
    rows = [json.loads(line) for line in out.splitlines()]
    report(len(rows) == len(want), f"{path}: as many NDJSON lines", f"{len(rows)} {err}")
    bad = []
    for row, (w, _) in zip(rows, want):
        sec, ns = w[2].split(".")
        if (str(row["tid"]), row["cpu"], row["event"], row["time_ns"]) != (w[0], w[1], w[3], int(sec) * 10**9 + int(ns)):
            bad.append((row, w))
        for k, v in number(w[4]).items() if not w[3].startswith("kprobes:r_") else ():
            if isinstance(row["fields"].get(k), int) and row["fields"][k] != v:
                bad.append((k, v, row))
        call = re.match(r"NR (-?\d+) (?:\(([^)]*)\)|= (-?\d+))$", w[4]) if w[3].startswith("raw_syscalls:") else None
        if call and call.group(2) is not None:
            args = [int(x, 16) for x in call.group(2).split(", ")]
            if row["fields"]["id"] != int(call.group(1)) or [x % 2**64 for x in row["fields"]["args"]] != args:
                bad.append((row, w))
        elif call and (row["fields"]["id"], row["fields"]["ret"]) != (int(call.group(1)), int(call.group(3))):
            bad.append((row, w))
        elif w[3].startswith("raw_syscalls:") and not call:
            bad.append((row, w))
    report(not bad, f"{path}: NDJSON has perf's times, tasks, CPUs and integers", bad[:2])


def counts(path):
    with open(path.replace(".data.xz", ".data.counts.txt").replace("/perf", "/oracle/perf"), encoding="utf-8") as f:
        rows = dict(reversed(line.split(None, 1)) for line in f)
    return {k.strip(): int(v) for k, v in rows.items() if k.strip() != "TOTAL"}


def info(path):
    status, out, err = run("info", "-f", "json", path)
    if not out:
        return status, {}, {}, err
    j = json.loads(out)
    member = [m for m in j["members"] if m["format"] == "perf.data"] or [{}]
    return status, member[0], j["sources"][0] if j["sources"] else {}, err


def check_damaged():
    cut = f"{TOP}/G-damaged/cut"
    cases = [  # file, exit status, member's status, events, what the line says
        (f"{cut}/perf-magic-only.data", 1, "failed", None, "cut inside its header"),
        (f"{cut}/perf-cut-in-header.data", 1, "failed", None, "cut inside its header"),
        (f"{cut}/perf-cut-in-attrs.data", 1, "failed", None, "cut before its events"),
        (f"{cut}/perf-cut-in-record.data.xz", 0, "partly", 3821, "cut at byte 403627"),
        (f"{cut}/perf-data-size-0.data.xz", 0, "partly", 3790, "recorder was killed"),
        (f"{cut}/perf-no-features.data.xz", 0, "partly", 44694, "feature sections are missing"),
        (f"{cut}/perf-cut-in-features.data.xz", 0, "partly", 44694, "feature sections are missing"),
        (f"{cut}/perf-pipe-cut.data.xz", 0, "partly", 2191, "cut inside a record at byte 299988"),
        (f"{cut}/perf-z-cut.data", 0, "partly", 17004, "cut inside a compressed record at byte 136488"),
        (f"{TOP}/G-damaged/perf-killed.data.xz", 0, "partly", 34002, "recorder was killed"),
    ]
    for path, want, state, events, says in cases:
        status, member, source, err = info(path)
        report(status == want and member.get("status") == state and source.get("events") == events and
               says in (member.get("message") or "") and err.count("\n") == 1,
               f"{path}: {says}", f"{status} {member} {source} {err}")
    # perf names each sample of a killed recording by its tracepoint's number; the same recording whole has the names
    _, _, source, _ = info(f"{cut}/perf-no-features.data.xz")
    names = source["event_counts"]
    whole = counts(f"{TOP}/A-healthy-perf-6.1/perf.data.xz")
    report(all(n.startswith("tracepoint:") for n in names) and sorted(names.values()) == sorted(whole.values()),
           "without formats, events are counted as tracepoint:ID, as many as with them", names)


def check_directory():
    """perf record --threads: a directory, whole and packed in any order, and what is missing of it."""
    source = f"{TOP}/A-healthy-perf-6.1/perf-threads.dir"
    whole = info(source)[2]
    with tempfile.TemporaryDirectory() as d:
        for name in ("data", "data.0", "data.1"):
            with lzma.open(f"{source}/{name}.xz") as packed, open(f"{d}/{name}", "wb") as out:
                out.write(packed.read())
        plain = info(d)[2]
        report(plain["event_counts"] == whole["event_counts"], "a perf.data directory, its files packed or not", plain)
        with tarfile.open(f"{d}/x.tar", "w") as tar:
            for name in ("data.1", "data", "data.0"):
                tar.add(f"{d}/{name}", name)
        _, out, err = run("info", "-f", "json", f"{d}/x.tar")
        j = json.loads(out)
        report(len(j["sources"]) == 1 and j["sources"][0]["event_counts"] == whole["event_counts"] and
               [m["status"] for m in j["members"]] == ["read"] * 4, "a perf.data directory in an archive, its head in the middle",
               j["members"])
        status, member, one, err = info(f"{d}/data")
        report(status == 0 and member["status"] == "partly" and "data.0, data.1" in member["message"] and one["events"] == 0,
               "the head of a directory alone", f"{status} {member} {err}")
        status, member, _, err = info(f"{d}/data.1")
        report(status == 1 and member["status"] == "failed" and 'its file "data"' in member["message"],
               "a file of a directory alone", f"{status} {member} {err}")
        with open(f"{d}/data.1", "r+b") as f:
            f.truncate(1000003)
        os.unlink(f"{d}/x.tar")
        status, member, cut, err = info(d)
        report(status == 0 and "data.1: cut inside a record" in member["message"] and 20000 < cut["events"] < whole["events"],
               "a directory with a cut file", f"{status} {member} {cut} {err}")
        _, out, _ = run("query", "-f", "json", d, "SELECT COUNT(DISTINCT member_id) FROM cite")
        report(list(json.loads(out)["rows"][0].values()) == [2],
               "citations name the file that the record lies in", out)


def check_losses():
    status, _, source, _ = info(f"{TOP}/G-damaged/perf-lost.data.xz")
    report(status == 0 and source["lost"] == 2228, "perf-lost.data: the 2228 events that perf reports as lost", source)
    _, out, _ = run("info", "-f", "json", f"{TOP}/G-damaged/perf-lost.data.xz")
    j = json.loads(out)
    report(len(j["losses"]) == 20 and sum(row["events"] for row in j["losses"]) == 2228, "perf-lost.data: its 20 LOST records",
           j["losses"])
    report(all(row["complete"] == "lossy" for row in j["coverage"]), "perf-lost.data: no event is complete", j["coverage"])


def check_facts():
    path = f"{TOP}/A-healthy-perf-6.1/perf.data.xz"
    _, _, source, _ = info(path)
    report((source["host"], source["kernel"], source["arch"], source["cpus"], source["clock"]) ==
           ("kvmhost", "6.1.0-50-amd64", "x86_64", 2, "sched"), "host, kernel, arch, CPUs, clock", source)
    status, out, _ = run("query", "-f", "json", path, "SELECT key, value FROM fact WHERE key IN ('cpus.online', 'numa.node.0.cpus', "
                         "'cpu.desc', 'memory.total_kb') ORDER BY key")
    if status == 0:     # the command may be left out of a build
        got = [v for v in re.findall(r'"(AMD EPYC Processor|2014152|2|0-1)"', out)]
        report(len(got) == 4, "facts from the feature sections", out)

    with lzma.open(path) as f, tempfile.TemporaryDirectory() as d:
        data = bytearray(f.read())
        feats = struct.unpack_from("<QQ", data, 40)     # where the data lie, behind them the table of sections
        bits = [i for i in range(256) if data[72 + i // 8] >> (i % 8) & 1]
        struct.pack_into("<Q", data, sum(feats) + 16 * bits.index(8) + 8, 0)
        with open(f"{d}/perf.data", "wb") as out:
            out.write(data)
        status, member, _, err = info(f"{d}/perf.data")
        report(status == 0 and member["status"] == "read" and not err,
               "a feature section that the recorder left empty (CPUDESC on old ARM) is no damage", f"{member} {err}")


def check_mangled():
    """Cut and changed anywhere: no crash, no hang, one line."""
    rnd = random.Random(4711)
    with lzma.open(f"{TOP}/D-quota-l2-20ms/perf-sched.data.xz") as f:
        whole = f.read()
    bad = []
    with tempfile.TemporaryDirectory() as d:
        for i in range(40):
            data = bytearray(whole)
            if i % 2:
                del data[rnd.randrange(len(data)):]
            else:
                limit = len(data) if i % 4 else 4000
                for _ in range(20):
                    struct.pack_into("<Q", data, rnd.randrange(limit - 8), rnd.choice((0, 2**64 - 1, rnd.getrandbits(64))))
            path = f"{d}/perf.data"
            with open(path, "wb") as f:
                f.write(data)
            for command in ("info", "events"):
                status, _, err = run(command, path)
                if status not in (0, 1) or "Sanitizer" in err:
                    bad.append((i, command, status, err[-500:]))
    report(not bad, "cut and mangled copies end with status 0 or 1", bad[:3])


def check_renderer():
    """A print format that kills libtraceevent (a division by zero) costs the rendering, not the events."""
    with lzma.open(f"{TOP}/D-quota-l2-20ms/perf-kvm-sched.data.xz") as f:
        data = f.read()
    deadly = data.replace(b'", REC->vcpu_id, ', b'", (9 % 0)     , ')
    with tempfile.TemporaryDirectory() as d:
        path = f"{d}/perf.data"
        with open(path, "wb") as f:
            f.write(deadly)
        status, out, err = run("events", path)
        lines = [line for line in out.splitlines() if "kvm:kvm_entry" in line]
        report(deadly != data and status == 0 and len(lines) == 327 and all(" vcpu_id=" in line for line in lines) and
               "fields are shown plainly" in err, "a print format that kills the renderer", f"{status} {len(lines)} {lines[:1]} {err}")


for name in sorted(glob.glob(f"{TOP}/*/oracle/*.events.txt.xz")):
    check_events(name)
check_damaged()
check_directory()
check_losses()
check_facts()
check_renderer()
check_mangled()
print(f"1..{count}")
sys.exit(failed > 0)
