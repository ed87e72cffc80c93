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

    with tempfile.TemporaryDirectory() as tmp:
        mine = os.path.join(tmp, "my-one.yaml")
        trace = os.path.join(tmp, "trace.txt")
        open(trace, "w").write(TRACE)
        open(mine, "w").write(GOOD)
        r = run("signatures", "lint", mine)
        ok(r.returncode == 0, "lint of a good file", r.stdout)
        r = run(trace, "--signatures", tmp, "-f", "json")
        found = [v for v in json.loads(r.stdout)["verdicts"] if v["id"] == "my-one"]
        ok(found and found[0]["verdict"] == "possible", "a catalogue of one's own is used", found or r.stderr)
        rows = [row for e in found[0]["evidence"] for row in e["rows"]] if found else []
        ok(rows and "MSR_WRITE" in rows[0]["says"], "its sentence is filled", rows)
        changes = (
            ("sql: SELECT source_id", "sql: DELETE FROM span; --", "reading"),
            ("count, cite_id AS cite FROM exit_stat WHERE event = 'vmexit'", "count(*) AS count, 1 AS cite FROM exit_stat", "GROUP BY"),
            ("{count}", "{coumt}", "coumt"),
            ("event:kvm_exit", "event:kvm_exits", "kvm_exits"),
            ("strength: strong", "strength: very", "strength"),
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
        r = run(trace, "--signatures", os.path.join(tmp, "missing"))
        ok(r.returncode == 3 and "missing" in r.stderr, "a missing directory is an I/O error", r.stderr)
    print(f"1..{count}")


main()
