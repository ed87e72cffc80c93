# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for kvmortem(1). Options and commands come from the program's own --help, so they are those that it has.

_kvmortem_words()
{
	# what the help lists in the first column of its tables
	case $1 in
	commands) kvmortem --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' ;;
	options) kvmortem ${2:+"$2"} --help 2>/dev/null | sed -n '/^Options/,$s/^ *\(-[a-zA-Z],\)\{0,1\} *\(--[a-z-]*\).*/\2/p' ;;
	signatures) kvmortem signatures list 2>/dev/null | sed -n 's/^ *\([a-z0-9]*-[a-z0-9-]*\).*/\1/p' ;;
	esac
}

_kvmortem()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' sub='' word i
	local commands
	commands=$(_kvmortem_words commands)
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word == -* ]] && continue
		if [[ -z $command ]]; then
			[[ " ${commands//$'\n'/ } " == *" $word "* ]] || break
			command=$word
		elif [[ -z $sub ]]; then
			sub=$word
		fi
	done
	COMPREPLY=()
	case $prev in
	-f | --format)
		local formats='text json html markdown jira bugzilla title perfetto folded sqlite'
		[[ $command == events ]] && formats='text ndjson'
		mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
		return ;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur")
		return ;;
	--event)
		mapfile -t COMPREPLY < <(compgen -W 'vmexit mmio ioport msr' -- "$cur")
		return ;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'all vm vcpu' -- "$cur")
		return ;;
	--signatures | --temp-dir | --plots | --symfs | --debug-dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--vm | --vcpu | --time | --stall-threshold | -j | --jobs | --max-temp | --stall | --at)
		return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_kvmortem_words options "$command")" -- "$cur")
		return
	fi
	if [[ $command == signatures && -z $sub ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'list show lint record draft cost' -- "$cur")
		return
	fi
	if [[ $command == signatures && ( $sub == show || $sub == record || $sub == cost ) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_kvmortem_words signatures)" -- "$cur"; compgen -f -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <([[ -z $command ]] && compgen -W "$commands" -- "$cur"; compgen -f -- "$cur")
}

complete -o filenames -F _kvmortem kvmortem
