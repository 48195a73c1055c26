// Package wal reads LevelDB's write-ahead logs, and MANIFESTs, which have their form:
// records, cut into fragments so that none crosses from one block of 32 KiB to the next
// (LevelDB, doc/log_format.md).
//
// It goes on behind damage as LevelDB's own reader does, which goleveldb's does not: that
// joins a record that a crash has cut to the next one.
package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/crc"
)

const (
	blockSize  = 32 << 10
	headerSize = 7 // checksum, length and kind
	maxRecord  = 1 << 30
)

// The kinds of fragments.
const (
	zeros  = 0 // of what was allocated and not written to
	full   = 1
	first  = 2
	middle = 3
	last   = 4
)

// Damage is what of a log is skipped.
type Damage struct {
	Offset int64 // where it starts
	Bytes  int64
	Reason string
}

func (d Damage) Error() string {
	return fmt.Sprintf("log at %d: %s, %d bytes skipped", d.Offset, d.Reason, d.Bytes)
}

// A Reader returns the records of a log. What is cut short at the end was being written
// when the database died, and is left out silently. So are blocks' rests of zeros, which
// were allocated and never written to.
type Reader struct {
	r      io.Reader
	report func(Damage)
	block  [blockSize]byte
	size   int    // of the next block: blockSize, but for the first of a carved log
	rest   []byte // of the block
	end    int64  // of the block, in the log
	eof    bool   // there is no block behind it
	record []byte // as far as its fragments have come
	start  int64  // where the first of these is
	begun  bool   // there is such a fragment
}

// NewReader returns a Reader of the log in r, which reports what it skips.
func NewReader(r io.Reader, report func(Damage)) *Reader {
	return &Reader{r: r, report: report, size: blockSize}
}

// fragment is a part of a record.
type fragment struct {
	kind    byte
	offset  int64
	payload []byte
}

// Next returns the next record, which is valid until the next call, and where it starts in
// the log. It is io.EOF at the end. Other errors are the io.Reader's, or of a record too
// large for the memory.
func (r *Reader) Next() (record []byte, offset int64, err error) {
	r.record, r.begun = r.record[:0], false
	for {
		f, err := r.fragment()
		if err != nil {
			return nil, 0, err
		}
		switch f.kind {
		case full:
			r.drop("record without its end")
			return f.payload, f.offset, nil
		case first:
			r.drop("record without its end")
			r.begin(f)
		case middle, last:
			if !r.begun {
				r.report(Damage{f.offset, headerSize + int64(len(f.payload)), "record without its start"})
				continue
			}
			if r.record = append(r.record, f.payload...); len(r.record) > maxRecord {
				return nil, 0, fmt.Errorf("log at %d: record of over %d bytes, want at most that many", r.start, maxRecord)
			}
			if f.kind == last {
				r.begun = false
				return r.record, r.start, nil
			}
		default:
			r.drop("record with a damaged part")
		}
	}
}

// Offset returns where the log is read on: behind the last record or what was skipped, and
// at its end before what was cut short.
func (r *Reader) Offset() int64 {
	if r.begun {
		return r.start
	}
	return r.end - int64(len(r.rest))
}

func (r *Reader) begin(f fragment) {
	r.record, r.start, r.begun = append(r.record[:0], f.payload...), f.offset, true
}

// drop reports the fragments that there are of a record, if it has begun.
func (r *Reader) drop(reason string) {
	if r.begun {
		r.report(Damage{r.start, int64(len(r.record)), reason})
	}
	r.begun = false
}

// fragment returns the next fragment. One of the kind zeros stands for what was skipped.
func (r *Reader) fragment() (fragment, error) {
	for len(r.rest) < headerSize {
		if err := r.read(); err != nil {
			return fragment{}, err
		}
	}
	at := r.end - int64(len(r.rest))
	checksum, length, kind := binary.LittleEndian.Uint32(r.rest), int(binary.LittleEndian.Uint16(r.rest[4:])), r.rest[6]
	switch whole := headerSize + length; {
	case whole > len(r.rest) && r.eof:
		return fragment{}, io.EOF
	case whole > len(r.rest):
		return r.skip(at, "length beyond the block's end"), nil
	case kind == zeros && length == 0:
		r.rest = nil
		return fragment{kind: zeros}, nil
	case checksum != crc.Mask(crc32.Checksum(r.rest[6:whole], castagnoli)):
		return r.skip(at, "checksum mismatch"), nil
	case kind > last || kind == zeros:
		r.rest = r.rest[whole:]
		r.report(Damage{at, int64(whole), fmt.Sprintf("fragment of kind %d, want 1 to 4", kind)})
		return fragment{kind: zeros}, nil
	default:
		payload := r.rest[headerSize:whole]
		r.rest = r.rest[whole:]
		return fragment{kind, at, payload}, nil
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// skip reports the rest of the block: where the next fragment starts is not known.
func (r *Reader) skip(at int64, reason string) fragment {
	r.report(Damage{at, int64(len(r.rest)), reason})
	r.rest = nil
	return fragment{kind: zeros}
}

// read reads the next block.
func (r *Reader) read() error {
	if r.eof {
		return io.EOF
	}
	n, err := io.ReadFull(r.r, r.block[:r.size])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		r.eof, err = true, nil
	}
	r.rest, r.end, r.size = r.block[:n], r.end+int64(n), blockSize
	return err
}
