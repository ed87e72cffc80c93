#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots: series agree with the tables; --plots and the page with and without gnuplot; hostile names, directories, redaction."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))
ROOTS = "fixtures/captures/B-root-churn-tdp1-prefix-kvm/perf.data.xz"
QUOTA = "fixtures/captures/D-quota-l2-20ms"
FGRAPH = "fixtures/captures/E-ksm-numa-on-4k/fgraph.txt.xz"
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def query(path, sql):
    p = subprocess.run([KVMORTEM, "query", "-q", "-f", "json", path, sql], capture_output=True, text=True, timeout=120)
    return json.loads(p.stdout)["rows"]


def test_series():
    rows = query(ROOTS, "SELECT name, SUM(value) AS n, MIN(t_ns) AS t FROM series WHERE name GLOB 'exits*' GROUP BY name")
    stats = query(ROOTS, "SELECT reason, SUM(count) AS n FROM exit_stat WHERE event = 'vmexit' AND origin = 'computed' GROUP BY reason ORDER BY n DESC, reason")
    series = {r["name"]: r["n"] for r in rows}
    total = sum(r["n"] for r in stats)
    # an exit counts in the tables when its entry has come, so the last one of a vCPU may be missing there
    check(0 <= series.get("exits", -99) - total <= 4, "all exits are in the series of exits")
    top = stats[:min(5, len(stats))]
    check(len(series) == len(top) + 1, "with it those of the commonest reasons, at most five")
    check(all(0 <= series.get("exits: " + r["reason"], -99) - r["n"] <= 4 for r in top), "each with its number")



def run(*args, path=None):
    env = dict(os.environ)
    if path is not None:
        env["PATH"] = path
    p = subprocess.run([KVMORTEM, *args], capture_output=True, text=True, timeout=300, env=env)
    return p.returncode, p.stdout, p.stderr


def names(d):
    return sorted(os.listdir(d))


def stems(d, ending):
    return {n[:-len(ending)] for n in names(d) if n.endswith(ending)}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def svg_faults(path):
    """Elements and attributes of an SVG file that do not belong into one."""
    known = {"svg", "style", "rect", "path", "text"}
    for e in xml.etree.ElementTree.parse(path).iter():
        name = e.tag.split("}")[-1]
        if name not in known:
            yield name
        yield from (a for a in e.attrib if a.startswith("on") or "href" in a)


def figures(page):
    return re.findall(r'<figure class="plot">.*?</figure>', page, re.S)


def test_without(tmp):
    d, page = tmp + "/own", tmp + "/own.html"
    code, _, err = run(QUOTA, "--plots", d, "-o", page, "-q", path="/nonexistent")
    found = stems(d, ".svg")
    check(code == 0 and err == "", "without gnuplot nothing is said to be missing (%s)" % err)
    check(found and found == stems(d, ".gp") == stems(d, ".dat") and not stems(d, ".png"), "svg, script and numbers are there, no png")
    kinds = {re.sub(r"-\d+$", "", s) for s in found}
    check({"waits", "waits-cdf", "throttled", "longest-waits"} <= kinds, "latency histogram and CDF, throttling, waits (%s)" % sorted(kinds))
    check(not [w for s in found for w in svg_faults("%s/%s.svg" % (d, s))], "the program's own SVG files are plain SVG")
    check(len(figures(read(page))) >= 4 and "gnuplot" not in read(page), "the page has its plots and does not speak of gnuplot")
    check(names(d) == sorted(s + e for s in found for e in (".dat", ".gp", ".svg")), "nothing else is left in the directory")
    return page


