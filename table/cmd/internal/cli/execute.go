// Package cli has what sst shares with any command line of commands and flags: usage and its
// messages, the help, completion by shells, signals, and standard output.
package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/progress"
)

// Execute executes the command line. It returns the command, and the error that ended it.
func Execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (*cobra.Command, error) {
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
		err = asGiven(command, args, explainExclusive(explainUnknownCommand(command, err)))
	}
	return command, err
}

// A Stdout is the buffered standard output.
type Stdout struct {
	*bufio.Writer
	file io.Writer
}

// BufferStdout returns a Stdout that writes to w, which stands for the file.
func BufferStdout(w, file io.Writer) Stdout { return Stdout{bufio.NewWriterSize(w, 64<<10), file} }

// IsTerminal reports whether standard output is a terminal.
func (s Stdout) IsTerminal() bool { return progress.IsTerminal(s.file) }

// Sync has what was flushed on disk, if standard output is a regular file.
func (s Stdout) Sync() error {
	if info, err := s.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return s.file.(*os.File).Sync()
}

// Stat describes the file that standard output is.
func (s Stdout) Stat() (fs.FileInfo, error) {
	if f, ok := s.file.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}
