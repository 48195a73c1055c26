package rowblock_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// A length < 128 is stored in one byte, and a longer one in more. Decode accepts all three lengths of an entry on
// either side of that bound.
func TestDecodeTakesLengthsOfOneByteAndMore(t *testing.T) {
	t.Parallel()
	lengths := []int{1, 16, 17, 126, 127, 128, 129, 200, 255, 256}
	for _, shared := range lengths {
		for _, unshared := range lengths {
			for _, value := range lengths {
				var pairs []pair
				var keys []string
				for i := range byte(5) {
					key := strings.Repeat("p", shared) + string(rune(i+1)) + strings.Repeat("k", unshared-1)
					pairs = append(pairs, pair{key, strings.Repeat("v", value)})
					keys = append(keys, key)
				}
				var e rowblock.Decoded
				noError(t, e.Decode(build(t, 16, pairs), rowblock.Order{}))
				name := fmt.Sprintf("keys share %d bytes and have %d others, values have %d", shared, unshared, value)
				checkEntries(t, name, &e, pairs, keys, bytes.Compare)
			}
		}
	}
}

// An entry that shares more bytes than the key before has is rejected, even if the block is long enough for
// decodeRun, and if the order ignores a suffix of the keys.
func TestDecodeRefusesSharedBytesThatAreNotThere(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("\x00", 60) // the bytes after a key are less than any byte of the next one
	for suffix := range 3 {
		for more := range uint64(5) {
			t.Run(fmt.Sprintf("suffix=%d/more=%d", suffix, more), func(t *testing.T) {
				data := []byte(rawtable.Entry(0, "aa", value) + rawtable.Entry(0, "bbb", value) +
					rawtable.Entry(3+more, "cccc", value) + rawtable.Entry(0, "dddd", value) + rawtable.Restarts(0))
				var e rowblock.Decoded
				err := e.Decode(data, rowblock.Order{Func: bytes.Compare, Suffix: suffix})
				if want := fmt.Sprintf("shares %d bytes, but the key before it has 3", 3+more); more > 0 && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("Decode = %v, want an error with %q", err, want)
				}
				if more == 0 && err != nil {
					t.Errorf("Decode = %v, but the bytes are there", err)
				}
			})
		}
	}
}

// Decode accepts keys with a total length of up to 16 KiB plus four times the length of the entries.
func TestDecodeBoundsAllKeysByTheBlock(t *testing.T) {
	t.Parallel()
	answers := map[bool]int{}
	for extra := range 200 {
		var pairs []pair
		keys := 0
		for i := range 64 {
			p := pair{strings.Repeat("k", 296) + fmt.Sprintf("%04d", i), ""}
			if i == 63 {
				p.Value = strings.Repeat("v", extra) // makes the block longer, and not the keys
			}
			pairs, keys = append(pairs, p), keys+len(p.Key)
		}
		data := build(t, 1<<30, pairs)
		entries := len(data) - 8
		var e rowblock.Decoded
		err := e.Decode(data, rowblock.Order{})
		if fits := keys <= 16<<10+4*entries; fits != (err == nil) {
			t.Errorf("%d bytes of keys in %d of entries: Decode = %v", keys, entries, err)
		}
		answers[err == nil]++
	}
	if min(answers[true], answers[false]) < 20 {
		t.Errorf("blocks that fit, or not: %v, want both", answers)
	}
}

// A cached block takes little more than its keys and values plus 20 bytes for each entry, or than the three lines of
// memory that a lookup reads at once.
func TestCachedSizeIsThatOfKeysAndValues(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 10, 1000} {
		t.Run(fmt.Sprintf("entries=%d", n), func(t *testing.T) {
			var pairs []pair
			size := 20 * n
			for i := range n {
				p := pair{fmt.Sprintf("key %06d", i), strings.Repeat("v", i%50)}
				pairs = append(pairs, p)
				size += len(p.Key) + len(p.Value)
			}
			size = max(size, 3*64)
			var e rowblock.Decoded
			noError(t, e.Decode(build(t, 16, pairs), rowblock.Order{}))
			if got := e.CachedSize(); got < size || got > size+64 {
				t.Errorf("CachedSize = %d, want %d to %d", got, size, size+64)
			}
			if got := e.ForCache().Size(); got < size || got > 64+size*5/4 {
				t.Errorf("it takes %d bytes in the cache, want %d and some more", got, size)
			}
		})
	}
}

// Every entry of a large block is found in a Cached. The number of an entry times the bytes of all keys or values
// exceeds 32 bits there, and on some processors an int.
func TestLargeCachedBlocks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ entries, key, value int }{
		"long keys":   {10_000, 100, 1},
		"long values": {2_000, 8, 4_000},
	} {
		var pairs []pair
		for i := range test.entries {
			key := fmt.Sprintf("%0*d", test.key, i)
			pairs = append(pairs, pair{key, strings.Repeat("v", test.value)})
		}
		var e rowblock.Decoded
		noError(t, e.Decode(build(t, 1, pairs), rowblock.Order{}))
		cached := e.ForCache().Block(rowblock.Order{})
		for _, p := range pairs {
			if value, found := cached.Get([]byte(p.Key)); !found || string(value) != p.Value {
				t.Fatalf("%s: Get(%.20s…) = %.20q, %v", name, p.Key, value, found)
			}
		}
	}
}

// Fetch and FetchKeys stay within blocks of any size, and change nothing.
func TestFetchLeavesEntriesAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 5, 100, 2000} {
		t.Run(fmt.Sprintf("entries=%d", n), func(t *testing.T) {
			var pairs []pair
			for i := range n {
				pairs = append(pairs, pair{fmt.Sprintf("key %06d", i), "v"})
			}
			var e rowblock.Decoded
			noError(t, e.Decode(build(t, 16, pairs), rowblock.Order{}))
			c := e.ForCache()
			cached := c.Block(rowblock.Order{})
			c.Fetch()
			cached.FetchKeys()
			if diff := cmp.Diff(pairs, all(&cached)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
