// Command sst looks into sorted-string tables of LevelDB's format: .ldb and
// .sst files.
//
//	sst get FILE KEY    print the value of a key
//	sst scan FILE       print all entries
//
// Keys and values are printed, and keys are given, as text in which \n, \t, \\,
// \xff and the like stand for what is not text, as in Go strings. Scan prints
// key, tab and value on a line each.
//
// The exit status is 0 if the key was found, 1 if it is absent, 2 for wrong
// usage or a file that cannot be read, and 3 for damage that is in the way.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
)

const (
	exitAbsent  = 1
	exitUsage   = 2
	exitDamaged = 3
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	cmd := newCommand(out)
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errAbsent):
		return exitAbsent
	}
	fmt.Fprintln(stderr, "sst:", err)
	if errors.Is(err, table.ErrCorrupt) {
		return exitDamaged
	}
	return exitUsage
}

func newCommand(out io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "sst",
		Short:         "Look into sorted-string tables (.ldb and .sst files)",
		SilenceErrors: true,
		SilenceUsage:  true,
		Long: `Look into sorted-string tables of LevelDB's format: .ldb and .sst files.

Keys and values are printed, and keys are given, as text in which \n, \t, \\,
\xff and the like stand for what is not text, as in Go strings.

The exit status is 0 if the key was found, 1 if it is absent, 2 for wrong usage
or a file that cannot be read, and 3 for damage that is in the way.`,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(
		&cobra.Command{
			Use:   "get FILE KEY",
			Short: "Print the value of a key",
			Example: `  sst get users.ldb ada
  sst get users.ldb -- -key-that-starts-with-a-dash
  sst get 000005.ldb 'ada\x01\x2a\x00\x00\x00\x00\x00\x00'`,
			Args: cobra.ExactArgs(2),
			RunE: func(_ *cobra.Command, args []string) error { return get(out, args[0], args[1]) },
		},
		&cobra.Command{
			Use:     "scan FILE",
			Short:   "Print all entries: key, tab, value",
			Example: "  sst scan users.ldb | head",
			Args:    cobra.ExactArgs(1),
			RunE:    func(_ *cobra.Command, args []string) error { return scan(out, args[0]) },
		},
	)
	return root
}
