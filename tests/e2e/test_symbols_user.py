#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names for the addresses of processes: a program with inlined functions and a library, built and recorded here with frame pointers,
has the functions that perf script gives it, with the inlined ones and lines that addr2line gives. Other builds of its files are
refused, damaged ones survived."""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

BIN = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))
LIB = """__attribute__((noinline)) long lib_work(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i * i;
	return s;
}
"""
PROG = """long lib_work(long n);
static inline __attribute__((always_inline)) long inner(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i % 7;
	return s;
}
static inline __attribute__((always_inline)) long middle(long n)
{
	return inner(n) + 1;
}
__attribute__((noinline)) long outer(long n)
{
	long r = middle(n);
	return r + lib_work(n) + 1;
}
int main(void)
{
	long t = 0;
	for (int i = 0; i < 150; i++)
		t += outer(1000000) + 1;
	return t == 42;
}
"""
CFLAGS = ["-g", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
STACKS = "SELECT s.frames, sum(c.count) AS n FROM stack_count c JOIN stack s ON s.id = c.stack_id GROUP BY 1"
count = failed = 0


def report(ok, what, why=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")
    if not ok and why:
        print("# " + str(why)[:2000].replace("\n", "\n# "))


def query(sql, *args):
    p = subprocess.run([BIN, "query", "-f", "json", *args, sql], capture_output=True, timeout=600, check=False)
    if p.returncode:
        raise RuntimeError(p.stderr.decode())
    return [tuple(r.values()) if isinstance(r, dict) else tuple(r) for r in json.loads(p.stdout)["rows"]]


def build(top, prog, lib):
    for name, text in (("prog.c", prog), ("lib.c", lib)):
        with open(f"{top}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    subprocess.run(["gcc", *CFLAGS, "-shared", "-fPIC", "-o", f"{top}/libwork.so", f"{top}/lib.c"], check=True)
    subprocess.run(["gcc", *CFLAGS, "-o", f"{top}/prog", f"{top}/prog.c", f"-L{top}", "-lwork", f"-Wl,-rpath,{top}"], check=True)


def record(top):
    """perf's recording of the program, or None where this machine can't make one."""
    try:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "fp", "-o", f"{top}/perf.data",
                        f"{top}/prog"], capture_output=True, timeout=300, check=False)
        p = subprocess.run(["perf", "script", "--no-inline", "-i", f"{top}/perf.data"], capture_output=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    chains, chain = collections.Counter(), []
    for line in p.stdout.decode("utf-8", "replace").splitlines() + [""]:
        m = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line)
        if m:
            ours = m[3].startswith(top)
            chain.append(re.sub(r"\+0x[0-9a-f]+$", "", m[2]) if ours else f"[{os.path.basename(m[3])}]")
        elif not line and chain:
            chains[tuple(chain)] += 1
            chain = []
    return chains


def equal(top, want):
    inlined = {f for (f,) in query("SELECT DISTINCT func FROM address a WHERE seq < (SELECT max(seq) FROM address b WHERE"
                                   " b.address = a.address AND b.source_id = a.source_id)", "--symfs", "/", f"{top}/perf.data")}
    report({"inner", "middle"} >= inlined and "inner" in inlined, "what is inlined is said to be", inlined)
    have = collections.Counter()
    for frames, n in query(STACKS, "--symfs", "/", f"{top}/perf.data"):
        lines = frames.split("\n")
        for i, f in enumerate(lines[:-1]):
            if f == "inner" and lines[i + 1] != "middle":
                report(False, "inlined calls are nested as the code is", frames)
        have[tuple(f if f in ("inner", "middle", "outer", "main", "lib_work") else "[other]" for f in lines
                   if f not in inlined)] += n
    other = collections.Counter()
    for chain, n in want.items():
        other[tuple(f if f in ("outer", "main", "lib_work") else "[other]" for f in chain)] += n
    report(have == other and sum(want.values()) > 20, f"{sum(want.values())} call chains equal perf script's but for inlined functions",
           (have - other, other - have))


def lines_of(top):
    """addr2line -i of each address, against table address."""
    if not shutil.which("addr2line"):
        report(True, "lines # SKIP no addr2line")
        return
    base = {}
    p = subprocess.run(["perf", "script", "--show-mmap-events", "-i", f"{top}/perf.data"], capture_output=True, timeout=300, check=False)
    for m in re.finditer(r"MMAP2 [^\[]*\[0x([0-9a-f]+)\(0x[0-9a-f]+\) @ (0x)?([0-9a-f]+) .*? r-xp (\S+)", p.stdout.decode("utf-8", "replace")):
        base[m[4]] = int(m[1], 16) - int(m[3], 16)
    wrong, seen = [], 0
    for address, dso in query(f"SELECT DISTINCT address, dso FROM address WHERE dso LIKE '{top}%'", "--symfs", "/", f"{top}/perf.data"):
        out = subprocess.run(["addr2line", "-i", "-f", "-e", dso, hex(int(address, 16) - base[dso])], capture_output=True, check=True)
        text = out.stdout.decode().split("\n")
        want = [(text[i], re.sub(r" \(disc.*", "", text[i + 1])) for i in range(0, len(text) - 1, 2)]
        have = [(f, f"{file}:{line}") for f, file, line in
                query(f"SELECT func, file, line FROM address WHERE address = '{address}' ORDER BY seq", "--symfs", "/", f"{top}/perf.data")]
        seen += 1
        if want != have:
            wrong.append((address, want, have))
        if seen == 8:
            break
    report(seen and not wrong, f"functions and lines at {seen} addresses are addr2line's", wrong[:2])


def bundles(top):
    names = "SELECT count(*) FROM stack WHERE frames LIKE '%main%'"
    report(query(names, f"{top}/perf.data") == [(0,)], "without its files in the bundle no process's address has a name")
    bundle = f"{top}/bundle"
    os.makedirs(f"{bundle}/usr")
    for name in ("perf.data", "prog", "libwork.so"):
        shutil.copy(f"{top}/{name}", f"{bundle}/{name if name == 'perf.data' else 'usr/' + name}")
    report(query(names, bundle)[0][0] > 0, "files of the bundle give them")
    subprocess.run(["tar", "-C", top, "-cJf", f"{top}/case.tar.xz", "bundle"], check=True)
    report(query(names, f"{top}/case.tar.xz")[0][0] > 0, "also out of an archive")
    build(top, PROG.replace("% 7", "% 9"), LIB)
    shutil.copy(f"{top}/prog", f"{bundle}/usr/prog")
    said = query("SELECT group_concat(message, ' | ') FROM member", bundle)[0][0]
    report("prog is another build than the one that was mapped" in said and query(names, bundle) == [(0,)],
           "a file of another build is refused, and a line says so", said)
    with open(f"{top}/libwork.so", "rb") as f:
        whole = bytearray(f.read())
    rng, bad = random.Random(8), []
    for i in range(24):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 8, 200))):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        with open(f"{bundle}/usr/libwork.so", "wb") as f:
            f.write(data[:rng.randrange(64, len(data))] if i % 4 == 0 else data)
        p = subprocess.run([BIN, "query", bundle, STACKS], capture_output=True, timeout=300, check=False)
        if p.returncode or b"[libc" not in p.stdout:
            bad.append((i, p.returncode, p.stderr[:200]))
    report(not bad, "24 damaged ELF files are survived", bad)


def main():
    with tempfile.TemporaryDirectory() as top:
        build(top, PROG, LIB)
        want = record(top)
        if not want:
            report(True, "recorded and named # SKIP perf can't record here")
        else:
            equal(top, want)
            lines_of(top)
            bundles(top)
    print(f"1..{count}")
    return 1 if failed else 0


raise SystemExit(main())
