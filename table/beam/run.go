package setio

import (
	"bytes"
	"slices"
)

// sliceSize is how many bytes a key takes beside those of the key itself.
const sliceSize = 24

// maxPiece is from how many bytes of keys on a piece is complete. Elements of some 50 MB are
// too much for some runners.
const maxPiece = 4 << 20

// A run is keys that are sorted in memory. It is reused for the next run.
type run struct {
	buf  []byte // the keys, one after the other
	ends []int  // in buf
	keys [][]byte
}

// size returns about how many bytes of memory the run needs.
func (r *run) size() int { return len(r.buf) + sliceSize*len(r.ends) }

// add adds a key.
func (r *run) add(key []byte) {
	r.buf = append(r.buf, key...)
	r.ends = append(r.ends, len(r.buf))
}

// take returns the keys in ascending order, each once, and empties the run. They are valid
// until the next add.
func (r *run) take() [][]byte {
	keys, start := r.keys[:0], 0
	for _, end := range r.ends {
		keys = append(keys, r.buf[start:end:end])
		start = end
	}
	r.buf, r.ends, r.keys = r.buf[:0], r.ends[:0], keys
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// cut cuts sorted keys at the splits. It calls f with the index of each table and its keys, in
// one or more parts. It calls f for no table without keys.
func cut(keys, splits [][]byte, f func(table int, keys [][]byte) error) error {
	for i := 0; i <= len(splits) && len(keys) > 0; i++ {
		n := len(keys)
		if i < len(splits) {
			n, _ = slices.BinarySearchFunc(keys, splits[i], bytes.Compare)
		}
		part := keys[:n]
		for keys = keys[n:]; len(part) > 0; {
			n := firstBytes(part, maxPiece)
			if err := f(i, part[:n]); err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return nil
}

// firstBytes returns how many of the first keys have together at least size bytes, or how many
// keys there are.
func firstBytes(keys [][]byte, size int) int {
	for i, key := range keys {
		if size -= len(key); size <= 0 {
			return i + 1
		}
	}
	return len(keys)
}
