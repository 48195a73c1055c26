package rowblock_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// FuzzOpen opens arbitrary blocks. They are rejected, or read the same forward and backward, in order, and contain
// each of their keys. A key that Get finds is there, even in a rejected block. Moves agree with moves on a slice,
// and a Decoded with an Iter.
func FuzzOpen(f *testing.F) {
	for _, tt := range rawtable.MalformedBlocks {
		f.Add([]byte(tt.Contents), []byte("a"), []byte(nil))
	}
	f.Add(build(f, 2, []pair{{"", ""}, {"a", "1"}, {"ab", "2"}, {"b", "3"}}), []byte("ab"), []byte{1, 5, 5, 4, 5, 2, 5, 3, 4})
	f.Fuzz(func(t *testing.T, data, key, moves []byte) {
		checkGet(t, data, key)
		rowblock.GetChecked(data, key) // must not panic if a mapped file changed after it was checked
		b, err := rowblock.Open(data, rowblock.Order{})
		var e rowblock.Decoded
		if got := e.Decode(data, rowblock.Order{}); got != rowblock.ErrTooMany && fmt.Sprint(got) != fmt.Sprint(err) {
			t.Fatalf("Decode = %v, Open = %v", got, err)
		}
		if err != nil {
			return
		}
		there := forward(newIter(b))
		if e.Len() > 0 {
			keys := []string{string(key)}
			for _, p := range there {
				keys = append(keys, p.Key)
			}
			packed := e.ForCache().Block(rowblock.Order{})
			checkEntries(t, "decoded", &e, there, keys, bytes.Compare)
			checkEntries(t, "packed", &packed, there, keys, bytes.Compare)
		}
		checkMoves(t, "fuzz", newIter(b), there, moves, func() []byte { return key })
		back := backward(newIter(b))
		for i, p := range there {
			if q := back[len(back)-1-i]; p != q {
				t.Fatalf("entry %d is %+v forward and %+v backward", i, p, q)
			}
			it := newIter(b)
			if !it.SeekGE([]byte(p.Key)) || !bytes.Equal(it.Key(), []byte(p.Key)) {
				t.Fatalf("SeekGE(%q) is at %q", p.Key, it.Key())
			}
			if v, found, err := get(data, rowblock.Order{}, []byte(p.Key), nil); string(v) != p.Value || !found || err != nil {
				t.Fatalf("Get(%q) = %q, %v, %v; want %q", p.Key, v, found, err, p.Value)
			}
			if v, found, err := rowblock.GetChecked(data, []byte(p.Key)); string(v) != p.Value || !found || err != nil {
				t.Fatalf("GetChecked(%q) = %q, %v, %v; want %q", p.Key, v, found, err, p.Value)
			}
		}
		for i := 1; i < len(there); i++ {
			if there[i-1].Key >= there[i].Key {
				t.Fatalf("keys %q and %q are not in order", there[i-1].Key, there[i].Key)
			}
		}
		again := open(t, build(t, 16, there))
		if diff := cmp.Diff(there, forward(again)); diff != "" {
			t.Errorf("written again (-first +second):\n%s", diff)
		}
	})
}
