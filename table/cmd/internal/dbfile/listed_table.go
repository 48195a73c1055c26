package dbfile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
)

// iq80Excess is the number of bytes by which iq80's Java LevelDB overstates the size of tables that it writes in
// compactions: it counts bytes that it does not write.
const iq80Excess = 4

// hasIQ80Size reports whether the size in the MANIFEST is the one that iq80's LevelDB records for a table of this
// size.
func hasIQ80Size(meta *versions.Table, size int64) bool {
	return meta != nil && uint64(size)+iq80Excess == meta.Size
}

// CheckSize returns an error if the file's size differs from the manifest's. what is appended to the message.
func CheckSize(meta *versions.Table, size int64, manifest, what string) error {
	if meta == nil || uint64(size) == meta.Size {
		return nil
	}
	if hasIQ80Size(meta, size) {
		what = fmt.Sprintf(", as iq80's Java LevelDB records for tables that it compacts (%d bytes too many)%s", iq80Excess, what)
	}
	return wal.Corruptionf("size is %d, but %s says %d%s", size, manifest, meta.Size, what)
}

// CheckSize is like the function CheckSize for the open table. If iq80's LevelDB wrote the table, and the first
// and the last key show that it is intact, the message is a note instead of an error.
func (f *File) CheckSize(meta *versions.Table) (note string, err error) {
	err = CheckSize(meta, f.Size, "the MANIFEST", "")
	if err == nil {
		return "", nil
	}
	first, last := f.Ends()
	if hasIQ80Size(meta, f.Size) && bytes.Equal(first, meta.Smallest) && bytes.Equal(last, meta.Largest) {
		return fmt.Sprintf("%v; the table is intact, but other engines cannot read it", err), nil
	}
	return "", CheckSize(meta, f.Size, "the MANIFEST", ", so this is another table")
}

// Ends returns the first and the last key. A key that cannot be read is nil.
func (f *File) Ends() (first, last []byte) { return f.endsBy(nil) }

// endsBy is like Ends, for an Iter with these options.
func (f *File) endsBy(o *table.IterOptions) (first, last []byte) {
	return f.keyAt((*table.Iter).First, o), f.keyAt((*table.Iter).Last, o)
}

// keyAt returns the key that an Iter of its own, with a whole budget, moves to.
func (f *File) keyAt(move func(*table.Iter) bool, o *table.IterOptions) []byte {
	it := f.Reader.NewIter(o)
	defer it.Close() // it was only read
	if !move(it) {
		return nil
	}
	return bytes.Clone(it.Key())
}

// CheckEnds returns an error if the first or the last key differs from the MANIFEST's.
func (f *File) CheckEnds(meta *versions.Table) error {
	return f.checkEnds(meta.Smallest, meta.Largest, "%s is %s, but the MANIFEST says %s, so this is another table")
}

// checkEnds returns an error with this format if the first or the last key is readable and differs.
func (f *File) checkEnds(smallest, largest []byte, format string) error {
	switch first, last := f.Ends(); {
	case first != nil && !bytes.Equal(first, smallest):
		return wal.Corruptionf(format, "first key", f.Separator(first), f.Separator(smallest))
	case last != nil && !bytes.Equal(last, largest):
		return wal.Corruptionf(format, "last key", f.Separator(last), f.Separator(largest))
	}
	return nil
}

// CheckManifest checks a table's size, and its first and last key, against its MANIFEST. If not all keys are
// known, it does not check them: Verify has reported the damage.
func (f *File) CheckManifest(v *versions.Version, meta *versions.Table, keys *VerifiedKeys) error {
	what := ", so engines cannot read this table" // they look for the footer where the MANIFEST's size puts it
	if hasIQ80Size(meta, f.Size) {
		what = ", so other engines cannot read this table"
	}
	errs := []error{CheckSize(meta, f.Size, v.Manifest, what)}
	differs := func(what string, has, want []byte) {
		if keys.all && !bytes.Equal(has, want) {
			errs = append(errs, wal.Corruptionf("%s is %s, but %s says %s", what, f.Separator(has), v.Manifest, f.Separator(want)))
		}
	}
	differs("first key", keys.first, meta.Smallest)
	differs("last key", keys.last, meta.Largest)
	return errors.Join(errs...)
}

// CheckRange returns an error if the first or the last readable key is outside the table's range in the MANIFEST.
// It also returns the smallest range that includes that range and both keys.
func (f *File) CheckRange(smallest, largest []byte) (from, to []byte, err error) {
	first, last := f.endsBy(&table.IterOptions{OnLoss: func(table.Loss) bool { return true }})
	if last != nil && f.Compare(last, largest) > 0 {
		err = wal.Corruptionf("last key is %s, but the MANIFEST says ≤ %s", f.Separator(last), f.Separator(largest))
		largest = last
	}
	if first != nil && f.Compare(first, smallest) < 0 {
		err = wal.Corruptionf("first key is %s, but the MANIFEST says ≥ %s", f.Separator(first), f.Separator(smallest))
		smallest = first
	}
	return smallest, largest, err
}
