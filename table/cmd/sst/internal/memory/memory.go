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
	pairPart  = 16 // a pair is there several times: as text, in blocks, compressed
	indexPart = 2
	filePart  = 4 // what is found in a file takes about as much again
	sortPart  = 4 // a pair may be there beside the others that are sorted

	leastPair = 2 << 20 // may be taken whatever the limit is, and what part of that
	mostPair  = 1 << 30 // is more than a table takes

	// A goroutine that compresses has an encoder, and some blocks under way, before and
	// after they are compressed.
	workerPart   = 32 << 20
	workerBlocks = 16

	// beside is what the garbage collector leaves beside the limit. The rest of the 64 MiB
	// is the program's own.
	beside = 36 << 20
)

// Hold has the garbage collector keep to the limit, as far as what is in use allows,
// until release is called.
func (l Limit) Hold() (release func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(l)+beside)) // GOMEMLIMIT may say less
	return func() { debug.SetMemoryLimit(before) }
}

// Pair is how many bytes a line, a file that becomes a value, and a block may have.
func (l Limit) Pair() int { return int(min(l/pairPart+leastPair, mostPair)) }

// Sort is how much memory the sorting of pairs takes.
func (l Limit) Sort() int64 { return int64(l / sortPart) }

// Workers is how many goroutines may compress blocks of this size.
func (l Limit) Workers(blockSize int) int {
	each := max(workerPart, workerBlocks*Limit(blockSize))
	return int(max(1, min(l/each, 1024)))
}

// CheckPair returns an error if size is over Pair.
func (l Limit) CheckPair(size int64) error {
	if size > mostPair {
		return fmt.Errorf("%d bytes, and a pair of a table has less than %d", size, mostPair)
	}
	if size > int64(l.Pair()) {
		return fmt.Errorf("%d bytes, want at most %d, a sixteenth of --memory and 2 MiB: %s", size, l.Pair(), needed(size-leastPair, pairPart))
	}
	return nil
}

// CheckFile returns an error if a file of this size may not be taken into memory.
func (l Limit) CheckFile(size int64) error {
	if most := int64(l / filePart); size > most {
		return fmt.Errorf("%d bytes, want at most %d, a quarter of --memory: %s", size, most, needed(size, filePart))
	}
	return nil
}

// CheckIndex returns an error if size is more than the index of a table may have, which the
// Writer holds up to twice.
func (l Limit) CheckIndex(size int64) error {
	if most := int64(l / indexPart); size > most {
		return fmt.Errorf("the table's index has over %d bytes, half of --memory: want larger blocks (--block-size) or more --memory", most)
	}
	return nil
}

// needed says which limit has a part of this size.
func needed(size, part int64) string {
	return fmt.Sprintf("--memory %dMiB would do", (size-1)/(1<<20/part)+1)
}

// LongLine is the error for a line of more than Pair bytes, whose end was not seen.
func (l Limit) LongLine() error {
	if l.Pair() == mostPair {
		return l.CheckPair(mostPair + 1)
	}
	return fmt.Errorf("over %d bytes, a sixteenth of --memory and 2 MiB: want --memory of 16 times the line", l.Pair())
}
