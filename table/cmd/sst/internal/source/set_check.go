package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// CheckLine compares a table with its line in the manifest of a set: SHA-256, size of the tail
// and number of entries. Size, first and last key were compared when the table was opened.
func (f *File) CheckLine(l *set.Table) error {
	return errors.Join(f.checkSum(l), f.checkTail(l), f.checkEntries(l))
}

// checkTail compares how many bytes are behind the last data block. Package set opens the table
// by a read of that many.
func (f *File) checkTail(l *set.Table) error {
	layout, err := table.ReadLayout(f.Src, f.Size, f.Options)
	if err != nil {
		return nil // Verify reports the damage
	}
	end := int64(0)
	if n := len(layout.Data); n > 0 {
		last := layout.Data[n-1]
		end = int64(last.Offset+last.Length) + format.TrailerLen
	}
	if tail := f.Size - end; tail != l.TailSize {
		return differs("tailSize", tail, l.TailSize)
	}
	return nil
}

// checkTailSum compares the TailSum with the manifest of a set, if that has it. If the table is
// damaged so that it has none, Verify reports that.
func checkTailSum(layout *table.Layout, l *set.Table) error {
	if l == nil || l.TailSum == "" {
		return nil
	}
	sum, _, err := layout.TailSum()
	if errors.Is(err, table.ErrCorrupt) {
		return nil
	}
	if got := hex.EncodeToString(sum[:]); err == nil && got != l.TailSum {
		err = differs("tailSum", got, l.TailSum)
	}
	return err
}

// IdentityNote says that a table of a set cannot be told from others when it is opened, or returns
// "".
func (f *File) IdentityNote(l *set.Table) string {
	if l.TailSum == "" {
		return "the manifest has no tailSum of it: lookups may not notice when it is replaced; write the manifest again with sst manifest"
	}
	layout, err := table.ReadLayout(f.Src, f.Size, f.Options)
	if err != nil {
		return "" // Verify reports the damage
	}
	if _, withData, err := layout.TailSum(); err == nil && !withData {
		return "it has no digest of its data blocks: lookups do not notice when a table of the same keys replaces it; build it with sst build --summary or as a set"
	}
	return ""
}

// checkSum compares the SHA-256.
func (f *File) checkSum(l *set.Table) error {
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, io.NewSectionReader(f.Src, 0, f.Size), make([]byte, readAhead)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != l.SHA256 {
		return differs("SHA-256", got, l.SHA256)
	}
	return nil
}

// checkEntries compares the number of entries. A table with a filter only has none.
func (f *File) checkEntries(l *set.Table) error {
	if f.Reader.FilterOnly() {
		return nil
	}
	n := uint64(0)
	for _, err := range f.Reader.All(&table.IterOptions{DontFillCache: true, ReadAhead: readAhead}) {
		if err != nil {
			return nil // Verify reports the damage
		}
		n++
	}
	if n == l.Entries {
		return nil
	}
	return differs("number of entries", n, l.Entries)
}

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() bool {
	switch {
	case s.set:
		for _, t := range s.Tables {
			f, err := s.open(t)
			if err == nil {
				only := f.Reader.FilterOnly()
				return s.release(t, f) == nil && only
			}
		}
		return false
	case s.Dir || s.isLog:
		return false
	}
	return s.File().Reader.FilterOnly()
}

// MayContain asks the filters of a single table, or of the table of a set that may have the key.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	if !s.set {
		return s.File().MayContain(key), nil
	}
	tables := s.candidates(key)
	if len(tables) == 0 {
		return false, nil
	}
	f, err := s.open(tables[0])
	if err != nil {
		return false, err
	}
	return f.MayContain(key), s.release(tables[0], f)
}
