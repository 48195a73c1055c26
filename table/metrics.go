package table

import (
	"fmt"
	"sync/atomic"
)

// Metrics count what lookups and iterators of Readers do. Opening a table and Verify are
// not counted. Counts only grow, and may be read at any time: see Snapshot. The zero value
// is ready to use.
type Metrics struct {
	// Lookups counts calls of Get, AppendGet and Find.
	Lookups atomic.Uint64

	// FilterChecks counts how often a filter was checked for a key: that of a data
	// block, or that of the whole table.
	FilterChecks atomic.Uint64

	// FilterNegatives counts the checks that answered "certainly absent". Each saved
	// the search of a data block and, without a Cache, reading it.
	FilterNegatives atomic.Uint64

	// TableFilterNegatives counts those of the FilterNegatives that came from the
	// filter of the whole table, before the index was searched.
	TableFilterNegatives atomic.Uint64

	// FilterFalsePositives counts the data blocks that lookups searched in vain after
	// filters had answered "may be there". For Find, the answer may have been right,
	// and of another version of the key.
	FilterFalsePositives atomic.Uint64

	// DataBlocks counts the data blocks that were read, also where reading failed.
	DataBlocks atomic.Uint64

	// BytesRead counts the bytes that these take in the file, with their trailers.
	BytesRead atomic.Uint64

	// CacheHits counts the data blocks that were in the Cache.
	CacheHits atomic.Uint64

	// CacheMisses counts the data blocks that were not.
	CacheMisses atomic.Uint64

	// CacheEvictions counts data blocks of these Readers that the Cache dropped to make
	// room for others.
	CacheEvictions atomic.Uint64
}

// countFilterCheck counts what a filter answered.
func (m *Metrics) countFilterCheck(mayContain bool) {
	m.FilterChecks.Add(1)
	if !mayContain {
		m.FilterNegatives.Add(1)
	}
}

// A MetricsSnapshot has the counts of Metrics at one time. Its fields are named like those
// of Metrics.
type MetricsSnapshot struct {
	Lookups                                    uint64
	FilterChecks, FilterNegatives              uint64
	TableFilterNegatives, FilterFalsePositives uint64
	DataBlocks, BytesRead                      uint64
	CacheHits, CacheMisses, CacheEvictions     uint64
}

// Snapshot returns the counts. It reads them one after the other: of lookups that are
// under way meanwhile, some counts may be in it and others not.
func (m *Metrics) Snapshot() MetricsSnapshot {
	return MetricsSnapshot{
		Lookups:              m.Lookups.Load(),
		FilterChecks:         m.FilterChecks.Load(),
		FilterNegatives:      m.FilterNegatives.Load(),
		TableFilterNegatives: m.TableFilterNegatives.Load(),
		FilterFalsePositives: m.FilterFalsePositives.Load(),
		DataBlocks:           m.DataBlocks.Load(),
		BytesRead:            m.BytesRead.Load(),
		CacheHits:            m.CacheHits.Load(),
		CacheMisses:          m.CacheMisses.Load(),
		CacheEvictions:       m.CacheEvictions.Load(),
	}
}

// String returns the counts in one line.
func (s MetricsSnapshot) String() string {
	return fmt.Sprintf("%d lookups; %d filter checks, %d negative (%d by table filters), %d false positives; "+
		"%d data blocks read, %d bytes; cache: %d hits, %d misses, %d evictions",
		s.Lookups, s.FilterChecks, s.FilterNegatives, s.TableFilterNegatives, s.FilterFalsePositives,
		s.DataBlocks, s.BytesRead, s.CacheHits, s.CacheMisses, s.CacheEvictions)
}
