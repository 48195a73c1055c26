package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A pass handles the parts of a command's arguments, one after another, and prints its findings.
type pass struct {
	out, stderr io.Writer
	flags       *sourceFlags
	options     source.Options
	asJSON      bool
	printed     bool    // a part was printed
	failed      []error // errors of the parts so far
}

// newPass returns a pass with the options of the flags.
func (f *sourceFlags) newPass(cmd *cobra.Command, asJSON bool) *pass {
	return &pass{out: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), flags: f, options: f.options(), asJSON: asJSON}
}

// stopped reports whether the pass must end: with --strict, after the first error.
func (p *pass) stopped() bool { return p.options.Strict && len(p.failed) > 0 }

// fail adds the error of a part, unless it is nil.
func (p *pass) fail(err error) {
	if err != nil {
		p.failed = append(p.failed, err)
	}
}

// each calls do for each part, and returns all errors of the pass.
func each[T any](p *pass, parts []T, do func(T) error) error {
	for i := 0; i < len(parts) && !p.stopped(); i++ {
		p.fail(do(parts[i]))
	}
	return errors.Join(p.failed...)
}

// eachFile is like each, for files. If a database removes one meanwhile, it prints a note instead of an error.
func (p *pass) eachFile(files []target, do func(target) error) error {
	return each(p, files, func(t target) error {
		err := t.unlessReplaced(do(t))
		if !t.wasRemoved(err, p.options) {
			return err
		}
		p.note(t.Path + " was removed before it was read: its database is in use")
		return nil
	})
}

func (p *pass) note(notes ...string) {
	for _, note := range notes {
		text.Note(p.stderr, "%s", note)
	}
}

// noteAbout prints a note about a file, unless the note is empty.
func (p *pass) noteAbout(path, note string) {
	if note != "" {
		p.note(path + ": " + note)
	}
}

// print prints a part as JSON or as rows of columns. An empty line separates the rows of two parts.
func (p *pass) print(v any, rows func(w io.Writer)) error {
	if p.asJSON {
		return printable.WriteJSON(p.out, v)
	}
	if p.printed {
		io.WriteString(p.out, "\n") // out remembers its error
	}
	p.printed = true
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	rows(w)
	return w.Flush()
}

// A target is a file that a command handles.
type target struct {
	dbdir.File
	kind  string
	state *dbdir.StateFile // for files other than tables and logs to read; else nil
	in    *folder
}

// The kinds of targets.
const (
	isTable    = "table"
	isLog      = "log"
	isRecords  = "records" // in the log format, but not a log: see dbfile.RecordFile
	isCurrent  = "current"
	isManifest = "manifest"

	isDirectory = "directory" // or the manifest of a set, for stats
)

// open opens a table in the key order of its folder.
func (t target) open(o source.Options) (*dbfile.File, error) {
	o.Order = t.in.order
	return t.Open(o.ListOptions)
}

// A folder has what the targets of an argument share.
type folder struct {
	dbdir.Dir              // Path is "" if the argument is a file
	order     dbfile.Order // as the user or the MANIFEST says
	lastLog   *dbfile.Log  // the last log that was read
	highest   uint64       // the highest sequence number of the tables that were checked
	newest    string       // the path of a table with that number

	logs map[string]*dbdir.StateFile // by path; nil: no log was verified yet
	now  map[string]bool             // the paths of the tables and logs in the last listing; nil: see wasRemoved
}

// targets returns the files that the arguments name, including missing tables. If a directory cannot be listed, or a
// database is damaged, that is an error of the pass. With states, files such as CURRENT are targets too, after the
// tables and logs that they describe, and their damage is not an error of the pass.
func (p *pass) targets(args []string, states bool) (all []target) {
	for _, arg := range args {
		if dbdir.IsDirectory(arg) {
			all = append(all, p.targetsIn(arg, states)...)
			continue
		}
		t := target{dbdir.File{Path: arg}, isTable, nil, &folder{order: p.options.Order, lastLog: new(dbfile.Log)}}
		if dbfile.IsLogFile(arg, p.options.Options) {
			t.kind = isLog
		} else if kind, _ := dbfile.FileKindOf(arg, p.options.Options); kind == dbfile.RecordFile { // opening it returns the error
			t.kind = isRecords
		}
		all = append(all, t)
	}
	return all
}

