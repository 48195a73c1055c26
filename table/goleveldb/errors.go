package goleveldb

import (
	"errors"
	"fmt"
	"io"
	"strings"

	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/iterator"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

var (
	// ErrNotFound is goleveldb's errors.ErrNotFound. Find, FindKey and Get return it if there is no such key.
	ErrNotFound = lerrors.ErrNotFound

	// ErrReaderReleased is the error of a Reader and its iterators after Release.
	ErrReaderReleased = errors.New(prefix + "reader released")

	// ErrIterReleased is goleveldb's iterator.ErrIterReleased, the error of an iterator after its Release.
	ErrIterReleased = iterator.ErrIterReleased

	errWriterClosed = errors.New(prefix + "writer is closed")
	errNilFile      = errors.New(prefix + "nil file")
)

// prefix begins all errors of this package, as in goleveldb.
const prefix = "leveldb/table: "

// An ErrCorrupted describes corruption in a table. It is the Err of a goleveldb errors.ErrCorrupted, which
// errors.IsCorrupted recognizes.
type ErrCorrupted struct {
	Pos    int64  // offset of the corrupt part in the file
	Size   int64  // its length in bytes
	Kind   string // "table", "table-footer", "meta-block", "index-block", "filter-block" or "data-block"
	Reason string
}

// Error returns a message with Kind, Pos and Reason.
func (e *ErrCorrupted) Error() string {
	return fmt.Sprintf(prefix+"corruption on %s (pos=%d): %s", e.Kind, e.Pos, e.Reason)
}

// A tableError is an error of package table without a counterpart in goleveldb.
type tableError struct {
	prefix string // replaces "table: "
	error
}

func (e *tableError) Error() string { return e.prefix + unprefixed(e.error) }
func (e *tableError) Unwrap() error { return e.error }

// unprefixed returns the text of an error of package table, without that package's name.
func unprefixed(err error) string { return strings.TrimPrefix(err.Error(), "table: ") }

// A sourceError is an error of the file that a Reader reads from.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

// translate returns goleveldb's counterpart of an error of package table.
func (r *Reader) translate(err error) error {
	if err == nil {
		return nil
	}
	if err == table.ErrNotFound {
		return ErrNotFound
	}
	var source *sourceError
	var damage *table.CorruptionError
	switch {
	case errors.Is(err, table.ErrClosed):
		return ErrReaderReleased
	case errors.As(err, &source):
		return source.error
	case errors.As(err, &damage):
		return r.corrupted(damage.Offset, damage.Length, r.kind(damage.Block), damage.Err.Error())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return r.corrupted(0, r.size, "table", unprefixed(err))
	}
	return &tableError{prefix, err}
}

// corrupted returns the error for corruption in the Reader's file.
func (r *Reader) corrupted(pos, size int64, kind, reason string) error {
	return lerrors.NewErrCorrupted(r.fd, &ErrCorrupted{Pos: pos, Size: size, Kind: kind, Reason: reason})
}

// kind returns goleveldb's name for the kind of a block.
func (r *Reader) kind(b layout.BlockKind) string {
	switch b {
	case layout.FooterBlock:
		if r.size < format.FooterLen {
			return "table"
		}
		return "table-footer"
	case layout.IndexBlock:
		return "index-block"
	case layout.FilterBlock, layout.TableFilterBlock:
		return "filter-block"
	case layout.DataBlock:
		return "data-block"
	}
	return "meta-block"
}
