package table

import "sync/atomic"

// Metrics count what lookups and iterators of Readers do; opening a table and
// Verify are not counted. All counts only grow, and may be read at any time.
//
// The filter spared Lookups as many searches of a data block as FilterNegatives
// says, and failed to spare FilterFalsePositives of them. Without a Cache each
// would have been a read; with one, it is the CacheHits that were none.
type Metrics struct {
	Lookups              atomic.Uint64 // Gets, AppendGets and Finds
	FilterQuestions      atomic.Uint64 // questions to filters, those by data blocks and those of whole tables
	FilterNegatives      atomic.Uint64 // questions answered "certainly absent"
	TableFilterNegatives atomic.Uint64 // those of them that the whole table's filter answered, before the index was searched
	FilterFalsePositives atomic.Uint64 // data blocks looked into in vain, as filters were asked and answered "may contain"
	DataBlocks           atomic.Uint64 // data blocks read, by lookups and iterators, or failed to
	BytesRead            atomic.Uint64 // bytes these take in the file, trailers included
	CacheHits            atomic.Uint64 // data blocks, of lookups and iterators, that were in the Cache
	CacheMisses          atomic.Uint64 // and those that were not
	CacheEvictions       atomic.Uint64 // data blocks of these Readers that gave way to others in the Cache
}
