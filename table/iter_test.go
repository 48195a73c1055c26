package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// model is the part of sorted pairs that an Iterator shows, and a position in it
// from −1 to len(pairs).
type model struct {
	pairs   []workload.Pair
	compare func(a, b []byte) int
	at      int
}

func newModel(pairs []workload.Pair, o *table.IterOptions) *model {
	m := &model{compare: bytes.Compare, at: -1}
	for _, p := range pairs {
		if (o.Lower == nil || bytes.Compare(p.Key, o.Lower) >= 0) && (o.Upper == nil || bytes.Compare(p.Key, o.Upper) < 0) {
			m.pairs = append(m.pairs, p)
		}
	}
	return m
}

func (m *model) search(key []byte) int {
	i, _ := slices.BinarySearchFunc(m.pairs, key, func(p workload.Pair, k []byte) int { return m.compare(p.Key, k) })
	return i
}

func (m *model) to(at int) bool {
	m.at = max(-1, min(at, len(m.pairs)))
	return m.at >= 0 && m.at < len(m.pairs)
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
func moveAgainstModel(t *testing.T, rng *rand.Rand, name string, it table.Iterator, m *model, anyKey func() []byte) {
	t.Helper()
	history := name + ":"
	for range 100 {
		move, got, want := step(rng, it, m, anyKey())
		history += " " + move
		if got != want || it.Valid() != want || it.Error() != nil {
			t.Fatalf("%s: moved %v, want %v; Error = %v", history, got, want, it.Error())
		}
		if want && (!bytes.Equal(it.Key(), m.pairs[m.at].Key) || !bytes.Equal(it.Value(), m.pairs[m.at].Value)) {
			t.Fatalf("%s: at %q, want %q", history, it.Key(), m.pairs[m.at].Key)
		}
	}
}

// step makes the same random move with the Iterator and the model.
func step(rng *rand.Rand, it table.Iterator, m *model, key []byte) (move string, got, want bool) {
	at := m.search(key) // now: the key may be a part of what the move overwrites
	switch rng.IntN(8) {
	case 0:
		return "First", it.First(), m.to(0)
	case 1:
		return "Last", it.Last(), m.to(len(m.pairs) - 1)
	case 2:
		return fmt.Sprintf("SeekGE(%q)", key), it.SeekGE(key), m.to(at)
	case 3:
		return fmt.Sprintf("SeekLT(%q)", key), it.SeekLT(key), m.to(at - 1)
	case 4, 5:
		return "Next", it.Next(), m.to(m.at + 1)
	default:
		return "Prev", it.Prev(), m.to(m.at - 1)
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
		if got := testing.AllocsPerRun(10, scan); got != 0 && !raceEnabled {
			t.Errorf("codec %d: %v allocations in a scan there and back, want 0", codec.ID(), got)
		}
	}
}