def test_with(tmp, own):
    d, page = tmp + "/gnuplot", tmp + "/gnuplot.html"
    code, _, err = run(QUOTA, "--plots", d, "-o", page, "-q")
    found = stems(d, ".gp")
    check(code == 0 and err == "" and found == stems(d, ".png") == stems(d, ".svg") == stems(d, ".dat"), "four files a plot with gnuplot")
    check(found == stems(tmp + "/own", ".gp"), "the same plots as without it")
    check(all("Produced by GNUPLOT" in read("%s/%s.svg" % (d, s)) for s in found), "the svg files are gnuplot's")
    check(all(open("%s/%s.png" % (d, s), "rb").read(8) == b"\x89PNG\r\n\x1a\n" for s in found), "the png files are PNG")
    name = sorted(found)[0]
    before = read("%s/%s.svg" % (d, name))
    os.unlink("%s/%s.svg" % (d, name))
    os.unlink("%s/%s.png" % (d, name))
    again = subprocess.run(["gnuplot", name + ".gp"], cwd=d, capture_output=True, timeout=60)
    check(again.returncode == 0 and read("%s/%s.svg" % (d, name)) == before and os.path.exists("%s/%s.png" % (d, name)),
          "the script draws the same again where it stands (%s)" % again.stderr)

    a, b = figures(read(page)), figures(read(own))
    caption = re.compile(r"<figcaption>.*?</figcaption>|aria-label=\"[^\"]*\"", re.S)
    check(len(a) == len(b) and [caption.findall(f) for f in a] == [caption.findall(f) for f in b], "the page has the same plots")
    check(all(x != y for x, y in zip(a, b)), "drawn by gnuplot")
    tags = set(re.findall(r"<([a-z]+)", " ".join(a))) - {"figure", "figcaption", "ul", "li", "svg", "bdi", "path", "text", "wbr"}
    attributes = set(re.findall(r" ([a-z:-]+)=\"", " ".join(a))) - set("class d x y transform role viewBox aria-label aria-hidden width height title".split())
    check(not tags and not attributes and "'" not in " ".join(re.findall("<[^>]*>", " ".join(a))),
          "of gnuplot's markup only paths and words are there (%s %s)" % (tags, attributes))
    words = [w for f in a for w in re.findall(r"<text[^>]*>([^<]*)", f)]
    check({"wait for a CPU", "waits", "20 %", "1 ms"} <= set(words), "with axes and their words")


def test_same_data(tmp):
    """Numbers in the files are those of the case."""
    rows = query(QUOTA, "SELECT source_id AS s, low_ns AS low, high_ns AS high, SUM(count) AS n FROM histogram WHERE name = 'runq' AND low_ns > 0 GROUP BY 1, 2 ORDER BY 1, 2")
    wrong = []
    for s in {r["s"] for r in rows}:
        try:
            have = [tuple(float(x) for x in line.split()) for line in read("%s/gnuplot/waits-%d.dat" % (tmp, s)).splitlines() if line and line[0] != "#"]
        except FileNotFoundError:
            have = None
        want = [(r["low"] / 1e9, r["high"] / 1e9, r["n"]) for r in rows if r["s"] == s]
        if have is None or len(have) != len(want) or any(abs(x - y) > 1e-9 for h, w in zip(have, want) for x, y in zip(h, w)):
            wrong.append((s, have, want))
    check(rows and not wrong, "the numbers beside a plot are the case's %s" % wrong[:1])


HOSTILE = ["'; system 'touch pwned'; plot '", "`touch pwned`", "$(touch pwned)", "@GPVAL_VERSION {/Symbol x}^2_3 ~a{b}", "\"\nsystem \"touch pwned\"\n",
           "'\n!touch pwned\n'", "</text><script>alert(1)</script>", "\u202egnp.exe\u2066", "\\", "a\\'b", "%s%n%d", "# x", "X" * 10000, "\u0301" * 500,
           "e\x1b[2J\x07", "\U000e0041\ufffe", "$data << EOD", "\u05d0\u05d1 | \u540d\u524d"]


def test_snapshots(tmp):
    """Counters read twice: the plots have their numbers, and are there only where there is something to show."""
    d, base = tmp + "/snapshots", "fixtures/captures/E-ksm-numa-on-4k/"
    inputs = [base + n for n in ("vmstat-before.txt", "vmstat-after.txt", "ksm-before.txt", "ksm-after.txt")]
    run(*inputs, "-q", "--plots", d)
    check(stems(d, ".gp") == {"numa-balancing", "ksm"}, "KSM and NUMA balancing between snapshots (%s)" % names(d))

    def values(name):
        return [float(line.split()[2]) for line in read("%s/%s.dat" % (d, name)).splitlines() if line and line[0] != "#"]
    vm = [dict(line.split() for line in read(n).splitlines() if len(line.split()) == 2) for n in inputs[:2]]
    want = [int(vm[1]["numa_" + k]) - int(vm[0]["numa_" + k]) for k in ("pte_updates", "hint_faults", "hint_faults_local", "pages_migrated")]
    check(values("numa-balancing") == want, "NUMA balancing: the differences of vmstat")
    want = [float(re.search(r"%s[: ]+(\d+)" % k, read(n)).group(1)) for n in inputs[2:] for k in ("pages_shared", "pages_sharing", "pages_unshared", "pages_volatile")]
    check(values("ksm") == want, "KSM: the numbers of its files %s %s" % (values("ksm"), want))
    check("'hint_faults_local' 2" in read(d + "/numa-balancing.gp"), "the axis has the counters' names")
    page = tmp + "/snapshots.html"
    run(*inputs, "-q", "-o", page)
    check("Pages of KSM by snapshot" in read(page) and ">pages_sharing<" in read(page), "they are on the page")
    run(inputs[1], "-q", "--plots", tmp + "/one")
    check(names(tmp + "/one") == [], "one vmstat alone says nothing of it")


