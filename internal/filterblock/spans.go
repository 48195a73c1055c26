// Package filterblock has the positions of filters in a filter block, for packages filter and table.
package filterblock

// A Span is where the filter of a data block is in the filter block. Get it once with
// filter.BlockReader.Span and store it to check many keys of one data block: finding it
// takes about as long as ContainsInSpan.
type Span struct{ Start, Limit uint32 }

// NoFilter is the Span of a data block that has no filter, or one with corrupt offsets.
var NoFilter = Span{1, 0}
