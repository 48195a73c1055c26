// Command sst builds, searches, checks and explains sorted-string tables of
// LevelDB's format: .ldb and .sst files. "sst help" lists its commands.
//
// The exit status is 0 if all is well, 1 if a key is absent or two tables differ, 2
// for wrong usage or what cannot be read or written, and 3 for damage in a file.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
)

const (
	exitNo      = 1
	exitUsage   = 2
	exitDamaged = 3

	exitInterrupted = 130 // as shells have it
)

// errNo ends a command whose answer is no: the key is absent, the tables differ.
// Nothing is printed for it.
var errNo = errors.New("no")

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := bufio.NewWriterSize(stdout, 64<<10)
	cmd := newCommand()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(context.Background())
	if flushErr := out.Flush(); err == nil || errors.Is(err, errNo) && flushErr != nil {
		err = flushErr
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "sst: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "sst:", err)
	if errors.Is(err, table.ErrCorrupt) {
		return exitDamaged
	}
	return exitUsage
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "sst",
		Version:       version(),
		Short:         "Build, search, check and explain sorted-string tables (.ldb and .sst files)",
		SilenceErrors: true,
		SilenceUsage:  true,
		Long: `Build, search, check and explain sorted-string tables of LevelDB's format: .ldb
and .sst files, by themselves or in the directory of a database.

Keys and values are printed, and keys are given, as text in which \n, \t, \\,
\xff and the like stand for what is not text, as in Go strings.

The exit status is 0 if all is well, 1 if a key is absent or two tables differ,
2 for wrong usage or what cannot be read or written, and 3 for damage in a file.`,
	}
	root.AddCommand(
		buildCommand(), convertCommand(), diffCommand(), fprCommand(), getCommand(), planCommand(),
		reportCommand(), salvageCommand(), scanCommand(), statsCommand(), verifyCommand(),
	)
	return root
}

// interruptible runs do with a context that ends at the first interrupt, so that no
// temporary files are left; the second one ends the process.
func interruptible(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return do(ctx)
}

// version is that of the module or, where it was built in a clone, the commit.
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
