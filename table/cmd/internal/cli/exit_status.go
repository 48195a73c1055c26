package cli

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// The exit statuses. If a signal ends sst, the exit status is 128 plus the number of the signal,
// as in shells.
const (
	ExitOK       = 0
	ExitNegative = 1
	ExitUsage    = 2
	ExitDamaged  = 3
	ExitMemory   = 4
)

// An ExitStatus is what the exit status of a command means, by number. "" at ExitNegative and
// ExitDamaged: the command never has it.
type ExitStatus [5]string

// usual are the meanings that each command has.
var usual = ExitStatus{ExitOK: "all is well", ExitUsage: "usage error, or I/O error", ExitMemory: "not enough memory"}

// ErrNegative ends a command whose answer is negative: a key is absent, or two tables
// differ. No message is printed for it.
var ErrNegative = errors.New("no")

// Negative returns ErrNegative if an answer is negative.
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

// exitAnnotation is the name of a command's annotation with what its exit statuses mean.
const exitAnnotation = "exit status"

// Annotation returns the annotations of a command with these exit statuses. Those that are "" and
// that each command has are as for sst.
func (s ExitStatus) Annotation() map[string]string {
	s[ExitOK] = cmp.Or(s[ExitOK], usual[ExitOK])
	s[ExitUsage] = cmp.Or(s[ExitUsage], usual[ExitUsage])
	s[ExitMemory] = cmp.Or(s[ExitMemory], usual[ExitMemory])
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
	return ExitStatus{ExitUsage: "usage error"}.Annotation()[exitAnnotation] // it reads no files
}
