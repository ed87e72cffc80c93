#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts in the places where sosreport and Proxmox VE's pvereport put them; both written here, in their layouts."""
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

KVMORTEM = os.path.abspath(os.environ.get("KVMORTEM", "./kvmortem"))

SYSCTL = "\n".join(["abi.vsyscall32 = 1", "dev.cdrom.info = ", "fs.file-max = 9223372036854775807", "kernel.numa_balancing = 1",
                    "kernel.sched_rt_runtime_us = 950000", "net.ipv4.tcp_mem = 1\t2\t3", "vm.swappiness = 60"]) + "\n"
LSCPU = """\
Architecture:                    x86_64
CPU(s):                          16
Model name:                      AMD EPYC 7302P 16-Core Processor
Virtualization:                  AMD-V
NUMA node(s):                    1
NUMA node0 CPU(s):               0-15
Vulnerability Itlb multihit:     Not affected
"""
CPUINFO = "".join("processor\t: %d\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nphysical id\t: 0\nflags\t\t: fpu svm npt\n\n" % i
                  for i in range(4))
KVM_STAT = """\
halt_exits                                      1000        10
kvm_exit                                       50000       500
"""
DOMAIN = """\
<domain type='kvm' id='3'>
  <name>vm7</name>
  <vcpu placement='static'>8</vcpu>
  <cputune>
    <vcpupin vcpu='0' cpuset='2'/>
    <quota>40000</quota>
  </cputune>
</domain>
"""
QEMU_LOG = """\
2023-02-01 08:15:30.123+0000: starting up libvirt version: 8.0.0, package: 1, qemu version: 6.2.0, kernel: 5.15.0-56-generic, hostname: node1
LC_ALL=C \\
/usr/bin/qemu-system-x86_64 \\
-name guest=vm7,debug-threads=on \\
-machine pc-q35-6.2,accel=kvm \\
-smp 8,sockets=8
"""
JOURNAL = """\
-- Logs begin at Mon 2026-11-30 18:00:00 UTC, end at Mon 2026-11-30 19:00:00 UTC. --
Nov 30 18:02:19 node1 systemd[1]: Started Something.
Nov 30 18:02:20 node1 kernel: watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [CPU 0/KVM:8820]
Nov 30 18:02:21 node1 libvirtd[900]: internal error
"""
PS = """\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0 168000 12000 ?        Ss   Jan01   0:05 /sbin/init
qemu        8812  340 12.0 9000000 8400000 ?     Sl   Jan01 999:05 /usr/libexec/qemu-kvm -name guest=vm8 -smp 2 -machine q35
"""
CONFIG = "#\n# Automatically generated file; DO NOT EDIT.\n# Linux/x86 6.1.0 Kernel Configuration\n#\nCONFIG_PREEMPT_DYNAMIC=y\n" \
         "CONFIG_NUMA_BALANCING=y\n# CONFIG_PREEMPT_NONE is not set\nCONFIG_HZ=250\n"

SOS = {
    "sos_commands/kernel/sysctl_-a": SYSCTL,
    "sos_commands/processor/lscpu": LSCPU,
    "sos_commands/kvm/kvm_stat_--once": KVM_STAT,
    "sos_commands/virsh/virsh_-r_dumpxml_vm7": DOMAIN,
    "sos_commands/logs/journalctl_--no-pager_--boot": JOURNAL,
    "sos_commands/process/ps_auxwwwm": PS,
    "var/log/libvirt/qemu/vm7.log": QEMU_LOG,
    "proc/cpuinfo": CPUINFO,
    "proc/pressure/cpu": "some avg10=1.25 avg60=0.40 avg300=0.08 total=123456\n",
    "proc/kallsyms": "".join("0000000000000000 T symbol_%d\n" % i for i in range(40)),
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 isolcpus=2-7\n",
    "sys/module/kvm/parameters/nx_huge_pages": "Y\n",
    "sys/kernel/debug/kvm/exits": "424242\n",
    "sys/kernel/debug/tracing/current_tracer": "nop\n",
    "boot/config-6.1.0": CONFIG,
}

