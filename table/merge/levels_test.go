package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// levels are a database of a few random versions of a few random keys, in tables of
// one to sixteen levels, or in memory.
type levels struct {
	order  table.Comparer // of internal keys
	repeat int            // how many times each byte of a random key is repeated
	levels []level
	all    []workload.Pair // merged; of equal keys, the first level's come first

	broken  bool // opening tables and reading from them fails
	openNow int  // tables
}

// level has tables whose ranges do not overlap, or a memtable.
type level struct {
	memory bool
	pairs  []workload.Pair
	ranges []merge.LevelTable
	tables [][]byte
}

// randomLevels returns random levels. Values begin with the level's number.
func randomLevels(t *testing.T, rng *rand.Rand, user table.Comparer) *levels {
	db := &levels{order: table.InternalComparer(user), repeat: 1 + 5*rng.IntN(2), levels: make([]level, 1+rng.IntN(6)*(1+rng.IntN(3)))}
	for sequence := range rng.IntN(60) {
		k := internalkey.Key{UserKey: db.userKey(rng), Sequence: uint64(sequence), Kind: internalkey.Kind(min(rng.IntN(3), 1))}
		for copies := 1 + rng.IntN(8)/7; copies > 0; copies-- {
			i := rng.IntN(len(db.levels))
			p := workload.Pair{Key: k.Append(nil), Value: append([]byte{byte(i)}, make([]byte, rng.IntN(20))...)}
			db.levels[i].pairs = append(db.levels[i].pairs, p)
		}
	}
	byKey := func(a, b workload.Pair) int { return db.order.Compare(a.Key, b.Key) }
	for i := range db.levels {
		l := &db.levels[i]
		slices.SortFunc(l.pairs, byKey)
		l.pairs = slices.CompactFunc(l.pairs, func(a, b workload.Pair) bool { return bytes.Equal(a.Key, b.Key) })
		if l.memory = rng.IntN(4) == 0; !l.memory {
			l.cut(t, rng, db.order)
		}
		db.all = append(db.all, l.pairs...)
	}
	slices.SortStableFunc(db.all, byKey)
	return db
}

func (db *levels) userKey(rng *rand.Rand) (key []byte) {
	for _, c := range tabletest.FewBytes(rng) {
		key = append(key, bytes.Repeat([]byte{c}, db.repeat)...)
	}
	return key
}

// cut puts the pairs into tables, and removes a few again, so that ranges are wider than the keys, or tables are
// empty.
func (l *level) cut(t *testing.T, rng *rand.Rand, order table.Comparer) {
	rest := l.pairs
	l.pairs = nil
	for len(rest) > 0 {
		n := 1 + rng.IntN(len(rest))
		part := rest[:n]
		rest = rest[n:]
		l.ranges = append(l.ranges, merge.LevelTable{Smallest: part[0].Key, Largest: part[n-1].Key})
		switch rng.IntN(8) {
		case 0:
			part = nil
		case 1:
			part = part[n/2:]
		case 2:
			part = part[:n/2]
		}
		l.tables = append(l.tables, tabletest.Build(t, &table.WriterOptions{Comparer: order, BlockSize: 1 + rng.IntN(60), Compression: table.NoCompression}, part))
		l.pairs = append(l.pairs, part...)
	}
}

// counted is an Iterator that records when it is closed, and whose memory is then overwritten.
type counted struct {
	merge.Iterator
	open *int
}

func (c counted) Close() error {
	*c.open--
	clear(c.Key())
	return c.Iterator.Close()
}

// iter returns a LevelIter, a table.Iter if one table suffices, or a MemoryIter.
func (db *levels) iter(t *testing.T, l level) merge.Iterator {
	if l.memory {
		return memoryIter(db.order, l.pairs)
	}
	open := func(i int) (merge.Iterator, error) {
		r, err := table.NewReader(tabletest.ReadAtFunc(func(p []byte, off int64) (int, error) {
			if db.broken {
				return 0, tabletest.ErrBroken
			}
			return bytes.NewReader(l.tables[i]).ReadAt(p, off)
		}), int64(len(l.tables[i])), &table.ReaderOptions{Comparer: db.order})
		if err != nil {
			return nil, err
		}
		db.openNow++
		return counted{r.NewIter(nil), &db.openNow}, nil
	}
	if len(l.tables) == 1 {
		it, err := open(0)
		errtest.NoError(t, err)
		return it
	}
	it, err := merge.NewLevelIter(db.order, l.ranges, open)
	errtest.NoError(t, err)
	return it
}

func memoryIter(c table.Comparer, pairs []workload.Pair) *merge.MemoryIter {
	return merge.NewMemoryIter(c, len(pairs), func(i int) (key, value []byte) { return pairs[i].Key, pairs[i].Value })
}

func (db *levels) merging(t *testing.T) *merge.Iter {
	var its []merge.Iterator
	for _, l := range db.levels {
		its = append(its, db.iter(t, l))
	}
	return merge.New(db.order, its...)
}

