package rowblock_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rowblock"
)

func forward(it *rowblock.Iter) []pair {
	var got []pair
	for ok := it.First(); ok; ok = it.Next() {
		got = append(got, pair{string(it.Key()), string(it.Value())})
	}
	return got
}

func backward(it *rowblock.Iter) []pair {
	var got []pair
	for ok := it.Last(); ok; ok = it.Prev() {
		got = append(got, pair{string(it.Key()), string(it.Value())})
	}
	return got
}

// randomPairs returns n pairs of keys with long and short common prefixes.
func randomPairs(rng *rand.Rand, n int) []pair {
	seen := map[string]bool{}
	for len(seen) < n {
		key := make([]byte, rng.IntN(8))
		for i := range key {
			key[i] = "\x00a\xff"[rng.IntN(3)]
		}
		seen[string(key)] = true
	}
	var pairs []pair
	for k := range seen {
		pairs = append(pairs, pair{Key: k})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.Key, b.Key) })
	for i := range pairs {
		pairs[i].Value = fmt.Sprint(i)
	}
	return pairs
}

// TestIterAgainstModel makes random moves on blocks of every restart interval,
// and compares each with the same move on a sorted slice.
func TestIterAgainstModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, interval := range []int{1, 2, 3, 4, 16, 128} {
		for n := range 40 {
			pairs := randomPairs(rng, n)
			it := open(t, build(t, interval, pairs))
			name := fmt.Sprintf("interval %d, %d entries", interval, n)
			if diff := cmp.Diff(pairs, forward(it)); diff != "" {
				t.Fatalf("%s: forward (-want +got):\n%s", name, diff)
			}
			reversed := slices.Clone(pairs)
			slices.Reverse(reversed)
			if diff := cmp.Diff(reversed, backward(it)); diff != "" {
				t.Fatalf("%s: backward (-want +got):\n%s", name, diff)
			}
			it = open(t, build(t, interval, pairs))
			checkMoves(t, rng, name, it, pairs)
		}
	}
}

// checkMoves moves it at random, and compares it with a position in pairs, −1 to
// len(pairs), that is moved in the same way.
func checkMoves(t *testing.T, rng *rand.Rand, name string, it *rowblock.Iter, pairs []pair) {
	t.Helper()
	at := -1
	var moves []string
	for range 200 {
		target := randomPairs(rng, 1)[0].Key
		from := at
		i, _ := slices.BinarySearchFunc(pairs, target, func(p pair, k string) int { return strings.Compare(p.Key, k) })
		var ok bool
		var move string
		switch rng.IntN(8) {
		case 0:
			move, at, ok = "First", 0, it.First()
		case 1:
			move, at, ok = "Last", len(pairs)-1, it.Last()
		case 2:
			move, at, ok = fmt.Sprintf("SeekGE(%q)", target), i, it.SeekGE([]byte(target))
		case 3:
			move, at, ok = fmt.Sprintf("SeekLT(%q)", target), i-1, it.SeekLT([]byte(target))
		case 4, 5:
			move, at, ok = "Next", min(from+1, len(pairs)), it.Next()
		default:
			move, at, ok = "Prev", max(from-1, -1), it.Prev()
		}
		moves = append(moves, move)
		want := at >= 0 && at < len(pairs)
		if ok != want || it.Valid() != want {
			t.Fatalf("%s: after %v: moved %v, Valid %v; want %v", name, moves, ok, it.Valid(), want)
		}
		if want && (string(it.Key()) != pairs[at].Key || string(it.Value()) != pairs[at].Value) {
			t.Fatalf("%s: after %v: at %q=%q, want %+v", name, moves, it.Key(), it.Value(), pairs[at])
		}
		if !want && (it.Key() != nil || it.Value() != nil) {
			t.Fatalf("%s: after %v: at no entry, but Key is %q and Value is %q", name, moves, it.Key(), it.Value())
		}
		if len(pairs) == 0 {
			at = -1 // an empty block's before and after are one place
		}
	}
}

// Len counts the entries of every block, whether they are restart points or not.
func TestLenCountsAllEntries(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(rand.New(rand.NewPCG(8, 8)), 20)
	for _, interval := range []int{1, 3, 16} {
		for n := range len(pairs) + 1 {
			if got := open(t, build(t, interval, pairs[:n])).Len(); got != n {
				t.Errorf("interval %d: Len = %d, want %d", interval, got, n)
			}
		}
	}
}

