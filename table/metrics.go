package table

import "sync/atomic"

// Metrics count what lookups and iterators of Readers do; opening a table and
// Verify are not counted. All counts only grow, and may be read at any time.
//
// The filters spared as many searches of a data block as FilterNegatives says.
// Without a Cache each would have been a read; with one, it is the CacheHits that
// were none. Where only lookups ask filters, and by whole keys, FilterFalsePositives
// are the searches that they failed to spare.
type Metrics struct {
	Lookups              atomic.Uint64 // Gets, AppendGets and Finds
	FilterChecks         atomic.Uint64 // how often a filter was checked for a key: those of data blocks, and those of whole tables
	FilterNegatives      atomic.Uint64 // checks that were answered "certainly absent"
	TableFilterNegatives atomic.Uint64 // those of them that the whole table's filter answered, before the index was searched
	FilterFalsePositives atomic.Uint64 // data blocks that lookups went into in vain, as filters had answered "may contain": wrongly or, for Find, of other versions
	DataBlocks           atomic.Uint64 // data blocks read, by lookups and iterators, or failed to
	BytesRead            atomic.Uint64 // bytes these take in the file, trailers included
	CacheHits            atomic.Uint64 // data blocks, of lookups and iterators, that were in the Cache
	CacheMisses          atomic.Uint64 // and those that were not
	CacheEvictions       atomic.Uint64 // data blocks of these Readers that gave way to others in the Cache
}

// countFilterCheck counts what a filter answered.
func (m *Metrics) countFilterCheck(mayContain bool) {
	m.FilterChecks.Add(1)
	if !mayContain {
		m.FilterNegatives.Add(1)
	}
}
