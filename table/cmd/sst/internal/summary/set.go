package summary

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A SetSummary describes a set by its manifest, without opening a table.
type SetSummary struct {
	Manifest    string     `json:"set"`
	Tables      int        `json:"tables"`
	Bytes       int64      `json:"bytes"`
	TailBytes   int64      `json:"tail_bytes"`   // filters, indexes and footers
	Entries     uint64     `json:"entries"`      // without layers
	MostEntries uint64     `json:"most_entries"` // of the largest table, without layers
	InBase      int        `json:"-"`            // number of tables that are in no layer
	Filters     bool       `json:"-"`            // a table has the extension of filter-only tables
	Layers      int        `json:"layers,omitempty"`
	Added       uint64     `json:"added,omitempty"`    // entries of layers, which can take the place of older ones
	Removals    uint64     `json:"removals,omitempty"` // of keys
	Files       []SetTable `json:"-"`                  // the newest layer first, each in key order
	Smallest    *text.Key  `json:"smallest,omitempty"`
	Largest     *text.Key  `json:"largest,omitempty"`
	Notes       []string   `json:"notes,omitempty"`
	Damage      []string   `json:"damage,omitempty"`
}

// A SetTable is a table of a set.
type SetTable struct {
	dbdir.File
	Problem string // of the file; "" if there is none
}

// ReadSet reads the manifest of a set, and compares the sizes of its tables with it. The error
// holds what differs. If path is no set, it returns nil and no error.
func ReadSet(path string, o dbdir.ListOptions) (*SetSummary, error) {
	if o.AllTables || !dbdir.IsSet(path) {
		return nil, nil
	}
	d, err := dbdir.ListDir(path, o)
	if err != nil {
		return nil, err
	}
	s := &SetSummary{Manifest: d.Set, Layers: d.Layers, Notes: d.Notes}
	damage := append(d.Damage, d.MissingError())
	for _, t := range d.Tables {
		if err := o.Outputs.CheckAll([]string{t.Path}); err != nil {
			return nil, err
		}
		file := SetTable{File: t}
		info, err := files.Stat(t.Path)
		switch {
		case t.Missing:
			file.Problem = "does not exist"
		case err != nil: // such as a link to nowhere
			damage = append(damage, wal.Corruptionf("%s: %v", t.Path, err))
			file.Problem = "cannot be opened"
		case info.Size() != t.Line.Size:
			damage = append(damage, fmt.Errorf("%s: %w", t.Path, dbfile.Differs("size", info.Size(), t.Line.Size)))
			file.Problem = "the file has " + text.Bytes(uint64(info.Size()))
		}
		s.Files = append(s.Files, file)
		s.add(t)
	}
	err = errors.Join(damage...)
	s.Damage = text.Lines(err)
	return s, err
}

// add adds the next table.
func (s *SetSummary) add(t dbdir.File) {
	l := t.Line
	s.Tables++
	s.Filters = s.Filters || filepath.Ext(l.Name) == ".filter"
	s.Bytes, s.TailBytes = s.Bytes+l.Size, s.TailBytes+l.TailSize
	switch {
	case t.Removals:
		s.Removals += l.Entries
		return
	case t.Layer > 0:
		s.Added += l.Entries
	default:
		s.Entries += l.Entries
		s.InBase++
		s.MostEntries = max(s.MostEntries, l.Entries)
	}
	if s.Smallest == nil || bytes.Compare(l.Smallest, s.Smallest.Stored) < 0 {
		s.Smallest = &text.Key{Stored: l.Smallest}
	}
	if s.Largest == nil || bytes.Compare(l.Largest, s.Largest.Stored) > 0 {
		s.Largest = &text.Key{Stored: l.Largest}
	}
}
