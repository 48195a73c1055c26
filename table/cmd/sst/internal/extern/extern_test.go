package extern

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// randomPairs returns pairs with keys that come up again, and values of all sizes.
func randomPairs(n int) []input.Pair {
	rng := rand.New(rand.NewPCG(3, 3))
	all := make([]input.Pair, n)
	for i := range all {
		all[i].Key = fmt.Appendf(nil, "%0*d", 1+rng.IntN(8), rng.IntN(n))
		all[i].Value = bytes.Repeat([]byte{byte(i)}, rng.IntN(inline)*rng.IntN(3))
	}
	return all
}

// each yields the pairs from memory that is used again, as input does.
func each(pairs []input.Pair) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var p input.Pair
		for _, q := range pairs {
			p.Key, p.Value = append(p.Key[:0], q.Key...), append(p.Value[:0], q.Value...)
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Whatever memory there is, the order is that of a stable sort in memory, and no file
// is left behind.
func TestSort(t *testing.T) {
	pairs := randomPairs(5 * minChunk)
	want := make([]Record, len(pairs))
	for i, p := range pairs {
		want[i] = Record{p, uint64(i)}
	}
	slices.SortStableFunc(want, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	for _, memory := range []int64{1, 40 << 20, 1 << 30} {
		dir := t.TempDir()
		var got []Record
		for r, err := range Sort(t.Context(), each(pairs), Options{Compare: bytes.Compare, Memory: memory, Dir: dir}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if len(got) != len(want) {
			t.Fatalf("memory %d: %d records, want %d", memory, len(got), len(want))
		}
		for i := range want {
			if got[i].Number != want[i].Number || !bytes.Equal(got[i].Key, want[i].Key) || !bytes.Equal(got[i].Value, want[i].Value) {
				t.Fatalf("memory %d, record %d (-want +got):\n%s", memory, i, cmp.Diff(want[i], got[i]))
			}
		}
		checkEmpty(t, dir)
	}
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("%v, %v are left in the temporary directory", files, err)
	}
}

// An error of the input, one of the disk, an early end and an interrupt all end it,
// and leave no file behind.
func TestSortEnds(t *testing.T) {
	pairs := randomPairs(3 * minChunk)
	broken := errors.New("broken input")
	failing := func(yield func(input.Pair, error) bool) {
		each(pairs)(yield)
		yield(input.Pair{}, broken)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		pairs iter.Seq2[input.Pair, error]
		stop  int // after how many records; 0: not
		want  error
	}{
		{"broken input", t.Context(), failing, 0, broken},
		{"interrupted", interrupted, each(pairs), 0, context.Canceled},
		{"stopped", t.Context(), each(pairs), 7, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			n, ended := 0, error(nil)
			for _, err := range Sort(tt.ctx, tt.pairs, Options{Compare: bytes.Compare, Memory: 1, Dir: dir}) {
				if n++; err != nil {
					ended = err
				}
				if n == tt.stop {
					break
				}
			}
			if !errors.Is(ended, tt.want) || tt.stop > 0 && n != tt.stop {
				t.Errorf("%d records, then %v; want %v", n, ended, tt.want)
			}
			checkEmpty(t, dir)
		})
	}
}

func TestSortWithoutDirectory(t *testing.T) {
	for _, err := range Sort(t.Context(), each(randomPairs(3*minChunk)), Options{Compare: bytes.Compare, Memory: 1, Dir: t.TempDir() + "/missing"}) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Sort = %v, want the directory's error", err)
		}
		return
	}
	t.Error("no error")
}

// Keys that are cut in memory are in their order all the same, with and without a
// trailer that is in another order.
func TestSortLongKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	plain := Options{Compare: bytes.Compare}
	internal := Options{Compare: table.InternalComparer(table.BytewiseComparer).Compare, Suffix: 8}
	for name, o := range map[string]Options{"plain": plain, "internal": internal} {
		var pairs []input.Pair
		for i := range 500 {
			key := bytes.Repeat([]byte("x"), keyInline-2+rng.IntN(5))
			key = append(key, bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(3)*600)...)
			if o.Suffix > 0 {
				key = table.InternalKey{User: key, Sequence: uint64(rng.IntN(3)), Kind: table.KindSet}.Append(nil)
			}
			pairs = append(pairs, input.Pair{Key: key, Value: bytes.Repeat([]byte{byte(i)}, rng.IntN(1000))})
		}
		var got []input.Pair
		for r, err := range Sort(t.Context(), each(pairs), o) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Pair)
		}
		slices.SortStableFunc(pairs, func(a, b input.Pair) int { return o.Compare(a.Key, b.Key) })
		for i, p := range pairs {
			if !bytes.Equal(got[i].Key, p.Key) || !bytes.Equal(got[i].Value, p.Value) {
				t.Fatalf("%s: record %d is another", name, i)
			}
		}
	}
}

// A sorter that fails, and one that is interrupted, do not wait for input that does not
// come.
func TestSortDoesNotWait(t *testing.T) {
	release := make(chan bool)
	defer close(release)
	waiting := func(yield func(input.Pair, error) bool) {
		each(randomPairs(2 * minChunk))(yield)
		<-release
	}
	failing := Options{Compare: func(_, _ []byte) int { panic("no order") }}
	for range Sort(t.Context(), waiting, failing) {
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, err := range Sort(ctx, waiting, Options{Compare: bytes.Compare}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	}
}
