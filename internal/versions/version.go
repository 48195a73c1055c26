package versions

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A versionBuilder applies version edits.
type versionBuilder struct {
	Version
	tables map[tableID]*Table
	has    uint64 // one bit for each FieldKind in the edits
}

// A tableID identifies a table in a version.
type tableID struct {
	level  int
	number uint64
}

// readVersion applies the version edits of a MANIFEST in order. An incomplete edit at the end is ignored, since the
// engine may have crashed or been closed while writing it. All other damage is an error: without an edit, deleted
// tables would come back. end is the offset after the last complete edit.
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

// CheckEdits returns an error if the version edits of a MANIFEST do not result in a version.
func CheckEdits(manifest io.Reader) error {
	_, _, err := readVersion(manifest)
	return err
}

// checkComplete returns an error if no edit has one of the fields that engines need to open the database. C++
// LevelDB writes them after the first edit, so a truncated MANIFEST lacks them.
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

// apply applies a version edit. Deletions are applied before additions, whatever their order in the edit.
func (e *versionBuilder) apply(edit []byte) error {
	before, stored := e.Version, wal.Stored{After: e.LastSequence, Lowest: math.MaxUint64}
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
			e.previousLog, e.hasPrevious = f.Number, true
		case FieldNextFile:
			e.nextFile = f.Number
		case FieldSequence: // goleveldb lowers it when it flushes writes from before a transaction
			e.Named, e.LastSequence, stored.Last = f.Number, max(e.LastSequence, f.Number), f.Number
		case FieldDelete:
			delete(e.tables, tableID{f.Level, f.Number})
		}
	}
	for f := range Fields(edit) {
		if f.Kind == FieldAdd {
			e.tables[tableID{f.Level, f.Number}] = clone(f.Table)
			stored.Lowest = min(stored.Lowest, sequenceOf(f.Smallest), sequenceOf(f.Largest))
		}
	}
	if !hadLog || !hasLog || e.log != before.log || e.previousLog != before.previousLog {
		e.flushed = e.LastSequence
	}
	e.addStored(stored, hasLog)
	if len(e.tables) > MaxTables {
		return wal.Corruptionf("more than %d tables", MaxTables)
	}
	return nil
}

// addStored records the transaction that an edit commits. goleveldb's other edits do not have both tables and a
// sequence number, or name a log, as all edits of C++ LevelDB do. An edit that names a log moves the logs before the
// transactions to tables.
func (v *Version) addStored(s wal.Stored, hasLog bool) {
	if hasLog {
		v.Stored = nil
	} else if s.Last > 0 && s.Lowest <= s.Last {
		v.Stored = append(v.Stored, s)
	}
}

// sequenceOf returns the sequence number of a bound, or math.MaxUint64 if it is no internal key.
func sequenceOf(bound []byte) uint64 {
	if k, ok := internalkey.Parse(bound); ok {
		return k.Sequence
	}
	return math.MaxUint64
}

// clone returns a copy of a table with its own bytes.
func clone(t Table) *Table {
	both := slices.Concat(t.Smallest, t.Largest)
	n := len(t.Smallest)
	t.Smallest, t.Largest = both[:n:n], both[n:]
	return &t
}

// A History contains what the sound edits of a MANIFEST say about tables and logs. Damaged edits are skipped.
type History struct {
	Manifest string // name of the MANIFEST
	Comparer string // name of the comparator; "" if no sound edit has it
	Edits    int    // number of sound edits

	tables map[uint64]*Table // by number; nil if the last edit with the table deletes it
	listed int               // number of tables that are not nil
	log    uint64            // logs with lower numbers are obsolete, except for previousLog
	number uint64            // number of the MANIFEST
	start  bool              // the first edit is sound, which lists all tables that are older than the MANIFEST

	previousLog uint64
}

// maxHistory is the maximum number of tables in a History, with deleted ones. These take a fraction of the memory
// of listed tables, whose maximum is MaxTables, as in a Version.
const maxHistory = 4 * MaxTables

// ReadHistory reads the sound edits of a MANIFEST in dir.
func ReadHistory(dir, name string) (*History, error) { return readHistory(regular.DirOf(dir), name) }

func readHistory(dir regular.Dir, name string) (*History, error) {
	f, size, err := open(dir, name, MaxManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	h := &History{Manifest: name, tables: map[uint64]*Table{}}
	if h.number, err = strconv.ParseUint(strings.TrimPrefix(name, "MANIFEST-"), 10, 64); err != nil {
		return nil, fmt.Errorf("%s: no number < 2^64 in its name", name)
	}
	if err := h.read(io.NewSectionReader(f, 0, size)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

// read applies the sound edits.
func (h *History) read(manifest io.Reader) error {
	edits := wal.NewReader(manifest, func(wal.Damage) {})
	edits.FindMore()
	for {
		edit, offset, err := edits.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.apply(edit) {
			h.Edits, h.start = h.Edits+1, h.start || offset == 0
		}
		if len(h.tables) > maxHistory || h.listed > MaxTables {
			return wal.Corruptionf("edits of more than %d tables, or %d at a time", maxHistory, MaxTables)
		}
	}
}

// apply applies an edit, unless it has an error, and reports whether it did. A table that is both deleted and added
// moves to another level.
func (h *History) apply(edit []byte) bool {
	for _, err := range Fields(edit) {
		if err != nil {
			return false
		}
	}
	for f := range Fields(edit) {
		switch f.Kind {
		case FieldComparer:
			h.Comparer = string(f.Key)
		case FieldDelete:
			h.set(f.Number, nil)
		case FieldLog:
			h.log = max(h.log, f.Number)
		case FieldPreviousLog:
			h.previousLog = f.Number
		}
	}
	for f := range Fields(edit) {
		if f.Kind == FieldAdd {
			h.set(f.Number, clone(f.Table))
		}
	}
	return true
}

// set sets a table, or marks it as deleted if t is nil.
func (h *History) set(number uint64, t *Table) {
	if h.tables[number] != nil {
		h.listed--
	}
	if h.tables[number] = t; t != nil {
		h.listed++
	}
}

// Tables returns the tables that sound edits list, by number. A damaged edit may have made them obsolete.
func (h *History) Tables() []*Table {
	listed := slices.DeleteFunc(slices.Collect(maps.Values(h.tables)), func(t *Table) bool { return t == nil })
	slices.SortFunc(listed, func(a, b *Table) int { return cmp.Compare(a.Number, b.Number) })
	return listed
}

// IsObsoleteTable reports whether, according to the edits, the entries of a table are in other tables or deleted.
// It returns false for a table that no edit has and that is newer than the MANIFEST: it is unfinished, or its edit
// is lost.
func (h *History) IsObsoleteTable(number uint64) bool {
	listed, found := h.tables[number]
	return found && listed == nil || !found && h.start && number < h.number
}

// IsObsoleteLog reports whether, according to the edits, the writes of a log are in tables.
func (h *History) IsObsoleteLog(number uint64) bool {
	return number < h.log && number != h.previousLog
}
