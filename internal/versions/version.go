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
	has    uint64 // a bit of each FieldKind that an edit had
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
	if err := e.checkComplete(); err != nil {
		return nil, 0, err
	}
	e.Tables = slices.SortedFunc(maps.Values(e.tables), func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(b.Number, a.Number))
	})
	return &e.Version, edits.Offset(), nil
}

// checkComplete returns an error if there is no edit with a field without which no engine opens the
// database. C++ LevelDB writes them behind the first edit, so that a MANIFEST that was cut lacks them.
func (e *versionBuilder) checkComplete() error {
	for _, f := range []struct {
		kind FieldKind
		what string
	}{{FieldLog, "log number"}, {FieldNextFile, "next file number"}, {FieldSequence, "last sequence number"}} {
		if e.has&(1<<f.kind) == 0 {
			return wal.Corruptionf("no edit has a %s, because the file is truncated", f.what)
		}
	}
	return nil
}

// apply applies a version edit. Deletions come before additions, whatever their order in
// the edit.
func (e *versionBuilder) apply(edit []byte) error {
	var added, deletedLater bool
	before := e.Version
	hadLog, hasLog := e.has&(1<<FieldLog) != 0, false
	for f, err := range Fields(edit) {
		if err != nil {
			return err
		}
		e.has |= 1 << f.Kind
		e.highestLevel = max(e.highestLevel, f.Level)
		switch f.Kind {
		case FieldComparer:
			e.Comparer = string(f.Key)
		case FieldLog:
			e.log, hasLog = f.Number, true
		case FieldPreviousLog:
			e.previousLog = f.Number
		case FieldNextFile:
			e.nextFile = f.Number
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
	if !hadLog || !hasLog || e.log != before.log || e.previousLog != before.previousLog {
		e.flushed = e.LastSequence
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