// A seek may be given the Iter's own key.
func TestSeekTakesTheItersOwnKey(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(rand.New(rand.NewPCG(3, 3)), 100)
	it := open(t, build(t, 16, pairs))
	for i, p := range pairs {
		if !it.SeekGE([]byte(p.Key)) || !it.SeekGE(it.Key()) || string(it.Key()) != p.Key {
			t.Fatalf("at %q, SeekGE(Key) moves to %q", p.Key, it.Key())
		}
		if moved := it.SeekLT(it.Key()); moved != (i > 0) || moved && string(it.Key()) != pairs[i-1].Key {
			t.Fatalf("at %q, SeekLT(Key) moves to %q", p.Key, it.Key())
		}
	}
}

// An Iter's slices have no room behind them that an append could write to.
func TestIterSlicesAreFull(t *testing.T) {
	t.Parallel()
	it := open(t, build(t, 16, []pair{{"a", "1"}, {"ab", "2"}}))
	for it.Next() {
		if cap(it.Key()) != len(it.Key()) || cap(it.Value()) != len(it.Value()) {
			t.Errorf("key %q has capacity %d, value %q has %d", it.Key(), cap(it.Key()), it.Value(), cap(it.Value()))
		}
	}
}

func TestZeroIterIsEmpty(t *testing.T) {
	t.Parallel()
	var it rowblock.Iter
	if it.Valid() || it.First() || it.Last() || it.SeekGE(nil) || it.SeekLT([]byte("x")) || it.Next() || it.Prev() {
		t.Error("the zero Iter found an entry")
	}
}

// Searching and moving take no memory once the Iter has room for a key.
func TestIterDoesNotAllocate(t *testing.T) {
	b, err := rowblock.Open(build(t, 16, randomPairs(rand.New(rand.NewPCG(1, 1)), 100)), rowblock.Order{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var it rowblock.Iter
	key := []byte("a\xffa")
	allocs := testing.AllocsPerRun(100, func() {
		it.Reset(b)
		it.SeekGE(key)
		for it.Next() {
		}
		for it.Prev() {
		}
		it.SeekLT(key)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

// Prev goes back through a long run between restart points, of keys that share
// little and much in turn, on a way that it remembers in parts.
func TestPrevThroughLongRuns(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 100, 10_000, 100_000} {
		var pairs []pair
		for i := range n {
			key := fmt.Sprintf("%08d", i) + strings.Repeat("k", rng.IntN(3)*rng.IntN(40))
			if n == 100 {
				key += strings.Repeat("k", 5000*(i%2)) // more than is remembered
			}
			pairs = append(pairs, pair{key, fmt.Sprint(i)})
		}
		it := open(t, build(t, math.MaxInt32, pairs))
		got := backward(it)
		slices.Reverse(got)
		if diff := cmp.Diff(pairs, got); diff != "" {
			t.Fatalf("%d entries: (-want +got):\n%s", n, diff)
		}
		for range 100 {
			i := rng.IntN(n)
			it.SeekGE([]byte(pairs[i].Key))
			for j := i; j >= max(0, i-20); j-- {
				if string(it.Key()) != pairs[j].Key || string(it.Value()) != pairs[j].Value {
					t.Fatalf("%d entries: %d before %q: at %.20q, want %q", n, i-j, pairs[i].Key, it.Key(), pairs[j].Key)
				}
				if rng.IntN(4) == 0 && (!it.Next() && i+1 < n || !it.Prev()) {
					t.Fatalf("no way there and back at %q", pairs[j].Key)
				}
				it.Prev()
			}
		}
	}
}

// Keys that are cut by a few bytes each, so that the cuts just do not fit in
// what is remembered of the way back. Reading it anew at each step would take an
// hour.
func TestPrevThroughCutsThatJustDoNotFit(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n = 400_000
	var entries []byte
	var lengths []int // of the keys
	add := func(shared int, unshared string) {
		lengths = append(lengths, shared+len(unshared))
		entries = binary.AppendUvarint(entries, uint64(shared))
		entries = append(binary.AppendUvarint(entries, uint64(len(unshared))), 0)
		entries = append(entries, unshared...)
	}
	shared := 17_000 + n*502/100
	room := (shared + 6*n) / 64
	q := room / 6 / (room%6 + 12) // each q-th cut is a byte longer: in all, some bytes too many
	add(0, strings.Repeat("\x01", shared))
	for i := range n {
		add(shared, "\x02")
		if shared -= 5; i%q == 0 {
			shared--
		}
	}
	it := open(t, append(entries, 0, 0, 0, 0, 1, 0, 0, 0))
	var got []int
	for ok := it.Last(); ok; ok = it.Prev() {
		got = append(got, len(it.Key()))
	}
	if slices.Reverse(got); !slices.Equal(got, lengths) {
		t.Errorf("%d entries on the way back, want %d, with the same keys", len(got), len(lengths))
	}
}
