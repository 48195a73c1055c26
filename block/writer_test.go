package block_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// Whatever the lengths of keys and values are, and however little room the memory that ResetTo gets
// has, a block's bytes are those of the format, written plainly.
func TestWriterOfRandomLengths(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 29))
	for range 2000 {
		want := plainBlock{interval: 1 + rng.IntN(20)}
		w, err := block.NewWriter(want.interval, block.Order{})
		if err != nil {
			t.Fatal(err)
		}
		w.ResetTo(append(make([]byte, 0, rng.IntN(300)), "before"...))
		for _, key := range randomKeys(rng) {
			value := bytes.Repeat([]byte{byte(rng.Uint32())}, randomLength(rng))
			if err := w.Append(key, value); err != nil {
				t.Fatal(err)
			}
			want.add(key, value)
		}
		if got, want := w.Finish(), append([]byte("before"), want.finish()...); !bytes.Equal(got, want) {
			t.Fatalf("block of %d entries (-want +got):\n%s", w.Entries(), cmp.Diff(want, got))
		}
	}
}

// randomLength returns a length: a small one, or one about where its varint grows.
func randomLength(rng *rand.Rand) int {
	switch rng.IntN(100) {
	case 0:
		return 1<<14 - 4 + rng.IntN(8)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9:
		return 1<<7 - 8 + rng.IntN(16)
	}
	return rng.IntN(40)
}

// randomKeys returns ascending keys that share some bytes.
func randomKeys(rng *rand.Rand) [][]byte {
	var keys [][]byte
	for range 1 + rng.IntN(40) {
		var key []byte
		if len(keys) > 0 {
			last := keys[len(keys)-1]
			key = bytes.Clone(last[:rng.IntN(len(last)+1)])
		}
		for range randomLength(rng) {
			key = append(key, byte(rng.Uint32()))
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// A plainBlock is a block as the format describes it.
type plainBlock struct {
	interval int
	buf      []byte
	restarts []uint32
	entries  int
	last     []byte
}

func (b *plainBlock) add(key, value []byte) {
	shared := wire.SharedLen(b.last, key)
	if b.entries%b.interval == 0 {
		b.restarts = append(b.restarts, uint32(len(b.buf)))
		shared = 0
	}
	for _, n := range []int{shared, len(key) - shared, len(value)} {
		b.buf = binary.AppendUvarint(b.buf, uint64(n))
	}
	b.buf = append(append(b.buf, key[shared:]...), value...)
	b.last = key
	b.entries++
}

func (b *plainBlock) finish() []byte {
	for _, r := range append(b.restarts, uint32(len(b.restarts))) {
		b.buf = binary.LittleEndian.AppendUint32(b.buf, r)
	}
	return b.buf
}

// A value may be the key before.
func TestAppendLastKey(t *testing.T) {
	t.Parallel()
	w, err := block.NewWriter(16, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	want := plainBlock{interval: 16}
	last := ""
	for _, key := range []string{"", "aaaaaaaa", "aaaaaaaab", "b", "bbbbbbbbbbbbbbbbbbbbbbb", "c"} {
		if err := w.Append([]byte(key), w.LastKey()); err != nil {
			t.Fatal(err)
		}
		want.add([]byte(key), []byte(last))
		last = key
	}
	if diff := cmp.Diff(want.finish(), w.Finish()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An entry behind the restart points would be lost, or damage them.
func TestAppendAfterFinish(t *testing.T) {
	t.Parallel()
	w, err := block.NewWriter(16, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Append([]byte{'a', byte(w.Entries())}, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := bytes.Clone(w.Finish())
	if err := w.Append([]byte("b"), nil); err == nil {
		t.Error("Append after Finish: no error")
	}
	if diff := cmp.Diff(want, w.Finish()); diff != "" {
		t.Errorf("the second Finish returns another block (-first +second):\n%s", diff)
	}
	w.Reset()
	if err := w.Append([]byte("b"), nil); err != nil {
		t.Errorf("Append after Reset: %v", err)
	}
}
