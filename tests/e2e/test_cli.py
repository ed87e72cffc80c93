#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line from outside: exit statuses, inputs of every kind, damaged and hostile ones, signals."""
import io
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))
STRACE = "".join(f"ioctl(3, KVM_CREATE_VM, 0)              = {n} <0.0{n}3567>\n" for n in range(4, 9))
COMMANDS = ["analyze", "info", "events", "exits", "latency", "stalls", "chain", "query", "signatures"]

number = 0
failed = 0


def check(good, what, detail=""):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good and detail:
        print("# " + str(detail)[:1500].replace("\n", "\n# "))


def run(*args, **kw):
    return subprocess.run([KVMORTEM, *args], capture_output=True, timeout=120, **kw)


def info(*args, **kw):
    """(status, members by path, stderr) of info -f json."""
    r = run("info", "-f", "json", *args, **kw)
    try:
        members = {m["path"]: m for m in json.loads(r.stdout)["members"]}
    except ValueError:
        members = {}
    return r.returncode, members, r.stderr.decode()


def one_line(stderr, *words):
    text = stderr.decode() if isinstance(stderr, bytes) else stderr
    return text.count("\n") == 1 and text.startswith("kvmortem: ") and all(w in text for w in words)


def put(path, data):
    with open(path, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return path


def tar_bytes(mode, members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in members:
            entry = tarfile.TarInfo(name)
            if data is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
                tar.addfile(entry)
            else:
                data = data.encode() if isinstance(data, str) else data
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def usage():
    r = run("--help")
    missing = [c for c in COMMANDS if not re.search(rf"^  {c} ", r.stdout.decode(), re.M)]
    check(r.returncode == 0 and not missing and not r.stderr, "--help names every command", missing)
    bad = [c for c in COMMANDS if run(c, "--help").returncode != 0 or
           f"usage: kvmortem {c}" not in run(c, "--help").stdout.decode()]
    check(not bad, "every command has --help", bad)
    check(run("--version").stdout.startswith(b"kvmortem "), "--version")
    for args, words in ((["--bogus"], ["--bogus"]), ([], ["no input"]), (["info"], ["no input"]), (["x", "-j", "0"], ["--jobs"]),
                        (["x", "--time", "1"], ["--time"]), (["info", "x", "--fail-on-match"], ["--fail-on-match"])):
        r = run(*args)
        check(r.returncode == 2 and one_line(r.stderr, *words) and not r.stdout, f"usage error: {' '.join(args) or 'nothing'}",
              r.stderr.decode())


def statuses(d):
    strace, prose = put(f"{d}/strace.txt", STRACE), put(f"{d}/prose.txt", "Dear all,\nthe VM task_numa_work took long.\n")
    status, members, err = info(strace)
    check(status == 0 and members[strace]["status"] == "read" and members[strace]["format"] == "strace" and not err,
          "a known text: status 0", (status, members, err))
    status, members, err = info(prose)
    check(status == 1 and members[prose]["status"] == "ignored" and "known evidence" in members[prose]["message"],
          "prose alone: status 1, and a report that says why", (status, members, err))
    status, members, err = info(f"{d}/nothing")
    check(status == 1 and one_line(err, "/nothing", "No such file"), "a missing input alone: status 1, one line", (status, err))
    status, members, err = info(f"{d}/nothing", strace)
    check(status == 0 and strace in members and one_line(err, "/nothing"), "a missing input beside a good one: status 0", err)
    status, _, err = info("--strict", f"{d}/nothing", strace)
    check(status == 3 and one_line(err, "/nothing"), "the same with --strict: status 3", (status, err))
    put(f"{d}/info", STRACE)
    r = run("-f", "json", "./info", cwd=d)
    check(r.returncode == 0 and json.loads(r.stdout)["members"][0]["path"] == "./info", "a file named like a command", r.stderr)
    with open(strace, "rb") as f:
        status, members, err = info("-", stdin=f)
    check(status == 0 and members["-"]["format"] == "strace", "a file on stdin", err)
    status, members, err = info("-", input=STRACE.encode())
    check(status == 0 and members["-"]["format"] == "strace", "a pipe on stdin", err)
    status, members, _ = info(put(f"{d}/empty", ""))
    check(status == 1 and members[f"{d}/empty"]["message"] == "empty", "an empty file")


def case_files(d):
    strace = put(f"{d}/s.txt", STRACE)
    r = run(strace, "-f", "sqlite")
    check(r.returncode == 2 and one_line(r.stderr, "-o"), "-f sqlite without -o", r.stderr)
    r = run(strace, "-o", f"{d}/case.sqlite")
    check(r.returncode == 0 and os.path.getsize(f"{d}/case.sqlite") > 1000, "a case file by the ending of -o", r.stderr)
    kept, fresh = run("info", "-f", "json", f"{d}/case.sqlite"), run("info", "-f", "json", strace)
    check(kept.returncode == 0 and kept.stdout == fresh.stdout, "a case file says the same as its input", kept.stderr)
    for args, words in (((strace, f"{d}/case.sqlite"), ["only input"]),
                        ((strace, put(f"{d}/prose2.txt", "Dear all,\n")), ["known evidence"])):
        status, members, err = info(*args)
        check(status == 0 and members[strace]["status"] == "read" and one_line(err, args[1], *words),
              "a named input of which nothing is read has its line", (members, err))
    with open(f"{d}/case.sqlite", "rb") as f:
        data = f.read()
    r = run(put(f"{d}/bad.sqlite", data[:4096] + bytes(8192) + data[12288:]))
    check(r.returncode == 1 and one_line(r.stderr, "bad.sqlite", "damaged case file"), "a damaged case file: one line", r.stderr)
    os.symlink("/dev/full", f"{d}/full.sqlite")
    os.mkfifo(f"{d}/fifo.sqlite")
    for name in ("full", "fifo"):
        r = run(strace, "-o", f"{d}/{name}.sqlite")
        check(r.returncode == 3 and one_line(r.stderr, f"{name}.sqlite", "regular file") and
              not os.path.isfile(f"{d}/{name}.sqlite"), f"a case file never replaces what is no regular file ({name})", r.stderr)
    for args in (("-o", strace), ("-f", "sqlite", "-o", strace)):
        r = run(strace, *args)
        with open(strace, encoding="ascii") as f:
            check(r.returncode == 2 and one_line(r.stderr, "input") and f.read() == STRACE, "-o never replaces an input", r.stderr)
    r = run("events", strace, "-o", strace)
    with open(strace, encoding="ascii") as f:
        check(r.returncode == 2 and f.read() == STRACE, "nor does events", r.stderr)
    for args, code, words in ((("-f", "bogus"), 2, ["bogus"]), (("-o", f"{d}/none/x"), 3, ["none/x"]), (("-o", d + "/none/x.db"), 3, ["none/x"])):
        r = run(f"{d}/none", *args)
        check(r.returncode == code and one_line(r.stderr, *words), f"{args[0]} is checked before the input is read", r.stderr)


def archives(d):
    inner = tar_bytes("w:gz", [("./sos/strace.txt", STRACE), ("link", None), ("\x1b[31mred\n", "x\n")])
    with zipfile.ZipFile(f"{d}/case.zip", "w") as z:
        z.writestr("logs/inner.tar.gz", inner)
        z.writestr("trace.txt.xz", lzma.compress(STRACE.encode()))
    status, members, err = info(f"{d}/case.zip")
    paths = {p[len(d) + 1:]: m for p, m in members.items()}
    check(status == 0 and paths.get("case.zip:logs/inner.tar.gz:sos/strace.txt", {}).get("format") == "strace" and
          paths.get("case.zip:trace.txt.xz", {}).get("format") == "strace", "tar.gz and xz inside a zip", (err, list(paths)))
    check(paths.get("case.zip:logs/inner.tar.gz:link", {}).get("status") == "ignored", "links in archives are not followed")
    cut = put(f"{d}/cut.tar.xz", tar_bytes("w:xz", [("a.txt", STRACE), ("b.bin", os.urandom(300000))])[:200000])
    status, members, err = info(cut)
    check(status == 0 and members[f"{cut}:a.txt"]["status"] == "read" and members[cut]["status"] == "partly" and "cut.tar.xz" in err,
          "a cut archive: what is there is read, and said", (members, err))
    check("\x1b" not in err and "\x1b" not in info(f"{d}/case.zip", "--max-temp", "1")[2], "no terminal control characters on stderr")
    big = put(f"{d}/big.tar.gz", tar_bytes("w:gz", [("big.txt", STRACE * 20000), ("small.txt", STRACE)]))
    os.mkdir(f"{d}/tmp")
    status, members, err = info(big, "--max-temp", "1M", "--temp-dir", f"{d}/tmp")
    check(status == 0 and members[f"{big}:big.txt"]["status"] == "failed" and members[f"{big}:small.txt"]["status"] == "read" and
          one_line(err, "needs 6 MiB", "--max-temp", "--temp-dir"), "a refused spool is one line with the size and the options", err)
    for size, said in (("1", "1 byte allowed"), ("2000", "1 KiB allowed"), ("1500K", "1 MiB allowed")):
        err = info(big, "--max-temp", size, "--temp-dir", f"{d}/tmp")[2]
        check(said in err, f"--max-temp {size}: what is allowed is not rounded up", err)
    status, members, err = info(big, "--temp-dir", f"{d}/tmp")
    check(status == 0 and members[f"{big}:big.txt"]["status"] == "read" and not os.listdir(f"{d}/tmp"),
          "a spooled member is read and leaves nothing behind", err)
    status, members, err = info(big, "--temp-dir", f"{d}/none")
    check("--temp-dir" in err and members[f"{big}:small.txt"]["status"] == "read", "a temporary directory that is not there", err)
    status, _, err = info(put(f"{d}/x.gz", b"\x1f\x8b\x08garbage that is no gzip"))
    check(status == 1 and one_line(err, "x.gz"), "garbage behind a magic number: one line", err)


def directories(d):
    os.makedirs(f"{d}/b/sub")
    put(f"{d}/b/sub/strace.txt", STRACE)
    put(f"{d}/secret.txt", STRACE)
    os.symlink("../secret.txt", f"{d}/b/link")
    os.symlink("..", f"{d}/b/up")
    os.mkfifo(f"{d}/b/fifo")
    status, members, err = info(f"{d}/b")
    got = {p[len(d) + 3:]: m["status"] for p, m in members.items()}
    check(status == 0 and got == {"sub/strace.txt": "read", "link": "ignored", "up": "ignored", "fifo": "ignored"},
          "a directory with links and a fifo", (got, err))
    shown = run("info", f"{d}/b").stdout
    check(b"strace" in shown, "the same as text", shown)


def signals(d):
    r = subprocess.Popen([KVMORTEM, "info", "-f", "json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    r.stdin.write(STRACE.encode())
    r.stdin.flush()
    time.sleep(0.3)
    r.send_signal(signal.SIGINT)
    out, err = r.communicate(timeout=60)
    try:
        members = json.loads(out)["members"]
    except ValueError:
        members = None
    check(r.returncode == 130 and members and members[0]["format"] == "strace" and members[0]["status"] == "partly",
          "Ctrl-C: a report of what was read, status 130", (r.returncode, out, err))
    read, write = os.pipe()
    os.close(read)
    put(f"{d}/many.txt", STRACE)
    r = subprocess.run([KVMORTEM, "info", "-f", "json", f"{d}/many.txt"], stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    check(r.returncode == -signal.SIGPIPE and not r.stderr, "a closed pipe is quiet", (r.returncode, r.stderr))
    with open("/dev/full", "wb") as full:
        r = subprocess.run([KVMORTEM, "info", f"{d}/many.txt"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    check(r.returncode == 3 and one_line(r.stderr, "No space left"), "a full disk: status 3", (r.returncode, r.stderr))


def main():
    usage()
    for test in (statuses, case_files, archives, directories, signals):
        with tempfile.TemporaryDirectory() as d:
            test(d)
    print(f"1..{number}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
