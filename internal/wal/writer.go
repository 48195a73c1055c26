package wal

import (
	"encoding/binary"
	"io"

	"github.com/sievetable/sievetable/internal/format"
)

// A Writer writes the records of a log, from its start on.
type Writer struct {
	w       io.Writer
	room    int // bytes left in the block
	scratch []byte
}

// NewWriter returns a Writer that writes to w. Each fragment is one call of Write.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, room: blockSize} }

// Append writes a record, which may be empty. After an error the log ends within a record, and the Writer must not
// be used any more.
func (w *Writer) Append(record []byte) error {
	for first := true; ; first = false {
		if w.room < FragmentHeaderLen {
			if err := w.write(make([]byte, w.room)); err != nil {
				return err
			}
			w.room = blockSize
		}
		n := min(len(record), w.room-FragmentHeaderLen)
		last := n == len(record)
		if err := w.write(w.fragment(kindOf(first, last), record[:n])); err != nil || last {
			return err
		}
		record = record[n:]
	}
}

// kindOf returns the kind of a fragment of a record.
func kindOf(first, last bool) byte {
	switch {
	case first && last:
		return kindFull
	case first:
		return kindFirst
	case last:
		return kindLast
	}
	return kindMiddle
}

// fragment returns the bytes of a fragment. They are valid until the next call.
func (w *Writer) fragment(kind byte, payload []byte) []byte {
	w.scratch = append(w.scratch[:0], 0, 0, 0, 0) // the checksum
	w.scratch = binary.LittleEndian.AppendUint16(w.scratch, uint16(len(payload)))
	w.scratch = append(append(w.scratch, kind), payload...)
	binary.LittleEndian.PutUint32(w.scratch, format.CRC(w.scratch[6:]))
	return w.scratch
}

// write writes to the block, which has room for p.
func (w *Writer) write(p []byte) error {
	w.room -= len(p)
	_, err := w.w.Write(p)
	return err
}
