package blocked_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// A filter that is stored and resumed at any time has the same bytes and results at the end. The sizes are around
// the size of the pieces in which it is read.
func TestResumedFiltersGoOn(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(85, 1))
	for _, keys := range []uint64{1, 100, 51_000, 52_000, 53_000, 420_000, 1_000_000}[:long.Size(6, 7)] {
		f, plain := newFilter(t, keys, 0.01), newFilter(t, keys, 0.01)
		added := filtertest.Keys(rng, 2000)
		for i, key := range added {
			if f.Add(key); i%700 == 0 {
				f = rewritten(t, f)
			}
			plain.Add(key)
		}
		if !bytes.Equal(f.Bytes(), plain.Bytes()) {
			t.Fatalf("%d keys: the resumed filter has other bytes", keys)
		}
		filtertest.CheckContains(t, f.Contains, added)
	}
}

// A storable is a Filter or a Growing.
type storable interface {
	io.WriterTo
	Size() int64
}

// stored returns what WriteTo writes.
func stored(t testing.TB, f storable) *bytes.Buffer {
	t.Helper()
	b := new(bytes.Buffer)
	if n, err := f.WriteTo(b); err != nil || n != int64(b.Len()) || n != f.Size() {
		t.Fatalf("WriteTo = %d, %v, and has written %d bytes of %d", n, err, b.Len(), f.Size())
	}
	return b
}

// rewritten returns f after it was written and read, in pieces of odd sizes. Bytes after the filter must not be
// read.
func rewritten(t *testing.T, f *blocked.Filter) *blocked.Filter {
	t.Helper()
	b := stored(t, f)
	if !bytes.Equal(b.Bytes(), f.Bytes()) {
		t.Fatal("Bytes are not what WriteTo writes")
	}
	b.WriteString("behind")
	read, err := blocked.Read(iotest.HalfReader(b))
	noError(t, err)
	if b.String() != "behind" {
		t.Fatalf("%d bytes are left, want 6", b.Len())
	}
	return read
}

// checkDamage checks that read returns an error for every changed byte, and for every truncation.
func checkDamage(t *testing.T, contents []byte, read func(contents []byte) error) {
	t.Helper()
	noError(t, read(contents))
	for i := range contents {
		damaged := bytes.Clone(contents)
		damaged[i] ^= byte(1 + i%255)
		if read(damaged) == nil {
			t.Errorf("byte %d changed: no error", i)
		}
		if err := read(contents[:i]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("ends at %d: %v", i, err)
		}
	}
}

// open returns the error of opening a filter.
func open(contents []byte) error { return errorOf(blocked.Open(contents)) }

func TestDamageIsAnError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(85, 2))
	f := newFilter(t, 300, 0.01)
	for range 300 {
		f.AddHash(rng.Uint64())
	}
	contents := f.Bytes()
	checkDamage(t, contents, open)
	checkDamage(t, smallChain(t), readGrowing)
	for range 2000 {
		damaged := bytes.Clone(contents)
		for start, n := rng.IntN(len(damaged)), 1+rng.IntN(100); n > 0; n-- {
			damaged[(start+n)%len(damaged)] = byte(rng.Uint32())
		}
		if open(damaged) == nil && !bytes.Equal(damaged, contents) {
			t.Fatal("damaged bytes are no error")
		}
	}
}

// header returns a header with a valid checksum.
func header(magic string, version, k uint32, lines uint64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, k), lines)
	return seal(binary.LittleEndian.AppendUint32(b, 0), 0, 28)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	empty := newFilter(t, 1, 0.01).Bytes()
	wrongSum := bytes.Clone(empty)
	wrongSum[len(empty)-1] ^= 1
	checkFailures(t, []failure{
		{"nothing", open(nil), "filter ends in its header"},
		{"another file", open([]byte("SQLite format 3\x00 and so on, and on")),
			`it begins with "SQLite f", not with "SieveBlk"`},
		{"header", open(append([]byte("SieveBlk"), empty[9:]...)), "corrupt filter header: checksum mismatch: stored 0x"},
		{"version", open(header("SieveBlk", 2, 6, 1)), "filter of version 2, not 1"},
		{"k = 0", open(header("SieveBlk", 1, 0, 1)), "k = 0: must be an even number from 2 to 16"},
		{"odd k", open(header("SieveBlk", 1, 5, 1)), "k = 5: must be an even number"},
		{"k = 18", open(header("SieveBlk", 1, 18, 1)), "k = 18: must be an even number"},
		{"no lines", open(header("SieveBlk", 1, 6, 0)), "0 lines (minimum 1)"},
		{"2³²+1 lines", open(header("SieveBlk", 1, 6, 1<<32+1)), "4294967297 lines of 64 bytes (maximum"},
		{"2⁶⁴−1 lines", open(header("SieveBlk", 1, 6, math.MaxUint64)), "18446744073709551615 lines of 64 bytes"},
		{"ends in the lines", open(header("SieveBlk", 1, 6, 1)), "filter ends in its lines"},
		{"ends in the checksum", open(empty[:len(empty)-1]), "filter ends in its checksum"},
		{"checksum", open(wrongSum), "corrupt filter lines: checksum mismatch: stored 0x"},
		{"more", open(append(bytes.Clone(empty), 'x')), "1 bytes after a filter of 96 bytes"},
	})
}

