#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--redact: none of the planted secrets in any format, one placeholder for one secret, the verdict as before."""
import json
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

KVMORTEM = os.environ.get("KVMORTEM", "./kvmortem")
CAPTURE = "fixtures/captures/D-minshares-6.1"
SECRETS = {
    "host": "hv-frankfurt-03", "domain": "hv-frankfurt-03.acme-corp.example", "user": "jdoe-admin", "vm": "payroll-db",
    "ip": "10.20.30.41", "ip6": "2001:db8:12::7f3", "mac": "52:54:00:ab:cd:ef", "mail": "jane.doe@acme-corp.example",
    "uuid": "0f8fad5b-d9cb-469f-a165-70867728950e", "path": "/srv/acme/images/payroll.qcow2", "dir": "acme-ticket-7781",
    "file": "frankfurt-notes",
}
results = []


def check(ok, what):
    results.append(bool(ok))
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def run(*args):
    p = subprocess.run([KVMORTEM, *args], capture_output=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def make_bundle(root):
    d = os.path.join(root, SECRETS["dir"])
    os.makedirs(os.path.join(d, "home", SECRETS["user"]))
    with lzma.open(os.path.join(CAPTURE, "trace.txt.xz") if os.path.exists(os.path.join(CAPTURE, "trace.txt.xz"))
                   else os.path.join(CAPTURE, "perf-kprobes.data.xz")) as f:
        data = f.read()
    with open(os.path.join(d, "home", SECRETS["user"], "recording"), "wb") as f:
        f.write(data)
    for name in os.listdir(CAPTURE):
        if name.startswith("cgroup"):
            shutil.copy(os.path.join(CAPTURE, name), d)
    with open(os.path.join(d, SECRETS["file"] + ".log"), "w") as f:
        for i in range(3):
            f.write("Jan  4 09:31:2%d %s kernel: watchdog: BUG: soft lockup - CPU#3 stuck for 2%ds! [%s:4711]\n"
                    % (i, SECRETS["host"], i, "qemu-system-x86"))
    with open(os.path.join(d, "uname.txt"), "w") as f:
        f.write("Linux %s 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-06-20) x86_64 GNU/Linux\n" % SECRETS["domain"])
    with open(os.path.join(d, "version"), "w") as f:
        f.write("Linux version 6.1.0-50-amd64 (%s) (gcc-12 (Debian 12.2.0) 12.2.0, GNU ld 2.40) #1 SMP PREEMPT_DYNAMIC "
                "Debian 6.1.176-1 (2026-06-20)\n" % SECRETS["mail"])
    with open(os.path.join(d, "ping.txt"), "w") as f:
        f.write("PING %s (%s) 56(84) bytes of data.\n" % (SECRETS["domain"], SECRETS["ip"]))
        for i in range(1, 12):
            f.write("[17043606%02d.100000] 64 bytes from %s (%s): icmp_seq=%d ttl=64 time=%s ms\n"
                    % (i, SECRETS["domain"], SECRETS["ip"], i, "0.4" if i < 6 else str((12 - i) * 1000)))
    with open(os.path.join(d, "ps.txt"), "w") as f:
        f.write("qemu      4711 1 99 09:00 ? 00:10:00 /usr/bin/qemu-system-x86_64 -name guest=%s,debug-threads=on -machine "
                "pc-q35-7.2,accel=kvm -cpu host -m 4096 -smp 2 -uuid %s -drive file=%s,if=virtio -netdev tap,id=n0 -device "
                "virtio-net-pci,netdev=n0,mac=%s -vnc [%s]:0 -runas %s\n"
                % (SECRETS["vm"], SECRETS["uuid"], SECRETS["path"], SECRETS["mac"], SECRETS["ip6"], SECRETS["user"]))
    with open(os.path.join(d, "domain.xml"), "w") as f:
        f.write("<domain type='kvm'><name>%s</name><uuid>%s</uuid><memory unit='KiB'>4194304</memory><vcpu>2</vcpu><os><type arch="
                "'x86_64' machine='pc-q35-7.2'>hvm</type></os><devices><disk type='file' device='disk'><source file='%s'/><target "
                "dev='vda'/></disk><interface type='network'><mac address='%s'/></interface></devices></domain>\n"
                % (SECRETS["vm"], SECRETS["uuid"], SECRETS["path"], SECRETS["mac"]))
    return d


def leaks(data):
    low = data.lower()
    return [k for k, v in SECRETS.items() if v.lower().encode() in low] + [
        w for w in ("acme", "frankfurt", "payroll", "jane.doe") if w.encode() in low]


with tempfile.TemporaryDirectory() as tmp:
    bundle = make_bundle(tmp)
    open_case = run("-v", bundle)[1]
    seen = [k for k in ("dir", "file", "user") if SECRETS[k].encode() in open_case]
    check(seen, "without --redact the secrets are in the report (%s)" % ", ".join(seen))
    facts = run("query", bundle, "SELECT key || '=' || value FROM fact")[1]
    check(all(SECRETS[k].encode() in facts for k in ("vm", "host", "uuid")), "and in the facts")

    formats = ["text", "json", "markdown", "jira", "bugzilla", "title", "html"]
    known = run("-f", "nonsense", bundle)[2].decode()
    for fmt in formats:
        if fmt + "," not in known and " %s " % fmt not in known:
            continue
        out = os.path.join(tmp, "out." + fmt)
        status, _, _ = run("-v", "--redact", "-f", fmt, "-o", out, bundle)
        with open(out, "rb") as f:
            data = f.read()
        found = leaks(data)
        check(status == 0 and data and not found, "%s: no secret is left%s" % (fmt, " but: " + ", ".join(found) if found else ""))
    for command in ("info", "stalls", "latency", "exits", "chain"):
        status, data, _ = run(command, "-v", "--redact", bundle)
        found = leaks(data)
        check(status == 0 and not found, "%s: no secret is left%s" % (command, " but: " + ", ".join(found) if found else ""))

    case = os.path.join(tmp, "case.sqlite")
    keymap = os.path.join(tmp, "key.tsv")
    status = run("--redact-map", keymap, "-o", case, bundle)[0]
    with open(case, "rb") as f:
        found = leaks(f.read())
    check(status == 0 and not found, "sqlite: no secret in the file's bytes%s" % (" but: " + ", ".join(found) if found else ""))
    with open(keymap) as f:
        key = dict(line.rstrip("\n").split("\t", 1) for line in f)
    check(os.stat(keymap).st_mode & 0o77 == 0, "the key is for its owner only")
    values = list(key.values())
    check(len(values) == len(set(values)) and SECRETS["vm"] in values and SECRETS["host"] in values and SECRETS["ip"] in values,
          "the key has each secret once")
    names = [k for k, v in key.items() if v == SECRETS["vm"]]
    db = sqlite3.connect(case)
    used = [r[0] for r in db.execute("SELECT key FROM fact WHERE key LIKE 'domain.%' OR key LIKE 'qemu.%'")]
    check(used and all(names[0] in k for k in used if k.count(".") > 1), "one VM has one placeholder, in keys too")
    db.close()
    plain = json.loads(run("-f", "json", bundle)[1])
    redacted = json.loads(run("-f", "json", "--redact", bundle)[1])
    again = json.loads(run("-f", "json", "--redact", bundle)[1])
    pick = lambda d: [(v["id"], v["verdict"], v["score"]) for v in d["verdicts"]]
    check(pick(plain) == pick(redacted) and plain["totals"] == redacted["totals"], "verdicts and figures are as before")
    check(redacted == again, "the placeholders are the same each time")
    status, data, _ = run("--redact", "-f", "json", case)
    check(status == 0 and pick(json.loads(data)) == pick(redacted), "a saved case can be redacted (again)")
    plain_case = os.path.join(tmp, "plain.sqlite")
    run("-o", plain_case, bundle)
    status, data, _ = run("--redact", "-v", plain_case)
    check(status == 0 and not leaks(data), "a case saved without it can be redacted later")
    text = run("-v", "--redact", bundle)[1].decode()
    check("/sys/" in text or "sched_switch" in text or "host-1" in text, "what is no secret stays readable")
    status, _, err = run("events", "--redact", bundle)
    check(status == 2 and b"redact" in err, "events refuses --redact: payloads can't be searched for names")

with tempfile.TemporaryDirectory() as tmp:
    for i, path in enumerate(("etc/hostname", "sos_commands/host/hostname", None)):
        bundle = os.path.join(tmp, str(i))
        os.makedirs(os.path.join(bundle, os.path.dirname(path or "x/y")), exist_ok=True)
        if path:
            with open(os.path.join(bundle, path), "w") as f:
                f.write("acmeprod01\n")
        with open(os.path.join(bundle, "dmesg"), "w") as f:
            f.write("[    0.000000] Linux version 6.1.0-50-amd64 (a@b.example) (gcc-12 12.2.0, GNU ld 2.40) #1 SMP Debian 6.1.176-1\n"
                    "[    0.000000] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 ip=10.1.2.3::10.1.2.1:255.255.255.0:%s:eth0:none\n"
                    "[    5.000000] kvm: acmeprod01 vcpu0 disabled perfctr wrmsr: 0xc2 data 0xffff\n"
                    "[   90.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [acmeprod01:4711]\n" % ("x" if path else "acmeprod01"))
        plain = run("-v", "-f", "json", bundle)[1] + run("query", bundle, "SELECT text FROM cite")[1]
        gone = [f for f in ("text", "json", "markdown", "html") if b"acmeprod01" in run("-v", "--redact", "-f", f, bundle)[1].lower()]
        check(b"acmeprod01" in plain and not gone, "the host's name by %s%s" % (path or "the parameter ip=", " but: %s" % gone if gone else ""))

print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
