package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
)

// A usageError is a mistake in the arguments or flags of a command. It is printed together with how the
// command is used.
type usageError struct{ cause error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (e usageError) Error() string { return e.cause.Error() }
func (e usageError) Unwrap() error { return e.cause }

const usageTemplate = `Usage:
  {{.UseLine}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}
`

// setUp gives the root command and those below it the usage, help and messages of sst.
func setUp(root *cobra.Command) {
	root.DisableFlagsInUseLine, root.SilenceErrors, root.SilenceUsage = true, true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageErrorf("%w", err) })
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		about := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short))
		io.WriteString(cmd.OutOrStdout(), about+"\n\n"+cmd.UsageString()+"\n"+exitStatusHelp(cmd))
	})
}

// arguments checks the number of arguments. what describes them for the error.
func arguments(what string, least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		wanted := fmt.Sprintf("%d: %s", least, what)
		if most > least {
			wanted = "≥ " + wanted
		}
		if len(args) < least || len(args) > most {
			return usageErrorf("got %s, want %s", text.Count(len(args), "argument"), wanted)
		}
		return nil
	}
}

// unlimited is a number of arguments without limit.
const unlimited = 1 << 30

// checkRange returns an error if the value of a flag is out of range.
func checkRange(flag string, n, least, most int) error {
	if n < least || n > most {
		return usageErrorf("%s is %d, want %d to %d", flag, n, least, most)
	}
	return nil
}

// printError prints the error that ended a command, and how it is used.
func printError(w io.Writer, cmd *cobra.Command, err error) {
	misused := strings.HasPrefix(err.Error(), "unknown command ") || errors.As(err, new(usageError)) || errors.As(err, new(store.URLError))
	for _, line := range text.Lines(err) {
		text.Line(w, "sstcloud: %s", line)
	}
	if misused {
		text.Line(w, "usage: %s", cmd.UseLine())
		text.Line(w, "help:  %s --help", cmd.CommandPath())
	}
}

// A bytesFlag is the value of a flag, with escapes. nil means that the flag is not given.
type bytesFlag []byte

func (b *bytesFlag) String() string { return printable.Escape(*b) }
func (b *bytesFlag) Type() string   { return "key" }

func (b *bytesFlag) Set(s string) error {
	v, err := printable.Unescape(s)
	*b = append([]byte{}, v...)
	return err
}

// unknownFormat returns the error for a value of --format.
func unknownFormat(format, want string) error {
	return usageErrorf("--format is %s, want %s", wire.Quote([]byte(format)), want)
}
