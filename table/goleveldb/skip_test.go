package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Iterators continue after corrupt blocks unless they are strict, like goleveldb's, and pass the errors to the
// callback.
func TestDamagedBlocks(t *testing.T) {
	t.Parallel()
	c := tableCase{o: opt.Options{Filter: lfilter.NewBloomFilter(10), BlockSize: 300, Compression: opt.NoCompression, Strict: opt.StrictBlockChecksum}}
	entries := c.entries(60)
	sound := theirTable(t, &c.o, entries)
	for _, at := range []int{0, len(sound) / 5, len(sound) / 2, 3 * len(sound) / 5} {
		damaged := bytes.Clone(sound)
		damaged[at] ^= 1
		theirs, ours := openBoth(t, damaged, &c.o)
		for _, ro := range []*opt.ReadOptions{nil, {Strict: opt.StrictReader}, {Strict: opt.StrictOverride}, {Strict: opt.StrictOverride | opt.StrictReader}} {
			var walks [2][]string
			for i, r := range []reader{theirs, ours} {
				it := r.NewIterator(nil, ro)
				see := func(what string) { walks[i] = append(walks[i], what) }
				it.(iterator.ErrorCallbackSetter).SetErrorCallback(func(err error) { see("told of " + errorKind(err)) })
				walk(it, see, entries[len(entries)/5].key)
				it.Release()
			}
			if diff := cmp.Diff(walks[0], walks[1]); diff != "" {
				t.Errorf("byte %d is corrupt, %+v (-want +got):\n%s", at, ro, diff)
			}
		}
	}
}

// walk moves an iterator to a key, forward to the end, back to the start, and to both ends. see is called with each
// position, and with Error.
func walk(it iterator.Iterator, see func(string), key []byte) {
	here := func(found bool) bool {
		see(fmt.Sprintf("%v %q", found, it.Key()))
		return found
	}
	here(it.Seek(key))
	for here(it.Next()) {
	}
	for here(it.Prev()) {
	}
	here(it.First())
	here(it.Last())
	see(errorKind(it.Error()))
}
