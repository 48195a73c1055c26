package table_test

import (
	"testing"

	"github.com/sievetable/sievetable/table"
)

// All that has been added to a Cache is in it or was evicted, also the blocks of evicted tables.
func TestEvictionsAreCounted(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.NewCache(30_000)
	readers, pairs := tenTables(t, c, &m)
	for i, r := range readers {
		for _, p := range pairs[i] {
			if _, err := r.Get(p.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := c.Metrics()
	added := got.Misses + m.Reopens.Load() + uint64(len(readers))
	if left := uint64(got.Blocks + got.Tables); added != got.Evictions+left || got.Evictions != m.CacheEvictions.Load() {
		t.Errorf("%d were added, and %d are left: %d evictions, %d of the Readers", added, left, got.Evictions, m.CacheEvictions.Load())
	}
}
