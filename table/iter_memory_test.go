package table_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// An Iter that is closed leaves its memory to the next one: a seek takes none.
func TestIterAllocations(t *testing.T) {
	pairs := numbered(10_000)
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		contents := build(t, &table.WriterOptions{Compression: codec}, pairs)
		for name, o := range map[string]*table.ReaderOptions{
			"no cache": nil, "a full cache": {Cache: table.NewCache(1 << 30)}, "a small cache": {Cache: table.NewCache(1)},
		} {
			r := open(t, contents, o)
			i := 0
			got := testing.AllocsPerRun(500, func() {
				i += 97
				it := r.NewIter(&table.IterOptions{ReadAhead: 20_000 + i%1000})
				for ok, n := it.SeekGE(pairs[i%len(pairs)].Key), 0; ok && n < 400; n++ {
					ok = it.Next()
				}
				if err := it.Close(); err != nil {
					t.Error(err)
				}
			})
			if got > 0 && !long.Race && name != "a full cache" { // which has to be filled first
				t.Errorf("%s, %s: a seek allocates %v times", fmt.Sprint(codec.ID()), name, got)
			}
		}
	}
}

// Iters that take their memory from others, and lookups beside them, see the right entries, also
// after blocks that are too large to be kept.
func TestItersShareNoMemory(t *testing.T) {
	t.Parallel()
	small, large := numbered(500), numbered(30)
	for i := range large {
		large[i].Value = bytes.Repeat([]byte{byte(i)}, 400_000)
	}
	readers := []*table.Reader{open(t, build(t, nil, small), nil), open(t, build(t, nil, large), nil)}
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for round := range 6 {
				pairs, r := small, readers[0]
				if (u+round)%3 == 0 {
					pairs, r = large, readers[1]
				}
				it, other := r.NewIter(nil), r.NewIter(nil)
				i := u
				for ok := it.SeekGE(pairs[i].Key); ok; ok = it.Next() {
					if !other.SeekGE(pairs[i].Key) || !bytes.Equal(it.Value(), pairs[i].Value) || !bytes.Equal(other.Value(), pairs[i].Value) {
						t.Errorf("entry %d: %.40q and %.40q", i, it.Value(), other.Value())
					}
					i++
				}
				if i != len(pairs) || it.Close() != nil || other.Close() != nil || it.Next() {
					t.Errorf("%d entries, want %d, and nothing after Close", i, len(pairs))
				}
			}
		})
	}
	users.Wait()
}

// An Iter that has not moved can be copied into memory that is used again and again.
func TestIterIsCopied(t *testing.T) {
	pairs := numbered(1000)
	r := open(t, build(t, nil, pairs), &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
	var it table.Iter
	o := table.IterOptions{DontFillCache: true}
	for _, p := range pairs[:2] {
		it = *r.NewIter(&o)
		if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !it.Last() || !it.Prev() {
			t.Errorf("at %q, %v", it.Key(), it.Error())
		}
		if err := it.Close(); err != nil || it.Next() || it.Error() != table.ErrClosed {
			t.Errorf("%v, after Close %v", err, it.Error())
		}
	}
	if got := testing.AllocsPerRun(100, func() {
		it = *r.NewIter(&o)
		it.SeekGE(pairs[500].Key)
		it.Close()
	}); got > 0 && !long.Race {
		t.Errorf("%v allocations for each Iter", got)
	}
}
