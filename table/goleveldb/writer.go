package goleveldb

import (
	"io"

	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
)

// A Writer writes a table. Calls come in this order; BlocksLen, EntriesLen and BytesLen may be called at any time:
//
//	Append* Close
//
// A Writer must not be used concurrently. After an error, Append and Close return it again. Errors of the io.Writer
// are returned unchanged.
type Writer struct {
	table *table.Writer // of nothing if NewWriter has failed
	file  file
	err   error // of all calls from now on
}

// A file is the io.Writer of a Writer, and keeps its error.
type file struct {
	io.Writer
	err error
}

func (f *file) Write(p []byte) (n int, err error) {
	n, err = f.Writer.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	f.err = err
	return n, err
}

// NewWriter returns a Writer that writes a table to f. o may be nil. pool and size are not used. If an option is out
// of range, Append and Close return an error.
func NewWriter(f io.Writer, o *opt.Options, pool *util.BufferPool, size int) *Writer {
	w := &Writer{file: file{Writer: f}}
	order := orderOf(o.GetComparer())
	options := table.WriterOptions{
		Comparer:        order.comparer,
		FilterPolicy:    writingPolicy(o, order),
		FilterKey:       filterKey(o, order),
		FilterBaseLg:    filterBaseLg(o),
		BlockSize:       o.GetBlockSize(),
		RestartInterval: o.GetBlockRestartInterval(),
		Compression:     fastSnappy{table.Snappy},
	}
	if o.GetCompression() == opt.NoCompression {
		options.Compression = table.NoCompression
	}
	var err error
	if w.table, err = table.NewWriter(&w.file, &options); err != nil {
		w.keep(err)
		w.table, _ = table.NewWriter(io.Discard, nil)
	}
	if f == nil {
		w.err = errNilFile
	}
	return w
}

// keep records an error of package table, for all later calls.
func (w *Writer) keep(err error) {
	switch {
	case w.file.err != nil:
		w.err = w.file.err
	case err != nil:
		w.err = &tableError{prefix + "Writer: ", err}
	}
}

// Append adds an entry, in ascending key order. It does not keep the slices. After Close, it returns an error.
func (w *Writer) Append(key, value []byte) error {
	if w.err != nil {
		return w.err
	}
	if err := w.table.Append(key, value); err != nil {
		w.keep(err)
	}
	return w.err
}

// BlocksLen returns the number of complete data blocks.
func (w *Writer) BlocksLen() int { return w.table.DataBlocks() }

// EntriesLen returns the number of entries appended.
func (w *Writer) EntriesLen() int { return w.table.Entries() }

// BytesLen returns the size of the complete blocks in the file in bytes, and after Close the size of the file.
func (w *Writer) BytesLen() int { return int(w.table.Size()) }

// Close completes the table. It does not close the file. A second Close returns an error.
func (w *Writer) Close() error {
	if w.err != nil {
		_ = w.table.Abort() // it has no file of its own to remove; after Close it does nothing
		return w.err
	}
	if w.keep(w.table.Close()); w.err != nil {
		return w.err
	}
	w.err = errWriterClosed
	return nil
}
