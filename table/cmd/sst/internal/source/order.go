package source

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
)

// An Order is what the user or a MANIFEST says of the order of user keys. The zero Order
// says nothing: the order is then bytewise, unless the keys contradict it.
type Order struct {
	comparer     table.Comparer
	manifest     string // name of the comparator in a MANIFEST; "": none
	trusted      bool   // a table in another order is damaged
	skipManifest bool   // do not look for a MANIFEST in the directory of a table
}

// ExplicitOrder is an order that the user gives.
func ExplicitOrder(c table.Comparer) Order { return Order{comparer: c, trusted: true} }

// manifestOrder returns the order of the comparator that a MANIFEST names. An order other than bytewise is
// not trusted, because tools that do not know it sometimes write bytewise tables into such
// databases.
func manifestOrder(name string) Order {
	o := Order{manifest: cmp.Or(name, table.BytewiseComparer.Name())}
	if c, known := comparers.ByName(o.manifest); known {
		o.comparer, o.trusted = c, c == table.BytewiseComparer
	} else {
		o.comparer = table.AnyOrder
	}
	return o
}

// manifestOrderOf returns the order in the MANIFEST of a file's directory, if that lists the file.
func manifestOrderOf(path string) Order {
	if v := listing(path); v != nil {
		return manifestOrder(v.Comparer)
	}
	return Order{}
}

// Or returns o, or other if o says nothing.
func (o Order) Or(other Order) Order {
	if o.comparer == nil {
		return other
	}
	return o
}

// OrBytewise returns the comparer, or bytewise if o says nothing.
func (o Order) OrBytewise() table.Comparer { return cmp.Or(o.comparer, table.BytewiseComparer) }

// looksInternal reports whether samples of keys look like internal keys. They must have
// that form. Without a MANIFEST, they must also be in the order of internal keys, or at
// least not in that of plain keys.
func (o Order) looksInternal(samples []keySample, form func(key []byte) bool) bool {
	if !allLook(samples, form) {
		return false
	}
	c := o.OrBytewise()
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

// noteUnknownOrder adds a note if the order of a directory is unknown.
func (s *Source) noteUnknownOrder() {
	lost := slices.ContainsFunc(s.Tables, func(t *Table) bool { return t.orderUnknown })
	switch {
	case s.Order == table.AnyOrder:
		s.Notes = append(s.Notes, fmt.Sprintf("%s: keys are in the order of %s, which sst does not know: tables are scanned one after the other", s.Path, wire.Quote([]byte(s.o.Order.manifest))))
	case s.o.Order.comparer == nil && lost:
		s.Order = table.AnyOrder
		s.Notes = append(s.Notes, fmt.Sprintf("%s: the order of keys is unknown: tables are scanned one after the other", s.Path))
	}
}

// scanTableByTable yields all entries if the order is unknown: those of the logs as they
// were written, and then those of one table after the other.
func (s *Source) scanTableByTable(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := s.checkScanWithoutOrder(o); err != nil {
			yield(Entry{}, err)
			return
		}
		parts := []iter.Seq2[Entry, error]{s.scanLogsInOrder(o)}
		for _, t := range s.Tables {
			one := *s
			one.Tables, one.runs, one.logs = []*Table{t}, nil, logs{}
			parts = append(parts, one.scanMerged(o))
		}
		if o.Reverse {
			slices.Reverse(parts)
		}
		for _, part := range parts {
			for e, err := range part {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// checkScanWithoutOrder returns an error for options that need the order of keys.
func (s *Source) checkScanWithoutOrder(o ScanOptions) error {
	what := ""
	switch {
	case o.From != nil || o.To != nil:
		what = "--from and --to cannot be applied"
	case o.Reverse && len(s.logs.paths) > 0:
		what = "--reverse cannot be applied to a log"
	case !o.Versions && s.Internal && len(s.Tables)+len(s.logs.paths) > 1:
		what = "the newest value of a key cannot be found"
	default:
		return nil
	}
	return fmt.Errorf("%s: the order of keys is unknown, so %s: %s", s.Path, what, comparers.Advice())
}

// SameOrder returns an error if the entries of two sources cannot be compared side by side.
func (s *Source) SameOrder(o *Source) error {
	for _, x := range []*Source{s, o} {
		if x.Order == table.AnyOrder {
			return fmt.Errorf("%s: the order of keys is unknown: %s", x.Path, comparers.Advice())
		}
	}
	if s.Order != o.Order {
		return fmt.Errorf("%s is in the order of %s, but %s is in the order of %s: use --comparator for both",
			s.Path, s.Order.Name(), o.Path, o.Order.Name())
	}
	return nil
}

// SameKey reports whether two user keys are equal.
func (s *Source) SameKey(a, b []byte) bool {
	if s.Order == table.AnyOrder || s.Order == table.BytewiseComparer {
		return bytes.Equal(a, b)
	}
	return s.Order.Compare(a, b) == 0
}
