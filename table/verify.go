package table

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/block"
)

// Verify reads the whole table anew and checks it all: each block's checksum
// (with SkipChecksums too) and form, the order of keys within and across
// blocks and against the index, and that the filter (with IgnoreFilter too) is
// sound and denies no key. It goes on after damage, and returns every finding,
// joined: a *CorruptionError for each damaged part, and one for each key that
// the filter denies. It takes the memory of a second Reader, and of the
// findings.
//
// If all keys that the filter denies are in it without their last 8 bytes, the
// one finding is that this is the table of a database, and wants FilterKey to
// be InternalFilterKey. A filter that no policy is known for is not checked.
func (r *Reader) Verify() error {
	if r.closed.Load() {
		return ErrClosed
	}
	o := r.o
	o.SkipChecksums, o.IgnoreFilter, o.Metrics = false, false, nil
	fresh, err := NewReader(r.src, int64(r.limit)+footerLen, &o)
	if err != nil {
		return err
	}
	v := verifier{r: fresh}
	if err := fresh.filterErr; errors.Is(err, ErrCorrupt) {
		v.found = append(v.found, err)
	}
	for i := range fresh.index.len() {
		if err := v.block(i); err != nil {
			v.found = append(v.found, err)
		}
	}
	if r.closed.Load() {
		return ErrClosed
	}
	return v.findings()
}

type verifier struct {
	r       *Reader
	buffers buffers
	it      block.Iter
	found   []error
	denied  []error // by the filter
	without int     // of these, in the filter without their last 8 bytes
}

// block checks data block i, and its filter with each of its keys.
func (v *verifier) block(i int) error {
	if err := v.r.openData(i, &v.buffers, &v.it); err != nil {
		return err
	}
	for ok := v.it.First(); ok; ok = v.it.Next() {
		v.key(i, v.it.Key())
	}
	return nil
}

// key asks the filter for a key of data block i.
func (v *verifier) key(i int, key []byte) {
	if may, _ := v.r.mayContain(i, key); may {
		return
	}
	offset := v.r.index.handles[i].offset
	v.denied = append(v.denied, corrupt(partFilter, v.r.filterAt.offset, "denies key %q of the data block at %d", key, offset))
	if user := InternalFilterKey(key); v.r.o.FilterKey == nil && user != nil && v.r.filter.Contains(offset, user) {
		v.without++
	}
}

func (v *verifier) findings() error {
	if n := len(v.denied); n > 0 && v.without == n {
		hint := fmt.Errorf("table: %s at %d: denies %d keys but has them without their last 8 bytes: the table is a database's, and wants FilterKey: InternalFilterKey",
			partFilter, v.r.filterAt.offset, n)
		return errors.Join(append(v.found, hint)...)
	}
	return errors.Join(append(v.found, v.denied...)...)
}
