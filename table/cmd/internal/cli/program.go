// Package cli has the parts of sst that any command-line program needs: usage errors, help, shell completion,
// signals and standard output.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Program has commands in groups. Its name is text.Program.
type Program struct {
	Short, Long string
	Exit        ExitStatus
	Groups      []Group
	Aliases     map[string][]string                    // from earlier names of commands to the words that replace them
	Moved       map[string]string                      // from commands that moved to another program to the command to run
	Check       func(cmd *cobra.Command) error         // checks the flags before a command runs
	Advise      func(io.Writer, *cobra.Command, error) // prints what to do about an error, after its message
}

// A Group is a group of commands under a title in the help. The help command is in the last one.
type Group struct {
	ID, Title string
	Commands  Commands
}

// Commands has functions that return commands, by name.
type Commands map[string]func() *cobra.Command

// Run executes the command line and returns the exit status.
func (p Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = progress.Over(stderr)
	release, err := memory.Start()
	if err != nil {
		text.Say(stderr, "%v", err)
		return StatusOf(err)
	}
	defer release()
	if len(args) > 0 && p.Moved[args[0]] != "" {
		text.Say(stderr, "%s has moved: run %s", args[0], p.Moved[args[0]])
		return ExitUsage
	}
	out := Stdout{bufio.NewWriterSize(progress.Over(stdout), 64<<10), stdout}
	command, err := p.execute(p.withoutAlias(args), stdin, out, stderr)
	if i := (InterruptError{}); errors.As(err, &i) { // the rest of the output is not needed
		return i.Report(stderr)
	}
	switch err = flushed(out, err); {
	case errors.Is(err, ErrNegative): // the result is printed already
	case isClosedPipe(err):
		return InterruptError{Signal: syscall.SIGPIPE}.Report(stderr)
	case err != nil:
		p.printError(stderr, command, err)
	}
	return StatusOf(err)
}

// flushed flushes the output of a command that ended with err. If that fails, the error is reported too. After damage,
// the messages name what the output lacks, and without this error that would not be all.
func flushed(out Stdout, err error) error {
	failed := out.Flush()
	switch {
	case failed == nil || errors.Is(err, failed): // the command may have returned it
		return err
	case err == nil || errors.Is(err, ErrNegative):
		return failed
	case isClosedPipe(failed): // nobody misses the output
		return err
	}
	return errors.Join(err, failed)
}

// isClosedPipe reports whether the reader of the output has closed it, which needs no message. For a network
// connection closed by the other end, err contains an os.SyscallError.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) && !errors.As(err, new(*os.SyscallError))
}

// execute executes a command, and returns it with its error.
func (p Program) execute(args []string, stdin io.Reader, stdout, stderr io.Writer) (*cobra.Command, error) {
	root := p.Command(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletions(root)
		args = slices.Clone(args)
		for i, arg := range args {
			args[i] = printable.String(arg) // cobra prints them
		}
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(context.Background())
	if err != nil {
		err = explain(command, args, err)
	}
	return command, err
}

// printError prints the error of a command, and then its usage or the advice from Advise.
func (p Program) printError(w io.Writer, command *cobra.Command, err error) {
	message := err
	if short := memory.Short(err); short != nil { // the errors around it add nothing
		message = short
	}
	for _, line := range text.Lines(message) {
		text.Say(w, "%s", line)
	}
	switch {
	case errors.As(err, new(UsageError)):
		text.Line(w, "usage: %s", command.UseLine())
		text.Line(w, "help:  %s --help", command.CommandPath())
	case p.Advise != nil:
		p.Advise(w, command, message)
	}
}

// Command returns the program with all commands. If the first argument is the name of a command, it creates only
// that one: together, the commands have more than 100 flags.
func (p Program) Command(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: text.Program + " COMMAND", Version: version(), Annotations: p.Exit.Annotation(), Short: p.Short, Long: p.Long,
		DisableFlagsInUseLine: true, SilenceErrors: true, SilenceUsage: true, RunE: printHelp,
		DisableSuggestions: true, SuggestionsMinimumDistance: 2, // see didYouMean
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // we have our own
	}
	one := len(args) > 0 && slices.ContainsFunc(p.Groups, func(g Group) bool { return g.Commands[args[0]] != nil })
	for _, g := range p.Groups {
		root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
		root.SetHelpCommandGroupID(g.ID)
		for name, command := range g.Commands {
			if !one || name == args[0] {
				cmd := command()
				cmd.GroupID, cmd.DisableFlagsInUseLine, cmd.Flags().SortFlags = g.ID, true, false
				root.AddCommand(cmd)
			}
		}
	}
	setHelp(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		return cmp.Or(checkFlags(cmd), p.Check(cmd))
	}
	return root
}

// withoutAlias returns arguments with a command in place of an alias.
func (p Program) withoutAlias(args []string) []string {
	first := 0
	if len(args) > 0 && args[0] == "help" {
		first = 1
	}
	for name, command := range p.Aliases {
		words := strings.Fields(name)
		if end := first + len(words); len(args) >= end && slices.Equal(args[first:end], words) {
			if first == 1 {
				command = command[:1]
			}
			return slices.Concat(args[:first], command, args[end:])
		}
	}
	return args
}

// A Stdout is the buffered standard output.
type Stdout struct {
	*bufio.Writer
	file io.Writer
}

// IsTerminal reports whether standard output is a terminal.
func (s Stdout) IsTerminal() bool { return progress.IsTerminal(s.file) }

// Sync syncs the flushed output to disk, if standard output is a regular file.
func (s Stdout) Sync() error {
	if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
		return s.file.(*os.File).Sync()
	}
	return nil
}

// Stat describes the file behind standard output.
func (s Stdout) Stat() (fs.FileInfo, error) {
	if f, ok := s.file.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// VersionCommand returns the command that prints the version.
func VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of " + text.Program + " and Go",
		Args:  Arguments("", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text.Line(cmd.OutOrStdout(), "%s version %s", text.Program, version())
			text.Line(cmd.OutOrStdout(), "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// version returns the version of the module or, in a clone, also the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}
