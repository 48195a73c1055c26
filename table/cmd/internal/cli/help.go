package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// helpTemplate is the help of a command: how to use it, what it does, its flags, examples, and a footer.
const helpTemplate = `{{if .Runnable}}Usage: {{.UseLine}}

{{end}}{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{$commands := .Commands}}{{range $group := .Groups}}
{{.Title}}
{{range $commands}}{{if eq .GroupID $group.ID}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{if and .Runnable .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasExample}}
Examples:
{{.Example}}
{{end}}`

// setUp gives a root command our usage, help and messages, and the commands of the groups.
//
// If the first argument is the name of a command, setUp makes no other: all of them have more than
// 100 flags.
func setUp(root *cobra.Command, groups []Group, args []string) {
	root.DisableFlagsInUseLine, root.SilenceErrors, root.SilenceUsage = true, true, true
	root.DisableSuggestions, root.SuggestionsMinimumDistance = true, 2 // see didYouMean
	root.CompletionOptions.DisableDefaultCmd = true                    // there is ours
	root.RunE = helpOnly
	addGroups(root, groups, args)
	root.SetFlagErrorFunc(explainFlag)
	root.SetUsageTemplate(helpTemplate)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { // also that of the commands
		if f := cmd.Flags().Lookup("help"); cmd != root && f != nil {
			f.Hidden = true // who reads this knows
		}
		help := cmd.UsageString()
		if cmd.Runnable() {
			help += "\n" + StatusHelp(cmd)
		}
		io.WriteString(cmd.OutOrStdout(), help)
	})
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		adaptHelpCommand(help)
	}
}

// helpOnly runs the root without a command. Arguments that are left for it are names of commands
// that cobra does not look at: "" and "-".
func helpOnly(root *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(root, args[0])
	}
	return root.Help()
}

// A Group is some of the commands, under a title in the help. That of help is in the last one.
type Group struct {
	ID, Title string
	Commands  Commands
}

// Commands are functions that make commands, by their names.
type Commands map[string]func() *cobra.Command

// addGroups adds the commands, or only the one that is named.
func addGroups(root *cobra.Command, groups []Group, args []string) {
	only := ""
	for _, g := range groups {
		if len(args) > 0 && g.Commands[args[0]] != nil {
			only = args[0]
		}
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		for name, command := range g.Commands {
			if only != "" && name != only {
				continue
			}
			cmd := command()
			cmd.GroupID, cmd.DisableFlagsInUseLine, cmd.Flags().SortFlags = g.ID, true, false
			root.AddCommand(cmd)
		}
		root.SetHelpCommandGroupID(g.ID)
	}
}

// adaptHelpCommand makes cobra's help command one of ours.
func adaptHelpCommand(help *cobra.Command) {
	help.Run, help.RunE, help.Args = nil, showHelp, Arguments("COMMAND", 0, 1, 0)
	help.Use, help.DisableFlagsInUseLine = "help [COMMAND|TOPIC]", true
	help.Short, help.Long = "Print the help of a command or a topic", ""
	help.Example = "  " + help.Parent().Name() + " help build"
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
