package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

func internalKey(user string, sequence uint64, kind table.Kind) []byte {
	return table.InternalKey{UserKey: []byte(user), Sequence: sequence, Kind: kind}.Append(nil)
}

func TestInternalKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key   table.InternalKey
		bytes string
	}{
		{table.InternalKey{UserKey: []byte("foo"), Sequence: 1, Kind: table.KindSet}, "foo\x01\x01\x00\x00\x00\x00\x00\x00"},
		{table.InternalKey{UserKey: []byte{}, Sequence: 0x0102, Kind: table.KindDelete}, "\x00\x02\x01\x00\x00\x00\x00\x00"},
		{table.InternalKey{UserKey: []byte("k"), Sequence: table.MaxSequence, Kind: 7}, "k\x07\xff\xff\xff\xff\xff\xff\xff"},
	} {
		if got := string(tt.key.Append([]byte("dst "))); got != "dst "+tt.bytes {
			t.Errorf("%v: Append = %q, want %q behind dst", tt.key, got, tt.bytes)
		}
		got, ok := table.ParseInternalKey([]byte(tt.bytes))
		if diff := cmp.Diff(tt.key, got); !ok || diff != "" {
			t.Errorf("ParseInternalKey(%q): %v (-want +got):\n%s", tt.bytes, ok, diff)
		}
	}
	for n := range 8 {
		if got, ok := table.ParseInternalKey(make([]byte, n)); ok {
			t.Errorf("ParseInternalKey of %d bytes = %v, want none", n, got)
		}
	}
}

// SearchKey comes before all versions that a snapshot sees, of any kind, and behind
// those that it does not see.
func TestSearchKeyIsBeforeTheVersionsThatASnapshotSees(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(table.BytewiseComparer)
	for _, tt := range []struct {
		seek, version uint64
		kind          table.Kind
		sees          bool
	}{
		{9, 9, 0, true}, {9, 9, 1, true}, {9, 9, 0x7f, true}, {9, 8, 0xff, true}, {9, 10, 0, false}, {0, 0, 1, true}, {0, 1, 0, false},
		{table.MaxSequence, table.MaxSequence, 1, true}, {table.MaxSequence + 1, 5, 1, true}, {1<<64 - 1, table.MaxSequence, 1, true},
	} {
		if got := c.Compare(table.SearchKey(nil, []byte("k"), tt.seek), internalKey("k", tt.version, tt.kind)) <= 0; got != tt.sees {
			t.Errorf("a snapshot at %d sees version %d of kind %d: %v, want %v", tt.seek, tt.version, tt.kind, got, tt.sees)
		}
	}
	if got := table.SearchKey([]byte("dst "), []byte("k"), 1); string(got) != "dst k\xff\x01\x00\x00\x00\x00\x00\x00" {
		t.Errorf("SearchKey = %q", got)
	}
}

// The keys and separators of LevelDB's dbformat_test.
func TestInternalComparerShortens(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(table.BytewiseComparer)
	const first = table.MaxSequence // of the separators that were shortened
	for _, tt := range []struct{ a, b, want []byte }{
		{internalKey("foo", 100, 1), internalKey("foo", 99, 1), nil},
		{internalKey("foo", 100, 1), internalKey("foo", 101, 1), nil},
		{internalKey("foo", 100, 1), internalKey("foo", 100, 0), nil},
		{internalKey("foo", 100, 1), internalKey("bar", 99, 1), nil}, // not in order
		{internalKey("foo", 100, 1), internalKey("hello", 200, 1), internalKey("g", first, 1)},
		{internalKey("foo", 100, 1), internalKey("foobar", 200, 1), nil},
		{internalKey("foobar", 100, 1), internalKey("foo", 200, 1), nil},
		{internalKey("fob", 100, 1), internalKey("fod", 200, 1), nil}, // "foc" is not shorter: not of that test
		{[]byte("short"), internalKey("foo", 1, 1), nil},
	} {
		if got := c.Separator(nil, tt.a, tt.b); !bytes.Equal(got, tt.want) {
			t.Errorf("Separator(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
	for _, tt := range []struct{ b, want []byte }{
		{internalKey("foo", 100, 1), internalKey("g", first, 1)},
		{internalKey("\xff\xff", 100, 1), nil},
		{internalKey("f", 100, 1), nil}, // "g" is not shorter: not of that test
		{[]byte("short"), nil},
	} {
		got := c.Successor([]byte("dst "), tt.b)
		if (got == nil) != (tt.want == nil) || got != nil && string(got) != "dst "+string(tt.want) {
			t.Errorf("Successor(%q) = %q, want %q", tt.b, got, tt.want)
		}
	}
}

// The order is total, whatever the bytes, and separators lie where they must.
func TestInternalComparerIsAnOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 11))
	for _, user := range []table.Comparer{table.BytewiseComparer, descendingComparer{}} {
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

// strictComparer's Separator relies on what it is promised.
type strictComparer struct{ table.Comparer }

func (c strictComparer) Separator(dst, a, b []byte) []byte {
	if bytes.Compare(a, b) >= 0 {
		panic(fmt.Sprintf("Separator(%q, %q)", a, b))
	}
	return c.Comparer.Separator(dst, a, b)
}

// Between two versions of a key there is nothing to separate.
func TestInternalSeparatorOfVersions(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(strictComparer{table.BytewiseComparer})
	if got := c.Separator(nil, internalKey("abc", 9, 1), internalKey("abc", 8, 1)); got != nil {
		t.Errorf("Separator of two versions = %q", got)
	}
}
