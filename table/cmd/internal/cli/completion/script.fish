# Completion of sst for fish ≥ 3.1:
#
#	sst completion fish > ~/.config/fish/completions/sst.fish
#
# Words of the command line are never evaluated: a (command) in one of them is not run.

# __sst_complete sets __sst_offers to the completions of the word at the cursor. Files with
# a tab in their names are left out: fish ends a word there, even for its own commands.
function __sst_complete
    set -g __sst_offers
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string collect)
    set -l word
    for end in '' \' '"' # a quote may be open
        test -n "$word"; or set word (string unescape -- "$typed$end" | string collect)
    end
    set -l flag (string match -r -- '^-[^=]*=' "$word")
    set -l out (command $words[1] __complete $words[2..-1] "$word" 2>/dev/null)
    set -l directive (string replace : '' -- "$out[-1]")
    string match -qr '^[0-9]+$' -- "$directive"; or return
    set -e out[-1]
    if test $directive -ge 16
        set out # directories only
    else if test $directive -lt 8
        for line in $out
            set -a __sst_offers "$flag$line"
        end
        test $directive -ge 4; and return
        set out '*'
    end
    if string match -q '*$*' -- "$typed" # fish knows the variable
        set __sst_offers (complete -C "'' $typed")
        return
    end
    set -l start (string replace -- "$flag" '' "$word" | string collect)
    set -l home
    if string match -q '~/*' -- "$typed"
        set home $HOME
        set start $home(string sub -s 2 -- $start | string collect)
    end
    for path in "$start"*
        string match -q -- \*\t\* $path; and continue
        set -l offer "$flag$path"
        test -n "$home"; and set offer '~'(string sub -s (math (string length -- $home) + 1) -- $path | string collect)
        if test -d $path
            set -a __sst_offers $offer/
            continue
        end
        for pattern in $out
            string match -q -- $pattern (string replace -r '(?s)^.*/' '' -- $path | string collect); and set -a __sst_offers $offer
        end
    end
end

complete -c sst -e
complete -c sst -n '__sst_complete; or true' -f -a '$__sst_offers'
