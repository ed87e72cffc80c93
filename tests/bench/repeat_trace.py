#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A longer trace.dat out of a short one: usage: repeat_trace.py IN OUT TIMES

IN is an unpacked version 6 file of this machine's byte order; its CPUs' pages are written TIMES over, the times of
each repetition behind those of the one before. All else stays.
"""
import struct
import sys


def main():
    source, target, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(source, "rb") as file:
        data = file.read()
    table = data.rindex(b"flyrecord\0") + 10
    page = struct.unpack_from("<I", data, data.index(b"\0", 10) + 3)[0]
    first = struct.unpack_from("<Q", data, table)[0]
    cpus = []
    at = table
    while at + 16 <= first and len(cpus) < 4096:
        offset, size = struct.unpack_from("<QQ", data, at)
        if not offset or offset % page or offset + size > len(data):
            break
        cpus.append((at, offset, size))
        at += 16
    stamps = [struct.unpack_from("<Q", data, offset + p)[0] for _, offset, size in cpus for p in range(0, size, page)]
    span = max(stamps) - min(stamps) + 10**9
    head = bytearray(data[:first])
    place = first
    for at, offset, size in cpus:
        struct.pack_into("<QQ", head, at, place, size * times)
        place += size * times
    with open(target, "wb") as out:
        out.write(head)
        for _, offset, size in cpus:
            pages = bytearray(data[offset:offset + size])
            for turn in range(times):
                for p in range(0, size, page):
                    stamp = struct.unpack_from("<Q", data, offset + p)[0]
                    struct.pack_into("<Q", pages, p, stamp + turn * span)
                out.write(pages)


if __name__ == "__main__":
    main()
