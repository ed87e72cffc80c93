#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every signature over every bundle of fixtures/signatures and every capture: the confusion matrix.

test_matrix.py                    all of it; the whole matrix goes to $BUILD/matrix.tsv
test_matrix.py ID...              only the bundles of these signatures
test_matrix.py --everywhere ID... all bundles and captures, but only what these signatures say there

fixtures/signatures/ID/expect.tsv: BUNDLE, VERDICTS (SIGNATURE=level|level, ...; "none": nothing above cannot-tell), ORIGIN. A bundle is a folder
beside it (positive*, negative*) or files under fixtures/ ("captures/NAME/FILE captures/NAME/FILE", "founding/FILE"). A match or likely off the diagonal fails unless
fixtures/signatures/pairs.tsv lists it (SIGNATURE, BUNDLE, reason), or a negative bundle's own expectation names it: it is that one's bug.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
BUILD = os.environ.get("BUILD", "build")
SIGNATURES = "fixtures/signatures"
CAPTURE_TABLES = ["fixtures/captures/EXPECT.tsv", "../shared/captures/EXPECT.tsv"]
LEVELS = ["match", "likely", "possible", "cannot-tell", "ruled-out"]
FIRES = ("match", "likely")
# Signatures that may stand on hand-filled cases alone (fixtures/signatures/ID/*.sql): none.
WITHOUT_BUNDLES = set()


def rows(path, columns):
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                yield (line.rstrip("\n").split("\t") + [""] * columns)[:columns]


class Bundle:
    """Input files, whose bug they are, what must be said, and what may."""

    def __init__(self, name, paths, owner, kind, expected, origin=""):
        self.name, self.paths, self.owner, self.kind = name, paths, owner, kind
        self.expected, self.origin = expected, origin
        self.allowed, self.said, self.because, self.error = set(), {}, {}, None

    def run(self):
        for path in self.paths:
            if not os.path.exists(path):
                self.error = f"{path} is not there"
                return self
        try:
            done = subprocess.run([KVMORTEM, "-f", "json", "-j", "1"] + self.paths, capture_output=True, text=True, timeout=120)
            verdicts = json.loads(done.stdout)["verdicts"]
        except ValueError:
            self.error = f"status {done.returncode}, no JSON: {done.stderr[:200]}"
            return self
        except subprocess.TimeoutExpired:
            self.error = "took over 120 s"
            return self
        for verdict in verdicts:
            self.said.setdefault(verdict["id"], verdict["verdict"])
            self.because.setdefault(verdict["id"], verdict.get("because") or "")
            if any(e["outcome"] == "error" for e in verdict["evidence"]):
                self.error = f"{verdict['id']}: " + "; ".join(f"{e['id']}: {e}" for e in verdict["evidence"] if e["outcome"] == "error")[:300]
        return self


def expectations(text):
    """'a=match|likely, b=none' as {a: [match, likely], b: [none]}."""
    ret = {}
    for item in text.replace(",", " ").split():
        name, _, levels = item.partition("=")
        ret[name] = levels.split("|") if levels else ["match"]
    return ret


def bundles_of(owner, wrong):
    """The bundles of one signature's folder; what is wrong with its table goes to @wrong."""
    base = os.path.join(SIGNATURES, owner)
    seen = set()
    for name, verdicts, origin in rows(os.path.join(base, "expect.tsv"), 3):
        expected = expectations(verdicts)
        capture = name.startswith(("captures/", "founding/"))
        paths = [os.path.join("fixtures", p) for p in name.split()] if capture else [os.path.join(base, name)]
        positive = name.startswith("positive") if not capture else any(l in FIRES for l in expected.get(owner, []))
        seen.add(name)
        if not expected or not origin:
            wrong.append(f"{owner}/expect.tsv: {name}: verdicts and origin are expected")
        if owner not in expected:
            wrong.append(f"{owner}/expect.tsv: {name}: {owner} itself is not named")
        bad = [l for levels in expected.values() for l in levels if l not in LEVELS + ["none"]]
        if bad:
            wrong.append(f"{owner}/expect.tsv: {name}: no verdict: {', '.join(bad)}")
        if positive != any(l in FIRES for l in expected.get(owner, [])):
            wrong.append(f"{owner}/expect.tsv: {name}: a positive bundle matches, a negative one does not")
        yield Bundle(name if capture else f"{owner}/{name}", paths, owner, "positive" if positive else "negative", expected, origin)
    if not os.path.isdir(base):
        return
    for name in sorted(os.listdir(base)):
        if os.path.isdir(os.path.join(base, name)) and name not in seen:
            wrong.append(f"{owner}/{name}: no row in {owner}/expect.tsv")


