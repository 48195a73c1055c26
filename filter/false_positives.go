package filter

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
)

// FalsePositives keeps the most frequent keys passed to Add. To collect a table's false positives, set
// OnFalsePositive of table.ReaderOptions to Add. The zero value is ready to use, and safe for concurrent use. Keys
// more frequent than 1 in Most+1 are kept (Misra and Gries, 1982), up to 1 KiB each.
type FalsePositives struct {
	// Most is the maximum number of keys, each of up to 1.2 KiB of memory. Zero means 1000.
	Most int

	mu     sync.Mutex
	counts map[string]*uint64 // by key; each is >= 1
}

// maxCountedKey is the maximum length of a key that FalsePositives keeps.
const maxCountedKey = 1 << 10

// Add counts a key, and copies it if it is kept.
func (f *FalsePositives) Add(key []byte) {
	if len(key) > maxCountedKey {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := f.counts[string(key)]; {
	case n != nil:
		*n++
	case len(f.counts) < cmp.Or(f.Most, 1000):
		if f.counts == nil {
			f.counts = map[string]*uint64{}
		}
		one := uint64(1)
		f.counts[string(key)] = &one
	default: // with the new key, which is not added, this cancels Most+1 occurrences of different keys
		maps.DeleteFunc(f.counts, func(_ string, n *uint64) bool {
			*n--
			return *n == 0
		})
	}
}

// Keys returns the keys, the most frequent first, for Except of table.Reader. The errors are nil, and the keys belong
// to the caller.
func (f *FalsePositives) Keys() iter.Seq2[[]byte, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(f.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(*f.counts[b], *f.counts[a]), cmp.Compare(a, b))
	})
	return func(yield func([]byte, error) bool) {
		for _, key := range keys {
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
}
