package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
)

// iComparer and iFilter have the names and fields of types in goleveldb's engine, but accept any bytes as keys.
type iComparer struct{ ucmp comparer.Comparer }

func (c *iComparer) Name() string                      { return c.ucmp.Name() }
func (c *iComparer) Compare(a, b []byte) int           { return c.ucmp.Compare(a, b) }
func (c *iComparer) Separator(dst, a, b []byte) []byte { return c.ucmp.Separator(dst, a, b) }
func (c *iComparer) Successor(dst, b []byte) []byte    { return c.ucmp.Successor(dst, b) }

type iFilter struct{ Filter lfilter.Filter }

func (f *iFilter) Name() string                          { return f.Filter.Name() }
func (f *iFilter) NewGenerator() lfilter.FilterGenerator { return f.Filter.NewGenerator() }
func (f *iFilter) Contains(filter, key []byte) bool      { return f.Filter.Contains(filter, key) }

// Lookalikes returns a comparer and a filter of these types.
func Lookalikes(c comparer.Comparer, f lfilter.Filter) (comparer.Comparer, lfilter.Filter) {
	return &iComparer{c}, &iFilter{f}
}
