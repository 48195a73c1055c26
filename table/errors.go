package table

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

var (
	// ErrNotFound is what Get returns for a key that the table does not have; and
	// Find, FirstKey, LastKey and Properties for what is not there.
	ErrNotFound = errors.New("table: key not found")

	// ErrCorrupt is what every *CorruptionError is, for errors.Is; and what LevelIter
	// and SnapshotIter return for keys that cannot be where they are.
	ErrCorrupt = errors.New("table: corrupt")

	// ErrOrder is what Append returns, wrapped with both keys, for a key that
	// is not above the one before it. A *CorruptionError is ErrOrder too, for
	// errors.Is, if what was found is keys, of right checksums, that are not in
	// the Comparer's order: most likely, the table was written in another one.
	ErrOrder = errors.New("table: keys are not in increasing order")

	// ErrClosed is returned by Readers, Writers and iterators after Close.
	ErrClosed = errors.New("table: closed")
)

// A CorruptionError says which block of a table is damaged, and how.
// errors.Is(err, ErrCorrupt) is true of it.
//
// Some options make a sound table read as damaged: a Comparer that is not its
// own, a MaxBlockSize that is too small, a Codec that is not given.
type CorruptionError struct {
	File   string    // the name that Open was given; "" if Open did not open the table
	Block  BlockKind // what is damaged
	Offset int64     // where the block starts in the file
	Length int64     // bytes that the block has there, without the trailer of 5 bytes
	Err    error     // what was found and what was expected; positions in it count from the block's start, after decompression
}

// A BlockKind says what a block of a table is for, or that it is the footer. It is the
// text that errors call the block.
type BlockKind string

const (
	FooterBlock      BlockKind = "footer" // the last 48 bytes of the file
	IndexBlock       BlockKind = "index block"
	MetaindexBlock   BlockKind = "metaindex block"
	FilterBlock      BlockKind = "filter block"       // one filter for each 2 KiB of the file's data blocks
	TableFilterBlock BlockKind = "table filter block" // one filter for the whole table
	PropertiesBlock  BlockKind = "properties block"
	MetaBlock        BlockKind = "meta block" // any other that the metaindex lists
	DataBlock        BlockKind = "data block"
)

// Error names file, part, offset, length and cause.
func (e *CorruptionError) Error() string {
	file := ""
	if e.File != "" {
		file = wire.Printable(e.File) + ": "
	}
	return fmt.Sprintf("table: %s%s at %d (%d bytes): %v", file, e.Block, e.Offset, e.Length, e.Err)
}

// Unwrap returns the cause.
func (e *CorruptionError) Unwrap() error { return e.Err }

// Is reports whether target is ErrCorrupt, or ErrOrder and keys are out of order.
func (e *CorruptionError) Is(target error) bool {
	return target == ErrCorrupt || target == ErrOrder && errors.Is(e.Err, block.ErrOrder)
}

// misplaced is the error for a data block, at h, with a key that its neighbours in the
// index do not leave room for.
func (f *tableFile) misplaced(h Handle, format string, args ...any) error {
	return f.damaged(DataBlock, h, disorder{fmt.Errorf(format, args...)})
}

// disorder is an error that is block.ErrOrder.
type disorder struct{ error }

func (disorder) Is(target error) bool { return target == block.ErrOrder }

// corrupt returns a *CorruptionError for the block at h.
func (f *tableFile) corrupt(kind BlockKind, h Handle, format string, args ...any) error {
	return f.damaged(kind, h, fmt.Errorf(format, args...))
}

// damaged returns a *CorruptionError for the block at h, in which err was found.
func (f *tableFile) damaged(kind BlockKind, h Handle, err error) error {
	return &CorruptionError{File: f.name, Block: kind, Offset: int64(h.Offset), Length: int64(h.Length), Err: err}
}

// errPanicked is the error of a Writer or an iterator while it is at work. It stays if
// a Comparer, FilterKey, policy, codec or source panics: a table that is half written
// must not be published, and an iterator that is half moved must not be read.
var errPanicked = errors.New("table: an earlier call panicked")

// wrap marks an error of the operating system, which names the file itself.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}
