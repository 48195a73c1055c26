package table

import (
	"iter"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// Exceptions are the filter keys that the filter of a whole table has by chance, and that
// WriterOptions.Never has named: lookups deny them. They are immutable and safe for concurrent use. A
// nil *Exceptions has none.
//
// They are about one filter. A filter of more keys, such as the union of two, must not have the
// exceptions that are keys of the other one.
type Exceptions struct {
	block []byte // in the bytewise order, without values
	n     int
}

// maxExpansion is how many times as long as their blocks keys may be together, where all of them are checked
// or kept: those of a forged block can share so many bytes that they would take too long, or all memory.
const maxExpansion = 320

// exceptionsBudget bounds the memory for the keys in the exceptions block.
var exceptionsBudget = tablefile.Budget{Fixed: 4 << 20, PerByte: 1}

// Len returns the number of exceptions.
func (e *Exceptions) Len() int {
	if e == nil {
		return 0
	}
	return e.n
}

// Contains reports whether filterKey is an exception. It does not keep or change filterKey.
func (e *Exceptions) Contains(filterKey []byte) bool {
	if e == nil {
		return false
	}
	_, found, err := encoded.GetChecked(e.block, filterKey)
	return found && err == nil // in a mapped file the block can change after it was checked
}

// size returns how many bytes the exceptions take as they are stored.
func (e *Exceptions) size() int64 {
	if e == nil {
		return 0
	}
	return int64(len(e.block))
}

// All returns the exceptions in the bytewise order. Each is valid until the next iteration of the loop,
// which must not change it.
func (e *Exceptions) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var it encoded.Iter
		if e == nil || it.Open(e.block, encoded.Order{}, nil) != nil {
			return
		}
		for it.Next() && yield(it.Key()) {
		}
	}
}

// openExceptions opens the exceptions that the metaindex lists, or returns nil if there are none. They
// must not share bytes with the other blocks.
func (f metaReader) openExceptions(m tablefile.Metaindex, others []tablefile.Handle) (*Exceptions, MetaindexEntry, error) {
	h, err := f.FindMeta(m, tablefile.NeverBlock, format.NeverName)
	if err != nil || h.Length == 0 {
		return nil, MetaindexEntry{}, err
	}
	listed := MetaindexEntry{format.NeverName, Handle(h)}
	for _, other := range others {
		if other.Length > 0 && h.Overlaps(other) {
			return nil, listed, f.Corrupt(tablefile.NeverBlock, h, "overlaps the block at %d", other.Offset)
		}
	}
	e, err := f.readExceptions(h)
	return e, listed, err
}

// readExceptions reads the exceptions at h, and checks their form.
func (f metaReader) readExceptions(h tablefile.Handle) (*Exceptions, error) {
	var b tablefile.Scratch
	contents, err := f.ReadInPlace(tablefile.NeverBlock, h, &b)
	if err != nil {
		return nil, err
	}
	e := &Exceptions{block: contents}
	budget := encoded.Budget{Memory: f.Allow(exceptionsBudget)}
	err = encoded.Walk(contents, encoded.Order{}, &budget, func([]byte, int, []byte) error {
		e.n++
		return nil
	})
	if err != nil {
		return nil, f.Damaged(tablefile.NeverBlock, h, err)
	}
	return e, nil
}
