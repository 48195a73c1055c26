package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/wire"
)

// Verify reads the whole table anew and checks it all: each block's checksum
// (with SkipChecksums too) and form, the order of keys within and across
// blocks and against the index, and that each filter (with IgnoreFilter too) is
// sound and denies no key. It goes on after damage, and returns every finding,
// joined: a *CorruptionError for each damaged part, and one for each key that a
// filter denies (beyond 10,000 keys, their number). It takes the memory of a
// second Reader, and of the findings.
//
// If all keys that are denied are in the filter without their last 8 bytes, the
// one finding is that this is the table of a database, and wants FilterKey to
// be InternalFilterKey. Of a filter that no policy is known for, and of other
// blocks that the metaindex lists, only the checksum is checked.
func (r *Reader) Verify() error {
	if r.closed.Load() {
		return ErrClosed
	}
	o := r.o
	o.SkipChecksums, o.IgnoreFilter, o.Metrics = false, true, nil // filters are read by name below
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
	v.add(v.meta())
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
	tried   []handle        // filter blocks that there are policies for
	filters []checkedFilter // those of them that are sound
	found   []error
	denied  int     // keys that a filter denies
	named   []error // one for each of these, up to maxNamed
	without int     // how many of these are in the filter without their last 8 bytes
}

// checkedFilter is a filter block that there is a policy for.
type checkedFilter struct {
	at handle
	*filter.BlockReader
}

func (v *verifier) add(err error) {
	if err != nil {
		v.found = append(v.found, err)
	}
}

// meta checks each block that the metaindex lists, and keeps the filters.
func (v *verifier) meta() error {
	metaindex, err := v.r.readMetaindex()
	if err != nil {
		return err
	}
	for it := metaindex.NewIter(); it.Next(); {
		name, isFilter := bytes.CutPrefix(it.Key(), []byte(filterPrefix))
		part := partMeta
		if isFilter {
			part = partFilter
		}
		h, err := v.r.metaHandle(part, it.Value())
		if err != nil {
			v.add(err)
			continue
		}
		if p := v.r.policy(string(name)); isFilter && p != nil {
			v.add(v.addFilter(p, h))
			continue
		}
		_, err = v.r.readStored(part, h, &v.buffers)
		v.add(err)
	}
	return nil
}

// addFilter checks a filter and keeps it: once, though it may have two names.
func (v *verifier) addFilter(p filter.Policy, h handle) error {
	if slices.Contains(v.tried, h) {
		return nil
	}
	v.tried = append(v.tried, h)
	f, err := v.r.openFilter(p, h)
	if err != nil {
		return err
	}
	v.filters = append(v.filters, checkedFilter{h, f})
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

// key asks each filter for a key of data block i.
func (v *verifier) key(i int, key []byte) {
	held := filterKey(v.r.o.FilterKey, key)
	if held == nil {
		return
	}
	offset := v.r.index.handles[i].offset
	for _, f := range v.filters {
		if f.Contains(offset, held) {
			continue
		}
		if v.denied++; len(v.named) < maxNamed {
			v.named = append(v.named, corrupt(partFilter, f.at.offset, "denies key %s of the data block at %d", wire.Quote(key), offset))
		}
		if user := InternalFilterKey(key); v.r.o.FilterKey == nil && user != nil && f.Contains(offset, user) {
			v.without++
		}
	}
}

func (v *verifier) findings() error {
	if v.denied > 0 && v.without == v.denied {
		hint := fmt.Errorf("table: %s at %d: denies %d keys but has them without their last 8 bytes: the table is a database's, and wants FilterKey: InternalFilterKey",
			partFilter, v.filters[0].at.offset, v.denied)
		return errors.Join(append(v.found, hint)...)
	}
	if more := v.denied - len(v.named); more > 0 {
		v.named = append(v.named, fmt.Errorf("table: %s: denies %d further keys", partFilter, more))
	}
	return errors.Join(append(v.found, v.named...)...)
}
