package table

import (
	"sync"

	"github.com/sievetable/sievetable/block"
)

// lookup is what one lookup needs beside the Reader.
type lookup struct {
	buffers buffers
	it      block.Iter
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

// maxPooledBlock keeps the block of one huge value from staying in memory.
const maxPooledBlock = 1 << 20

// done makes the lookup ready for another one.
func (l *lookup) done() {
	l.it.Reset(block.Block{})
	if cap(l.buffers.stored) > maxPooledBlock {
		l.buffers.stored = nil
	}
	if cap(l.buffers.decoded) > maxPooledBlock {
		l.buffers.decoded = nil
	}
	lookups.Put(l)
}

// Get returns the value of key, or ErrNotFound. The filter is asked first: what
// it rules out costs no data-block read.
//
// The value is a read-only view of its data block, without capacity behind it.
// It stays true for ever, and keeps the whole block in memory as long; use
// AppendGet for values that are kept in numbers.
func (r *Reader) Get(key []byte) ([]byte, error) {
	i, asked, err := r.locate(key)
	if err != nil {
		return nil, err
	}
	l := lookups.Get().(*lookup)
	defer l.done()
	value, err := r.find(l, i, key, asked)
	if err != nil {
		return nil, err
	}
	l.buffers.release()
	return value, nil
}

// AppendGet appends the value of key to dst and returns the result. If there is
// an error, ErrNotFound among them, it returns dst as it was. It allocates
// nothing if dst has room.
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	i, asked, err := r.locate(key)
	if err != nil {
		return dst, err
	}
	l := lookups.Get().(*lookup)
	defer l.done()
	value, err := r.find(l, i, key, asked)
	if err != nil {
		return dst, err
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
	if r.o.FilterKey != nil {
		if key = r.o.FilterKey(key); key == nil {
			return true, false
		}
	}
	return r.filter.Contains(r.index.handles[i].offset, key), true
}

// find looks for key in data block i and returns its value, in l's buffers.
func (r *Reader) find(l *lookup, i int, key []byte, asked bool) ([]byte, error) {
	b, err := r.readData(i, &l.buffers)
	if err != nil {
		return nil, err
	}
	l.it.Reset(b)
	if l.it.SeekGE(key) && r.index.order(l.it.Key(), key) == 0 {
		return l.it.Value(), nil
	}
	if m := r.o.Metrics; asked && m != nil {
		m.FilterFalsePositives.Add(1)
	}
	return nil, ErrNotFound
}
