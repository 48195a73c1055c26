package dbfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/set"
)

// VerifiedKeys are what Verify has seen of the keys of a table.
type VerifiedKeys struct {
	all         bool // each block was sound
	first, last []byte
	sequence    uint64  // the highest one
	kinds       []error // the damage of keys whose kind LevelDB does not have
}

// Highest returns the highest sequence number, if all keys are known. Otherwise it returns 0.
func (k *VerifiedKeys) Highest() uint64 {
	if !k.all {
		return 0
	}
	return k.sequence
}

// maxKinds is how many keys are named whose kind LevelDB does not have.
const maxKinds = 100

func (k *VerifiedKeys) add(key []byte, offset, length uint64) {
	if k.first == nil {
		k.first = append([]byte{}, key...) // not nil
	}
	k.last = append(k.last[:0], key...)
	internal, ok := table.ParseInternalKey(key)
	if !ok {
		return
	}
	k.sequence = max(k.sequence, internal.Sequence)
	switch n := len(k.kinds); {
	case internal.Kind <= table.KindSet || n > maxKinds:
	case n == maxKinds:
		k.kinds = append(k.kinds, Corruption("more keys are of kinds that LevelDB does not have"))
	default:
		k.kinds = append(k.kinds, KindDamage(internal, layout.Handle{Offset: offset, Length: length}))
	}
}

// Verify checks the whole table, and compares one of a set with its line in the manifest, unless line is nil. For
// that, Open it with ReadOnce. If the keys contradict an order that is not trusted, it checks them again
// in any order. note is about a sound table.
func (f *File) Verify(line *set.Table) (keys *VerifiedKeys, note string, err error) {
	keys = new(VerifiedKeys)
	if line != nil {
		note, err = f.verifyLine(line)
		return keys, note, err
	}
	f.once.startCheck()
	keys.all, err = verified.Verify(f.Reader, keys.add)
	if errors.Is(err, table.ErrOrder) && f.checksOrder() {
		f.setOrderUnknown()
		failed := f.ReadInAnyOrder()
		*keys = VerifiedKeys{}
		keys.all, err = verified.Verify(f.Reader, keys.add)
		err = errors.Join(failed, err)
	}
	if f.InDatabase() {
		err = errors.Join(append([]error{err}, keys.kinds...)...)
	}
	return keys, "", err
}

// verifyLine checks a table of a set, as Verify of package set does, and the size of its tail. If the table is
// damaged, that is all it returns. note says that the table cannot be told from others when it is opened.
func (f *File) verifyLine(l *set.Table) (note string, err error) {
	o := table.ReaderOptions{Codecs: f.Options.Codecs, TableFilterPolicies: f.Options.TableFilterPolicies}
	s, err := set.Open(context.Background(), &set.Manifest{Tables: []set.Table{*l}}, onlyTable{f.Src}, &set.Options{Reader: o})
	if err != nil {
		return "", err
	}
	defer s.Close()
	f.once.startCheck()
	err = s.Verify(context.Background(), func(_ set.Table, found error) {
		if errors.Is(found, set.ErrNotIdentified) {
			note = "it has no digest of its data blocks, so lookups do not notice if a table with the same keys replaces it: build it with sst build --manifest-line, or as part of a set"
			if l.TailSum == "" {
				note = "the manifest has no tailSum for it, so lookups may not notice if it is replaced: write the manifest again with sst manifest"
			}
		}
	})
	return note, damageOrMismatch(err, l.Name)
}

// damageOrMismatch returns the damage that Verify of package set has found in a table, without its name, or else how
// it differs from the manifest.
func damageOrMismatch(found error, name string) error {
	var damage []error
	var mismatch error
	for _, err := range Leaves(found) {
		if errors.Is(err, set.ErrMismatch) {
			mismatch = cmp.Or(mismatch, err)
			continue
		}
		if c, ok := err.(*table.CorruptionError); ok {
			c.File = ""
		} else if rest, named := strings.CutPrefix(err.Error(), "table: "+name+": "); named {
			err = errors.New("table: " + rest)
		}
		damage = append(damage, err)
	}
	if damage != nil || mismatch == nil {
		return errors.Join(damage...)
	}
	return Corruption(strings.TrimPrefix(mismatch.Error(), fmt.Sprintf("set: table %q: ", name)))
}

