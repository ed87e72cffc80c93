#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One recording in every form of perf.data: as recorded, of the other byte order (swapped here, record by record and field by
field), as a pipe, with compressed records of the newer kind, in other attribute sizes. All must give the same analysis."""
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import tempfile

BIN = os.environ.get("KVMORTEM", "./kvmortem")
TOP = "fixtures/captures"
count = failed = 0

SAMPLE, LOST, COMM, EXIT, FORK, MMAP, LOST_SAMPLES = 9, 2, 3, 4, 7, 1, 13
ATTR, TRACING, ID_INDEX, THREAD_MAP, FEATURE, COMPRESSED, COMPRESSED2 = 64, 66, 69, 73, 80, 81, 83
TID, TIME, CALLCHAIN, CPU, RAW = 1 << 1, 1 << 2, 1 << 5, 1 << 7, 1 << 10
STRINGS = {3, 4, 5, 6, 8, 9}     # features that are one string


def report(ok, what, why=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")
    if not ok and why:
        print("# " + str(why)[:2000].replace("\n", "\n# "))


def run(*args):
    p = subprocess.run([BIN, *args], capture_output=True, timeout=600)
    return p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def packed(path):
    with lzma.open(path) if path.endswith(".xz") else open(path, "rb") as f:
        return f.read()


class Words:
    """Bytes that are walked and swapped in place."""
    def __init__(self, data):
        self.b = bytearray(data)
        self.at = 0

    def num(self, size):
        v = int.from_bytes(self.b[self.at:self.at + size], "little")
        self.b[self.at:self.at + size] = v.to_bytes(size, "big")
        self.at += size
        return v

    def string(self):
        n = self.num(4)
        self.at += n

    def attr(self, size):
        end = self.at + size
        self.num(4), self.num(4)
        for _ in range(4):
            self.num(8)
        for i in range(self.at, self.at + 8):      # the flags: a bit field
            self.b[i] = int(f"{self.b[i]:08b}"[::-1], 2)
        self.at += 8
        self.num(4), self.num(4)
        for _ in range(4):      # bp_addr, bp_len, branch_sample_type, sample_regs_user
            if self.at < end:
                self.num(8)
        if self.at < end:
            self.num(4), self.num(4)        # sample_stack_user, clockid
        while self.at + 8 <= end:
            self.num(8)
        self.at = end


def fields_of(text):
    """(offset, size, element size or 0, kind) of each field of a format."""
    out = []
    for decl, off, size in re.findall(r"\tfield:([^;]*);\toffset:(\d+);\tsize:(\d+);", text):
        off, size = int(off), int(size)
        if "__data_loc" in decl:
            out.append((off, 4, 4))     # all that occur are strings
            continue
        array = re.search(r"\[(\d+)\]", decl)
        elem = size // int(array.group(1)) if array and int(array.group(1)) else size
        if "char" in decl and array or elem not in (1, 2, 4, 8):
            elem = 0
        out.append((off, size, elem))
    return out


def swap_tracing(data):
    """The tracepoint formats; returns the swapped bytes and the fields by event id."""
    w, formats = Words(data), {}
    w.at = w.b.index(b"\0", 10) + 1     # magic, version
    w.b[w.at] = 1                       # big-endian
    w.at += 2
    w.num(4)
    for name in (b"header_page\0", b"header_event\0"):
        assert w.b[w.at:w.at + len(name)] == name
        w.at += len(name)
        n = w.num(8)
        w.at += n
    systems = None
    left = 1
    while left:
        for _ in range(w.num(4)):
            n = w.num(8)
            text = w.b[w.at:w.at + n].decode("utf-8", "replace")
            ident = re.search(r"^ID: (\d+)", text, re.M)
            formats[int(ident.group(1))] = fields_of(text)
            w.at += n
        if systems is None:
            systems = left = w.num(4)
            left += 1
        left -= 1
        if left:
            w.at = w.b.index(b"\0", w.at) + 1
    return bytes(w.b), formats


class Recording:
    """A perf.data of this machine, taken apart."""
    def __init__(self, data):
        self.data = data
        self.attr_size, = struct.unpack_from("<Q", data, 16)
        sections = struct.unpack_from("<6Q", data, 24)
        (self.attrs_at, self.attrs_len), (self.data_at, self.data_len) = sections[0:2], sections[2:4]
        self.bits = int.from_bytes(data[72:104], "little")
        self.attrs, self.by_id = [], {}
        for at in range(self.attrs_at, self.attrs_at + self.attrs_len, self.attr_size):
            kind, = struct.unpack_from("<I", data, at)
            config, _, stype, rfmt = struct.unpack_from("<4Q", data, at + 8)
            ids_at, ids_len = struct.unpack_from("<QQ", data, at + self.attr_size - 16)
            ids = struct.unpack_from(f"<{ids_len // 8}Q", data, ids_at)
            attr = (kind, config, stype, data[at:at + self.attr_size - 16], ids)
            assert not rfmt or not stype & (1 << 4)
            self.attrs.append(attr)
            self.by_id.update((i, attr) for i in ids)
        self.features = {}
        at = self.data_at + self.data_len
        for bit in range(256):
            if self.bits >> bit & 1:
                off, size = struct.unpack_from("<QQ", data, at)
                self.features[bit] = data[off:off + size]
                at += 16

    def records(self):
        at, end = self.data_at, self.data_at + self.data_len
        while at < end:
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            yield kind, misc, self.data[at:at + size]
            at += size


def swap_words(w, stype, parts):
    for bit in parts:
        if not stype & bit:
            continue
        if bit in (TID, CPU):
            w.num(4), w.num(4)
        else:
            w.num(8)


def swap_record(rec, kind, r, formats):
    w = Words(rec)
    w.num(4), w.num(2), w.num(2)
    if kind == SAMPLE:
        ident, = struct.unpack_from("<Q", rec, 8)       # IDENTIFIER comes first, or there is one event only
        attr = r.by_id[ident] if len(r.attrs) > 1 else r.attrs[0]
        stype = attr[2]
        swap_words(w, stype, (1 << 16, 1, TID, TIME, 1 << 3, 1 << 6, 1 << 9, CPU, 1 << 8))
        if stype & CALLCHAIN:
            for _ in range(w.num(8)):
                w.num(8)
        if stype & RAW:
            n, raw = w.num(4), w.at
            for off, size, elem in formats.get(attr[1], ()) if attr[0] == 2 else ():
                for at in range(off, off + size, elem or size):
                    if elem and at + elem <= n:
                        w.at = raw + at
                        w.num(elem)
        return bytes(w.b)
    shape = {MMAP: "IIQQQ", LOST: "QQ", COMM: "II", EXIT: "IIIIQ", FORK: "IIIIQ", LOST_SAMPLES: "Q"}.get(kind)
    for c in shape or "":
        w.num(8 if c == "Q" else 4)
    if shape:
        stype = r.attrs[0][2]
        parts = [b for b in (TID, TIME, 1 << 6, 1 << 9, CPU, 1 << 16) if stype & b]
        w.at = len(rec) - 8 * len(parts)
        swap_words(w, stype, parts)
    elif kind == ID_INDEX:
        while w.at < len(rec):
            w.num(8)
    elif kind == THREAD_MAP:
        for _ in range(w.num(8)):
            w.num(8)
            w.at += 16
    return bytes(w.b)


def swap_feature(bit, data, formats):
    """None for those that the test leaves out."""
    w = Words(data)
    if bit == 1:
        return swap_tracing(data)[0]
    if bit in STRINGS:
        w.string()
    elif bit == 7:
        w.num(4), w.num(4)
    elif bit == 10 or bit == 23:
        w.num(8)
    elif bit == 11:
        for _ in range(w.num(4)):
            w.string()
    elif bit == 12:
        n, size = w.num(4), w.num(4)
        for _ in range(n):
            w.attr(size)
            ids = w.num(4)
            w.string()
            for _ in range(ids):
                w.num(8)
    elif bit == 13:
        for _ in range(2):
            for _ in range(w.num(4)):
                w.string()
    elif bit == 14:
        for _ in range(w.num(4)):
            w.num(4), w.num(8), w.num(8)
            w.string()
    elif bit == 21:
        w.num(8), w.num(8)
    elif bit == 29:
        w.num(4), w.num(4), w.num(8), w.num(8)
    elif bit == 2:
        while w.at < len(w.b):
            start = w.at
            w.num(4), w.num(2)
            size = w.num(2)
            w.num(4)
            w.at = start + size
    else:
        return None
    return bytes(w.b)


def swapped(r, narrow_bits=False):
    """The recording as a big-endian machine writes it; nothing moves. Features that are left out keep their place, without their bit."""
    out = bytearray(r.data)
    w = Words(r.data[:104])
    w.b[0:8] = b"2ELIFREP"
    w.at = 8
    for _ in range(8):
        w.num(8)
    feats = {bit: swap_feature(bit, data, None) for bit, data in r.features.items()}
    bits = sum(1 << bit for bit, data in feats.items() if data is not None)
    for i in range(4):
        word = bits >> 64 * i & (1 << 64) - 1
        half = (word >> 32 | word << 32) & (1 << 64) - 1 if narrow_bits else word
        w.b[72 + 8 * i:80 + 8 * i] = half.to_bytes(8, "big")
    out[:104] = w.b
    for at in range(r.attrs_at, r.attrs_at + r.attrs_len, r.attr_size):
        w = Words(r.data[at:at + r.attr_size])
        w.attr(r.attr_size - 16)
        ids_at, ids_len = struct.unpack_from("<QQ", r.data, at + r.attr_size - 16)
        w.num(8), w.num(8)
        out[at:at + r.attr_size] = w.b
        for i in range(ids_at, ids_at + ids_len, 8):
            out[i:i + 8] = r.data[i:i + 8][::-1]
    formats = swap_tracing(r.features[1])[1] if 1 in r.features else {}
    at = r.data_at
    for kind, _, rec in r.records():
        out[at:at + len(rec)] = swap_record(rec, kind, r, formats)
        at += len(rec)
    table = at
    for bit in sorted(r.features):
        off, size = struct.unpack_from("<QQ", r.data, at)
        at += 16
        if feats[bit] is None:
            continue
        out[off:off + size] = feats[bit]
        struct.pack_into(">QQ", out, table, off, size)
        table += 16
    return bytes(out)


def piped(r, order="<"):
    """The same events as a stream, as perf record -o - writes them."""
    big = order == ">"
    formats = swap_tracing(r.features[1])[1] if 1 in r.features else {}
    out = [(b"2ELIFREP" if big else b"PERFILE2") + struct.pack(order + "Q", 16)]
    for _, _, _, attr, ids in r.attrs:
        body = Words(attr)
        if big:
            body.attr(len(attr))
        out.append(struct.pack(order + "IHH", ATTR, 0, 8 + len(attr) + 8 * len(ids)) + bytes(body.b) +
                   struct.pack(f"{order}{len(ids)}Q", *ids))
    for bit, data in sorted(r.features.items()):
        body = swap_feature(bit, data, None) if big else data
        if body is None or bit in (1, 2) or len(body) > 60000:
            continue
        out.append(struct.pack(order + "IHHQ", FEATURE, 0, 16 + len(body), bit) + body)
    if 1 in r.features:
        body = swap_tracing(r.features[1])[0] if big else r.features[1]
        body += bytes(-len(body) % 8)
        out.append(struct.pack(order + "IHHII", TRACING, 0, 16, len(body), 0) + body)
    for kind, _, rec in r.records():
        out.append(swap_record(rec, kind, r, formats) if big else rec)
    return b"".join(out)


def newer_compressed(r):
    """COMPRESSED records as perf of 2025 writes them: a size, and padding to 8 bytes."""
    body = b""
    for kind, misc, rec in r.records():
        if kind == COMPRESSED:
            data = rec[8:]
            rec = struct.pack("<IHHQ", COMPRESSED2, misc, 16 + len(data) + -len(data) % 8, len(data)) + data + bytes(-len(data) % 8)
        body += rec
    delta = len(body) - r.data_len
    out = bytearray(r.data[:r.data_at] + body + r.data[r.data_at + r.data_len:])
    struct.pack_into("<Q", out, 48, len(body))
    at = r.data_at + len(body)
    for _ in r.features:
        off, = struct.unpack_from("<Q", out, at)
        struct.pack_into("<Q", out, at, off + delta)
        at += 16
    return bytes(out)


def resized(r, size):
    """Attributes of another kernel's size: cut, or with bytes that are not known."""
    attrs = b""
    for at in range(r.attrs_at, r.attrs_at + r.attrs_len, r.attr_size):
        attr = (r.data[at:at + r.attr_size - 16] + bytes(256))[:size]
        attrs += attr[:4] + struct.pack("<I", size) + attr[8:] + r.data[at + r.attr_size - 16:at + r.attr_size]
    out = bytearray(r.data) + attrs
    struct.pack_into("<Q", out, 16, size + 16)
    struct.pack_into("<QQ", out, 24, len(r.data), len(attrs))
    return bytes(out)


