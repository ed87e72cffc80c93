#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Evidence pasted into mails: wrapped, quoted, indented, quoted-printable, attached. Prose, patches and scripts are none."""
import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))

PING = """\
Here is the ping log:

> [1700000001.100000] 64 bytes from 192.0.2.7: icmp_seq=1 ttl=64
> time=0.400 ms
> [1700000003.100000] From 192.0.2.1 icmp_seq=3 Destination Host
> Unreachable
> [1700000009.200000] 64 bytes from 192.0.2.7: icmp_seq=2 ttl=64
> time=7100 ms
> [1700000009.200100] 64 bytes from 192.0.2.7: icmp_seq=4 ttl=64
> time=5100 ms
"""

FTRACE = """\
It looks like this:

>>  qemu-system-x86-4242    [003] d.... 10.000100: kvm_exit: vcpu 0 reason EXCEPTION_NMI rip 0xfd0bd
>> info1 0x0000000000000000 info2 0x0000000000000413 intr_info 0x80000306 error_code
>> 0x00000000
>>  qemu-system-x86-4242    [003] d.... 10.000200: kvm_entry: vcpu 0, rip 0xf7d6b

and the next reply has it again:

>>>  qemu-system-x86-4242    [003] d.... 10.000200: kvm_entry: vcpu 0, rip 0xf7d6b
"""

QP = """\
From: somebody@example.org
Subject: strace
Content-Transfer-Encoding: quoted-printable

Two runs:
ioctl(3, KVM_CREATE_VM, 0)              =3D 4 <0.0=
76709>
  ioctl(3, KVM_CR=
EATE_VM, 0) =C2=A0=3D 4 <0.109109>
"""

PROSE = """\
From: somebody@example.org
Subject: [PATCH] is it task_numa_work?

On the host task_numa_work took long, and tdp_mmu_zap_leafs (tid=5) as well.
watchdog says BUG: soft lockup, I think. Set kernel.numa_balancing to 0, and
ioctl(KVM_CREATE_VM) returns after 100 ms.

kretfunc:task_numa_work {
	printf("[%s] task_numa_work (tid=%d) took 868 ms\\n", x, tid);
}

--- a/notes.txt
+++ b/notes.txt
@@ -1,2 +1,3 @@
 [1700000683] task_numa_work (tid=100) took 868 ms
+[1700000684] task_numa_work (tid=100) took 869 ms
+ioctl(3, KVM_CREATE_VM, 0)              = 4 <0.023567>
"""

SECTIONS = """\
Before the change:

$ cat /sys/module/kvm/parameters/nx_huge_pages
Y
$ cat /proc/sys/kernel/numa_balancing
1

root@host:~# grep . /sys/kernel/mm/ksm/run /sys/kernel/mm/ksm/pages_sharing
/sys/kernel/mm/ksm/run:1
/sys/kernel/mm/ksm/pages_sharing:775
"""

number = 0
failed = 0


def check(good, what, detail=""):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good:
        print("# " + str(detail)[:1500].replace("\n", "\n# "))


def rows(path, sql):
    r = subprocess.run([KVMORTEM, "query", "-f", "json", path, sql], capture_output=True, text=True, timeout=60)
    try:
        return [list(row.values()) if isinstance(row, dict) else row for row in json.loads(r.stdout)["rows"]]
    except (ValueError, KeyError):
        return f"{r.returncode} {r.stdout[:300]} {r.stderr}"


def put(d, name, text):
    with open(f"{d}/{name}", "w", encoding="utf-8") as f:
        f.write(text)
    return f"{d}/{name}"


def main():
    with tempfile.TemporaryDirectory() as d:
        got = rows(put(d, "ping.txt", PING), "SELECT replies, unreachable, max_rtt_ns FROM ping_stat")
        check(got == [[3, 1, 7100000000]], "ping lines that a mailer wrapped", got)

        path = put(d, "ftrace.txt", FTRACE)
        got = rows(path, "SELECT event, count FROM event_count ORDER BY event")
        check(got == [["kvm_entry", 1], ["kvm_exit", 1]], "trace lines quoted and wrapped; the same line quoted again is one event", got)
        got = rows(path, "SELECT vcpu, tid, host_ns FROM vcpu")
        check(got == [[0, 4242, 100000]], "the rejoined exit and the entry after it make the vCPU's host time", got)

        got = rows(put(d, "qp.eml", QP), "SELECT duration_ns FROM span ORDER BY duration_ns")
        check(got == [[76709000], [109109000]], "quoted-printable soft breaks inside a record", got)

        got = rows(put(d, "prose.txt", PROSE), "SELECT status, message FROM member")
        check(got == [["ignored", "text, but nothing in it is known evidence"]], "prose, a script and a patch are no evidence", got)

        got = rows(put(d, "sections.txt", SECTIONS),
                   "SELECT f.value, c.line FROM fact f JOIN cite c ON c.id = f.cite_id ORDER BY c.line")
        check(got == [["Y", 4], ["1", 6], ["1", 9], ["775", 10]], "values under their path, cited by line", got)

        body = base64.encodebytes(gzip.compress(b"ioctl(3, KVM_CREATE_VM, 0) = 4 <0.076709>\n")).decode()
        mail = ("From: a@example.org\nSubject: log\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b1\"\n\n"
                "--b1\nContent-Type: text/plain\n\nSee attachment.\n--b1\nContent-Type: application/gzip; name=\"strace.txt.gz\"\n"
                f"Content-Transfer-Encoding: base64\n\n{body}\n--b1--\n")
        path = put(d, "attached.eml", mail)
        got = rows(path, "SELECT m.path, duration_ns FROM span s JOIN source o ON o.id = s.source_id JOIN member m ON m.id = o.member_id")
        check(got == [[path + ":strace.txt.gz", 76709000]], "a compressed attachment", got)
    print(f"1..{number}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
