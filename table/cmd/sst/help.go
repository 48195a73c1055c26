package main

import (
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// usageTemplate is like cobra's, with lines of at most 100 columns.
const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$commands := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $commands}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if not .Groups}}

Commands:{{range $commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{(.LocalFlags.FlagUsagesWrapped 100) | trimTrailingWhitespaces}}{{end}}
`

// addGroups adds the commands, in groups of what they are for.
func addGroups(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"look", "Look into tables, databases and sets:", []*cobra.Command{
			getCommand(), scanCommand(), statsCommand(), verifyCommand(), layoutCommand(), diffCommand(), reportCommand(),
		}},
		{"make", "Make tables and sets:", []*cobra.Command{buildCommand(), convertCommand(), manifestCommand()}},
		{"repair", "Repair:", []*cobra.Command{salvageCommand()}},
		{"plan", "Plan filters, and see how they work:", []*cobra.Command{planCommand(), fprCommand(), playCommand()}},
		{"self", "About sst:", []*cobra.Command{completionCommand(), versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID, c.DisableFlagsInUseLine = g.id, true
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("self")
}

const helpLong = `Print the help of a command, as sst COMMAND --help does. Without COMMAND, print the help of
sst, which lists the commands.`

// adaptHelpCommand makes cobra's help command one of ours.
func adaptHelpCommand(help *cobra.Command) {
	help.Run, help.RunE, help.Args = nil, showHelp, arguments("COMMAND", 0, 1, 0)
	help.Use, help.DisableFlagsInUseLine = "help [COMMAND]", true
	help.Short, help.Long = "Print the help of a command, or list the commands", helpLong
	help.Example = "  sst help get"
}

// showHelp is cobra's help command, but returns an error for an unknown command.
func showHelp(cmd *cobra.Command, args []string) error {
	root := cmd.Root()
	about, rest, err := root.Find(args)
	if err != nil {
		return explainUnknownCommand(root, err)
	}
	if len(rest) > 0 {
		return unknownCommand(about, rest[0])
	}
	about.InitDefaultHelpFlag()
	about.InitDefaultVersionFlag()
	return about.Help()
}

// printHelp prints the help of a command.
func printHelp(cmd *cobra.Command, _ []string) {
	about := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short))
	io.WriteString(cmd.OutOrStdout(), about+"\n\n"+cmd.UsageString()+"\n"+exitStatusHelp(cmd))
}
