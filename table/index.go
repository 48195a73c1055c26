package table

import (
	"bytes"
	"fmt"
	"math"
	"sort"

	"github.com/sievetable/sievetable/block"
)

// index is the decoded index block: for each data block its separator and its
// handle, both in the order of the file.
type index struct {
	separators []byte   // one after the other
	ends       []uint32 // of each separator in separators
	handles    []handle
	compare    func(a, b []byte) int
}

func (x *index) len() int { return len(x.handles) }

// separator returns separator i.
func (x *index) separator(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.separators[start:x.ends[i]:x.ends[i]]
}

// search returns the first data block whose separator is not below key: the
// only one that can hold it. It is x.len() if all separators are below.
func (x *index) search(key []byte) int {
	low, high := 0, x.len()
	for low < high {
		mid := int(uint(low+high) >> 1)
		if x.order(x.separator(mid), key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func (x *index) order(a, b []byte) int {
	if x.compare == nil {
		return bytes.Compare(a, b)
	}
	return x.compare(a, b)
}

// readIndex reads the index block.
func (r *Reader) readIndex(h handle) (*index, error) {
	var b buffers
	contents, err := r.readBlock(partIndex, h, &b)
	if err != nil {
		return nil, err
	}
	x := &index{compare: r.compare}
	err = x.decode(contents, r.limit, min(uint64(len(contents))*maxIndexGain, uint64(r.o.MaxBlockSize), math.MaxUint32))
	if err != nil {
		return nil, &CorruptionError{Block: partIndex, Offset: int64(h.offset), Err: err}
	}
	return x, nil
}

// overlapping returns the data block that shares bytes with h, if one does.
func (x *index) overlapping(h handle) (handle, bool) {
	i := sort.Search(x.len(), func(i int) bool { return x.handles[i].end() > h.offset })
	if i < x.len() && x.handles[i].offset < h.end() {
		return x.handles[i], true
	}
	return handle{}, false
}

// maxIndexGain bounds how much larger than the index block its separators can
// be, beside MaxBlockSize. Indexes are written with a restart point at each
// entry, which shares nothing; in one that does share, long separators could
// multiply.
const maxIndexGain = 16

// decode decodes the index, whose blocks must follow one another below limit,
// and whose separators may take most bytes together.
func (x *index) decode(contents []byte, limit, most uint64) error {
	blk, err := block.Open(contents, x.compare)
	if err != nil {
		return err
	}
	last := uint64(0)
	for it := blk.NewIter(); it.Next(); {
		h, err := decodeWholeHandle(it.Value(), limit)
		if err != nil {
			return fmt.Errorf("separator %q: %w", it.Key(), err)
		}
		if h.offset < last {
			return fmt.Errorf("separator %q: data block at %d, want it behind the one before, at %d or later", it.Key(), h.offset, last)
		}
		if uint64(len(x.separators))+uint64(len(it.Key())) > most {
			return fmt.Errorf("separators of more than %d bytes, from a block of %d", most, len(contents))
		}
		last = h.end()
		x.separators = append(x.separators, it.Key()...)
		x.ends = append(x.ends, uint32(len(x.separators)))
		x.handles = append(x.handles, h)
	}
	return nil
}
