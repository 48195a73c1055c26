package tablestats

// An Estimate of the settings that a table was written with comes from its data blocks. With
// these settings, a Writer completes blocks and places restart points as in the table.
type Estimate struct {
	// BlockSize is the size of the smallest data block before compression, without the last
	// one: all others were complete when they had at least the block size. 0: there is only
	// one block.
	BlockSize int

	// RestartInterval is the most entries per restart point of a block, rounded up. It is
	// smaller than the real one if no block has two restart points.
	RestartInterval int

	last int // size of the last block
}

func (e *Estimate) add(b Block) {
	if e.last > 0 && (e.BlockSize == 0 || e.last < e.BlockSize) {
		e.BlockSize = e.last
	}
	e.last = b.Raw
	if n := b.RestartPoints; n > 0 {
		e.RestartInterval = max(e.RestartInterval, (b.Entries+n-1)/n)
	}
}
