package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printError prints the error that ended a command and what to do next: how the command is
// used, or how to save what damaged tables have.
func printError(w io.Writer, command *cobra.Command, err error) {
	for _, line := range text.Lines(err) {
		text.Line(w, "sst: %s", line)
	}
	if errors.As(err, new(cli.UsageError)) {
		text.Line(w, "usage: %s", command.UseLine())
		text.Line(w, "help:  %s --help", command.CommandPath())
		return
	}
	if name := command.Name(); name == "salvage" || name == "repair" {
		return
	}
	all := damagedFiles(err)
	if f := command.Flags().Lookup("comparator"); len(all) > 0 && f != nil && f.Changed && errors.Is(err, table.ErrOrder) {
		text.Line(w, "sst: the keys are not in the order that --comparator gives: to detect the order, use --comparator auto")
		return
	}
	suggestRescue(w, all)
}

// suggestRescue prints how to save what damaged tables still have.
func suggestRescue(w io.Writer, all []string) {
	files := slices.DeleteFunc(slices.Clone(all), source.HasNoEntries)
	switch {
	case len(all) == 0:
		return
	case len(files) == 0 && !source.IsEmpty(all[0]):
		text.Line(w, "sst: the table has no entries to save: restore %s from a backup, or build it again", text.ShellPath(all[0]))
		return
	case len(files) == 0:
		text.Line(w, "sst: an empty table has no entries to save: restore %s from a backup, or run %s", text.ShellPath(all[0]), source.RepairCommand)
		return
	}
	if dir := filepath.Dir(files[0]); source.IsInManifest(files[0]) {
		text.Line(w, "sst: to make a database of all that can still be read: sst repair %s -o NEW", text.ShellPath(dir))
		return
	}
	rescued := source.OutputName(files[0], ".rescued.ldb")
	others := ""
	if n := len(files) - 1; n > 0 {
		others = fmt.Sprintf("; and do the same for %s", text.Count(uint64(n), "other table"))
	}
	text.Line(w, "sst: to save what can still be read: sst salvage %s -o %s%s", text.ShellPath(files[0]), text.ShellPath(rescued), others)
}

// damagedFiles returns the paths of the damaged tables, without duplicates.
func damagedFiles(err error) []string {
	var files []string
	switch e := err.(type) {
	case damageReported:
		files = e.files
	case *source.FileError:
		if errors.As(e, new(*table.CorruptionError)) { // of which salvage reads the rest
			files = []string{e.Path}
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			files = append(files, damagedFiles(inner)...)
		}
	case interface{ Unwrap() error }:
		files = damagedFiles(e.Unwrap())
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// damageReported ends a command that printed the damage on its output. files are the tables
// that sst salvage can read.
type damageReported struct{ files []string }

func (damageReported) Error() string        { return "damage was found" }
func (damageReported) Is(target error) bool { return target == table.ErrCorrupt }

// maxNamedLosses is how many ranges of lost keys are named each.
const maxNamedLosses = 100

// lostKeys returns errors for the keys within a range that a source has lost, and then what that
// means.
func lostKeys(s *source.Source, within source.KeyRange, meaning string) error {
	var all []error
	losses := s.Losses(within)
	for i := range losses[:min(len(losses), maxNamedLosses)] {
		all = append(all, losses[i].InFile())
	}
	if others := len(losses) - maxNamedLosses; others > 0 {
		all = append(all, fmt.Errorf("%s: lost %s too: they are among the %s", s.Path, text.Count(uint64(others), "other range"), s.Hull(losses[maxNamedLosses:])))
	}
	if all == nil {
		return nil
	}
	return errors.Join(append(all, errors.New(meaning))...)
}
