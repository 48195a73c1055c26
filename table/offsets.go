package table

import "slices"

// ApproximateOffset returns about where in the file key is, or would be: where the
// data block starts that can hold it, or the metaindex for a key above all. What
// lies between two keys takes about as many bytes as their offsets differ in. It
// reads nothing, also when the Reader is closed.
func (r *Reader) ApproximateOffset(key []byte) int64 {
	if i := r.index.search(key); i < r.index.len() {
		return int64(r.index.handles[i].Offset)
	}
	return int64(r.footer.metaindex.Offset)
}

// FirstKey returns the table's first key, which is the caller's, or ErrNotFound if
// there is none. It reads a data block, as LastKey does.
func (r *Reader) FirstKey() ([]byte, error) { return r.keyAt((*Iter).First) }

// LastKey returns the table's last key, which is the caller's, or ErrNotFound if
// there is none.
func (r *Reader) LastKey() ([]byte, error) { return r.keyAt((*Iter).Last) }

// keyAt returns the key that a move goes to.
func (r *Reader) keyAt(move func(*Iter) bool) ([]byte, error) {
	it := r.NewIter(nil)
	if !move(it) {
		if err := it.Close(); err != nil {
			return nil, err
		}
		return nil, ErrNotFound
	}
	key := it.Key()
	if len(key) < maxClonedKey { // or it may be a part of a block, which nobody else has
		key = append([]byte{}, key...)
	}
	return slices.Clip(key), it.Close()
}

// maxClonedKey is from where on a key is given away as it is: a copy of a key that
// is as long as its block would take as much memory again.
const maxClonedKey = 1 << 20
