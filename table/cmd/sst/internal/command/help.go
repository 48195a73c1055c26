package command

import (
	"cmp"
	"io"
	"slices"
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

// groups are the commands, in groups of what they are for.
var groups = []group{
	{"look", "Look into tables, databases and sets:", []namedCommand{
		{"get", getCommand}, {"scan", scanCommand}, {"stats", statsCommand}, {"verify", verifyCommand},
		{"layout", layoutCommand}, {"diff", diffCommand}, {"report", reportCommand},
	}},
	{"make", "Make tables and sets:", []namedCommand{
		{"build", buildCommand}, {"convert", convertCommand}, {"manifest", manifestCommand},
	}},
	{"repair", "Repair:", []namedCommand{{"salvage", salvageCommand}}},
	{"plan", "Plan filters, and see how they work:", []namedCommand{{"plan", planCommand}, {"fpr", fprCommand}, {"play", playCommand}}},
	{"self", "About sst:", []namedCommand{{"completion", completionCommand}, {"version", versionCommand}}},
}

type group struct {
	id, title string
	commands  []namedCommand
}

type namedCommand struct {
	name string
	make func() *cobra.Command
}

// addGroups adds the commands. If the first argument is the name of one, it makes no other: all of
// them have more than 100 flags.
func addGroups(root *cobra.Command, args []string) {
	only := func(c namedCommand) bool { return len(args) > 0 && c.name == args[0] }
	named := slices.ContainsFunc(groups, func(g group) bool { return slices.ContainsFunc(g.commands, only) })
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			if named && !only(c) {
				continue
			}
			cmd := c.make()
			cmd.GroupID, cmd.DisableFlagsInUseLine = g.id, true
			root.AddCommand(cmd)
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
