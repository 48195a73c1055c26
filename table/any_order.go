package table

import "errors"

// AnyOrder is for programs that go through tables whose order they do not know: it
// takes keys in the order in which they are. With it, a Reader opens any sound table,
// and what goes from one entry to the next works in the order of the file: Iters
// without bounds, by First, Last, Next and Prev; FirstKey and LastKey; Properties;
// and Verify, which checks everything but the order. A Writer with it takes keys as
// they come, and gives each data block its last key for a separator, which is right
// whatever their order is.
//
// What looks for a key cannot work: Get, AppendGet, Find, SeekGE and SeekLT, and every
// move of an Iter with bounds, are an error that says so, and is not ErrNotFound.
// ApproximateOffset takes every key to be above all. Two tables cannot be merged by
// it, as it does not compare: a is before b, and b before a.
//
// InternalComparer(AnyOrder) is the same for internal keys. It makes a difference to the
// filters, and to the Properties that a Writer gives a table.
var AnyOrder Comparer = anyOrder{}

type anyOrder struct{}

func (anyOrder) Compare(_, _ []byte) int         { return -1 }
func (anyOrder) Name() string                    { return "sievetable.AnyOrder" }
func (anyOrder) Separator(_, _, _ []byte) []byte { return nil }
func (anyOrder) Successor(_, _ []byte) []byte    { return nil }

// anyInternalOrder is AnyOrder for internal keys.
type anyInternalOrder struct{ anyOrder }

func (anyInternalOrder) FilterKey(key []byte) []byte { return InternalFilterKey(key) }

var errAnyOrder = errors.New("table: AnyOrder does not find keys: open the table with its own Comparer to look them up")

// searchable returns an error if the order of keys is not known.
func (r *Reader) searchable() error {
	if r.order.Unchecked {
		return errAnyOrder
	}
	return nil
}
