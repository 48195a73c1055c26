package table

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/internal/rowblock"
)

// A Comparer is a total order of keys. It has the method set of goleveldb's
// comparers, so that these can be used. It must be safe for concurrent use, must not
// change or keep the slices that it is given, and must not panic, whatever the bytes of the
// keys: a damaged file can have any.
//
// A table must be read with the Comparer that it was written with. With another one it reads
// as damaged, or its keys are not found. [AnyOrder] lists a table whose order is unknown.
//
// A filter compares keys by their bytes. If two keys of different bytes can compare as equal,
// set a FilterKey that returns the same bytes for both, or use a [FilterKeyer] as Comparer.
// Otherwise a lookup of one of them may not find the other one.
type Comparer interface {
	// Compare returns a negative number if a comes before b, a positive one if it comes
	// after b, and 0 if they are the same key.
	Compare(a, b []byte) int

	// Name identifies the order. A database stores it in its MANIFEST. A table has it
	// only in its Properties.
	Name() string

	// Separator returns a short key s with a <= s < b, appended to dst. It can return nil
	// instead of a itself. The caller guarantees a < b. If s is not in that range,
	// Writer.Append returns an error.
	Separator(dst, a, b []byte) []byte

	// Successor returns a short key s >= b, appended to dst. It can return nil instead of
	// b itself.
	Successor(dst, b []byte) []byte
}

// A FilterKeyer is a Comparer that says which part of a key the filters of its tables hold.
// Readers and Writers take it from their Comparer, unless their options have a FilterKey.
// InternalComparer returns one.
type FilterKeyer interface {
	Comparer

	// FilterKey returns the part of key that filters hold, or nil if filters do not hold
	// the key. It must not change or keep key. It must be safe for concurrent use.
	FilterKey(key []byte) []byte
}

// filterKeyFor returns the FilterKey for tables in the order of c: explicit, that of the
// options, if it is set, or else that of c. It is nil if filters hold whole keys.
func filterKeyFor(c Comparer, explicit func(key []byte) []byte) func(key []byte) []byte {
	if explicit != nil {
		return explicit
	}
	if c, ok := c.(FilterKeyer); ok {
		return c.FilterKey
	}
	return nil
}

// BytewiseComparer orders keys as bytes.Compare does. It is the default. Its name and its
// separators are those of LevelDB's BytewiseComparator.
var BytewiseComparer Comparer = bytewise{}

type bytewise struct{}

func (bytewise) BlockOrder() rowblock.Order { return rowblock.Order{} }

func (bytewise) Compare(a, b []byte) int { return bytes.Compare(a, b) }

func (bytewise) Name() string { return "leveldb.BytewiseComparator" }

// Separator cuts a after the first byte that differs from b, and adds 1 to that byte. If it
// would then not be < that byte of b, Separator returns nil.
func (bytewise) Separator(dst, a, b []byte) []byte {
	i, n := 0, min(len(a), len(b))
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n || a[i] >= b[i] || a[i]+1 == b[i] {
		return nil
	}
	return append(append(dst, a[:i]...), a[i]+1)
}

// Successor cuts b after its first byte that is not 0xff, and adds 1 to that byte.
func (bytewise) Successor(dst, b []byte) []byte {
	for i, c := range b {
		if c != 0xff {
			return append(append(dst, b[:i]...), c+1)
		}
	}
	return nil
}

// AnyOrder is the Comparer for a table whose order is unknown. It accepts keys in any
// order. Use it to list a table, not to look up keys.
//
// A Reader with AnyOrder opens any sound table. These work, in the order of the file: an
// Iter without bounds and its First, Last, Next and Prev; FirstKey and LastKey; Properties;
// and Verify, which checks all but the order. A Writer with AnyOrder takes keys in any
// order. Its separators are the last keys of the data blocks, which is right in any order.
//
// These return an error, which is not ErrNotFound: Get, AppendGet, GetMany, Find, AppendFind,
// FindGE, SeekGE, SeekLT, and every move of an Iter with bounds.
// ApproximateOffset returns the offset of the metaindex for every key. Compare always returns -1,
// so the iterators of package merge do not work with AnyOrder.
//
// For internal keys, take InternalComparer(AnyOrder). Filters then hold user keys, and the
// Properties of a table count deletions.
var AnyOrder Comparer = anyOrder{}

type anyOrder struct{}

func (anyOrder) Compare(_, _ []byte) int         { return -1 }
func (anyOrder) Name() string                    { return "sievetable.AnyOrder" }
func (anyOrder) Separator(_, _, _ []byte) []byte { return nil }
func (anyOrder) Successor(_, _ []byte) []byte    { return nil }
func (c anyOrder) BlockOrder() rowblock.Order {
	return rowblock.Order{Func: c.Compare, Unchecked: true}
}

// An anyInternalOrder is AnyOrder for internal keys.
type anyInternalOrder struct{ anyOrder }

func (anyInternalOrder) FilterKey(key []byte) []byte { return InternalFilterKey(key) }

var errAnyOrder = errors.New("table: AnyOrder does not find keys: open the table with its own Comparer to look them up")
