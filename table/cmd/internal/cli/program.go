package cli

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Program has commands in groups. Its name is text.Program.
type Program struct {
	Short, Long string
	Exit        ExitStatus
	Groups      []Group
	Aliases     map[string][]string                    // earlier names of commands, with what each stands for
	Moved       map[string]string                      // commands that another program has
	Check       func(cmd *cobra.Command) error         // checks the flags before a command runs
	Advise      func(io.Writer, *cobra.Command, error) // prints what to do about an error, after its message
}

// Run executes the command line and returns the exit status.
func (p Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = progress.Over(stderr)
	release, err := memory.Start()
	if err != nil {
		text.Say(stderr, "%v", err)
		return StatusOf(err)
	}
	defer release()
	out := BufferStdout(progress.Over(stdout), stdout)
	if len(args) > 0 && p.Moved[args[0]] != "" {
		text.Say(stderr, "%s is a command of another program now: use %s", args[0], p.Moved[args[0]])
		return ExitUsage
	}
	args = p.withoutAlias(args)
	command, err := Execute(p.Command(args), args, stdin, out, stderr)
	if i := (InterruptError{}); errors.As(err, &i) { // the rest of the output is not needed
		return i.Report(stderr)
	}
	if flushErr := out.Flush(); err == nil || errors.Is(err, ErrNegative) && flushErr != nil {
		err = flushErr
	}
	switch {
	case errors.Is(err, ErrNegative): // which is printed
	case errors.Is(err, syscall.EPIPE):
		return InterruptError{Signal: syscall.SIGPIPE}.Report(stderr)
	case err != nil:
		p.printError(stderr, command, err)
	}
	return StatusOf(err)
}

// printError prints the error that ended a command and what to do next: how the command is used, or what Advise says.
func (p Program) printError(w io.Writer, command *cobra.Command, err error) {
	message := err
	if short := memory.Short(err); short != nil { // what it came through says no more
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

// Command returns the program with all commands, or only with the one that the arguments are for.
func (p Program) Command(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: text.Program + " COMMAND", Version: version(), Annotations: p.Exit.Annotation(), Short: p.Short, Long: p.Long,
	}
	setUp(root, p.Groups, args)
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
