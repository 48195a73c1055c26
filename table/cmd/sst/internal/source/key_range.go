package source

import (
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// A KeyRange is a range of user keys.
type KeyRange struct {
	From, To            []byte // nil: no bound
	AfterFrom, BeforeTo bool   // From, or To, is not in the range itself
}

// String describes the range, such as `keys ≥ "a" and ≤ "b"`.
func (r KeyRange) String() string {
	var bounds []string
	if r.From != nil {
		bounds = append(bounds, map[bool]string{false: "≥ ", true: "> "}[r.AfterFrom]+wire.Quote(r.From))
	}
	if r.To != nil {
		bounds = append(bounds, map[bool]string{false: "≤ ", true: "< "}[r.BeforeTo]+wire.Quote(r.To))
	}
	if bounds == nil {
		return "keys, which can be any"
	}
	return "keys " + strings.Join(bounds, " and ")
}

// endsBefore reports whether all keys of the range are < from, or with after ≤ from. nil is
// before all keys.
func (r KeyRange) endsBefore(order table.Comparer, from []byte, after bool) bool {
	if r.To == nil || from == nil {
		return false
	}
	c := order.Compare(r.To, from)
	return c < 0 || c == 0 && (r.BeforeTo || after)
}

// overlaps reports whether a key can be in both ranges. In an unknown order any can.
func (r KeyRange) overlaps(order table.Comparer, o KeyRange) bool {
	return order == table.AnyOrder || !r.endsBefore(order, o.From, o.AfterFrom) && !o.endsBefore(order, r.From, r.AfterFrom)
}

// extend returns the smallest range that has all keys of two ranges.
func (r KeyRange) extend(order table.Comparer, o KeyRange) KeyRange {
	if order == table.AnyOrder {
		return KeyRange{}
	}
	if r.From != nil && (o.From == nil || order.Compare(o.From, r.From) <= 0) {
		r.AfterFrom = o.AfterFrom && (r.AfterFrom || order.Compare(o.From, r.From) < 0)
		r.From = o.From
	}
	if r.To != nil && (o.To == nil || order.Compare(o.To, r.To) >= 0) {
		r.BeforeTo = o.BeforeTo && (r.BeforeTo || order.Compare(o.To, r.To) > 0)
		r.To = o.To
	}
	return r
}
