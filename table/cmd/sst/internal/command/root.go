// Package command has the commands of sst. Each is in the files that begin with its name. Flags
// and their values that several commands share are in *_flags.go.
//
// The work is done by other packages: source reads tables, logs, databases and sets, tablestats,
// layout, summary and report describe them, input, sorting, output and partition make new ones,
// and salvage reads damaged ones. play makes a page to play with a filter, and page has what web
// pages share.
package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// errNegative ends a command whose answer is negative: a key is absent, or two tables
// differ. No message is printed for it.
var errNegative = errors.New("no")

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = progress.Over(stderr)
	out := bufferedStdout{bufio.NewWriterSize(progress.Over(stdout), 64<<10), stdout}
	command, err := execute(args, stdin, out, stderr)
	if i := (interruptError{}); errors.As(err, &i) { // the rest of the output is not needed
		return i.report(stderr)
	}
	if flushErr := out.Flush(); err == nil || errors.Is(err, errNegative) && flushErr != nil {
		err = flushErr
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.Is(err, syscall.EPIPE):
		return interruptError{syscall.SIGPIPE}.report(stderr)
	}
	printError(stderr, command, err)
	if errors.Is(err, table.ErrCorrupt) {
		return exitDamaged
	}
	return exitUsage
}

// execute executes the command line. It returns the command, and the error that ended it.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) (*cobra.Command, error) {
	root := newCommand(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = printableArgs(args)
		addCompletions(root) // by what the descriptions of flags call their values
		describeBriefly(root)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(context.Background())
	if err != nil {
		err = asGiven(command, args, explainUnknownCommand(command, err))
	}
	return command, err
}

// bufferedStdout is the buffered standard output.
type bufferedStdout struct {
	*bufio.Writer
	to io.Writer
}

// Stat describes the file that standard output is.
func (b bufferedStdout) Stat() (fs.FileInfo, error) {
	if f, ok := b.to.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// newCommand returns sst with all commands, or only with the one that the arguments are for.
func newCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:                   "sst COMMAND",
		DisableFlagsInUseLine: true,
		Version:               version(),
		Short:                 "Build, search, check and explain sorted-string tables (.ldb and .sst files)",
		SilenceErrors:         true,
		SilenceUsage:          true,

		DisableSuggestions:         true, // see didYouMean
		SuggestionsMinimumDistance: 2,

		PersistentPreRunE: checkEmptyFlags,
		RunE:              helpOnly,
		Long: `Build, search, check and explain LevelDB's sorted-string tables: .ldb and .sst files,
either single files or those in the directory of a database.

Keys and values are text with the escapes of Go strings: \n, \t, \\, \xff and so on
stand for bytes that are not printable text. This holds for what sst prints and for
the keys that you give it. In messages, keys and values of flags are in quotes, with the
same escapes and \" for a quote. Names of files have no quotes: a backslash stays a backslash.`,
	}
	root.CompletionOptions.DisableDefaultCmd = true // there is ours
	addGroups(root, args)
	root.SetFlagErrorFunc(explainFlag)
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpFunc(printHelp)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		adaptHelpCommand(help)
	}
	return root
}

// helpOnly runs sst without a command. Arguments that are left for it are names of commands that
// cobra does not look at: "" and "-".
func helpOnly(root *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(root, args[0])
	}
	return root.Help()
}

// printableArgs returns the arguments that a shell asks cobra to complete. cobra prints them.
func printableArgs(args []string) []string {
	plain := make([]string, len(args))
	for i, arg := range args {
		plain[i] = text.Printable(arg)
	}
	return plain
}
