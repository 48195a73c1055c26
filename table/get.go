package table

import (
	"sync"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

var buffersPool = sync.Pool{New: func() any { return new(buffers) }}

// maxPooledBlock keeps the block of one huge value from staying in memory.
const maxPooledBlock = 1<<20 + format.TrailerLen

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
// the block in memory, which takes at most about four times as much as the value
// or, with a Cache, as much as a block.
func (r *Reader) Get(key []byte) ([]byte, error) {
	value, b, err := r.lookup(key)
	if b != nil {
		value = b.keep(value)
		b.put()
	}
	return value, err
}

// AppendGet appends the value of key to dst and returns the result. If there is
// an error, ErrNotFound among them, it returns dst as it was. It allocates
// nothing if dst has room and the block is in the Cache, or if there is none, takes
// at most 1 MiB, stored and decompressed (and, in an order that is not bytewise,
// no key of it 64 KiB).
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	value, b, err := r.lookup(key)
	if err != nil {
		return dst, err
	}
	if b == nil {
		return append(dst, value...), nil
	}
	if len(dst) == 0 && cap(dst) < len(value) {
		dst = b.keep(value) // without a copy, if it is a large one
	} else {
		dst = append(dst, value...)
	}
	b.put()
	return dst, nil
}

// lookup returns the value of key. If b is not nil, the value is a part of it,
// and it is to be put back.
func (r *Reader) lookup(key []byte) (value []byte, b *buffers, err error) {
	i, asked, err := r.locate(key)
	if err != nil {
		return nil, nil, err
	}
	found := false
	if c := r.cached(i); c != nil {
		e := c.Entries(r.order)
		value, found = e.Get(key)
	} else if value, found, b, err = r.find(i, key, asked); err != nil {
		return nil, nil, err
	}
	if found {
		return value, b, nil
	}
	if m := r.o.Metrics; asked && m != nil {
		m.FilterFalsePositives.Add(1)
	}
	return nil, nil, ErrNotFound
}

// locate returns the only data block that can hold key, and whether a filter was
// asked, or ErrNotFound if index or filter rule the key out.
func (r *Reader) locate(key []byte) (i int, asked bool, err error) {
	if r.closed.Load() {
		return 0, false, ErrClosed
	}
	if err := r.searchable(); err != nil {
		return 0, false, err
	}
	m := r.o.Metrics
	if m != nil {
		m.Lookups.Add(1)
	}
	held := filterKey(r.o.FilterKey, key)
	may, asked := r.tableMayContain(held)
	if !may {
		return 0, true, ErrNotFound
	}
	if i = r.index.search(key); i == r.index.len() {
		return 0, false, ErrNotFound
	}
	may, blockAsked := r.mayContain(i, held)
	asked = asked || blockAsked
	if !may {
		return 0, asked, ErrNotFound
	}
	return i, asked, nil
}

// tableMayContain asks the whole table's filter whether the table may contain a
// key that FilterKey made this of, if there is one to ask.
func (r *Reader) tableMayContain(key []byte) (may, asked bool) {
	if r.tableFilter == nil || key == nil {
		return true, false
	}
	may = r.tableFilter.Contains(key)
	if m := r.o.Metrics; m != nil {
		m.FilterQuestions.Add(1)
		if !may {
			m.FilterNegatives.Add(1)
			m.TableFilterNegatives.Add(1)
		}
	}
	return may, true
}

// mayContain asks the filter whether data block i may contain a key that FilterKey
// made this of, if there is a filter to ask.
func (r *Reader) mayContain(i int, key []byte) (may, asked bool) {
	if r.filter == nil || key == nil {
		return true, false
	}
	may = r.filter.ContainsInSpan(r.places[i], key)
	if m := r.o.Metrics; m != nil {
		m.FilterQuestions.Add(1)
		if !may {
			m.FilterNegatives.Add(1)
		}
	}
	return may, true
}

// find reads data block i and looks for key in it. If b is not nil, the value is
// a part of it, and it is to be put back.
func (r *Reader) find(i int, key []byte, asked bool) (value []byte, found bool, b *buffers, err error) {
	b = buffersPool.Get().(*buffers)
	contents, err := r.readData(i, b)
	var p *block.Packed
	absent := false
	if err == nil {
		p, absent, err = r.readCached(i, contents, func(e *block.Entries) bool {
			if !asked {
				return false
			}
			_, found := e.Get(key)
			return !found
		})
	}
	switch {
	case err != nil || absent:
	case p != nil:
		e := p.Entries(r.order)
		value, found = e.Get(key)
	default:
		value, found, err = r.getIn(i, contents, key)
	}
	if p != nil || !found {
		b.put()
		b = nil
	}
	return value, found, b, err
}

// getIn looks for key in the contents of data block i, which are not checked.
func (r *Reader) getIn(i int, contents, key []byte) (value []byte, found bool, err error) {
	if value, found, err = block.Get(contents, r.order, key, r.lookupBudget(dataKeyBudget.of(r.footerOffset), len(contents))); err != nil {
		err = r.corruptData(i, err)
	}
	return value, found, err
}

// lookupBudget is what a lookup may take in a data block of that length, if its keys
// share bytes.
func (r *Reader) lookupBudget(memory, length int) block.Budget {
	budget := block.Budget{Memory: memory, Work: compareBudget(length)}
	if r.slots != nil {
		budget.Memory -= maxEntriesMemory // which have been tried first
	}
	return budget
}

// corruptData is the error for what is wrong in data block i.
func (r *Reader) corruptData(i int, err error) error {
	return r.damaged(DataBlock, r.index.handles[i], err)
}