def named_in_old_way(r):
    """No feature names the events: perf before 3.8 had a section for that (and perf's own names are longer)."""
    types = b"".join(struct.pack("<Q", a[1]) + b"old:event_%d" % i + bytes(64 - len(b"old:event_%d" % i))
                     for i, a in enumerate(r.attrs))
    out = bytearray(r.data[:r.data_at + r.data_len])
    struct.pack_into("<QQ", out, 56, len(out), len(types))
    out[72:104] = bytes(32)
    struct.pack_into("<Q", out, 48, 0)
    return bytes(out + types)


def essence(path, offsets=True):
    """The whole analysis but for names of files."""
    out, err = run("-f", "json", path)
    j = json.loads(out or "{}")
    text = json.dumps({k: j.get(k) for k in ("vms", "stalls", "patterns", "totals", "verdicts", "losses", "coverage")}, sort_keys=True)
    text = text.replace(path, "FILE")
    if not offsets:
        text = re.sub(r'"offset": \d+', '"offset": 0', text)
    sources = json.loads(run("info", "-f", "json", path)[0])["sources"]
    counts = sources[0]["event_counts"] if sources else {}
    return text, counts, [(m["status"], m["message"]) for m in j.get("members", [])] + [err]


def same(want, got, what):
    text, counts, members = got
    why = f"{members}\n{[(k, v, counts.get(k)) for k, v in want[1].items() if counts.get(k) != v][:5]}"
    if text != want[0]:
        i = next((i for i, (x, y) in enumerate(zip(text, want[0])) if x != y), min(len(text), len(want[0])))
        why += f"\n{want[0][max(0, i - 200):i + 200]}\n{text[max(0, i - 200):i + 200]}"
    report(want == got, what, why)


