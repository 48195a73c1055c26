// Package command implements the commands of sst. Each is in the files that begin with its name. Shared code is in
// *_flags.go, pass.go, printer.go and this file.
//
// Other packages do the work: dbfile opens a file, dbdir lists the files of a database or a set, and source reads
// them as one. tablestats, layout, summary and report describe files, and salvage reads damaged ones. input reads and
// sorts lines, and output writes files.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

var program = cli.Program{
	Short: "Build, search, check and explain sorted-string tables (.ldb and .sst files)",
	Long:  "Read, check, repair, build and explain LevelDB's tables (.ldb, .sst), logs, databases and sets.",
	Groups: []cli.Group{
		{ID: "look", Title: "Look into tables, databases and sets:", Commands: cli.Commands{
			"get": mounting(getCommand), "scan": mounting(scanCommand), "stats": mounting(statsCommand),
			"verify": mounting(verifyCommand), "layout": mounting(layoutCommand), "diff": mounting(diffCommand),
			"report": mounting(reportCommand),
		}},
		{ID: "make", Title: "Make tables, sets and databases:", Commands: cli.Commands{
			"build": mounting(buildCommand), "convert": mounting(convertCommand), "manifest": mounting(manifestCommand),
			"merge": mounting(mergeCommand), "sweep": mounting(sweepCommand),
		}},
		{ID: "repair", Title: "Repair:", Commands: cli.Commands{"repair": mounting(repairCommand)}},
		{ID: "topics", Title: "Topics, by sst help TOPIC:", Commands: topics},
		{ID: "self", Title: "About sst:", Commands: cli.Commands{"completion": cli.CompletionCommand, "version": cli.VersionCommand}},
	},
	Aliases: map[string][]string{
		"compact":      {"merge", "--database"},
		"filter union": {"merge"},
		"salvage":      {"repair"},
	},
	Moved:  map[string]string{"fpr": "sieve rates", "plan": "sieve plan", "play": "sieve play", "seen": "sieve seen"},
	Exit:   exitMeanings,
	Check:  func(cmd *cobra.Command) error { return cmp.Or(checkOutputs(cmd), dbdir.CheckOutputs(cmd)) },
	Advise: advise,
}

// Program returns sst, for a program that adds commands to it.
func Program() cli.Program { return program }

// exitMeanings explains the exit statuses of sst, in its help and the README. The commands' own texts are more
// precise.
var exitMeanings = cli.ExitStatus{
	cli.ExitOK:       "all is well",
	cli.ExitNegative: "a key is absent, or two tables differ",
	cli.ExitUsage:    "usage error, or I/O error",
	cli.ExitDamaged:  "a table, a log or a manifest is damaged or missing",
	cli.ExitMemory:   "not enough memory",
}

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
	for _, dir := range damage.databases {
		adviseRestoring(w, "damaged or missing", dir, flags)
	}
	isSaid := func(path string) bool { return slices.Contains(damage.databases, files.Dir(path)) }
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
// has tables or logs.
func adviseRestoring(w io.Writer, what, dir string, flags []string) {
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
	disorder         bool     // the keys of a table are not in order
}

// damageOf returns the damage that err reports, without duplicate paths.
func damageOf(err error) (d damageReported) {
	d.collect(err)
	for _, paths := range []*[]string{&d.files, &d.missing, &d.databases} {
		slices.Sort(*paths)
		*paths = slices.Compact(*paths)
	}
	return d
}

func (d *damageReported) collect(err error) {
	switch e := err.(type) {
	case damageReported:
		d.files, d.databases = append(d.files, e.files...), e.databases
	case *dbfile.FileError:
		switch {
		case errors.As(e, new(dbdir.MissingTable)):
			d.missing = append(d.missing, e.Path)
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

// maxNamedLosses is the number of lost ranges that are named one by one.
const maxNamedLosses = 100

// namedLosses returns an error for each loss, and then their meaning. If there are no losses, it returns nil.
func namedLosses(s *source.Source, losses []source.Loss, meaning string) error {
	var all []error
	for i := range losses[:min(len(losses), maxNamedLosses)] {
		all = append(all, losses[i].InFile())
	}
	if others := len(losses) - maxNamedLosses; others > 0 {
		all = append(all, fmt.Errorf("%s: also lost %s, among the %s", s.Path, text.Count(uint64(others), "other range"), s.Hull(losses[maxNamedLosses:])))
	}
	if all == nil {
		return nil
	}
	if meaning != "" {
		all = append(all, errors.New(meaning))
	}
	return errors.Join(all...)
}
