package table

// FindGE returns the first entry whose key is ≥ key. If there is none, the error is ErrNotFound,
// or ErrFilterOnly if the table has a filter only.
// It checks no filter, and may read two data blocks: the index finds the block that can have
// key, and the first greater key can be in the next one. It is SeekGE of an Iter for a program
// that wants one entry.
//
// Key and value stay valid, also after Close. The caller must not change them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) {
	if err := r.startLookups(1); err != nil {
		return nil, nil, err
	}
	memory := dataKeyBudget.forFile(r.footerOffset)
	for i := r.index.search(key); i < r.index.len(); i++ {
		k, v, found, err := r.findGEInBlock(i, key, memory)
		if err != nil || found {
			return k, v, err
		}
		memory = 0 // of the next block it takes the first key, which shares nothing
	}
	return nil, nil, r.notInIndex()
}

// findGEInBlock returns the first entry of data block i whose key is ≥ key, and whether there is
// one. It takes at most that many bytes of memory for keys that share bytes.
func (r *Reader) findGEInBlock(i int, key []byte, memory int) (k, v []byte, found bool, err error) {
	var d dataBlock
	defer d.release()
	if err := d.openForLookup(r, i); err != nil {
		return nil, nil, false, err
	}
	if k, v, found, err = d.seekGE(key, memory); err != nil {
		return nil, nil, false, err
	}
	d.admit()
	if found {
		k, v = d.keepEntry(k, v)
	}
	return k, v, found, nil
}
