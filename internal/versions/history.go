package versions

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
)

// A History is what the edits of a MANIFEST that can be read say of tables and logs, whatever is damaged of
// the others.
type History struct {
	Manifest string // its name
	Comparer string // the name of the comparator; "": no sound edit has it

	tables map[uint64]bool // whether the last edit that has the table lists it; otherwise it deletes it
	log    uint64          // logs with lower numbers are obsolete, except for previousLog
	number uint64          // of the MANIFEST
	start  bool            // the first edit is sound: it lists all tables that are older than the MANIFEST

	previousLog uint64
}

// maxHistory is how many tables a History has at most.
const maxHistory = 4 * MaxTables

// ReadHistory reads what the edits of a MANIFEST in dir say.
func ReadHistory(dir, name string) (*History, error) {
	f, size, err := open(regular.DirOf(dir), name, MaxManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	h := &History{Manifest: name, tables: map[uint64]bool{}}
	if h.number, err = strconv.ParseUint(strings.TrimPrefix(name, "MANIFEST-"), 10, 64); err != nil {
		return nil, err
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
			h.start = h.start || offset == 0
		}
		if len(h.tables) > maxHistory {
			return wal.Corruptionf("edits of more than %d tables, want at most that many", maxHistory)
		}
	}
}

// apply applies an edit, unless there is an error in it, and reports whether it did. A table that it
// deletes and adds is one that moves to another level.
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
			h.tables[f.Number] = false
		case FieldLog:
			h.log = max(h.log, f.Number)
		case FieldPreviousLog:
			h.previousLog = f.Number
		}
	}
	for f := range Fields(edit) {
		if f.Kind == FieldAdd {
			h.tables[f.Number] = true
		}
	}
	return true
}

// IsObsoleteTable reports whether the edits say that what the table had is in other tables, or deleted.
// Of one that no edit has, and that is newer than the MANIFEST, they say nothing: it was not finished, or
// an edit is lost.
func (h *History) IsObsoleteTable(number uint64) bool {
	listed, found := h.tables[number]
	return found && !listed || !found && h.start && number < h.number
}

// IsObsoleteLog reports whether the edits say that what the log had is in tables.
func (h *History) IsObsoleteLog(number uint64) bool {
	return number < h.log && number != h.previousLog
}