// A few bytes that claim a large filter take little memory, and so do 32 filters of which the last one claims to be
// large. This measures the allocations of the process, so it is not parallel.
func TestReadTakesNoMemoryOnTheWordOfAFile(t *testing.T) {
	large := append(header("SieveBlk", 1, 6, min(uint64(math.MaxInt/64), 1<<32)), make([]byte, 1<<20)...)
	small := stored(t, newGrowing(t, 1, 0.01)).Bytes()
	small[12] = 32
	chain := seal(bytes.Clone(small[:36]), 0, 36)
	for range 31 {
		chain = append(chain, small[36:]...)
	}
	chain = append(chain, large...)
	for _, tt := range []struct {
		name  string
		bytes int
		read  func() error
	}{
		{"a large filter", len(large), func() error { return open(large) }},
		{"a header", 28, func() error { return open(large[:28]) }},
		{"lines that fill the memory for them", 28 + 64<<13, func() error { return open(large[:28+64<<13]) }},
		{"a chain", len(chain), func() error { return readGrowing(chain) }},
	} {
		var err error
		allocated := filtertest.AllocatedBy(func() { err = tt.read() })
		if most := uint64(256<<10 + 10*tt.bytes); !errors.Is(err, io.ErrUnexpectedEOF) || allocated > most {
			t.Errorf("%s: %v, and %d bytes were allocated for %d (maximum %d)", tt.name, err, allocated, tt.bytes, most)
		}
	}
}

var errFull = errors.New("disk full")

// fullAfter is a Writer that fails after that many bytes.
type fullAfter int

func (w *fullAfter) Write(p []byte) (int, error) {
	if n := int(*w); len(p) > n {
		*w = 0
		return n, errFull
	}
	*w -= fullAfter(len(p))
	return len(p), nil
}

// checkErrorsReturned checks that errors of the Writer and the Reader are returned, if they fail after some bytes of
// f.
func checkErrorsReturned(t *testing.T, f storable, read func(r io.Reader) error, lengths ...int) {
	t.Helper()
	contents := stored(t, f).Bytes()
	for n := range contents {
		if lengths != nil && !slices.Contains(lengths, n) {
			continue
		}
		w := fullAfter(n)
		if written, err := f.WriteTo(&w); written != int64(n) || !errors.Is(err, errFull) {
			t.Errorf("WriteTo with room for %d = %d, %v", n, written, err)
		}
		r := io.MultiReader(bytes.NewReader(contents[:n]), iotest.ErrReader(errFull))
		if err := read(r); !errors.Is(err, errFull) {
			t.Errorf("a read of %d bytes: %v, want the error of the reader", n, err)
		}
	}
}

func TestErrorsOfReaderAndWriterAreReturned(t *testing.T) {
	t.Parallel()
	f := newFilter(t, 100_000, 0.01)
	read := func(r io.Reader) error { return errorOf(blocked.Read(r)) }
	checkErrorsReturned(t, f, read, 0, 27, 28, 1000, 100_000, int(f.Size())-1)
	g, err := blocked.ReadGrowing(bytes.NewReader(smallChain(t)))
	noError(t, err)
	checkErrorsReturned(t, g, func(r io.Reader) error { return errorOf(blocked.ReadGrowing(r)) })
}

// FuzzOpen opens arbitrary filters with a valid header checksum. They are refused, or they are written as the same
// bytes and accept keys.
func FuzzOpen(f *testing.F) {
	f.Add(newFilter(f, 3, 0.01).Bytes(), []byte("key"))
	f.Add(header("SieveBlk", 1, 6, 1<<32), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		if contents = bytes.Clone(contents); len(contents) >= 28 {
			seal(contents, 0, 28)
		}
		d, err := blocked.Open(contents)
		if err != nil {
			return
		}
		if !bytes.Equal(d.Bytes(), contents) {
			t.Errorf("%x became %x", contents, d.Bytes())
		}
		if d.AddIfAbsent(key) == plainContains(contents, key) {
			t.Error("AddIfAbsent is not what the form says")
		}
		if !d.Contains(key) || !plainContains(d.Bytes(), key) {
			t.Error("a key that was added is denied")
		}
	})
}
