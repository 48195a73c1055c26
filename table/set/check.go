package set

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// mismatch returns an error about a field of the table's line in the manifest.
func (t *Table) mismatch(field, format string, args ...any) error {
	return fmt.Errorf("set: table %q: %s: %s: %w", t.Name, field, fmt.Sprintf(format, args...), ErrMismatch)
}

// errorf returns another error about the table.
func (t *Table) errorf(format string, args ...any) error {
	return fmt.Errorf("set: table %q: %w", t.Name, fmt.Errorf(format, args...))
}

// check compares an open table with its line in the manifest. It reads only the tail, so the data is left to Verify.
func (h *handle) check(r *table.Reader) error {
	tail, err := r.Tail()
	if err != nil {
		return err
	}
	return cmp.Or(h.identify(tail), h.checkEntries(r), h.checkFilter(r), h.checkRange(r, tail))
}

// identify compares the TailSum of the table with the manifest, and sets known. An unknown table that the Source has
// forgotten since it was first opened is an error.
func (h *handle) identify(l *layout.Layout) error {
	sum, withData, err := l.TailSum()
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum[:]); got != h.TailSum {
		return h.mismatch("tailSum", "%s in the table, %s in the manifest", got, h.TailSum)
	}
	h.known = withData
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if !h.known && h.first != notOpened && h.epoch != h.first {
		return h.errorf("no digest of its data blocks, so it cannot be identified: %w", ErrReplaced)
	}
	return nil
}

// checkEntries compares the number of entries with the properties, if the table has any. Lookups do not need
// properties, so corrupt ones are left to Verify.
func (m *member) checkEntries(r *table.Reader) error {
	p, err := r.Properties()
	if err != nil {
		return nil
	}
	entries := p.Entries
	switch {
	case r.FilterOnly() && p.FilterPrefix != "" && m.Entries <= p.FilterEntries:
		return nil // FilterEntries counts prefixes too
	case r.FilterOnly():
		entries = p.FilterEntries
	}
	if entries != m.Entries {
		return m.mismatch("entries", "%d in the table, %d in the manifest", entries, m.Entries)
	}
	return nil
}

// checkFilter compares the table filter with the manifest.
func (m *member) checkFilter(r *table.Reader) error {
	switch f := r.Filters(); {
	case f.Table == nil || m.FilterSize == 0:
		return nil
	case int64(f.TableEntry.Length) != m.FilterSize:
		return m.mismatch("filterSize", "%d bytes in the table, %d in the manifest", f.TableEntry.Length, m.FilterSize)
	case m.FilterBits > 0 && f.TableBits != m.FilterBits:
		return m.mismatch("filterBits", "%d in the table, %d in the manifest", f.TableBits, m.FilterBits)
	}
	return nil
}

// checkRange compares the range of keys with the index and the filters: Smallest must be in the first
// data block and Largest in the last one.
func (m *member) checkRange(r *table.Reader, tail *layout.Layout) error {
	const ruledOut = "the table's filters rule out %s"
	blocks, err := tail.Ends()
	n := len(blocks)
	switch {
	case err != nil:
		return err
	case n == 0 && !r.FilterOnly():
		return m.mismatch("entries", "none in the table, %d in the manifest", m.Entries)
	case n > 0 && bytes.Compare(blocks[0].Separator, m.Smallest) < 0:
		return m.mismatch("smallest", "%s in the manifest, but keys ≤ %s in the first data block",
			format.Quote(m.Smallest), format.Quote(blocks[0].Separator))
	case n > 0 && bytes.Compare(blocks[n-1].Separator, m.Largest) < 0:
		return m.mismatch("largest", "%s in the manifest, but keys ≤ %s in the table",
			format.Quote(m.Largest), format.Quote(blocks[n-1].Separator))
	case n > 1 && bytes.Compare(blocks[n-2].Separator, m.Largest) >= 0:
		return m.mismatch("largest", "%s in the manifest, but keys > %s in the last data block",
			format.Quote(m.Largest), format.Quote(blocks[n-2].Separator))
	case r.Filters().Pages != nil: // its pages are not in the tail
		return nil
	case rulesOut(r, m.Smallest):
		return m.mismatch("smallest", ruledOut, format.Quote(m.Smallest))
	case rulesOut(r, m.Largest):
		return m.mismatch("largest", ruledOut, format.Quote(m.Largest))
	}
	return nil
}

// rulesOut reports whether the filters or the index rule out a key.
func rulesOut(r *table.Reader, key []byte) bool {
	may, err := r.MayContain(key)
	return !may && err == nil
}
