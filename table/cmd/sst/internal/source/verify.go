package source

import (
	"bytes"
	"errors"
	"fmt"

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
	kinds       []error // of the first keys whose kind LevelDB does not have
	moreKinds   uint64  // number of the others
}

// Highest returns the highest sequence number, if all keys are known. Otherwise it returns 0.
func (k *VerifiedKeys) Highest() uint64 {
	if !k.all {
		return 0
	}
	return k.sequence
}

// maxKinds is how many keys of kinds that LevelDB does not have are named.
const maxKinds = 100

func (k *VerifiedKeys) add(key []byte, offset, length uint64) {
	if !k.any {
		k.first, k.any = bytes.Clone(key), true
	}
	k.last = append(k.last[:0], key...)
	if e, err := parseEntry(key, nil, true); err == nil {
		k.sequence = max(k.sequence, e.Sequence)
		e.Offset, e.length = offset, length
		k.addKind(e)
	}
}

// addKind takes note of an entry whose kind LevelDB does not have.
func (k *VerifiedKeys) addKind(e Entry) {
	switch {
	case e.Kind <= table.KindSet:
	case len(k.kinds) < maxKinds:
		k.kinds = append(k.kinds, e.kindDamage())
	default:
		k.moreKinds++
	}
}

// kindDamage returns the damage of the keys whose kind LevelDB does not have.
func (k *VerifiedKeys) kindDamage() error {
	if k.moreKinds == 0 {
		return errors.Join(k.kinds...)
	}
	return errors.Join(append(k.kinds, corruption(fmt.Sprintf("%d more keys are of kinds that LevelDB does not have", k.moreKinds)))...)
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
		err = errors.Join(err, keys.kindDamage())
	}
	return keys, "", err
}
