package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// diffPairs returns the difference between pairs as text, "" if there is none.
// No value and an empty one are the same. Only pairs that do differ are put
// through cmp, which takes its time over many.
func diffPairs(want, got []workload.Pair) string {
	if workload.Digest(want) == workload.Digest(got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Transformer("text", func(p workload.Pair) [2]string {
		return [2]string{string(p.Key), string(p.Value)}
	}))
}

func dataset(t testing.TB, name string) []workload.Pair {
	t.Helper()
	pairs, err := workload.Dataset(name)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// pairsOf returns an entry for each key, with the key in the value.
func pairsOf(keys ...string) []workload.Pair {
	var pairs []workload.Pair
	for _, k := range keys {
		pairs = append(pairs, workload.Pair{Key: []byte(k), Value: []byte("value of " + k)})
	}
	return pairs
}

var partLengths = regexp.MustCompile(` \(\d+ bytes\): `)

// textOf is what err says, but for the lengths of parts of the file, which
// TestCorruptionErrorNamesItsPlace is about.
func textOf(err error) string { return partLengths.ReplaceAllString(fmt.Sprint(err), ": ") }

// build returns the table of pairs.
func build(t testing.TB, o *table.WriterOptions, pairs []workload.Pair) []byte {
	t.Helper()
	contents, _ := buildBy(t, o, pairs)
	return contents
}

// buildBy returns the Writer too, which is closed.
func buildBy(t testing.TB, o *table.WriterOptions, pairs []workload.Pair) ([]byte, *table.Writer) {
	t.Helper()
	var out bytes.Buffer
	w, err := table.NewWriter(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Size() != int64(out.Len()) {
		t.Errorf("Size = %d after Close, but the table has %d bytes", w.Size(), out.Len())
	}
	return out.Bytes(), w
}

func open(t testing.TB, contents []byte, o *table.ReaderOptions) *table.Reader {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// forward returns all pairs from First on by Next.
func forward(t testing.TB, it *table.Iter) []workload.Pair {
	t.Helper()
	var got []workload.Pair
	for k, v := range it.All() {
		got = append(got, workload.Pair{Key: bytes.Clone(k), Value: bytes.Clone(v)})
	}
	if err := it.Error(); err != nil {
		t.Fatal(err)
	}
	return got
}

// backward returns all pairs from Last on by Prev, in ascending order.
func backward(t testing.TB, it table.Iterator) []workload.Pair {
	t.Helper()
	var got []workload.Pair
	for ok := it.Last(); ok; ok = it.Prev() {
		got = append(got, workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())})
	}
	slices.Reverse(got)
	if err := it.Error(); err != nil {
		t.Fatal(err)
	}
	return got
}

// around returns keys that are close to key: right below, right above, and one
// that it is a prefix of.
func around(key []byte) [][]byte {
	near := [][]byte{append(bytes.Clone(key), 0), append(bytes.Clone(key), "~"...)}
	if n := len(key); n > 0 {
		below, above := bytes.Clone(key), bytes.Clone(key)
		below[n-1]--
		above[n-1]++
		near = append(near, key[:n-1], below, above)
	}
	return near
}

// checkLookups gets each pair, and keys around each that are not there.
func checkLookups(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	present := map[string]bool{}
	for _, p := range pairs {
		present[string(p.Key)] = true
	}
	for _, p := range pairs {
		got, err := r.Get(p.Key)
		if err != nil || !bytes.Equal(got, p.Value) {
			t.Fatalf("Get(%q) = %d bytes, %v; want %d bytes", p.Key, len(got), err, len(p.Value))
		}
		for _, k := range around(p.Key) {
			if present[string(k)] {
				continue
			}
			if got, err := r.Get(k); !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("Get(%q) = %q, %v; want ErrNotFound", k, got, err)
			}
		}
	}
}

// countingReader counts reads.
type countingReader struct {
	io.ReaderAt
	n atomic.Int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(1)
	return c.ReaderAt.ReadAt(p, off)
}

func numbered(n int) []workload.Pair {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("key%06d", 2*i))
	}
	return pairsOf(keys...)
}
