package source

// checkMiss returns an error if a user key that a lookup has missed can be in the table nevertheless, since the
// keys are in another order than few of them showed. At the first miss it checks the data blocks whose filters
// do not exclude the key: if these are in order, it is not in the table. At the second one it checks as many
// blocks as are examined for a scan.
func (f *File) checkMiss(user []byte) error {
	if !f.unchecked {
		return nil
	}
	blocks := f.orderSample()
	if !f.missed && !f.filters.None() {
		blocks = f.mayHave(blocks, user)
		f.missed = true
	} else {
		f.unchecked = false
	}
	if !f.isOrdered(f.Order, blocks) {
		f.setOrderUnknown()
	}
	return f.checkLookup()
}

// mayHave returns the blocks whose filters do not exclude the user key.
func (f *File) mayHave(blocks []int, user []byte) (some []int) {
	for _, i := range blocks {
		if f.filters.Contains(f.Layout.Data[i].Offset, user) {
			some = append(some, i)
		}
	}
	return some
}