def test_hostile(tmp, ours):
    for n, name in enumerate(HOSTILE):
        case, d, page = "%s/case%d.sqlite" % (tmp, n), "%s/hostile%d" % (tmp, n), "%s/hostile%d.html" % (tmp, n)
        if not n:
            run(ROOTS, FGRAPH, "-q", "-o", tmp + "/case.sqlite")
        shutil.copy(tmp + "/case.sqlite", case)
        db = sqlite3.connect(case)
        for table, column in (("member", "path"), ("source", "path"), ("span", "func"), ("task", "comm"), ("vcpu", "comm"), ("vm", "name"), ("cite", "text")):
            db.execute("UPDATE %s SET %s = ? WHERE %s IS NOT NULL" % (table, column, column), (name,))
        db.execute("UPDATE series SET name = 'exits: ' || ? WHERE name GLOB 'exits: *'", (name,))
        db.commit()
        db.close()
        code, _, err = run(case, "--plots", d, "-o", page, "-q")
        found = stems(d, ".gp")
        good = code == 0 and found and found == stems(d, ".svg") and err == ""
        if ours:
            good = good and found == stems(d, ".png") and all("Produced by GNUPLOT" in read("%s/%s.svg" % (d, s)) for s in found)
        files = "".join(read("%s/%s" % (d, f)) for f in names(d) if not f.endswith(".png"))
        good = good and not re.search("[\x00-\x08\x0e-\x1f\u202e\u2066\U000e0041]", files) and "<script" not in "".join(
            read("%s/%s.svg" % (d, s)) for s in found) and "<script>alert" not in read(page)
        check(good, "inert, and drawn: %r %s" % (name[:30], err[:200]))
    left = [os.path.join(a, f) for a, _, fs in os.walk(tmp) for f in fs if f == "pwned"] + [f for f in (".", "/") if os.path.exists(f + "/pwned")]
    check(not left, "no name ran a command %s" % left)


