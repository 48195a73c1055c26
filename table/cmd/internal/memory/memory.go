// Package memory divides the memory that --memory allows, makes the process keep to it, and checks whether large
// memory can be had before it is taken.
package memory

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Limit is the value of --memory. A command uses about this much memory at most, and up
// to 64 MiB more.
type Limit int64

// MinLimit is the smallest limit. With less, the fixed costs of sorting and compression are
// more than the limit.
const MinLimit Limit = 32 << 20

const (
	pairShare  = 16 // a pair is in memory several times: as text, in blocks, compressed
	indexShare = 2
	fileShare  = 4 // blocks found in a file take about as much memory again
	sortShare  = 4 // the pairs that are being read need memory too

	minPair = 2 << 20 // a pair may have as much, whatever the limit is
	maxPair = 1 << 30 // a table takes no larger pairs

	// A goroutine that compresses blocks has an encoder, and several blocks before and
	// after compression.
	workerMemory = 32 << 20
	workerBlocks = 16

	// gcHeadroom is added to the limit of the garbage collector. The rest of the 64 MiB
	// is used by the program itself.
	gcHeadroom = 36 << 20
)

// DefaultLimit is the Limit without --memory, if there is so much memory.
const DefaultLimit Limit = 1 << 30

// overhead is how much more than its Limit a command uses at most.
const overhead = 64 << 20

// Usual returns the Limit without --memory: DefaultLimit, or as much as there is.
func Usual() (Limit, error) {
	l := min(DefaultLimit, Limit(min(Left(), math.MaxInt64))-overhead)
	return l, max(l, MinLimit).Check()
}

// Check returns an error if there is not so much memory.
func (l Limit) Check() error {
	do := "raise the limit"
	if most := int64(min(Left(), math.MaxInt64)) - overhead; most >= int64(MinLimit) {
		do = fmt.Sprintf("use --memory %dMiB, or raise the limit", most>>20)
	}
	return Check(fmt.Sprintf("%s with --memory %dMiB", text.Program, l>>20), uint64(l)+overhead, do)
}

// Apply sets the memory limit of the garbage collector until release is called.
func (l Limit) Apply() (release func()) {
	return hold(min(debug.SetMemoryLimit(-1), int64(l)+gcHeadroom)) // GOMEMLIMIT may be lower
}

// hold sets the memory limit of Go's runtime until release is called.
func hold(limit int64) (release func()) {
	before := debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(before) }
}

// MaxPair is the maximum size of a line, of a file that becomes a value, and of a block.
func (l Limit) MaxPair() int { return int(min(l/pairShare+minPair, maxPair)) }

// SortMemory is how much memory the sorting of pairs may use.
func (l Limit) SortMemory() int64 { return int64(l / sortShare) }

// MaxWorkers is how many goroutines may compress blocks of this size.
func (l Limit) MaxWorkers(blockSize int) int {
	each := max(workerMemory, workerBlocks*Limit(blockSize))
	return int(max(1, min(l/each, 1024)))
}

// CheckPair returns an error if size > MaxPair.
func (l Limit) CheckPair(size int64) error {
	if size > maxPair {
		return fmt.Errorf("%d bytes, want < %d, the limit of a pair in a table", size, maxPair)
	}
	if size > int64(l.MaxPair()) {
		return fmt.Errorf("%d bytes, want at most %d, which is 1/16 of --memory plus 2 MiB: %s", size, l.MaxPair(), suggestLimit(size-minPair, pairShare))
	}
	return nil
}

// CheckFile returns an error if a file of this size must not be read into memory.
func (l Limit) CheckFile(size int64) error {
	if most := int64(l / fileShare); size > most {
		return fmt.Errorf("%d bytes, want at most %d, which is 1/4 of --memory: %s", size, most, suggestLimit(size, fileShare))
	}
	return nil
}

// CheckIndex returns an error if an index of this size is too large. The Writer has up to
// two copies of it.
func (l Limit) CheckIndex(size int64) error {
	if most := int64(l / indexShare); size > most {
		return fmt.Errorf("the index of the table has > %d bytes, which is 1/2 of --memory: use a larger --block-size or --memory", most)
	}
	return nil
}

// suggestLimit says which --memory has a share of this size.
func suggestLimit(size, part int64) string {
	return fmt.Sprintf("use --memory %dMiB", (size-1)/(1<<20/part)+1)
}

// LongLineError is the error for a line longer than MaxPair, whose full length is unknown.
func (l Limit) LongLineError() error {
	if l.MaxPair() == maxPair {
		return l.CheckPair(maxPair + 1)
	}
	return fmt.Errorf("longer than %d bytes, which is 1/16 of --memory plus 2 MiB: use a --memory of 16 times the line", l.MaxPair())
}
