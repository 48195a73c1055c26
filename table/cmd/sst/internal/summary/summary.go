// Package summary describes a database by its MANIFEST and the sizes of its files.
package summary

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A Summary describes a database without opening a table.
type Summary struct {
	Path         string  `json:"directory"`
	Manifest     *File   `json:"manifest,omitempty"` // nil: no MANIFEST can be read, and only the files are known
	Comparer     string  `json:"comparator,omitempty"`
	LastSequence *uint64 `json:"last_sequence,omitempty"`
	Levels       []Level `json:"levels"`
	Logs         []File  `json:"logs"`
	Others       []File  `json:"other_tables"` // tables that the MANIFEST does not list

	Notes  []string `json:"notes,omitempty"`  // what could not be determined
	Damage []string `json:"damage,omitempty"` // what is missing, wrong or cannot be read

	Order  table.Comparer   `json:"-"` // of user keys; table.AnyOrder if it is unknown
	Tables []versions.Table `json:"-"` // that the MANIFEST lists, as levelsOf sorts them
	Found  map[uint64]File  `json:"-"` // those of them that exist, by number
}

// A File is a file of the directory.
type File struct {
	Name  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Live  *bool  `json:"live,omitempty"` // for a log: it may have writes that are not in a table; nil: unknown

	Log *LogStats `json:"-"` // nil: it is no log, or was not read
}

// A Level describes a level of the database.
type Level struct {
	Level    int       `json:"level"`
	Tables   int       `json:"tables"`
	Bytes    uint64    `json:"bytes"`
	Smallest *text.Key `json:"smallest,omitempty"` // nil: the order of keys is unknown
	Largest  *text.Key `json:"largest,omitempty"`
	Overlap  *int      `json:"overlapping_tables,omitempty"` // tables whose range of user keys overlaps another table's
}

// Read reads the directory and its MANIFEST and, if logs is true, the logs that are not
// obsolete. The error holds the damage too.
func Read(path string, o source.Options, logs bool) (s *Summary, err error) {
	for range maxTries {
		if s, err = readOnce(path, o, logs); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return s, err
}

// maxTries is how often Read reads a directory whose files are removed meanwhile, because
// its database is in use.
const maxTries = 10

func readOnce(path string, o source.Options, logs bool) (*Summary, error) {
	o.AllTables, o.NoLogs = true, false
	d, err := source.ListDir(path, o)
	if err != nil {
		return nil, err
	}
	s := &Summary{Path: path, Levels: []Level{}, Logs: []File{}, Others: []File{}, Notes: d.Notes}
	s.Order, s.Found = o.Order.Or(d.Order).OrBytewise(), map[uint64]File{}
	damage := append(d.Damage, d.MissingError())
	if v := d.Version; v != nil {
		damage = append(damage, s.statFile(&s.Manifest, v.Manifest))
		s.Comparer, s.LastSequence = v.Comparer, &v.LastSequence
		for _, t := range v.Tables {
			s.Tables = append(s.Tables, *t)
		}
		s.Levels = levelsOf(s.Tables, s.Order)
	}
	damage = append(damage, s.checkTables(d)...)
	damage = append(damage, s.listLogs(d))
	if err := o.Outputs.CheckAll(s.paths()); err != nil {
		return nil, err
	}
	if logs {
		damage = append(damage, s.readLogs()...)
	}
	for _, e := range damage {
		s.Damage = append(s.Damage, text.Lines(e)...)
	}
	return s, errors.Join(damage...)
}

// paths returns those of all tables and logs.
func (s *Summary) paths() (paths []string) {
	for _, f := range slices.Concat(s.Logs, s.Others, slices.Collect(maps.Values(s.Found))) {
		paths = append(paths, filepath.Join(s.Path, f.Name))
	}
	return paths
}

// statFile sets to to the file of this name.
func (s *Summary) statFile(to **File, name string) error {
	info, err := os.Stat(filepath.Join(s.Path, name))
	if err != nil {
		return err
	}
	*to = &File{Name: name, Bytes: info.Size()}
	return nil
}

// checkTables checks the sizes of the tables in the MANIFEST, and adds the other tables to
// Others.
func (s *Summary) checkTables(d source.Dir) (damage []error) {
	for _, l := range slices.Backward(d.Tables) {
		var f *File
		if err := s.statFile(&f, filepath.Base(l.Path)); err != nil {
			damage = append(damage, err)
			continue
		}
		if l.Meta == nil {
			s.Others = append(s.Others, *f)
			continue
		}
		s.Found[l.Meta.Number] = *f
		if err := l.CheckSize(f.Bytes, d.Version.Manifest, ""); err != nil {
			damage = append(damage, &source.FileError{Path: l.Path, Err: err})
		}
	}
	slices.SortFunc(s.Others, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return damage
}

// listLogs adds the logs, the oldest first.
func (s *Summary) listLogs(d source.Dir) error {
	entries, err := os.ReadDir(s.Path)
	if err != nil {
		return err
	}
	numbers, isLive := map[string]uint64{}, liveAmong(d.Version, entries)
	var failed []error
	for _, e := range entries {
		digits, isLog := versions.LogNumber(e.Name())
		if !isLog {
			continue
		}
		n, _ := strconv.ParseUint(digits, 10, 64) // one too large is not live
		var f *File
		if err := s.statFile(&f, e.Name()); err != nil {
			failed = append(failed, err)
			continue
		}
		if d.Version != nil {
			live := isLive[f.Name]
			f.Live = &live
		}
		numbers[f.Name] = n
		s.Logs = append(s.Logs, *f)
	}
	slices.SortStableFunc(s.Logs, func(a, b File) int { return cmp.Compare(numbers[a.Name], numbers[b.Name]) })
	return errors.Join(failed...)
}

// liveAmong returns the names of the live logs of a version, if there is one.
func liveAmong(v *versions.Version, entries []os.DirEntry) map[string]bool {
	isLive := map[string]bool{}
	if v == nil {
		return isLive
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	live, _ := v.LiveLogs(names)
	for _, name := range live {
		isLive[name] = true
	}
	return isLive
}

// readLogs reads the logs whose writes may be in no table.
func (s *Summary) readLogs() (damage []error) {
	for i := range s.Logs {
		f := &s.Logs[i]
		if f.Live != nil && !*f.Live {
			continue
		}
		l, stats := source.Log{Path: filepath.Join(s.Path, f.Name)}, &LogStats{File: f.Name}
		if err := stats.Count(&l, s.Order); err != nil {
			damage = append(damage, err)
			continue
		}
		f.Log = stats
		if err := l.DamageError(); err != nil {
			damage = append(damage, err)
		}
	}
	return damage
}
