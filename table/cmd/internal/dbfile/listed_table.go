package dbfile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
)

// iq80Excess is how much larger than a table the size is that iq80's Java LevelDB records for it if it
// wrote the table in a compaction: it adds a block that it does not write.
const iq80Excess = 4

// hasIQ80Size reports whether the MANIFEST has the size that iq80's LevelDB gives a table of this size.
func hasIQ80Size(meta *versions.Table, size int64) bool {
	return meta != nil && uint64(size)+iq80Excess == meta.Size
}

// CheckSize returns an error if the file has another size than a MANIFEST says. what is added to it.
func CheckSize(meta *versions.Table, size int64, manifest, what string) error {
	if meta == nil || uint64(size) == meta.Size {
		return nil
	}
	if hasIQ80Size(meta, size) {
		what = fmt.Sprintf(", as iq80's Java LevelDB records for tables that it compacts (%d bytes too many)%s", iq80Excess, what)
	}
	return wal.Corruptionf("size is %d, but %s says %d%s", size, manifest, meta.Size, what)
}

// CheckSize is CheckSize of the open table. note says it of a table of iq80's that is whole, as its
// first and its last key show.
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

// Ends returns the first and the last key, as far as they can be read. Otherwise the error comes when they are needed.
func (f *File) Ends() (first, last []byte) {
	first, _ = f.Reader.FirstKey()
	last, _ = f.Reader.LastKey()
	return first, last
}

// CheckEnds returns an error if the first or the last key is not that of the MANIFEST.
func (f *File) CheckEnds(meta *versions.Table) error {
	return f.checkEnds(meta.Smallest, meta.Largest, "%s is %s, but the MANIFEST says %s, so this is another table")
}

// checkEnds returns an error in a format if the first or the last key can be read and is another one.
func (f *File) checkEnds(smallest, largest []byte, format string) error {
	switch first, last := f.Ends(); {
	case first != nil && !bytes.Equal(first, smallest):
		return wal.Corruptionf(format, "first key", f.Separator(first), f.Separator(smallest))
	case last != nil && !bytes.Equal(last, largest):
		return wal.Corruptionf(format, "last key", f.Separator(last), f.Separator(largest))
	}
	return nil
}

// CheckManifest checks a table against its MANIFEST: its size, and its first and last key. If not all keys are
// known, Verify has reported the damage.
func (f *File) CheckManifest(v *versions.Version, meta *versions.Table, keys *VerifiedKeys) error {
	what := ", so engines cannot read this table" // since they look for the footer where that of the MANIFEST had it
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

// readableEnds returns the first and the last key that can be read.
func (f *File) readableEnds() (first, last []byte) {
	if first, last = f.Ends(); first != nil && last != nil {
		return first, last
	}
	it := f.Reader.NewIter(&table.IterOptions{OnLoss: func(table.Loss) bool { return true }})
	defer it.Close() // it was only read
	if it.First() {
		first = bytes.Clone(it.Key())
	}
	if it.Last() {
		last = bytes.Clone(it.Key())
	}
	return first, last
}

// CheckRange returns an error if the first or the last key that can be read is outside of the range that the MANIFEST
// gives the table, and the smallest range that has all three.
func (f *File) CheckRange(smallest, largest []byte) (from, to []byte, err error) {
	first, last := f.readableEnds()
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
