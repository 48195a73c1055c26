package source

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
)

// An Order is what is said of the order of users' keys. The zero Order is that nothing
// is said: it is bytewise then, if keys are.
type Order struct {
	comparer table.Comparer
	manifest string // what a MANIFEST calls it; "" if none does
	sure     bool   // a table that is not in it is damaged
	looked   bool   // no MANIFEST that lies beside a table says more
}

// Chosen is an order that the user gives.
func Chosen(c table.Comparer) Order { return Order{comparer: c, sure: true} }

// orderOf is what a database says. It is in another order than a bytewise one only if
// something else than LevelDB wrote to it, which does happen.
func orderOf(v *database.Version) Order {
	o := Order{manifest: cmp.Or(v.Comparer, table.BytewiseComparer.Name())}
	if c, known := comparers.ByName(o.manifest); known {
		o.comparer, o.sure = c, c == table.BytewiseComparer
	} else {
		o.comparer = table.AnyOrder
	}
	return o
}

// orderBeside is what the database says that a table lies in, if it has it.
func orderBeside(path string) Order {
	n, err := number(path)
	if err != nil {
		return Order{}
	}
	v, err := database.Read(filepath.Dir(path))
	if err != nil || !lists(v, n) {
		return Order{}
	}
	return orderOf(v)
}

// orderBesideLog is what the database says that a log lies in.
func orderBesideLog(path string) Order {
	v, err := database.Read(filepath.Dir(path))
	if err != nil {
		return Order{}
	}
	return orderOf(v)
}

// Or returns o, or another one if it says nothing.
func (o Order) Or(other Order) Order {
	if o.comparer == nil {
		return other
	}
	return o
}

// OrBytewise returns the order, if keys are in it.
func (o Order) OrBytewise() table.Comparer {
	if o.comparer == nil {
		return table.BytewiseComparer
	}
	return o.comparer
}

// looksInternal reports whether samples of keys are internal keys: those of a database,
// or of a form that others hardly have, unless they are in order as they are.
func (o Order) looksInternal(samples []sample) bool {
	if !shaped(samples) {
		return false
	}
	c := o.OrBytewise()
	return o.manifest != "" || ordered(samples, table.InternalComparer(c)) || !ordered(samples, c)
}

// claimOrder takes what is said of the table's order for true, until keys are looked at.
func (f *File) claimOrder(o Order) {
	f.claim = o
	if o.comparer == nil && !o.looked {
		f.claim = orderBeside(f.Path)
	}
	f.Order = f.claim.OrBytewise()
}

// findOrder finds out whether the keys are in the order that is said, unless that is sure.
func (f *File) findOrder() {
	switch {
	case f.Order == table.AnyOrder:
		f.Disorder = fmt.Sprintf("keys are in the order of %s, which is not known here", wire.Quote([]byte(f.claim.manifest)))
	case f.claim.sure || f.keeps(f.Order):
	case f.Order != table.BytewiseComparer && f.keeps(table.BytewiseComparer):
		f.Order = table.BytewiseComparer
		f.Disorder = fmt.Sprintf("keys are in bytewise order, and not in that of %s, which the MANIFEST names", wire.Quote([]byte(f.claim.manifest)))
	default:
		f.loseOrder()
	}
}

// loseOrder gives the order up.
func (f *File) loseOrder() {
	f.Disorder = f.claim.contradicted()
	f.Order = table.AnyOrder
}

// contradicted says that keys are not in the order.
func (o Order) contradicted() string {
	name := "bytewise order"
	if o.manifest != "" {
		name = fmt.Sprintf("the order of %s, which the MANIFEST names", wire.Quote([]byte(o.manifest)))
	}
	return fmt.Sprintf("keys are not in %s: written with another comparator?", name)
}

// What is looked at of a table to find out whether it is in order: all of most.
const (
	lookedStored  = 8 << 20  // bytes of blocks, as they are stored,
	lookedDecoded = 64 << 20 // and decompressed
)

// keeps reports whether the keys are in an order of users' keys: those of the index, and
// of data blocks all over the file. What is damaged is passed over.
func (f *File) keeps(user table.Comparer) bool {
	order, data := user, f.Layout.Data
	if f.Internal {
		order = table.InternalComparer(user)
	}
	stored := uint64(0)
	for i, part := range data {
		if stored += part.Length; i > 0 && order.Compare(data[i-1].Name, part.Name) >= 0 {
			return false
		}
	}
	room := lookedDecoded
	for i := 0; i < len(data) && room > 0; i += 1 + int(stored/lookedStored) {
		contents, _, err := f.Layout.ReadBlock(data[i].Handle)
		if room -= len(contents); err == nil && !f.blockKeeps(order, i, contents) {
			return false
		}
	}
	return true
}

// blockKeeps reports whether the keys of data block i are in order, and between their
// separators.
func (f *File) blockKeeps(order table.Comparer, i int, contents []byte) bool {
	it, err := OpenBlock(contents, order)
	if err != nil {
		return !errors.Is(&table.CorruptionError{Err: err}, table.ErrOrder)
	}
	data := f.Layout.Data
	if it.First() && i > 0 && order.Compare(data[i-1].Name, it.Key()) >= 0 {
		return false
	}
	return !it.Last() || order.Compare(it.Key(), data[i].Name) <= 0
}

// LookOrder finds out by blocks that are whole whether keys are in the order that is
// said, unless that is sure. Where they are not, it is not known from then on.
func (f *File) LookOrder(blocks iter.Seq[*block.Iter]) {
	if f.claim.sure || f.Order == table.AnyOrder {
		return
	}
	order := f.Comparer()
	var last []byte
	for it := range blocks {
		for first := true; it.Next(); first = false {
			if !first && order.Compare(last, it.Key()) >= 0 {
				f.loseOrder()
				return
			}
			last = append(last[:0], it.Key()...)
		}
	}
}

// ReopenInAnyOrder opens a table anew whose keys turned out to be in another order than
// was said, but not for sure. It reports false if that is not so.
func (f *File) ReopenInAnyOrder(found error) (bool, error) {
	if f.claim.sure || f.Order == table.AnyOrder || !errors.Is(found, table.ErrOrder) {
		return false, nil
	}
	f.loseOrder()
	f.Options.Comparer = f.Comparer()
	r, err := table.NewReader(f.Src, f.Size, f.Options)
	if err != nil {
		return false, err
	}
	f.Reader = r
	return true, nil
}

// orderDoubted makes of damage that is nothing but the order of keys, where that is not
// sure, what it is more likely to be.
func (f *File) orderDoubted(err error) error {
	if c, ok := err.(*table.CorruptionError); ok && !f.claim.sure && errors.Is(c, table.ErrOrder) {
		return fmt.Errorf("%s Want --comparator (%s at %d: %v)", f.claim.contradicted(), c.Block, c.Offset, c.Err)
	}
	return err
}

// searchable returns an error if keys cannot be looked up.
func (f *File) searchable() error {
	if f.Order == table.AnyOrder {
		return &FileError{f.Path, fmt.Errorf("%s To look keys up, want --comparator %s", ended(f.Disorder), strings.Join(comparers.Words(), ", "))}
	}
	return nil
}

// ended ends a sentence.
func ended(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
