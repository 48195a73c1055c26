package rowblock_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// checkSuffixed checks that Iter, Get and Seek behave the same with the suffix's length and without, on a block that
// is rejected with the error want, or contains these pairs.
func checkSuffixed(t *testing.T, rng *rand.Rand, data []byte, want error, pairs []pair) {
	t.Helper()
	plain, quick := rowblock.Order{Func: suffixed}, rowblock.Order{Func: suffixed, Suffix: 2}
	var it rowblock.Iter
	budget := rowblock.Budget{Memory: math.MaxInt, Compared: math.MaxInt64}
	if err := it.Open(data, quick, &budget); fmt.Sprint(err) != fmt.Sprint(want) {
		t.Fatalf("Iter.Open = %v, want %v", err, want)
	}
	if diff := cmp.Diff(pairs, forward(&it)); diff != "" {
		t.Fatalf("Iter has other entries (-want +got):\n%s", diff)
	}
	for range 10 {
		key := []byte{"ab\x00\xff"[rng.IntN(4)], 'a', 'b'}[:rng.IntN(4)]
		if len(pairs) > 0 && rng.IntN(2) == 0 {
			key = []byte(pairs[rng.IntN(len(pairs))].Key)
		}
		if want, got := find(data, plain, key), find(data, quick, key); got != want {
			t.Fatalf("%q in %q: %s, want %s", key, pairs, got, want)
		}
	}
}

// find returns the results of Get and Seek for key, as text.
func find(data []byte, order rowblock.Order, key []byte) string {
	value, found, err := get(data, order, key, nil)
	at, next, ok, seekErr := rowblock.SeekGE(new([]byte), data, order, key, unbounded())
	buf := []byte("kept")
	if into, _, _, err := rowblock.SeekGE(&buf, data, order, key, unbounded()); !bytes.Equal(into, at) || fmt.Sprint(err) != fmt.Sprint(seekErr) {
		return fmt.Sprintf("SeekGE into a buffer %q, %v, but without %q, %v", into, err, at, seekErr)
	}
	return fmt.Sprintf("Get %q %v %v, Seek %q %q %v %v", value, found, err, at, next, ok, seekErr)
}

// An order with a Func is known to be bytewise only if it has a Suffix, of one byte or more.
func TestBytewiseIsWithoutTheSuffix(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		order  rowblock.Order
		want   bool
		prefix string // of "key"
	}{
		"the zero value":       {rowblock.Order{}, true, "key"},
		"a Func":               {rowblock.Order{Func: bytes.Compare}, false, "key"},
		"a suffix of one byte": {rowblock.Order{Func: suffixed, Suffix: 1}, true, "ke"},
		"all is suffix":        {rowblock.Order{Func: suffixed, Suffix: 3}, true, ""},
		"a longer suffix":      {rowblock.Order{Func: suffixed, Suffix: 4}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, prefix := tt.order.Bytewise(), tt.order.Prefix([]byte("key")); got != tt.want || string(prefix) != tt.prefix {
				t.Errorf("Bytewise = %v, Prefix(key) = %q; want %v, %q", got, prefix, tt.want, tt.prefix)
			}
		})
	}
}

