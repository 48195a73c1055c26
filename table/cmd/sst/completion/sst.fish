# Completion of sst for fish:
#
#	sst completion fish > ~/.config/fish/completions/sst.fish

complete -c sst -f
