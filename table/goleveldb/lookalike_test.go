package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
)

// iComparer and iFilter have the names and fields of types in goleveldb's engine, but accept any bytes as keys.
type (
	iComparer struct{ ucmp }
	iFilter   struct{ lfilter.Filter }
)

type ucmp = comparer.Comparer // for the name of the field

// Lookalikes returns a comparer and a filter of these types.
func Lookalikes(c comparer.Comparer, f lfilter.Filter) (comparer.Comparer, lfilter.Filter) {
	return &iComparer{c}, &iFilter{f}
}