// Leaves returns the errors that errors.Join has joined.
func Leaves(err error) (all []error) {
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		for _, err := range joined.Unwrap() {
			all = append(all, Leaves(err)...)
		}
	case err != nil:
		all = []error{err}
	}
	return all
}

// An onlyTable is the Source of a set of one table.
type onlyTable struct{ io.ReaderAt }

func (t onlyTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	return t.ReaderAt.ReadAt(p, off)
}

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
	return Corruption(fmt.Sprintf("size is %d, but %s says %d%s", size, manifest, meta.Size, what))
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
	const another = "%s key is %s, but the MANIFEST says %s, so this is another table"
	switch first, last := f.Ends(); {
	case first != nil && !bytes.Equal(first, meta.Smallest):
		return Corruption(fmt.Sprintf(another, "first", f.Separator(first), f.Separator(meta.Smallest)))
	case last != nil && !bytes.Equal(last, meta.Largest):
		return Corruption(fmt.Sprintf(another, "last", f.Separator(last), f.Separator(meta.Largest)))
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
			errs = append(errs, Corruption(fmt.Sprintf("%s is %s, but %s says %s", what, f.Separator(has), v.Manifest, f.Separator(want))))
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
		err = Corruption(fmt.Sprintf("last key is %s, but the MANIFEST says ≤ %s", f.Separator(last), f.Separator(largest)))
		largest = last
	}
	if first != nil && f.Compare(first, smallest) < 0 {
		err = Corruption(fmt.Sprintf("first key is %s, but the MANIFEST says ≥ %s", f.Separator(first), f.Separator(smallest)))
		smallest = first
	}
	return smallest, largest, err
}

// differs returns the error for a field of the manifest that is not true of the table.
func differs(field string, has, want any) error {
	return wal.Corruptionf("%s is %v, but the set's manifest says %v: restore the table, or build the set again", field, has, want)
}

// checkEnds compares the first and the last key with the manifest of the set.
func (f *File) checkEnds(l *set.Table) error {
	first, last := f.Ends()
	if first != nil && !bytes.Equal(first, l.Smallest) {
		return differs("first key", f.Separator(first), f.Separator(l.Smallest))
	}
	if last != nil && !bytes.Equal(last, l.Largest) {
		return differs("last key", f.Separator(last), f.Separator(l.Largest))
	}
	return nil
}

// checkTail compares the TailSum with the manifest of a set, if that has it. If the table is damaged so that it has no
// TailSum, Verify reports that.
func checkTail(layout *layout.Layout, o Options) error {
	if o.Line == nil {
		return nil
	}
	sum, _, err := layout.TailSum()
	got := hex.EncodeToString(sum[:])
	switch {
	case errors.Is(err, table.ErrCorrupt):
		return nil
	case err != nil && o.Line.TailSum != "":
		return err
	case o.Line.TailSum != "" && got != o.Line.TailSum:
		return differs("tailSum", got, o.Line.TailSum)
	}
	return nil
}

// checkTailSize compares with the manifest of a set, before Verify, how many bytes package set reads to open the table:
// those behind the last data block, without the pages of a filter that is read by the page.
func (f *File) checkTailSize(o Options) error {
	if o.Line == nil || o.ReadOnce == nil {
		return nil
	}
	end := uint64(0)
	if n := len(f.Layout.Data); n > 0 {
		last := f.Layout.Data[n-1]
		end = last.Offset + last.Length + format.TrailerLen
	}
	tail, pages := f.Size-int64(end), int64(0)
	if filters := f.filters; filters.TableEntry.Length > 0 && filters.TableEntry.Offset == end {
		if filters.Table == nil && filters.Pages == nil { // Verify reports the damage
			return nil
		}
		pages = filters.pagesSize()
	}
	if line := o.Line.TailSize; line != tail && line != tail-pages { // a writer that holds pages in memory has them in the tail
		return differs("tailSize", tail-pages, line)
	}
	return nil
}
