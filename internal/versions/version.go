package versions

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sievetable/sievetable/internal/wal"
)

// A versionBuilder applies version edits.
type versionBuilder struct {
	Version
	tables map[tableID]*Table
}

// A tableID identifies a table in a version.
type tableID struct {
	level  int
	number uint64
}

// readVersion applies the version edits of a MANIFEST in order. An incomplete edit at the
// end is ignored, because the database was closed or crashed while writing it. All other
// damage is an error: without an edit, deleted tables would come back. end is where the last
// edit that counts ends.
func readVersion(manifest io.Reader) (v *Version, end int64, err error) {
	e := versionBuilder{tables: map[tableID]*Table{}}
	var damage error
	edits := wal.NewReader(manifest, func(d wal.Damage) {
		if d.Unread {
			e.Unread += d.Bytes
			return
		}
		damage = cmp.Or[error](damage, d)
	})
	for n := 0; ; n++ {
		edit, offset, err := edits.Next()
		if damage != nil {
			return nil, 0, damage
		}
		if err == io.EOF && n > 0 {
			break
		}
		if err == io.EOF {
			return nil, 0, wal.Corruption("no version edit, because the file is empty or truncated")
		}
		if err == nil {
			err = e.apply(edit)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("edit %d, at %d: %w", n, offset, err)
		}
	}
	e.Tables = slices.SortedFunc(maps.Values(e.tables), func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(b.Number, a.Number))
	})
	return &e.Version, edits.Offset(), nil
}

// apply applies a version edit. Deletions come before additions, whatever their order in
// the edit.
func (e *versionBuilder) apply(edit []byte) error {
	var added, deletedLater bool
	for f, err := range Fields(edit) {
		if err != nil {
			return err
		}
		switch f.Kind {
		case FieldComparer:
			e.Comparer = string(f.Key)
		case FieldLog:
			e.log = f.Number
		case FieldPreviousLog:
			e.previousLog = f.Number
		case FieldSequence:
			e.LastSequence = f.Number
		case FieldDelete:
			delete(e.tables, tableID{f.Level, f.Number})
			deletedLater = added
		case FieldAdd:
			e.tables[tableID{f.Level, f.Number}] = clone(f.Table)
			added = true
		}
	}
	if deletedLater { // as no engine writes it
		e.addAll(edit)
	}
	if len(e.tables) > MaxTables {
		return wal.Corruptionf("more than %d tables, want at most that many", MaxTables)
	}
	return nil
}

// addAll adds the tables of an edit without errors.
func (e *versionBuilder) addAll(edit []byte) {
	for f := range Fields(edit) {
		if f.Kind == FieldAdd {
			e.tables[tableID{f.Level, f.Number}] = clone(f.Table)
		}
	}
}

// clone returns a table with its own bytes.
func clone(t Table) *Table {
	both := slices.Concat(t.Smallest, t.Largest)
	n := len(t.Smallest)
	t.Smallest, t.Largest = both[:n:n], both[n:]
	return &t
}
