package table

import (
	"sync"

	"github.com/sievetable/sievetable/block"
)

// cached returns data block i if it is in the cache, and else nil.
func (r *Reader) cached(i int) *block.Packed {
	if r.slots == nil {
		return nil
	}
	b := r.slots[i].Load()
	if b != nil {
		b.Touch()
	}
	if m := r.o.Metrics; m != nil {
		if b != nil {
			m.CacheHits.Add(1)
		} else {
			m.CacheMisses.Add(1)
		}
	}
	return b
}

// cachedAlready reports whether data block i is in the cache, without a trace.
func (r *Reader) cachedAlready(i int) bool { return r.slots != nil && r.slots[i].Load() != nil }

// maxCachedBlock is the most that a block may have to be kept in the cache. To read
// a larger one takes its time, and to keep it takes a copy.
const maxCachedBlock = 4 << 20

// entriesPool has what lookups decode blocks to, before the cache gets its copy.
var entriesPool = sync.Pool{New: func() any { return new(block.Entries) }}

// readCached keeps data block i, of these contents, in the cache, unless it was
// read in vain: if a filter was asked, and was wrong, that is no sign that it will
// be asked again. It returns nil if there is no cache, or if the block is not for
// it: it is then not checked.
func (r *Reader) readCached(i int, contents []byte, inVain func(e *block.Entries) bool) (p *block.Packed, vain bool, err error) {
	if r.slots == nil || int64(len(contents)) > min(maxCachedBlock, r.o.Cache.budget) {
		return nil, false, nil
	}
	e := entriesPool.Get().(*block.Entries)
	defer entriesPool.Put(e)
	if tooMany, err := r.decodeData(i, contents, e); tooMany || err != nil {
		return nil, false, err
	}
	if inVain(e) {
		return nil, true, nil
	}
	return r.admit(i, e), false, nil
}

// admit keeps a copy of e, data block i's entries, in the cache, and returns it.
// If there is no cache, or if they are too large for it, it returns nil.
func (r *Reader) admit(i int, e *block.Entries) *block.Packed {
	if r.slots == nil {
		return nil
	}
	if packed := e.PackedSize(); packed > maxCachedBlock || int64(packed)+seatSize > r.o.Cache.budget {
		return nil
	}
	b := e.Pack()
	r.o.Cache.add(&seat{block: b, size: int64(b.Size()) + seatSize, slot: &r.slots[i], owner: r.tenant})
	return b
}

// decodeData makes e the entries of data block i, checked as a whole and against
// the index. It reports if they are too many for that.
func (r *Reader) decodeData(i int, contents []byte, e *block.Entries) (tooMany bool, err error) {
	switch err := e.Decode(contents, r.order); {
	case err == block.ErrTooMany:
		return true, nil
	case err != nil:
		return false, r.corruptData(i, err)
	case e.Len() == 0:
		return false, nil
	}
	if err := r.checkLast(i, e.Key(e.Len()-1)); err != nil {
		return false, err
	}
	return false, r.checkFirst(i, e.Key(0))
}
