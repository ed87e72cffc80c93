
# ---- from here on every script of `kvmortem signatures record` is the same ----

usage()
{
	cat <<EOF
usage: sh $0 [--facts-only] [--seconds N] [--max-mb N] [--pid PID] [DIRECTORY]
Records for $SECS s what the signatures named above need, and packs it below DIRECTORY (\$TMPDIR, /var/tmp) as one tar.gz.
Start it while the trouble lasts, or just before. --facts-only: only files of /proc and /sys and the kernel's log.
EOF
}

say() { printf '%s\n' "record: $*" | tee -a "$out/record.log" >&2; }
die() { printf '%s\n' "record: $*" >&2; exit 1; }
number() { case $2 in '' | *[!0-9]* | ???????*) die "$1 needs a number: '$2'" ;; esac; }
have() { command -v "$1" >/dev/null 2>&1; }
# bounded SECONDS COMMAND... - never hang on a file or tool
bounded() { if have timeout; then timeout -s INT -k 10 "$@"; else shift; "$@"; fi; }

facts_only=${OFFLINE:-0} base=${TMPDIR:-/var/tmp} fake=${KVMORTEM_ROOT:-}
while [ $# -gt 0 ]; do
	case $1 in
	--facts-only) facts_only=1 ;;
	--seconds | --max-mb | --pid)
		[ $# -ge 2 ] || die "$1 needs a number"
		number "$1" "$2"
		case $1 in --seconds) SECS=$2 ;; --max-mb) MAX_MB=$2 ;; *) PID=$2 ;; esac
		shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) base=$1 ;;
	esac
	shift
done
[ "$facts_only" = 1 ] || [ "$(id -u)" = 0 ] || die "run me as root (or with --facts-only)"
[ -d "$base" ] || die "$base is no directory"
umask 077
host=$(uname -n | tr -c 'A-Za-z0-9.\n-' '_')
name=kvmortem-record-$host-$(date +%Y%m%dT%H%M%S)-$$
out=$base/$name

