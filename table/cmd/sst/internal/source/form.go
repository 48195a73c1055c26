package source

import "github.com/sievetable/sievetable/table"

// A form is what was detected of a table when it was opened first, and holds when it is opened again.
type form struct {
	size                                                   int64
	internal, rewritten, filterUnusable, filterHasUserKeys bool
	order                                                  table.Comparer
	orderNote                                              string
}

// isOf reports whether the form is that of the table. If its size is another one, so is the table.
func (k *form) isOf(f *File) bool { return k != nil && k.size == f.Size }

// formOf returns what was detected.
func (f *File) formOf() *form {
	return &form{f.Size, f.Internal, f.Rewritten, f.FilterUnusable, f.FilterHasUserKeys, f.Order, f.OrderNote}
}

func (f *File) setForm(k *form) {
	f.Internal, f.Rewritten, f.FilterUnusable, f.FilterHasUserKeys = k.internal, k.rewritten, k.filterUnusable, k.filterHasUserKeys
	f.Order, f.OrderNote = k.order, k.orderNote
}

// detectForm finds out what the keys are, and their order.
func (f *File) detectForm(o Options) error {
	if f.isSound(o) {
		f.Internal = true
	} else if err := f.detectKeys(o); err != nil {
		return err
	}
	f.detectOrder(o.fewBlocks || o.ReadOnce != nil)
	return nil
}

// leaveOutFilters has lookups do without filters that would hide keys.
func (f *File) leaveOutFilters() {
	if f.FilterUnusable || f.Rewritten {
		f.filters.Blocks, f.filters.Table = nil, nil
	}
}