def captures():
    for table in CAPTURE_TABLES:
        base = os.path.dirname(table)
        for files, expected, _, allowed in rows(table, 4):
            paths = [os.path.normpath(os.path.join(base, f)) for f in files.split()]
            mine = Bundle(" ".join(os.path.relpath(p, base) for p in paths), paths, None, "capture", {})
            for item in expected.split():
                ids, _, levels = item.partition("=")
                if not levels or any(l in FIRES for l in levels.split("|")):
                    mine.allowed.update(ids.split("/"))
            mine.allowed.update(allowed.split())
            if all(os.path.exists(p) for p in paths):
                yield mine


def judge(bundle, pairs, only):
    """What is wrong with the verdicts on one bundle, as a list of sentences."""
    wrong = [bundle.error] if bundle.error else []
    for name, levels in bundle.expected.items():
        said = bundle.said.get(name, "none")
        if said in levels or ("none" in levels and said in ("cannot-tell", "ruled-out", "none")):
            continue
        wrong.append(f"expected {name}={'|'.join(levels)}, got {said}: {bundle.because.get(name, 'no such signature')}")
    for name, said in bundle.said.items():
        if said not in FIRES or name in bundle.allowed or (only and name not in only):
            continue
        if name == bundle.owner and bundle.kind == "positive":
            continue
        if name != bundle.owner and bundle.kind == "negative" and any(l in FIRES for l in bundle.expected.get(name, [])):
            continue
        if (name, bundle.name) in pairs:
            pairs[(name, bundle.name)] = True
            continue
        wrong.append(f"off the diagonal: {name}={said}: {bundle.because[name]}")
    return wrong


def cells(bundle, only):
    return [f"{name}={said}" for name, said in bundle.said.items()
            if said in ("match", "likely", "possible") and (not only or name in only)]


def write_matrix(path, bundles, names):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\t".join(["bundle"] + names) + "\n")
        for bundle in bundles:
            out.write("\t".join([bundle.name] + [bundle.said.get(n, "") for n in names]) + "\n")


def collect(names, only, everywhere, wrong):
    bundles, kinds = [], {}
    for name in names:
        mine = list(bundles_of(name, wrong if not only or name in only else []))
        kinds[name] = {b.kind for b in mine}
        if not only or everywhere or name in only:
            bundles += mine
    if not only or everywhere:
        bundles += captures()
    for name in names:
        if only and name not in only:
            continue
        if name not in WITHOUT_BUNDLES:
            wrong += [f"{name}: no {kind} bundle" for kind in ("positive", "negative") if kind not in kinds[name]]
        elif len(kinds[name]) == 2:
            wrong.append(f"{name}: has its bundles: take it off WITHOUT_BUNDLES")
    return bundles


def main(args):
    everywhere = "--everywhere" in args
    only = [a for a in args if not a.startswith("-")]
    wrong = []
    listed = subprocess.run([KVMORTEM, "signatures", "list", "-f", "json"], capture_output=True, text=True, check=True)
    names = [s["id"] for s in json.loads(listed.stdout)["signatures"]]
    wrong += [f"{a}: no such signature" for a in only if a not in names]
    wrong += [f"{SIGNATURES}/{d}: no such signature" for d in sorted(os.listdir(SIGNATURES))
              if os.path.isdir(os.path.join(SIGNATURES, d)) and d not in names]
    pairs = {}
    for name, bundle, reason in rows(os.path.join(SIGNATURES, "pairs.tsv"), 3):
        pairs[(name, bundle)] = False
        if not reason:
            wrong.append(f"pairs.tsv: {name} on {bundle}: no reason")
    bundles = collect(names, only, everywhere, wrong)
    number = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for bundle in pool.map(Bundle.run, bundles):
            number += 1
            bad = judge(bundle, pairs, only)
            failed += bool(bad)
            what = ", ".join(f"{n}={'|'.join(l)}" for n, l in bundle.expected.items())
            print(f"{'not ok' if bad else 'ok'} {number} - {bundle.name}: {what or 'nothing off the diagonal'}")
            for sentence in bad:
                print(f"# {sentence}")
            if cells(bundle, only if everywhere else []):
                print(f"# cells: {', '.join(cells(bundle, only if everywhere else []))}")
    ran = {b.name for b in bundles}
    wrong += [f"pairs.tsv: {n} on {b} is stale" for (n, b), used in pairs.items() if not used
              and (not only or b in ran and n in only)]
    if not only and os.path.isdir(BUILD):
        write_matrix(os.path.join(BUILD, "matrix.tsv"), bundles, names)
    number += 1
    print(f"{'not ok' if wrong else 'ok'} {number} - {len(names)} signatures, {len(bundles)} bundles and captures: tables and folders are whole")
    for sentence in wrong:
        print(f"# {sentence}")
    print(f"1..{number}")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
