package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// Verify reads the whole table anew and checks it all: each block's checksum
// (with SkipChecksums too) and form, the order of keys within and across
// blocks and against the index, and that the filter (with IgnoreFilter too) is
// sound and denies no key. It goes on after damage, and returns every finding,
// joined: a *CorruptionError for each damaged part, and one for each key that
// the filter denies (beyond 10,000 keys, their number). It takes the memory of a
// second Reader, and of the findings.
//
// If all keys that the filter denies are in it without their last 8 bytes, the
// one finding is that this is the table of a database, and wants FilterKey to
// be InternalFilterKey. Of a filter that no policy is known for only the
// checksum is checked.
func (r *Reader) Verify() error {
	if r.closed.Load() {
		return ErrClosed
	}
	o := r.o
	o.SkipChecksums, o.IgnoreFilter, o.Metrics = false, false, nil
	err := verify(r.src, int64(r.limit)+footerLen, &o)
	if r.closed.Load() {
		return ErrClosed
	}
	return err
}

// verify checks the table anew.
func verify(src io.ReaderAt, size int64, o *ReaderOptions) error {
	r, err := NewReader(src, size, o)
	if err != nil {
		return err
	}
	v := verifier{r: r}
	v.add(v.filters())
	for i := range r.index.len() {
		v.add(v.block(i))
	}
	return v.findings()
}

// maxNamed bounds what a filter that denies everything can make of a table of
// millions of keys.
const maxNamed = 10_000

type verifier struct {
	r       *Reader
	buffers buffers
	it      block.Iter
	found   []error
	denied  int     // keys that the filter denies
	named   []error // one for each of these, up to maxNamed
	without int     // how many of these are in the filter without their last 8 bytes
}

func (v *verifier) add(err error) {
	if err != nil {
		v.found = append(v.found, err)
	}
}

// filters reports the damage that the Reader found in its filter, or else looks
// for some in the other filters, if only in their checksums.
func (v *verifier) filters() error {
	if errors.Is(v.r.filterErr, ErrCorrupt) {
		return v.r.filterErr
	}
	metaindex, err := v.r.readMetaindex()
	if err != nil {
		return err
	}
	for it := metaindex.NewIter(); it.Next(); {
		if !bytes.HasPrefix(it.Key(), []byte(filterPrefix)) {
			continue
		}
		h, err := decodeWholeHandle(it.Value(), v.r.limit)
		if err != nil {
			return corrupt(partMetaindex, v.r.footer.metaindex.offset, "%s: %w", wire.Quote(it.Key()), err)
		}
		if _, err := v.r.readStored(partFilter, h, &v.buffers); err != nil {
			return err
		}
	}
	return nil
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
	if v.denied++; len(v.named) < maxNamed {
		v.named = append(v.named, corrupt(partFilter, v.r.filterAt.offset, "denies key %s of the data block at %d", wire.Quote(key), offset))
	}
	if user := InternalFilterKey(key); v.r.o.FilterKey == nil && user != nil && v.r.filter.Contains(offset, user) {
		v.without++
	}
}

func (v *verifier) findings() error {
	at := v.r.filterAt.offset
	if v.denied > 0 && v.without == v.denied {
		hint := fmt.Errorf("table: %s at %d: denies %d keys but has them without their last 8 bytes: the table is a database's, and wants FilterKey: InternalFilterKey",
			partFilter, at, v.denied)
		return errors.Join(append(v.found, hint)...)
	}
	if more := v.denied - len(v.named); more > 0 {
		v.named = append(v.named, corrupt(partFilter, at, "denies %d further keys", more))
	}
	return errors.Join(append(v.found, v.named...)...)
}
