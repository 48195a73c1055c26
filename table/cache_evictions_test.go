package table_test

import (
	"testing"

	"github.com/sievetable/sievetable/table"
)

// When a Reader is opened, its table is added to the Cache. What is not in the Cache any more then
// was evicted, also the blocks of evicted tables.
func TestEvictionsAreCounted(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.NewCache(30_000)
	o := &table.ReaderOptions{Cache: c, CacheIndexAndFilters: true, Metrics: &m}
	contents := build(t, withBloom, numbered(150))
	it := open(t, contents, o).NewIter(nil)
	defer it.Close()
	for range 100 {
		forward(t, it) // uses the blocks, and not the table, which is then evicted first
		before := c.Metrics()
		open(t, contents, o)
		after := c.Metrics()
		want := uint64(before.Blocks + before.Tables + 1 - after.Blocks - after.Tables)
		if got := after.Evictions - before.Evictions; got != want || m.CacheEvictions.Load() != after.Evictions {
			t.Errorf("%d evictions, want %d; %d of the Readers, want %d", got, want, m.CacheEvictions.Load(), after.Evictions)
		}
	}
	if n := c.Metrics().Evictions; n < 20 {
		t.Errorf("%d evictions, want ≥ 20", n)
	}
}
