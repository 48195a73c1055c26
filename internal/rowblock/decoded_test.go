package rowblock_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// all returns the entries of e.
func all(e *rowblock.Decoded) []pair {
	var pairs []pair
	for i := range e.Len() {
		pairs = append(pairs, pair{string(e.Key(i)), string(e.Value(i))})
	}
	return pairs
}

// Decode reports the same errors as Open.
func TestDecodeRefusesWhatOpenDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			for _, compare := range []func(a, b []byte) int{nil, bytes.Compare} {
				_, want := rowblock.Open([]byte(tt.Contents), rowblock.Order{Func: compare})
				var e rowblock.Decoded
				got := e.Decode([]byte(tt.Contents), rowblock.Order{Func: compare})
				if fmt.Sprint(got) != fmt.Sprint(want) || e.Len() != 0 {
					t.Errorf("Decode = %v, Open = %v; %d entries", got, want, e.Len())
				}
			}
		})
	}
}

// checkEntries compares e with the pairs it was built from.
func checkEntries(t *testing.T, name string, e *rowblock.Decoded, pairs []pair, keys []string, compare func(a, b []byte) int) {
	t.Helper()
	if diff := cmp.Diff(pairs, all(e)); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", name, diff)
	}
	for _, k := range keys {
		i, found := slices.BinarySearchFunc(pairs, k, func(p pair, k string) int { return compare([]byte(p.Key), []byte(k)) })
		if got := e.SeekGE([]byte(k)); got != i {
			t.Fatalf("%s: SeekGE(%q) = %d, want %d of %q", name, k, got, i, pairs)
		}
		v, ok := e.Get([]byte(k))
		if ok != found || found && (string(v) != pairs[i].Value || cap(v) != len(v)) {
			t.Fatalf("%s: Get(%q) = %q, %v; want %v", name, k, v, ok, found)
		}
	}
}

// A Decoded, also when packed, contains and finds exactly what was written, in any order and whatever was decoded
// into it before.
func TestDecodedEntriesAreThoseWritten(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	descending := func(a, b []byte) int { return bytes.Compare(b, a) }
	var e rowblock.Decoded
	most := 50
	if long.Enabled() {
		most = 200
	}
	for _, interval := range []int{1, 2, 3, 16, 128} {
		for n := range most {
			pairs := randomPairs(rng, n)
			prefix := strings.Repeat("p", rng.IntN(40)) // a short one fits into a copy of 16 bytes
			var keys []string
			for i := range pairs {
				pairs[i].Key = prefix + pairs[i].Key
				keys = append(keys, pairs[i].Key, pairs[i].Key+"\x00")
			}
			for _, p := range randomPairs(rng, 20) {
				keys = append(keys, p.Key, prefix+p.Key)
			}
			for _, order := range []struct {
				name          string
				give, compare func(a, b []byte) int
			}{{"bytewise", nil, bytes.Compare}, {"descending", descending, descending}} {
				noError(t, e.Decode(build(t, interval, pairs), rowblock.Order{Func: order.give}))
				checkEntries(t, order.name, &e, pairs, keys, order.compare)
				packed := e.ForCache().Block(rowblock.Order{Func: order.give})
				noError(t, e.Decode(build(t, 16, []pair{{"other", "entries"}}), rowblock.Order{}))
				checkEntries(t, "packed, "+order.name, &packed, pairs, keys, order.compare)
				slices.Reverse(pairs)
			}
		}
	}
}

// Few bytes can stand for many entries or long keys. Decode accepts them up to a bound.
func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()
	numbers := func(n int) (pairs []pair) {
		for i := range n {
			pairs = append(pairs, pair{fmt.Sprintf("%06d", i), ""})
		}
		return pairs
	}
	long := func(n, length int) (pairs []pair) {
		for i := range n {
			pairs = append(pairs, pair{strings.Repeat("k", length) + fmt.Sprintf("%06d", i), ""})
		}
		return pairs
	}
	for _, tt := range []struct {
		name  string
		pairs []pair
		want  error
	}{
		{"as many as can be", numbers(1 << 14), nil},
		{"one more", numbers(1<<14 + 1), rowblock.ErrTooMany},
		{"long keys", long(10, 1000), nil},
		{"long keys of few bytes", long(100, 1000), rowblock.ErrTooMany},
		{"one long key", long(1, 500_000), nil},
		{"a longer one", long(1, 2_000_000), rowblock.ErrTooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e rowblock.Decoded
			data := build(t, 1<<30, tt.pairs)
			if got := e.Decode(data, rowblock.Order{}); got != tt.want {
				t.Errorf("Decode = %v, want %v", got, tt.want)
			}
			if tt.want == nil && e.Len() != len(tt.pairs) {
				t.Errorf("%d entries, want %d", e.Len(), len(tt.pairs))
			}
			if _, err := rowblock.Open(data, rowblock.Order{}); err != nil {
				t.Errorf("Open = %v", err)
			}
		})
	}
}

