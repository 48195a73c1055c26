// Package tabletest contains helpers for the tests of several packages: small tables, logs, a model of an iterator,
// and processes that are killed.
package tabletest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// ErrBroken is the error of a source that fails.
var ErrBroken = errors.New("broken")

// Build returns the table of pairs.
func Build(t testing.TB, o *table.WriterOptions, pairs []workload.Pair) []byte {
	t.Helper()
	contents, _ := BuildBy(t, o, pairs)
	return contents
}

// BuildBy is like Build, but also returns the closed Writer.
func BuildBy(t testing.TB, o *table.WriterOptions, pairs []workload.Pair) ([]byte, *table.Writer) {
	t.Helper()
	var out bytes.Buffer
	w, err := table.NewWriter(&out, o)
	errtest.NoError(t, err)
	for _, p := range pairs {
		errtest.NoError(t, w.Append(p.Key, p.Value))
	}
	errtest.NoError(t, w.Close())
	if w.Size() != int64(out.Len()) {
		t.Errorf("Size = %d after Close, but the table has %d bytes", w.Size(), out.Len())
	}
	return out.Bytes(), w
}

// Open opens a table.
func Open(t testing.TB, contents []byte, o *table.ReaderOptions) *table.Reader {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
	errtest.NoError(t, err)
	return r
}

// PairsOf returns an entry for each key, whose value contains the key.
func PairsOf(keys ...string) []workload.Pair {
	var pairs []workload.Pair
	for _, k := range keys {
		pairs = append(pairs, workload.Pair{Key: []byte(k), Value: []byte("value of " + k)})
	}
	return pairs
}

// Numbered returns n entries.
func Numbered(n int) []workload.Pair {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("key%06d", 2*i))
	}
	return PairsOf(keys...)
}

// FewBytes returns one of few possible keys.
func FewBytes(rng *rand.Rand) []byte {
	key := make([]byte, rng.IntN(4))
	for i := range key {
		key[i] = 'a' + byte(rng.IntN(4))
	}
	return key
}

// Diff checks that got equals want. what names it.
func Diff(t testing.TB, what string, want, got any, o ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, o...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// DiffPairs returns the difference between pairs as text, or "" if they are equal. A missing and an empty value
// count as equal. Only pairs that differ are compared with cmp, which is slow for many pairs.
func DiffPairs(want, got []workload.Pair) string {
	if workload.Digest(want) == workload.Digest(got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Transformer("text", func(p workload.Pair) [2]string {
		return [2]string{string(p.Key), string(p.Value)}
	}))
}

// An Order is a Comparer with a different Compare.
type Order struct {
	table.Comparer
	Func func(a, b []byte) int
}

func (o Order) Compare(a, b []byte) int { return o.Func(a, b) }

// A Reversed is the reverse of the bytewise order, under any name.
type Reversed string

func (r Reversed) Name() string                  { return string(r) }
func (Reversed) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (Reversed) Separator(_, _, _ []byte) []byte { return nil }
func (Reversed) Successor(_, _ []byte) []byte    { return nil }

// A ReadAtFunc is an io.ReaderAt.
type ReadAtFunc func(p []byte, off int64) (int, error)

// ReadAt calls the function.
func (f ReadAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }
