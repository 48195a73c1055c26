package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// advise prints how to restore damaged files, or how to save what can still be read.
func advise(w io.Writer, command *cobra.Command, err error) {
	if command.Name() == "repair" {
		return
	}
	damage := damageOf(err)
	order := command.Flags().Lookup("comparator")
	var flags []string
	if order != nil && order.Changed && order.Value.String() != "auto" { // which is the default
		flags = []string{"--comparator", order.Value.String()}
	}
	if len(damage.files)+len(damage.databases) > 0 && flags != nil && errors.Is(err, table.ErrOrder) {
		adviseOrder(w, damage, flags)
		return
	}
	isSaid := func(path string) bool { return slices.Contains(damage.databases, files.Dir(path)) }
	for _, path := range damage.padding {
		if isSaid(path) || slices.Contains(damage.files, path) { // more is damaged
			continue
		}
		text.Say(w, "%s needs no repair: none of its entries are lost, and engines do not read its padding", format.Printable(path))
	}
	for _, dir := range damage.databases {
		adviseRestoring(w, "damaged or missing", dir, flags)
	}
	damage.files, damage.missing = slices.DeleteFunc(damage.files, isSaid), slices.DeleteFunc(damage.missing, isSaid)
	switch {
	case len(damage.missing) > 0:
		adviseRestoring(w, "missing", files.Dir(damage.missing[0]), flags)
	case len(damage.files) > 0:
		suggestRepair(w, damage.files, flags)
	}
}

// adviseOrder says what to do about keys that are not in the order of --comparator. A database is not sorted in another
// order, which its engine could not use.
func adviseOrder(w io.Writer, damage damageReported, flags []string) {
	sort := ""
	if len(damage.databases) == 0 && !dbfile.MayBeInManifest(damage.files[0]) {
		sort = ", or sort them: " + repairLine(damage.files[0], flags)
	}
	text.Say(w, "the keys are not in the order of --comparator: use --comparator auto to detect their order%s", sort)
}

// repairLine returns the command line that repairs a lone file.
func repairLine(path string, flags []string) string {
	words := append([]string{"sst repair"}, flags...)
	return strings.Join(append(words, format.ShellPath(path), "-o", format.ShellPath(dbfile.OutputName(path, ".repaired.ldb"))), " ")
}

// adviseRestoring names the ways to get a database's data back: from a copy of its files, or by a repair if it still
// has tables or logs. A repair would lose the entries of a table that git has not fetched.
func adviseRestoring(w io.Writer, what, dir string, flags []string) {
	if fetch := dbdir.FetchAdvice(dir); fetch != "" {
		text.Say(w, "%s", fetch)
		return
	}
	if from := dbdir.DirToRepair(dir); from != "" {
		text.Say(w, "restore the %s files, or %s", what, dbfile.RepairAdvice(from, flags...))
		return
	}
	text.Say(w, "restore the %s files, since sst repair would find nothing", what)
}

// suggestRepair prints how to save what can still be read from damaged tables.
func suggestRepair(w io.Writer, all, flags []string) {
	paths := slices.DeleteFunc(slices.Clone(all), dbfile.HasNoEntries)
	switch {
	case len(paths) == 0 && !dbfile.IsEmpty(all[0]):
		text.Say(w, "the table has no entries to save. Restore %s from a backup, or build it again", format.ShellPath(all[0]))
		return
	case len(paths) == 0:
		text.Say(w, "an empty table has no entries to save. Restore %s from a backup, or %s",
			format.ShellPath(all[0]), dbfile.RepairAdvice(files.Dir(all[0]), flags...))
		return
	}
	lone := adviseListed(w, paths, flags)
	if len(lone) == 0 {
		return
	}
	others := ""
	if n := len(lone) - 1; n > 0 {
		others = fmt.Sprintf(" (and the same for %s)", text.Count(uint64(n), "other table"))
	}
	text.Say(w, "to save what can still be read, run%s: %s", others, repairLine(lone[0], flags))
}

