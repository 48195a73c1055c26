package command

import (
	"embed"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// completionScripts are scripts for shells. They ask the hidden command __complete of cobra.
// Unlike cobra's own scripts, they do not evaluate the words of the command line, they need no
// other scripts, and they let file names hold any character.
//
//go:embed completion/sst.*
var completionScripts embed.FS

// shells are those with a script. That of powershell is cobra's.
var shells = []string{"bash", "fish", "powershell", "zsh"}

const completionLong = `Print a script with which the TAB key completes commands, flags, their values and files.

bash 4.2    add to ~/.bashrc:  source <(sst completion bash)
zsh         add to ~/.zshrc, behind compinit:  source <(sst completion zsh)
fish        run once:  sst completion fish > ~/.config/fish/completions/sst.fish
PowerShell  add to $PROFILE:  sst completion powershell | Out-String | Invoke-Expression`

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "completion bash|fish|powershell|zsh",
		Short:             "Print a script for your shell's TAB key",
		Long:              completionLong,
		Args:              cli.Arguments("SHELL", 1, 1, 0),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return cli.UsageErrorf("there is no completion for %s, want %s", wire.Quote([]byte(args[0])), text.OneOf(shells...))
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
