#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""repeat_text.py IN OUT MB - an ftrace text recording repeated with shifted times until it is MB long."""
import re
import sys

STAMP = re.compile(rb"^(.{16,}?\] +(?:[^ ]+ +)?)(\d+)(\.\d{6}:)", re.S)


def main():
    source, target, size = sys.argv[1], sys.argv[2], int(sys.argv[3]) << 20
    head, parts = [], []
    with open(source, "rb") as f:
        for line in f:
            m = STAMP.match(line) if not line.startswith(b"#") else None
            if m:
                parts.append((m.group(1), int(m.group(2)), line[m.end(2):]))
            elif not parts:
                head.append(line)
    span = parts[-1][1] - parts[0][1] + 1
    with open(target, "wb") as out:
        written = out.write(b"".join(head))
        shift = 0
        while written < size:
            written += out.write(b"".join(b"%s%d%s" % (a, t + shift, b) for a, t, b in parts))
            shift += span
    return 0


sys.exit(main())
