package table

import "errors"

// AnyOrder is the Comparer for a table whose order is unknown. It accepts keys in any
// order. Use it to list a table, not to look up keys.
//
// A Reader with AnyOrder opens any sound table. These work, in the order of the file: an
// Iter without bounds and its First, Last, Next and Prev; FirstKey and LastKey; Properties;
// and Verify, which checks all but the order. A Writer with AnyOrder takes keys in any
// order. Its separators are the last keys of the data blocks, which is right in any order.
//
// These return an error, which is not ErrNotFound: Get, AppendGet, GetContext, View, GetMany, Find,
// AppendFind, FindGE, Locate, SeekGE, SeekLT, and every move of an Iter with bounds.
// ApproximateOffset returns the offset of the metaindex for every key. Compare always returns −1,
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

// An anyInternalOrder is AnyOrder for internal keys.
type anyInternalOrder struct{ anyOrder }

func (anyInternalOrder) FilterKey(key []byte) []byte { return InternalFilterKey(key) }

var errAnyOrder = errors.New("table: AnyOrder does not find keys: open the table with its own Comparer to look them up")

// searchable returns an error if the order of keys is unknown.
func (t *openTable) searchable() error {
	if t.order.Unchecked {
		return errAnyOrder
	}
	return nil
}
