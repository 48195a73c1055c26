package tablefile

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by reads of a closed file.
var ErrClosed = errors.New("table: closed")

// A Kind is a block's purpose. It names the block in errors.
type Kind string

// The kinds of blocks. Package layout exports them.
const (
	FooterBlock      = "footer"
	IndexBlock       = "index block"
	MetaindexBlock   = "metaindex block"
	FilterBlock      = "filter block"
	TableFilterBlock = "table filter block"
	PropertiesBlock  = "properties block"
	DigestBlock      = "digest block"
	NeverBlock       = "exceptions block"
	MetaBlock        = "meta block"
	DataBlock        = "data block"
)

// Damage describes corruption found in a block.
type Damage struct {
	Kind   Kind
	Handle Handle
	Err    error

	// KeysAfter and KeysUpTo bound the keys of a data block: they are > KeysAfter and ≤ KeysUpTo, the separators of
	// the block before and of this block. For other blocks both are nil. For the first data block KeysAfter is nil.
	KeysAfter, KeysUpTo []byte
}

// A Reporter converts Damage into the error that users see.
type Reporter interface {
	Corrupt(d Damage) error
	Prefix() string // begins other errors: the package and the file name
}

// Corrupt is like Damaged, with a formatted error.
func (f *File) Corrupt(kind Kind, h Handle, format string, args ...any) error {
	return f.Damaged(kind, h, fmt.Errorf(format, args...))
}

// Damaged returns the error for err, found in the block at h.
func (f *File) Damaged(kind Kind, h Handle, err error) error {
	d := Damage{Kind: kind, Handle: h, Err: err}
	if kind == DataBlock && f.Index != nil {
		d.KeysAfter, d.KeysUpTo = f.Index.keysOf(h)
	}
	return f.o.Reporter.Corrupt(d)
}
