#compdef sst
# Completion of sst for zsh:
#
#	source <(sst completion zsh)
#
# Words of the command line are never evaluated: a $(command) in one of them is not run.

_sst() {
	local -a out values files
	local program=${(Q)words[1]} flag= directive= line name expl
	[[ $program == '~/'* ]] && program=$HOME${program#\~}
	out=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	directive=${out[-1]#:}
	[[ $directive == <-> ]] && ! ((directive & 1)) || return 1
	out=("${(@)out[1,-2]}")
	[[ $PREFIX == -*=* ]] && compset -P '*='
	if ((directive & 8)); then
		_wanted files expl file _path_files -g "(${(j:|:)out})(-.) *(-/)"
		return
	fi
	if ((directive & 16)); then
		_wanted directories expl directory _path_files -/
		return
	fi
	for line in $out; do
		name=${line%%$'\t'*}
		values+=("${name//:/\\:}${${line#$name}/#$'\t'/:}")
	done
	if ((directive & 2)); then
		_describe value values -S '' && return
	else
		_describe value values && return
	fi
	((directive & 4)) || _files
}

# The script may be sourced, or be a file _sst in a directory of $fpath.
if [[ $funcstack[1] == _sst ]]; then
	_sst "$@"
else
	compdef _sst sst
fi
