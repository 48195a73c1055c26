package set

import (
	"bytes"
	"encoding/binary"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// iterLayers returns an Iterator over what the layers show together. iterRun returns one over a run.
func (v *version) iterLayers(iterRun func(r *run) merge.Iterator) merge.Iterator {
	if len(v.layers) == 1 {
		return iterRun(&v.layers[0].tables)
	}
	var its []merge.Iterator
	add := func(r *run, layer int, kind table.Kind) {
		if len(r.members) > 0 {
			sequence := uint64(len(v.layers) - layer) // the base has 1
			its = append(its, &layerIter{it: iterRun(r), trailer: sequence<<8 | uint64(kind)})
		}
	}
	for i := range v.layers {
		add(&v.layers[i].tables, i, table.KindSet)
		add(&v.layers[i].removals, i, table.KindDelete)
	}
	return merge.NewSnapshotIter(nil, merge.New(table.InternalComparer(nil), its...), table.MaxSequence)
}

// A layerIter shows the entries of a run as versions of a database's keys: their keys are internal keys,
// whose sequence number is that of the layer, and those of removals are deletions.
type layerIter struct {
	it      merge.Iterator
	trailer uint64 // of all keys
	key     []byte // the internal key of the entry
	seekKey []byte
}

// moved ends a move that has found an entry or not.
func (l *layerIter) moved(found bool) bool {
	if found {
		l.key = binary.LittleEndian.AppendUint64(append(l.key[:0], l.it.Key()...), l.trailer)
	}
	return found
}

func (l *layerIter) First() bool { return l.moved(l.it.First()) }
func (l *layerIter) Last() bool  { return l.moved(l.it.Last()) }
func (l *layerIter) Next() bool  { return l.moved(l.it.Next()) }
func (l *layerIter) Prev() bool  { return l.moved(l.it.Prev()) }

func (l *layerIter) SeekGE(key []byte) bool {
	user := table.InternalFilterKey(key)
	found := l.it.SeekGE(user)
	if found && bytes.Equal(l.it.Key(), user) && !l.isAtOrAfter(key) {
		found = l.it.Next()
	}
	return l.moved(found)
}

func (l *layerIter) SeekLT(key []byte) bool {
	user := table.InternalFilterKey(key)
	l.seekKey = append(append(l.seekKey[:0], user...), 0) // the next key
	found := l.it.SeekLT(l.seekKey)
	if found && bytes.Equal(l.it.Key(), user) && l.isAtOrAfter(key) {
		found = l.it.Prev()
	}
	return l.moved(found)
}

// isAtOrAfter reports whether the layer's entry of the user key of key is ≥ key: newer entries come
// first.
func (l *layerIter) isAtOrAfter(key []byte) bool {
	return l.trailer <= binary.LittleEndian.Uint64(key[len(key)-8:])
}

func (l *layerIter) Valid() bool   { return l.it.Valid() }
func (l *layerIter) Value() []byte { return l.it.Value() }
func (l *layerIter) Error() error  { return l.it.Error() }
func (l *layerIter) Close() error  { return l.it.Close() }

func (l *layerIter) Key() []byte {
	if !l.it.Valid() {
		return nil
	}
	return l.key
}
