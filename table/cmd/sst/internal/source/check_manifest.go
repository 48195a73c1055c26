package source

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A corruption is damage of a database that is not in a table.
type corruption = wal.Corruption

// RepairCommand is the command line that makes a new database of what is left of one in a directory.
func RepairCommand(dir string) string { return "sst repair " + text.ShellPath(dir) + " -o NEW" }

// iq80Excess is how much larger than a table the size is that iq80's Java LevelDB records for it if it
// wrote the table in a compaction: it adds a block that it does not write.
const iq80Excess = 4

// hasIQ80Size reports whether the MANIFEST has the size that iq80's LevelDB gives a table of this size.
func (l TableFile) hasIQ80Size(size int64) bool {
	return l.Meta != nil && uint64(size)+iq80Excess == l.Meta.Size
}

// CheckSize returns an error if the file has another size than a MANIFEST says. what is added to it.
func (l TableFile) CheckSize(size int64, manifest, what string) error {
	if l.Meta == nil || uint64(size) == l.Meta.Size {
		return nil
	}
	if l.hasIQ80Size(size) {
		what = fmt.Sprintf(", which is what iq80's Java LevelDB records of the tables that it compacts: %d bytes too many%s", iq80Excess, what)
	}
	return corruption(fmt.Sprintf("size is %d, want %d as %s says%s", size, l.Meta.Size, manifest, what))
}

// CheckSizeOf is CheckSize of an open table. note says it of a table of iq80's that is whole, as its
// first and its last key show.
func (l TableFile) CheckSizeOf(f *File) (note string, err error) {
	err = l.CheckSize(f.Size, "the MANIFEST", "")
	if err == nil {
		return "", nil
	}
	first, last := f.ends()
	if l.hasIQ80Size(f.Size) && bytes.Equal(first, l.Meta.Smallest) && bytes.Equal(last, l.Meta.Largest) {
		return fmt.Sprintf("%v; the table is whole, but other engines cannot read it", err), nil
	}
	return "", l.CheckSize(f.Size, "the MANIFEST", ", so what is read is another table")
}

// ends returns the first and the last key, as far as they can be read. Otherwise the error comes when they are needed.
func (f *File) ends() (first, last []byte) {
	first, _ = f.Reader.FirstKey()
	last, _ = f.Reader.LastKey()
	return first, last
}

// CheckManifest checks a table against its MANIFEST: its size, and its first and last key. If not all keys are
// known, Verify has reported the damage.
func (f *File) CheckManifest(v *versions.Version, l TableFile, keys *VerifiedKeys) error {
	what := ", so engines cannot read this table" // since they look for the footer where that of the MANIFEST had it
	if l.hasIQ80Size(f.Size) {
		what = ", so other engines cannot read this table"
	}
	errs := []error{l.CheckSize(f.Size, v.Manifest, what)}
	differs := func(what string, has, want []byte) {
		if keys.all && !bytes.Equal(has, want) {
			errs = append(errs, corruption(fmt.Sprintf("%s is %s, want %s as %s says", what, f.Separator(has), f.Separator(want), v.Manifest)))
		}
	}
	differs("first key", keys.first, l.Meta.Smallest)
	differs("last key", keys.last, l.Meta.Largest)
	return errors.Join(errs...)
}

// checkRange returns an error if the first or the last key is outside of the range that the MANIFEST
// gives the table.
func (f *File) checkRange(smallest, largest []byte) error {
	first, last := f.ends()
	if first != nil && f.Compare(first, smallest) < 0 {
		return corruption(fmt.Sprintf("first key is %s, want ≥ %s as the MANIFEST says", f.Separator(first), f.Separator(smallest)))
	}
	if last != nil && f.Compare(last, largest) > 0 {
		return corruption(fmt.Sprintf("last key is %s, want ≤ %s as the MANIFEST says", f.Separator(last), f.Separator(largest)))
	}
	return nil
}

// listing returns what the MANIFEST in a file's directory says, if it lists the file, or else nil. It does not name all
// logs.
func listing(path string) *versions.Version {
	n, err := fileNumber(path)
	if err != nil && !IsLog(path) {
		return nil
	}
	v, err := versions.Read(filepath.Dir(path))
	if err != nil || !IsLog(path) && !v.Lists(n) {
		return nil
	}
	return v
}

// IsInManifest reports whether the MANIFEST in the file's directory lists the file, or it is a log.
func IsInManifest(path string) bool { return listing(path) != nil }
