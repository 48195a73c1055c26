// Package command has the commands of sst. Each is in the files that begin with its name. What
// several share is in *_flags.go, appenders.go, errors.go, pass.go, printer.go and targets.go.
//
// The work is done by other packages: source reads tables, logs, databases and sets, tablestats,
// layout, summary and report describe them, input, sorting, output and partition make new ones,
// and salvage reads damaged ones. seen tells new lines from others. play makes a page to play with
// a filter, and page has what web pages share.
package command

import (
	"errors"
	"io"
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
		Long: `Build, search, check and explain LevelDB's sorted-string tables: .ldb and .sst files,
either single files or those in the directory of a database.

Keys and values are text with the escapes of Go strings: \n, \t, \\, \xff and so on
stand for bytes that are not printable text. This holds for what sst prints and for
the keys that you give it. In messages, keys and values of flags are in quotes, with the
same escapes and \" for a quote. Names of files have no quotes: a backslash stays a backslash.`,
	}
	cli.SetUp(root, groups, args, exitStatusHelp)
	return root
}

// groups are the commands, in groups of what they are for.
var groups = []cli.Group{
	{ID: "look", Title: "Look into tables, databases and sets:", Commands: cli.Commands{
		"get": getCommand, "scan": scanCommand, "stats": statsCommand, "verify": verifyCommand,
		"layout": layoutCommand, "diff": diffCommand, "report": reportCommand,
	}},
	{ID: "make", Title: "Make tables, sets and databases:", Commands: cli.Commands{
		"build": buildCommand, "convert": convertCommand, "filter": filterCommand, "manifest": manifestCommand, "merge": mergeCommand,
	}},
	{ID: "repair", Title: "Repair and compact:", Commands: cli.Commands{"compact": compactCommand, "repair": repairCommand, "salvage": salvageCommand}},
	{ID: "lines", Title: "Filter lines:", Commands: cli.Commands{"seen": seenCommand}},
	{ID: "plan", Title: "Plan filters, and see how they work:", Commands: cli.Commands{"plan": planCommand, "fpr": fprCommand, "play": playCommand}},
	{ID: "self", Title: "About sst:", Commands: cli.Commands{"completion": completionCommand, "version": versionCommand}},
}