// Decoding does not depend on what was decoded before.
func TestDecodeForgets(t *testing.T) {
	t.Parallel()
	var many, long []pair
	for i := range 1 << 14 {
		many = append(many, pair{fmt.Sprintf("%06d", i), ""})
	}
	for i := range 100 {
		long = append(long, pair{strings.Repeat("k", 1000) + fmt.Sprint(100+i), ""})
	}
	tooLong := build(t, 1<<30, long)
	var fresh, used rowblock.Decoded
	want := fresh.Decode(tooLong, rowblock.Order{})
	noError(t, used.Decode(build(t, 16, many), rowblock.Order{}))
	if got := used.Decode(tooLong, rowblock.Order{}); got != want || want != rowblock.ErrTooMany {
		t.Errorf("Decode = %v when used before, and %v fresh; want ErrTooMany", got, want)
	}
}

// If one key differs early from all others, the abbreviations of the others are equal. A binary search still finds
// them.
func TestKeysWithEqualAbbreviationsAreFound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4, 5, 6, 100, 2000} {
		for _, common := range []string{"http://", "\xff\xff\xff\xff", "\x00\x00\x00\x00\x00"} {
			pairs := []pair{{"\x00", "first"}}
			var keys []string
			for i := range n {
				k := common + fmt.Sprintf("%05d", 2*i)
				pairs = append(pairs, pair{k, "value of " + k})
				keys = append(keys, k, common+fmt.Sprintf("%05d", 2*i+1))
			}
			keys = append(keys, "", "\x00", common, common+"~", "\xff\xff\xff\xff\xff")
			var e rowblock.Decoded
			noError(t, e.Decode(build(t, 16, pairs), rowblock.Order{}))
			p := e.ForCache()
			packed := p.Block(rowblock.Order{})
			checkEntries(t, fmt.Sprintf("%d keys that start with %q", n, common), &packed, pairs, keys, bytes.Compare)
			if p.Size() < e.CachedSize() {
				t.Errorf("%d bytes packed, want at least %d", p.Size(), e.CachedSize())
			}
		}
	}
}

// suffixed orders keys bytewise by all but their last two bytes, and then by these in descending order.
func suffixed(a, b []byte) int {
	split := func(k []byte) (part, suffix []byte) { n := max(0, len(k)-2); return k[:n], k[n:] }
	pa, sa := split(a)
	pb, sb := split(b)
	switch { // keys that are too short are first
	case len(a) < 2 && len(b) < 2:
		return bytes.Compare(a, b)
	case len(a) < 2:
		return -1
	case len(b) < 2:
		return 1
	}
	if order := bytes.Compare(pa, pb); order != 0 {
		return order
	}
	return bytes.Compare(sb, sa)
}

// Declaring a Suffix changes neither what is found nor what is rejected, only the time.
func TestSuffixChangesNoAnswer(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(18, 18))
	var quick, plain rowblock.Decoded
	for i := range 3000 {
		prefix := strings.Repeat("p", rng.IntN(30))
		var pairs []pair
		for range rng.IntN(40) {
			k := make([]byte, rng.IntN(5))
			for n := range k {
				k[n] = "ab\x00\xff"[rng.IntN(4)]
			}
			key := prefix + string(k)
			if rng.IntN(20) == 0 {
				key = string(k)
			}
			pairs = append(pairs, pair{key, strings.Repeat("v", rng.IntN(30))})
		}
		byKey := func(a, b pair) int { return suffixed([]byte(a.Key), []byte(b.Key)) }
		slices.SortFunc(pairs, byKey)
		pairs = slices.CompactFunc(pairs, func(a, b pair) bool { return a.Key == b.Key })
		data := build(t, 1+rng.IntN(5), pairs)
		if i%2 == 1 && len(pairs) > 0 {
			data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
		}
		want, got := plain.Decode(data, rowblock.Order{Func: suffixed}), quick.Decode(data, rowblock.Order{Func: suffixed, Suffix: 2})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: %v, want %v", pairs, got, want)
		}
		if diff := cmp.Diff(all(&plain), all(&quick)); diff != "" {
			t.Fatalf("(-plain +quick):\n%s", diff)
		}
		checkSuffixed(t, rng, data, want, all(&plain))
		if want != nil {
			continue
		}
		packed := quick.ForCache().Block(rowblock.Order{Func: suffixed, Suffix: 2})
		for range 50 {
			k := []byte(prefix[:rng.IntN(len(prefix)+1)] + string("ab\x00\xff"[rng.IntN(4)]) + "a")
			if n := len(pairs); n > 0 && rng.IntN(2) == 0 {
				k = []byte(pairs[rng.IntN(n)].Key)
			}
			if want, got := plain.SeekGE(k), packed.SeekGE(k); got != want {
				t.Fatalf("SeekGE(%q) = %d, want %d of %q", k, got, want, all(&plain))
			}
			wantValue, wantFound := plain.Get(k)
			gotValue, gotFound := packed.Get(k)
			if gotFound != wantFound || !bytes.Equal(gotValue, wantValue) {
				t.Fatalf("Get(%q) = %q, %v; want %q, %v", k, gotValue, gotFound, wantValue, wantFound)
			}
		}
	}
}
