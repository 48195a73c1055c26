// Package filterblock locates filters in a filter block, for packages filter and table.
package filterblock

// A Span is the location of a data block's filter in the filter block. Get it once with filter.BlockReader.Span and
// store it to check many keys of one data block: finding it takes about as long as ContainsInSpan.
type Span struct{ Start, Limit uint32 }

// NoFilter is the Span of a data block that has no filter, or one with corrupt offsets.
var NoFilter = Span{1, 0}
