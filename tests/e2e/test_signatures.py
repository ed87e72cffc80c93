#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The signatures command from outside: list, show, lint, catalogues of one's own, exit statuses."""
import glob
import json
import os
import subprocess
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
GOOD = """id: my-one
title: A bug of our own
status: unverified
mechanism: A guest leaves for the host.
evidence:
  - id: exits
    strength: strong
    needs: ["event:kvm_exit"]
    says: "{reason} {count} times"
    sql: SELECT source_id AS source, reason, count, cite_id AS cite FROM exit_stat WHERE event = 'vmexit'
workaround: none
references: [none]
"""
EXIT = ("vcpu 0 reason MSR_WRITE rip 0xffff info1 0x0000000000000000 info2 0x0000000000000000 "
        "intr_info 0x00000000 error_code 0x00000000")
TRACE = "".join(f" CPU 0/KVM-101   [000] d..1.   1.00{i}000: kvm_exit: {EXIT}\n"
                f" CPU 0/KVM-101   [000] d..1.   1.00{i}500: kvm_entry: vcpu 0, rip 0xffff\n" for i in range(5))
count = 0


def ok(good, what, detail=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good and detail:
        print("# " + str(detail).replace("\n", "\n# "))


def run(*args):
    return subprocess.run([KVMORTEM, *args], capture_output=True, text=True)


def verdicts(*paths):
    """The first (strongest) verdict of each signature."""
    found = {}
    for v in json.loads(run("-f", "json", *paths).stdout)["verdicts"]:
        found.setdefault(v["id"], v)
    return found


def whole_cases():
    """What an engineer gets of a case: two bugs, a look-alike, a fixed kernel, a recording that lacks what decides."""
    churn, create = "kvm-tdp-mmu-root-churn-smm-unload", "kvm-create-vm-nx-recovery-cgroup-attach-latency"
    base = "fixtures/captures/"
    found = verdicts(base + "B-root-churn-tdp1-prefix-kvm/trace-full.txt.xz", base + "C-createvm-6.1-default/fgraph.txt.xz")
    fired = sorted(i for i, v in found.items() if v["verdict"] in ("match", "likely"))
    ok(fired == sorted([churn, create]), "a bundle with two bugs gets both and no other", fired)

    shares, plain = "cfs-quota-throttled-group-minshares-latency", "cfs-quota-plain-throttling"
    paths = [base + "D-minshares-6.1/trace.txt.xz", base + "D-minshares-6.1/cgroup-after2.txt"]
    found = verdicts(*paths)
    ok(found[shares]["verdict"] == "match" and found[plain]["verdict"] == "ruled-out", "of two look-alikes the right one", found[shares]["because"])
    alike = {a["id"]: a for a in found[shares]["lookalikes"]}.get(plain, {})
    ok(alike.get("verdict") == "ruled-out" and alike["tells_apart"], "the match names its look-alike, ruled out", alike)
    ok(any(d["signature"] == plain and d["item"] == "sibling-ran-meanwhile" and "refills" in (d["says"] or "")
           for d in alike.get("decided_by", [])), "and the evidence that decided", alike)
    text = run(*paths).stdout
    ok("Unlike     " + plain + " (ruled out)" in text and "decided by 'sibling-ran-meanwhile'" in text, "the text report says so", text[:3000])
    ok("score 25 = 1 of 1 decisive x10" not in text and "x10" in run("-v", *paths).stdout, "-v shows how the score came about")

    numa = "kvm-mmu-notifier-retry-contention-numa"
    with tempfile.TemporaryDirectory() as tmp:
        open(os.path.join(tmp, "bpftrace.txt"), "w").write(open("fixtures/founding/numa-bpftrace.txt").read())
        found = verdicts(tmp)[numa]
        ok(found["verdict"] in ("possible", "cannot-tell"), "part of the mechanism, kernel unknown: not ruled out", found["because"])
        open(os.path.join(tmp, "version"), "w").write("Linux version 6.8.12 (builder@host) (gcc 12.2.0) #1 SMP PREEMPT_DYNAMIC Mon Nov 4 10:00:00 UTC 2024\n")
        found = verdicts(tmp)[numa]
        ok(found["verdict"] == "ruled-out" and "d02c357e5bfa" in found["because"] and "6.8.12" in found["because"],
           "the same on a kernel with the fix: ruled out by the commit", found["verdict"] + ": " + found["because"])
        ok(any(f.startswith("d02c357e5bfa") for f in found["fixed_by"]), "which fixed_by has too", found["fixed_by"])

    with tempfile.TemporaryDirectory() as tmp:
        open(os.path.join(tmp, "trace.txt"), "w").write(TRACE)
        found = verdicts(tmp)[churn]
        ok(found["verdict"] == "cannot-tell" and any("hv_track_root_tdp" in m for m in found["missing"]),
           "a recording without the decisive events: can't tell, and why", found)
        ok(any("-t 101 " in c and "hv_track_root_tdp" in c for c in found["record_next"]), "with the commands for this VM's threads", found["record_next"])


def drafts(tmp, trace):
    """draft: a skeleton that lint takes and that speaks for the case it was made from."""
    own = os.path.join(tmp, "drafts")
    os.mkdir(own)
    draft = os.path.join(own, "my-bug-7.yaml")
    capture = "fixtures/captures/D-minshares-6.1/trace.txt.xz"
    r = run("signatures", "draft", capture, "-o", draft)
    text = open(draft).read()
    ok(r.returncode == 0 and "id: my-bug-7\n" in text and "runq: throttled" in text, "draft takes the dominant patterns and the file's name", text[:800] + r.stderr)
    r = run("signatures", "lint", draft)
    ok(r.returncode == 0 and not r.stdout, "lint takes the draft as it stands", r.stdout)
    found = [v for v in json.loads(run(capture, "--signatures", own, "-f", "json").stdout)["verdicts"] if v["id"] == "my-bug-7"]
    ok(found and found[0]["verdict"] == "possible", "its evidence is shown by the case it was drafted from", found)
    r = run("signatures", "draft", trace)
    ok(r.returncode == 0 and "reason = 'MSR_WRITE'" in r.stdout, "exits alone make a draft, too", r.stdout + r.stderr)
    empty = os.path.join(tmp, "version")
    open(empty, "w").write("Linux version 6.8.12 (a@b) (gcc 12.2.0) #1 SMP\n")
    r = run("signatures", "draft", empty)
    ok(r.returncode != 0 and "nothing stands out" in r.stderr, "nothing recorded: no draft", r.stderr)


def main():
    files = sorted(glob.glob("analyzer/signatures/*.yaml"))
    r = run("signatures", "list")
    lines = r.stdout.splitlines()
    ok(r.returncode == 0 and len(lines) == len(files) > 0, "list has a line for each file", r.stdout + r.stderr)
    ok([l.split()[0] for l in lines] == [os.path.basename(f)[:-5] for f in files], "list is sorted by id")
    r = run("signatures", "list", "-f", "json")
    doc = json.loads(r.stdout)
    ok(doc["schema"] == 1 and all(s["id"] and s["title"] for s in doc["signatures"]), "list -f json")
    r = run("signatures", "lint", *files)
    ok(r.returncode == 0 and not r.stdout, "lint finds nothing in the catalogue", r.stdout + r.stderr)
    one = os.path.basename(files[0])[:-5]
    r = run("signatures", "show", one)
    ok(r.returncode == 0 and r.stdout == open(files[0]).read(), "show prints the file")
    doc = json.loads(run("signatures", "show", one, "-f", "json").stdout)
    ok(doc["id"] == one and doc["items"] and all(i["sql"] for i in doc["items"]), "show -f json")
    r = run("signatures", "show", "no-such-one")
    ok(r.returncode == 2 and len(r.stderr.splitlines()) == 1, "show of an unknown id is a usage error", r.stderr)
    r = run("signatures", "frobnicate")
    ok(r.returncode == 2 and not r.stdout, "an unknown verb is a usage error")
    r = run("signatures", "lint", "/nonexistent/x.yaml")
    ok(r.returncode == 3 and "/nonexistent/x.yaml" in r.stderr, "lint of what can't be read", r.stderr)

    whole_cases()
    with tempfile.TemporaryDirectory() as tmp:
        mine = os.path.join(tmp, "my-one.yaml")
        trace = os.path.join(tmp, "trace.txt")
        open(trace, "w").write(TRACE)
        open(mine, "w").write(GOOD)
        r = run("signatures", "lint", mine)
        ok(r.returncode == 0, "lint of a good file", r.stdout)
        ok("bundles are not asked for" in r.stderr, "a private catalogue needs no bundles, and is told", r.stderr)
        ours = os.path.join(tmp, "project", "analyzer", "signatures")
        bundles = os.path.join(tmp, "project", "fixtures", "signatures", "my-one")
        os.makedirs(ours)
        os.makedirs(os.path.join(bundles, "positive"))
        open(os.path.join(ours, "my-one.yaml"), "w").write(GOOD)
        open(os.path.join(bundles, "expect.tsv"), "w").write("# a table\npositive\tmy-one=match\there\nnegative\tmy-one=none\there\n")
        r = run("signatures", "lint", os.path.join(ours, "my-one.yaml"))
        ok(r.returncode == 1 and "bundle 'negative' is not there" in r.stdout and "no negative bundle" in r.stdout and "positive" not in r.stdout,
           "where fixtures lie beside, bundles are asked for", r.stdout)
        r = run(trace, "--signatures", tmp, "-f", "json")
        found = [v for v in json.loads(r.stdout)["verdicts"] if v["id"] == "my-one"]
        ok(found and found[0]["verdict"] == "possible", "a catalogue of one's own is used", found or r.stderr)
        rows = [row for e in found[0]["evidence"] for row in e["rows"]] if found else []
        ok(rows and "MSR_WRITE" in rows[0]["says"], "its sentence is filled", rows)
        changes = (
            ("sql: SELECT source_id", "sql: DELETE FROM span; --", "reading"),
            ("count, cite_id AS cite FROM exit_stat WHERE event = 'vmexit'", "count(*) AS count, 1 AS cite FROM exit_stat", "GROUP BY"),
            ("{count}", "{coumt}", "coumt"),
            ("WHERE event = 'vmexit'", "WHERE (SELECT count(*) FROM span a, stall b, task c, cite d) > 0", "million steps"),
            ("event:kvm_exit", "event:kvm_exits", "kvm_exits"),
            ("strength: strong", "strength: very", "strength"),
            ("event:kvm_exit", "log:no_such_kind", "no_such_kind"),
            ("workaround:", 'affects: {fixed: [{commit: deadbeef, upstream: "6.4"}]}\nworkaround:', "hexadecimal"),
            ("workaround:", 'affects: {fixed: [{commit: 0123456789ab, releases: ["mint:6.1.0-3"]}]}\nworkaround:', "no such distribution"),
            ("workaround:", 'affects: {fixed: [{commit: 0123456789ab, releases: ["el9:5.14.0"]}]}\nworkaround:', "can't be compared"),
            ("workaround:", "lookalikes: [{id: no-such-neighbour, tells_apart: x}]\nworkaround:", "no-such-neighbour"),
            ("workaround:", f"lookalikes: [{{id: {one}, tells_apart: x, by: [no-such-item]}}]\nworkaround:", "no-such-item"),
            ("workaround:", "wrokaround:", "wrokaround"),
        )
        for old, new, part in changes:
            open(mine, "w").write(GOOD.replace(old, new))
            r = run("signatures", "lint", mine)
            ok(r.returncode == 1 and part in r.stdout, f"lint finds {new!r}", r.stdout + r.stderr)
        r = run("signatures", "lint", mine, "-f", "json")
        ok(r.returncode == 1 and json.loads(r.stdout)["findings"], "lint -f json")
        r = run(trace, "--signatures", tmp)
        ok(r.returncode == 2 and "my-one.yaml" in r.stderr, "a broken catalogue is a usage error that names the file", r.stderr)
        os.unlink(mine)
        copy = os.path.join(tmp, one + ".yaml")
        open(copy, "w").write(open(files[0]).read().replace("\ntitle: ", "\ntitle: Ours, ", 1))
        r = run("signatures", "show", one, "--signatures", tmp)
        ok("title: Ours, " in r.stdout, "an own file replaces the built-in one of its id")
        drafts(tmp, trace)
        r = run(trace, "--signatures", os.path.join(tmp, "missing"))
        ok(r.returncode == 3 and "missing" in r.stderr, "a missing directory is an I/O error", r.stderr)
    print(f"1..{count}")


main()
