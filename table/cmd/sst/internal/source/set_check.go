package source

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// verifyLine checks a table of a set, as Verify of package set does, and the size of its tail. If the table is
// damaged, that is all it returns. note says that the table cannot be told from others when it is opened.
func (f *File) verifyLine(l *set.Table) (note string, err error) {
	o := table.ReaderOptions{Codecs: f.Options.Codecs, TableFilterPolicies: f.Options.TableFilterPolicies}
	s, err := set.Open(context.Background(), &set.Manifest{Tables: []set.Table{*l}}, onlyTable{f.Src}, &set.Options{Reader: o})
	if err != nil {
		return "", err
	}
	defer s.Close()
	f.once.startCheck()
	err = s.Verify(context.Background(), func(_ set.Table, found error) {
		if errors.Is(found, set.ErrNotIdentified) {
			note = identityNote(l)
		}
	})
	return note, damageOrMismatch(err, l.Name)
}

// damageOrMismatch returns the damage that Verify of package set has found in a table, without its name, or else how
// it differs from the manifest.
func damageOrMismatch(found error, name string) error {
	var damage []error
	var mismatch error
	for _, err := range leaves(found) {
		if errors.Is(err, set.ErrMismatch) {
			mismatch = cmp.Or(mismatch, err)
			continue
		}
		if c, ok := err.(*table.CorruptionError); ok {
			c.File = ""
		} else if rest, named := strings.CutPrefix(err.Error(), "table: "+name+": "); named {
			err = errors.New("table: " + rest)
		}
		damage = append(damage, err)
	}
	if damage != nil || mismatch == nil {
		return errors.Join(damage...)
	}
	return corruption(strings.TrimPrefix(mismatch.Error(), fmt.Sprintf("set: table %q: ", name)))
}

// leaves returns the errors that errors.Join has joined.
func leaves(err error) (all []error) {
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		for _, err := range joined.Unwrap() {
			all = append(all, leaves(err)...)
		}
	case err != nil:
		all = []error{err}
	}
	return all
}

// An onlyTable is the Source of a set of one table.
type onlyTable struct{ io.ReaderAt }

func (t onlyTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	return t.ReaderAt.ReadAt(p, off)
}

// checkTail compares the TailSum with the manifest of a set, if that has it, and before Verify also how many bytes are
// behind the last data block: package set opens the table by a read of that many. If the table is damaged so that it
// has no TailSum, Verify reports that.
func checkTail(layout *table.Layout, size int64, o Options) error {
	if o.listed.Line == nil {
		return nil
	}
	tail := size
	if n := len(layout.Data); n > 0 {
		last := layout.Data[n-1]
		tail -= int64(last.Offset+last.Length) + format.TrailerLen
	}
	sum, _, err := layout.TailSum()
	got := hex.EncodeToString(sum[:])
	switch {
	case errors.Is(err, table.ErrCorrupt):
		return nil
	case err != nil && o.listed.Line.TailSum != "":
		return err
	case o.listed.Line.TailSum != "" && got != o.listed.Line.TailSum:
		return differs("tailSum", got, o.listed.Line.TailSum)
	case o.ReadOnce != nil && tail != o.listed.Line.TailSize:
		return differs("tailSize", tail, o.listed.Line.TailSize)
	}
	return nil
}

// identityNote says what to do for a table that cannot be told from others when it is opened.
func identityNote(l *set.Table) string {
	if l.TailSum == "" {
		return "the manifest has no tailSum of it: lookups may not notice when it is replaced; write the manifest again with sst manifest"
	}
	return "it has no digest of its data blocks: lookups do not notice when a table of the same keys replaces it; build it with sst build --summary or as a set"
}

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	for _, t := range s.Tables {
		if t.Removals {
			continue // which have keys
		}
		if f, err := s.open(t); err == nil {
			only := f.Reader.FilterOnly()
			return s.release(t, f) == nil && only
		}
	}
	return false
}

// MayContain asks the filters of a single table, or of the table of a set that may have the key.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	for _, t := range s.candidates(key) {
		if has, err := s.tableMayContain(t, key); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}

// tableMayContain asks the filters of a table of a set. Removals are asked exactly.
func (s *Source) tableMayContain(t *Table, key []byte) (may bool, err error) {
	if t.Removals {
		_, may, err = s.getFromTable(t, func(_ *Table, f *File) (Entry, bool, error) { return f.Get(key) })
		return may, err
	}
	f, err := s.open(t)
	if err != nil {
		return false, err
	}
	return f.MayContain(key), s.release(t, f)
}
