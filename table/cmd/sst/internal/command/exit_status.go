package command

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// The exit statuses. If a signal ends sst, the exit status is 128 plus the number of the signal,
// as in shells.
const (
	exitOK       = 0
	exitNegative = 1
	exitUsage    = 2
	exitDamaged  = 3
	exitMemory   = 4
)

// An exitStatus is what the exit status of a command means, by number. "" at exitNegative and
// exitDamaged: the command never has it.
type exitStatus [5]string

// exitMeanings are those of sst. Its help and the README have them. Commands say more precisely what
// theirs mean.
var exitMeanings = exitStatus{
	exitOK:       "all is well",
	exitNegative: "a key is absent, or two tables differ",
	exitUsage:    "usage error, or I/O error",
	exitDamaged:  "a table, a log or a manifest is damaged or missing",
	exitMemory:   "not enough memory",
}

// errNegative ends a command whose answer is negative: a key is absent, or two tables
// differ. No message is printed for it.
var errNegative = errors.New("no")

// negative returns errNegative if an answer is negative.
func negative(is bool) error {
	if is {
		return errNegative
	}
	return nil
}

// exitStatusOf returns the exit status of a command that ended with err.
func exitStatusOf(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.Is(err, table.ErrCorrupt):
		return exitDamaged
	case errors.As(err, new(*memory.ShortError)), errors.As(err, new(*alloc.Error)):
		return exitMemory
	}
	return exitUsage
}

// exitAnnotation is the name of a command's annotation with what its exit statuses mean.
const exitAnnotation = "exit status"

// annotation returns the annotations of a command with these exit statuses. Those that are "" and
// that each command has are as for sst.
func (s exitStatus) annotation() map[string]string {
	s[exitOK] = cmp.Or(s[exitOK], exitMeanings[exitOK])
	s[exitUsage] = cmp.Or(s[exitUsage], exitMeanings[exitUsage])
	s[exitMemory] = cmp.Or(s[exitMemory], exitMeanings[exitMemory])
	return map[string]string{exitAnnotation: "Exit status:\n" + s.String()}
}

// String returns a line for each exit status that the command can have.
func (s exitStatus) String() string {
	var b strings.Builder
	for status, meaning := range s {
		if meaning != "" {
			text.Line(&b, "  %d  %s", status, meaning)
		}
	}
	return b.String()
}

// exitStatusHelp returns the part of a command's help about its exit status.
func exitStatusHelp(cmd *cobra.Command) string {
	if help, ok := cmd.Annotations[exitAnnotation]; ok {
		return help
	}
	return exitStatus{exitUsage: "usage error"}.annotation()[exitAnnotation] // it reads no files
}
