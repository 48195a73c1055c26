package set_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// After a Swap, lookups see the new tables. Those in both manifests stay open and cached.
func TestSwapKeepsSharedTablesOpen(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, filtered)
	s := open(t, m, src, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}})
	for i := range 4 * perTable {
		checkGet(t, s, key(i), valueOf(i))
	}
	next := manifestOf(m.Tables[0], src.put(t, "new", filtered, [][2]string{{key(60), "new"}}), m.Tables[3])
	src.reads.Store(0)
	noError(t, s.Swap(background, next))
	checkReads(t, src, 1) // of the new table
	checkGet(t, s, key(0), valueOf(0))
	checkGet(t, s, key(199), valueOf(199))
	checkReads(t, src, 0) // the tables in both manifests are cached
	checkGet(t, s, key(60), "new")
	checkGet(t, s, key(61), "")
	checkGet(t, s, key(100), "")
	checkDiff(t, "Manifest", next, s.Manifest())
	checkDiff(t, "forgotten tables", []string{"t001", "t002"}, src.forgotten)
	noError(t, s.Drain(background))
}

// A Swap waits for another one, even if it has no tables to open, until its context is done.
func TestSwapWaitsForAnother(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	first := manifestOf(m.Tables[0])
	synctest.Test(t, func(t *testing.T) {
		s := open(t, first, src, eager)
		src.latency = time.Minute // the first Swap's time for the second table
		swapped := make(chan error, 1)
		go func() { swapped <- s.Swap(t.Context(), m) }()
		synctest.Wait()
		ctx := within(t, time.Second)
		checkTook(t, "a Swap during it", time.Second, context.DeadlineExceeded, func() error { return s.Swap(ctx, first) })
		checkTook(t, "the next Swap", time.Minute-time.Second, nil, func() error { return s.Swap(t.Context(), first) })
		noError(t, <-swapped)
		checkDiff(t, "Manifest", first, s.Manifest())
		noError(t, s.Close())
	})
}

// A failed Swap changes nothing, and closes the tables that it has opened.
func TestSwapThatFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, &set.Options{OpenAll: true, Concurrency: 1})
	memory := s.MemorySize()
	good, bad := src.put(t, "u", filtered, numberedAs("u", 10)), src.put(t, "v", filtered, numberedAs("v", 10))
	src.files["v"] = nil
	for want, test := range map[string]struct {
		ctx context.Context
		m   *set.Manifest
	}{
		`table "v": size: `:                              {background, manifestOf(m.Tables[0], good, bad)},
		"smallest is \"u000000\", not above ":            {background, manifestOf(good, good)},
		"context canceled":                               {canceled(), manifestOf(good)},
		"nil Manifest":                                   {background, nil},
		`table "t000" is in use with another sha256: `:   {background, changed(m.Tables[0], func(l *set.Table) { l.SHA256 = bad.SHA256 })},
		`table "t000" is in use with another tailSum: `:  {background, changed(m.Tables[0], func(l *set.Table) { l.TailSum = bad.TailSum })},
		`table "t001" is in use with another smallest: `: {background, changed(m.Tables[1], func(l *set.Table) { l.Smallest = []byte("a") })},
		`table "t001" is in use with another largest: `:  {background, changed(m.Tables[1], func(l *set.Table) { l.Largest = []byte("z") })},
		`table "t001" is in use with another size: `:     {background, changed(m.Tables[1], func(l *set.Table) { l.Size++ })},
		`table "t001" is in use with another entries: `:  {background, changed(m.Tables[1], func(l *set.Table) { l.Entries++ })},
	} {
		checkError(t, "Swap", s.Swap(test.ctx, test.m), nil, want)
		checkGet(t, s, key(60), valueOf(60))
		checkGet(t, s, "u000000", "")
		if diff := cmp.Diff(m, s.Manifest()); diff != "" || s.MemorySize() != memory {
			t.Errorf("%s: %d bytes of open tables, want %d; Manifest (-want +got):\n%s", want, s.MemorySize(), memory, diff)
		}
	}
	noError(t, s.Drain(background))
}

// changed returns the manifest of a table with a changed line.
func changed(l set.Table, change func(l *set.Table)) *set.Manifest {
	change(&l)
	return manifestOf(l)
}

