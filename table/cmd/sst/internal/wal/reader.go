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
	blockSize         = 32 << 10
	fragmentHeaderLen = 7 // checksum, length and kind
	maxRecord         = 1 << 30
)

// The kinds of fragments.
const (
	kindZero   = 0 // of what was allocated and not written to
	kindFull   = 1
	kindFirst  = 2
	kindMiddle = 3
	kindLast   = 4
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
	r           io.Reader
	report      func(Damage)
	block       [blockSize]byte
	blockLen    int    // of the next block: blockSize, but for the first of a carved log
	rest        []byte // of the block
	blockEnd    int64  // of the block, in the log
	eof         bool   // there is no block behind it
	record      []byte // as far as its fragments have come
	recordStart int64  // where the first of these is
	inRecord    bool   // there is such a fragment
}

// NewReader returns a Reader of the log in r, which reports what it skips.
func NewReader(r io.Reader, report func(Damage)) *Reader {
	return &Reader{r: r, report: report, blockLen: blockSize}
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
	r.record, r.inRecord = r.record[:0], false
	for {
		f, err := r.fragment()
		if err != nil {
			return nil, 0, err
		}
		switch f.kind {
		case kindFull:
			r.dropRecord("record without its last fragment")
			return f.payload, f.offset, nil
		case kindFirst:
			r.dropRecord("record without its last fragment")
			r.beginRecord(f)
		case kindMiddle, kindLast:
			if !r.inRecord {
				r.report(Damage{f.offset, fragmentHeaderLen + int64(len(f.payload)), "record without its first fragment"})
				continue
			}
			if r.record = append(r.record, f.payload...); len(r.record) > maxRecord {
				return nil, 0, fmt.Errorf("log at %d: record of > %d bytes, want at most that many", r.recordStart, maxRecord)
			}
			if f.kind == kindLast {
				r.inRecord = false
				return r.record, r.recordStart, nil
			}
		default:
			r.dropRecord("record with a damaged fragment")
		}
	}
}

// Offset returns where the log is read on: behind the last record or what was skipped, and
// at its end before what was cut short.
func (r *Reader) Offset() int64 {
	if r.inRecord {
		return r.recordStart
	}
	return r.blockEnd - int64(len(r.rest))
}

func (r *Reader) beginRecord(f fragment) {
	r.record, r.recordStart, r.inRecord = append(r.record[:0], f.payload...), f.offset, true
}

// dropRecord reports the fragments that there are of a record, if it has begun.
func (r *Reader) dropRecord(reason string) {
	if r.inRecord {
		r.report(Damage{r.recordStart, int64(len(r.record)), reason})
	}
	r.inRecord = false
}

// fragment returns the next fragment. One of the kind zeros stands for what was skipped.
func (r *Reader) fragment() (fragment, error) {
	for len(r.rest) < fragmentHeaderLen {
		if err := r.readBlock(); err != nil {
			return fragment{}, err
		}
	}
	at := r.blockEnd - int64(len(r.rest))
	checksum, length, kind := binary.LittleEndian.Uint32(r.rest), int(binary.LittleEndian.Uint16(r.rest[4:])), r.rest[6]
	switch whole := fragmentHeaderLen + length; {
	case whole > len(r.rest) && r.eof:
		return fragment{}, io.EOF
	case whole > len(r.rest):
		return r.skipBlock(at, "fragment ends after its block"), nil
	case kind == kindZero && length == 0:
		r.rest = nil
		return fragment{kind: kindZero}, nil
	case checksum != crc.Mask(crc32.Checksum(r.rest[6:whole], castagnoli)):
		return r.skipBlock(at, "checksum mismatch"), nil
	case kind > kindLast || kind == kindZero:
		r.rest = r.rest[whole:]
		r.report(Damage{at, int64(whole), fmt.Sprintf("fragment of kind %d, want 1 to 4", kind)})
		return fragment{kind: kindZero}, nil
	default:
		payload := r.rest[fragmentHeaderLen:whole]
		r.rest = r.rest[whole:]
		return fragment{kind, at, payload}, nil
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// skipBlock reports the rest of the block: where the next fragment starts is not known.
func (r *Reader) skipBlock(at int64, reason string) fragment {
	r.report(Damage{at, int64(len(r.rest)), reason})
	r.rest = nil
	return fragment{kind: kindZero}
}

// readBlock reads the next block.
func (r *Reader) readBlock() error {
	if r.eof {
		return io.EOF
	}
	n, err := io.ReadFull(r.r, r.block[:r.blockLen])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		r.eof, err = true, nil
	}
	r.rest, r.blockEnd, r.blockLen = r.block[:n], r.blockEnd+int64(n), blockSize
	return err
}