PVE = """\
==== general system info ====

# hostname
node2

# pveversion --verbose
proxmox-ve: 8.1.0 (running kernel: 6.5.11-7-pve)
pve-qemu-kvm: 8.1.2-6
qemu-server: 8.0.10

# top -b -c -w512 -n 1 -o TIME | head -n 30
top - 10:33:10 up 5 days,  3:04,  1 user,  load average: 3.12, 2.80, 2.70
Tasks: 512 total,   2 running, 510 sleeping,   0 stopped,   0 zombie
%Cpu(s):  5.3 us,  2.1 sy,  0.0 ni, 92.4 id,  0.1 wa,  0.0 hi,  0.1 si,  0.0 st
MiB Mem :  64000.0 total,  1000.0 free,  60000.0 used,   3000.0 buff/cache

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   8812 root      20   0 9000000   8.1g  20480 S  99.9  12.0 999:05.12 /usr/bin/kvm -id 101 -name win11,debug-threads=on -smp 4 -m 8192

# lscpu
""" + LSCPU + """
# cat /proc/cpuinfo
""" + CPUINFO + """# uname -a
Linux node2 6.5.11-7-pve #1 SMP PREEMPT_DYNAMIC PMX 6.5.11-7 x86_64 GNU/Linux

==== info about virtual guests ====

# qm list
      VMID NAME                 STATUS     MEM(MB)    BOOTDISK(GB) PID
       101 win11                running    8192              64.00 8812

# cat /etc/pve/qemu-server/101.conf
agent: 1
cores: 2
cpu: host
cpulimit: 1.5
memory: 8192
name: win11
ostype: win11
scsi0: local-lvm:vm-101-disk-0,iothread=1,size=64G
sockets: 2

==== info about network ====
"""

results = []


def check(ok, what):
    results.append(ok)
    print("%sok %d - %s" % ("" if ok else "not ", len(results), what))


def facts(path):
    p = subprocess.run([KVMORTEM, "query", "-f", "json", path, "SELECT f.key, f.value, c.text, c.line FROM fact f LEFT JOIN cite c ON "
                        "c.id = f.cite_id"], capture_output=True, text=True, check=False)
    if p.returncode:
        print("# " + p.stderr.strip().replace("\n", "\n# "))
        return {}
    rows = json.loads(p.stdout)
    rows = rows.get("rows", rows) if isinstance(rows, dict) else rows
    out = {}
    for r in rows:
        r = list(r.values()) if isinstance(r, dict) else r
        out.setdefault(r[0], []).append(r[1])
        if r[3] is None:
            out.setdefault("uncited", []).append(r[0])
    return out


def expect(found, want, where):
    for key, value in want.items():
        check(value in found.get(key, []), "%s: %s = %s" % (where, key, value) +
              ("" if value in found.get(key, []) else " # is %s" % found.get(key)))
    check("uncited" not in found, "%s: every fact cites a line" % where)


def sosreport(folder):
    path = os.path.join(folder, "sosreport-node1-2026-11-30-abcdefg.tar.xz")
    with tarfile.open(path, "w:xz") as tar:
        for name, text in SOS.items():
            info = tarfile.TarInfo("sosreport-node1-2026-11-30-abcdefg/" + name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    expect(facts(path), {
        "sysctl.kernel.numa_balancing": "1", "sysctl.vm.swappiness": "60", "cpu.virtualization": "AMD-V", "numa.node.0.cpus": "0-15",
        "kvmstat.kvm_exit": "50000", "kvmstat.kvm_exit.per_s": "500", "kvmstat.exits": "424242", "domain.vm7.vcpus": "8",
        "domain.vm7.cputune.vcpupin.0": "2", "domain.vm7.cputune.quota_us": "40000", "qemu.vm7.vcpus": "8",
        "qemu.vm7.version": "6.2.0", "qemu.vm8.pid": "8812", "qemu.vm8.vcpus": "2", "cpu.count": "4", "cpu.flag.svm": "yes",
        "psi.cpu.some.total_us": "123456", "kernel.kallsyms": "hidden", "cmdline.isolcpus": "2-7", "param.kvm.nx_huge_pages": "Y",
        "kernel.config.HZ": "250", "kernel.release": "5.15.0-56-generic",
    }, "sosreport")
    p = subprocess.run([KVMORTEM, "query", path, "SELECT kind || ' ' || cpu || ' ' || task FROM log_line"], capture_output=True, text=True,
                       check=False)
    check("soft_lockup 3 CPU 0/KVM" in p.stdout, "sosreport: the journal's soft lockup")


def pvereport(folder):
    path = os.path.join(folder, "node2-pve-report-Mon-30-November-2026-10-33.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(PVE)
    expect(facts(path), {
        "qemu.version": "8.1.2-6", "top.load1": "3.12", "top.cpu.id": "92.4", "cpu.virtualization": "AMD-V",
        "cpu.vulnerability.itlb_multihit": "Not affected", "cpu.count": "4", "pve.101.cores": "2", "pve.101.total_vcpus": "4",
        "pve.101.cpulimit": "1.5", "pve.101.iothread_disks": "1", "kernel.release": "6.5.11-7-pve", "host.name": "node2",
        "qemu.win11.vcpus": "4", "qemu.win11.memory_mb": "8192",
    }, "pvereport")


with tempfile.TemporaryDirectory() as tmp:
    sosreport(tmp)
    pvereport(tmp)
print("1..%d" % len(results))
sys.exit(0 if all(results) else 1)
