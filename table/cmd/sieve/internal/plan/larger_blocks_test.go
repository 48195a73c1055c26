package plan

import "testing"

// Larger blocks are tried only while a table has several.
func TestLargerBlocksOfSmallTables(t *testing.T) {
	for entries, want := range map[uint64]int{1: 1, 1000: 4, 0: 9} { // 4 KiB, up to 32 KiB, up to 1 MiB
		q := Query{Keys: 1e6, Rate: 1e-6, KeySize: 16, Compression: 1, BlockSize: 4096, TableSize: 4 << 30, EntriesPerTable: entries}
		calls := 0
		_, _, err := q.findWithLarger(func(q Query) (Option, error) {
			calls++
			return q.option(newDesign(10, tableFilter{}, q.BlockSize)), nil // never reaches the rate
		})
		if err != nil || calls != want {
			t.Errorf("--entries-per-table %d: %d block sizes, %v, want %d", entries, calls, err, want)
		}
	}
}
