package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// newModel returns a model of what an Iter with the options shows.
func newModel(pairs []workload.Pair, o *table.IterOptions) *tabletest.Model {
	m := &tabletest.Model{Compare: bytes.Compare, At: -1}
	for _, p := range pairs {
		if (o.Lower == nil || bytes.Compare(p.Key, o.Lower) >= 0) && (o.Upper == nil || bytes.Compare(p.Key, o.Upper) < 0) {
			m.Pairs = append(m.Pairs, p)
		}
	}
	return m
}

// TestIterAgainstModel makes random moves within random bounds, on tables of
// many small blocks, and compares each with the same move in a sorted slice.
func TestIterAgainstModel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	all := dataset(t, "byte-edges")
	anyKey := func() []byte {
		key := bytes.Clone(all[rng.IntN(len(all))].Key)
		return append(key, make([]byte, rng.IntN(2))...)
	}
	for range 300 {
		pairs := all[:0:0]
		for _, p := range all {
			if rng.IntN(20) == 0 {
				pairs = append(pairs, p)
			}
		}
		wo := &table.WriterOptions{BlockSize: 1 + rng.IntN(100), RestartInterval: 1 + rng.IntN(4)}
		var o table.IterOptions
		if rng.IntN(2) == 0 {
			o.Lower = anyKey()
		}
		if rng.IntN(2) == 0 {
			o.Upper = anyKey()
		}
		name := fmt.Sprintf("%d pairs, %+v, bounds %q to %q", len(pairs), wo, o.Lower, o.Upper)
		moveAgainstModel(t, rng, name, open(t, build(t, wo, pairs), nil).NewIter(&o), newModel(pairs, &o), anyKey)
	}
}

// moveAgainstModel makes 100 random moves with both, and compares where they are.
func moveAgainstModel(t *testing.T, rng *rand.Rand, name string, it merge.Iterator, m *tabletest.Model, anyKey func() []byte) {
	t.Helper()
	history := name + ":"
	for range 100 {
		move, got, want := tabletest.Step(rng, it, m, anyKey())
		history += " " + move
		if got != want || it.Valid() != want || it.Error() != nil {
			t.Fatalf("%s: moved %v, want %v; Error = %v", history, got, want, it.Error())
		}
		if want && (!bytes.Equal(it.Key(), m.Pairs[m.At].Key) || !bytes.Equal(it.Value(), m.Pairs[m.At].Value)) {
			t.Fatalf("%s: at %q, want %q", history, it.Key(), m.Pairs[m.At].Key)
		}
	}
}

func TestIterBounds(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, &table.WriterOptions{BlockSize: 1}, pairsOf("a", "b", "c", "d")), nil)
	for _, tt := range []struct {
		lower, upper string // "-" for none
		want         string
	}{
		{"-", "-", "abcd"},
		{"b", "d", "bc"},
		{"", "-", "abcd"},
		{"aa", "cc", "bc"},
		{"b", "b", ""},
		{"d", "b", ""},
		{"-", "", ""},
		{"e", "-", ""},
		{"-", "a", ""},
	} {
		var o table.IterOptions
		if tt.lower != "-" {
			o.Lower = []byte(tt.lower)
		}
		if tt.upper != "-" {
			o.Upper = []byte(tt.upper)
		}
		it := r.NewIter(&o)
		for i, pairs := range [][]workload.Pair{forward(t, it), backward(t, it)} {
			got := ""
			for _, p := range pairs {
				got += string(p.Key)
			}
			if got != tt.want {
				t.Errorf("[%s, %s) %s: %q, want %q", tt.lower, tt.upper, [...]string{"forward", "backward"}[i], got, tt.want)
			}
		}
	}
}

// A seek may be given the Iter's own key.
func TestIterSeekToKey(t *testing.T) {
	t.Parallel()
	pairs := numbered(1000)
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		it := open(t, build(t, &table.WriterOptions{BlockSize: 200, Compression: codec}, pairs), nil).NewIter(nil)
		for i, p := range pairs {
			if !it.SeekGE(p.Key) || !it.SeekGE(it.Key()) || !bytes.Equal(it.Key(), p.Key) {
				t.Fatalf("at %q, SeekGE(Key) moves to %q", p.Key, it.Key())
			}
			if moved := it.SeekLT(it.Key()); moved != (i > 0) || moved && !bytes.Equal(it.Key(), pairs[i-1].Key) {
				t.Fatalf("at %q, SeekLT(Key) moves to %q", p.Key, it.Key())
			}
		}
	}
}

// The caller may change the bounds afterwards.
func TestIterCopiesBounds(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, nil, pairsOf("a", "b", "c")), nil)
	upper := []byte("b")
	it := r.NewIter(&table.IterOptions{Upper: upper})
	upper[0] = 'z'
	if diff := diffPairs(pairsOf("a"), forward(t, it)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestIterAllStopsEarly(t *testing.T) {
	t.Parallel()
	it := open(t, build(t, nil, pairsOf("a", "b", "c")), nil).NewIter(nil)
	n := 0
	for range it.All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 || string(it.Key()) != "b" {
		t.Errorf("stopped after %d at %q, want 2 at b", n, it.Key())
	}
}

func TestIterAfterClose(t *testing.T) {
	t.Parallel()
	it := open(t, build(t, nil, pairsOf("a")), nil).NewIter(nil)
	it.First()
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if it.Valid() || it.Next() || it.Prev() || it.First() || it.Last() || it.SeekGE(nil) || it.SeekLT([]byte("z")) {
		t.Error("a closed Iter moved")
	}
	if it.Key() != nil || it.Value() != nil {
		t.Errorf("a closed Iter is at %q=%q", it.Key(), it.Value())
	}
	if err := it.Error(); !errors.Is(err, table.ErrClosed) {
		t.Errorf("Error = %v, want ErrClosed", err)
	}
}

func TestIterStepsDoNotAllocate(t *testing.T) {
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		it := open(t, build(t, &table.WriterOptions{Compression: codec}, numbered(1000)), nil).NewIter(nil)
		scan := func() {
			for ok := it.First(); ok; ok = it.Next() {
			}
			for ok := it.Last(); ok; ok = it.Prev() {
			}
		}
		scan() // takes the buffers
		if got := testing.AllocsPerRun(10, scan); got != 0 && !long.Race {
			t.Errorf("codec %d: %v allocations in a scan there and back, want 0", codec.ID(), got)
		}
	}
}
