package layout

import (
	"iter"
	"math"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Filters are the filters of a table that lookups check. Filters of table.Reader and [Layout.Filters] return them.
type Filters struct {
	Blocks      *filter.BlockReader // the filter block; nil if no usable one exists
	BlocksEntry MetaindexEntry      // its name and handle in the metaindex
	Table       filter.TableFilter  // of the whole table; nil if no usable one exists, or if a Reader reads its Pages
	Pages       filter.PagedFilter  // of the whole table, if Readers read single pages of it; else nil
	TableEntry  MetaindexEntry      // its name and handle in the metaindex
	TableSize   int64               // bytes of Table, fewer than in the file if its policy has narrowed it
	TableBits   int                 // of each fingerprint in the file, if its policy can narrow it; else 0
	Never       *Exceptions         // of Table; nil if no usable ones exist
	NeverEntry  MetaindexEntry      // their name and handle in the metaindex
	Prefix      filter.Prefixer     // of the prefixes in both filters; nil if they contain none, or if it is unknown
}

// HasTable reports whether the whole table has a filter, in Table or Pages.
func (f *Filters) HasTable() bool { return f.Table != nil || f.Pages != nil }

// Exceptions are false positives of a table filter, from Never of table.WriterOptions: lookups treat these filter
// keys as absent. A nil *Exceptions is empty. Exceptions are immutable and safe for concurrent use.
//
// They belong to one filter. A filter of more keys, such as a union, may contain them as keys.
type Exceptions struct {
	block []byte // keys in bytewise order, without values
	n     int
}

// OpenExceptions is for package table. It checks the contents of an exceptions block, and returns nil if it is
// empty. memory limits the bytes allocated for keys that share bytes.
func OpenExceptions(contents []byte, memory int) (*Exceptions, error) {
	e := &Exceptions{block: contents}
	err := format.Walk(contents, true, memory, func(_, _ []byte) error {
		e.n++
		return nil
	})
	if err != nil || e.n == 0 {
		return nil, err
	}
	return e, nil
}

// Len returns the number of exceptions.
func (e *Exceptions) Len() int {
	if e == nil {
		return 0
	}
	return e.n
}

// Contains reports whether filterKey is an exception.
func (e *Exceptions) Contains(filterKey []byte) bool {
	if e == nil {
		return false
	}
	_, found, err := rowblock.GetChecked(e.block, filterKey)
	return found && err == nil // in a mapped file the block can change after it was checked
}

// All returns the exceptions in bytewise order. A key is valid until the next iteration, and must not be modified.
func (e *Exceptions) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var it rowblock.Iter
		if e == nil || it.Open(e.block, rowblock.Order{}, &rowblock.Budget{Memory: math.MaxInt}) != nil {
			return
		}
		for it.Next() && yield(it.Key()) {
		}
	}
}