// seen returns the user keys and values that a snapshot sees.
func (db *levels) seen(sequence uint64) []workload.Pair {
	var seen []workload.Pair
	var last []byte
	for _, p := range db.all {
		k, _ := internalkey.Parse(p.Key)
		if k.Sequence > sequence || last != nil && bytes.Equal(k.UserKey, last) {
			continue
		}
		if last = append([]byte{}, k.UserKey...); k.Kind == internalkey.Set {
			seen = append(seen, workload.Pair{Key: k.UserKey, Value: p.Value})
		}
	}
	return seen
}

// reversed is the reversed bytewise order.
var reversed = tabletest.Order{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int { return bytes.Compare(b, a) }}

// The iterators over tables agree with a sorted slice.
func TestLevelsAgainstModel(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range 300 {
		walkLevels(t, rng, []table.Comparer{table.BytewiseComparer, reversed}[i%2])
	}
}

// FuzzLevels is TestLevelsAgainstModel with other databases and moves.
func FuzzLevels(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, bytewise bool) {
		user := table.Comparer(reversed)
		if bytewise {
			user = table.BytewiseComparer
		}
		walkLevels(t, rand.New(rand.NewPCG(seed, 23)), user)
	})
}

// walkLevels moves iterators over a random database: over a level, over all levels, and over a snapshot.
func walkLevels(t *testing.T, rng *rand.Rand, user table.Comparer) {
	db := randomLevels(t, rng, user)
	internalKey := func() []byte {
		if len(db.all) > 0 && rng.IntN(2) == 0 {
			return db.all[rng.IntN(len(db.all))].Key
		}
		return internalkey.Key{UserKey: db.userKey(rng), Sequence: uint64(rng.IntN(60)), Kind: internalkey.Set}.Append(nil)
	}
	l := db.levels[rng.IntN(len(db.levels))]
	db.walk(t, rng, "level", db.iter(t, l), &tabletest.Model{Pairs: l.pairs, Compare: db.order.Compare, At: -1}, internalKey)
	db.walk(t, rng, "merging", db.merging(t), &tabletest.Model{Pairs: db.all, Compare: db.order.Compare, At: -1}, internalKey)
	sequence := uint64(rng.IntN(62))
	db.walk(t, rng, fmt.Sprint("snapshot at ", sequence), merge.NewSnapshotIter(user, db.merging(t), sequence),
		&tabletest.Model{Pairs: db.seen(sequence), Compare: user.Compare, At: -1}, func() []byte { return db.userKey(rng) })
}

// walk makes random moves with both, sometimes with failing sources, and closes the Iterator.
func (db *levels) walk(t *testing.T, rng *rand.Rand, name string, it merge.Iterator, m *tabletest.Model, anyKey func() []byte) {
	t.Helper()
	history, failed := name+":", false
	for range 100 {
		key := anyKey()
		if rng.IntN(8) == 0 && it.Valid() {
			key = it.Key()[rng.IntN(1+len(it.Key())):]
		}
		db.broken = rng.IntN(10) == 0
		move, got, want := tabletest.Step(rng, it, m, key)
		history += " " + move
		if db.broken && errors.Is(it.Error(), tabletest.ErrBroken) {
			failed, history = true, history+" fails"
		} else if move != "Next" && move != "Prev" {
			failed = false
		}
		if failed {
			want = false
		}
		if got != want || it.Valid() != want || (it.Error() != nil) != failed {
			t.Fatalf("%s: moved %v, want %v; Error = %v", history, got, want, it.Error())
		}
		checkEntry(t, history, it, m)
		if db.openNow > len(db.levels) {
			t.Fatalf("%s: %d tables are open, of %d levels", history, db.openNow, len(db.levels))
		}
	}
	db.broken = false
	if err := it.Close(); (err != nil) != failed || db.openNow != 0 {
		t.Fatalf("%s: Close = %v, with %d tables still open", history, err, db.openNow)
	}
}

// checkEntry checks that the Iterator is at the model's entry, or at none.
func checkEntry(t *testing.T, history string, it merge.Iterator, m *tabletest.Model) {
	t.Helper()
	if !it.Valid() {
		if it.Key() != nil || it.Value() != nil {
			t.Fatalf("%s: no entry, but %q=%q", history, it.Key(), it.Value())
		}
		return
	}
	want := m.Pairs[m.At]
	if !bytes.Equal(it.Key(), want.Key) || !bytes.Equal(it.Value(), want.Value) {
		t.Fatalf("%s: at %q=%q, want %q=%q", history, it.Key(), it.Value(), want.Key, want.Value)
	}
	if m, ok := it.(*merge.Iter); ok && m.Source() != int(want.Value[0]) {
		t.Fatalf("%s: Source = %d, want %d", history, m.Source(), want.Value[0])
	}
}
