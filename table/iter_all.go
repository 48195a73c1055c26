package table

import "iter"

// All returns the entries that an Iter with the options o shows, for a range loop. If o is nil,
// these are all entries of the table. The loop begins by setting *err to nil. If an error ends it,
// *err is that error. When the loop ends or is left, the Iter is closed.
//
//	var err error
//	for k, v := range r.All(nil, &err) {
//		… k, v …
//	}
//	if err != nil { … }
//
// A key and its value are valid until the next iteration of the loop. err must not be nil:
// without it, an error looks like the end of the table. The loop may set err itself and break. If
// err is a result of the function, the loop may return an error too.
func (r *Reader) All(o *IterOptions, err *error) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		*err = nil
		it := r.NewIter(o)
		defer func() {
			if e := it.Close(); e != nil { // else err may be what the loop has set
				*err = e
			}
		}()
		it.All()(yield)
	}
}

// All returns all entries from First on, for a range loop. A key and its value are valid
// until the next iteration of the loop. Check Error after the loop.
func (it *Iter) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
	}
}