// adviseListed prints how to save the tables that a manifest in their directory lists. It returns the others, which
// can be repaired alone.
func adviseListed(w io.Writer, paths, flags []string) (lone []string) {
	var said []string
	owners := map[string]func(name string) dbdir.Owner{} // by directory
	for _, path := range paths {
		dir, name := filepath.Split(path)
		if owners[dir] == nil {
			owners[dir] = dbdir.OwnersIn(filepath.Clean(dir))
		}
		advice := ""
		switch {
		case dbfile.MayBeInManifest(path):
			advice = "to save what can still be read, " + dbfile.RepairAdvice(files.Dir(path), flags...)
		case owners[dir](name).Listed: // in a set's manifest, which would not list a repaired table
			advice = format.Printable(files.Dir(path)) + ": restore the table from a copy, or build the set again"
		default:
			lone = append(lone, path)
		}
		if advice != "" && !slices.Contains(said, advice) {
			text.Say(w, "%s", advice)
			said = append(said, advice)
		}
	}
	return lone
}

// damageReported ends a command that printed the damage on its output. files are the tables and logs, and databases
// the directories, that sst repair can repair.
type damageReported struct {
	files, databases []string
	damaged, of      int      // numbers of damaged or missing files, and of checked ones; 0: not counted
	missing          []string // tables that a database lacks; only damageOf sets it
	padding          []string // tables of which only the padding is damaged
	disorder         bool     // the keys of a table are not in order
}

// damageOf returns the damage that err reports, without duplicate paths.
func damageOf(err error) (d damageReported) {
	d.collect(err)
	for _, paths := range []*[]string{&d.files, &d.missing, &d.databases, &d.padding} {
		slices.Sort(*paths)
		*paths = slices.Compact(*paths)
	}
	return d
}

func (d *damageReported) collect(err error) {
	switch e := err.(type) {
	case damageReported:
		d.files, d.padding, d.databases = append(d.files, e.files...), append(d.padding, e.padding...), e.databases
	case *dbfile.FileError:
		switch {
		case errors.As(e, new(dbdir.MissingTable)):
			d.missing = append(d.missing, e.Path)
		case isOnlyPadding(e.Path, e.Err):
			d.padding = append(d.padding, e.Path)
		case errors.Is(e, table.ErrCorrupt) && dbfile.IsOfDatabase(e.Path):
			d.databases = append(d.databases, files.Dir(e.Path))
		case errors.Is(e, table.ErrCorrupt) && files.IsDir(e.Path) && !dbdir.IsSet(e.Path): // it lacks tables
			d.databases = append(d.databases, e.Path)
		case errors.As(e, new(*table.CorruptionError)): // salvage reads the rest
			d.files = append(d.files, e.Path)
		case errors.Is(e, table.ErrCorrupt) && dbfile.IsInManifest(e.Path): // the file is another table
			d.databases = append(d.databases, files.Dir(e.Path))
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			d.collect(inner)
		}
	case interface{ Unwrap() error }:
		d.collect(e.Unwrap())
	}
}

// add adds a damaged file, or its database.
func (d *damageReported) add(t target, err error) {
	d.damaged++
	d.disorder = d.disorder || errors.Is(err, table.ErrOrder)
	switch {
	case isOnlyPadding(t.Path, err):
		d.padding = append(d.padding, t.Path)
	case t.in.IsDatabase() || t.kind == isCurrent:
		if !slices.Contains(d.databases, t.in.Path) {
			d.databases = append(d.databases, t.in.Path)
		}
	case t.kind == isLog || errors.As(err, new(*table.CorruptionError)): // sst repair repairs no other damage
		d.files = append(d.files, t.Path)
	}
}

func (d damageReported) Error() string {
	switch {
	case d.of == 0:
		return "the input is damaged"
	case d.of == 1:
		return "the file is damaged or missing"
	case d.damaged == 1:
		return fmt.Sprintf("1 of %d files is damaged or missing", d.of)
	}
	return fmt.Sprintf("%d of %d files are damaged or missing", d.damaged, d.of)
}

func (d damageReported) Is(target error) bool {
	return target == table.ErrCorrupt || d.disorder && target == table.ErrOrder
}

// isOnlyPadding reports whether err is nothing but damaged padding in the footer of a table, which engines do not read.
// A set would reject the table.
func isOnlyPadding(path string, err error) bool {
	if named, ok := err.(*dbfile.FileError); ok {
		err = named.Err
	}
	harms := func(err error) bool { return !errors.Is(err, format.ErrPadding) }
	return err != nil && !slices.ContainsFunc(text.Leaves(err), harms) && (dbfile.MayBeInManifest(path) || !dbdir.OwnerOf(path).Listed)
}
