// Package memory divides what --memory says, and holds the process to it.
package memory

import (
	"fmt"
	"runtime/debug"
)

// A Limit is what --memory says. A command takes about as much at most, and up to 64 MiB
// beside it.
type Limit int64

const (
	pairShare  = 16 // a pair is there several times: as text, in blocks, compressed
	indexShare = 2
	fileShare  = 4 // what is found in a file takes about as much again
	sortShare  = 4 // a pair may be there beside the others that are sorted

	minPair = 2 << 20 // may be taken whatever the limit is, and what part of that
	maxPair = 1 << 30 // is more than a table takes

	// A goroutine that compresses has an encoder, and some blocks under way, before and
	// after they are compressed.
	workerMemory = 32 << 20
	workerBlocks = 16

	// gcHeadroom is what the garbage collector leaves gcHeadroom the limit. The rest of the 64 MiB
	// is the program's own.
	gcHeadroom = 36 << 20
)

// Apply has the garbage collector keep to the limit, as far as what is in use allows,
// until release is called.
func (l Limit) Apply() (release func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(l)+gcHeadroom)) // GOMEMLIMIT may say less
	return func() { debug.SetMemoryLimit(before) }
}

// MaxPair is how many bytes a line, a file that becomes a value, and a block may have.
func (l Limit) MaxPair() int { return int(min(l/pairShare+minPair, maxPair)) }

// SortMemory is how much memory the sorting of pairs takes.
func (l Limit) SortMemory() int64 { return int64(l / sortShare) }

// MaxWorkers is how many goroutines may compress blocks of this size.
func (l Limit) MaxWorkers(blockSize int) int {
	each := max(workerMemory, workerBlocks*Limit(blockSize))
	return int(max(1, min(l/each, 1024)))
}

// CheckPair returns an error if size is over Pair.
func (l Limit) CheckPair(size int64) error {
	if size > maxPair {
		return fmt.Errorf("%d bytes, want < %d, the limit of a pair in a table", size, maxPair)
	}
	if size > int64(l.MaxPair()) {
		return fmt.Errorf("%d bytes, want at most %d, which is 1/16 of --memory plus 2 MiB: %s", size, l.MaxPair(), suggestLimit(size-minPair, pairShare))
	}
	return nil
}

// CheckFile returns an error if a file of this size may not be taken into memory.
func (l Limit) CheckFile(size int64) error {
	if most := int64(l / fileShare); size > most {
		return fmt.Errorf("%d bytes, want at most %d, which is 1/4 of --memory: %s", size, most, suggestLimit(size, fileShare))
	}
	return nil
}

// CheckIndex returns an error if size is more than the index of a table may have, which the
// Writer holds up to twice.
func (l Limit) CheckIndex(size int64) error {
	if most := int64(l / indexShare); size > most {
		return fmt.Errorf("the index of the table has > %d bytes, which is 1/2 of --memory: use a larger --block-size or --memory", most)
	}
	return nil
}

// suggestLimit says which limit has a part of this size.
func suggestLimit(size, part int64) string {
	return fmt.Sprintf("use --memory %dMiB", (size-1)/(1<<20/part)+1)
}

// LongLineError is the error for a line of more than Pair bytes, whose end was not seen.
func (l Limit) LongLineError() error {
	if l.MaxPair() == maxPair {
		return l.CheckPair(maxPair + 1)
	}
	return fmt.Errorf("longer than %d bytes, which is 1/16 of --memory plus 2 MiB: use a --memory of 16 times the line", l.MaxPair())
}
