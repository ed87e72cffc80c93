#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report: well formed, self-contained, its policy right, small, complete, and inert whatever a trace is called."""
import base64
import glob
import hashlib
import html.parser
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
BASE = "fixtures/captures/"
VOID = {"meta", "link", "br", "wbr", "img", "input", "hr"}
# what an element may be: anything that could load, run or submit is missing
ELEMENTS = set("""html head meta title style body a header nav ul ol li button main section article div span p h1 h2 h3 h4 b code pre dl dt dd
details summary table caption thead tbody tr th td time bdi wbr figure figcaption output footer script
svg defs pattern marker g path rect circle line text tspan""".split())
ATTRIBUTES = set("""lang charset content name http-equiv id class href type hidden tabindex role aria-label aria-labelledby aria-hidden
aria-current scope title open data-from data-to data-do width height viewbox preserveaspectratio x y x1 x2 y2 rx d transform
patternunits refx refy markerwidth markerheight orient cx cy r""".split())
checks = []


def ok(good, what, *why):
    checks.append(bool(good))
    print(f"{'ok' if good else 'not ok'} {len(checks)} - {what}")
    for line in why if not good else ():
        print(f"# {str(line)[:300]}")


class Page(html.parser.HTMLParser):
    """Checks nesting and collects what the tests ask about."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.wrong, self.ids, self.links, self.text, self.raw = [], [], [], [], [], {"style": [], "script": []}
        self.policy, self.titles, self.heads = "", [], []
        self.feed(text)
        self.close()
        if self.stack:
            self.wrong.append(f"open at the end: {self.stack}")

    def handle_starttag(self, tag, attrs):
        if tag not in ELEMENTS:
            self.wrong.append(f"element {tag}")
        names = [a for a, _ in attrs]
        if len(set(names)) != len(names):
            self.wrong.append(f"{tag}: an attribute twice")
        for name, value in attrs:
            if name not in ATTRIBUTES or (name == "id" and re.search(r"\s", value)):
                self.wrong.append(f"{tag} {name}={value!r}")
            if name == "href":
                self.links.append(value)
            if name == "id":
                self.ids.append(value)
            if name in ("title", "aria-label"):
                self.titles.append(value)
        if tag == "meta" and dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]
        if tag not in VOID:
            self.stack.append(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            self.heads.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if self.stack and self.stack[-1] in self.raw:
            self.raw[self.stack[-1]].append(data)
        else:
            self.text.append(data)


def flat(s):
    return re.sub(r"\s+", " ", s).strip()


def run(*args):
    return subprocess.run([KVMORTEM, *args], capture_output=True, check=False)


def render(*args):
    done = run(*args, "-f", "html")
    return done.stdout.decode("utf-8"), done


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def faults(page, text):
    """What is wrong with a page, whatever case it is of."""
    yield from page.wrong[:5]
    directives = dict(d.strip().split(" ", 1) for d in page.policy.split(";") if d.strip())
    if directives.get("default-src") != "'none'" or directives.get("base-uri") != "'none'" or directives.get("form-action") != "'none'":
        yield f"policy: {page.policy}"
    for name, element in (("style-src", "style"), ("script-src", "script")):
        if len(page.raw[element]) != 1 or directives.get(name) != digest(page.raw[element][0]):
            yield f"{name} is not the hash of the one {element}"
    for link in page.links:
        if not link.startswith("#") or link[1:] not in page.ids:
            yield f"link {link}"
    if len(set(page.ids)) != len(page.ids):
        yield "an id twice"
    markup = text.replace(page.raw["style"][0], "").replace(page.raw["script"][0], "")
    if re.search(r"(?i)(\bsrc|srcset|xlink:href|action|poster|background)\s*=\s*[\"']|@import|url\((?!#)", markup + page.raw["style"][0]):
        yield "something that loads"
    if re.search(r"https?://(?!www\.w3\.org/2000/svg)", page.raw["script"][0] + page.raw["style"][0]):
        yield "an address in script or style"
    if len(text.encode()) >= 1000000:
        yield f"{len(text.encode())} bytes"
    if page.heads.count("h1") != 1 or page.heads[0] != "h1":
        yield f"headings {page.heads[:3]}"
    if any(c in text for c in "\x00\x07\x08\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u2028"):
        yield "a control character"


def incomplete(page, report):
    """Sentences, verdicts and citations of the JSON report that the page lacks."""
    words = flat("".join(page.text))
    for v in report["verdicts"]:
        if v["id"] not in words.replace(" ", "") and v["id"] not in words:
            yield f"no {v['id']}"
        if v["verdict"] not in ("match", "likely", "possible"):
            continue
        for key in ("title", "mechanism", "workaround"):
            if v[key] and flat(v[key])[:400] not in words:
                yield f"{v['id']}: no {key}"
        for line in v["fixed_by"] + v["introduced_by"]:
            if flat(line) not in words:
                yield f"{v['id']}: {line}"
        for item in v["evidence"]:
            said = []
            for row in item["rows"]:
                if item["outcome"] != "shown" or row["says"] in said:
                    continue
                said.append(row["says"])
                if len(said) > 8:
                    break
                if flat(row["says"])[:400] not in words:
                    yield f"{v['id']}: not said: {row['says'][:80]}"
                for cite in row["cites"][:1]:
                    place = f":{cite['line']}" if "line" in cite else f"@{cite.get('offset', '')}"
                    if place not in words or (cite["text"] and flat(cite["text"])[:60] not in words):
                        yield f"{v['id']}: not cited: {cite}"
    for stall in report["stalls"][:5]:
        if f"stall-{stall['id']}" not in page.ids:
            yield f"stall {stall['id']} is not drawn"


def test_captures():
    for path in sorted(glob.glob(BASE + "*/")):
        name = os.path.basename(path.rstrip("/"))
        text, done = render(path)
        if done.returncode != 0:
            ok(False, f"{name}: renders", done.stderr)
            continue
        page = Page(text)
        report = json.loads(run(path, "-f", "json").stdout)
        ok(not list(faults(page, text)), f"{name}: well formed, self-contained, {len(text.encode()) // 1000} kB", *faults(page, text))
        ok(not list(incomplete(page, report)), f"{name}: says what the case says", *incomplete(page, report))


def test_first_screen():
    page = Page(render(BASE + "B-root-churn-tdp1-prefix-kvm")[0])
    words = flat("".join(page.text))
    first = words[:words.index("All evidence")]
    wanted = ["TDP MMU throws away and rebuilds its roots", "all decisive evidence is shown", "5.15", "6.4", "edbdb43fc96b", "tdp_mmu=0",
              "6.1.0-50-amd64", "went through"]
    ok(all(w in first for w in wanted), "the first screen: which bug, how sure, since when, what to do", [w for w in wanted if w not in first])
    page = Page(render(BASE + "A-healthy-perf-6.1")[0])
    words = flat("".join(page.text))
    ok(re.search("No known bug (matches|is shown)", words), "a healthy case says so", words[:300])


def test_views():
    path = BASE + "D-minshares-6.1"
    for view, inside in (("info", "What was sent in"), ("stalls", "Stalls alike"), ("latency", "Run-queue delay"), ("exits", "kvmortem"),
                         ("chain", "The links of stall")):
        done = run(view, path, "-f", "html")
        page = Page(done.stdout.decode())
        ok(done.returncode == 0 and inside in "".join(page.text) and not page.wrong, f"{view} -f html", page.wrong, done.stderr)
    with tempfile.TemporaryDirectory() as tmp:
        done = run(path, "-o", tmp + "/x.html")
        with open(tmp + "/x.html", encoding="utf-8") as f:
            ok(done.returncode == 0 and f.read(15) == "<!DOCTYPE html>", "-o x.html is HTML")


def test_exact(tmp):
    """The timeline's stalls are as long as their chains say, whatever the width of its columns."""
    case = tmp + "/exact.sqlite"
    run(BASE + "D-minshares-6.1/perf-kprobes.data.xz", "-q", "-o", case)
    text, _ = render(case)
    figure = re.search(r'<figure class="tl" data-from="(\d+)" data-to="(\d+)".*?</figure>', text, re.S)
    unit = (int(figure.group(2)) - int(figure.group(1))) / 100000
    drawn = sum(float(w) * unit for d in re.findall(r'<path class="exact k-throttled" d="([^"]*)"', figure.group(0)) for w in re.findall(r"h(\d[\d.]*)v", d))
    db = sqlite3.connect(case)
    n, want = db.execute("SELECT COUNT(*), SUM(l.duration_ns) FROM chain_link l JOIN stall s ON s.id = l.stall_id WHERE l.depth = 0 AND l.kind = 'throttled'").fetchone()
    db.close()
    ok(n > 20 and abs(drawn - want) < n * 1000, "the timeline draws the links of stalls exactly", n, drawn, want)


HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'onmouseover='x", "\u202egnp.exe\u2066", "]]><!--", "</style></svg>",
           "&lt;&#x41;", "e\x1b[2Jvil\x07", "\u05d0\u05d1\u05d2", "a|`b`$(c)", "X" * 10000, "\ufffe\U000e0041"]


def test_hostile(tmp):
    """Names in a text trace, and every string of a case file."""
    rows = ["# tracer: nop", "#"]
    for i, name in enumerate(HOSTILE):
        comm = re.sub(r"[\x00-\x1f]", "?", name)
        rows.append(f" {comm}-{100 + i} [000] d..2. 10.{i:06d}: sched_switch: prev_comm={comm} prev_pid={100 + i} prev_prio=120 prev_state=S "
                    f"==> next_comm={comm} next_pid={200 + i} next_prio=120")
    with open(tmp + "/<b>&trace.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(rows) + "\n")
    text, _ = render(tmp + "/<b>&trace.txt")
    page = Page(text)
    ok(not list(faults(page, text)), "hostile names in a trace", *faults(page, text))

    for n, name in enumerate(HOSTILE):
        case = f"{tmp}/case{n}.sqlite"
        run(BASE + "D-minshares-6.1", "-o", case)
        spoil(case, name)
        text, done = render(case)
        page = Page(text)
        wrong = list(faults(page, text))
        if name.isascii() and "<" in name and name in text:
            wrong.append("it is there as it was")
        ok(done.returncode == 0 and not wrong, f"every string of a case is {name[:24]!r}", done.stderr, *wrong)


def spoil(case, name):
    db = sqlite3.connect(case)
    keep = {("member", "status"), ("source", "side"), ("stall", "kind"), ("stall", "subject"), ("verdict", "verdict"),
            ("evidence", "role"), ("evidence", "outcome"), ("evidence", "strength"), ("runq_delay", "origin"), ("histogram", "name"), ("fact", "side"),
            ("log_line", "side"), ("exit_stat", "event"), ("throttle", "origin"), ("runq_wait", "began"), ("coverage", "known"), ("coverage", "complete"),
            ("coverage", "scope"), ("task", "role")}
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _, column, kind, *_ in db.execute(f"SELECT * FROM pragma_table_info('{table}')").fetchall():
            if kind == "TEXT" and (table, column) not in keep:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL AND NOT (json_valid({column}) AND {column} LIKE '[%')", (name,))
    db.execute("UPDATE verdict SET fixed_by = json_array(?), missing = json_array(?), record_next = json_array(?), introduced_by = json_array(?)",
               (name,) * 4)
    db.commit()
    db.close()


def main():
    with tempfile.TemporaryDirectory() as tmp:
        test_captures()
        test_first_screen()
        test_views()
        test_exact(tmp)
        test_hostile(tmp)
    print(f"1..{len(checks)}")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
