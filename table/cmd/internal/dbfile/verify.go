package dbfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/table"
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
	if k.sequence = max(k.sequence, internal.Sequence); internal.Kind > table.KindSet {
		k.addKind(Entry{Key: internal.UserKey, Sequence: internal.Sequence, Kind: internal.Kind}, table.Handle{Offset: offset, Length: length})
	}
}

// addKind adds the damage of an entry in a data block whose kind LevelDB does not have.
func (k *VerifiedKeys) addKind(e Entry, block table.Handle) {
	switch {
	case len(k.kinds) > maxKinds:
	case len(k.kinds) == maxKinds:
		k.kinds = append(k.kinds, Corruption("more keys are of kinds that LevelDB does not have"))
	default:
		k.kinds = append(k.kinds, e.KindDamage(block))
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
	if again, failed := f.ReopenInAnyOrder(err); again || failed != nil {
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
			note = "it has no digest of its data blocks: lookups do not notice when a table of the same keys replaces it; build it with sst build --manifest-line or as a set"
			if l.TailSum == "" {
				note = "the manifest has no tailSum of it: lookups may not notice when it is replaced; write the manifest again with sst manifest"
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
