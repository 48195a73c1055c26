package layout

import (
	"iter"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Filters are the filters of a table that lookups check. Filters of table.Reader and [Layout.Filters] return them.
type Filters struct {
	Blocks      *filter.BlockReader // the filter block; nil if there is none that can be used
	BlocksEntry MetaindexEntry      // its name and handle in the metaindex
	Table       filter.TableFilter  // of the whole table; nil if there is none that can be used, or a Reader reads its Pages
	Pages       filter.PagedFilter  // of the whole table, if Readers read it by the page; else nil
	TableEntry  MetaindexEntry      // its name and handle in the metaindex
	TableSize   int64               // bytes of Table, fewer than in the file if its policy has narrowed it
	TableBits   int                 // of each fingerprint in the file, if its policy can narrow it; else 0
	Never       *Exceptions         // of Table; nil if there are none that can be used
	NeverEntry  MetaindexEntry      // their name and handle in the metaindex
	Prefix      filter.Prefixer     // whose prefixes both hold; nil if they hold none, or if it is unknown
}

// HasTable reports whether there is a filter of the whole table, Table or Pages.
func (f *Filters) HasTable() bool { return f.Table != nil || f.Pages != nil }

// Exceptions are false positives of a table filter that Never of table.WriterOptions has named: lookups treat
// these filter keys as absent. A nil *Exceptions has none. Exceptions are immutable and safe for concurrent use.
//
// They belong to one filter. In a filter of more keys, such as a union, they may be keys.
type Exceptions struct {
	block []byte // in the bytewise order, without values
	n     int
}

// OpenExceptions is for package table. It checks the form of the contents of a block of exceptions, and returns nil
// if there are none. Keys that share bytes may take that much memory.
func OpenExceptions(contents []byte, memory int) (*Exceptions, error) {
	e := &Exceptions{block: contents}
	err := rowblock.Walk(contents, rowblock.Order{}, &rowblock.Budget{Memory: memory}, func([]byte, int, []byte) error {
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

// All returns the exceptions in bytewise order. The caller must not modify a key, which is valid only
// until the next iteration.
func (e *Exceptions) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var it rowblock.Iter
		if e == nil || it.Open(e.block, rowblock.Order{}, nil) != nil {
			return
		}
		for it.Next() && yield(it.Key()) {
		}
	}
}
