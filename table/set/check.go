package set

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// ErrMismatch is wrapped by the error for a table that differs from its line in the manifest. The table was
// replaced or is corrupt, or the manifest belongs to other tables.
//
// For a corrupt footer or index, the error is a [*table.CorruptionError], which wraps [table.ErrCorrupt].
// For a missing table, it is the Source's error, such as fs.ErrNotExist from a [Dir].
var ErrMismatch = errors.New(
	"table does not match the manifest: take another copy of the table, or write the manifest again")

// mismatch returns an error about a field of the table's line in the manifest.
func (t *Table) mismatch(field, format string, args ...any) error {
	return fmt.Errorf("set: table %q: %s: %s: %w", t.Name, field, fmt.Sprintf(format, args...), ErrMismatch)
}

// errorf returns another error about the table.
func (t *Table) errorf(format string, args ...any) error {
	return fmt.Errorf("set: table %q: %w", t.Name, fmt.Errorf(format, args...))
}

// check compares an open table with its line in the manifest. It reads nothing but the tail, so that
// only Verify can say that all is well. known is that of identify.
func (h *handle) check(r *table.Reader) (known bool, err error) {
	layout, err := r.Layout()
	if err != nil {
		return false, err
	}
	known, err = h.identify(layout)
	return known, cmp.Or(err, h.checkEntries(r), h.checkFilter(r), h.checkRange(r, layout.Data))
}

// identify compares the TailSum of the table with the manifest. known says whether that tells the table
// from all others.
func (h *handle) identify(l *layout.Layout) (known bool, err error) {
	sum, withData, err := l.TailSum()
	if h.TailSum == "" && errors.Is(err, table.ErrCorrupt) {
		return false, nil // nothing is compared, and FilterErr or Verify reports the damage
	}
	if err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum[:]); h.TailSum != "" && got != h.TailSum {
		return false, h.mismatch("tailSum", "that of the table is %s, want %s", got, h.TailSum)
	}
	known = withData && h.TailSum != ""
	h.s.mu.Lock()
	wasReplaced := h.first != notOpened && h.epoch != h.first // the Source has forgotten the first one
	h.s.mu.Unlock()
	if !known && wasReplaced {
		err = h.errorf("%w, and it has no digest of its data blocks to tell it from others", ErrReplaced)
	}
	return known, err
}

// checkEntries compares the number of entries with the properties, if the table has any.
// Damaged properties do not matter to lookups: Verify reports them.
func (m *member) checkEntries(r *table.Reader) error {
	p, err := r.Properties()
	if err != nil {
		return nil
	}
	entries := p.Entries
	if r.FilterOnly() {
		entries = p.FilterEntries
	}
	if entries != m.Entries {
		return m.mismatch("entries", "the table has %d, want %d", entries, m.Entries)
	}
	return nil
}

// checkRange compares the range of keys with the index and the filters: Smallest must be in the first
// data block and Largest in the last one.
func (m *member) checkRange(r *table.Reader, blocks []layout.IndexEntry) error {
	const denied = "the filters of the table deny its key %s"
	n := len(blocks)
	switch {
	case n == 0 && !r.FilterOnly():
		return m.mismatch("entries", "the table has none, want %d", m.Entries)
	case n > 0 && bytes.Compare(blocks[0].Separator, m.Smallest) < 0:
		return m.mismatch("smallest", "the first data block has keys ≤ %s, want %s in it",
			format.Quote(blocks[0].Separator), format.Quote(m.Smallest))
	case n > 0 && bytes.Compare(blocks[n-1].Separator, m.Largest) < 0:
		return m.mismatch("largest",
			"all keys are ≤ %s, want %s among them", format.Quote(blocks[n-1].Separator), format.Quote(m.Largest))
	case n > 1 && bytes.Compare(blocks[n-2].Separator, m.Largest) >= 0:
		return m.mismatch("largest", "the last data block has keys > %s, want %s in it",
			format.Quote(blocks[n-2].Separator), format.Quote(m.Largest))
	case r.PagedFilter(): // its pages are not in the tail
		return nil
	case !r.MayContain(m.Smallest):
		return m.mismatch("smallest", denied, format.Quote(m.Smallest))
	case !r.MayContain(m.Largest):
		return m.mismatch("largest", denied, format.Quote(m.Largest))
	}
	return nil
}
