#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kvmortem diff GOOD BAD: a control against its bug names the bug, in every format; equal cases differ in nothing."""
import json
import os
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures"
GOOD = os.path.join(CAPTURES, "B-control-tdp1-stock/perf.data.xz")
BAD = os.path.join(CAPTURES, "B-root-churn-tdp1-prefix-kvm/perf.data.xz")
BUG = "kvm-tdp-mmu-root-churn-smm-unload"
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def run(*args):
    p = subprocess.run([KVMORTEM, *args], capture_output=True, timeout=120)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def rows(*args):
    status, out, _ = run("diff", "-f", "json", *args)
    return json.loads(out)["rows"] if status == 0 else None


r = rows(GOOD, BAD)
verdicts = [x for x in r if x["section"] == "verdict"]
check([(v["name"], v["good"], v["bad"]) for v in verdicts] == [(BUG, "ruled out", "match")], "the verdict that differs is the bug's")
good = json.loads(run("-f", "json", GOOD)[1])
bad = json.loads(run("-f", "json", BAD)[1])


def share(case, key):
    vcpus = [c for vm in case["vms"] for c in vm["vcpus"]]
    return sum(c[key] for c in vcpus) / sum(c["last_ns"] - c["first_ns"] for c in vcpus)


for words, key in (("in the guest", "guest_ns"), ("handling exits in the host kernel", "host_ns"), ("runnable but waiting for a CPU", "waiting_ns")):
    x = next(x for x in r if x["section"] == "state" and x["name"] == words)
    check(abs(x["good"] - share(good, key)) < 1e-9 and abs(x["bad"] - share(bad, key)) < 1e-9 and
          abs(x["effect"] - abs(x["bad"] - x["good"])) < 1e-9, "the time %s is what each case has" % words)
for section in {x["section"] for x in r}:
    effects = [x["effect"] for x in r if x["section"] == section]
    check(effects == sorted(effects, reverse=True), "%s: most of it first" % section)
exits = json.loads(run("exits", "-f", "json", BAD)[1])["rows"]
io = next(x for x in exits if x["reason"] == "io")
x = next(x for x in r if x["name"] == "io: average time")
check(abs(x["bad"] - io["total_ns"] / io["count"]) < 1, "an exit's average time is that of `exits`")
x = next(x for x in r if x["section"] == "root" and x["unit"] == "count")
check(x["good"] < 10 < x["bad"], "roots per load differ")

check(rows(GOOD, GOOD) is not None and all(x["effect"] == 0 for x in rows(GOOD, GOOD)), "a case does not differ from itself")
check("nothing differs noticeably" in run("diff", GOOD, GOOD)[1], "and the text says so")

for fmt in ("text", "markdown", "jira", "bugzilla", "title", "html"):
    status, out, err = run("diff", "-f", fmt, GOOD, BAD)
    check(status == 0 and BUG in out.replace("\\", "").replace("<wbr>", "") and "ruled out" in out, "%s: the bug is named" % fmt)

with tempfile.TemporaryDirectory() as tmp:
    a, b = os.path.join(tmp, "a.sqlite"), os.path.join(tmp, "b.sqlite")
    run("-o", a, GOOD)
    run("-o", b, BAD)
    check(rows(a, b) == r, "kept case files differ as their bundles do")
    for name, value in (("good", "N"), ("bad", "Y")):
        d = os.path.join(tmp, name, "sys/module/kvm/parameters")
        os.makedirs(d)
        with open(os.path.join(d, "tdp_mmu"), "w") as f:
            f.write(value + "\n")
    facts = rows(os.path.join(tmp, "good"), os.path.join(tmp, "bad"))
    check([(x["name"], x["good"], x["bad"]) for x in facts if x["section"] == "fact"] == [("param.kvm.tdp_mmu", "N", "Y")],
          "a module parameter that differs is told")
    with open(os.path.join(tmp, "nothing"), "w") as f:
        f.write("\x00\x01\x02")
    status, out, err = run("diff", GOOD, os.path.join(tmp, "nothing"))
    check(status == 1 and "nothing" in err.splitlines()[-1] and not out, "half a comparison is refused")
check(run("diff", GOOD)[0] == 2 and run("diff", GOOD, BAD, BAD)[0] == 2, "it takes two inputs")

print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