def main():
    sets = [f"{TOP}/D-quota-l2-20ms/perf-kvm-sched.data.xz", f"{TOP}/C-createvm-6.1-default/perf.data.xz",
            f"{TOP}/G-damaged/perf-lost.data.xz"]
    with tempfile.TemporaryDirectory() as d:
        def put(name, data):
            path = f"{d}/{name}"
            with open(path, "wb") as f:
                f.write(data)
            return path

        for source in sets:
            data = packed(source)
            r = Recording(data)
            want = essence(put("perf.data", data))
            report(want[2][0][0] == "read" and sum(want[1].values()) > 0, f"{source}: {sum(want[1].values())} events", want[2])
            same(want, essence(put("perf.data", swapped(r))), f"{source}: of the other byte order")
            lines = [run("events", "-f", "ndjson", put(f"{i}.data", x))[0] for i, x in enumerate((data, swapped(r)))]
            report(lines[0] == lines[1] and lines[0].count("\n") == sum(want[1].values()),
                   f"{source}: of the other byte order, every field of every event", [x[:300] for x in lines])
            blind = essence(put("perf.data", data), offsets=False)
            same(blind, essence(put("perf.data", piped(r)), offsets=False), f"{source}: in pipe mode")
            same(blind, essence(put("perf.data", piped(r, ">")), offsets=False), f"{source}: in pipe mode, of the other byte order")
        r = Recording(data)
        same(want, essence(put("perf.data", swapped(r, narrow_bits=True))), "feature bits of a 32-bit machine of the other byte order")
        for name, x in (("this", data), ("the other", swapped(r))):
            same(want, essence(put("perf.data", b"PERFFILE" + x[8:])), f"the magic of old perf, {name} byte order")
        for size in (64, 72, 80, 96, 104, 112, 120, 136, 200):
            same(want, essence(put("perf.data", resized(r, size))), f"attributes of {size} bytes")
        old = essence(put("perf.data", named_in_old_way(r)))
        report(sorted(old[1]) == sorted(f"old:event_{i}" for i, a in enumerate(r.attrs) if f"old:event_{i}" in old[1]) and
               sum(old[1].values()) == sum(want[1].values()), "names from the section of perf before 3.8", old[1:])
        data = packed(f"{TOP}/A-healthy-perf-6.1/perf-z.data")
        want = essence(put("perf.data", data), offsets=False)
        same(want, essence(put("perf.data", newer_compressed(Recording(data))), offsets=False), "compressed records of the newer kind")
        broken = bytearray(data)
        broken[150000:150016] = bytes(16)
        _, counts, members = essence(put("perf.data", bytes(broken)))
        report(members[0][0] == "partly" and "can't be unpacked from byte" in members[0][1] and sum(counts.values()) > 10000,
               "a damaged compressed record costs what follows, and says so", members)
        holes = bytearray(data)
        at = Recording(data).data_at
        for kind, misc, rec in Recording(data).records():
            if kind == COMPRESSED:
                holes[at + 8:at + len(rec)] = bytes(len(rec) - 8)
            at += len(rec)
        _, counts, members = essence(put("perf.data", bytes(holes)))
        report(members[0][0] == "partly" and "only zeros stand there" in members[0][1], "compressed records of zeros are called that", members)
        out, err = run("info", "-f", "json", "--max-temp", "1M", put("perf.data", data))
        report("--max-temp" in json.loads(out)["members"][0]["message"] and err.count("\n") == 1,
               "too little temporary space is one line", f"{out[:300]} {err}")
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
