package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// model is the part of sorted pairs that an Iter shows, and a position in it
// from −1 to len(pairs).
type model struct {
	pairs []workload.Pair
	at    int
}

func newModel(pairs []workload.Pair, o *table.IterOptions) *model {
	m := &model{at: -1}
	for _, p := range pairs {
		if (o.Lower == nil || bytes.Compare(p.Key, o.Lower) >= 0) && (o.Upper == nil || bytes.Compare(p.Key, o.Upper) < 0) {
			m.pairs = append(m.pairs, p)
		}
	}
	return m
}

func (m *model) search(key []byte) int {
	i, _ := slices.BinarySearchFunc(m.pairs, key, func(p workload.Pair, k []byte) int { return bytes.Compare(p.Key, k) })
	return i
}

func (m *model) to(at int) bool {
	m.at = max(-1, min(at, len(m.pairs)))
	return m.at >= 0 && m.at < len(m.pairs)
}

// TestIterAgainstModel makes random moves within random bounds, on tables of
// many small blocks, and compares each with the same move in a sorted slice.
func TestIterAgainstModel(t *testing.T) {
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
		it := open(t, build(t, wo, pairs), nil).NewIter(&o)
		m := newModel(pairs, &o)
		history := fmt.Sprintf("%d pairs, %+v, bounds %q to %q:", len(pairs), wo, o.Lower, o.Upper)
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
}

// step makes the same random move with the Iter and the model.
func step(rng *rand.Rand, it *table.Iter, m *model, key []byte) (move string, got, want bool) {
	switch rng.IntN(8) {
	case 0:
		return "First", it.First(), m.to(0)
	case 1:
		return "Last", it.Last(), m.to(len(m.pairs) - 1)
	case 2:
		return fmt.Sprintf("SeekGE(%q)", key), it.SeekGE(key), m.to(m.search(key))
	case 3:
		return fmt.Sprintf("SeekLT(%q)", key), it.SeekLT(key), m.to(m.search(key) - 1)
	case 4, 5:
		return "Next", it.Next(), m.to(m.at + 1)
	default:
		return "Prev", it.Prev(), m.to(m.at - 1)
	}
}

func TestIterBounds(t *testing.T) {
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
	r := open(t, build(t, nil, pairsOf("a", "b", "c")), nil)
	upper := []byte("b")
	it := r.NewIter(&table.IterOptions{Upper: upper})
	upper[0] = 'z'
	if diff := diffPairs(pairsOf("a"), forward(t, it)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestIterAllStopsEarly(t *testing.T) {
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

// failOnce fails the n-th read.
type failOnce struct {
	src  *bytes.Reader
	n    int
	err  error
	done bool
}

func (f *failOnce) ReadAt(p []byte, off int64) (int, error) {
	if f.n--; f.n == 0 {
		return len(p) / 2, f.err
	}
	return f.src.ReadAt(p, off)
}

// A read that fails is reported with its cause, and the next call tries again.
func TestReadErrorsAreTransient(t *testing.T) {
	cause := errors.New("cable pulled")
	contents := build(t, &table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(10)}, pairsOf("a", "b", "c"))
	src := &failOnce{src: bytes.NewReader(contents), err: cause}
	r, err := table.NewReader(src, int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	src.n = 1
	if _, err := r.Get([]byte("b")); !errors.Is(err, cause) || errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Get = %v, want the cause, not ErrCorrupt", err)
	}
	if v, err := r.Get([]byte("b")); err != nil || string(v) != "value of b" {
		t.Errorf("Get again = %q, %v", v, err)
	}
	it := r.NewIter(nil)
	it.First()
	src.n = 1
	if it.Next() || it.Valid() || !errors.Is(it.Error(), cause) {
		t.Errorf("Next: Valid = %v, Error = %v; want the cause", it.Valid(), it.Error())
	}
	if it.Next() || it.Prev() || !errors.Is(it.Error(), cause) {
		t.Errorf("a second Next forgot the error: %v", it.Error())
	}
	if !it.SeekGE([]byte("b")) || it.Error() != nil || string(it.Key()) != "b" {
		t.Errorf("SeekGE after the error is at %q, %v", it.Key(), it.Error())
	}
	src.n = 1
	if err := r.Verify(); !errors.Is(err, cause) {
		t.Errorf("Verify = %v, want the cause", err)
	}
	for n := 1; n <= 4; n++ { // footer, index, metaindex, filter
		src.n = n
		if r, err := table.NewReader(src, int64(len(contents)), nil); !errors.Is(err, cause) || r != nil {
			t.Errorf("NewReader with read %d failing = %v, %v; want nil and the cause", n, r, err)
		}
	}
}

// closingReader closes the Reader when it is read, and then fails.
type closingReader struct {
	io.ReaderAt
	r *table.Reader
}

func (c *closingReader) ReadAt(p []byte, off int64) (int, error) {
	if c.r == nil {
		return c.ReaderAt.ReadAt(p, off)
	}
	c.r.Close()
	return 0, errors.New("file already closed")
}

// A Close in the midst of a read is ErrClosed, whatever the source says.
func TestCloseDuringRead(t *testing.T) {
	contents := build(t, nil, pairsOf("a"))
	for name, call := range map[string]func(r *table.Reader) error{
		"Get":    func(r *table.Reader) error { _, err := r.Get([]byte("a")); return err },
		"Iter":   func(r *table.Reader) error { it := r.NewIter(nil); it.First(); return it.Error() },
		"Verify": (*table.Reader).Verify,
	} {
		src := &closingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		src.r = r
		if err := call(r); !errors.Is(err, table.ErrClosed) {
			t.Errorf("%s = %v, want ErrClosed", name, err)
		}
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

// One Reader, many goroutines, and a Close in between: right answers or
// ErrClosed, and values that stay valid.
func TestReaderIsSafeForConcurrentUse(t *testing.T) {
	pairs := numbered(2000)
	r := open(t, build(t, withBloom, pairs), &table.ReaderOptions{Metrics: new(table.Metrics)})
	work := func(seed uint64, closes bool) error {
		rng := rand.New(rand.NewPCG(seed, 0))
		it := r.NewIter(nil)
		for i := range 500 {
			if closes && i == 400 {
				return r.Close()
			}
			p := pairs[rng.IntN(len(pairs))]
			v, err := r.Get(p.Key)
			if err == nil && !bytes.Equal(v, p.Value) {
				return fmt.Errorf("Get(%q) = %q", p.Key, v)
			}
			if err != nil && !errors.Is(err, table.ErrClosed) {
				return err
			}
			if it.SeekGE(p.Key) && !bytes.Equal(it.Key(), p.Key) {
				return fmt.Errorf("SeekGE(%q) is at %q", p.Key, it.Key())
			}
		}
		return nil
	}
	errs := make(chan error)
	for i := range uint64(8) {
		go func() { errs <- work(i, i == 0) }()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(table.ErrClosed, r.Verify(), cmp.Comparer(errors.Is)); diff != "" {
		t.Errorf("Verify (-want +got):\n%s", diff)
	}
}
