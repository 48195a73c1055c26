package filter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// tableFilterOf returns the filter of the keys.
func tableFilterOf(t *testing.T, p filter.TablePolicy, keys ...string) []byte {
	t.Helper()
	g := p.NewTableGenerator()
	for _, key := range keys {
		g.Add([]byte(key))
	}
	f, err := g.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The union of two table filters of one size is the filter of that size with the keys of both.
func TestUnionTableIsTheFilterOfBoth(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(62, 62))
	for range 100 {
		bits, n := rng.IntN(30), 1+rng.IntN(1000)
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", rng.Uint64())
		}
		endA, startB := 1+rng.IntN(n), rng.IntN(n) // they can have keys in common
		p := filter.NewTableBloom(bits).SizedFor(uint64(n))
		a, b := tableFilterOf(t, p, keys[:endA]...), tableFilterOf(t, p, keys[startB:]...)
		want := tableFilterOf(t, p, append(keys[:endA:endA], keys[max(startB, endA):]...)...)
		if got := combined(t, filter.UnionTable, a, b); !bytes.Equal(got, want) {
			t.Fatalf("%d bits per key, keys to %d and from %d of %d: another filter", bits, endA, startB, n)
		}
	}
}

// The set bits of a union tell its rate and its keys, of which no list is needed.
func TestInspectTableTellsTheRateOfAUnion(t *testing.T) {
	t.Parallel()
	p := filter.NewTableBloom(10).SizedFor(20_000)
	union := tableFilterOf(t, p)
	for day := range 3 {
		keys := make([]string, 15_000)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", day, " ", i*7919)
		}
		union = combined(t, filter.UnionTable, union, tableFilterOf(t, p, keys...))
	}
	i, err := filter.InspectTable(union)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Open(union)
	if err != nil {
		t.Fatal(err)
	}
	hits, rng := 0, rand.New(rand.NewPCG(63, 63))
	const asked = 100_000
	for range asked {
		if f.Contains(fmt.Append(nil, "absent ", rng.Uint64())) {
			hits++
		}
	}
	if got := float64(hits) / asked; i.Rate < 0.93*got || i.Rate > 1.07*got || i.Keys < 40_000 || i.Keys > 47_000 {
		t.Errorf("%+v, want a rate of about the measured %.4f, and about 45,000 keys", i, got)
	}
	if i, err := filter.InspectTable(tableFilterOf(t, p)); err != nil || i.Rate < 0 || i.Set != 0 {
		t.Errorf("without keys: %+v, %v", i, err)
	}
	if i, err := filter.InspectTable([]byte("short")); err == nil {
		t.Errorf("InspectTable of 5 bytes = %+v, want an error", i)
	}
}

// The filter of no keys, which has no lines, has a union with each filter.
func TestUnionTableOfNoKeys(t *testing.T) {
	t.Parallel()
	none := tableFilterOf(t, filter.NewTableBloom(10))
	for name, f := range map[string][]byte{
		"none":       none,
		"one line":   tableFilterOf(t, filter.NewTableBloom(1), "a"),
		"many lines": tableFilterOf(t, filter.NewTableBloom(10).SizedFor(1000), "a"),
	} {
		if got := combined(t, filter.UnionTable, none, f); !bytes.Equal(got, f) {
			t.Errorf("%s, as the second: %d bytes, want %d", name, len(got), len(f))
		}
		if got := combined(t, filter.UnionTable, f, none); !bytes.Equal(got, f) {
			t.Errorf("%s, as the first: %d bytes, want %d", name, len(got), len(f))
		}
	}
}

// SizedFor gives filters of fewer keys the size of one of that many, and changes no other.
func TestSizedFor(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 2000 {
		keys = append(keys, fmt.Sprint("key ", i))
	}
	p := filter.NewTableBloom(10)
	of1000 := tableFilterOf(t, p, keys[:1000]...)
	for _, tt := range []struct {
		name string
		n    int
		want []byte
	}{
		{"fewer", 1, of1000},
		{"as many", 1000, of1000},
		{"more", 2000, tableFilterOf(t, p, keys...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tableFilterOf(t, p.SizedFor(1000), keys[:tt.n]...)
			if size := p.SizedFor(1000).Size(uint64(tt.n)); size != len(got) {
				t.Errorf("Size = %d, but there are %d bytes", size, len(got))
			}
			if len(got) != len(tt.want) || tt.n >= 1000 && !bytes.Equal(got, tt.want) {
				t.Errorf("%d bytes, want %d, or other bytes", len(got), len(tt.want))
			}
		})
	}
}

func TestUnionTableErrors(t *testing.T) {
	t.Parallel()
	p := filter.NewTableBloom(10)
	small := tableFilterOf(t, p, "a")
	for _, tt := range []struct {
		name, want string
		a, b       []byte
	}{
		{"sizes", "lines with k = 6: sizes and k must be equal", small, tableFilterOf(t, p.SizedFor(1000), "a")},
		{"k", "lines with k = 2: sizes and k must be equal", small, tableFilterOf(t, filter.NewTableBloom(3), "a")},
		{"first", "filter: table filter of 2 bytes is too short (minimum 69), in the first filter of a union", []byte("ab"), small},
		{"second", "filter: table filter of 2 bytes is too short (minimum 69), in the second filter of a union", small, []byte("ab")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := filter.UnionTable(tt.a, tt.b)
			if err == nil || c != nil {
				t.Fatalf("a filter of %d bytes, error %v", len(c), err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
