package source

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
)

// An Order is what is said of the order of users' keys. The zero Order is that nothing
// is said: it is bytewise then, if keys are.
type Order struct {
	comparer     table.Comparer
	manifest     string // what a MANIFEST calls it; "" if none does
	trusted      bool   // a table that is not in it is damaged
	skipManifest bool   // no MANIFEST that lies beside a table says more
}

// ExplicitOrder is an order that the user gives.
func ExplicitOrder(c table.Comparer) Order { return Order{comparer: c, trusted: true} }

// manifestOrder is what a database says. It is in another order than a bytewise one only if
// something else than LevelDB wrote to it, which does happen.
func manifestOrder(v *database.Version) Order {
	o := Order{manifest: cmp.Or(v.Comparer, table.BytewiseComparer.Name())}
	if c, known := comparers.ByName(o.manifest); known {
		o.comparer, o.trusted = c, c == table.BytewiseComparer
	} else {
		o.comparer = table.AnyOrder
	}
	return o
}

// manifestOrderOfTable is what the database says that a table lies in, if it has it.
func manifestOrderOfTable(path string) Order {
	n, err := fileNumber(path)
	if err != nil {
		return Order{}
	}
	v, err := database.Read(filepath.Dir(path))
	if err != nil || !hasTable(v, n) {
		return Order{}
	}
	return manifestOrder(v)
}

// manifestOrderOfLog is what the database says that a log lies in.
func manifestOrderOfLog(path string) Order {
	v, err := database.Read(filepath.Dir(path))
	if err != nil {
		return Order{}
	}
	return manifestOrder(v)
}

// Or returns o, or another one if it says nothing.
func (o Order) Or(other Order) Order {
	if o.comparer == nil {
		return other
	}
	return o
}

// comparerOrBytewise returns the order, if keys are in it.
func (o Order) comparerOrBytewise() table.Comparer {
	if o.comparer == nil {
		return table.BytewiseComparer
	}
	return o.comparer
}

// looksInternal reports whether samples of keys are internal keys: those of a database,
// or of a form that others hardly have, unless they are in order as they are.
func (o Order) looksInternal(samples []keySample) bool {
	if !allLookInternal(samples) {
		return false
	}
	c := o.comparerOrBytewise()
	return o.manifest != "" || samplesOrdered(samples, table.InternalComparer(c)) || !samplesOrdered(samples, c)
}

// disorderNote says that keys are not in the order.
func (o Order) disorderNote() string {
	name := "bytewise order"
	if o.manifest != "" {
		name = fmt.Sprintf("the order of %s that the MANIFEST names", wire.Quote([]byte(o.manifest)))
	}
	return fmt.Sprintf("keys are not in %s, and may have been written with another comparator", name)
}
