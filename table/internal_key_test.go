package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

func internalKey(user string, sequence uint64, kind internalkey.Kind) []byte {
	return internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: kind}.Append(nil)
}

// SearchKey sorts before all versions that a snapshot sees, of any kind, and after the others.
func TestSearchKeyIsBeforeTheVersionsThatASnapshotSees(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(table.BytewiseComparer)
	for _, tt := range []struct {
		seek, version uint64
		kind          internalkey.Kind
		sees          bool
	}{
		{9, 9, 0, true}, {9, 9, 1, true}, {9, 9, 0x7f, true}, {9, 8, 0xff, true}, {9, 10, 0, false}, {0, 0, 1, true}, {0, 1, 0, false},
		{internalkey.MaxSequence, internalkey.MaxSequence, 1, true}, {internalkey.MaxSequence + 1, 5, 1, true}, {1<<64 - 1, internalkey.MaxSequence, 1, true},
	} {
		if got := c.Compare(internalkey.SearchKey(nil, []byte("k"), tt.seek), internalKey("k", tt.version, tt.kind)) <= 0; got != tt.sees {
			t.Errorf("a snapshot at %d sees version %d of kind %d: %v, want %v", tt.seek, tt.version, tt.kind, got, tt.sees)
		}
	}
	if got := internalkey.SearchKey([]byte("dst "), []byte("k"), 1); string(got) != "dst k\xff\x01\x00\x00\x00\x00\x00\x00" {
		t.Errorf("SearchKey = %q", got)
	}
}

// The keys and separators of LevelDB's dbformat_test.
func TestInternalComparerShortens(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(table.BytewiseComparer)
	const first = internalkey.MaxSequence // of shortened separators
	for _, tt := range []struct{ a, b, want []byte }{
		{internalKey("foo", 100, 1), internalKey("foo", 99, 1), nil},
		{internalKey("foo", 100, 1), internalKey("foo", 101, 1), nil},
		{internalKey("foo", 100, 1), internalKey("foo", 100, 0), nil},
		{internalKey("foo", 100, 1), internalKey("bar", 99, 1), nil}, // not in order
		{internalKey("foo", 100, 1), internalKey("hello", 200, 1), internalKey("g", first, 1)},
		{internalKey("foo", 100, 1), internalKey("foobar", 200, 1), nil},
		{internalKey("foobar", 100, 1), internalKey("foo", 200, 1), nil},
		{internalKey("fob", 100, 1), internalKey("fod", 200, 1), nil}, // "foc" is not shorter: not in LevelDB's test
		{[]byte("short"), internalKey("foo", 1, 1), nil},
	} {
		if got := c.Separator(nil, tt.a, tt.b); !bytes.Equal(got, tt.want) {
			t.Errorf("Separator(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
	for _, tt := range []struct{ b, want []byte }{
		{internalKey("foo", 100, 1), internalKey("g", first, 1)},
		{internalKey("\xff\xff", 100, 1), nil},
		{internalKey("f", 100, 1), nil}, // "g" is not shorter: not in LevelDB's test
		{[]byte("short"), nil},
	} {
		got := c.Successor([]byte("dst "), tt.b)
		if (got == nil) != (tt.want == nil) || got != nil && string(got) != "dst "+string(tt.want) {
			t.Errorf("Successor(%q) = %q, want %q", tt.b, got, tt.want)
		}
	}
}

// The order is total for any bytes, and separators lie where they must.
func TestInternalComparerIsAnOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 11))
	for _, user := range []table.Comparer{strictComparer{table.BytewiseComparer}, descendingComparer{}} {
		c := table.InternalComparer(user)
		var keys [][]byte
		for range 300 {
			key := make([]byte, rng.IntN(12))
			for i := range key {
				key[i] = "\x00a\xff"[rng.IntN(3)]
			}
			keys = append(keys, key)
		}
		slices.SortFunc(keys, c.Compare)
		for i, a := range keys {
			for _, b := range keys[i:] {
				ab, ba := c.Compare(a, b), c.Compare(b, a)
				if ab > 0 || ba < 0 || (ab == 0) != bytes.Equal(a, b) || (ba == 0) != (ab == 0) {
					t.Fatalf("%s: Compare(%q, %q) = %d, and %d the other way round", user.Name(), a, b, ab, ba)
				}
				if ab == 0 {
					continue
				}
				if s := c.Separator(nil, a, b); s != nil && (c.Compare(a, s) > 0 || c.Compare(s, b) >= 0) {
					t.Fatalf("%s: Separator(%q, %q) = %q", user.Name(), a, b, s)
				}
			}
			if s := c.Successor(nil, a); s != nil && c.Compare(a, s) > 0 {
				t.Fatalf("%s: Successor(%q) = %q", user.Name(), a, s)
			}
		}
	}
}

// strictComparer's Separator relies on a < b: it must not get two versions of a key.
type strictComparer struct{ table.Comparer }

func (c strictComparer) Separator(dst, a, b []byte) []byte {
	if bytes.Compare(a, b) >= 0 {
		panic(fmt.Sprintf("Separator(%q, %q)", a, b))
	}
	return c.Comparer.Separator(dst, a, b)
}

// userKeys is the bytewise order of keys that start with "user". It panics for others.
type userKeys struct{}

func (userKeys) check(keys ...[]byte) {
	for _, k := range keys {
		if !bytes.HasPrefix(k, []byte("user")) {
			panic(fmt.Sprintf("%q is no user key", k))
		}
	}
}

