package ours

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A merged is an iterator over several tables.
type merged struct{ it merge.Iterator }

// Merge merges the Iters of the tables, which have a common cache.
func (e Engine) Merge(parts []engine.Pairs, o engine.Options) (engine.Merged, error) {
	ro := readerOptions(engine.Warm, nil)
	its, err := iters(parts, e.writerOptions(o), ro, func(_ int, key []byte) []byte { return key })
	return &merged{merge.New(nil, its...)}, err
}

// Snapshots merges tables as a storage engine does: they have internal keys, and what is
// shown are the user keys that a snapshot sees.
type Snapshots struct{}

// Merge merges tables with a sequence number in each key.
func (Snapshots) Merge(parts []engine.Pairs, o engine.Options) (engine.Merged, error) {
	order := table.InternalComparer(nil)
	wo, ro := Engine{}.writerOptions(o), readerOptions(engine.Warm, nil)
	wo.Comparer, ro.Comparer = order, order
	its, err := iters(parts, wo, ro, func(i int, key []byte) []byte {
		return table.InternalKey{UserKey: key, Sequence: uint64(i), Kind: table.KindSet}.Append(nil)
	})
	return &merged{merge.NewSnapshotIter(nil, merge.New(order, its...), table.MaxSequence)}, err
}

// iters writes tables of the parts, with the keys that keyOf returns, and returns their Iters.
func iters(parts []engine.Pairs, wo *table.WriterOptions, ro *table.ReaderOptions, keyOf func(i int, key []byte) []byte) ([]merge.Iterator, error) {
	var its []merge.Iterator
	for _, p := range parts {
		var out bytes.Buffer
		w, err := table.NewWriter(&out, wo)
		if err != nil {
			return nil, err
		}
		for i := range p.Keys.N {
			if err := w.Append(keyOf(i, p.Keys.At(i)), p.Values.At(i)); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		r, err := table.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), ro)
		if err != nil {
			return nil, err
		}
		its = append(its, r.NewIter(nil))
	}
	return its, nil
}

func (m *merged) Scan(backward bool) (bytes int64, err error) {
	first, next := m.it.First, m.it.Next
	if backward {
		first, next = m.it.Last, m.it.Prev
	}
	for ok := first(); ok; ok = next() {
		bytes += int64(len(m.it.Key()) + len(m.it.Value()))
	}
	return bytes, m.it.Error()
}

func (m *merged) SeekScan(keys engine.Packed, n int) (sum int64, err error) {
	for i := range keys.N {
		if !m.it.SeekGE(keys.At(i)) || !bytes.Equal(m.it.Key(), keys.At(i)) {
			return 0, errors.Join(m.it.Error(), engine.Wrong(keys.At(i), true))
		}
		for range n {
			if !m.it.Next() {
				break
			}
			sum += int64(len(m.it.Key()) + len(m.it.Value()))
		}
	}
	return sum, m.it.Error()
}

func (m *merged) Close() error { return m.it.Close() }
