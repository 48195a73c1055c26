package rates

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// Full filters equal those that the policies of package filter build.
func TestFullFilters(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{1, 7, 10, 40} {
		keys := keyShapes[0].start(newRand(1, 0, 0))(1000)
		wantSmall := filtertest.Build(filter.NewBloom(bits), keys...)
		wantLarge := filtertest.BuildTable(t, filter.NewTableBloom(bits), keys...)
		if diff := cmp.Diff(wantSmall, filled(t, "bloom", bits, 0, keys).(blockBloom).Bytes()); diff != "" {
			t.Errorf("%d bits per key: Bloom (-want +got):\n%s", bits, diff)
		}
		if diff := cmp.Diff(wantLarge, filled(t, "table-bloom", bits, 0, keys).(tableBloom).bytes); diff != "" {
			t.Errorf("%d bits per key: TableBloom (-want +got):\n%s", bits, diff)
		}
	}
}

// filled returns a filter of the keys that is sized for their number.
func filled(t *testing.T, policy string, bits, k int, keys [][]byte) measuredFilter {
	t.Helper()
	f, err := policyOf(policy).empty(len(keys), bits, k)
	noError(t, err)
	for _, key := range keys {
		f.Add(key)
	}
	noError(t, f.build(keys))
	return f
}

func TestPlan(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		policy string
		rate   float64
		want   int
		err    string
	}{
		{"bloom", 0.01, 10, ""},
		{"bloom", 0.0001, 20, ""},
		{"bloom", 1e-6, 0, "-p is 1e-06, but bloom filters of 10000 keys reach only 2.36e-06: use a higher rate"},
		{"table-bloom", 0.01, 11, ""},
		{"fuse", 0.01, 8, ""},
		{"fuse", 1.53e-5, 16, ""},
		{"independent", 0.01, 10, ""},
		{"independent", 1e-9, 44, ""},
		{"fuse", 1.0 / 65536, 16, ""},
		{"fuse", 1e-5, 0, "-p is 1e-05, but fuse filters of 10000 keys reach only 1.53e-05: use a higher rate"},
		{"table-bloom", 1e-9, 0, "-p is 1e-09, but table-bloom filters of 10000 keys reach only "},
	} {
		c := Config{Keys: 10_000, Policies: []string{tt.policy}, Rate: tt.rate}
		got, err := c.sizedPolicies()
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("%s for %g: error %v, want %s", tt.policy, tt.rate, err, tt.err)
			}
			continue
		}
		if err != nil || got[0].bits != tt.want {
			t.Errorf("%s for %g: %+v, %v, want %d bits per key", tt.policy, tt.rate, got, err, tt.want)
		}
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		mean, stdDev      float64
		runs, lookups     int
		wantLow, wantHigh float64
	}{
		{"no false positive", 0, 0, 10, 100, 0, 0.003827},
		{"half, by chance", 0.5, 0.05, 1, 100, 0.403832, 0.596168},
		{"runs alike", 0.01, 0, 10, 1000, 0.008229, 0.012147},
		{"runs that differ, as if of a fourth of the lookups", 0.5, 0.1, 4, 100, 0.403832, 0.596168},
		{"only false positives", 1, 0, 10, 100, 0.996173, 1},
	} {
		low, high := interval(tt.mean, tt.stdDev, tt.runs, tt.lookups)
		if math.Abs(low-tt.wantLow) > 1e-6 || math.Abs(high-tt.wantHigh) > 1e-6 {
			t.Errorf("%s: from %f to %f, want %f to %f", tt.name, low, high, tt.wantLow, tt.wantHigh)
		}
	}
}

// The interval usually includes the true mean rate, even if the runs differ.
func TestIntervalCovers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	covered := 0
	for range 1000 {
		p := Point{Lookups: 200, Rates: make([]float64, 10)}
		for i := range p.Rates {
			rate := 0.02 + 0.06*rng.Float64() // runs differ, with a mean of 5 %
			for range p.Lookups {
				if rng.Float64() < rate {
					p.Rates[i] += 1 / float64(p.Lookups)
				}
			}
		}
		if p.summarize(); p.Low <= 0.05 && 0.05 <= p.High {
			covered++
		}
	}
	if covered < 900 {
		t.Errorf("%d of 1000 intervals have the mean rate, want ≥ 900", covered)
	}
}

// A run never looks up a key that it has added, and different runs use different keys.
func TestOwnKeys(t *testing.T) {
	t.Parallel()
	c := small
	c.Own = numbered(900)
	shape := c.shapes()[0]
	next := shape.start(newRand(1, shape.seed, 0))
	added, asked := next(300), next(1000)
	if len(added) != 300 || len(asked) != 600 {
		t.Fatalf("%d keys added and %d asked for, want 300 and the other 600", len(added), len(asked))
	}
	all := slices.Concat(added, asked)
	slices.SortFunc(all, slices.Compare)
	if diff := cmp.Diff(c.Own, all); diff != "" {
		t.Errorf("keys added and asked for (-own +used):\n%s", diff)
	}
	if other := shape.start(newRand(1, shape.seed, 1))(300); cmp.Equal(added, other) {
		t.Error("two runs add the same keys")
	}
}

func TestDistinct(t *testing.T) {
	t.Parallel()
	keys := func(yield func([]byte, error) bool) {
		for _, key := range []string{"b", "a", "", "b", "a"} {
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
	distinct, all, err := OwnLimit.Distinct(keys)
	if diff := cmp.Diff([][]byte{{}, []byte("a"), []byte("b")}, distinct); err != nil || all != 5 || diff != "" {
		t.Errorf("%d keys, %v (-want +got):\n%s", all, err, diff)
	}
}

// Endless keys cause an error at the limit, instead of taking ever more memory. Duplicates do not count.
func TestDistinctIsBounded(t *testing.T) {
	t.Parallel()
	const want = "--keys-from has more than 100 distinct keys or 1,000 bytes of keys: sample the lines"
	for _, tt := range []struct{ size, yielded int }{{4, 100}, {16, 62}} {
		yielded := 0
		endless := func(yield func([]byte, error) bool) {
			for {
				key := make([]byte, tt.size)
				key[0] = byte(yielded)
				for range 2 {
					if !yield(key, nil) {
						return
					}
				}
				yielded++
			}
		}
		_, _, err := Limit{keys: 100, bytes: 1000}.Distinct(endless)
		if err == nil || !strings.HasPrefix(err.Error(), want) || yielded != tt.yielded {
			t.Errorf("error after %d keys of %d bytes: %v, want one after %d", yielded, tt.size, err, tt.yielded)
		}
	}
}

// numbered returns n distinct keys, sorted.
func numbered(n int) [][]byte {
	return nextKeys(n, decimal(newRand(1, 0, 0)))
}

// Few large trials run in parallel, whatever the number of processors, and many small ones.
func TestTrialsInMemory(t *testing.T) {
	t.Parallel()
	large := small
	large.Keys, large.Lookups = MaxKeys, 1_000_000
	own := large
	own.Own, own.Shapes = make([][]byte, large.ownShare()*MaxKeys), nil
	for _, tt := range []struct {
		name   string
		config Config
		want   int
	}{{"small", small, 3226}, {"generated keys", large, 1}, {"own keys", own, 3}} {
		if got := tt.config.trialsInMemory(); got != tt.want {
			t.Errorf("%s: %d trials, want %d", tt.name, got, tt.want)
		}
	}
}
