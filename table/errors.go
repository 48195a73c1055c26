package table

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

var (
	// ErrNotFound is returned by lookups if the key is absent, and by Properties if the table has none.
	ErrNotFound = errors.New("table: key not found")

	// ErrCorrupt matches each [*CorruptionError], by errors.Is.
	ErrCorrupt = errors.New("table: corrupt")

	// ErrOrder matches the error of Append for a key <= the last one, and a [*CorruptionError] for keys out of order
	// under a valid checksum: most likely the Comparer is not the table's.
	ErrOrder = errors.New("table: keys are not in increasing order")

	// ErrNever matches the error for a key that is both in the table and in Never or Reader.Except.
	ErrNever = errors.New("table: key cannot be an exception")

	// ErrFilterOnly is returned for lookups in a table with only a filter: see WriterOptions.FilterOnly.
	ErrFilterOnly = errors.New("table: filter-only table has no entries; use MayContain")

	// ErrUnknownFilter matches FilterErr if no policy has the filter's name: add one to FilterPolicies or
	// TableFilterPolicies, such as fuse.Policy{}. A table with only that filter then fails to open or, if it is mapped
	// or in memory, fails lookups.
	ErrUnknownFilter = errors.New("no policy of that name in the options")

	// ErrClosed is returned after Close, and by a Writer after Abort.
	ErrClosed = tablefile.ErrClosed
)

// A CorruptionError is the error for a corrupt block. It matches [ErrCorrupt]. A sound table is reported as corrupt
// if an option is wrong: Comparer, MaxBlockSize, Codecs, TailSum or, by Verify, FilterKey.
type CorruptionError struct {
	File   string           // the name given to Open or in ReaderOptions.Name; "" if there is none
	Block  layout.BlockKind // the corrupt block
	Offset int64            // of the block, in bytes from the start of the file
	Length int64            // of the block in the file, in bytes, without the trailer of 5 bytes

	// The keys of a corrupt data block are > KeysAfter (nil for the first block) and <= KeysUpTo. Both are nil for
	// other blocks. The caller owns the slices.
	KeysAfter, KeysUpTo []byte

	// Err says what was found and expected. Its offsets are from the start of the decompressed block.
	Err error
}

// Error names the file, the block, its offset and length, and Err.
func (e *CorruptionError) Error() string {
	return fmt.Sprintf("%s%s at %d (%d bytes): %v", prefix(e.File), e.Block, e.Offset, e.Length, e.Err)
}

// Prefix returns the start of errors other than corruption.
func (o *reporter) Prefix() string { return prefix(o.Name) }

// prefix returns the start of errors about a file.
func prefix(name string) string {
	if name == "" {
		return "table: "
	}
	return "table: " + format.Printable(name) + ": "
}

// Unwrap returns Err.
func (e *CorruptionError) Unwrap() error { return e.Err }

// Is reports whether target is ErrCorrupt or, for keys out of order, ErrOrder.
func (e *CorruptionError) Is(target error) bool {
	return target == ErrCorrupt || target == ErrOrder && errors.Is(e.Err, block.ErrOrder)
}

// errorf returns an error about the table other than corruption.
func (o *ReaderOptions) errorf(format string, args ...any) error {
	return fmt.Errorf("%s%w", prefix(o.Name), fmt.Errorf(format, args...))
}

// A reporter makes the CorruptionErrors of a Reader.
type reporter ReaderOptions

// Corrupt returns the *CorruptionError for d.
func (o *reporter) Corrupt(d tablefile.Damage) error {
	if d.Kind == tablefile.IndexBlock && o.Comparer != BytewiseComparer && errors.Is(d.Err, block.ErrOrder) {
		d.Err = fmt.Errorf("%w: the Comparer is %s", d.Err, o.Comparer.Name())
	}
	return &CorruptionError{
		File: o.Name, Block: layout.BlockKind(d.Kind), Offset: int64(d.Handle.Offset), Length: int64(d.Handle.Length),
		KeysAfter: d.KeysAfter, KeysUpTo: d.KeysUpTo, Err: d.Err,
	}
}

// errPanicked is the error of a Writer or an iterator during a call. It stays if a Comparer, FilterKey, policy,
// codec or source panics: a half-written table must not be published, and a half-moved iterator must not be read.
var errPanicked = errors.New("table: an earlier call panicked")

// wrap adds the package's name to an error of the operating system, which names the file.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}

// A Loss is an unreadable part of a table, a set or a database: a data block, a file, or writes in a log. The OnLoss
// options of iterators, sets and databases decide whether reading continues without it.
type Loss struct {
	File   string // the table or log, as in errors; "" for a Reader without a Name
	Offset int64  // of the data block, or of the corrupt part of the log; -1: the whole file is lost

	// From <= key <= To for all lost keys: user keys from package database, else keys of the table. Nil means no
	// bound. The caller must not modify the slices.
	From, To []byte

	// The lost writes of a log have sequence numbers >= FirstSequence and, unless LastSequence is 0, <= LastSequence.
	FirstSequence, LastSequence uint64

	// OlderShow reports whether older versions of the lost entries, including deleted ones, may appear.
	OlderShow bool

	// Err says what is wrong: for a data block a [*CorruptionError].
	Err error
}
