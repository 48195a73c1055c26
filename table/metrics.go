package table

import "sync/atomic"

// Metrics count what Readers do. All counts only grow, and may be read at any
// time. The filter spared Lookups as many data-block reads as FilterNegatives
// says, and failed to spare FilterFalsePositives of them.
type Metrics struct {
	Lookups              atomic.Uint64 // Gets and AppendGets
	FilterQuestions      atomic.Uint64 // lookups that asked a filter
	FilterNegatives      atomic.Uint64 // questions answered "certainly absent"
	FilterFalsePositives atomic.Uint64 // questions answered "may contain" for a key that was absent
	DataBlocks           atomic.Uint64 // data blocks read, by lookups and iterators
	BytesRead            atomic.Uint64 // bytes these took in the file, trailers included
	CacheHits            atomic.Uint64 // data blocks, of lookups and iterators, that were in the Cache
	CacheMisses          atomic.Uint64 // and those that were not
	CacheEvictions       atomic.Uint64 // data blocks that gave way to others in the Cache
}
