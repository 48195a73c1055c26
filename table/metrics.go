package table

import (
	"fmt"
	"sync/atomic"
)

// Metrics count what the lookups and iterators of Readers do: set ReaderOptions.Metrics. Opening a table and
// Verify do not count. The zero value is ready to use. Metrics are safe for concurrent use.
type Metrics struct {
	// Lookups counts calls of Get, AppendGet, Find, AppendFind, FindGE and MayContain, and the keys of GetMany.
	Lookups atomic.Uint64

	// FilterChecks counts how often a filter was consulted for a key: a block filter or the table filter.
	FilterChecks atomic.Uint64

	// FilterNegatives counts the FilterChecks that ruled the key out. Each saved the search of a data block
	// and, unless that was in a Cache, a read.
	FilterNegatives atomic.Uint64

	// TableFilterNegatives counts the FilterNegatives of table filters. Each also saved the search of the
	// index.
	TableFilterNegatives atomic.Uint64

	// FilterFalsePositives counts the data blocks that lookups searched without a result after a filter had
	// been consulted. With Find the filter can be right nevertheless: the block may have another version of
	// the key. With Get, and one filter in the table, the false-positive rate is
	// FilterFalsePositives / (FilterFalsePositives + FilterNegatives).
	FilterFalsePositives atomic.Uint64

	// BlocksRead counts the data blocks that were read from the file, including those whose
	// read failed. Several of them can have taken one read.
	BlocksRead atomic.Uint64

	// FilterPagesRead counts the pages of table filters that were read, each of which lookups then checked.
	FilterPagesRead atomic.Uint64

	// FilterPageErrors counts the lookups whose page could not be read or was corrupt. In a table with keys, they
	// read a data block instead.
	FilterPageErrors atomic.Uint64

	// BytesRead counts the bytes of these blocks in the file, with their trailers.
	BytesRead atomic.Uint64

	// CacheHits counts the data blocks that were found in the Cache.
	CacheHits atomic.Uint64

	// CacheMisses counts the data blocks that were not found in the Cache. GetMany looks up all its keys
	// before it reads any block, so a block can count several times.
	CacheMisses atomic.Uint64

	// CacheEvictions counts the data blocks of these Readers that the Cache removed to
	// add others.
	CacheEvictions atomic.Uint64
}

// countFilterCheck counts a check of a filter and its result.
func (m *Metrics) countFilterCheck(mayContain, wholeTable bool) {
	m.FilterChecks.Add(1)
	if mayContain {
		return
	}
	m.FilterNegatives.Add(1)
	if wholeTable {
		m.TableFilterNegatives.Add(1)
	}
}

// String returns the counts in one line. It reads them one after the other, so a lookup that runs meanwhile may be in
// some of them only.
func (m *Metrics) String() string {
	return fmt.Sprintf("%d lookups; %d filter checks, %d negative (%d by table filters), %d false positives; "+
		"%d data blocks read, %d bytes; cache: %d hits, %d misses, %d evictions",
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load(),
		m.BlocksRead.Load(), m.BytesRead.Load(), m.CacheHits.Load(), m.CacheMisses.Load(), m.CacheEvictions.Load())
}
