package command

import (
	"embed"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/fpr"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/usage"
)

// completionScripts are scripts for shells. They ask the hidden command __complete of cobra.
// Unlike cobra's own scripts, they do not evaluate the words of the command line, they need no
// other scripts, and they let file names hold any character.
//
//go:embed completion/sst.*
var completionScripts embed.FS

// shells are those with a script. That of powershell is cobra's.
var shells = []string{"bash", "fish", "powershell", "zsh"}

const completionLong = `Print a script for your shell. With it, the TAB key completes commands, flags, the values
of flags, and names of files. Of the files it offers only those that the command takes, such
as .ldb and .sst files, and directories. sst build takes any file.

bash ≥ 4.2: add this line to ~/.bashrc. No other package is needed.

  source <(sst completion bash)

zsh: add this line to ~/.zshrc, behind the line with compinit.

  source <(sst completion zsh)

fish: run this once.

  sst completion fish > ~/.config/fish/completions/sst.fish

PowerShell: add this line to your profile, whose name is in $PROFILE. Files are not chosen by
what the command takes.

  sst completion powershell | Out-String | Invoke-Expression

A file with another extension can still be given: type its name.`

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Print a script that makes your shell complete commands, flags and files",
		Long:  completionLong,
		Example: `  source <(sst completion bash)
  sst completion fish | source`,
		Args:              arguments("SHELL", 1, 1, 0),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return usage.Errorf("there is no completion for %s, want one of %s", wire.Quote([]byte(args[0])), strings.Join(shells, ", "))
			}
			if args[0] == "powershell" {
				return cmd.Root().GenPowerShellCompletionWithDesc(cmd.OutOrStdout())
			}
			script, err := completionScripts.ReadFile("completion/sst." + args[0])
			if err == nil {
				_, err = cmd.OutOrStdout().Write(script)
			}
			return err
		},
	}
}

// The patterns of the names of files. ".filter" is what the help of build calls a filter
// without a table.
var (
	tableNames  = []string{"*.ldb", "*.sst", "*.filter"}
	sourceNames = slices.Concat(tableNames, []string{"*.log", "*.jsonl"}) // set.jsonl is the manifest of a set
)

// argumentNames are the patterns of the files that are arguments of a command. Of those that
// are not here, build takes any file, and the others take none.
var argumentNames = map[string][]string{
	"convert": tableNames, "report": tableNames, "salvage": tableNames,
	"diff": sourceNames, "get": sourceNames, "scan": sourceNames, "stats": sourceNames, "verify": sourceNames,
	"layout":   slices.Concat(tableNames, []string{"*.log", "MANIFEST-*"}),
	"manifest": slices.Concat(tableNames, []string{"*.json", "*.jsonl"}),
}

// mostFiles are how many files a command takes, if there is a limit.
var mostFiles = map[string]int{"convert": 1, "diff": 2, "get": 1, "layout": 1, "report": 1, "salvage": 1, "scan": 1}

// addCompletions lets shells complete the arguments and flags of all commands.
func addCompletions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.ValidArgsFunction == nil && cmd.Name() != "build" {
			cmd.ValidArgsFunction = completeFiles
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, done := cmd.GetFlagCompletionFunc(f.Name); !done && f.NoOptDefVal == "" {
				mustComplete(cmd, f.Name, flagCompletion(f))
			}
		})
	}
}

// completeFiles completes the names of files that the command takes. What remains are keys,
// or nothing.
func completeFiles(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names, most := argumentNames[cmd.Name()], mostFiles[cmd.Name()]
	if names == nil || most > 0 && len(args) >= most {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveFilterFileExt
}

// flagCompletion completes the value of a flag by what its usage calls the value. Numbers and
// keys are not completed.
func flagCompletion(f *pflag.Flag) cobra.CompletionFunc {
	switch what, _ := pflag.UnquoteUsage(f); {
	case f.Name == "policy":
		return completeList(fpr.Policies())
	case f.Name == "shapes":
		return completeList(fpr.Shapes())
	case f.Name == "filter-name":
		return cobra.FixedCompletions([]string{"leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2"}, cobra.ShellCompDirectiveNoFileComp)
	case what == "file" || what == "NAME":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case what == "PAGE":
		return cobra.FixedCompletions([]string{"*.html"}, cobra.ShellCompDirectiveFilterFileExt)
	case what == "directory":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	return cobra.NoFileCompletions
}

// completeList completes the last of several values with commas in between.
func completeList(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		for _, v := range values {
			if !slices.Contains(given, v) {
				all = append(all, before+v)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// complete lets shells complete the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	mustComplete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func mustComplete(cmd *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // there is no such flag
	}
}
