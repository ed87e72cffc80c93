#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What perf prints, against what kvmortem says of the recording it was printed from."""
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
HERE = "fixtures/perf-texts/"
CAPTURES = "fixtures/captures/"
STATES = ("guest_ns", "host_ns", "vmm_ns", "halted_ns", "waiting_ns", "blocked_ns", "unknown_ns", "lost_ns")
tests = 0
failed = 0


def ok(good, what):
    global tests, failed
    tests += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {tests} - {what}")


def case_of(path, folder):
    """The case file of one input."""
    out = os.path.join(folder, f"{tests}-{os.path.basename(path)}.sqlite")
    subprocess.run([KVMORTEM, "analyze", "-f", "sqlite", "-o", out, path], check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect(out)


def rows(case, sql):
    return case.execute(sql).fetchall()


def text_of(name):
    with lzma.open(HERE + name, "rt", errors="replace") as f:
        return f.read()


def script_counts(text):
    """Events by name, by a plain expression over the lines."""
    counts = {}
    for line in text.splitlines():
        found = re.search(r" \d+\.\d{6}: +(?:\d+ +)?([A-Za-z][^ ]*): ", line + " ")
        if found and not line.startswith(("#", "\t")):
            counts[found[1]] = counts.get(found[1], 0) + 1
    return counts


def check_script(name, folder):
    case = case_of(HERE + name, folder)
    want = script_counts(text_of(name))
    got = {e: n for e, n in rows(case, "SELECT event, count FROM event_count WHERE count > 0")}
    ok(want == got and sum(got.values()) > 30, f"{name}: {sum(want.values())} events counted by name")
    status = rows(case, "SELECT format, status, message FROM member")
    ok(all(s[:2] == ("perf script", "read") for s in status), f"{name}: read whole, without a remark {status}")
    return case


def check_twins(script, recording, folder, complete):
    """The text against its recording: nothing but guest-mode samples may be missing; times are cut to us."""
    a, b = check_script(script, folder), case_of(CAPTURES + recording, folder)
    counts = "SELECT event, count FROM event_count ORDER BY 1"
    left_out = {e for e, n in rows(b, counts)} - {e for e, n in rows(a, counts)}
    ok(not left_out, f"{script}: the events that were asked for")
    for (event, n), (other, m) in zip(rows(a, counts), rows(b, counts)):
        if complete or event in ("kvm:kvm_entry", "kvm:kvm_exit", "sched:sched_switch"):
            ok((event, n) == (other, m), f"{script}: {event} {n} times, recorded {m}")
    vcpus = f"SELECT tid, comm, {', '.join(STATES)} FROM vcpu ORDER BY tid"
    for x, y in zip(rows(a, vcpus), rows(b, vcpus)):
        edges = rows(a, "SELECT sum(count) FROM event_count")[0][0]
        ok(x[:2] == y[:2] and all(abs(p - q) <= 1000 * edges for p, q in zip(x[2:], y[2:])),
           f"{script}: {x[1]} in the same states {[round(p / 1e6) for p in x[2:]]} ms")
    kvm = "SELECT event, reason, sum(count) FROM exit_stat WHERE event = 'vmexit' GROUP BY 1, 2 ORDER BY 1, 2"
    ok(rows(a, kvm) == rows(b, kvm), f"{script}: {len(rows(a, kvm))} exit reasons, equally often")
    facts = "SELECT key, value FROM fact WHERE key IN ('host.name', 'kernel.release', 'cpu.arch', 'cpus.online', " \
            "'memory.total_kb', 'perf.version') ORDER BY 1"
    ok(rows(a, facts) == rows(b, facts) and len(rows(a, facts)) == 6, f"{script}: the header's facts")
    if complete:
        shapes = "SELECT shape, count FROM pattern ORDER BY count DESC, shape"
        ok(rows(a, shapes) == rows(b, shapes) and rows(a, shapes), f"{script}: chains of the same {len(rows(a, shapes))} shapes")


def check_timehist(folder):
    """With --state, timehist says all waits: those of the recording, to the microsecond."""
    a = case_of(HERE + "d-minshares-sched-ev.timehist-state.txt.xz", folder)
    total = case_of(HERE + "d-minshares-sched-ev.timehist-state-summary.txt.xz", folder)
    b = case_of(CAPTURES + "D-minshares-6.1/perf-sched-ev.data.xz", folder)
    sql = "SELECT task, tid, switches, total_delay_ns, max_delay_ns, oncpu_ns FROM runq_delay WHERE vcpu = 1 ORDER BY tid"
    sums = {r[1]: r for r in rows(total, sql)}
    for x, y in zip(rows(a, sql), rows(b, sql)):
        waits, near = y[2], abs(x[3] - y[3]) <= 1000 * y[2] and abs(x[4] - y[4]) <= 1000
        ok(x[1] == y[1] and near and abs(x[2] - waits) <= 1 and x[5] > 0,
           f"timehist: {x[0]} waited {x[2]} times, {x[3] / 1e6:.3f} ms, at most {x[4] / 1e6:.3f} ms; recorded {y[2:5]}")
        ok(abs(sums[x[1]][3] - x[3]) <= 1000 * waits and sums[x[1]][4] is None,
           f"timehist --state -s: {x[0]} waited {sums[x[1]][3] / 1e6:.3f} ms, longest not told")
    ok(len(sums) == 2 and rows(a, "SELECT count(*) FROM runq_delay WHERE vcpu = 1")[0][0] == 2, "timehist: two vCPUs")


def check_trace(folder):
    """perf trace: every call with a duration counted, by a plain expression; the summary's rows as they stand."""
    case, text = case_of(HERE + "c-createvm.perf-trace.txt.xz", folder), text_of("c-createvm.perf-trace.txt.xz")
    timed = re.findall(r"^ +[\d.]+ \( *([\d.]+) ms\)", text, re.M)
    got = rows(case, "SELECT sum(count), sum(total_ns) FROM syscall_stat")[0]
    ok(got == (len(timed), sum(round(float(t) * 1000) for t in timed) * 1000), f"perf trace: {len(timed)} calls, {got[1] / 1e6:.3f} ms")
    vms = [round(float(t) * 1e6) for t in re.findall(r"\( *([\d.]+) ms\): .*(?:KVM_CREATE_VM|continued\]: ioctl)", text)]
    spans = [r[0] for r in rows(case, "SELECT duration_ns FROM span WHERE func = 'ioctl:KVM_CREATE_VM' AND origin = 'perf trace'")]
    ok(sorted(vms) == sorted(spans) and len(vms) == 10, f"perf trace: {len(vms)} KVM_CREATE_VM, interrupted ones too")
    case, text = case_of(HERE + "c-createvm.perf-trace-summary.txt.xz", folder), text_of("c-createvm.perf-trace-summary.txt.xz")
    want, tid = [], 0
    for line in text.splitlines():
        task = re.match(r" \S+ \((\d+)\), ", line)
        row = re.match(r" {3}(\w+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +[\d.]+ +([\d.]+) ", line)
        tid = int(task[1]) if task else tid
        if row:
            want.append((tid, row[1], int(row[2]), int(row[3])) + tuple(round(float(t) * 1e6) for t in row.groups()[3:]))
    got = rows(case, "SELECT tid, name, count, errors, total_ns, min_ns, max_ns FROM syscall_stat")
    ok(sorted(want) == sorted(got) and len(got) > 50, f"perf trace -s: {len(got)} rows, by thread")


def check_report(folder):
    """perf report: the counts that the recording has, and every row's share of them."""
    case, text = case_of(HERE + "e-ksm-numa.report.txt.xz", folder), text_of("e-ksm-numa.report.txt.xz")
    recorded = case_of(CAPTURES + "E-ksm-numa-on-4k/perf.data.xz", folder)
    counts = dict(rows(recorded, "SELECT event, count FROM event_count"))
    got = rows(case, "SELECT event, count FROM event_count")
    ok(len(got) > 15 and all(counts[e] == n for e, n in got), f"perf report: {len(got)} events counted as recorded")
    table = len(re.findall(r"^ {3} *[\d.]+%  \S", text, re.M))
    ok(rows(case, "SELECT count(*) FROM stack_count")[0][0] == table, f"perf report: {table} rows")
    path = "%tdp_mmu_zap_leafs%invalidate_range_start%change_prot_numa%task_numa_work%"
    ok(rows(case, f"SELECT count(*) FROM stack WHERE frames LIKE '{path}'")[0][0] > 0, "perf report: a whole path of its graph")


with tempfile.TemporaryDirectory() as tmp:
    check_twins("d-quota-kvm-sched.script.txt.xz", "D-quota-l2-20ms/perf-kvm-sched.data.xz", tmp, False)
    check_twins("d-minshares-kprobes.script.txt.xz", "D-minshares-6.1/perf-kprobes.data.xz", tmp, True)
    chains = check_script("a-callchains-head.script.txt.xz", tmp)
    ok(rows(chains, "SELECT count(*) FROM stack_count c JOIN stack s ON s.id = c.stack_id "
                    "WHERE c.event LIKE 'cpu-clock%' AND s.frames LIKE '%do_idle%'")[0][0] > 0, "samples have their call chains")
    check_script("c-createvm-head.script.txt.xz", tmp)
    check_timehist(tmp)
    check_trace(tmp)
    check_report(tmp)

print(f"1..{tests}")
sys.exit(failed > 0)
