package cli

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// addCompletions registers completions for the flags of all commands: the words of a Choice, or those for the
// kind of value that the usage names. It removes the quotes from the usage, because shells list it beside the
// names. Arguments, keys and numbers are not completed.
func addCompletions(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			what, usage := pflag.UnquoteUsage(f)
			with := completions[what]
			if v, ok := f.Value.(*value[string]); ok && v.words != nil {
				with = cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
			}
			if _, done := cmd.GetFlagCompletionFunc(f.Name); with != nil && !done {
				must(cmd.RegisterFlagCompletionFunc(f.Name, with))
			}
			f.Usage = usage
		})
	}
}

// completions has the completions of flag values, by the kind of value that the usage names.
var completions = map[string]cobra.CompletionFunc{
	"file": AnyFile, "NAME": AnyFile,
	"PAGE":      cobra.FixedCompletions([]string{"*.html"}, cobra.ShellCompDirectiveFilterFileExt),
	"directory": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
}

// AnyFile completes the names of any files.
var AnyFile = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)

// Files completes the names of files that match the patterns, for the first most arguments, or for all if most is
// 0. Later arguments are not completed.
func Files(most int, patterns ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return patterns, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Complete registers the values of a flag for completion. In a comma-separated list, the last value is completed.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	if cmd.Flag(flag).Value.Type() != "stringSlice" {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
		return
	}
	must(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		for _, v := range values {
			if !slices.Contains(given, v) {
				all = append(all, before+v)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
}

// must panics if there is no such flag.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// completionScripts are scripts for shells. They call cobra's hidden command __complete. Unlike cobra's own
// scripts, they do not evaluate the words of the command line, need no other scripts, and support any character
// in file names.
//
//go:embed completion/script.*
var completionScripts embed.FS

// shells are the shells with a script. For powershell, it is cobra's.
var shells = []string{"bash", "fish", "powershell", "zsh"}

const completionLong = `Print a script for completion by the TAB key.

bash 4.2    add to ~/.bashrc:  source <(sst completion bash)
zsh         add to ~/.zshrc, behind compinit:  source <(sst completion zsh)
fish        run once:  sst completion fish > ~/.config/fish/completions/sst.fish
PowerShell  add to $PROFILE:  sst completion powershell | Out-String | Invoke-Expression`

// CompletionCommand returns the command that prints completion scripts.
func CompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "completion bash|fish|powershell|zsh",
		Short:             "Print a script for your shell's TAB key",
		Long:              named(completionLong),
		Args:              Arguments("SHELL", 1, 1, 0),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return UsageErrorf("unknown shell %s: use %s", format.Quote([]byte(args[0])), text.OneOf(shells...))
			}
			if args[0] == "powershell" {
				return cmd.Root().GenPowerShellCompletionWithDesc(cmd.OutOrStdout())
			}
			script, err := completionScripts.ReadFile("completion/script." + args[0])
			if err == nil {
				_, err = io.WriteString(cmd.OutOrStdout(), named(string(script)))
			}
			return err
		},
	}
}

// named replaces sst in a text by the program's name.
func named(s string) string { return strings.ReplaceAll(s, "sst", text.Program) }