// numberedAs returns n pairs whose keys begin with prefix.
func numberedAs(prefix string, n int) (pairs [][2]string) {
	for i := range n {
		pairs = append(pairs, [2]string{fmt.Sprintf("%s%06d", prefix, i), prefix})
	}
	return pairs
}

// A table with another tailSize is still the same table: a Swap can correct one that is too short to open the table.
// Once the table was opened, it can be opened again, whatever later manifests say.
func TestSwapMendsATailSize(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	short := changed(m.Tables[0], func(l *set.Table) { l.TailSize = 48 })
	s := open(t, short, src, &set.Options{MemorySize: 1}) // it opens the table for each lookup
	checkGetFails(t, s, key(3), set.ErrMismatch)
	for _, next := range []*set.Manifest{m, short} {
		noError(t, s.Swap(background, next))
		checkGet(t, s, key(3), valueOf(3))
	}
}

// After Drain, a name can be used for another table.
func TestSwapUsesANameAgain(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	s := open(t, m, src, eager)
	noError(t, errors.Join(s.Swap(background, new(set.Manifest)), s.Drain(background)))
	noError(t, s.Swap(background, manifestOf(src.put(t, "t000", filtered, numberedAs("u", 10)))))
	checkGet(t, s, "u000003", "u")
	checkGet(t, s, key(3), "")
}

// generation adds a generation of tables to a store. The value of each key is the generation's number.
func generation(t testing.TB, src *store, number int) *set.Manifest {
	m := new(set.Manifest)
	for i := range 4 {
		pairs := withValue(fmt.Sprint(number), numbered(i*perTable, (i+1)*perTable))
		m.Tables = append(m.Tables, src.put(t, fmt.Sprintf("g%d-%d", number, i), filtered, pairs))
	}
	return m
}

// Under load, no lookup fails because of a Swap. Each sees one manifest, never an older one than the lookup before.
func TestSwapUnderLoad(t *testing.T) {
	t.Parallel()
	src := newStore()
	m := generation(t, src, 0)
	s := open(t, m, src, &set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}, MemorySize: 20_000, OpenAll: true})
	var swapped atomic.Int64 // the generation of the last Swap that has ended
	meanwhile(16, func(rng *rand.Rand) { checkGeneration(t, s, rng, int(swapped.Load())) }, func() {
		for i := 1; i < rounds(25, 300); i++ {
			old := m
			m = generation(t, src, i)
			if i%3 == 0 { // most tables stay
				m.Tables[2], m.Tables[3] = old.Tables[2], old.Tables[3]
			}
			noError(t, s.Swap(background, m))
			if i%3 != 0 {
				swapped.Store(int64(i) - 1)
			}
			noError(t, s.Drain(background))
			for _, table := range old.Tables[:3] {
				if table.Name != m.Tables[2].Name {
					src.delete(table.Name)
				}
			}
		}
	})
	checkDiff(t, "what went wrong", []string(nil), src.wrong)
}

// checkGeneration looks up keys, and checks that the generation of each is not too old, and that GetMany sees one
// manifest.
func checkGeneration(t *testing.T, s *set.Set, rng *rand.Rand, oldest int) {
	i := rng.IntN(4*perTable - 1)
	value, err := s.Get(background, []byte(key(i)))
	var got int
	if _, scanErr := fmt.Sscan(string(value), &got); err != nil || scanErr != nil || got < oldest-3 {
		t.Errorf("Get(%s) = %q, %v; want %d or later", key(i), value, err, oldest-3)
	}
	found, err := getMany(background, s, bytesOf(key(0), key(perTable-1), key(perTable)), nil)
	if err != nil || found[key(0)] != found[key(perTable-1)] || found[key(0)] != found[key(perTable)] {
		t.Errorf("GetMany finds %v, %v; want the same generation three times", found, err)
	}
	it := s.NewIter(background, &table.IterOptions{Upper: []byte(key(perTable + 3))})
	var first string
	for e := range it.All() {
		if first == "" {
			first = string(e.Value)
		}
		if string(e.Value) != first {
			t.Errorf("an Iter shows %s with %s, after %s", e.Key, e.Value, first)
		}
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
}
