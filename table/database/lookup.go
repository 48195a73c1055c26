package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A lookup looks up a user key in a View.
type lookup struct {
	View
	ctx    context.Context
	noFill bool   // do not add blocks to the Cache
	reuses bool   // values are read into the buffers below, and valid until the lookup ends
	seek   []byte // the internal key to look for
	user   []byte // the user key, a part of seek

	key         []byte // buffer for the key found in a table
	value, best []byte // buffers for values: the last one found, and the newest
	hidden      error  // why tables that may contain the key cannot be read
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

// maxKept is the maximum total size of the buffers that a lookup leaves to the next.
const maxKept = 64 << 10

// newLookup returns a lookup of a user key. The caller must call end.
func newLookup(v View, user []byte) *lookup {
	l := lookups.Get().(*lookup)
	l.View, l.ctx = v, context.Background()
	l.seek = internalkey.SearchKey(l.seek[:0], user, v.sequence)
	l.user = internalkey.UserKey(l.seek)
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

// A version is a version of the key: a value or a deletion. The zero value means that there is none.
type version struct {
	found    bool
	sequence uint64
	kind     internalkey.Kind
	value    []byte
}

// newerThan reports whether v is newer than w. If their sequence numbers are equal, a value is newer than a
// deletion, as in the order of internal keys.
func (v version) newerThan(w version) bool {
	return v.found && (!w.found || cmp.Or(cmp.Compare(v.sequence, w.sequence), cmp.Compare(v.kind, w.kind)) > 0)
}

// get returns the value of the key. It checks all levels: an engine can leave a newer version in a deeper level than
// an older one (LevelDB up to 1.20, by a compaction while a snapshot is held).
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
	exists := newest.found && newest.kind == internalkey.Set
	switch {
	case l.hidden != nil && exists:
		return nil, &merge.HiddenError{Err: l.hidden, Found: true, Value: format.AppendNotNil(nil, newest.value)}
	case l.hidden != nil:
		return nil, &merge.HiddenError{Err: l.hidden}
	case !exists:
		return nil, table.ErrNotFound
	}
	return newest.value, nil
}

// versionOf returns an entry as a version, or none if it has another user key.
func (l *lookup) versionOf(key, value []byte) version {
	k, ok := internalkey.Parse(key)
	if !ok || l.order.Compare(k.UserKey, l.user) != 0 {
		return version{}
	}
	return version{true, k.Sequence, k.Kind, value}
}

// inRun replaces newest if the run has a newer version of the key. Equal versions do not replace it, as in merge. If
// a table is corrupt, hidden gets its error, and the next table can have an older version.
func (l *lookup) inRun(r *run, newest *version) error {
	from, to := r.Find(l.internal, l.order, internalkey.UserKey, l.seek)
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

// inTable returns the newest version of the key in a table, whose filters are checked first. With an error, the
// version can be an older one, or none.
func (l *lookup) inTable(r *openedTable) (version, error) {
	if r.lost != nil {
		if r = r.use(); r.lost != nil {
			return version{}, r.lostError()
		}
	}
	var k, value []byte
	var err error
	if l.reuses {
		l.key, l.value, err = r.With(l.ctx).DontFillCache(l.noFill).AppendFind(l.key[:0], l.value[:0], l.seek)
		k, value = l.key, l.value
	} else {
		k, value, err = r.With(l.ctx).DontFillCache(l.noFill).Find(l.seek)
	}
	if errors.Is(err, table.ErrNotFound) {
		return version{}, nil
	}
	if errors.Is(err, table.ErrCorrupt) {
		return l.versionOf(dbread.FindPastDamage(r.With(l.ctx), l.order, l.seek)), err
	}
	if err != nil {
		return version{}, err
	}
	v := l.versionOf(k, value)
	if v.kind > internalkey.Set {
		return version{}, fmt.Errorf("database: %s: %w: the newest version of key %s has kind %d, not %d (set) or %d (delete)",
			format.Printable(r.path), table.ErrCorrupt, format.Quote(l.user), v.kind, internalkey.Set, internalkey.Delete)
	}
	return v, nil
}

// GetMany gets the values of many keys, in any order, o.Concurrency at a time. It calls found(i, value) on the
// caller's goroutine for each keys[i] that is present, with a value as from Get. If o is nil, the defaults are used.
// o.Gap has no effect. If a lookup fails, o.NoAnswer is called for its key, and GetMany returns all such errors, joined.
// If found returns an error or ctx is done, GetMany returns that error after the running reads.
func (v View) GetMany(
	ctx context.Context, keys [][]byte, o *table.GetManyOptions, found func(i int, value []byte) error,
) error {
	if err := table.GetMany(ctx, nil, nil, o, nil); err != nil { // it checks the options
		return err
	}
	b := batch{View: v, o: *cmp.Or(o, &table.GetManyOptions{}), keys: keys, found: found, failed: map[string]bool{}}
	if err := b.run(ctx); err != nil {
		return err
	}
	return errors.Join(b.errs...)
}

// A batch is one call of GetMany.
type batch struct {
	View
	o      table.GetManyOptions
	keys   [][]byte
	found  func(i int, value []byte) error
	errs   []error         // of failed lookups, each message once
	failed map[string]bool // the messages of errs
}

// run looks up all keys. An error that it returns ends the batch.
func (b *batch) run(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	answers := b.start(inner)
	defer func() { // also if found panics
		cancel()
		for range answers {
		}
	}()
	for part := range answers {
		if part.panicked != nil {
			panic(part.panicked)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, a := range part.answers {
			if err := b.take(a); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// A part has answers that a goroutine sends together.
type part struct {
	answers  []answer // in the order of the keys
	panicked any      // the value of a panic of a Comparer or a source
}

// An answer is the result of looking up a key.
type answer struct {
	key   int
	value []byte
	err   error
}

const (
	partLen            = 16
	defaultConcurrency = 16
)

// start looks up the keys in other goroutines, in parts. It returns the channel of the parts, which is closed when
// all goroutines have ended. They end soon after ctx is done.
func (b *batch) start(ctx context.Context) <-chan part {
	numbers := make([]int, len(b.keys))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortFunc(numbers, func(i, j int) int { return b.order.Compare(b.keys[i], b.keys[j]) })
	parts, answered := slices.Collect(slices.Chunk(numbers, partLen)), make(chan part)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(parts), cmp.Or(b.o.Concurrency, defaultConcurrency)) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(parts)) && ctx.Err() == nil; n = next.Add(1) - 1 {
				answered <- b.lookUp(ctx, parts[n])
			}
		})
	}
	go func() {
		workers.Wait()
		close(answered)
	}()
	return answered
}

func (b *batch) lookUp(ctx context.Context, keys []int) (p part) {
	defer func() { p.panicked = recover() }()
	for _, i := range keys {
		l := newLookup(b.View, b.keys[i])
		l.ctx, l.noFill = ctx, b.o.DontFillCache
		value, err := l.get()
		l.end()
		p.answers = append(p.answers, answer{i, value, err})
	}
	return p
}

// take passes on the answer for a key. It returns an error of found.
func (b *batch) take(a answer) error {
	switch {
	case a.err == nil:
		return b.found(a.key, a.value)
	case errors.Is(a.err, table.ErrNotFound):
		return nil
	}
	if message := a.err.Error(); !b.failed[message] {
		b.failed[message] = true
		b.errs = append(b.errs, a.err)
	}
	if b.o.NoAnswer != nil {
		b.o.NoAnswer(a.key, a.err)
	}
	return nil
}