def fake(tmp, text):
    d = tempfile.mkdtemp(dir=tmp)
    with open(d + "/gnuplot", "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(d + "/gnuplot", 0o755)
    return d


LIES = ["cat <<'E'\n<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script><path stroke='black' d='M1,1 L2,2'/><path stroke='rgb( 31, 100, 166)' "
        "d='M1,1 L2,2' onclick='x' style='x:y'/><image href='http://x/'/><text onload='x'>&lt;script&gt;alert(1)&lt;/script&gt;</text>"
        "<path stroke='rgb( 31, 100, 166)' d='M1,1 L2,2&quot;/&gt;&lt;script&gt;alert(1)&lt;/script&gt;'/></svg>\nE\n",
        "cat <<'E'\n<!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><svg><path stroke='black' d='M1,1 L2,2'/><text>&b;</text>"
        "<path stroke='rgb( 31, 100, 166)' d='M1,1 L2,2'/></svg>\nE\n",
        "yes '<g>' | head -n 5000\n", "exit 0\n", "exit 1\n", "head -c 100000 /dev/urandom\n"]


def test_lies(tmp, own):
    """What calls itself gnuplot need not be it."""
    for n, text in enumerate(LIES):
        page = "%s/lies%d.html" % (tmp, n)
        code, _, err = run(QUOTA, "-q", "-o", page, path=fake(tmp, text) + ":/usr/bin:/bin")
        said = read(page)
        same = figures(said) == figures(read(own))
        check(code == 0 and err == "" and len(figures(said)) == len(figures(read(own))) and (same or n == 0) and "alert(1)</script" not in said
              and " onclick=" not in said and "<image" not in said, "a gnuplot that is none (%d)" % n)
    d = tmp + "/fails"
    code, _, err = run(QUOTA, "-q", "--plots", d, path=fake(tmp, "exit 1\n"))
    check(code == 0 and err.count("\n") == 1 and "gnuplot failed or" in err and stems(d, ".svg") == stems(d, ".gp") and not stems(d, ".png"),
          "where gnuplot fails one line says so and the program draws itself")


def test_directory(tmp):
    d = tmp + "/dir"
    os.mkdir(tmp + "/real")
    os.symlink("real", tmp + "/link")
    for name in ("link", "link/"):
        code, _, err = run(QUOTA, "-q", "--plots", tmp + "/" + name)
        check(code == 3 and "symbolic link" in err and names(tmp + "/real") == [], "%s is refused" % name)
    with open(tmp + "/file", "w", encoding="utf-8") as f:
        f.write("x")
    code, _, err = run(QUOTA, "-q", "--plots", tmp + "/file")
    check(code == 3 and "not a directory" in err, "a file is refused")
    code, _, err = run(QUOTA, "-q", "--plots", tmp + "/not/there")
    check(code == 3 and "No such file" in err, "a directory's parent must be there")

    run(QUOTA, "-q", "--plots", d, path="/nonexistent")
    first = sorted(stems(d, ".gp"))
    secret = tmp + "/precious"
    with open(secret, "w", encoding="utf-8") as f:
        f.write("precious")
    os.unlink("%s/%s.svg" % (d, first[0]))
    os.symlink(secret, "%s/%s.svg" % (d, first[0]))
    with open("%s/%s.gp" % (d, first[1]), "a", encoding="utf-8") as f:
        f.write("# mine\n")
    for ending in (".gp", ".dat"):
        os.unlink(d + "/" + first[2] + ending)
    with open("%s/%s.svg" % (d, first[2]), "w", encoding="utf-8") as f:
        f.write("unrelated")
    with open("%s/notes.txt" % d, "w", encoding="utf-8") as f:
        f.write("notes")
    with open("%s/%s.svg" % (d, first[3]), "w", encoding="utf-8") as f:
        f.write("stale")
    code, out, err = run(QUOTA, "-q", "--plots", d, path="/nonexistent")
    check(code == 0 and out and "3 plots are left as found: %s" % first[0] in err, "what is not kvmortem's any more is left, and named (%s)" % err)
    check(read(secret) == "precious" and os.path.islink("%s/%s.svg" % (d, first[0])), "a link is not followed")
    check(read("%s/%s.gp" % (d, first[1])).endswith("# mine\n"), "a changed script stays")
    check(read("%s/%s.svg" % (d, first[2])) == "unrelated" and read(d + "/notes.txt") == "notes", "an unrelated file stays")
    check("<svg" in read("%s/%s.svg" % (d, first[3])), "its own files are replaced")
    check(not [n for n in names(d) if n.startswith(".")], "no temporary file is left")
    return


def test_redacted(tmp):
    bundle, d = tmp + "/acme-ticket-7781/home/jdoe-admin", tmp + "/redacted"
    os.makedirs(bundle)
    shutil.copy(QUOTA + "/perf-sched.data.xz", bundle + "/payroll-frankfurt.data.xz")
    plain = tmp + "/plain"
    run(tmp + "/acme-ticket-7781", "-q", "--plots", plain)
    run(tmp + "/acme-ticket-7781", "-q", "--redact", "--plots", d)
    for where, want in ((plain, True), (d, False)):
        text = b"".join(open(where + "/" + n, "rb").read() for n in names(where)).lower()
        leaks = [w for w in (b"acme", b"7781", b"jdoe", b"payroll", b"frankfurt") if w in text]
        check(names(where) and bool(leaks) == want, "%s --redact: %s" % ("without" if want else "with", leaks))


def main():
    config = os.path.join(os.path.dirname(KVMORTEM), "config.h")
    have = shutil.which("gnuplot") is not None and not (os.path.exists(config) and "HAVE_GNUPLOT" not in read(config))
    test_series()
    with tempfile.TemporaryDirectory() as tmp:
        own = test_without(tmp)
        if have:
            test_with(tmp, own)
            test_same_data(tmp)
            test_lies(tmp, own)
        else:
            print("# gnuplot is not there: its pictures are not tested")
        test_snapshots(tmp)
        test_hostile(tmp, have)
        test_directory(tmp)
        test_redacted(tmp)
    print("1..%d" % len(results))
    return 0 if all(results) else 1


sys.exit(main())