func (u userKeys) Compare(a, b []byte) int {
	u.check(a, b)
	return bytes.Compare(a, b)
}

func (userKeys) Name() string { return "test.UserKeys" }

func (u userKeys) Separator(dst, a, b []byte) []byte {
	u.check(a, b)
	return table.BytewiseComparer.Separator(dst, a, b)
}

func (u userKeys) Successor(_, b []byte) []byte {
	u.check(b)
	return nil
}

// The Comparer of user keys gets only user keys, even if tables or lookups have keys that are too short for an
// internal key.
func TestInternalComparerGivesUserKeysOnly(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(userKeys{})
	var pairs []workload.Pair
	for i := range 8 {
		pairs = append(pairs, workload.Pair{Key: bytes.Repeat([]byte{'x'}, i)})
	}
	for i := range 200 {
		for sequence := uint64(3); sequence > 0; sequence-- {
			pairs = append(pairs, workload.Pair{Key: internalKey(fmt.Sprintf("user%03d", i), sequence, internalkey.Set), Value: []byte("value")})
		}
	}
	contents := build(t, &table.WriterOptions{Comparer: c, BlockSize: 100, FilterPolicy: filter.NewBloom(10)}, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: c, Cache: table.NewCache(1 << 20)})
	noError(t, r.Verify())
	for _, p := range pairs {
		for _, o := range []*table.IterOptions{nil, {Lower: p.Key}, {Upper: p.Key}} {
			it := r.NewIter(o)
			it.SeekGE(p.Key)
			it.SeekLT(p.Key)
			noError(t, it.Close())
		}
		checkGet(t, r, p.Key, p.Value)
		_, _, err := r.FindGE(p.Key)
		noError(t, err)
		r.ApproximateOffset(p.Key)
	}
}

// InternalComparer returns an InternalComparer unchanged.
func TestInternalComparerTwice(t *testing.T) {
	t.Parallel()
	newer, older := internalKey("user1", 2, internalkey.Set), internalKey("user1", 1, internalkey.Set)
	for _, user := range []table.Comparer{nil, userKeys{}} {
		c := table.InternalComparer(table.InternalComparer(user))
		if got := c.Compare(newer, older); got >= 0 {
			t.Errorf("%v: Compare of two versions = %d, want the newer one first", user, got)
		}
		if got := c.(interface{ FilterKey([]byte) []byte }).FilterKey(newer); string(got) != "user1" {
			t.Errorf("%v: FilterKey = %q, want user1", user, got)
		}
	}
	any := table.InternalComparer(table.AnyOrder)
	if got := table.InternalComparer(any); got != any {
		t.Errorf("InternalComparer(%#v) = %#v, want the same", any, got)
	}
}

type descendingComparer struct{}

func (descendingComparer) Compare(a, b []byte) int           { return bytes.Compare(b, a) }
func (descendingComparer) Name() string                      { return "test.Descending" }
func (descendingComparer) Separator(dst, a, b []byte) []byte { return nil }
func (descendingComparer) Successor(dst, b []byte) []byte    { return nil }

func TestBytewiseSeparators(t *testing.T) {
	t.Parallel()
	c := table.BytewiseComparer
	for _, tt := range []struct{ a, b, separator, successor string }{
		{"abcd", "abzz", "abd", "b"},
		{"abc", "abcd", "", "b"},  // a prefix
		{"abc", "abd", "", "b"},   // no room between
		{"ab\xff", "ac", "", "b"}, // no room
		{"a\xff\x01", "b", "", "b"},
		{"\xffa", "\xffz", "\xffb", "\xffb"},
		{"\xff\xff", "\xff\xff\x00", "", ""},
		{"", "a", "", ""},
	} {
		if got := c.Separator([]byte("dst "), []byte(tt.a), []byte(tt.b)); (got == nil) != (tt.separator == "") || got != nil && string(got) != "dst "+tt.separator {
			t.Errorf("Separator(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.separator)
		}
		if got := c.Successor([]byte("dst "), []byte(tt.a)); (got == nil) != (tt.successor == "") || got != nil && string(got) != "dst "+tt.successor {
			t.Errorf("Successor(%q) = %q, want %q", tt.a, got, tt.successor)
		}
	}
}

// sharingComparer's separators are subslices of b.
type sharingComparer struct{ table.Comparer }

func (sharingComparer) Separator(dst, a, b []byte) []byte {
	for i := range b {
		if s := b[:i+1]; bytes.Compare(a, s) < 0 && len(s) < len(b) {
			return s
		}
	}
	return nil
}

// A Writer does not modify its caller's keys, even if a separator is a subslice of one.
func TestSeparatorThatSharesKeys(t *testing.T) {
	t.Parallel()
	user := sharingComparer{table.BytewiseComparer}
	for trailer, order := range map[string]table.Comparer{"": user, " and further bytes\x01sequenc": table.InternalComparer(user)} {
		names := []string{"aaaa", "bbbb", "cccc", "dddd", "ex", "f", "gggg", "hhhh"}
		for i := range names {
			names[i] += trailer
		}
		keys, want := pairsOf(names...), pairsOf(names...)
		contents := build(t, &table.WriterOptions{BlockSize: 1, Comparer: order}, keys)
		checkPairs(t, order.Name()+": the caller's keys", want, keys)
		checkSound(t, order.Name(), open(t, contents, &table.ReaderOptions{Comparer: order}))
	}
}
