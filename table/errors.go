package table

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

var (
	// ErrNotFound is returned by Get, AppendGet, Find, AppendFind and FindGE if the table has no such
	// entry. It is also the error of FirstKey and LastKey if the table has no entries, and of
	// Properties if it has no properties.
	ErrNotFound = errors.New("table: key not found")

	// ErrCorrupt is the error for damage: test for it with errors.Is. Every
	// *CorruptionError is ErrCorrupt. Iterators of package merge return it, wrapped, for keys
	// that do not belong where they are.
	ErrCorrupt = errors.New("table: corrupt")

	// ErrOrder is the error for keys that are not in increasing order: test for it with
	// errors.Is. Append returns it, wrapped, for a key that is <= the key before. A
	// *CorruptionError is ErrOrder if keys of a block are out of order though its
	// checksum is right: most likely the table was written with another Comparer.
	ErrOrder = errors.New("table: keys are not in increasing order")

	// ErrNever is the error of Append for a key that WriterOptions.Never has too, and of Reader.Except
	// for a key or prefix of the table: test for it with errors.Is.
	ErrNever = errors.New("table: key is in Never")

	// ErrFilterOnly is returned for lookups in a table that has a filter of its keys and no entries: see
	// WriterOptions.FilterOnly and Reader.MayContain.
	ErrFilterOnly = errors.New("table: filter-only table has no entries; use MayContain")

	// ErrUnknownFilter is in the chain of FilterErr if a filter's policy is not in the ReaderOptions. If the
	// table has nothing but that filter, opening the table fails with it.
	ErrUnknownFilter = errors.New("no policy of that name")

	// ErrClosed is returned by a Reader, Writer or iterator after Close, and by a Writer after Abort.
	ErrClosed = tablefile.ErrClosed
)

// A CorruptionError says which block of a table is corrupt, and how. It is [ErrCorrupt] for errors.Is; use
// errors.As with a *CorruptionError to get it.
//
// A sound table can read as corrupt if an option is wrong: a Comparer other than the table's, a MaxBlockSize
// that is too small, or a missing Codec.
type CorruptionError struct {
	File   string    // the name given to Open or in ReaderOptions.Name; "" if there is none
	Block  BlockKind // the corrupt block
	Offset int64     // of the block, in bytes from the start of the file
	Length int64     // of the block in the file, in bytes, without the trailer of 5 bytes

	// KeysAfter and KeysUpTo bound the keys of a corrupt data block: they are > KeysAfter and <= KeysUpTo, in
	// the order of the table. KeysAfter is nil for the first data block. Both are nil for other blocks. The
	// slices are the caller's.
	KeysAfter, KeysUpTo []byte

	// Err says what was found and what was expected. Offsets in it count from the start
	// of the block, decompressed.
	Err error
}

// A BlockKind is the purpose of a block, and its name in errors.
type BlockKind string

const (
	FooterBlock      BlockKind = "footer" // the last 48 bytes of the file
	IndexBlock       BlockKind = "index block"
	MetaindexBlock   BlockKind = "metaindex block"
	FilterBlock      BlockKind = "filter block"       // one filter for each 2 KiB of data blocks
	TableFilterBlock BlockKind = "table filter block" // one filter for the whole table
	PropertiesBlock  BlockKind = "properties block"
	DigestBlock      BlockKind = "digest block"     // of the data blocks: see WriterOptions.DataDigest
	NeverBlock       BlockKind = "exceptions block" // of the table filter: see WriterOptions.Never
	MetaBlock        BlockKind = "meta block"       // any other block that the metaindex lists
	DataBlock        BlockKind = "data block"
)

// Error returns a message with the file, the block, its offset and length, and Err.
func (e *CorruptionError) Error() string {
	return fmt.Sprintf("%s%s at %d (%d bytes): %v", prefix(e.File), e.Block, e.Offset, e.Length, e.Err)
}

// prefix returns the start of the errors about a file.
func prefix(name string) string {
	if name == "" {
		return "table: "
	}
	return "table: " + format.Printable(name) + ": "
}

// Unwrap returns Err.
func (e *CorruptionError) Unwrap() error { return e.Err }

// Is reports whether target is ErrCorrupt, or ErrOrder if keys are out of order.
func (e *CorruptionError) Is(target error) bool {
	return target == ErrCorrupt || target == ErrOrder && errors.Is(e.Err, block.ErrOrder)
}

// errorf returns an error about the table that is no damage.
func (o *ReaderOptions) errorf(format string, args ...any) error {
	return fmt.Errorf("%s%w", prefix(o.Name), fmt.Errorf(format, args...))
}

// A reporter makes the CorruptionErrors of a Reader.
type reporter ReaderOptions

// Corrupt returns the *CorruptionError for d.
func (o *reporter) Corrupt(d tablefile.Damage) error {
	return &CorruptionError{
		File: o.Name, Block: BlockKind(d.Kind), Offset: int64(d.Handle.Offset), Length: int64(d.Handle.Length),
		KeysAfter: d.KeysAfter, KeysUpTo: d.KeysUpTo, Err: d.Err,
	}
}

// errPanicked is the error of a Writer or an iterator while a call runs. If a Comparer,
// FilterKey, policy, codec or source panics, it stays: a table that is half written must not
// be published, and an iterator that is half moved must not be read.
var errPanicked = errors.New("table: an earlier call panicked")

// wrap adds the package's name to an error of the operating system, which names the file.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}
