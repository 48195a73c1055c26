package table

import (
	"bytes"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// A Comparer is a total order of keys. It has the method set of goleveldb's
// comparers, so that these can be used. It must be safe for concurrent use, must not
// change or keep the slices that it is given, and must not panic on any bytes: a damaged
// file may have any.
//
// A table does not store which order it was written in. With another Comparer it reads as
// damaged, or its keys are not found. [AnyOrder] reads a table without knowing its order.
//
// A filter knows keys by their bytes. Where two keys of different bytes compare as equal,
// the Comparer must be a [FilterKeyer], or the options must have a FilterKey, that returns
// the same bytes for both. Otherwise lookups may miss a key that the table has in its
// other form.
type Comparer interface {
	// Compare returns a negative number if a is before b, a positive one if it
	// is after b, and 0 if they are the same key.
	Compare(a, b []byte) int

	// Name identifies the order. Tables do not store it.
	Name() string

	// Separator appends to dst a short key s with a ≤ s < b, given a < b, and
	// returns the result; nil means to keep a. Append fails if s is not there.
	Separator(dst, a, b []byte) []byte

	// Successor appends to dst a short key s ≥ b and returns the result; nil
	// means to keep b.
	Successor(dst, b []byte) []byte
}

// A FilterKeyer is a Comparer that says which part of a key the filters of its tables hold.
// Readers and Writers take it from their Comparer, unless their options have a FilterKey.
// InternalComparer returns one.
type FilterKeyer interface {
	Comparer

	// FilterKey returns the part of key that filters hold, as WriterOptions.FilterKey
	// does. It must be safe for concurrent use.
	FilterKey(key []byte) []byte
}

// filterKeyFor returns what FilterKey is for tables of the order c, if the options have
// explicit. nil: filters hold whole keys.
func filterKeyFor(c Comparer, explicit func(key []byte) []byte) func(key []byte) []byte {
	if explicit != nil {
		return explicit
	}
	if c, ok := c.(FilterKeyer); ok {
		return c.FilterKey
	}
	return nil
}

// BytewiseComparer orders keys as bytes.Compare does. Its name and its
// separators are those of LevelDB's BytewiseComparator.
var BytewiseComparer Comparer = bytewise{}

type bytewise struct{}

func (bytewise) Compare(a, b []byte) int { return bytes.Compare(a, b) }

func (bytewise) Name() string { return "leveldb.BytewiseComparator" }

// Separator cuts a after the first byte in which it differs from b and adds one
// to that byte, if that leaves it below b's.
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

// Successor cuts b after its first byte that is not 0xff and adds one to that
// byte.
func (bytewise) Successor(dst, b []byte) []byte {
	for i, c := range b {
		if c != 0xff {
			return append(append(dst, b[:i]...), c+1)
		}
	}
	return nil
}

// compareFunc returns c's Compare, or nil, which is the fastest, for the bytewise
// order.
func compareFunc(c Comparer) func(a, b []byte) int {
	if _, ok := c.(bytewise); ok {
		return nil
	}
	return c.Compare
}

// BlockOrder returns what blocks of keys in c's order are opened with. It is for tools
// that read blocks by themselves, as [Layout.ReadBlock] gives them.
func BlockOrder(c Comparer) block.Order {
	order := block.Order{Func: compareFunc(c)}
	switch c := c.(type) {
	case internalComparer:
		if c.compare == nil {
			order.Suffix = format.InternalTrailerLen
		}
	case anyOrder, anyInternalOrder:
		order.Unchecked = true
	}
	return order
}
