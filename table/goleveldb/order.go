package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/comparer"

	"github.com/sievetable/sievetable/table"
)

// An order is the order of the keys of a table.
type order struct {
	comparer table.Comparer

	// internal says that keys are internal keys, as in the tables of goleveldb's engine.
	internal bool

	// foreign says that the comparer is a program's own: it may panic if it is given what
	// is no key of the program.
	foreign bool
}

// orderOf returns the order of a comparer. It recognizes that of goleveldb's engine, which is
// internal, and takes one of package table for it where the user keys are in the bytewise order.
func orderOf(c comparer.Comparer) order {
	if c == comparer.DefaultComparer {
		return order{comparer: table.BytewiseComparer}
	}
	switch {
	case !isInternal(c):
		return order{comparer: c, foreign: true}
	case isBytewiseInternal(c):
		return order{comparer: bytewiseInternal, internal: true}
	default:
		return order{comparer: internalOrder{c}, internal: true}
	}
}

// An internalOrder is the comparer of goleveldb's engine, for any bytes: it panics for keys that
// are too short for an internal key. They come first, as in that of package table.
type internalOrder struct{ comparer.Comparer }

// trailerLen is the number of bytes behind the user key in an internal key.
const trailerLen = 8

func (o internalOrder) Compare(a, b []byte) int {
	if len(a) < trailerLen || len(b) < trailerLen {
		return bytewiseInternal.Compare(a, b)
	}
	return o.Comparer.Compare(a, b)
}

func (o internalOrder) Separator(dst, a, b []byte) []byte {
	if len(a) < trailerLen || len(b) < trailerLen {
		return nil
	}
	return o.Comparer.Separator(dst, a, b)
}

func (o internalOrder) Successor(dst, b []byte) []byte {
	if len(b) < trailerLen {
		return nil
	}
	return o.Comparer.Successor(dst, b)
}
