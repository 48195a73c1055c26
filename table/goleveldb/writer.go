package goleveldb

import (
	"io"

	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
)

// A Writer writes a table. Its calls come in this order:
//
//	Append* Close
//
// BlocksLen, EntriesLen and BytesLen can be called at any time. A Writer must not be used by
// several goroutines at a time. After an error, Append and Close return the same error again.
type Writer struct {
	table *table.Writer // nil if there is an err
	err   error
}

// NewWriter returns a Writer that writes a table to f. o may be nil. pool and size are not used.
// If an option is out of its range, Append and Close return the error.
func NewWriter(f io.Writer, o *opt.Options, pool *util.BufferPool, size int) *Writer {
	order := orderOf(o.GetComparer())
	options := table.WriterOptions{
		Comparer:        order.comparer,
		FilterPolicy:    writingPolicy(o, order),
		FilterKey:       filterKey(o, order),
		FilterBaseLg:    o.GetFilterBaseLg(),
		BlockSize:       o.GetBlockSize(),
		RestartInterval: o.GetBlockRestartInterval(),
		Compression:     fastSnappy{table.Snappy},
	}
	if o.GetCompression() == opt.NoCompression {
		options.Compression = table.NoCompression
	}
	w, err := table.NewWriter(f, &options)
	return &Writer{w, err}
}

// Append adds an entry. Its key must be > the key before. Append does not keep the slices. It
// returns an error after Close.
func (w *Writer) Append(key, value []byte) error {
	if w.err != nil {
		return w.err
	}
	return w.table.Append(key, value)
}

// BlocksLen returns the number of complete data blocks.
func (w *Writer) BlocksLen() int {
	if w.table == nil {
		return 0
	}
	return w.table.DataBlocks()
}

// EntriesLen returns the number of entries that were appended.
func (w *Writer) EntriesLen() int {
	if w.table == nil {
		return 0
	}
	return w.table.Entries()
}

// BytesLen returns how many bytes the complete blocks take in the file, and after Close the size
// of the file.
func (w *Writer) BytesLen() int {
	if w.table == nil {
		return 0
	}
	return int(w.table.Size())
}

// Close finishes the table. It does not close the file.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	return w.table.Close()
}
