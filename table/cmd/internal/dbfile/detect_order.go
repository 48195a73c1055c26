package dbfile

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
)

// declareOrder sets the order that the user or a MANIFEST specifies, until the keys are examined.
func (f *File) declareOrder(o Order) {
	f.Declared = o
	if o.Comparer == nil && !o.SkipManifest {
		f.Declared = ManifestOrderOf(f.Path)
	}
	if f.Order = f.Declared.OrBytewise(); f.Order == table.AnyOrder {
		f.OrderNote = fmt.Sprintf("keys are in the order of comparator %s, which sst does not know", format.Quote([]byte(f.Declared.Manifest)))
	}
}

// detectOrder checks the order against the keys, unless it is trusted. If few is set, it examines only a few data
// blocks. If these do not reveal a wrong order, Verify and checkMiss still notice it.
func (f *File) detectOrder(few bool) {
	if !f.checksOrder() {
		return
	}
	blocks := f.orderSample()
	if few && len(blocks) > orderFewBlocks {
		blocks, f.unchecked = f.fewBlocks(), true
	}
	switch {
	case f.isOrdered(f.Order, blocks):
	case f.Order != table.BytewiseComparer && f.isOrdered(table.BytewiseComparer, blocks):
		f.Order = table.BytewiseComparer
		f.OrderNote = fmt.Sprintf("keys are in bytewise order, though the MANIFEST names comparator %s", format.Quote([]byte(f.Declared.Manifest)))
	default:
		f.setOrderUnknown()
	}
}

// checksOrder reports whether the order is to be checked against the keys.
func (f *File) checksOrder() bool { return !f.Declared.Trusted && f.Order != table.AnyOrder }

// setOrderUnknown treats the order as unknown, because the keys contradict it.
func (f *File) setOrderUnknown() {
	f.OrderNote = f.Declared.disorderNote()
	f.Order, f.unchecked = table.AnyOrder, false
}

// isOrdered reports whether the separators, and the keys of the data blocks, are in the order given by user. It
// skips damaged blocks.
func (f *File) isOrdered(user table.Comparer, blocks []int) bool {
	order, data := Stored{f.Internal, user}.Comparer(), f.Layout.Data
	for i := 1; i < len(data); i++ {
		if order.Compare(data[i-1].Separator, data[i].Separator) >= 0 {
			return false
		}
	}
	budget := orderSampleDecoded
	for _, i := range blocks {
		if budget <= 0 {
			break
		}
		it, size, _, err := f.OpenDataBlock(data[i].Handle, order)
		if budget -= size; errors.Is(err, table.ErrOrder) || err == nil && !f.isBetween(order, i, it) {
			return false
		}
	}
	return true
}

// isBetween reports whether the first and the last key of data block i are between its separators.
func (f *File) isBetween(order table.Comparer, i int, it *rowblock.Iter) bool {
	data := f.Layout.Data
	if it.First() && i > 0 && order.Compare(data[i-1].Separator, it.Key()) >= 0 {
		return false
	}
	return !it.Last() || order.Compare(it.Key(), data[i].Separator) <= 0
}

// orderSample returns the numbers of data blocks spread over the file.
func (f *File) orderSample() []int {
	stored := uint64(0)
	for _, part := range f.Layout.Data {
		stored += part.Length
	}
	each := 1 + int(stored/orderSampleStored)
	return spread(len(f.Layout.Data), (len(f.Layout.Data)+each-1)/each)
}

// fewBlocks returns the numbers of a few data blocks spread over the file, including the first and the last. It
// leaves out blocks that are too large.
func (f *File) fewBlocks() []int {
	left := uint64(orderFewStored)
	return slices.DeleteFunc(spread(len(f.Layout.Data), orderFewBlocks), func(i int) bool {
		n := f.Layout.Data[i].Length
		if n > left {
			return true
		}
		left -= n
		return false
	})
}

// DetectOrder checks the order against the keys of undamaged blocks, unless it is trusted. If they contradict it,
// the order becomes unknown.
func (f *File) DetectOrder(blocks iter.Seq[*rowblock.Iter]) {
	if !f.checksOrder() {
		return
	}
	order := f.Comparer()
	var last []byte
	for it := range blocks {
		for first := true; it.Next(); first = false {
			if !first && order.Compare(last, it.Key()) >= 0 {
				f.setOrderUnknown()
				return
			}
			last = append(last[:0], it.Key()...)
		}
	}
}

