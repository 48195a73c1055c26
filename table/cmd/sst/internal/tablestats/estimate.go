package tablestats

// An Estimate of the settings that a table was written with comes from its data blocks. With
// these settings, a Writer completes blocks and places restart points as in the table.
type Estimate struct {
	// BlockSize is the size of the smallest data block before compression, without the last
	// one: all others were complete when they had at least the block size. 0: there is only
	// the last block.
	BlockSize int

	// RestartInterval is the most entries per restart point of a block, rounded up. It is
	// smaller than the real one if no block has two restart points.
	RestartInterval int
}

// Add adds a block that is not damaged. last says that it is the last one of the table.
func (e *Estimate) Add(b Block, last bool) {
	if !last && (e.BlockSize == 0 || b.Raw < e.BlockSize) {
		e.BlockSize = b.Raw
	}
	if n := b.RestartPoints; n > 0 {
		e.RestartInterval = max(e.RestartInterval, (b.Entries+n-1)/n)
	}
}