// Unordered and duplicate keys are read as they are stored.
func TestUncheckedOrderTakesAnyOrder(t *testing.T) {
	t.Parallel()
	pairs := []pair{{"b", "1"}, {"ba", "2"}, {"a", "3"}, {"a", "4"}, {"", "5"}, {strings.Repeat("k", 1000), "6"}, {"k", "7"}}
	for _, interval := range []int{1, 2, 16} {
		t.Run(fmt.Sprintf("interval=%d", interval), func(t *testing.T) {
			data := build(t, interval, pairs)
			budget := rowblock.Budget{Memory: math.MaxInt, Compared: math.MaxInt64}
			var it rowblock.Iter
			if err := it.Open(data, rowblock.Order{}, &budget); err == nil {
				t.Error("the bytewise order takes them for ascending")
			}
			noError(t, it.Open(data, rowblock.Order{Unchecked: true}, &budget))
			if diff := cmp.Diff(pairs, forward(&it)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A few bytes of a block can stand for keys whose total length is huge. Reading them is expensive only in an order
// that has to see whole keys.
func TestWorkIsLinearButForOtherOrders(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	prefix := strings.Repeat("k", 100_000)
	var pairs []pair
	for i := range 1000 {
		pairs = append(pairs, pair{fmt.Sprintf("%s%04d..", prefix, i), ""})
	}
	data := build(t, 1000, pairs)
	for name, tt := range map[string]struct {
		order rowblock.Order
		fails bool
	}{
		"bytewise":    {rowblock.Order{}, false},
		"suffixed":    {rowblock.Order{Func: suffixed, Suffix: 2}, false},
		"unchecked":   {rowblock.Order{Unchecked: true}, false},
		"other order": {rowblock.Order{Func: bytes.Compare}, true},
	} {
		t.Run(name, func(t *testing.T) {
			budget := rowblock.Budget{Memory: 1 << 20, Compared: 10_000_000}
			var it rowblock.Iter
			if err := it.Open(data, tt.order, &budget); (err != nil) != tt.fails {
				t.Errorf("Iter.Open = %v", err)
			}
			if tt.order.Unchecked {
				return
			}
			if _, found, err := get(data, tt.order, []byte(pairs[999].Key), &budget); (err != nil) != tt.fails || found == tt.fails {
				t.Errorf("Get = %v, %v", found, err)
			}
		})
	}
}

// A Writer's blocks take bounded memory and work to read, for any keys and restart interval: the keys of a block are
// together at most 257 times as long as the block, and a key that shares bytes has at most 1 MiB.
func TestWriterBoundsWhatKeysShare(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	shared := strings.Repeat("k", 2<<20)
	for name, tt := range map[string]struct {
		n   int
		key func(i int) string
	}{
		"short keys":                      {20_000, func(i int) string { return fmt.Sprintf("%08d", i) }},
		"2 KiB, the worst":                {2_000, func(i int) string { return fmt.Sprintf("%s%06d", shared[:2042], i) }},
		"100 kB":                          {100, func(i int) string { return fmt.Sprintf("%s%06d", shared[:100_000], i) }},
		"2 MiB":                           {10, func(i int) string { return fmt.Sprintf("%s%06d", shared, i) }},
		"each longer than the one before": {300, func(i int) string { return shared[:400*i] }},
		"one that shares a byte of 2 MiB": {3, func(i int) string { return "k" + shared[:min(i, 1)*2<<20] + fmt.Sprint(i) }},
		"all of the key before, and more": {3, func(i int) string { return shared[:1+i*900_000] }},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := block.NewWriter(1<<30, block.Order{})
			noError(t, err)
			together, last := int64(0), ""
			for i := range tt.n {
				last = tt.key(i)
				together += int64(len(last))
				noError(t, w.Append([]byte(last), nil))
			}
			data := w.Finish()
			if together > 257*int64(len(data)) {
				t.Errorf("%d bytes of keys in a block of %d", together, len(data))
			}
			budget := rowblock.Budget{Memory: 3 << 20, Compared: 1024 * int64(len(data))}
			var it rowblock.Iter
			if err := it.Open(data, rowblock.Order{Func: bytes.Compare}, &budget); err != nil {
				t.Error(err)
			} else if it.Last(); string(it.Key()) != last {
				t.Error("the last key is another")
			}
		})
	}
}

// The empty key is a key: unlike no key, it is not nil.
func TestEmptyKeyIsNotNil(t *testing.T) {
	t.Parallel()
	data := build(t, 16, []pair{{"", ""}})
	var e rowblock.Decoded
	noError(t, e.Decode(data, rowblock.Order{}))
	packed := e.ForCache().Block(rowblock.Order{})
	b, err := rowblock.Open(data, rowblock.Order{})
	noError(t, err)
	it := newIter(b)
	it.Next()
	at, value, _, err := rowblock.SeekGE(new([]byte), data, rowblock.Order{}, nil, unbounded())
	noError(t, err)
	for name, b := range map[string][]byte{
		"Entries.Key": e.Key(0), "Entries.Value": e.Value(0), "Packed.Key": packed.Key(0), "Packed.Value": packed.Value(0),
		"Iter.Key": it.Key(), "Iter.Value": it.Value(), "Seek's key": at, "Seek's value": value,
	} {
		t.Run(name, func(t *testing.T) {
			if b == nil {
				t.Error("it is nil")
			}
		})
	}
}

// A Writer accepts exactly the keys that are > the last one in its Order, however it compares them.
func TestWriterTakesAscendingKeysOnly(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]rowblock.Order{
		"bytewise":      {},
		"bytes.Compare": {Func: bytes.Compare},
		"suffixed":      {Func: suffixed, Suffix: 2},
		"descending":    {Func: func(a, b []byte) int { return bytes.Compare(b, a) }},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 2))
			for range 20_000 {
				w, err := block.NewWriter(16, block.Order(order))
				noError(t, err)
				last, key := randomKey(rng), randomKey(rng)
				noError(t, w.Append(last, nil))
				if err, want := w.Append(key, nil), order.Compare(last, key) < 0; (err == nil) != want {
					t.Fatalf("%q after %q: %v, but that it is greater is %v", key, last, err, want)
				}
			}
		})
	}
}

// randomKey returns a short key of few different bytes, so that many keys share some.
func randomKey(rng *rand.Rand) []byte {
	key := make([]byte, rng.IntN(5))
	for i := range key {
		key[i] = "a\x00\xff"[rng.IntN(3)]
	}
	return key
}

// Keys are compared without the bytes they are known to share. An order with a suffix still sees the whole suffix:
// its Func can take the last bytes of each key for it.
func TestFuncSeesWholeSuffixes(t *testing.T) {
	t.Parallel()
	cut := 0
	order := rowblock.Order{Suffix: 2, Func: func(a, b []byte) int {
		if min(len(a), len(b)) < 2 {
			cut++
		}
		return suffixed(a, b)
	}}
	// Keys that end within another key's suffix share the most.
	keys := []string{"pxx", "pxxxx", "pxxxxxxx", "pxyyy"}
	slices.SortFunc(keys, func(a, b string) int { return suffixed([]byte(a), []byte(b)) })
	var pairs []pair
	for _, key := range keys {
		pairs = append(pairs, pair{key, "of " + key})
	}
	data := build(t, 16, pairs)
	if _, err := rowblock.Open(data, order); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if v, found, err := get(data, order, []byte(p.Key), nil); string(v) != p.Value || !found || err != nil {
			t.Errorf("Get(%q) = %q, %v, %v", p.Key, v, found, err)
		}
	}
	for _, key := range []string{"pxxx", "pxxxxx", "pxxxxxx", "pxxy", "pxyy", "pxyyyy"} {
		if _, found, err := get(data, order, []byte(key), nil); found || err != nil {
			t.Errorf("Get(%q) = %v, %v, want no such key", key, found, err)
		}
	}
	if cut > 0 {
		t.Errorf("%d comparisons saw less than the suffix of a key", cut)
	}
}
