// Package summary says what a database consists of, by its MANIFEST and the sizes of its files.
package summary

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A Summary is what is known of a database's directory without opening a table.
type Summary struct {
	Path         string  `json:"directory"`
	Manifest     *File   `json:"manifest,omitempty"` // nil: none can be read, and only files are known
	Comparer     string  `json:"comparator,omitempty"`
	LastSequence *uint64 `json:"last_sequence,omitempty"`
	Levels       []Level `json:"levels"`
	Logs         []File  `json:"logs"`
	Others       []File  `json:"other_tables"` // that the database does not list

	Notes  []string `json:"notes,omitempty"`  // what is not known
	Damage []string `json:"damage,omitempty"` // what the database lacks, and what cannot be read

	Order  table.Comparer   `json:"-"` // of users' keys; table.AnyOrder if it is not known
	Tables []database.Table `json:"-"` // that the MANIFEST lists, as levelsOf sorts them
	Found  map[uint64]File  `json:"-"` // those of them that are there, by number
}

// A File is one of the directory.
type File struct {
	Name  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Live  *bool  `json:"live,omitempty"` // of a log: it has writes that may be in no table. nil: not known

	Log *LogStats `json:"-"` // nil: it is no log, or was not read
}

// A Level is what the MANIFEST says of one.
type Level struct {
	Level    int       `json:"level"`
	Tables   int       `json:"tables"`
	Bytes    uint64    `json:"bytes"`
	Smallest *text.Key `json:"smallest,omitempty"` // nil: the order of keys is not known
	Largest  *text.Key `json:"largest,omitempty"`
	Overlap  *int      `json:"overlapping_tables,omitempty"` // how many share keys of users with another one's range
}

// Of reads the directory and its MANIFEST. What the database lacks is an error too.
func Of(path string, o source.Options) (*Summary, error) { return again(path, o, false) }

// WithLogs is Of, and reads the logs too, but for those that the database is done with.
func WithLogs(path string, o source.Options) (*Summary, error) { return again(path, o, true) }

func again(path string, o source.Options, logs bool) (s *Summary, err error) {
	for range tries {
		if s, err = of(path, o, logs); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return s, err
}

// tries is how often a directory is listed from which files go meanwhile: its database is in
// use.
const tries = 10

func of(path string, o source.Options, logs bool) (*Summary, error) {
	o.AllTables, o.NoLogs = true, false
	d, err := source.ListDir(path, o)
	if err != nil {
		return nil, err
	}
	s := &Summary{Path: path, Levels: []Level{}, Logs: []File{}, Others: []File{}, Notes: d.Notes}
	s.Order, s.Found = o.Order.Or(d.Order).OrBytewise(), map[uint64]File{}
	damage := d.Damage
	if v := d.Version; v != nil {
		damage = append(damage, s.add(&s.Manifest, v.Manifest))
		s.Comparer, s.LastSequence = v.Comparer, &v.LastSequence
		s.Tables = slices.Clone(v.Tables)
		s.Levels = levelsOf(s.Tables, s.Order)
	}
	damage = append(damage, s.tables(d)...)
	damage = append(damage, s.logs(d))
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

// add sets to to the file of the directory that has the name.
func (s *Summary) add(to **File, name string) error {
	info, err := os.Stat(filepath.Join(s.Path, name))
	if err != nil {
		return err
	}
	*to = &File{Name: name, Bytes: info.Size()}
	return nil
}

// tables compares the sizes of the listed tables, and adds those that are not.
func (s *Summary) tables(d source.Dir) (damage []error) {
	for _, l := range slices.Backward(d.Tables) {
		var f *File
		if err := s.add(&f, filepath.Base(l.Path)); err != nil {
			damage = append(damage, err)
			continue
		}
		if l.Meta == nil {
			s.Others = append(s.Others, *f)
			continue
		}
		s.Found[l.Meta.Number] = *f
		if uint64(f.Bytes) != l.Meta.Size {
			damage = append(damage, wrongSize{l.Path, f.Bytes, l.Meta.Size, d.Version.Manifest})
		}
	}
	slices.SortFunc(s.Others, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return damage
}

// wrongSize is the error for a table that is not as large as the MANIFEST says.
type wrongSize struct {
	path     string
	size     int64
	want     uint64
	manifest string
}

func (w wrongSize) Error() string {
	return fmt.Sprintf("%s: %d bytes, and %s says it has %d", w.path, w.size, w.manifest, w.want)
}

func (wrongSize) Is(target error) bool { return target == table.ErrCorrupt }

var logName = regexp.MustCompile(`^([0-9]+)\.log$`)

// logs adds the logs, the oldest first.
func (s *Summary) logs(d source.Dir) error {
	entries, err := os.ReadDir(s.Path)
	if err != nil {
		return err
	}
	numbers := map[string]uint64{}
	var failed []error
	for _, e := range entries {
		m := logName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, numberErr := strconv.ParseUint(m[1], 10, 64)
		var f *File
		if err := s.add(&f, e.Name()); err != nil {
			failed = append(failed, err)
			continue
		}
		if d.Version != nil {
			live := numberErr == nil && d.Version.Live(n)
			f.Live = &live
		}
		numbers[f.Name] = n
		s.Logs = append(s.Logs, *f)
	}
	slices.SortStableFunc(s.Logs, func(a, b File) int { return cmp.Compare(numbers[a.Name], numbers[b.Name]) })
	return errors.Join(failed...)
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
		if err := l.Damaged(); err != nil {
			damage = append(damage, err)
		}
	}
	return damage
}
