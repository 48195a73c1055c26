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

// addCompletions lets shells complete flags of all commands by their words, or by what their usage calls the values.
// Then it leaves the quotes out of the usage, for a shell that lists it beside the names. Arguments, keys and numbers
// are not completed.
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

// completions complete the values of flags by what their usage calls them.
var completions = map[string]cobra.CompletionFunc{
	"file": AnyFile, "NAME": AnyFile,
	"PAGE":      cobra.FixedCompletions([]string{"*.html"}, cobra.ShellCompDirectiveFilterFileExt),
	"directory": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
}

// AnyFile completes arguments of a command that takes any file.
var AnyFile = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)

// Files completes arguments of a command that takes at most that many files, or any number if it is
// 0. The patterns are those of their names. What remains are keys, or nothing.
func Files(most int, patterns ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return patterns, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Complete lets shells complete the values of a flag. Of a list with commas in between, they complete the last value.
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

// completionScripts are scripts for shells. They ask the hidden command __complete of cobra.
// Unlike cobra's own scripts, they do not evaluate the words of the command line, they need no
// other scripts, and they let file names hold any character.
//
//go:embed completion/script.*
var completionScripts embed.FS

// shells are those with a script. That of powershell is cobra's.
var shells = []string{"bash", "fish", "powershell", "zsh"}

const completionLong = `Print a script for completion by the TAB key.

bash 4.2    add to ~/.bashrc:  source <(sst completion bash)
zsh         add to ~/.zshrc, behind compinit:  source <(sst completion zsh)
fish        run once:  sst completion fish > ~/.config/fish/completions/sst.fish
PowerShell  add to $PROFILE:  sst completion powershell | Out-String | Invoke-Expression`

// CompletionCommand returns the command that prints scripts for shells.
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

// named returns a text about sst for the program.
func named(s string) string { return strings.ReplaceAll(s, "sst", text.Program) }
