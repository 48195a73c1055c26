// Package engine says what an engine is asked to do when engines are measured
// side by side. Lookups are asked for many at a time, so that an engine written
// in another language runs its loop there.
package engine

import (
	"errors"
	"fmt"
)

// ErrNone is returned for work that an engine does not offer.
var ErrNone = errors.New("not offered")

// CacheBytes is the size of block caches.
const CacheBytes = 512 << 20

// BlockSize and RestartInterval are what all tables are written with.
const (
	BlockSize       = 4096
	RestartInterval = 16
)

// Options say how a table is written.
type Options struct {
	BitsPerKey int // of the filter; 0: there is none
	Snappy     bool
	Cores      int // how many the writer may use; 0 is 1
}

// Info says what an engine is.
type Info struct {
	Name    string
	Version string
	Go      bool // its allocations are the Go runtime's
}

// An Engine writes tables, and makes filters.
type Engine interface {
	Info() Info

	// Write writes the pairs' table to a sink that discards it.
	Write(p Pairs, o Options) error

	// Build writes the pairs' table to memory, for its own use.
	Build(p Pairs, o Options) (Table, error)

	// NewFilters returns filters of perFilter keys each.
	NewFilters(bitsPerKey, perFilter int) (Filters, error)
}

// Filters are an engine's filters outside of tables.
type Filters interface {
	// Build makes a filter of each perFilter keys, in place of earlier ones.
	Build(keys Packed) error

	// Contains asks the filter i/perFilter for key i, and returns how often the
	// answer was that it may be there.
	Contains(keys Packed) (positives int, err error)
}

// A Table is a table in memory that its engine wrote.
type Table interface {
	// OpenClose opens the table, index and filter, and closes it.
	OpenClose() error

	// Resident returns the bytes of memory that the open table takes beside the
	// file.
	Resident() (int64, error)

	Open(m Mode) (Reader, error)
	Close() error
}

// A Mode is a way of reading a table.
type Mode int

const (
	Warm     Mode = iota // with a block cache of CacheBytes, if the engine has one
	Cold                 // without block cache: data blocks are read and checked each time
	Counting             // as Cold, with Counts
)

// A Reader is an open table.
type Reader interface {
	// NewCursor returns a Cursor for one goroutine.
	NewCursor() (Cursor, error)

	// Counts returns what was done since it was opened, if the mode is Counting.
	Counts() (Counts, error)
	Close() error
}

// Counts are what lookups did.
type Counts struct {
	Blocks         int64 // data blocks read, or reads of the file
	FalsePositives int64 // false positives of the filters; -1 if the engine does not count them
}

// A Cursor reads a table on one goroutine. It fails with an error if an answer
// is wrong.
type Cursor interface {
	// Get looks all keys up, filter first. All are there, or none.
	Get(keys Packed, present bool) error

	// Scan goes over all entries, asks for keys and values, and returns how long
	// they are together.
	Scan(backward bool) (bytes int64, err error)

	// SeekGE moves one iterator to each key, all of which are there.
	SeekGE(keys Packed) error
	Close() error
}

// An Appender is a Cursor that also looks keys up into memory of the caller's.
// All keys are there.
type Appender interface {
	AppendGet(keys Packed) error
}

// Wrong is the error of a lookup that found a key which is not there, or did
// not find one that is.
func Wrong(key []byte, present bool) error {
	if present {
		return fmt.Errorf("key %q was not found", key)
	}
	return fmt.Errorf("key %q was found, but is not there", key)
}

// A Merger iterates over several tables as one.
type Merger interface {
	// Merge writes a table of each of the pairs to memory, and opens a warm iterator over
	// all of them. No two of them have the same key.
	Merge(parts []Pairs, o Options) (Merged, error)
}

// Merged is an iterator over several tables, for one goroutine. It fails with an error
// if an answer is wrong.
type Merged interface {
	// Scan goes over all entries, asks for keys and values, and returns how long
	// they are together.
	Scan(backward bool) (bytes int64, err error)

	// SeekScan moves to each key, all of which are there, and from it to the next n entries. It
	// asks for their keys and values, and returns how long they are together.
	SeekScan(keys Packed, n int) (bytes int64, err error)
	Close() error
}
