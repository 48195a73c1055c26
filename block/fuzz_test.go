package block_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
)

// FuzzOpen opens blocks of any bytes: they are refused, or read the same
// forward and backward, in order, and find each of their keys. What Get finds
// is there, whether the block is refused or not.
func FuzzOpen(f *testing.F) {
	for _, tt := range damaged {
		f.Add([]byte(tt.block), []byte("a"))
	}
	f.Add(build(f, 2, []pair{{"", ""}, {"a", "1"}, {"ab", "2"}, {"b", "3"}}), []byte("ab"))
	f.Fuzz(func(t *testing.T, data, key []byte) {
		checkGet(t, "fuzz", data, key)
		b, err := block.Open(data, nil)
		if err != nil {
			return
		}
		there := forward(b.NewIter())
		back := backward(b.NewIter())
		for i, p := range there {
			if q := back[len(back)-1-i]; p != q {
				t.Fatalf("entry %d is %+v forward and %+v backward", i, p, q)
			}
			it := b.NewIter()
			if !it.SeekGE([]byte(p.Key)) || !bytes.Equal(it.Key(), []byte(p.Key)) {
				t.Fatalf("SeekGE(%q) is at %q", p.Key, it.Key())
			}
			if v, found, err := block.Get(data, nil, []byte(p.Key), math.MaxInt); string(v) != p.Value || !found || err != nil {
				t.Fatalf("Get(%q) = %q, %v, %v; want %q", p.Key, v, found, err, p.Value)
			}
		}
		for i := 1; i < len(there); i++ {
			if there[i-1].Key >= there[i].Key {
				t.Fatalf("keys %q and %q are not in order", there[i-1].Key, there[i].Key)
			}
		}
		again := open(t, build(t, 16, there))
		if diff := cmp.Diff(there, forward(again.NewIter())); diff != "" {
			t.Errorf("written again (-first +second):\n%s", diff)
		}
	})
}
