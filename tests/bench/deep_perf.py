#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A perf.data of clock samples with deep kernel call chains, to measure what naming them takes.

usage: deep_perf.py KALLSYMS OUT [SAMPLES [DEPTH [CHAINS]]]

KALLSYMS gives the addresses; there are CHAINS different chains (default 5000) of DEPTH (64) frames, SAMPLES (1000000) in all.
"""
import random
import struct
import sys

IP, TID, TIME, CALLCHAIN, CPU = 1, 2, 4, 32, 128
PERF_CONTEXT_KERNEL = 2**64 - 128


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def main(kallsyms, out, samples=1000000, depth=64, chains=5000):
    rng, symbols, base = random.Random(1), [], 0
    with open(kallsyms, encoding="utf-8") as f:
        for line in f:
            word = line.split()
            if word[2] == "_text":
                base = int(word[0], 16)
            if word[1] in "tT" and len(word) == 3:
                symbols.append(int(word[0], 16))
    first = next(int(line.split()[0], 16) for line in open(kallsyms, encoding="utf-8") if "entry_SYSCALL_64" in line)
    made = []
    for _ in range(int(chains)):
        ips = [rng.choice(symbols) + rng.randrange(16) for _ in range(int(depth) - 1)] + [first]
        made.append((ips[0], struct.pack(f"<Q{depth + 1}Q", depth + 1, PERF_CONTEXT_KERNEL, *ips)))
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, IP | TID | TIME | CALLCHAIN | CPU, 0, 1 << 10).ljust(112, b"\0")
    name = b"[kernel.kallsyms]_text\0\0"
    kernel = record(1, 1, struct.pack("<iiQQQ", -1, 0, base, 0x1000000, base) + name)
    data_at, size = 104 + 128, len(kernel)
    with open(out, "wb") as f:
        f.write(b"\0" * 104 + attr + struct.pack("<QQ", 0, 0) + kernel)
        for i in range(int(samples)):
            ip, chain = made[rng.randrange(len(made))]
            size += f.write(record(9, 1, struct.pack("<QIIQII", ip, 100, 100 + i % 7, 10**9 + i * 1000, i % 4, 0) + chain))
        f.seek(0)
        f.write(b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, 128, data_at, size, 0, 0) + b"\0" * 32)


main(*sys.argv[1:3], *map(int, sys.argv[3:]))
