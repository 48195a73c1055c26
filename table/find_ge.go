package table

// FindGE returns the first entry whose key is ≥ key. If there is none, the error is ErrNotFound,
// or ErrFilterOnly if the table has a filter only.
// It checks no filter, and may read two data blocks: the index finds the block that can have
// key, and the first greater key can be in the next one. It is SeekGE of an Iter for a program
// that wants one entry.
//
// Key and value stay valid, also after Close. The caller must not change them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) { return r.findGE(&noOptions, key) }

// findGE does what FindGE does, with options.
func (r *Reader) findGE(o *LookupOptions, key []byte) (k, v []byte, err error) {
	t, err := r.startLookup(o)
	if err != nil {
		return nil, nil, err
	}
	defer t.mapped.leave(t.mapped.enter(), &err)
	memory := dataKeyBudget.forFile(t.footerOffset)
	i, err := t.index.search(key)
	if err != nil {
		return nil, nil, err
	}
	for ; i < t.index.len(); i++ {
		k, v, found, err := t.findGEInBlock(o, i, key, memory)
		if err != nil || found {
			return k, v, err
		}
		memory = 0 // of the next block it takes the first key, which shares nothing
	}
	return nil, nil, t.notInIndex()
}

// findGEInBlock returns the first entry of data block i whose key is ≥ key, and whether there is
// one. It takes at most that many bytes of memory for keys that share bytes.
func (t *openTable) findGEInBlock(o *LookupOptions, i int, key []byte, memory int) (k, v []byte, found bool, err error) {
	var d dataBlock
	defer d.release()
	if err := d.openForLookup(t, i, o); err != nil {
		return nil, nil, false, err
	}
	if k, v, found, err = d.seekGE(key, memory, false); err != nil {
		return nil, nil, false, err
	}
	if d.admit(); found {
		k, v = d.keepEntry(k, v)
	}
	return k, v, found, nil
}
