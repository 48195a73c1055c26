package table

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Comparer is a total order of keys, like goleveldb's. It must be safe for concurrent use, must not modify or keep
// the slices, and must not panic for any bytes. Read a table with the Comparer that it was written with: with another
// one, reads fail with [ErrOrder] or miss keys.
//
// A Comparer may also have a method FilterKey([]byte) []byte, which Readers and Writers use if their options have no
// FilterKey. Without one, filters hold whole keys, so a Comparer for which keys of different bytes can be equal must
// have one.
type Comparer interface {
	// Compare returns a negative number if a < b, a positive one if a > b, and 0 if they are the same key.
	Compare(a, b []byte) int

	// Name identifies the order. A database stores it in its MANIFEST, a table only in its Properties.
	Name() string

	// Separator appends a short key s with a <= s < b to dst, or returns nil for a itself. a < b.
	Separator(dst, a, b []byte) []byte

	// Successor appends a short key s >= b to dst, or returns nil for b itself.
	Successor(dst, b []byte) []byte
}

// A filterKeyer is a Comparer that defines the filter key of its keys.
type filterKeyer interface{ FilterKey(key []byte) []byte }

// filterKeyFor returns the FilterKey for tables ordered by c: explicit, from the options, if it is set, or else c's.
// It is nil if filters hold whole keys. userKeys reports whether it is an InternalComparer's that returns the whole
// user key.
func filterKeyFor(c Comparer, explicit func(key []byte) []byte) (f func(key []byte) []byte, userKeys bool) {
	keyer, ok := c.(filterKeyer)
	if explicit != nil || !ok {
		return explicit, false
	}
	internal, ok := c.(internalComparer)
	if ok {
		_, partly := internal.user.(filterKeyer)
		userKeys = !partly
	}
	return keyer.FilterKey, userKeys
}

// BytewiseComparer orders keys like bytes.Compare. It is the default.
var BytewiseComparer Comparer = bytewise{}

type bytewise struct{}

func (bytewise) BlockOrder() rowblock.Order { return rowblock.Order{} }

func (bytewise) Compare(a, b []byte) int { return bytes.Compare(a, b) }

func (bytewise) Name() string { return "leveldb.BytewiseComparator" }

// Separator cuts a after the first byte that differs from b, and adds 1 to that byte. If it
// would then not be < that byte of b, Separator returns nil.
func (bytewise) Separator(dst, a, b []byte) []byte {
	i := format.SharedLen(a, b)
	if i == min(len(a), len(b)) || a[i] >= b[i] || a[i]+1 == b[i] {
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

// AnyOrder is the Comparer for listing a table of unknown order, and for writing keys in any order. Iterators without
// bounds, Properties and Verify work. Lookups except MayContain, seeks and bounds fail, with an error other than
// [ErrNotFound]. For internal keys, use InternalComparer(AnyOrder).
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

func (anyInternalOrder) FilterKey(key []byte) []byte { return internalkey.UserKey(key) }

var errAnyOrder = errors.New("table: AnyOrder does not find keys: open the table with its own Comparer to look them up")