// ReadInAnyOrder makes the Reader accept keys in any order.
func (f *File) ReadInAnyOrder() error {
	f.Order = table.AnyOrder
	f.Options.Comparer = f.Comparer()
	r, err := table.NewReader(f.Src, f.Size, f.Options)
	if err == nil {
		f.Reader = r
	}
	return err
}

// checkLookup returns an error if keys cannot be looked up, because the order is unknown.
func (f *File) checkLookup() error {
	if f.Order == table.AnyOrder {
		return &FileError{f.Path, errors.New("the key order is unknown, so keys cannot be looked up: " + comparers.Advice())}
	}
	return nil
}

// checkMiss returns an error if a lookup may have missed a user key that is in the table, because the few keys
// that were examined did not reveal another order. At the first miss, it checks the data blocks whose filters do
// not rule the key out: if they are in order, the key is absent. At the second miss, it checks as many blocks as
// for a scan.
func (f *File) checkMiss(user []byte) error {
	if !f.unchecked {
		return nil
	}
	blocks := f.orderSample()
	var some []int
	for i, part := range f.Layout.Data {
		if f.filters.Contains(part.Offset, user) {
			some = append(some, i)
		}
	}
	if !f.missed && len(some) <= len(blocks) {
		blocks, f.missed = some, true
	} else {
		f.unchecked = false
	}
	if !f.isOrdered(f.Order, blocks) {
		f.setOrderUnknown()
	}
	return f.checkLookup()
}

// Limits for detecting the order. Most tables are examined completely, unless few blocks suffice.
const (
	orderSampleStored  = 8 << 20  // bytes of blocks as stored
	orderSampleDecoded = 64 << 20 // bytes of blocks decompressed
	orderFewBlocks     = 16
	orderFewStored     = 1 << 20 // bytes of blocks as stored
)

// An Order is the order of user keys that the user or a MANIFEST specifies. The zero Order specifies none: the
// order is then bytewise, unless the keys contradict it.
type Order struct {
	Comparer     table.Comparer
	Manifest     string // name of the comparator in a MANIFEST; "": none
	Trusted      bool   // a table in another order is damaged
	SkipManifest bool   // do not look for a MANIFEST in the table's directory
}

// ExplicitOrder returns an order that the user specifies.
func ExplicitOrder(c table.Comparer) Order { return Order{Comparer: c, Trusted: true} }

// ManifestOrder returns the order of the comparator named in a MANIFEST. An order other than bytewise is not
// trusted, because tools that do not know it sometimes write bytewise tables into such databases.
func ManifestOrder(name string) Order {
	o := Order{Manifest: cmp.Or(name, table.BytewiseComparer.Name())}
	if c, known := comparers.ByName(o.Manifest); known {
		o.Comparer, o.Trusted = c, c == table.BytewiseComparer
	} else {
		o.Comparer = table.AnyOrder
	}
	return o
}

// ManifestOrderOf returns the order in the MANIFEST of the file's directory, if the MANIFEST lists the file.
func ManifestOrderOf(path string) Order {
	if v := listing(path); v != nil {
		return ManifestOrder(v.Comparer)
	}
	return Order{}
}

// Or returns o, or other if o specifies no order.
func (o Order) Or(other Order) Order {
	if o.Comparer == nil {
		return other
	}
	return o
}

// OrBytewise returns the comparer, or bytewise if o specifies no order.
func (o Order) OrBytewise() table.Comparer { return cmp.Or(o.Comparer, table.BytewiseComparer) }

// looksInternal reports whether samples of keys look like internal keys. They must have that form. Without a
// MANIFEST, they must also be in the order of internal keys, or at least not in the order of plain keys.
func (o Order) looksInternal(samples [][][]byte, form func(key []byte) bool) bool {
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
		name = fmt.Sprintf("the order of comparator %s, which the MANIFEST names", format.Quote([]byte(o.Manifest)))
	}
	return fmt.Sprintf("keys are not in %s, so the comparator may be another one", name)
}
