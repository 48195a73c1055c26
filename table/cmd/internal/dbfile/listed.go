package dbfile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/versions"
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
		what = fmt.Sprintf(", which is what iq80's Java LevelDB records of the tables that it compacts: %d bytes too many%s", iq80Excess, what)
	}
	return Corruption(fmt.Sprintf("size is %d, want %d as %s says%s", size, meta.Size, manifest, what))
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
		return fmt.Sprintf("%v; the table is whole, but other engines cannot read it", err), nil
	}
	return "", CheckSize(meta, f.Size, "the MANIFEST", ", so what is read is another table")
}

// Ends returns the first and the last key, as far as they can be read. Otherwise the error comes when they are needed.
func (f *File) Ends() (first, last []byte) {
	first, _ = f.Reader.FirstKey()
	last, _ = f.Reader.LastKey()
	return first, last
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
			errs = append(errs, Corruption(fmt.Sprintf("%s is %s, want %s as %s says", what, f.Separator(has), f.Separator(want), v.Manifest)))
		}
	}
	differs("first key", keys.first, meta.Smallest)
	differs("last key", keys.last, meta.Largest)
	return errors.Join(errs...)
}

// CheckRange returns an error if the first or the last key is outside of the range that the MANIFEST
// gives the table.
func (f *File) CheckRange(smallest, largest []byte) error {
	first, last := f.Ends()
	if first != nil && f.Compare(first, smallest) < 0 {
		return Corruption(fmt.Sprintf("first key is %s, want ≥ %s as the MANIFEST says", f.Separator(first), f.Separator(smallest)))
	}
	if last != nil && f.Compare(last, largest) > 0 {
		return Corruption(fmt.Sprintf("last key is %s, want ≤ %s as the MANIFEST says", f.Separator(last), f.Separator(largest)))
	}
	return nil
}
