package fuse

import (
	"fmt"

	"github.com/zeebo/xxh3"
)

// batchSize is the number of keys that ContainsMany hashes before it reads the first fingerprint.
const batchSize = 64

// ContainsMany sets results[i] to Contains(keys[i]): see [filter.TableFilter].
func (f *openFilter) ContainsMany(keys [][]byte, results []bool) {
	if len(keys) != len(results) {
		panic(fmt.Sprintf("fuse: ContainsMany: %d keys but %d results", len(keys), len(results)))
	}
	var batch [batchSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), batchSize)
		for i, key := range keys[:n] {
			batch[i] = mix(xxh3.Hash(key) + f.seed)
		}
		f.containsMixed(batch[:n], results)
		keys, results = keys[n:], results[n:]
	}
}

// containsMixed looks up keys by their mixed hashes. The loops repeat the code of Contains, since a call would take
// longer than the lookup.
func (f *openFilter) containsMixed(mixed []uint64, results []bool) {
	switch f.bits {
	case 8:
		for n, h := range mixed {
			i, j, k := f.places(h)
			results[n] = byte(h^h>>32)^f.contents[i]^f.contents[j]^f.contents[k] == 0
		}
	case 16:
		for n, h := range mixed {
			i, j, k := f.places(h)
			results[n] = uint16(h^h>>32)^word(f.contents, i)^word(f.contents, j)^word(f.contents, k) == 0
		}
	default:
		for n, h := range mixed {
			results[n] = (uint16(h^h>>32)^f.xor(f.places(h)))&f.mask == 0
		}
	}
}