# Free space: the recordings, once more packed, and 64 MB for the files.
if [ "$facts_only" = 1 ]; then want=64; else want=$((2 * MAX_MB + 64)); fi
free=$(df -Pk "$base" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
[ -z "$free" ] || [ "$free" -ge "$want" ] || die "$base has $free MB free, $want are needed (--max-mb, or another DIRECTORY)"
mkdir "$out" || die "$out can't be made (already there?)"
say "writing to $out, $want MB at most"
release=$(uname -r)
[ -z "$KERNEL" ] || [ "$KERNEL" = "$release" ] || say "made for kernel $KERNEL, this one is $release: names are looked up here"

# ---- files ----

# keep FILE [TO] - copy the first 4 MB of a readable file, under its own path
keep()
{
	[ -f "$fake/$1" ] && [ -r "$fake/$1" ] || return 1
	mkdir -p "$out/$(dirname "${2:-$1}")"
	bounded 10 head -c 4194304 "$fake/$1" >"$out/${2:-$1}" 2>/dev/null || say "reading /$1 failed"
}
want() { keep "$1" || say "/$1 is not there"; }

counters()
{
	for f in vmstat interrupts; do keep "proc/$f" "$1/$f"; done
	[ -z "$PID" ] || groups >"$out/cgroup-$1.txt"
}

# The VM's control groups and those above, as "== FILE" and its text; versions 1 and 2.
groups()
{
	cat "$fake/proc/$PID/cgroup" "$fake/proc/$PID/task"/*/cgroup 2>/dev/null | sort -u | head -n 2000 |
	while IFS=: read -r id kind path; do
		case $id:$kind in
		0:) top=$fake/sys/fs/cgroup ;;
		*:cpu | *:cpu,* | *:*,cpu | *:*,cpu,*) top=$fake/sys/fs/cgroup/cpu ;;
		*) continue ;;
		esac
		case $path in *..*) continue ;; esac
		while :; do
			printf '%s\n' "$top$path"
			case $path in /?*/* | ?*/?*) path=${path%/*} ;; *) break ;; esac
		done
	done | sort -u | head -n 500 | while IFS= read -r dir; do
		for f in cpu.max cpu.stat cpu.weight cpu.pressure cpu.cfs_quota_us cpu.cfs_period_us cpu.shares cgroup.threads tasks \
			memory.max memory.high memory.current memory.events memory.stat memory.pressure; do
			[ -r "$dir/$f" ] || continue
			printf '== %s\n' "${dir#"$fake"}/$f"
			head -c 65536 "$dir/$f"
		done
	done
}

facts()
{
	for f in proc/version proc/cmdline proc/cpuinfo proc/meminfo proc/mounts proc/uptime proc/pressure/cpu proc/pressure/memory proc/pressure/io \
		proc/sys/kernel/numa_balancing sys/kernel/debug/sched/preempt sys/devices/system/cpu/smt/control \
		sys/devices/system/clocksource/clocksource0/current_clocksource "boot/config-$release"; do
		keep "$f" || :
	done
	[ -f "$out/boot/config-$release" ] || keep proc/config.gz || :
	for dir in sys/kernel/mm/ksm sys/kernel/mm/transparent_hugepage sys/kernel/mm/transparent_hugepage/khugepaged \
		sys/devices/system/cpu/vulnerabilities sys/module/kvm/parameters sys/module/kvm_intel/parameters sys/module/kvm_amd/parameters; do
		for f in "$fake/$dir"/*; do
			[ ! -f "$f" ] || keep "$dir/${f##*/}" || :
		done
	done
	for f in $FILES; do
		[ -f "$out/$f" ] || want "$f"
	done
	[ -n "$fake" ] || {
		for tool in "uname -a" "lscpu" "numactl -H"; do
			# shellcheck disable=SC2086 # a command with its arguments
			! have "${tool%% *}" || bounded 10 $tool >"$out/$(printf '%s' "$tool" | tr ' ' _).txt" 2>&1 || :
		done
		bounded 30 dmesg 2>/dev/null | tail -c 8388608 >"$out/dmesg.txt"
	}
}

# ---- events ----

# event "NAME|SYSTEM:OTHER" - the first of these tracepoints that this kernel has, as SYSTEM:NAME
event()
{
	printf '%s\n' "$1" | tr '|' '\n' | while IFS= read -r one; do
		for dir in "$tracefs"/events/*/"${one##*:}"; do
			[ -f "$dir/format" ] || continue
			dir=${dir%/*}
			case $one in *:*) [ "${dir##*/}" = "${one%%:*}" ] || continue ;; esac
			printf '%s\n' "${dir##*/}:${one##*:}"
			break 2
		done
	done
}

# probe p|r FUNCTION[|ALTERNATIVE...] [ARGUMENTS] - the first of these functions that can be probed
probe()
{
	kind=$1 functions=$2 arguments=${3:-}
	for function in $(printf '%s' "$functions" | tr '|' ' '); do
		event=${kind}_$(printf '%s' "$function" | tr . _)
		case "$probes " in *" $event "*) return ;; esac
		case $kind in p) line="p:kvmortem/$event $function $arguments" ;; *) line="r64:kvmortem/$event $function" ;; esac
		if { printf '%s\n' "$line" >>"$tracefs/kprobe_events"; } 2>/dev/null; then
			probes="$probes $event"
			events="$events kvmortem:$event"
			return
		fi
	done
	say "no probe on $functions: this kernel has no such function, or it was inlined or is not to be probed"
}

instance=
clean_up()
{
	trap - EXIT HUP INT TERM
	[ -z "$instance" ] || { echo 0 >"$instance/tracing_on"; echo 0 >"$instance/events/enable"; rmdir "$instance"; } 2>/dev/null
	for event in $probes; do
		echo "-:kvmortem/$event" >>"$tracefs/kprobe_events" 2>/dev/null || say "probe kvmortem:$event could not be removed"
	done
}

