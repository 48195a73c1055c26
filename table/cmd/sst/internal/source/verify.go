package source

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// VerifiedKeys are what Verify has seen of the keys of a table.
type VerifiedKeys struct {
	all         bool // each block was sound
	any         bool
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
	if !k.any {
		k.first, k.any = bytes.Clone(key), true
	}
	k.last = append(k.last[:0], key...)
	internal, ok := table.ParseInternalKey(key)
	if !ok {
		return
	}
	if k.sequence = max(k.sequence, internal.Sequence); internal.Kind > table.KindSet {
		k.addKind(Entry{Key: internal.UserKey, Sequence: internal.Sequence, Kind: internal.Kind, Offset: offset, length: length})
	}
}

// addKind adds the damage of an entry whose kind LevelDB does not have.
func (k *VerifiedKeys) addKind(e Entry) {
	switch {
	case len(k.kinds) > maxKinds:
	case len(k.kinds) == maxKinds:
		k.kinds = append(k.kinds, corruption("more keys are of kinds that LevelDB does not have"))
	default:
		k.kinds = append(k.kinds, e.kindDamage())
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
	if f.inDatabase {
		err = errors.Join(append([]error{err}, keys.kinds...)...)
	}
	return keys, "", err
}
