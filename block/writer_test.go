package block_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
)

// For keys and values of any lengths, and any capacity of the slice passed to ResetTo, a block has the same bytes as
// one that is written in the simplest way.
func TestWriterWritesPlainBlocksOfAnyLengths(t *testing.T) {
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

// randomLength returns a small length, or one at which its varint gets longer.
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
	shared := format.SharedLen(b.last, key)
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

// A value may be the previous key.
func TestAppendTakesLastKeyAsValue(t *testing.T) {
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

// An entry after the restart points would be lost, or corrupt them.
func TestAppendAfterFinishIsRefused(t *testing.T) {
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

func TestResetStartsAnotherBlock(t *testing.T) {
	t.Parallel()
	w, err := block.NewWriter(16, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "ab"} {
		t.Run(key, func(t *testing.T) {
			w.Reset()
			if err := w.Append([]byte(key), nil); err != nil {
				t.Fatal(err)
			}
			if w.Entries() != 1 || string(w.LastKey()) != key {
				t.Errorf("Entries = %d, LastKey = %q; want 1 and %q", w.Entries(), w.LastKey(), key)
			}
			if diff := cmp.Diff(build(t, 16, []pair{{key, ""}}), w.Finish()); diff != "" {
				t.Errorf("block after Reset (-fresh +reset):\n%s", diff)
			}
		})
	}
}

func TestNewWriterRefusesIntervalsBelowOne(t *testing.T) {
	t.Parallel()
	for _, interval := range []int{0, -1, math.MinInt} {
		t.Run(fmt.Sprint(interval), func(t *testing.T) {
			if _, err := block.NewWriter(interval, block.Order{Unchecked: true}); err == nil {
				t.Error("no error")
			}
		})
	}
}

// A Writer accepts keys only in its order, even across blocks, so that Open accepts its blocks.
func TestAppendRefusesDisorder(t *testing.T) {
	t.Parallel()
	descending := block.Order{Func: func(a, b []byte) int { return bytes.Compare(b, a) }}
	for _, tt := range []struct {
		name   string
		order  block.Order
		keys   []string // the last one is refused, unless accept
		accept bool
	}{
		{"descending", block.Order{}, []string{"b", "a"}, false},
		{"equal", block.Order{}, []string{"a", "a"}, false},
		{"equal and empty", block.Order{}, []string{"", ""}, false},
		{"a prefix of the last key", block.Order{}, []string{"ab", "a"}, false},
		{"ascending", block.Order{}, []string{"", "a", "ab", "b"}, true},
		{"ascending in a descending order", descending, []string{"a", "b"}, false},
		{"descending in a descending order", descending, []string{"b", "a"}, true},
		{"unchecked", block.Order{Unchecked: true}, []string{"b", "a", "a"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, reset := range []bool{false, true} {
				w, err := block.NewWriter(16, tt.order)
				if err != nil {
					t.Fatal(err)
				}
				last := len(tt.keys) - 1
				for _, k := range tt.keys[:last] {
					if err := w.Append([]byte(k), nil); err != nil {
						t.Fatal(err)
					}
				}
				if reset {
					w.Finish()
					w.Reset()
				}
				before := w.Size()
				err = w.Append([]byte(tt.keys[last]), nil)
				if tt.accept && err != nil || !tt.accept && (!errors.Is(err, block.ErrOrder) || w.Size() != before) {
					t.Errorf("Append = %v, accept is %v", err, tt.accept)
				}
			}
		})
	}
}

// LevelDB sets a restart point every 16 entries, and so does the default.
func TestDefaultRestartIntervalIsLevelDBs(t *testing.T) {
	t.Parallel()
	for entries, want := range map[int]uint32{1: 1, 16: 1, 17: 2, 32: 2, 33: 3} {
		var pairs []pair
		for i := range entries {
			pairs = append(pairs, pair{fmt.Sprintf("%02d", i), ""})
		}
		data := build(t, block.DefaultRestartInterval, pairs)
		if got := binary.LittleEndian.Uint32(data[len(data)-4:]); got != want {
			t.Errorf("%d entries have %d restart points, want %d", entries, got, want)
		}
	}
}

// An entry that would make the block longer than 4 GiB is refused before memory is allocated for it. The block is
// unchanged.
func TestAppendRefusesBlocksOfMoreThan4GiB(t *testing.T) {
	if testing.Short() || strconv.IntSize < 64 {
		t.Skip("takes 4 GiB of addresses")
	}
	long.NoRace(t)
	t.Parallel()
	w, err := block.NewWriter(16, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append([]byte("a"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	most := uint64(math.MaxUint32)
	value := make([]byte, most+1) // never written to, so it takes no memory
	var got []bool
	for _, size := range []uint64{most - 16, most, most + 1} {
		err := w.Append([]byte("b"), value[:size])
		got = append(got, err != nil && strings.Contains(err.Error(), "block: entry of "))
	}
	if diff := cmp.Diff([]bool{true, true, true}, got); diff != "" {
		t.Errorf("entries of about 4 GiB are refused (-want +got):\n%s", diff)
	}
	if err := w.Append([]byte("b"), []byte("2")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(build(t, 16, []pair{{"a", "1"}, {"b", "2"}}), w.Finish()); diff != "" {
		t.Errorf("the block after that (-want +got):\n%s", diff)
	}
}
