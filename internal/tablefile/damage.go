package tablefile

import (
	"errors"
	"fmt"
)

// ErrClosed is the error of reads after the file was closed.
var ErrClosed = errors.New("table: closed")

// A Kind says what a block is for. It is the name of the block in errors.
type Kind string

// The kinds of blocks: package layout exports them.
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

// Damage is what was found in a block.
type Damage struct {
	Kind   Kind
	Handle Handle
	Err    error

	// KeysAfter and KeysUpTo bound the keys of a data block: its separator, and that of the block before.
	// They are nil for other blocks, and KeysAfter for the first one.
	KeysAfter, KeysUpTo []byte
}

// A Reporter turns damage into the error that the user of a File gets.
type Reporter interface {
	Corrupt(d Damage) error
	Prefix() string // of other errors: the package and the name of the file
}

// Corrupt returns the error for damage in the block at h.
func (f *File) Corrupt(kind Kind, h Handle, format string, args ...any) error {
	return f.Damaged(kind, h, fmt.Errorf(format, args...))
}

// Damaged returns the error for the block at h, in which err was found.
func (f *File) Damaged(kind Kind, h Handle, err error) error {
	d := Damage{Kind: kind, Handle: h, Err: err}
	if kind == DataBlock && f.Index != nil {
		d.KeysAfter, d.KeysUpTo = f.Index.keysOf(h)
	}
	return f.o.Reporter.Corrupt(d)
}
