package table

import (
	"fmt"
	"sync/atomic"
)

// Metrics count the work of lookups and iterators: set [ReaderOptions].Metrics. Opening a table and Verify do not
// count. The zero value is ready to use. Metrics are safe for concurrent use.
type Metrics struct {
	Lookups              atomic.Uint64 // calls of Get, AppendGet, Find, AppendFind, FindGE and MayContain, and keys of GetMany
	FilterChecks         atomic.Uint64 // checks of a block filter or the table filter
	FilterNegatives      atomic.Uint64 // FilterChecks that ruled the key out
	TableFilterNegatives atomic.Uint64 // FilterNegatives of table filters, which also saved the search of the index
	FilterFalsePositives atomic.Uint64 // data blocks searched in vain after a filter check; with Find, other versions count too
	BlocksRead           atomic.Uint64 // data blocks read from the file, including failed reads
	FilterPagesRead      atomic.Uint64 // pages of paged filters read
	FilterPageErrors     atomic.Uint64 // lookups whose page could not be read or was corrupt
	BytesRead            atomic.Uint64 // bytes of BlocksRead in the file
	CacheHits            atomic.Uint64 // data blocks found in the Cache
	CacheMisses          atomic.Uint64 // data blocks not found in the Cache; a block can count several times in GetMany
	CacheEvictions       atomic.Uint64 // data blocks of these Readers that the Cache removed
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

// String returns the counts in one line.
func (m *Metrics) String() string {
	return fmt.Sprintf("%d lookups; %d filter checks, %d negative (%d by table filters), %d false positives; "+
		"%d data blocks read, %d bytes; cache: %d hits, %d misses, %d evictions",
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load(),
		m.BlocksRead.Load(), m.BytesRead.Load(), m.CacheHits.Load(), m.CacheMisses.Load(), m.CacheEvictions.Load())
}
