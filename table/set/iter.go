package set

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// An Iter iterates over the entries of a set. It is a [merge.Iterator], and not safe for concurrent use. Moves return
// Valid. After a failed move, Next and Prev fail too, until First, Last, SeekGE or SeekLT succeeds. A key outside its
// table's range is [table.ErrCorrupt].
type Iter struct {
	s      *Set
	use    use            // of the tables; zero after Close
	tables merge.Iterator // over the tables
}

var _ merge.Iterator = (*Iter)(nil)

// NewIter returns an Iter before the first entry, over all entries if o is nil. If o.OnLoss is not nil, it is called
// for corrupt data blocks, and for missing or corrupt tables. If it skips a layer's data, overwritten and removed
// entries can reappear. In a table with only a filter, moves fail with [table.ErrFilterOnly]. If ctx is done, moves
// that read fail. The Iter keeps its manifest until its Close, even after a Swap, and uses one table at a time, and
// two of each layer.
func (s *Set) NewIter(ctx context.Context, o *table.IterOptions) *Iter {
	it := &Iter{s: s}
	v, err := s.acquire()
	if err != nil {
		it.tables = merge.New(nil)
		it.Close()
		return it
	}
	it.use = v
	opts := *cmp.Or(o, &table.IterOptions{})
	opts.Lower, opts.Upper = bytes.Clone(opts.Lower), bytes.Clone(opts.Upper)
	opts.FilterKey, opts.Prefix = bytes.Clone(opts.FilterKey), bytes.Clone(opts.Prefix)
	opts.Lower, opts.Upper = format.WithinPrefix(opts.Lower, opts.Upper, opts.Prefix)
	if onLoss := opts.OnLoss; onLoss != nil && len(v.layers) > 1 {
		opts.OnLoss = func(l table.Loss) bool {
			l.OlderShow = true
			return onLoss(l)
		}
	}
	it.tables = v.iterLayers(func(r *run) merge.Iterator {
		// There is no error, since the manifest was checked.
		within, _ := r.Iter(table.BytewiseComparer, opts.Lower, opts.Upper, func(m *member) (merge.Iterator, error) {
			return v.iterTable(ctx, m, &opts)
		})
		return within
	})
	return it
}

// iterTable opens a table, and returns an Iterator over it. v is in use.
func (v *version) iterTable(ctx context.Context, m *member, o *table.IterOptions) (merge.Iterator, error) {
	if m.s.current.Load() == nil {
		return nil, table.ErrClosed
	}
	h, err := m.load(ctx)
	if err != nil && isLost(err) && o.OnLoss != nil && o.OnLoss(v.loss(m, err)) {
		return merge.New(nil), nil
	}
	if err != nil {
		return nil, err
	}
	it := &tableIter{h: h}
	defer func() {
		if it.Iter == nil { // the Source has panicked in NewIter
			h.release()
		}
	}()
	opts := *o
	opts.OnLoss = func(l table.Loss) bool {
		it.corrupt = l.Err
		return o.OnLoss != nil && o.OnLoss(l)
	}
	it.Iter = h.reader.With(ctx).NewIter(&opts)
	return it, nil
}

// loss returns the Loss of a table that cannot be opened.
func (v *version) loss(m *member, err error) table.Loss {
	return table.Loss{File: m.Name, Offset: -1, From: m.Smallest, To: m.Largest, OlderShow: len(v.layers) > 1, Err: err}
}

// isLost reports whether a table is missing, corrupt, or another one. If the store fails, nothing is lost.
func isLost(err error) bool {
	return errors.Is(err, table.ErrCorrupt) || errors.Is(err, ErrMismatch) || errors.Is(err, fs.ErrNotExist)
}

// A tableIter is an Iter over one table, with a reference to its handle.
type tableIter struct {
	*table.Iter
	h       *handle
	corrupt error // of a corrupt block, from which the Iter may have moved on
}

// Close drops the reference.
func (it *tableIter) Close() error {
	defer it.h.release()
	err := it.Iter.Close()
	it.h.recordLookup(cmp.Or(it.corrupt, err))
	return err
}

// First moves to the first entry.
func (it *Iter) First() bool { return it.live().First() }

