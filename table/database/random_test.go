package database_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// For any writes, tables, levels, logs and options, a DB has the newest writes, and At the writes up to a sequence
// number.
func TestRandomLayouts(t *testing.T) {
	t.Parallel()
	most := long.Rounds(150, 1000)
	for seed := range uint64(long.Rounds(20, 1000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 41))
			r := newRandom(rng, 1+rng.IntN(most))
			db := r.open(t)
			defer db.Close()
			if want := r.lastSequence(); db.LastSequence() != want {
				t.Errorf("LastSequence = %d, want %d", db.LastSequence(), want)
			}
			c := &checker{rng: rng, order: r.order(), keys: append(r.keys, "absent", "key5\x00", "key")}
			c.check(t, db.View, asOf(r.writes, internalkey.MaxSequence))
			for _, sequence := range []uint64{0, r.writes[rng.IntN(len(r.writes))].Sequence, internalkey.MaxSequence, 1<<64 - 1} {
				c.check(t, db.At(sequence), asOf(r.writes, sequence))
			}
		})
	}
}

// A random is a random database and its writes, in the order of their sequence numbers.
type random struct {
	layout
	rng    *rand.Rand
	keys   []string
	writes []entry
}

// newRandom returns n writes. Their sequence numbers start at 1, or at 0 as in a Writer, or end at the highest one.
func newRandom(rng *rand.Rand, n int) *random {
	r := &random{rng: rng, keys: someKeys(rng, 1+n/2)}
	first := []uint64{0, 1, 1, rng.Uint64N(1 << 50), internalkey.MaxSequence - uint64(n) + 1}[rng.IntN(5)]
	for i := range uint64(n) {
		key := r.keys[rng.IntN(len(r.keys))]
		if w := del(key, first+i); rng.IntN(4) == 0 {
			r.writes = append(r.writes, w)
		} else {
			r.writes = append(r.writes, set(key, first+i, strings.Repeat(fmt.Sprint(i, " "), rng.IntN(20))))
		}
	}
	if rng.IntN(5) == 0 {
		r.user = backward
	}
	r.options = table.WriterOptions{BlockSize: 1 << rng.IntN(11), RestartInterval: rng.IntN(20), Properties: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		r.options.FilterPolicy = filter.NewBloom(1 + rng.IntN(12))
	}
	if rng.IntN(3) == 0 {
		r.options.TableFilterPolicy = filter.NewTableBloom(10)
	}
	return r
}

func (r *random) lastSequence() uint64 { return r.writes[len(r.writes)-1].Sequence }

// build lays out the writes: the older ones in the higher levels, then tables of level 0, and logs. In some
// databases, levels have the versions of a key in any order, as LevelDB up to 1.20 can leave them.
func (r *random) build(t *testing.T) fstest.MapFS {
	t.Helper()
	rest := slices.Clone(r.writes)
	r.last = max(1, rest[0].Sequence) - 1 // the writes of a log continue from it
	if n := r.rng.IntN(len(rest) + 1); r.rng.IntN(3) == 0 {
		inTables := rest[:n]
		r.rng.Shuffle(n, func(i, j int) { inTables[i], inTables[j] = inTables[j], inTables[i] })
		r.spread(t, inTables)
		r.addLogs(t, rest[n:])
		return r.end(t, r.earlierEdits()...)
	}
	take := func() (taken []entry) {
		n := r.rng.IntN(len(rest) + 1)
		taken, rest = rest[:n:n], rest[n:]
		return taken
	}
	for _, level := range []int{6, 3, 1} {
		r.addLevel(t, level, take())
	}
	for range r.rng.IntN(5) {
		if entries := take(); len(entries) > 0 {
			r.table(t, 0, entries...)
		}
	}
	if r.rng.IntN(3) == 0 && len(rest) > 0 { // all of it is in tables
		r.table(t, 0, rest...)
		rest = nil
	}
	r.addLogs(t, rest)
	return r.end(t, r.earlierEdits()...)
}

// spread adds tables with parts of the entries to all levels.
func (r *random) spread(t *testing.T, entries []entry) {
	t.Helper()
	for level := range 6 {
		n := r.rng.IntN(len(entries) + 1)
		if level > 0 || n == 0 {
			r.addLevel(t, level, entries[:n])
		} else {
			r.table(t, 0, entries[:n]...)
		}
		entries = entries[n:]
	}
	r.addLevel(t, 6, entries)
}

// addLevel adds tables with parts of the entries to a level > 0.
func (r *random) addLevel(t *testing.T, level int, entries []entry) {
	t.Helper()
	internal := table.InternalComparer(r.user)
	entries = slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return internal.Compare(a.Append(nil), b.Append(nil)) })
	for len(entries) > 0 {
		n := 1 + r.rng.IntN(len(entries))
		r.table(t, level, entries[:n]...)
		entries = entries[n:]
	}
}

// addLogs adds one or two logs with batches of the writes. The last one may end with an incomplete write.
func (r *random) addLogs(t *testing.T, writes []entry) {
	t.Helper()
	for range 2 {
		var batches [][]byte
		for len(writes) > 0 && r.rng.IntN(20) > 0 {
			n := 1 + r.rng.IntN(min(len(writes), 9))
			batches, writes = append(batches, batch(writes[:n]...)), writes[n:]
		}
		r.write(t, batches...)
	}
	name := r.write(t)
	if len(writes) > 0 {
		r.files[name].Data = tabletest.Log(t, batch(writes...))
	}
	next := del("torn", r.lastSequence())
	switch whole := tabletest.Log(t, batch(next, next, next)); r.rng.IntN(3) {
	case 0:
		r.files[name].Data = append(r.files[name].Data, whole[:r.rng.IntN(len(whole))]...)
	case 1:
		r.files[name].Data = append(r.files[name].Data, make([]byte, r.rng.IntN(70_000))...)
	}
}

// earlierEdits returns version edits that undo each other, or none.
func (r *random) earlierEdits() (edits [][]byte) {
	if r.rng.IntN(2) == 0 {
		return nil
	}
	gone := versions.Table{Level: r.rng.IntN(7), Number: 1_000_000, Size: 7}
	for _, kind := range []versions.FieldKind{versions.FieldAdd, versions.FieldDelete} {
		edits = append(edits, versions.Field{Kind: kind, Table: gone}.Append(nil))
	}
	return edits
}

// open opens the database with random options, in a directory or in memory.
func (r *random) open(t *testing.T) *database.DB {
	t.Helper()
	o := randomOptions(r.rng)
	files := r.build(t)
	if r.rng.IntN(2) == 0 {
		return openFS(t, files, &o)
	}
	return openDir(t, onDisk(t, files), &o)
}

// randomOptions returns random options that do not change results.
func randomOptions(rng *rand.Rand) (o database.Options) {
	o.Comparers = []table.Comparer{backward}
	o.Reader.Mapped, o.Reader.IgnoreFilter = rng.IntN(2) == 0, rng.IntN(4) == 0
	if rng.IntN(2) == 0 {
		o.Reader.Cache = table.NewCache(1 << rng.IntN(20))
	}
	return o
}
