#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on the real captures: what EXPECT.tsv expects is said, what it forbids is not."""
import json
import os
import subprocess
import sys

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")


def verdicts(paths):
    """The strongest verdict per signature, and the exit status and stderr of the run."""
    run = subprocess.run([KVMORTEM, "-f", "json"] + paths, capture_output=True, text=True)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        return None, f"status {run.returncode}, no JSON: {run.stderr[:200]}"
    found = {}
    for verdict in report["verdicts"]:
        found.setdefault(verdict["id"], verdict["verdict"])
    return found, run.stderr


def judge(found, expected, forbidden, allowed):
    """What is wrong, as a list of sentences."""
    wrong = []
    wanted = set()
    for item in expected.split():
        ids, _, levels = item.partition("=")
        levels = levels.split("|") if levels else ["match"]
        ids = ids.split("/")
        wanted.update(ids)
        if not any(found.get(i, "cannot-tell") in levels for i in ids):
            said = ", ".join(f"{i}={found.get(i)}" for i in ids)
            wrong.append(f"expected {item}, got {said}")
    for signature, level in found.items():
        if level not in ("match", "likely") or signature in allowed.split():
            continue
        if signature in forbidden.split() or ("*" in forbidden.split() and signature not in wanted):
            wrong.append(f"forbidden {signature}={level}")
    return wrong


def rows(table, base):
    with open(table, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            columns = (line.rstrip("\n").split("\t") + ["", "", ""])[:4]
            yield [os.path.normpath(os.path.join(base, f)) for f in columns[0].split()], columns[1:]


def main(tables):
    number = 0
    failed = 0
    for table, base in tables:
        for paths, (expected, forbidden, allowed) in rows(table, base):
            number += 1
            found, errors = verdicts(paths)
            wrong = [errors] if found is None else judge(found, expected, forbidden, allowed)
            name = " ".join(os.path.relpath(p, base) for p in paths)
            print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {expected or 'nothing'}")
            for sentence in wrong:
                print(f"# {sentence}")
            failed += bool(wrong)
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main([(a, os.path.dirname(a)) for a in sys.argv[1:]] or
                  [("fixtures/captures/EXPECT.tsv", "fixtures/captures")]))
