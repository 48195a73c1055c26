package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// A lookup looks for a user key in a View.
type lookup struct {
	View
	ctx    context.Context
	o      table.LookupOptions
	reuses bool   // values are read into the buffers below, and valid until the lookup ends
	seek   []byte // the internal key to look for
	user   []byte // the user key, a part of seek

	key         []byte // buffer of the key that is found in a table
	value, best []byte // buffers of values: of the last one that was found, and of the newest
	hidden      error  // why tables that can have the key cannot be read
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

// maxKept is the largest buffer that a lookup leaves to the next.
const maxKept = 64 << 10

// newLookup returns a lookup of a user key. end ends it.
func newLookup(v View, user []byte) *lookup {
	l := lookups.Get().(*lookup)
	l.View, l.ctx = v, context.Background()
	l.seek = table.SearchKey(l.seek[:0], user, v.sequence)
	l.user = table.InternalFilterKey(l.seek)
	return l
}

// end leaves the buffers to other lookups.
func (l *lookup) end() {
	if cap(l.seek)+cap(l.key)+cap(l.value)+cap(l.best) > maxKept {
		return
	}
	*l = lookup{seek: l.seek, key: l.key, value: l.value, best: l.best}
	lookups.Put(l)
}

// A version is a version of the key: a value or a deletion. The zero version is none.
type version struct {
	found    bool
	sequence uint64
	kind     table.Kind
	value    []byte
}

// newerThan reports whether v is newer than w. Of versions with the same sequence number the value comes
// before the deletion, as in the order of internal keys.
func (v version) newerThan(w version) bool {
	return v.found && (!w.found || cmp.Or(cmp.Compare(v.sequence, w.sequence), cmp.Compare(v.kind, w.kind)) > 0)
}

// get returns the value of the key. It checks all levels: an engine can leave a newer version below an
// older one (LevelDB up to 1.20, by a compaction while a snapshot is held).
func (l *lookup) get() ([]byte, error) {
	if l.closed.Load() {
		return nil, table.ErrClosed
	}
	var newest version
	if i := l.memory.search(l.seek); i < len(l.memory.at) {
		newest = l.versionOf(l.memory.entry(i))
	}
	if newest.sequence <= l.inTables { // else no table has a newer version
		for i := range l.runs {
			if err := l.inRun(&l.runs[i], &newest); err != nil {
				return nil, err
			}
		}
	}
	exists := newest.found && newest.kind == table.KindSet
	switch {
	case l.hidden != nil && exists:
		return nil, &table.HiddenError{Err: l.hidden, Found: true, Value: format.AppendNotNil(nil, newest.value)}
	case l.hidden != nil:
		return nil, &table.HiddenError{Err: l.hidden}
	case !exists:
		return nil, table.ErrNotFound
	}
	return newest.value, nil
}

// versionOf returns the version that an entry is, or none if it is of another user key.
func (l *lookup) versionOf(key, value []byte) version {
	k, ok := table.ParseInternalKey(key)
	if !ok || l.order.Compare(k.UserKey, l.user) != 0 {
		return version{}
	}
	return version{true, k.Sequence, k.Kind, value}
}

// inRun replaces newest if the run has a newer version of the key. Equal versions do not replace it, as
// in merge. A table that is corrupt is noted in hidden, and the next one can have an older version.
func (l *lookup) inRun(r *run, newest *version) error {
	from, to := r.Find(l.internal, l.order, table.InternalFilterKey, l.seek)
	for _, t := range r.Tables[from:to] {
		v, err := l.inTable(t)
		if err != nil && !errors.Is(err, table.ErrCorrupt) {
			return err
		}
		if v.newerThan(*newest) {
			*newest = v
			l.value, l.best = l.best, l.value
		}
		if err == nil {
			break
		}
		l.hidden = errors.Join(l.hidden, err)
	}
	return nil
}

// inTable returns the newest version of the key in a table, whose filters are checked first.
func (l *lookup) inTable(r *openedTable) (version, error) {
	if r.lost != nil {
		return version{}, r.lost
	}
	var k, value []byte
	var err error
	if l.reuses {
		l.key, l.value, err = r.With(l.ctx, l.o).AppendFind(l.key[:0], l.value[:0], l.seek)
		k, value = l.key, l.value
	} else {
		k, value, err = r.With(l.ctx, l.o).Find(l.seek)
	}
	if errors.Is(err, table.ErrNotFound) {
		return version{}, nil
	}
	if err != nil {
		return version{}, err
	}
	v := l.versionOf(k, value)
	if v.kind > table.KindSet {
		return version{}, fmt.Errorf("database: %s: %w: the newest version of key %s is of kind %d, want %d (set) or %d (delete)",
			format.Printable(r.path), table.ErrCorrupt, format.Quote(l.user), v.kind, table.KindSet, table.KindDelete)
	}
	return v, nil
}
