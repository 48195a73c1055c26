// Package command has the commands of sst. Each is in the files that begin with its name. What
// several share is in *_flags.go, appenders.go, errors.go, pass.go, printer.go and targets.go.
//
// The work is done by other packages: dbfile opens a file, dbdir lists those of a database or a set, and source reads
// them as one; tablestats, layout, summary and report describe them; input, sorting, output and partition make new
// ones; salvage reads damaged ones. seen tells new lines from others, play makes a page to play with a filter, and page
// has what web pages share.
package command

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = progress.Over(stderr)
	release, err := memory.Start()
	if err != nil {
		text.Line(stderr, "sst: %v", err)
		return exitStatusOf(err)
	}
	defer release()
	out := cli.BufferStdout(progress.Over(stdout), stdout)
	args = withoutAlias(args)
	command, err := cli.Execute(newCommand(args), args, stdin, out, stderr)
	if i := (cli.InterruptError{}); errors.As(err, &i) { // the rest of the output is not needed
		return i.Report(stderr)
	}
	if flushErr := out.Flush(); err == nil || errors.Is(err, errNegative) && flushErr != nil {
		err = flushErr
	}
	switch {
	case errors.Is(err, errNegative): // which is printed
	case errors.Is(err, syscall.EPIPE):
		return cli.InterruptError{Signal: syscall.SIGPIPE}.Report(stderr)
	case err != nil:
		printError(stderr, command, err)
	}
	return exitStatusOf(err)
}

// newCommand returns sst with all commands, or only with the one that the arguments are for.
func newCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:         "sst COMMAND",
		Version:     version(),
		Annotations: exitMeanings.annotation(),
		Short:       "Build, search, check and explain sorted-string tables (.ldb and .sst files)",
		Long:        "Read, check, repair, build and explain LevelDB's tables (.ldb, .sst), logs, databases and sets.",
	}
	cli.SetUp(root, groups, args, exitStatusHelp)
	checkFlags := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		return cmp.Or(checkFlags(cmd, args), checkOutputs(cmd))
	}
	return root
}

// groups are the commands, in groups of what they are for.
var groups = []cli.Group{
	{ID: "look", Title: "Look into tables, databases and sets:", Commands: cli.Commands{
		"get": getCommand, "scan": scanCommand, "stats": statsCommand, "verify": verifyCommand,
		"layout": layoutCommand, "diff": diffCommand, "report": reportCommand,
	}},
	{ID: "make", Title: "Make tables, sets and databases:", Commands: cli.Commands{
		"build": buildCommand, "convert": convertCommand, "manifest": manifestCommand, "merge": mergeCommand,
	}},
	{ID: "repair", Title: "Repair:", Commands: cli.Commands{"repair": repairCommand}},
	{ID: "lines", Title: "Filter lines:", Commands: cli.Commands{"seen": seenCommand}},
	{ID: "plan", Title: "Plan filters, and see how they work:", Commands: cli.Commands{"plan": planCommand, "fpr": fprCommand, "play": playCommand}},
	{ID: "topics", Title: "Topics, by sst help TOPIC:", Commands: topics},
	{ID: "self", Title: "About sst:", Commands: cli.Commands{"completion": completionCommand, "version": versionCommand}},
}

// aliases are the earlier names of commands, with what each stands for.
var aliases = map[string][]string{
	"compact":      {"merge", "--database"},
	"filter union": {"merge"},
	"salvage":      {"repair"},
}

// withoutAlias returns arguments with a command in place of an alias.
func withoutAlias(args []string) []string {
	first := 0
	if len(args) > 0 && args[0] == "help" {
		first = 1
	}
	for name, command := range aliases {
		rest, ok := cutPrefix(args[first:], strings.Fields(name))
		switch {
		case ok && first == 0:
			return slices.Concat(command, rest)
		case ok:
			return slices.Concat(args[:1], command[:1], rest)
		}
	}
	return args
}

// cutPrefix returns what follows the words that args begin with, and reports whether they do.
func cutPrefix(args, words []string) (rest []string, ok bool) {
	if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
		return nil, false
	}
	return args[len(words):], true
}
