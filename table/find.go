package table

import (
	"bytes"

	"github.com/sievetable/sievetable/block"
)

// Find returns the first entry whose key is not below key, if FilterKey makes the
// two keys alike, and else ErrNotFound. The filter is asked first, as Get does: but
// for what FilterKey makes of key, so that it need not be known whole.
//
// It is how a database's table is asked for a version of a key: with
// InternalComparer, FilterKey: InternalFilterKey and key by [SeekKey], it finds the
// newest version of the user's key that the snapshot sees, or its tombstone.
//
// Keys that FilterKey makes alike must lie together in the order of the table, as
// those do that have a prefix in common. Those that it returns nil for count as alike
// too. So the entry can be one of another key, unless FilterKey makes of keys what is
// sought, as InternalFilterKey does: compare. Without FilterKey, Find finds what Get
// does.
//
// Key and value are the caller's to read, as Get's value is.
func (r *Reader) Find(key []byte) (k, v []byte, err error) {
	if r.closed.Load() {
		return nil, nil, ErrClosed
	}
	if err := r.searchable(); err != nil {
		return nil, nil, err
	}
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	wanted := filterKey(r.o.FilterKey, key)
	may, asked := r.tableMayContain(wanted)
	if !may {
		return nil, nil, ErrNotFound
	}
	first := r.index.search(key)
	for i := first; i < r.index.len(); i++ {
		memory := dataKeyBudget.of(r.footerOffset)
		if i > first {
			memory = 0 // the block's first key is the answer, and shares nothing
		}
		k, v, found, err := r.findIn(i, key, wanted, asked, memory)
		if err != nil {
			return nil, nil, err
		}
		if found {
			if r.alike(k, wanted) {
				return k, v, nil
			}
			break
		}
		// All the block's keys are below key, or not alike. The next block can
		// have one that is only if they go on up to its border.
		if !r.alike(r.index.separator(i), wanted) {
			break
		}
	}
	return nil, nil, ErrNotFound
}

// alike reports whether FilterKey makes wanted of key.
func (r *Reader) alike(key, wanted []byte) bool {
	if r.o.FilterKey == nil {
		return r.index.order(key, wanted) == 0
	}
	key = filterKey(r.o.FilterKey, key)
	return (key == nil) == (wanted == nil) && bytes.Equal(key, wanted)
}

// findIn returns data block i's first entry whose key is not below key, unless
// its filter says that the block has none that is alike. asked says whether the
// whole table's filter was.
func (r *Reader) findIn(i int, key, wanted []byte, asked bool, memory int) (k, v []byte, found bool, err error) {
	may, blockAsked := r.mayContain(i, wanted)
	if !may {
		return nil, nil, false, nil
	}
	asked = asked || blockAsked
	if c := r.cached(i); c != nil {
		k, v, found = seekEntry(c, r.order, key)
	} else if k, v, found, err = r.seekIn(i, key, wanted, asked, memory); err != nil {
		return nil, nil, false, err
	}
	if m := r.o.Metrics; m != nil && asked && !(found && r.alike(k, wanted)) {
		m.FilterFalsePositives.Add(1)
	}
	return k, v, found, nil
}

func seekEntry(c *block.Packed, order block.Order, key []byte) (k, v []byte, found bool) {
	e := c.Entries(order)
	i := e.SeekGE(key)
	if i == e.Len() {
		return nil, nil, false
	}
	return e.Key(i), e.Value(i), true
}

// seekIn does findIn's work in a block that has to be read.
func (r *Reader) seekIn(i int, key, wanted []byte, asked bool, memory int) (k, v []byte, found bool, err error) {
	b := buffersPool.Get().(*buffers)
	defer b.put()
	contents, err := r.readData(i, b)
	if err != nil {
		return nil, nil, false, err
	}
	p, vain, err := r.readCached(i, contents, func(e *block.Entries) bool {
		n := e.SeekGE(key)
		return asked && (n == e.Len() || !r.alike(e.Key(n), wanted))
	})
	switch {
	case err != nil || vain:
		return nil, nil, false, err
	case p != nil:
		k, v, found = seekEntry(p, r.order, key)
		return k, v, found, nil
	}
	if k, v, found, err = block.Seek(contents, r.order, key, r.lookupBudget(memory, len(contents))); err != nil {
		return nil, nil, false, r.corruptData(i, err)
	}
	if found {
		k, v = b.keepEntry(k, v)
	}
	return k, v, found, nil
}
