package set_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
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
	next := &set.Manifest{Tables: []set.Table{m.Tables[0], src.put(t, "new", filtered, [][2]string{{key(60), "new"}}), m.Tables[3]}}
	src.reads.Store(0)
	if err := s.Swap(background, next); err != nil {
		t.Fatal(err)
	}
	if got := src.reads.Load(); got != 1 {
		t.Errorf("%d reads, want 1, for the new table", got)
	}
	checkGet(t, s, key(0), valueOf(0))
	checkGet(t, s, key(199), valueOf(199))
	if got := src.reads.Load(); got != 1 {
		t.Errorf("%d reads, want 1: the tables in both manifests are cached", got)
	}
	checkGet(t, s, key(60), "new")
	checkGet(t, s, key(61), "")
	checkGet(t, s, key(100), "")
	if diff := cmp.Diff(next, s.Manifest()); diff != "" {
		t.Errorf("Manifest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"t001", "t002"}, src.forgotten); diff != "" {
		t.Errorf("forgotten tables (-want +got):\n%s", diff)
	}
	if err := s.Drain(background); err != nil {
		t.Error(err)
	}
}

// One Swap waits for another, also if it has nothing to open. If its context is done, it waits no longer.
func TestSwapWaitsForAnother(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	first := &set.Manifest{Tables: m.Tables[:1]}
	synctest.Test(t, func(t *testing.T) {
		s := open(t, first, src, eager)
		src.latency = time.Minute // which the first Swap takes for the second table
		start := time.Now()
		var swaps sync.WaitGroup
		swaps.Go(func() {
			if err := s.Swap(t.Context(), m); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Swap(ctx, first); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("a Swap during another one: %v after %v, want DeadlineExceeded after a second", err, time.Since(start))
		}
		if err := s.Swap(t.Context(), first); err != nil || time.Since(start) != time.Minute {
			t.Errorf("the next Swap: %v after %v, want it to wait for a minute", err, time.Since(start))
		}
		swaps.Wait()
		if diff := cmp.Diff(first, s.Manifest()); diff != "" {
			t.Errorf("Manifest (-want +got):\n%s", diff)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A Swap that fails changes nothing, and what it has opened is closed.
func TestSwapThatFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, &set.Options{OpenAll: true, Concurrency: 1})
	memory := s.MemorySize()
	good, bad := src.put(t, "u", filtered, numberedAs("u", 10)), src.put(t, "v", filtered, numberedAs("v", 10))
	src.files["v"] = nil
	canceled, cancel := context.WithCancel(background)
	cancel()
	other := m.Tables[0]
	other.SHA256 = bad.SHA256
	for want, test := range map[string]struct {
		ctx context.Context
		m   *set.Manifest
	}{
		`table "v": size: `:                              {background, &set.Manifest{Tables: []set.Table{m.Tables[0], good, bad}}},
		"smallest is \"u000000\", not above ":            {background, &set.Manifest{Tables: []set.Table{good, good}}},
		"context canceled":                               {canceled, &set.Manifest{Tables: []set.Table{good}}},
		"nil Manifest":                                   {background, nil},
		`table "t000" is in use with another sha256: `:   {background, &set.Manifest{Tables: []set.Table{other}}},
		`table "t001" is in use with another smallest: `: {background, changed(m.Tables[1], func(l *set.Table) { l.Smallest = []byte("a") })},
		`table "t001" is in use with another largest: `:  {background, changed(m.Tables[1], func(l *set.Table) { l.Largest = []byte("z") })},
		`table "t001" is in use with another size: `:     {background, changed(m.Tables[1], func(l *set.Table) { l.Size++ })},
		`table "t001" is in use with another entries: `:  {background, changed(m.Tables[1], func(l *set.Table) { l.Entries++ })},
	} {
		t.Run(want, func(t *testing.T) {
			if err := s.Swap(test.ctx, test.m); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Swap = %v, want %s", err, want)
			}
			checkGet(t, s, key(60), valueOf(60))
			checkGet(t, s, "u000000", "")
			if diff := cmp.Diff(m, s.Manifest()); diff != "" || s.MemorySize() != memory {
				t.Errorf("%d bytes of open tables, want %d; Manifest (-want +got):\n%s", s.MemorySize(), memory, diff)
			}
		})
	}
	if err := s.Drain(background); err != nil {
		t.Error(err)
	}
}

func changed(l set.Table, change func(l *set.Table)) *set.Manifest {
	change(&l)
	return &set.Manifest{Tables: []set.Table{l}}
}

// numberedAs returns n pairs whose keys begin with prefix.
func numberedAs(prefix string, n int) (pairs [][2]string) {
	for i := range n {
		pairs = append(pairs, [2]string{fmt.Sprintf("%s%06d", prefix, i), prefix})
	}
	return pairs
}

// Another tailSize of the same table is no other table.
func TestSwapToAnotherTailSize(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	s := open(t, m, src, eager)
	if err := s.Swap(background, changed(m.Tables[0], func(l *set.Table) { l.TailSize++ })); err != nil {
		t.Error(err)
	}
	checkGet(t, s, key(3), valueOf(3))
}

// A Swap mends a tailSize that is too short to open the table. Once the table was opened, it can
// be opened again, whatever manifests say.
func TestSwapMendsATailSize(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	short := changed(m.Tables[0], func(l *set.Table) { l.TailSize = 48 })
	s := open(t, short, src, &set.Options{MemorySize: 1}) // it opens the table for each lookup
	if got, err := s.Get(background, []byte(key(3))); !errors.Is(err, set.ErrMismatch) {
		t.Errorf("Get = %q, %v; want a mismatch", got, err)
	}
	for _, next := range []*set.Manifest{m, short} {
		if err := s.Swap(background, next); err != nil {
			t.Error(err)
		}
		checkGet(t, s, key(3), valueOf(3))
	}
}

// A name can be used for another table after Drain.
func TestSwapUsesANameAgain(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	s := open(t, m, src, eager)
	if err := s.Swap(background, new(set.Manifest)); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(background); err != nil {
		t.Fatal(err)
	}
	next := &set.Manifest{Tables: []set.Table{src.put(t, "t000", filtered, numberedAs("u", 10))}}
	if err := s.Swap(background, next); err != nil {
		t.Fatal(err)
	}
	checkGet(t, s, "u000003", "u")
	checkGet(t, s, key(3), "")
}

// generation adds the tables of a generation to a store: each of the keys has its number as the
// value.
func generation(t testing.TB, src *store, number int) (*store, *set.Manifest) {
	m := new(set.Manifest)
	for i := range 4 {
		var pairs [][2]string
		for j := range perTable {
			pairs = append(pairs, [2]string{key(i*perTable + j), fmt.Sprint(number)})
		}
		m.Tables = append(m.Tables, src.put(t, fmt.Sprintf("g%d-%d", number, i), filtered, pairs))
	}
	return src, m
}

// Under load, no lookup fails because of a Swap. Each sees one manifest, and none goes back to
// an older one.
func TestSwapUnderLoad(t *testing.T) {
	t.Parallel()
	src, m := generation(t, newStore(), 0)
	s := open(t, m, src, &set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}, MemorySize: 20_000, OpenAll: true})
	var swapped atomic.Int64 // the generation of the last Swap that has ended
	stop := make(chan bool)
	var lookups sync.WaitGroup
	for g := range 16 {
		lookups.Go(func() {
			rng := rand.New(rand.NewPCG(17, uint64(g)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				checkGeneration(t, s, rng, int(swapped.Load()))
				runtime.Gosched() // there are more goroutines than cores
			}
		})
	}
	for i := 1; i < rounds(25, 300); i++ {
		old := m
		_, m = generation(t, src, i)
		if i%3 == 0 { // most tables stay
			m.Tables[2], m.Tables[3] = old.Tables[2], old.Tables[3]
		}
		if err := s.Swap(background, m); err != nil {
			t.Error(err)
		}
		if i%3 != 0 {
			swapped.Store(int64(i) - 1)
		}
		if err := s.Drain(background); err != nil {
			t.Error(err)
		}
		kept := map[string]bool{m.Tables[2].Name: true}
		for _, table := range old.Tables[:3] {
			if !kept[table.Name] {
				src.delete(table.Name)
			}
		}
	}
	close(stop)
	lookups.Wait()
	for _, wrong := range src.wrong {
		t.Error(wrong)
	}
}

// checkGeneration looks up keys, and checks that the generation of each is not too old, and that
// a GetMany sees one manifest.
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