# by_perf NAME ARGUMENT... - one perf record, bounded in time and size
by_perf()
{
	file=$out/$1
	shift
	if perf record -h 2>&1 | grep -q -e --max-size; then
		bounded $((SECS + 60)) perf record -q -a -o "$file" --max-size="${MAX_MB}M" "$@" -- sleep "$SECS"
	else
		(ulimit -f $((MAX_MB * 2048)) && bounded $((SECS + 60)) perf record -q -a -o "$file" "$@" -- sleep "$SECS")
	fi >>"$out/perf.log" 2>&1 || say "perf ended early: $(tail -n 1 "$out/perf.log")"
}

by_tracefs()
{
	instance=$tracefs/instances/kvmortem
	mkdir "$instance" 2>/dev/null || { instance=; say "no trace instance could be made"; return; }
	echo 8192 >"$instance/buffer_size_kb"
	for e in $events; do
		echo 1 >"$instance/events/${e%%:*}/${e##*:}/enable" 2>/dev/null || say "$e can't be enabled"
	done
	{ bounded "$SECS" cat "$instance/trace_pipe" | head -c "$((MAX_MB * 1048576))" >"$out/trace.txt"; } 2>/dev/null
}

record()
{
	tracefs=
	for dir in "$fake/sys/kernel/tracing" "$fake/sys/kernel/debug/tracing"; do
		[ -n "$tracefs" ] || [ ! -d "$dir/events" ] || tracefs=$dir
	done
	[ -n "$tracefs" ] || { say "no tracefs: mount -t tracefs tracefs /sys/kernel/tracing"; return; }
	trap clean_up EXIT
	trap 'clean_up; exit 1' HUP INT TERM
	for alternatives in $EVENTS; do
		found=$(event "$alternatives")
		[ -n "$found" ] || { say "this kernel has no event $alternatives"; continue; }
		case "$events " in *" $found "*) ;; *) events="$events $found" ;; esac
	done
	[ -z "$PROBES" ] || [ -f "$tracefs/kprobe_events" ] || { say "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)"; PROBES=""; }
	while read -r kind function arguments; do
		[ -z "$kind" ] || probe "$kind" "$function" "$arguments"
	done <<EOF
$PROBES
EOF
	[ -n "$events" ] || [ "$STACKS" = 1 ] || { say "no events to record"; return; }
	say "recording for $SECS s:$events"
	if have perf; then
		sampler=
		if [ "$STACKS" = 1 ]; then
			by_perf stacks.data -g -F 99 -m 256 -e cpu-clock &
			sampler=$!
		fi
		set --
		for e in $events; do set -- "$@" -e "$e"; done
		[ $# -eq 0 ] || by_perf perf.data -m 1024 "$@"
		[ -z "$sampler" ] || wait "$sampler"
	else
		say "no perf here: recording text through tracefs"
		by_tracefs
		[ "$STACKS" = 0 ] || say "stacks need perf"
	fi
	clean_up
}

events="" probes=""
if [ -n "$PID" ] && [ ! -d "$fake/proc/$PID" ]; then
	say "process $PID is gone"
	PID=
fi
if [ -z "$PID" ] && [ -z "$fake" ] && have pgrep; then
	PID=$(pgrep -o qemu || pgrep -o cloud-hypervis || :)
	[ -z "$PID" ] || say "taking the oldest VM, process $PID (--pid names another)"
fi
counters before
facts
if [ "$facts_only" = 1 ]; then say "only files were asked for"; else record; fi
counters after
tar -C "$base" -czf "$out.tar.gz" "$name" || die "packing failed; all is in $out"
say "done; $out can be removed"
printf '%s\n' "$out.tar.gz"
