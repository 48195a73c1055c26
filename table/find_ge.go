package table

// FindGE returns the first entry whose key is ≥ key. If there is none, the error is ErrNotFound,
// or ErrFilterOnly if the table has a filter only.
// It checks no filter, and may read two data blocks: the index finds the block that can have
// key, and the first greater key can be in the next one. It is SeekGE of an Iter for a program
// that wants one entry.
//
// Key and value stay valid, also after Close. The caller must not change them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) { return Lookups{r: r}.FindGE(key) }

// findGE sets d to the data block of the entry that FindGE returns, and returns the entry, which
// is valid until d is released. The caller releases d.
func (l *Lookups) findGE(d *dataBlock, key []byte) (k, v []byte, err error) {
	if err := l.start(); err != nil {
		return nil, nil, err
	}
	r := l.t
	memory := dataKeyBudget.forFile(r.footerOffset)
	for i := r.index.search(key); i < r.index.len(); i++ {
		k, v, found, err := l.seekGE(d, i, key, memory)
		if err != nil {
			return nil, nil, err
		}
		if d.admit(); found {
			return k, v, nil
		}
		memory = 0 // of the next block it takes the first key, which shares nothing
	}
	return nil, nil, r.notInIndex()
}
