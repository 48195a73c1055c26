package table

import (
	"sync"

	"github.com/sievetable/sievetable/block"
)

var buffersPool = sync.Pool{New: func() any { return new(buffers) }}

// maxPooledBlock keeps the block of one huge value from staying in memory.
const maxPooledBlock = 1<<20 + trailerLen

// put gives the buffers to the next lookup.
func (b *buffers) put() {
	if cap(b.stored) > maxPooledBlock {
		b.stored = nil
	}
	if cap(b.decoded) > maxPooledBlock {
		b.decoded = nil
	}
	buffersPool.Put(b)
}

// Get returns the value of key, or ErrNotFound. The filter is asked first: what
// it rules out costs no data-block read.
//
// The value is the caller's to read, not to change, and stays valid forever. It
// has no capacity behind it. It may be a view of its data block: it then keeps
// the block in memory, which takes at most about four times as much as the value.
func (r *Reader) Get(key []byte) ([]byte, error) {
	i, asked, err := r.locate(key)
	if err != nil {
		return nil, err
	}
	b := buffersPool.Get().(*buffers)
	defer b.put()
	value, err := r.find(b, i, key, asked)
	if err != nil {
		return nil, err
	}
	return b.keep(value), nil
}

// AppendGet appends the value of key to dst and returns the result. If there is
// an error, ErrNotFound among them, it returns dst as it was. It allocates
// nothing if dst has room and the block takes at most 1 MiB, stored and
// decompressed (and, in an order that is not bytewise, no key of it 64 KiB).
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	i, asked, err := r.locate(key)
	if err != nil {
		return dst, err
	}
	b := buffersPool.Get().(*buffers)
	defer b.put()
	value, err := r.find(b, i, key, asked)
	if err != nil {
		return dst, err
	}
	if len(dst) == 0 && cap(dst) < len(value) {
		return b.keep(value), nil // without a copy, if it is a large one
	}
	return append(dst, value...), nil
}

// locate returns the only data block that can hold key, and whether its filter
// was asked, or ErrNotFound if index or filter rule the key out.
func (r *Reader) locate(key []byte) (i int, asked bool, err error) {
	if r.closed.Load() {
		return 0, false, ErrClosed
	}
	m := r.o.Metrics
	if m != nil {
		m.Lookups.Add(1)
	}
	if i = r.index.search(key); i == r.index.len() {
		return 0, false, ErrNotFound
	}
	may, asked := r.mayContain(i, key)
	if asked && m != nil {
		m.FilterQuestions.Add(1)
		if !may {
			m.FilterNegatives.Add(1)
		}
	}
	if !may {
		return 0, asked, ErrNotFound
	}
	return i, asked, nil
}

// mayContain asks the filter whether data block i may contain key, if there is
// a filter to ask.
func (r *Reader) mayContain(i int, key []byte) (may, asked bool) {
	if r.filter == nil {
		return true, false
	}
	if key = filterKey(r.o.FilterKey, key); key == nil {
		return true, false
	}
	return r.filter.Contains(r.index.handles[i].offset, key), true
}

// find looks for key in data block i and returns its value, a part of b.
func (r *Reader) find(b *buffers, i int, key []byte, asked bool) ([]byte, error) {
	contents, err := r.readData(i, b)
	if err != nil {
		return nil, err
	}
	h := r.index.handles[i]
	budget := block.Budget{Memory: dataKeyBudget.of(r.footerOffset), Work: compareBudget(h.length)}
	value, found, err := block.Get(contents, r.compare, key, budget)
	if err != nil {
		return nil, &CorruptionError{Block: partData, Offset: int64(h.offset), Err: err}
	}
	if found {
		return value, nil
	}
	if m := r.o.Metrics; asked && m != nil {
		m.FilterFalsePositives.Add(1)
	}
	return nil, ErrNotFound
}
