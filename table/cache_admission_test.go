package table_test

import (
	"testing"

	"github.com/sievetable/sievetable/table"
)

// A full Cache takes few of the blocks that are read once, and those that are read again and
// again get in. When it has space again, it takes all.
func TestFullCacheAdmitsFewBlocks(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.NewCache(200_000)
	pairs := numbered(20_000)
	contents := build(t, nil, pairs) // of which the Cache holds a fifth
	r := open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &m})
	get := func(i int) {
		t.Helper()
		if _, err := r.Get(pairs[i%len(pairs)].Key); err != nil {
			t.Fatal(err)
		}
	}
	const reads = 5000
	for i := range reads {
		get(i * 7919)
	}
	if misses, evictions := m.CacheMisses.Load(), m.CacheEvictions.Load(); evictions < misses/16 || evictions > misses/4 {
		t.Errorf("%d of %d blocks that were read have evicted others, want about an eighth", evictions, misses)
	}
	before := m.DataBlocks.Load()
	for range 200 {
		for i := range 10 {
			get(i * 1500)
		}
	}
	if n := m.DataBlocks.Load() - before; n > 10*40 {
		t.Errorf("10 blocks that are read 200 times were read from the file %d times", n)
	}
	before = m.DataBlocks.Load()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &m})
	for range 2 {
		for i := range 10 {
			get(i * 1500)
		}
	}
	if n := m.DataBlocks.Load() - before; n != 10 {
		t.Errorf("an empty Cache: 10 blocks were read from the file %d times", n)
	}
}
