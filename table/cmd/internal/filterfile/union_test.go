package filterfile

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

var noError = errtest.NoError

// filterTable returns a filter-only table of the keys.
func filterTable(t *testing.T, o table.WriterOptions, keys ...string) []byte {
	t.Helper()
	o.FilterOnly = true
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	if o.Comparer != nil {
		slices.Reverse(keys)
	}
	return build(t, o, keys...)
}

// reverse is an order other than bytewise.
const reverse = tabletest.Reversed("reverse")

// build returns a table of the keys.
func build[T string | []byte](t testing.TB, o table.WriterOptions, keys ...T) []byte {
	t.Helper()
	var pairs []workload.Pair
	for _, key := range keys {
		pairs = append(pairs, workload.Pair{Key: []byte(key)})
	}
	return tabletest.Build(t, &o, pairs)
}

// read returns a Reader of a table.
func read(t *testing.T, contents []byte) *table.Reader {
	t.Helper()
	o := &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{renamed{filter.NewTableBloom(10)}}}
	return tabletest.Open(t, contents, o)
}

// renamed is a TableBloom with another name.
type renamed struct{ filter.TableBloom }

func (renamed) Name() string { return "other" }

// unionOf returns the union of the tables, and the number of exceptions that it leaves out.
func unionOf(t *testing.T, tables ...[]byte) (contents []byte, leftOut int) {
	t.Helper()
	var u union
	for _, contents := range tables {
		r := read(t, contents)
		noError(t, u.add(r))
		noError(t, r.Close()) // the union does not keep it
	}
	var out bytes.Buffer
	noError(t, u.write(&out))
	return out.Bytes(), u.leftOut
}

// neverOf yields the keys in order, without those in except.
func neverOf(keys, except []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range slices.Sorted(slices.Values(keys)) {
			if !slices.Contains(except, key) && !yield([]byte(key), nil) {
				return
			}
		}
	}
}

// randomKeys returns random keys. The results of several calls overlap.
func randomKeys(rng *rand.Rand, most int) (keys []string) {
	for range rng.IntN(most + 1) {
		keys = append(keys, fmt.Sprint("key", rng.IntN(5*most)))
	}
	return keys
}

// randomUnion returns the options and keys of random tables with filters of equal size.
func randomUnion(rng *rand.Rand) (o []table.WriterOptions, lists [][]string) {
	const most = 100
	n := 1 + rng.IntN(4)
	p := filter.NewTableBloom(1 + rng.IntN(8)).SizedFor(uint64(n * most * 2)) // prefixes count too
	var prefixer filter.Prefixer
	if rng.IntN(3) == 0 {
		prefixer = filter.PrefixOfLength(4)
	}
	for range n {
		keys := randomKeys(rng, most)
		one := table.WriterOptions{TableFilterPolicy: p, FilterPrefix: prefixer}
		if rng.IntN(3) > 0 {
			one.Never = neverOf(randomKeys(rng, 3*most), keys)
		}
		o, lists = append(o, one), append(lists, keys)
	}
	return o, lists
}

// The union contains each key of each table. It rules out an exception of one table if all tables do, and any
// other key if a filter of all keys does.
func TestUnionLaw(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	kept, dropped := 0, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(63, seed))
		options, lists := randomUnion(rng)
		var tables []*table.Reader
		var contents [][]byte
		for i := range lists {
			contents = append(contents, filterTable(t, options[i], lists[i]...))
			tables = append(tables, read(t, contents[i]))
		}
		all := options[0]
		all.Never = nil
		whole := read(t, filterTable(t, all, slices.Concat(lists...)...))
		united, leftOut := unionOf(t, contents...)
		union := read(t, united)
		if err := union.Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		droppedBefore := dropped
		for i := range 1500 {
			key := []byte(fmt.Sprint("key", i))
			isException := slices.ContainsFunc(tables, func(r *table.Reader) bool { return r.Filters().Never.Contains(key) })
			mayHave := slices.ContainsFunc(tables, func(r *table.Reader) bool { return filetest.MayContain(r, key) })
			want := filetest.MayContain(whole, key) && (mayHave || !isException)
			if got := filetest.MayContain(union, key); got != want {
				t.Fatalf("seed %d: MayContain(%s) = %v, want %v: an exception: %v, of a table: %v", seed, key, got, want, isException, mayHave)
			}
			if isException && !mayHave {
				kept++
			} else if isException {
				dropped++
			}
		}
		if leftOut != dropped-droppedBefore {
			t.Fatalf("seed %d: leftOut = %d, want %d", seed, leftOut, dropped-droppedBefore)
		}
		for _, key := range slices.Concat(lists...) {
			if !filetest.MayContain(union, []byte(key)) {
				t.Fatalf("seed %d: the union rules out %s", seed, key)
			}
		}
	}
	if kept < 100 || dropped < 100 {
		t.Errorf("%d exceptions were kept, and %d dropped, want many of both", kept, dropped)
	}
}

// The union of tables without common keys equals the table of all keys, byte for byte.
func TestUnionIsTheTableOfAllKeys(t *testing.T) {
	t.Parallel()
	sized := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10).SizedFor(1000)}
	inReverse, prefixes := sized, sized
	inReverse.Comparer = reverse
	prefixes.FilterPrefix = namedPrefixer("hundreds")
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
			var tables [][]byte
			for _, keys := range tt.lists {
				tables = append(tables, filterTable(t, tt.o, keys...))
			}
			got, _ := unionOf(t, tables...)
			if diff := cmp.Diff(filterTable(t, tt.o, slices.Concat(tt.lists...)...), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FilterEntries is the sum of the tables' numbers.
func TestUnionCountsKeys(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10).SizedFor(10)}
	contents, _ := unionOf(t, filterTable(t, o, "a", "b"), filterTable(t, o, "b", "c", "d"))
	p, err := read(t, contents).Properties()
	if err != nil || p.FilterEntries != 5 || !p.FilterOnly || p.Entries != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
