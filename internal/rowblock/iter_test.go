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
			if got := it.Len(); got != n {
				t.Errorf("%s: Len = %d", name, got)
			}
			if diff := cmp.Diff(pairs, forward(it)); diff != "" {
				t.Fatalf("%s: forward (-want +got):\n%s", name, diff)
			}
			reversed := slices.Clone(pairs)
			slices.Reverse(reversed)
			if diff := cmp.Diff(reversed, backward(it)); diff != "" {
				t.Fatalf("%s: backward (-want +got):\n%s", name, diff)
			}
			moves := make([]byte, 200)
			for i := range moves {
				moves[i] = byte(rng.Uint32())
			}
			checkMoves(t, name, open(t, build(t, interval, pairs)), pairs, moves, func() []byte { return []byte(randomPairs(rng, 1)[0].Key) })
		}
	}
}

// move makes a move with it, and returns where the same move leads to from at in pairs.
func move(it *rowblock.Iter, pairs []pair, at int, m byte, target []byte) (to int, ok bool) {
	i, _ := slices.BinarySearchFunc(pairs, string(target), func(p pair, k string) int { return strings.Compare(p.Key, k) })
	switch m % 8 {
	case 0:
		return 0, it.First()
	case 1:
		return len(pairs) - 1, it.Last()
	case 2:
		return i, it.SeekGE(target)
	case 3:
		return i - 1, it.SeekLT(target)
	case 4, 5:
		return min(at+1, len(pairs)), it.Next()
	default:
		return max(at-1, -1), it.Prev()
	}
}

// checkMoves makes moves, and compares each with a position in pairs, −1 to len(pairs). It seeks results of key, the
// Iter's own key, and prefixes of it.
func checkMoves(t *testing.T, name string, it *rowblock.Iter, pairs []pair, moves []byte, key func() []byte) {
	t.Helper()
	at, ok := -1, false
	for n, m := range moves {
		target := key()
		if own := m >> 3 % 8; own < 2 {
			target = it.Key()[:len(it.Key())/(1+int(own))]
		}
		sought := string(target) // the move can overwrite it
		at, ok = move(it, pairs, at, m, target)
		k, v, want := it.Key(), it.Value(), at >= 0 && at < len(pairs)
		if ok != want || it.Valid() != want || (k != nil) != want || (v != nil) != want ||
			want && (string(k) != pairs[at].Key || string(v) != pairs[at].Value || cap(k) != len(k) || cap(v) != len(v)) {
			t.Fatalf("%s: after %v, the last with %q: %v, Valid %v at %q=%q of capacity %d and %d; want %v at entry %d of %q, with no room behind",
				name, moves[:n+1], sought, ok, it.Valid(), k, v, cap(k), cap(v), want, at, pairs)
		}
		if len(pairs) == 0 {
			at = -1 // in an empty block, before and after are the same
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

// Once the Iter has room for a key, seeks and moves do not allocate.
func TestIterDoesNotAllocate(t *testing.T) {
	b, err := rowblock.Open(build(t, 16, randomPairs(rand.New(rand.NewPCG(1, 1)), 100)), rowblock.Order{})
	noError(t, err)
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

// Prev moves back through a long run between restart points, whose keys share little and much in turn. The reverse
// cache covers the run in parts.
func TestPrevThroughLongRuns(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 100, 10_000, 100_000} {
		var pairs []pair
		for i := range n {
			key := fmt.Sprintf("%08d", i) + strings.Repeat("k", rng.IntN(3)*rng.IntN(40))
			if n == 100 {
				key += strings.Repeat("k", 5000*(i%2)) // more than is cached
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

// Each key is a few bytes shorter than the one before, so that the suffixes just do not fit into the reverse cache.
// Decoding from the restart point at each step would take an hour.
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
