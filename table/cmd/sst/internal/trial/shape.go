package trial

import (
	"encoding/binary"
	"math/bits"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// A shape shows with which block size and restart interval a table was written.
type shape struct {
	tablestats.Estimate

	growing int // the most bytes of a block before its last entry, when it was not complete yet
	most    int // the largest restart interval that gives so many restart points, if bounded
	bounded bool
}

// add adds a block. last says that it is the last one of the table.
func (s *shape) add(b tablestats.Block, last bool) {
	s.Estimate.Add(b, last)
	if b.Iter.Last() {
		s.growing = max(s.growing, b.Raw-lastEntryLen(b))
	}
	if b.RestartPoints > 1 {
		most := (b.Entries - 1) / (b.RestartPoints - 1)
		if !s.bounded || most < s.most {
			s.most, s.bounded = most, true
		}
	}
}

// lastEntryLen returns how many bytes the last entry of a block takes, which b.Iter is on.
func lastEntryLen(b tablestats.Block) int {
	shared, value := b.Iter.Shared(), len(b.Iter.Value())
	rest := len(b.Iter.Key()) - shared
	n := rest + value
	for _, length := range []int{shared, rest, value} {
		n += len(binary.AppendUvarint(nil, uint64(length)))
	}
	return n
}

// defaultBlockSize and defaultRestartInterval are what engines use if nobody says otherwise.
const (
	defaultBlockSize       = 4096
	defaultRestartInterval = 16
)

// blockSize returns the power of two that gives these blocks, if there is one, or else the
// size of the smallest.
func (s *shape) blockSize() int {
	if s.BlockSize == 0 { // any size > growing gives a single block
		return max(defaultBlockSize, min(1<<bits.Len(uint(s.growing)), maxBlockSize))
	}
	if power := 1 << (bits.Len(uint(s.BlockSize)) - 1); power > s.growing {
		return min(power, maxBlockSize)
	}
	return min(s.BlockSize, maxBlockSize)
}

// restartInterval returns the default if that gives these restart points, or else the least
// interval that gives so few.
func (s *shape) restartInterval() int {
	if s.RestartInterval <= defaultRestartInterval && (!s.bounded || defaultRestartInterval <= s.most) {
		return defaultRestartInterval
	}
	return min(s.RestartInterval, maxRestartInterval)
}
