package source

// checkMiss returns an error if a user key that a lookup has missed can be in the table nevertheless, since the
// keys are in another order than few of them showed. At the first miss it checks the data blocks whose filters
// do not rule the key out: if these are in order, it is not in the table. At the second one it checks as many
// blocks as are examined for a scan.
func (f *File) checkMiss(user []byte) error {
	if !f.unchecked {
		return nil
	}
	blocks := f.orderSample()
	if some := f.mayHave(user); !f.missed && len(some) <= len(blocks) {
		blocks, f.missed = some, true
	} else {
		f.unchecked = false
	}
	if !f.isOrdered(f.Order, blocks) {
		f.setOrderUnknown()
	}
	return f.checkLookup()
}

// mayHave returns the data blocks whose filters do not rule the user key out.
func (f *File) mayHave(user []byte) (blocks []int) {
	for i, part := range f.Layout.Data {
		if f.filters.Contains(part.Offset, user) {
			blocks = append(blocks, i)
		}
	}
	return blocks
}