// targetsIn returns the tables and logs of a directory, each in the order in which they were written.
func (p *pass) targetsIn(path string, states bool) (all []target) {
	dir, err := dbdir.ListDir(path, p.options.ListOptions)
	if e := (*dbfile.FileError)(nil); states && errors.Is(err, table.ErrCorrupt) && errors.As(err, &e) { // the manifest of a set
		return []target{{dbdir.File{Path: e.Path}, isManifest, &dbdir.StateFile{Path: e.Path, Err: err}, new(folder)}}
	}
	p.fail(err)
	p.note(dir.Notes...)
	in := &folder{Dir: dir, order: p.options.Order.Or(dir.Order), lastLog: &dbfile.Log{Log: dir.FirstLog(p.options.ListOptions)}}
	all = slices.Grow(all, len(dir.Tables)+len(dir.Logs)+2)
	for _, t := range dir.Tables {
		all = append(all, target{t, isTable, nil, in})
	}
	if dir.Set == "" {
		slices.Reverse(all)
	}
	for _, l := range dir.Logs {
		all = append(all, target{l, isLog, nil, in})
	}
	if !states {
		p.failed = append(p.failed, dir.Damage...)
		return all
	}
	for _, f := range dir.StateFiles() {
		kind := isManifest
		if name := filepath.Base(f.Path); name == "CURRENT" {
			kind = isCurrent
		} else if versions.IsLogName(name) {
			kind = isLog
		}
		all = append(all, target{dbdir.File{Path: f.Path}, kind, &f, in})
	}
	return all
}

// nextLog returns the log, which is not read yet. The logs of a directory must be read in order.
func (t target) nextLog(o source.Options) *dbfile.Log {
	t.in.lastLog = t.in.lastLog.Next(t.Path)
	if n := len(t.in.Logs); n > 0 && t.in.Logs[n-1].Path == t.Path {
		t.in.lastLog.After, t.in.lastLog.UpTo = t.in.Logged(o.ListOptions)
	}
	return t.in.lastLog
}

func pathsOf(tables []target) []string {
	var paths []string
	for _, t := range tables {
		paths = append(paths, t.Path)
	}
	return paths
}

// sizeOf returns the total size of files. Of a directory, which stats describes by its manifest, no file is read.
func sizeOf(files ...target) int64 {
	read := slices.DeleteFunc(slices.Clone(files), func(t target) bool { return t.kind == isDirectory })
	return input.TotalSize(pathsOf(read))
}

// unlessReplaced returns err. If another directory has taken the name of the file's directory, it returns an error that
// says so instead: the file may not be the one that was listed.
func (t target) unlessReplaced(err error) error {
	if err == nil || !t.in.WasReplaced() {
		return err
	}
	return fmt.Errorf("%s: another directory replaced %s while it was read: run the command again", t.Path, t.in.Path)
}

// wasRemoved reports whether err says that the file was removed from its directory, because its database is in use.
// It lists the directory again only if the last listing has the file: that takes long if the MANIFEST is large, and
// many tables can be removed at once.
func (t target) wasRemoved(err error, o source.Options) bool {
	if t.in.Path == "" || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if t.in.now == nil || t.in.now[t.Path] {
		d, err := dbdir.ListDir(t.in.Path, o.ListOptions)
		if err != nil {
			return false
		}
		t.in.now = map[string]bool{}
		for _, l := range slices.Concat(d.Tables, d.Logs) {
			t.in.now[l.Path] = true
		}
	}
	return !t.in.now[t.Path]
}
