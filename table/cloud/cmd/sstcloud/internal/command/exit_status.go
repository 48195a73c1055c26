package command

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// The exit statuses, as those of sst. If a signal ends sstcloud, the exit status is 128 plus the number
// of the signal, as in shells.
const (
	exitOK       = 0
	exitNegative = 1
	exitUsage    = 2
	exitDamaged  = 3
)

// An exitStatus is what the exit status of a command means, by number. "" at exitNegative and
// exitDamaged: the command never has it.
type exitStatus [4]string

// exitMeanings are those of sstcloud. Commands say more precisely what theirs mean.
var exitMeanings = exitStatus{
	exitOK:       "all is well",
	exitNegative: "a key is absent",
	exitUsage:    "wrong usage, or what cannot be read or written, such as a store that does not answer",
	exitDamaged:  "a manifest is damaged, or a table is damaged, missing, or another one than the manifest lists",
}

// errNegative ends a command whose answer is negative. No message is printed for it.
var errNegative = errors.New("no")

// exitStatusOf returns the exit status of a command that ended with err.
func exitStatusOf(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNegative):
		return exitNegative
	case isDamage(err):
		return exitDamaged
	}
	return exitUsage
}

// isDamage reports whether err says that a set is damaged, or that a part of it is missing.
func isDamage(err error) bool {
	return errors.Is(err, table.ErrCorrupt) || errors.Is(err, set.ErrMismatch)
}

// remedy returns what mends the damage in a store that err reports, or nil if it reports none.
func remedy(err error) error {
	switch {
	case errors.As(err, new(*store.ManifestError)):
		return errors.New("to mend the set: delete the object of that manifest, and put the set again")
	case isDamage(err):
		return errors.New("to mend the set: delete the objects of its damaged tables, and put the set again: a table that is there with its size is not sent again")
	}
	return nil
}

// damageReported ends a command that printed the damage on its output.
type damageReported struct{}

func (damageReported) Error() string        { return "damage was found" }
func (damageReported) Is(target error) bool { return target == table.ErrCorrupt }

// A missingError says that the object of a table that the manifest lists is missing. It is
// [table.ErrCorrupt].
type missingError struct{ error }

func (e missingError) Unwrap() error      { return e.error }
func (missingError) Is(target error) bool { return target == table.ErrCorrupt }

// ofTable returns the error of a read of a table, as a missingError if the store has no such object.
func ofTable(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return missingError{err}
	}
	return err
}

// exitAnnotation is the name of a command's annotation with what its exit statuses mean.
const exitAnnotation = "exit status"

// annotation returns the annotations of a command with these exit statuses. Those that are "" and
// that each command has are as for sstcloud.
func (s exitStatus) annotation() map[string]string {
	s[exitOK] = cmp.Or(s[exitOK], exitMeanings[exitOK])
	s[exitUsage] = cmp.Or(s[exitUsage], exitMeanings[exitUsage])
	var b strings.Builder
	b.WriteString("Exit status:\n")
	for status, meaning := range s {
		if meaning != "" {
			text.Line(&b, "  %d  %s", status, meaning)
		}
	}
	return map[string]string{exitAnnotation: b.String()}
}

// exitStatusHelp returns the part of a command's help about its exit status.
func exitStatusHelp(cmd *cobra.Command) string {
	if help, ok := cmd.Annotations[exitAnnotation]; ok {
		return help
	}
	return exitStatus{exitUsage: "wrong usage"}.annotation()[exitAnnotation] // it reads nothing
}
