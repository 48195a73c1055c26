package plan

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// numbers returns consecutive numbers as keys, in order.
func numbers(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "user%012d", i)
	}
	return keys
}

// pairsOf returns the pairs of a Set, which may have no values.
func pairsOf(s workload.Set) []input.Pair {
	pairs := make([]input.Pair, len(s.Keys))
	for i, k := range s.Keys {
		pairs[i].Key = k
		if s.Values != nil {
			pairs[i].Value = s.Values[i]
		}
	}
	return pairs
}

// lists returns a list that yields the next of the given lists each time that it is read.
func lists(all ...[]input.Pair) iter.Seq2[input.Pair, error] {
	reads := 0
	return func(yield func(input.Pair, error) bool) {
		pairs := all[reads%len(all)]
		reads++
		for _, p := range pairs {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// sampleOf reads the shuffled pairs as sieve plan does for n keys.
func sampleOf(t *testing.T, pairs []input.Pair, n uint64, most limits) *KeySample {
	t.Helper()
	pairs = slices.Clone(pairs)
	rand.New(rand.NewPCG(8, 8)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	s, err := readSample(lists(pairs), true, n, most)
	noError(t, err)
	return s
}

// The layout of a sample matches the layout of the list, whether the sample is the whole list, stretches of it,
// or a random part.
func TestLayoutOfSample(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n = 50_000
	all, urls, users := limits{maxSampleKeys, maxSampleBytes}, pairsOf(workload.W3(n)), pairsOf(workload.W1(n))
	for _, tt := range []struct {
		name      string
		list      []input.Pair
		share     float64 // of the list, in the sample
		most      limits
		tolerance float64
	}{
		{"URLs, all", urls, 1, all, 0},
		{"URLs, stretches", urls, 1, limits{20_000, maxSampleBytes}, 0.05},
		{"URLs, stretches of few bytes", urls, 1, limits{maxSampleKeys, 2 << 20}, 0.06},
		{"URLs, a tenth", urls, 0.1, all, 0.1},
		{"pairs, a tenth", users, 0.1, all, 0.1},
		{"pairs, stretches", users, 1, limits{20_000, maxSampleBytes}, 0.05},
		{"numbers in a row, stretches", pairsOf(workload.Set{Keys: numbers(n)}), 1, limits{20_000, maxSampleBytes}, 0.5},
	} {
		r := rand.New(rand.NewPCG(4, 4))
		part := slices.DeleteFunc(slices.Clone(tt.list), func(input.Pair) bool { return r.Float64() >= tt.share })
		got := sampleOf(t, part, n, tt.most).layout(n, 4096)
		want, err := layoutOf(tt.list, 4096)
		noError(t, err)
		least, most := 1-tt.tolerance, 1+tt.tolerance
		checkRatio(t, tt.name, "entry", got.entry, want.entry, least, most)
		checkRatio(t, tt.name, "stored", got.stored, want.stored, least, most)
		checkRatio(t, tt.name, "separator", got.separator, want.separator, least, most)
	}
}

// With fewer keys, neighbors share less. Layouts are valid numbers for any number of keys.
func TestLayoutOfFewKeys(t *testing.T) {
	t.Parallel()
	list := pairsOf(workload.W3(20_000))
	s := sampleOf(t, list, 2000, limits{maxSampleKeys, maxSampleBytes})
	few, many := s.layout(2000, 4096), s.layout(20_000, 4096)
	if few.stored <= many.stored || few.entry <= many.entry {
		t.Errorf("of 2,000 keys %+v, of 20,000 %+v, want less a key of more", few, many)
	}
	for _, n := range []uint64{1, cli.MaxCount} {
		if l := s.layout(n, 1<<20); !(l.stored > 1 && l.entry > 4 && l.separator > 1) {
			t.Errorf("%d keys: %+v", n, l)
		}
	}
}

// Neither the order of the pairs nor repeated keys change a sample, and the number of keys is known.
func TestSampleOfRepeatedKeys(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	list := pairsOf(workload.W3(10_000))
	twice := slices.Concat(list, list[:5000])
	for _, most := range []limits{{maxSampleKeys, maxSampleBytes}, {2000, maxSampleBytes}} {
		want, got := sampleOf(t, list, cli.MaxCount, most), sampleOf(t, twice, cli.MaxCount, most)
		if diff := cmp.Diff(want.pairs, got.pairs); diff != "" {
			t.Errorf("%v: -want +got:\n%s", most, diff)
		}
		if want.repeats || !got.repeats || want.Keys != 10_000 || got.Keys < 9000 || got.Keys > 11_000 {
			t.Errorf("%v: repeated %t and %t, %d and %d keys", most, want.repeats, got.repeats, want.Keys, got.Keys)
		}
	}
}

// Unusable samples are rejected.
func TestWrongSamples(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	list := pairsOf(workload.W3(10_000))
	large := append(pairsOf(workload.W3(1000)), input.Pair{Key: bytes.Repeat([]byte("k"), maxKeySize+1)})
	for _, tt := range []struct {
		name         string
		first, again []input.Pair
		want         string
	}{
		{"few", list[:999], nil, "--sample has 999 distinct keys, fewer than 1000: use a larger sample"},
		{"large values", withValues(list, 2*maxSampleBytes/minKept+1), nil, "--sample has keys and values of 53"},
		{"a large key", large, nil, "--sample has a key of 65537 bytes, over the limit of 65536"},
		{"empty when it is read again", list, nil, errSampleChanged.Error()},
		{"longer when it is read again", list, pairsOf(workload.Set{Keys: longer(list)}), errSampleChanged.Error()},
	} {
		_, err := readSample(lists(tt.first, tt.again), true, cli.MaxCount, limits{2000, maxSampleBytes})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// withValues returns the keys of a list with values of this size, which share their memory.
func withValues(list []input.Pair, size int) []input.Pair {
	pairs := slices.Clone(list)
	value := make([]byte, size)
	for i := range pairs {
		pairs[i].Value = value
	}
	return pairs
}

// A list with large values can be sampled, whatever their sizes, as long as enough pairs fit into memory.
func TestSampleOfLargeValues(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	keys := pairsOf(workload.W3(20_000))
	for _, n := range []int{2500, 5000, 20_000} {
		for _, size := range []int{500, 1500} {
			list := withValues(keys[:n], size)
			s := sampleOf(t, list, cli.MaxCount, limits{maxSampleKeys, 4 << 20})
			if got := s.Keys; got != uint64(n) {
				t.Errorf("%d values of %d bytes: %d keys", n, size, got)
			}
			if l := s.layout(uint64(n), 4096); !(l.entry > float64(size) && l.entry < float64(size+100)) {
				t.Errorf("%d values of %d bytes: entries of %g bytes", n, size, l.entry)
			}
		}
	}
}

// longer returns five keys for each key of the list.
func longer(list []input.Pair) (keys [][]byte) {
	for _, p := range list {
		for i := range 5 {
			keys = append(keys, fmt.Append(slices.Clone(p.Key), i))
		}
	}
	return keys
}
