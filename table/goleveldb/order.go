package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/comparer"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// An order is the order of the keys of a table.
type order struct {
	comparer table.Comparer

	// internal reports whether keys are internal keys, as in the tables of goleveldb's engine.
	internal bool

	// foreign reports whether the comparer is a program's own: it may panic for bytes that are not a key of the
	// program.
	foreign bool
}

// orderOf returns the order of a comparer. It recognizes goleveldb's engine's comparer, which is internal, and
// replaces it by package table's if user keys are in bytewise order.
func orderOf(c comparer.Comparer) order {
	switch {
	case c == comparer.DefaultComparer:
		return order{comparer: table.BytewiseComparer}
	case !isInternal(c):
		return order{comparer: c, foreign: true}
	case isBytewiseInternal(c):
		return order{comparer: bytewiseInternal, internal: true}
	default:
		return order{comparer: internalOrder{c}, internal: true}
	}
}

// An internalOrder extends the comparer of goleveldb's engine to any bytes. That panics for keys that are too short
// for an internal key. Here they come first, as in package table.
type internalOrder struct{ comparer.Comparer }

func (o internalOrder) Compare(a, b []byte) int {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return bytewiseInternal.Compare(a, b)
	}
	return o.Comparer.Compare(a, b)
}

func (o internalOrder) Separator(dst, a, b []byte) []byte {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return nil
	}
	return o.Comparer.Separator(dst, a, b)
}

func (o internalOrder) Successor(dst, b []byte) []byte {
	if len(b) < format.InternalTrailerLen {
		return nil
	}
	return o.Comparer.Successor(dst, b)
}
