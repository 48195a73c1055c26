package table_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// goleveldb's comparers fit, and another order works throughout.
func TestComparer(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	slices.Reverse(pairs)
	descending := descendingComparer{}
	o := &table.WriterOptions{Comparer: descending, FilterPolicy: filter.NewBloom(10), BlockSize: 200}
	contents := build(t, o, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: descending})
	if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	if diff := diffPairs(pairs, backward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("backward (-want +got):\n%s", diff)
	}
	checkLookups(t, r, pairs)
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if _, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("NewReader in the wrong order = %v, want ErrCorrupt", err)
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

// sharingComparer separates by a part of b.
type sharingComparer struct{ table.Comparer }

func (sharingComparer) Separator(dst, a, b []byte) []byte {
	for i := range b {
		if s := b[:i+1]; bytes.Compare(a, s) < 0 && len(s) < len(b) {
			return s
		}
	}
	return nil
}

// A Writer changes no key of its caller, even if a separator is a part of one.
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
		if diff := diffPairs(want, keys); diff != "" {
			t.Errorf("%s: the caller's keys changed (-want +got):\n%s", order.Name(), diff)
		}
		if err := open(t, contents, &table.ReaderOptions{Comparer: order}).Verify(); err != nil {
			t.Errorf("%s: %v", order.Name(), err)
		}
	}
}
