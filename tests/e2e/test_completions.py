#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completions offer what --help lists, and the words that an option takes; the manual pages name what there is."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def run(*args):
    return subprocess.run([KVMORTEM, *args], capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as tmp:
    os.symlink(KVMORTEM, os.path.join(tmp, "kvmortem"))
    env = dict(os.environ, PATH=tmp + ":" + os.environ["PATH"])

    def complete(*words):
        script = ("source completions/kvmortem.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _kvmortem; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        p = subprocess.run(["bash", "-c", script, "-", *words], capture_output=True, text=True, env=env)
        return set(p.stdout.split("\n")) - {""}, p.stderr

    help_text = run("--help")
    commands = set(re.findall(r"^  ([a-z]+) ", help_text.split("Commands:")[1].split("\n\n")[0], re.M))
    got, err = complete("kvmortem", "")
    check(commands and commands <= got and not err, "bash: all commands")
    check(complete("kvmortem", "sta")[0] == {"stalls"}, "bash: a command by its beginning")
    for command in sorted(commands):
        text = run(command, "--help")
        options = set(re.findall(r"^ .*? (--[a-z-]+)", text.split("\nOptions", 1)[1], re.M))
        got, err = complete("kvmortem", command, "--")
        check(options and options == got and not err, "bash: the options of %s" % command)
        check("  kvmortem " in text or "kvmortem %s" % command in text, "%s --help has an example" % command)
    known = subprocess.run([KVMORTEM, "-f", "nonsense", "fixtures"], capture_output=True, text=True).stderr
    formats = set(re.findall(r"[a-z]+", known.split("known are ")[1])) - {"and", "analyze", "events", "ndjson"}
    check(complete("kvmortem", "-f", "")[0] == formats, "bash: the formats that there are")
    check(complete("kvmortem", "events", "-f", "")[0] == {"text", "ndjson"}, "bash: those of events")
    ids = set(re.findall(r"^ *([a-z0-9]+-[a-z0-9-]+)", run("signatures", "list"), re.M))
    got = complete("kvmortem", "signatures", "show", "kvm-")[0]
    check(ids and got == {i for i in ids if i.startswith("kvm-")}, "bash: ids of signatures")
    check(complete("kvmortem", "exits", "--by", "")[0] == {"all", "vm", "vcpu"}, "bash: words of an option")
    zsh = open("completions/_kvmortem").read()
    check(zsh.startswith("#compdef kvmortem\n") and all(f in zsh for f in formats), "zsh: the formats that there are")
    if shutil.which("zsh"):
        check(subprocess.run(["zsh", "-n", "completions/_kvmortem"]).returncode == 0, "zsh: the file parses")
    check(subprocess.run(["bash", "-n", "completions/kvmortem.bash"]).returncode == 0, "bash: the file parses")

# the manual pages name what there is
case = open("doc/kvmortem-case.5").read()
tables = re.findall(r"^CREATE TABLE (\w+)", open("analyzer/schema.sql").read(), re.M)
check(all(re.search(r"\b%s\b" % t, case) for t in tables), "kvmortem-case(5) names every table")
if shutil.which("man") and shutil.which("groff"):
    for page in ("kvmortem.1", "kvmortem-case.5", "kvmortem-signatures.5"):
        p = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "doc/" + page], capture_output=True, text=True)
        check(p.returncode == 0 and not p.stderr, "doc/%s renders without a warning" % page)

print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