// Last moves to the last entry.
func (it *Iter) Last() bool { return it.live().Last() }

// SeekGE moves to the first entry with a key >= key, which may be part of Key.
func (it *Iter) SeekGE(key []byte) bool { return it.live().SeekGE(key) }

// SeekLT moves to the last entry with a key < key, which may be part of Key.
func (it *Iter) SeekLT(key []byte) bool { return it.live().SeekLT(key) }

// live returns the iterator over the tables. If the Set is closed, live closes it first.
func (it *Iter) live() merge.Iterator {
	if it.s.current.Load() == nil {
		it.Close()
	}
	return it.tables
}

// Next moves to the next entry or, before the first entry, to the first.
func (it *Iter) Next() bool { return it.tables.Next() }

// Prev moves to the previous entry or, after the last entry, to the last.
func (it *Iter) Prev() bool { return it.tables.Prev() }

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.tables.Valid() }

// Key returns the entry's key, or nil if the Iter is not at an entry. It is valid until the next move. The caller
// must not modify it.
func (it *Iter) Key() []byte { return it.tables.Key() }

// Value returns the entry's value, under the same conditions as Key.
func (it *Iter) Value() []byte { return it.tables.Value() }

// Error returns the error of the last move, or nil.
func (it *Iter) Error() error { return it.tables.Error() }

// All returns all entries. An error ends the loop, after an iteration with only the error. The caller closes the
// Iter.
func (it *Iter) All() iter.Seq2[table.Entry, error] {
	return func(yield func(table.Entry, error) bool) {
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(table.Entry{Key: it.Key(), Value: it.Value()}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(table.Entry{}, err)
		}
	}
}

// Close ends the Iter and returns Error. Moves then fail with [table.ErrClosed].
func (it *Iter) Close() error {
	if u := it.use; u.version != nil {
		it.use = use{}
		defer u.release()
	}
	return it.tables.Close()
}

// iterLayers returns an Iterator over the merged layers. iterRun returns one over a run, or nil.
func (v *version) iterLayers(iterRun func(r *run) merge.Iterator) merge.Iterator {
	if len(v.layers) == 1 {
		return cmp.Or[merge.Iterator](iterRun(&v.layers[0].tables), merge.New(nil))
	}
	var its []merge.Iterator
	add := func(r *run, layer int, kind internalkey.Kind) {
		if it := iterRun(r); it != nil {
			sequence := uint64(len(v.layers) - layer) // the base has 1
			its = append(its, &layerIter{Iterator: it, trailer: sequence<<8 | uint64(kind)})
		}
	}
	for i := range v.layers {
		add(&v.layers[i].tables, i, internalkey.Set)
		add(&v.layers[i].removals, i, internalkey.Delete)
	}
	return merge.NewSnapshotIter(nil, merge.New(table.InternalComparer(nil), its...), internalkey.MaxSequence)
}

// A layerIter presents the entries of a run as versions of a database's keys: their keys are internal keys with the
// layer's sequence number, and removals are deletions.
type layerIter struct {
	merge.Iterator
	trailer uint64 // of all keys
	key     []byte // the internal key of the entry
}

// moved updates the key after a move, and returns found.
func (l *layerIter) moved(found bool) bool {
	if found {
		l.key = format.AppendInternal(append(l.key[:0], l.Iterator.Key()...), l.trailer)
	}
	return found
}

func (l *layerIter) First() bool { return l.moved(l.Iterator.First()) }
func (l *layerIter) Last() bool  { return l.moved(l.Iterator.Last()) }
func (l *layerIter) Next() bool  { return l.moved(l.Iterator.Next()) }
func (l *layerIter) Prev() bool  { return l.moved(l.Iterator.Prev()) }

// The keys for SeekGE and SeekLT come before all versions of a user key, since the SnapshotIter sees all of them.
func (l *layerIter) SeekGE(k []byte) bool { return l.moved(l.Iterator.SeekGE(internalkey.UserKey(k))) }
func (l *layerIter) SeekLT(k []byte) bool { return l.moved(l.Iterator.SeekLT(internalkey.UserKey(k))) }

// Key returns the key of the entry. A merge.Iter calls it only at an entry.
func (l *layerIter) Key() []byte { return l.key }
