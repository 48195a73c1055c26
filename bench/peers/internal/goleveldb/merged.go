package goleveldb

import (
	"bytes"
	"errors"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A merged is goleveldb's merged iterator over those of several tables.
type merged struct {
	it      iterator.Iterator
	readers []*table.Reader
	blocks  *cache.Cache // or nil
}

// Merge opens the tables as goleveldb's database does, with a common pool and cache.
func (e Engine) Merge(parts []engine.Pairs, o engine.Options) (engine.Merged, error) {
	m := &merged{}
	if e.Cache {
		m.blocks = cache.NewCache(cache.NewLRU(engine.CacheBytes))
	}
	var its []iterator.Iterator
	buffers := pool()
	for i, p := range parts {
		r, err := m.open(p, o, uint64(i), buffers)
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		m.readers = append(m.readers, r)
		its = append(its, r.NewIterator(nil, nil))
	}
	m.it = iterator.NewMergedIterator(its, comparer.DefaultComparer, true)
	return m, nil
}

// open writes a table and opens it.
func (m *merged) open(p engine.Pairs, o engine.Options, ns uint64, buffers *util.BufferPool) (*table.Reader, error) {
	var out bytes.Buffer
	if err := write(&out, p, o); err != nil {
		return nil, err
	}
	var namespace *cache.NamespaceGetter
	if m.blocks != nil {
		namespace = &cache.NamespaceGetter{Cache: m.blocks, NS: ns}
	}
	return table.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), storage.FileDesc{}, namespace, buffers, options(o))
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
		if !m.it.Seek(keys.At(i)) || !bytes.Equal(m.it.Key(), keys.At(i)) {
			return 0, seekError(m.it, keys.At(i))
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

func (m *merged) Close() error {
	if m.it != nil {
		m.it.Release()
	}
	for _, r := range m.readers {
		r.Release()
	}
	if m.blocks != nil {
		m.blocks.Close(true)
	}
	return nil
}
