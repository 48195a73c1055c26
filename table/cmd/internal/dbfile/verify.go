package dbfile

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/set"
)

// VerifiedKeys is a summary of the keys that Verify has seen in a table.
type VerifiedKeys struct {
	all         bool // all blocks were sound
	first, last []byte
	sequence    uint64  // the highest sequence number
	kinds       []error // errors for keys whose kind LevelDB does not have
}

// Highest returns the highest sequence number, if all keys are known. Otherwise it returns 0.
func (k *VerifiedKeys) Highest() uint64 {
	if !k.all {
		return 0
	}
	return k.sequence
}

// maxKinds is the maximum number of errors for keys whose kind LevelDB does not have.
const maxKinds = 100

func (k *VerifiedKeys) add(key []byte, offset, length uint64) {
	if k.first == nil {
		k.first = append([]byte{}, key...) // not nil
	}
	k.last = append(k.last[:0], key...)
	internal, ok := internalkey.Parse(key)
	if !ok {
		return
	}
	k.sequence = max(k.sequence, internal.Sequence)
	switch n := len(k.kinds); {
	case internal.Kind <= internalkey.Set || n > maxKinds:
	case n == maxKinds:
		k.kinds = append(k.kinds, Corruption("more keys are of kinds that LevelDB does not have"))
	default:
		k.kinds = append(k.kinds, KindDamage(internal, layout.Handle{Offset: offset, Length: length}))
	}
}

// Verify checks the whole table. If line is not nil, it also compares the table of a set with its line in the
// manifest: open the table with ReadOnce for that. If the keys contradict an untrusted order, Verify checks them
// again in any order. note is a remark about a sound table.
func (f *File) Verify(line *set.Table) (keys *VerifiedKeys, note string, err error) {
	keys = new(VerifiedKeys)
	if f.once != nil {
		f.once.checking = true
	}
	if line != nil {
		note, err = f.verifyLine(line)
		return keys, note, err
	}
	keys.all, err = f.Reader.VerifyKeys(keys.add)
	if errors.Is(err, table.ErrOrder) && f.checksOrder() {
		f.setOrderUnknown()
		failed := f.ReadInAnyOrder()
		*keys = VerifiedKeys{}
		keys.all, err = f.Reader.VerifyKeys(keys.add)
		err = errors.Join(failed, err)
	}
	if f.InDatabase() {
		err = errors.Join(append([]error{err}, keys.kinds...)...)
	}
	return keys, "", err
}

// verifyLine checks a table of a set, as Verify of package set does. For a damaged table, it returns only the
// damage. note says that opening the table would not notice if another one replaced it.
func (f *File) verifyLine(l *set.Table) (note string, err error) {
	o := table.ReaderOptions{Codecs: f.Options.Codecs, TableFilterPolicies: f.Options.TableFilterPolicies}
	s, err := set.Open(context.Background(), &set.Manifest{Tables: []set.Table{*l}}, onlyTable{f.Src}, &set.Options{Reader: o})
	if err != nil {
		return "", err
	}
	defer s.Close()
	err = s.Verify(context.Background(), func(_ set.Table, found error) {
		if errors.Is(found, set.ErrNotIdentified) {
			note = "it has no digest of its data blocks, so lookups do not notice if a table with the same keys replaces it: build it with sst build --manifest-line, or as part of a set"
		}
	})
	return note, damageOrMismatch(err, l.Name)
}

// damageOrMismatch returns the damage that Verify of package set has found in a table, without the table's name.
// If there is none, it returns the mismatch with the manifest.
func damageOrMismatch(found error, name string) error {
	var damage []error
	var mismatch error
	for _, err := range text.Leaves(found) {
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

// An onlyTable is the Source for a set of one table.
type onlyTable struct{ io.ReaderAt }

func (t onlyTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	return t.ReaderAt.ReadAt(p, off)
}

// differsFromLine formats an error from a field, its value in the table, and its value in the set's manifest.
const differsFromLine = "%s is %v, but the set's manifest says %v: restore the table, or build the set again"

// Differs returns the error for a field of a table that differs from the set's manifest.
func Differs(field string, has, want any) error {
	return wal.Corruptionf(differsFromLine, field, has, want)
}

// checkTail compares the table's TailSum with the set's manifest. If the TailSum cannot be computed because of
// damage, Verify reports that.
func checkTail(layout *layout.Layout, l *set.Table) error {
	if l == nil {
		return nil
	}
	sum, _, err := layout.TailSum()
	if got := hex.EncodeToString(sum[:]); err == nil && got != l.TailSum {
		return Differs("tailSum", got, l.TailSum)
	}
	if errors.Is(err, table.ErrCorrupt) {
		return nil
	}
	return err
}

// checkTailSize compares, before Verify, the number of bytes that package set reads to open the table with the
// set's manifest: the bytes behind the last data block, without the pages of a paged filter.
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
		if !filters.HasTable() { // Verify reports the damage
			return nil
		}
		if filters.Pages != nil { // lookups read them one by one
			n, size := filters.Pages.Pages()
			pages = int64(n) * int64(size)
		}
	}
	if line := o.Line.TailSize; line != tail && line != tail-pages { // a writer that keeps pages in memory counts them
		return Differs("tailSize", tail-pages, line)
	}
	return nil
}
