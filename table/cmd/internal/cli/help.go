package cli

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// helpTemplate is the help of a command: usage, description, flags and examples. A Topic is a hidden command.
const helpTemplate = `{{$more := flagsOfTopics .}}{{if not .Hidden}}Usage: {{.UseLine}}

{{end}}{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{$commands := .Commands}}{{range $group := .Groups}}
{{.Title}}
{{range $commands}}{{if eq .GroupID $group.ID}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if $more}}
More flags, by {{.Root.Name}} help TOPIC:
{{$more}}{{end}}{{if .HasExample}}
Examples:
{{.Example}}
{{end}}`

func init() { cobra.AddTemplateFunc("flagsOfTopics", flagsOfTopics) } // once: it is not safe for concurrent use

// setHelp sets the help of a root command and its subcommands, and adapts cobra's help command, so that it
// returns an error for an unknown command.
func setHelp(root *cobra.Command) {
	root.SetUsageTemplate(helpTemplate)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if f := cmd.Flags().Lookup("help"); cmd != root && f != nil {
			f.Hidden = true // readers of the help know it
		}
		help := cmd.UsageString()
		if !cmd.Hidden {
			help += "\n" + StatusHelp(cmd)
		}
		io.WriteString(cmd.OutOrStdout(), help)
	})
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return // there are no commands
	}
	help.Use, help.Short, help.Long, help.DisableFlagsInUseLine = "help [COMMAND]", "Print the help of a command", "", true
	if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Hidden }) {
		help.Use, help.Short = "help [COMMAND|TOPIC]", "Print the help of a command or a topic"
	}
	help.Example = "  " + root.Name() + " help build"
	help.Args = func(cmd *cobra.Command, args []string) error {
		_, rest, err := root.Find(args)
		if err == nil && len(rest) == 1 && len(args) == 1 {
			err = unknownCommand(root, rest[0])
		}
		return cmp.Or(Arguments("COMMAND", 0, 1, 0)(cmd, args), err)
	}
}

// topicAnnotation is the flag annotation that names the topic that explains the flag.
const topicAnnotation = "topic"

// ExplainIn moves the explanation of flags to a topic. The command's help only lists their names.
func ExplainIn(cmd *cobra.Command, topic string, flags ...string) {
	for _, name := range flags {
		must(cmd.Flags().SetAnnotation(name, topicAnnotation, []string{topic}))
	}
}

// flagsOfTopics hides the flags that topics explain, and returns a line with their names for each topic.
func flagsOfTopics(cmd *cobra.Command) string {
	names := map[string]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, topic := range f.Annotations[topicAnnotation] {
			f.Hidden = true
			names[topic] = strings.TrimSpace(names[topic] + " --" + f.Name)
		}
	})
	var b strings.Builder
	for _, topic := range slices.Sorted(maps.Keys(names)) {
		text.Line(&b, "  %-9s %s", topic, names[topic])
	}
	return b.String()
}

// printHelp runs a topic, or the root without a command. Arguments that reach the root are "" or "-", which cobra
// does not treat as command names.
func printHelp(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

// Topic returns a function that returns a hidden command whose help is long.
func Topic(name, short, long string) func() *cobra.Command {
	return func() *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long, Hidden: true, Args: Arguments("", 0, 0, 0), RunE: printHelp}
	}
}

// The exit statuses. If a signal ends sst, the exit status is 128 plus the number of the signal,
// as in shells.
const (
	ExitOK       = 0
	ExitNegative = 1
	ExitUsage    = 2
	ExitDamaged  = 3
	ExitMemory   = 4
)

// An ExitStatus describes the exit statuses of a command, by number. If ExitNegative or ExitDamaged is "", the
// command never ends with it.
type ExitStatus [5]string

// usual has the meanings that all commands share. ExitMemory is common too, but only the program's help lists it.
var usual = ExitStatus{ExitOK: "all is well", ExitUsage: "usage error, or I/O error"}

// ErrNegative ends a command whose result is negative: a key is absent, or two tables differ. No message is
// printed for it.
var ErrNegative = errors.New("no")

// Negative returns ErrNegative if a result is negative.
func Negative(is bool) error {
	if is {
		return ErrNegative
	}
	return nil
}

// StatusOf returns the exit status of a command that ended with err.
func StatusOf(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrNegative):
		return ExitNegative
	case errors.Is(err, table.ErrCorrupt):
		return ExitDamaged
	case errors.As(err, new(*memory.ShortError)), errors.As(err, new(*alloc.Error)):
		return ExitMemory
	}
	return ExitUsage
}

// exitAnnotation is the command annotation with the help on its exit statuses.
const exitAnnotation = "exit status"

// Annotation returns the annotations of a command with these exit statuses. If one is "", its usual meaning is
// used, if any.
func (s ExitStatus) Annotation() map[string]string {
	for status, meaning := range usual {
		s[status] = cmp.Or(s[status], meaning)
	}
	return map[string]string{exitAnnotation: "Exit status:\n" + s.String()}
}

// String returns a line for each exit status that the command can have.
func (s ExitStatus) String() string {
	var b strings.Builder
	for status, meaning := range s {
		if meaning != "" {
			text.Line(&b, "  %d  %s", status, meaning)
		}
	}
	return b.String()
}

// StatusHelp returns the part of a command's help about its exit status.
func StatusHelp(cmd *cobra.Command) string {
	if help, ok := cmd.Annotations[exitAnnotation]; ok {
		return help
	}
	return "Exit status:\n" + ExitStatus{ExitOK: usual[ExitOK], ExitUsage: "usage error"}.String() // it reads no files
}
