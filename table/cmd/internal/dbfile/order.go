package dbfile

import (
	"cmp"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
)

// An Order is what the user or a MANIFEST says of the order of user keys. The zero Order
// says nothing: the order is then bytewise, unless the keys contradict it.
type Order struct {
	Comparer     table.Comparer
	Manifest     string // name of the comparator in a MANIFEST; "": none
	Trusted      bool   // a table in another order is damaged
	SkipManifest bool   // do not look for a MANIFEST in the directory of a table
}

// ExplicitOrder is an order that the user gives.
func ExplicitOrder(c table.Comparer) Order { return Order{Comparer: c, Trusted: true} }

// ManifestOrder returns the order of the comparator that a MANIFEST names. An order other than bytewise is
// not trusted, because tools that do not know it sometimes write bytewise tables into such
// databases.
func ManifestOrder(name string) Order {
	o := Order{Manifest: cmp.Or(name, table.BytewiseComparer.Name())}
	if c, known := comparers.ByName(o.Manifest); known {
		o.Comparer, o.Trusted = c, c == table.BytewiseComparer
	} else {
		o.Comparer = table.AnyOrder
	}
	return o
}

// ManifestOrderOf returns the order in the MANIFEST of a file's directory, if that lists the file.
func ManifestOrderOf(path string) Order {
	if v := listing(path); v != nil {
		return ManifestOrder(v.Comparer)
	}
	return Order{}
}

// Or returns o, or other if o says nothing.
func (o Order) Or(other Order) Order {
	if o.Comparer == nil {
		return other
	}
	return o
}

// OrBytewise returns the comparer, or bytewise if o says nothing.
func (o Order) OrBytewise() table.Comparer { return cmp.Or(o.Comparer, table.BytewiseComparer) }

// looksInternal reports whether samples of keys look like internal keys. They must have
// that form. Without a MANIFEST, they must also be in the order of internal keys, or at
// least not in that of plain keys.
func (o Order) looksInternal(samples []keySample, form func(key []byte) bool) bool {
	if !allLook(samples, form) {
		return false
	}
	c := o.OrBytewise()
	return o.Manifest != "" || samplesOrdered(samples, table.InternalComparer(c)) || !samplesOrdered(samples, c)
}

// disorderNote says that keys are not in the order.
func (o Order) disorderNote() string {
	name := "bytewise order"
	if o.Manifest != "" {
		name = fmt.Sprintf("the order of %s that the MANIFEST names", wire.Quote([]byte(o.Manifest)))
	}
	return fmt.Sprintf("keys are not in %s, and may have been written with another comparator", name)
}
