package filter

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
)

var _ BatchFilter = &tableBloomFilter{}

// batchSize is how many keys of ContainsMany are hashed before the first line is read.
const batchSize = 64

// ContainsMany asks for many keys: see [BatchFilter]. The first bit of each is read before the others are,
// so that the processor fetches several lines at a time.
func (f *tableBloomFilter) ContainsMany(keys [][]byte, results []bool) {
	if len(keys) != len(results) {
		panic(fmt.Sprintf("filter: ContainsMany of %d keys has %d results, want as many", len(keys), len(results)))
	}
	var batch [batchSize]uint32
	for len(keys) > 0 {
		n := min(len(keys), batchSize)
		for i, key := range keys[:n] {
			batch[i] = bloom.Hash(key, bloom.SignedTail)
		}
		for i, h := range batch[:n] {
			results[i] = word(f.line(h), h)>>(h&63)&1 != 0
		}
		for i, h := range batch[:n] {
			results[i] = results[i] && f.mayContain(h)
		}
		keys, results = keys[n:], results[n:]
	}
}
