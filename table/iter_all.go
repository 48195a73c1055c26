package table

import "iter"

// An Entry is a key and its value. Both are valid until the next iteration of the loop that shows
// it. The loop must not change them.
type Entry struct{ Key, Value []byte }

// All returns the entries that an Iter with the options o shows, for a range loop. If o is nil,
// these are all entries of the table. An error ends the loop, after an iteration that has only the
// error. When the loop ends or is left, the Iter is closed.
//
//	for e, err := range r.All(nil) {
//		if err != nil { return err }
//		… e.Key, e.Value …
//	}
func (r *Reader) All(o *IterOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		it := r.NewIter(o)
		defer it.Close() // its error is that of the last move, which All has shown
		it.All()(yield)
	}
}

// All returns all entries from First on, for a range loop. An error ends the loop, after an
// iteration that has only the error.
func (it *Iter) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(Entry{it.Key(), it.Value()}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(Entry{}, err)
		}
	}
}
