package block_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

type pair struct{ Key, Value string }

func build(t testing.TB, interval int, pairs []pair) []byte {
	t.Helper()
	w, err := block.NewWriter(interval, block.Order{Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if err := w.Append([]byte(p.Key), []byte(p.Value)); err != nil {
			t.Fatal(err)
		}
	}
	size := w.Size()
	b := bytes.Clone(w.Finish())
	if len(b) != size {
		t.Errorf("block of %d bytes, but Size said %d", len(b), size)
	}
	if size := w.Size(); len(b) != size {
		t.Errorf("block of %d bytes, but after Finish Size said %d", len(b), size)
	}
	return b
}

func open(t testing.TB, data []byte) block.Block {
	t.Helper()
	b, err := block.Open(data, block.Order{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// entries returns the entries that the Iter moves over.
func entries(it *block.Iter) []pair {
	var got []pair
	for it.Next() {
		got = append(got, pair{string(it.Key()), string(it.Value())})
	}
	return got
}

func TestWriterWritesTheFormat(t *testing.T) {
	t.Parallel()
	fruit := []pair{{"app", "1"}, {"apple", "2"}, {"banana", "3"}}
	for _, tt := range []struct {
		name     string
		interval int
		pairs    []pair
		want     string
	}{
		{
			"no entries: one restart point", 16, nil,
			"" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00",
		},
		{
			"an empty key and value", 16, []pair{{"", ""}},
			"\x00\x00\x00" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00",
		},
		{
			"the package comment's", 2, fruit,
			"\x00\x03\x01app1" + "\x03\x02\x01le2" + "\x00\x06\x01banana3" +
				"\x00\x00\x00\x00\x0d\x00\x00\x00" + "\x02\x00\x00\x00",
		},
		{
			"restart points everywhere: nothing shared", 1, fruit[:2],
			"\x00\x03\x01app1" + "\x00\x05\x01apple2" +
				"\x00\x00\x00\x00\x07\x00\x00\x00" + "\x02\x00\x00\x00",
		},
		{
			"lengths of two bytes", 16, []pair{{strings.Repeat("k", 128), strings.Repeat("v", 300)}},
			"\x00\x80\x01\xac\x02" + strings.Repeat("k", 128) + strings.Repeat("v", 300) +
				"\x00\x00\x00\x00" + "\x01\x00\x00\x00",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff([]byte(tt.want), build(t, tt.interval, tt.pairs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenRefusesDamage(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			_, err := block.Open([]byte(tt.Contents), block.Order{})
			if err == nil || !strings.Contains(err.Error(), tt.Want) {
				t.Errorf("Open = %v, want an error with %q", err, tt.Want)
			}
		})
	}
}

// Entries that share nothing need not be restart points, and keys may share less than they could: other writers do
// that.
func TestOpenTakesOddButSoundBlocks(t *testing.T) {
	t.Parallel()
	b := open(t, []byte("\x00\x01\x00a\x00\x02\x00ab"+"\x00\x00\x00\x00"+"\x01\x00\x00\x00"))
	if diff := cmp.Diff([]pair{{"a", ""}, {"ab", ""}}, entries(b.NewIter())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOpenUsesTheOrderGiven(t *testing.T) {
	t.Parallel()
	descending := func(a, b []byte) int { return bytes.Compare(b, a) }
	data := build(t, 2, []pair{{"c", ""}, {"bb", ""}, {"ba", ""}, {"a", ""}})
	if _, err := block.Open(data, block.Order{}); err == nil {
		t.Error("descending keys pass as ascending")
	}
	b, err := block.Open(data, block.Order{Func: descending})
	if err != nil {
		t.Fatal(err)
	}
	it := b.NewIter()
	if !it.SeekGE([]byte("bab")) || string(it.Key()) != "ba" {
		t.Errorf("SeekGE(bab) in descending order is at %q, want ba", it.Key())
	}
}

// After any moves, an Iter is at the same entry as package encoded's.
func TestIterMoves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(30, 2))
	var pairs []pair
	for i := range 50 {
		pairs = append(pairs, pair{fmt.Sprintf("key%02d", 2*i), strings.Repeat("v", i)})
	}
	data := build(t, 4, pairs)
	var want rowblock.Iter
	if err := want.Open(data, rowblock.Order{}, &rowblock.Budget{Memory: math.MaxInt}); err != nil {
		t.Fatal(err)
	}
	it := open(t, data).NewIter()
	for range 10_000 {
		key := fmt.Appendf(nil, "key%02d", rng.IntN(102)-1)
		move := rng.IntN(6)
		moved := []func() bool{it.First, it.Last, it.Next, it.Prev, func() bool { return it.SeekGE(key) }, func() bool { return it.SeekLT(key) }}[move]()
		ok := []func() bool{want.First, want.Last, want.Next, want.Prev, func() bool { return want.SeekGE(key) }, func() bool { return want.SeekLT(key) }}[move]()
		got := []any{moved, it.Valid(), string(it.Key()), string(it.Value()), it.Offset(), it.Len()}
		if diff := cmp.Diff([]any{ok, want.Valid(), string(want.Key()), string(want.Value()), want.Offset(), want.Len()}, got); diff != "" {
			t.Fatalf("after move %d to %s (-want +got):\n%s", move, key, diff)
		}
		if ok && it.Shared() != want.Shared() {
			t.Fatalf("%s shares %d bytes, want %d", it.Key(), it.Shared(), want.Shared())
		}
	}
}
