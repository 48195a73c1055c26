package cli

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// completionScripts are scripts for shells. They ask the hidden command __complete of cobra.
// Unlike cobra's own scripts, they do not evaluate the words of the command line, they need no
// other scripts, and they let file names hold any character.
//
//go:embed completion/script.*
var completionScripts embed.FS

// shells are those with a script. That of powershell is cobra's.
var shells = []string{"bash", "fish", "powershell", "zsh"}

const completionLong = `Print a script with which the TAB key completes commands, flags, their values and files.

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
				return UsageErrorf("there is no completion for %s, want %s", wire.Quote([]byte(args[0])), text.OneOf(shells...))
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
