#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats for trackers: title, markdown, bugzilla, jira. What they say, that names are inert, that they fit."""
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURES = "fixtures/captures"
FOUNDING = [
    ("B-root-churn-tdp1-prefix-kvm", "kvm-tdp-mmu-root-churn-smm-unload", "edbdb43fc96b", "tdp_mmu=0"),
    ("C-createvm-6.1-default", "kvm-create-vm-nx-recovery-cgroup-attach-latency", "d96c77bd4eeb", "nx_huge_pages"),
    ("D-minshares-6.1", "cfs-quota-throttled-group-minshares-latency", "fcd394866e3d", "quota"),
]
LIMITS = {"markdown": 65535, "bugzilla": 65535, "jira": 32767}
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def run(fmt, *args):
    p = subprocess.run([KVMORTEM, "-f", fmt, *args], capture_output=True, timeout=120)
    return p.returncode, p.stdout.decode("utf-8", "strict"), p.stderr.decode("utf-8", "replace")


def outside_code(markdown):
    """Markdown without its fences and code spans: what a renderer would interpret."""
    text = re.sub(r"(?ms)^( *)(`{3,})[^`\n]*\n.*?^\1\2`* *$", "", markdown)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def plain(text):
    """Words of any of the formats, without its escapes."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"\\(?=[^a-zA-Z0-9\s])", "", text)))


for capture, signature, commit, workaround in FOUNDING:
    path = os.path.join(CAPTURES, capture)
    verdict = json.loads(run("json", path)[1])["verdicts"][0]
    status, title, _ = run("title", path)
    check(status == 0 and title.count("\n") == 1 and len(title) <= 241 and verdict["title"] in title and
          "[match" in title and commit in title, "%s: the title says which bug, how sure and what fixes it" % capture)
    for fmt, limit in LIMITS.items():
        status, text, _ = run(fmt, path)
        words = plain(text)
        sentence = next(r["says"] for e in verdict["evidence"] if e["role"] == "for" for r in e["rows"])
        cited = [c["member"].split("/")[-1] for e in verdict["evidence"] for r in e["rows"] for c in r["cites"]]
        check(status == 0 and len(text.encode()) <= limit, "%s: %s fits" % (capture, fmt))
        check(signature in words and commit in words and workaround in words and
              re.sub(r"\s+", " ", sentence) in words and any(c in words for c in cited),
              "%s: %s has signature, fix, workaround, evidence and citation" % (capture, fmt))
        check("longest stall and its causal chain" in words and "How this was made" in words,
              "%s: %s has the chain and its origin" % (capture, fmt))
    text = run("bugzilla", path)[1]
    check(all(len(line) <= 78 or line.startswith("    ") or " " not in line.lstrip("* ").rstrip()
              for line in text.split("\n")),
          "%s: bugzilla's prose stays within 78 columns" % capture)

status, title, _ = run("title", glob.glob(os.path.join(CAPTURES, "B-control-tdp1-stock", "perf.data*"))[0])
check(status == 0 and "no known bug" in title, "a control's title says that nothing matched")
for fmt in ("title", "markdown"):
    p = subprocess.run([KVMORTEM, "info", "-f", fmt, os.path.join(CAPTURES, "A-healthy-ftrace-6.1")],
                       capture_output=True)
    check(p.returncode == 2 and b"analyze" in p.stderr, "info -f %s is refused with a reason" % fmt)

HOSTILE = ["<script>x</s>", "`|`@root #1", "{noformat}", "[a](http://b)", "**x**|_y_", "\u202eevil\u200b", "!i.png!|{code}", "&amp;<b>"]
with tempfile.TemporaryDirectory() as tmp:
    trace = os.path.join(tmp, "trace.txt")
    with open(trace, "w") as f:
        f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 900/900   #P:4\n#\n")
        t = 100.0
        for i in range(100):
            comm = HOSTILE[i % len(HOSTILE)]
            tid = 500 + i % len(HOSTILE)
            for what in ("kvm_exit: vcpu 0 reason HLT rip 0x%x info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0" % i,
                         "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=R ==> next_comm=%s next_pid=%d "
                         "next_prio=120" % (comm, tid, HOSTILE[(i + 1) % len(HOSTILE)], 500 + (i + 1) % len(HOSTILE))):
                f.write("%16s-%-5d [001] d..2.  %10.6f: %s\n" % (comm, tid, t, what))
                t += 0.004
    text = run("markdown", tmp)[1]
    rest = outside_code(text)
    check("script" in text, "the hostile names are in the report")
    check(not re.search(r"(?<!\\)[<@]|://", rest) and not re.search(r"(?<!\\)\]\(", rest),
          "markdown: no tag, mention or link outside code")
    check("\u202e" not in text and "\u200b" not in text, "markdown: no hidden characters")
    rows = [line for line in text.split("\n") if line.startswith("|")]
    check(len({len(re.findall(r"(?<!\\)\|", r)) for r in rows}) <= 1, "markdown: a pipe in a name ends no cell")
    text = run("jira", tmp)[1]
    blocks = re.split(r"(?m)^\{noformat\}$", text)
    check(len(blocks) % 2 == 1 and not any("{noformat" in b for b in blocks[1::2]), "jira: a name can't end a {noformat}")
    bare = re.sub(r"\\.", "", "".join(blocks[0::2]))
    check(not re.search(r"\{(?!\{)(?<!\{\{)", re.sub(r"\{\{|\}\}", "", bare)) and "[" not in bare and "!" not in bare,
          "jira: no macro, link or image outside {noformat}")
    check("\x1b" not in run("bugzilla", tmp)[1], "bugzilla: no terminal escapes")

with tempfile.TemporaryDirectory() as tmp:
    os.makedirs(os.path.join(tmp, "d" * 120, "e" * 120))
    for i in range(600):
        with open(os.path.join(tmp, "d" * 120, "e" * 120, "ksm-%03d.txt" % i), "w") as f:
            f.write("numa_hit %d\npgmigrate_success %d\n" % (i, i))
    source = glob.glob(os.path.join(CAPTURES, "A-healthy-ftrace-6.1", "trace*"))[0]
    for fmt, limit in LIMITS.items():
        status, text, _ = run(fmt, tmp, source)
        check(status == 0 and limit / 2 < len(text.encode()) <= limit and "Left out to stay within" in plain(text),
              "%s: a case that is too large leaves out the least important and says so" % fmt)
        check("Verdict" in text and "How this was made" in text, "%s: what matters is still there" % fmt)

print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
