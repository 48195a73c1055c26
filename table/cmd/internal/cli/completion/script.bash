# Completion of sst for bash ≥ 4.2, without other scripts:
#
#	source <(sst completion bash)
#
# Words of the command line are split here and never evaluated: a $(command) in one of them is
# not run.

# __sst_split splits the command line up to the cursor into words without quotes. The last one
# is the word to complete; readline replaces it from its character `start` on. `redirect` is set
# if it is the file of a redirection.
__sst_split() {
	local line=${COMP_LINE:0:COMP_POINT} word='' quote='' char name i=0 before=0 begun=''
	while ((i < ${#line})); do
		char=${line:i++:1}
		case $quote$char in
		"''" | '""') # a quote ends
			quote='' start=$before
			;;
		"'" | '"') # a quote begins
			quote=$char begun=1 before=$start start=${#word}
			;;
		"'"*)
			word+=$char
			;;
		'"\')
			[[ ${line:i:1} == [\$\`\"\\] ]] && char=${line:i++:1}
			word+=$char
			;;
		'\')
			word+=${line:i++:1} begun=1
			;;
		'$' | '"$') # a variable has its value; nothing else is expanded
			begun=1
			if [[ ${line:i} =~ ^(([a-zA-Z_][a-zA-Z_0-9]*)|\{([a-zA-Z_][a-zA-Z_0-9]*)\}) ]]; then
				i=$((i + ${#BASH_REMATCH})) name=${BASH_REMATCH[2]}${BASH_REMATCH[3]}
				char=${!name-}
			fi
			word+=$char
			;;
		'"'*)
			word+=$char
			;;
		[[:space:]] | [\<\>\|\&])
			[[ $begun && ! $redirect && ! ($char == [\<\>] && $word == +([0-9])) ]] && words+=("$word")
			[[ $begun && $char == [[:space:]] ]] && redirect=''
			[[ $char == [\<\>] ]] && redirect=1
			word='' begun='' start=0 tilde=''
			;;
		'~')
			[[ ! $begun && ${line:i:1} == / ]] && tilde=$HOME char=$HOME
			word+=$char begun=1
			;;
		*)
			word+=$char begun=1
			if [[ $COMP_WORDBREAKS == *"$char"* ]]; then
				start=${#word}
				[[ $char == @ ]] && start=$((${#word} - 1)) # which readline replaces too
			fi
			;;
		esac
	done
	words+=("$word")
}

# __sst_files prints the directories, and the files that match a pattern, whose names start with
# $1. A zero byte follows each.
__sst_files() (
	value=$1
	shift
	set +f
	shopt -s nullglob
	shopt -u failglob dotglob nocaseglob nocasematch
	GLOBIGNORE=
	for file in "$value"*; do
		[[ -d $file ]] && printf '%s\0' "$file" && continue
		for pattern; do
			[[ ${file##*/} == $pattern ]] && printf '%s\0' "$file" && break
		done
	done
)

# __sst_describe adds descriptions to the listed words, as far as they fit on a line.
__sst_describe() {
	local i width=0
	for i in "${COMPREPLY[@]}"; do
		((${#i} > width)) && width=${#i}
	done
	for i in "${!COMPREPLY[@]}"; do
		[[ ${about[i]} ]] || continue
		printf -v "COMPREPLY[$i]" '%-*s  (%s)' "$width" "${COMPREPLY[i]}" "${about[i]}"
		((${#COMPREPLY[i]} <= ${COLUMNS:-80})) && continue
		COMPREPLY[i]=${COMPREPLY[i]:0:${COLUMNS:-80}-1}
		COMPREPLY[i]="${COMPREPLY[i]% *} …"
	done
}

__sst_complete() {
	local words=() start=0 redirect='' tilde='' out=() about=() current flag='' directive i
	COMPREPLY=()
	__sst_split
	if [[ $redirect ]]; then
		compopt -o default
		return
	fi
	current=${words[${#words[@]} - 1]}
	while IFS= read -r i; do
		out+=("$i")
	done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
	((${#out[@]})) || return
	directive=${out[${#out[@]} - 1]#:}
	unset "out[${#out[@]} - 1]"
	[[ $directive == +([0-9]) ]] && ! ((directive & 1)) || return
	((directive & 2)) && compopt -o nospace
	[[ $current == -*=* ]] && flag=${current%%=*}=
	((directive & 16)) && out=() # directories only
	if ((directive & 24)); then
		compopt -o filenames
		while IFS= read -r -d '' i; do
			i=$flag$i
			[[ $tilde ]] && i="~${i#"$tilde"}"
			COMPREPLY+=("${i:start}")
		done < <(__sst_files "${current#"$flag"}" "${out[@]}")
		return
	fi
	for i in "${out[@]}"; do
		[[ $flag${i%%$'\t'*} == "$current"* ]] || continue
		i=$flag$i
		i=${i:start}
		COMPREPLY+=("${i%%$'\t'*}")
		[[ $i == *$'\t'* ]] && i=${i#*$'\t'} || i=''
		about+=("$i")
	done
	((${#COMPREPLY[@]} || directive & 4)) || compopt -o default
	((${#COMPREPLY[@]} > 1)) && [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 ]] && __sst_describe
}

complete -o bashdefault -F __sst_complete sst
