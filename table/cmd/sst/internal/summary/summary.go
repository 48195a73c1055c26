// Package summary describes a database by its MANIFEST and the sizes of its files.
package summary

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/internalkey"
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

	Notes  []string `json:"notes,omitempty"`  // messages about unknown facts
	Damage []string `json:"damage,omitempty"` // files that are missing, damaged or unreadable

	Order  table.Comparer   `json:"-"` // of user keys; table.AnyOrder if it is unknown
	Tables []versions.Table `json:"-"` // listed in the MANIFEST, in the order of levelsOf
	Found  map[uint64]File  `json:"-"` // the existing files of Tables, by number; Bytes is −1 if it cannot be opened
}

// A File is a file of the directory.
type File struct {
	Name  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Live  *bool  `json:"live,omitempty"` // for a log: it may contain writes that are in no table; nil: unknown

	Log *LogStats `json:"-"` // nil: not a log, or not read
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

// Read reads the directory and its MANIFEST and, if logs is true, the logs that are not obsolete. The error
// includes the damage.
func Read(path string, o dbdir.ListOptions, logs bool) (s *Summary, err error) {
	for range maxTries {
		if s, err = readOnce(path, o, logs); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return s, err
}

// maxTries is the number of times that Read reads a directory if files keep being removed, as in a database in use.
const maxTries = 10

func readOnce(path string, o dbdir.ListOptions, logs bool) (*Summary, error) {
	if files.IsURL(path) && !o.AllTables { // from URLs only sets are read
		if _, err := dbdir.ListDir(path, o); err != nil {
			return nil, err
		}
	}
	onlyListed, noLogs := !o.AllTables, o.NoLogs
	o.AllTables, o.NoLogs = true, false
	d, err := dbdir.ListDir(path, o)
	if err != nil {
		return nil, err
	}
	if err := o.Outputs.CheckAll(dbdir.PathsOf(slices.Concat(d.Logs, d.Tables))); err != nil {
		return nil, err
	}
	s := &Summary{Path: path, Levels: []Level{}, Logs: []File{}, Others: []File{}, Notes: d.Notes}
	s.Order, s.Found = o.Order.Or(d.Order).OrBytewise(), map[uint64]File{}
	damage := append(d.Damage, d.MissingError())
	if onlyListed {
		damage = append(damage, d.LostSet)
	}
	if v := d.Version; v != nil {
		s.Manifest, err = s.stat(v.Manifest, false)
		damage = append(damage, err)
		s.Comparer, s.LastSequence = v.Comparer, &v.LastSequence
		for _, t := range v.Tables {
			s.Tables = append(s.Tables, *t)
		}
		s.Levels = levelsOf(s.Tables, s.Order)
	}
	damage = append(damage, s.checkTables(d, o)...)
	for _, l := range d.Logs {
		damage = append(damage, s.addLog(l.Path, d.Version, logs))
	}
	if noLogs { // they are listed all the same
		damage = slices.DeleteFunc(damage, isOfLog)
	}
	err = errors.Join(damage...)
	s.Damage = text.Lines(err)
	return s, err
}

// isOfLog reports whether an error is damage of a log.
func isOfLog(err error) bool {
	e := (*dbfile.FileError)(nil)
	return errors.As(err, &e) && versions.IsLogName(filepath.Base(e.Path))
}

// stat returns the file of this name. If it is needed, it must be a regular file. Otherwise it may also be a link to a
// file that does not exist, which nothing reads.
func (s *Summary) stat(name string, needed bool) (*File, error) {
	path := files.Join(s.Path, name)
	info, err := files.Stat(path)
	if link, linkErr := os.Lstat(path); err != nil && !needed && linkErr == nil {
		info, err = link, nil
	}
	if err == nil && needed {
		err = regular.Check(path, info)
	}
	if err != nil {
		return nil, err
	}
	return &File{Name: name, Bytes: info.Size()}, nil
}

// checkTables compares the sizes of tables with the MANIFEST, and adds unlisted tables to Others.
func (s *Summary) checkTables(d dbdir.Dir, o dbdir.ListOptions) (damage []error) {
	for _, l := range slices.Backward(d.Tables) {
		if l.Missing {
			continue // included in d.MissingError
		}
		f, err := s.stat(filepath.Base(l.Path), l.Meta != nil || d.Version == nil)
		switch {
		case err != nil:
			damage = append(damage, dbfile.InPlaceOfTable(l.Path, l.FileOptions(o), err))
			if l.Meta != nil {
				s.Found[l.Meta.Number] = File{Name: filepath.Base(l.Path), Bytes: -1}
			}
		case l.Meta == nil:
			s.Others = append(s.Others, *f)
		default:
			if uint64(f.Bytes) > l.Meta.Size && dbfile.StartsWithTable(l.Path, int64(l.Meta.Size)) {
				f.Bytes = int64(l.Meta.Size) // engines ignore what follows in the file
			}
			s.Found[l.Meta.Number] = *f
			if err := dbfile.CheckSize(l.Meta, f.Bytes, d.Version.Manifest, ""); err != nil {
				damage = append(damage, &dbfile.FileError{Path: l.Path, Err: err})
			}
		}
	}
	slices.SortFunc(s.Others, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return damage
}

// addLog adds the next log, the oldest first. If read is true and its writes may be in no table, it reads the log.
// Without a MANIFEST, that holds for all logs.
func (s *Summary) addLog(path string, v *versions.Version, read bool) error {
	name, live, start := filepath.Base(path), false, uint64(0)
	if v != nil {
		names, _ := v.LiveLogs([]string{name})
		live = len(names) > 0
		read = read && live
	}
	f, err := s.stat(name, live || v == nil)
	if err != nil {
		if v != nil && !live {
			return err
		}
		f, read = &File{Name: name}, true // reading it reports the loss
	}
	if v != nil {
		if err != nil {
			start = v.LastSequence + 1
		}
		f.Live = &live
	}
	if read {
		l, stats := dbfile.Log{Path: path, Log: wal.Log{Start: start}}, &LogStats{File: f.Name}
		if err = stats.Count(&l, s.Order); err == nil {
			f.Log, err = stats, l.DamageError()
		}
	}
	s.Logs = append(s.Logs, *f)
	return err
}

// levelsOf returns the levels of tables, which must be sorted by level. If the order of user keys is known, it
// sorts the tables of each level by their smallest keys.
func levelsOf(tables []versions.Table, user table.Comparer) []Level {
	levels := []Level{}
	for from := 0; from < len(tables); {
		l := Level{Level: tables[from].Level}
		for ; from+l.Tables < len(tables) && tables[from+l.Tables].Level == l.Level; l.Tables++ {
			l.Bytes += tables[from+l.Tables].Size
		}
		if user != table.AnyOrder {
			l.setRange(tables[from:from+l.Tables], user)
		}
		levels, from = append(levels, l), from+l.Tables
	}
	return levels
}

// setRange sets the key range of the level, and the number of overlapping tables. It sorts
// tables.
func (l *Level) setRange(tables []versions.Table, user table.Comparer) {
	compare := table.InternalComparer(user).Compare
	slices.SortFunc(tables, func(a, b versions.Table) int { return compare(a.Smallest, b.Smallest) })
	farthest := 0 // the table with the largest Largest so far
	overlap := map[int]bool{}
	for i := 1; i < len(tables); i++ {
		if user.Compare(internalkey.UserKey(tables[i].Smallest), internalkey.UserKey(tables[farthest].Largest)) <= 0 {
			overlap[i], overlap[farthest] = true, true
		}
		if compare(tables[i].Largest, tables[farthest].Largest) > 0 {
			farthest = i
		}
	}
	n := len(overlap)
	l.Overlap = &n
	l.Smallest = &text.Key{Stored: tables[0].Smallest, Internal: true}
	l.Largest = &text.Key{Stored: tables[farthest].Largest, Internal: true}
}

// LogStats are the statistics of a log.
type LogStats struct {
	File       string               `json:"file"`
	Size       int64                `json:"bytes"`
	Writes     int                  `json:"writes"`
	Deletions  int                  `json:"deletions"`
	KeyBytes   int64                `json:"key_bytes"`
	ValueBytes int64                `json:"value_bytes"`
	KeySizes   tablestats.Histogram `json:"key_sizes"`
	ValueSizes tablestats.Histogram `json:"value_sizes"`
	First      uint64               `json:"first_sequence"` // 0 if there are no writes
	Last       uint64               `json:"last_sequence"`
	Damage     []string             `json:"damage,omitempty"`

	Smallest []byte `json:"-"` // smallest user key; nil: there are no keys, or their order is unknown
	Largest  []byte `json:"-"`
	Skipped  int    `json:"-"` // number of damaged parts
	// TruncatedTail is the size of an incomplete record at the end, in bytes.
	TruncatedTail int64 `json:"-"`
}

// Count reads the log l. order is the order of user keys.
func (s *LogStats) Count(l *dbfile.Log, order table.Comparer) error {
	for w, err := range l.Writes() {
		if err != nil {
			return err
		}
		s.Writes++
		if w.Kind == internalkey.Delete {
			s.Deletions++
		}
		s.KeySizes.Add(len(w.UserKey))
		s.ValueSizes.Add(len(w.Value))
		s.KeyBytes += int64(len(w.UserKey))
		s.ValueBytes += int64(len(w.Value))
		s.First, s.Last = min(cmp.Or(s.First, w.Sequence), w.Sequence), max(s.Last, w.Sequence)
		if order == table.AnyOrder {
			continue
		}
		if s.Smallest == nil || order.Compare(w.UserKey, s.Smallest) < 0 {
			s.Smallest = bytes.Clone(w.UserKey)
		}
		if s.Largest == nil || order.Compare(w.UserKey, s.Largest) > 0 {
			s.Largest = bytes.Clone(w.UserKey)
		}
	}
	for _, d := range l.Damage {
		s.Damage, s.Skipped = append(s.Damage, d.Error()), s.Skipped+max(1, d.Further)
	}
	if s.Size = l.Size; !l.ZeroTail {
		s.TruncatedTail = l.Tail
	}
	return nil
}
