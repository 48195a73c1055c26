package table_test

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// filterTable returns a Reader of a table with a filter of the keys, and the table.
func filterTable(t *testing.T, o table.WriterOptions, keys ...string) (*table.Reader, []byte) {
	t.Helper()
	o.FilterOnly = true
	var pairs []workload.Pair
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		pairs = append(pairs, workload.Pair{Key: []byte(key)})
	}
	contents := build(t, &o, pairs)
	return filterReader(t, contents), contents
}

func filterReader(t *testing.T, contents []byte) *table.Reader {
	t.Helper()
	o := &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{renamed{filter.NewTableBloom(10)}}}
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unionOf returns the union of the tables.
func unionOf(t *testing.T, tables ...*table.Reader) []byte {
	t.Helper()
	contents, _ := unionAndLeftOut(t, tables...)
	return contents
}

// unionAndLeftOut also returns how many exceptions were left out.
func unionAndLeftOut(t *testing.T, tables ...*table.Reader) (contents []byte, leftOut int) {
	t.Helper()
	var u table.FilterUnion
	for _, r := range tables {
		if err := u.Add(r); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil { // the union does not keep it
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := u.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), u.LeftOut()
}

// randomKeys returns keys, of which those of several calls have some in common.
func randomKeys(rng *rand.Rand, most int) (keys []string) {
	for range rng.IntN(most + 1) {
		keys = append(keys, fmt.Sprint("key", rng.IntN(5*most)))
	}
	return keys
}

// randomUnion returns random tables with one size of filters, as options and keys.
func randomUnion(rng *rand.Rand) (o []table.WriterOptions, lists [][]string) {
	const most = 100
	n := 1 + rng.IntN(4)
	p := filter.NewTableBloom(1 + rng.IntN(8)).SizedFor(uint64(n * most * 2)) // prefixes count too
	var prefixer table.Prefixer
	if rng.IntN(3) == 0 {
		prefixer = table.PrefixOfLength(4)
	}
	for range n {
		keys := randomKeys(rng, most)
		one := table.WriterOptions{TableFilterPolicy: p, FilterPrefix: prefixer}
		if rng.IntN(3) > 0 {
			one.Never = neverExcept(randomKeys(rng, 3*most), keys)
		}
		o, lists = append(o, one), append(lists, keys)
	}
	return o, lists
}

// neverExcept yields the keys in order, without those of the table.
func neverExcept(keys, except []string) iter.Seq2[[]byte, error] {
	var never [][]byte
	slices.Sort(keys)
	for _, key := range keys {
		if !slices.Contains(except, key) {
			never = append(never, []byte(key))
		}
	}
	return neverOf(never...)
}

// The union has each key of each table. It denies an exception of one table if all tables do, and any other
// key if the filter of all keys does.
func TestFilterUnionLaw(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	kept, dropped := 0, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(63, seed))
		options, lists := randomUnion(rng)
		var tables []*table.Reader
		for i := range lists {
			r, _ := filterTable(t, options[i], lists[i]...)
			tables = append(tables, r)
		}
		all := options[0]
		all.Never = nil
		whole, _ := filterTable(t, all, slices.Concat(lists...)...)
		contents, leftOut := unionAndLeftOut(t, tables...)
		union := filterReader(t, contents)
		if err := union.Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		droppedBefore := dropped
		for i := range 1500 {
			key := []byte(fmt.Sprint("key", i))
			isException := slices.ContainsFunc(tables, func(r *table.Reader) bool { return r.Filters().Never.Contains(key) })
			mayHave := slices.ContainsFunc(tables, func(r *table.Reader) bool { return r.MayContain(key) })
			want := whole.MayContain(key) && (mayHave || !isException)
			if got := union.MayContain(key); got != want {
				t.Fatalf("seed %d: MayContain(%s) = %v, want %v: an exception: %v, of a table: %v", seed, key, got, want, isException, mayHave)
			}
			if isException && !mayHave {
				kept++
			} else if isException {
				dropped++
			}
		}
		if leftOut != dropped-droppedBefore {
			t.Fatalf("seed %d: LeftOut = %d, want %d", seed, leftOut, dropped-droppedBefore)
		}
		for _, key := range slices.Concat(lists...) {
			if !union.MayContain([]byte(key)) {
				t.Fatalf("seed %d: the union denies %s", seed, key)
			}
		}
	}
	if kept < 100 || dropped < 100 {
		t.Errorf("%d exceptions were kept, and %d dropped, want many of both", kept, dropped)
	}
}

// Of lists that have no key in common, the union is the table of all keys, byte for byte.
func TestFilterUnionIsTheTableOfAllKeys(t *testing.T) {
	t.Parallel()
	sized := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10).SizedFor(1000)}
	inReverse, prefixes := sized, sized
	inReverse.Comparer = tableReverse{table.BytewiseComparer}
	prefixes.FilterPrefix = hundreds{}
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		lists [][]string
	}{
		{"one", sized, [][]string{{"a"}}},
		{"two", sized, [][]string{{"a", "c"}, {"b"}}},
		{"three", sized, [][]string{{"a", "c"}, {"b"}, {"", "d"}}},
		{"a Comparer of any name", inReverse, [][]string{{"a"}, {"b"}}},
		{"a Prefixer of any name", prefixes, [][]string{{"a"}, {"b"}}},
		{"one is empty", sized, [][]string{{}, {"b"}, {}}},
		{"all are empty", sized, [][]string{{}, {}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tables []*table.Reader
			for _, keys := range tt.lists {
				r, _ := filterTable(t, tt.o, keys...)
				tables = append(tables, r)
			}
			keys := slices.Concat(tt.lists...)
			slices.Sort(keys)
			if tt.o.Comparer != nil {
				slices.Reverse(keys)
			}
			var pairs []workload.Pair
			for _, key := range keys {
				pairs = append(pairs, workload.Pair{Key: []byte(key)})
			}
			o := tt.o
			o.FilterOnly = true
			if diff := cmp.Diff(build(t, &o, pairs), unionOf(t, tables...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// hundreds is a Prefixer that no Reader knows. It gives keys no prefix.
type hundreds struct{}

func (hundreds) Name() string         { return "hundreds" }
func (hundreds) PrefixLen([]byte) int { return 0 }

// FilterEntries is the sum, which cannot be more than there are numbers.
func TestFilterUnionCountsKeys(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10).SizedFor(10)}
	a, _ := filterTable(t, o, "a", "b")
	b, _ := filterTable(t, o, "b", "c", "d")
	p, err := filterReader(t, unionOf(t, a, b)).Properties()
	if err != nil || p.FilterEntries != 5 || !p.FilterOnly || p.Entries != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
