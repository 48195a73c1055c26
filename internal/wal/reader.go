// Package wal reads and writes LevelDB's write-ahead logs. MANIFESTs have the same format. A log
// consists of blocks of 32 KiB. A record is split into fragments, so that no fragment
// crosses a block boundary (LevelDB, doc/log_format.md).
//
// After damage, a Reader continues like LevelDB's own, and a Log at the next record. goleveldb's reader can join
// fragments of a truncated record and of the next one. A Reader does not.
//
// A value can itself be a log, such as a backup of another database. Its fragments look like those of the log that
// contains it. A Log distinguishes them after damage by sequence numbers: in a database they only increase, and each
// batch starts where the one before it ends. So batches are foreign if they cannot continue from the last write
// before the damage, or do not lead without a gap to the first batch after the block. A block always starts with a
// fragment of the outer log, whatever its values contain. Two cases remain:
//   - The log ends with the block, or there is other damage before the next batch. Then the numbers need only be
//     high enough, and the writes found up to there are uncertain: see Log.HighestLost. They are certain if the
//     bytes of the damaged batch give its end, and its successor starts there.
//   - The numbers of a stored log fit exactly. If they start where those of the outer log continue, its writes are
//     accepted. If they start lower, and only end where the next batch starts, that batch and the rest of its block
//     are lost, and are reported as lost.
//
// A MANIFEST has no such numbers. In it, a log can only be a key of an edit. A key is followed by at least 8 bytes
// of its edit, which do not start a fragment below sequence number 1<<40. So the fragments of such a key do not
// reach the end of the block. Only a damaged length can lead to one of them.
package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

const (
	// FragmentHeaderLen is the length of the header of a fragment: checksum, length and kind.
	FragmentHeaderLen = 7

	blockSize = 32 << 10
	maxRecord = 1 << 30 // bytes
)

// The kinds of fragments.
const (
	kindZero   = 0 // in preallocated space that was never written
	kindFull   = 1
	kindFirst  = 2
	kindMiddle = 3
	kindLast   = 4
)

// Damage is a part of a log that is skipped.
type Damage struct {
	Offset int64 // start of the part
	Bytes  int64
	Reason string

	// Torn is the start of a record that was incomplete when the next one began. For other damage it is nil. It is
	// valid until the report function returns.
	Torn []byte

	// Unread means that the part follows a header of zeros, and contains more than zeros. LevelDB skips it silently.
	Unread bool
}

func (d Damage) Error() string {
	return fmt.Sprintf("offset %d: %s, %s skipped", d.Offset, d.Reason, format.Plural(uint64(d.Bytes), "byte"))
}

// Is reports whether target is table.ErrCorrupt.
func (Damage) Is(target error) bool { return target == table.ErrCorrupt }

// A Reader returns the records of a log. It ignores an incomplete record at the end, because the database was closed
// or crashed while writing it. If a whole fragment follows, the record is not the end: its length is damaged. A
// Reader also ignores zeros at the end of blocks, which are preallocated space.
type Reader struct {
	r           io.Reader
	report      func(Damage)
	block       [blockSize]byte
	maxRecord   int      // bytes of a record
	keep        int      // bytes of a record that are kept: see KeepHeads
	blockLen    int      // length of the next block: blockSize, except for the first block of a carved log
	rest        []byte   // the unread part of the block
	blockEnd    int64    // end of the block in the log
	eof         bool     // the block is the last one
	record      []byte   // the fragments of the record so far, or their first keep bytes; empty unless inRecord
	recordLen   int      // bytes of the record so far
	recordStart int64    // offset of its first fragment
	inRecord    bool     // a first fragment was read
	zeros       zeros    // at the end of the log, if they count as its end
	findMore    bool     // see FindMore
	numbers     *numbers // checks the batches that are found; may be nil
	budget      int      // bytes of the block that may still be checked to find more
}

// NewReader returns a Reader of the log in r. It calls report for each part that it skips.
func NewReader(r io.Reader, report func(Damage)) *Reader {
	none := zeros{from: math.MaxInt64, size: math.MaxInt64}
	return &Reader{r: r, report: report, maxRecord: maxRecord, keep: maxRecord, blockLen: blockSize, zeros: none}
}

// KeepHeads makes Next return only the first n bytes of a record. RecordLen returns its length.
func (r *Reader) KeepHeads(n int) { r.keep = n }

// RecordLen returns the length of the record that Next returned.
func (r *Reader) RecordLen() int { return r.recordLen }

// A fragment is a part of a record.
type fragment struct {
	kind    byte
	offset  int64
	payload []byte
}

// Next returns the next record and its offset in the log. The record is valid until the
// next call. At the end of the log, the error is io.EOF. Other errors come from the
// io.Reader, or mean that a record has more than maxRecord bytes.
func (r *Reader) Next() (record []byte, offset int64, err error) {
	r.record, r.inRecord = r.record[:0], false
	for {
		f, err := r.fragment()
		if err != nil {
			return nil, 0, err
		}
		switch f.kind {
		case kindFull:
			r.dropTorn()
			r.recordLen = len(f.payload)
			return f.payload[:min(len(f.payload), r.keep)], f.offset, nil
		case kindFirst, kindMiddle, kindLast:
			if f.kind == kindFirst {
				r.dropTorn()
				r.recordLen, r.recordStart, r.inRecord = 0, f.offset, true
			}
			if !r.inRecord {
				r.report(Damage{Offset: f.offset, Bytes: FragmentHeaderLen + int64(len(f.payload)), Reason: "record without its first fragment"})
				continue
			}
			if err := r.extendRecord(f.payload); err != nil {
				return nil, 0, err
			}
			if f.kind == kindLast {
				r.inRecord = false
				return r.record, r.recordStart, nil
			}
		default:
			r.dropRecord(Damage{Reason: "record with a damaged fragment"})
		}
	}
}

// Offset returns the offset after the last record or skipped part. After io.EOF it is the
// offset of an incomplete record at the end, or the end of the log.
func (r *Reader) Offset() int64 {
	if r.inRecord {
		return r.recordStart
	}
	return r.blockEnd - int64(len(r.rest))
}

// checkedLen is the record length from which memory is checked before it is allocated.
const checkedLen = 64 << 20

// extendRecord appends a fragment to the record, up to keep bytes in all.
func (r *Reader) extendRecord(payload []byte) error {
	if r.recordLen += len(payload); r.recordLen > r.maxRecord {
		return fmt.Errorf("offset %d: record exceeds %d bytes", r.recordStart, r.maxRecord)
	}
	payload = payload[:min(len(payload), max(0, r.keep-len(r.record)))]
	if n := len(r.record) + len(payload); n >= checkedLen && n > cap(r.record) {
		if err := alloc.Check(uint64(n) + uint64(n)/4); err != nil { // append grows by a quarter
			return fmt.Errorf("offset %d: record of ≥ %d bytes: %w", r.recordStart, r.recordLen, err)
		}
	}
	r.record = append(r.record, payload...)
	return nil
}

// dropTorn drops an unfinished record that another one follows.
func (r *Reader) dropTorn() {
	r.dropRecord(Damage{Reason: "record without its last fragment", Torn: r.record})
}

// dropRecord reports the fragments of an unfinished record, if there is one.
func (r *Reader) dropRecord(d Damage) {
	if r.inRecord {
		d.Offset, d.Bytes = r.recordStart, int64(r.recordLen)
		r.report(d)
	}
	r.record, r.inRecord = r.record[:0], false
}

// fragment returns the next fragment. After a skipped part, the fragment has the kind
// kindZero.
func (r *Reader) fragment() (fragment, error) {
	for len(r.rest) < FragmentHeaderLen {
		if err := r.readBlock(); err != nil {
			return fragment{}, err
		}
	}
	at := r.blockEnd - int64(len(r.rest))
	checksum, length, kind := binary.LittleEndian.Uint32(r.rest), int(binary.LittleEndian.Uint16(r.rest[4:])), r.rest[6]
	whole, isZero := FragmentHeaderLen+length, kind == kindZero && length == 0
	sum := format.CRC(r.rest[6:min(whole, len(r.rest))])
	mismatch, known := whole <= len(r.rest) && checksum != sum, isKnown(kind)
	fits := at%blockSize+int64(whole) <= blockSize
	// The start of a fragment that was never written completely has a valid header, and a wrong checksum.
	unwritten := whole > len(r.rest) && r.eof && known && fits && checksum != sum
	switch {
	case isZero && r.zeros.from < at+FragmentHeaderLen:
		return fragment{}, io.EOF
	case (mismatch && r.zeros.tear(at+int64(whole)) || unwritten) && findFragment(r.rest[1:]) < 0:
		return fragment{}, io.EOF // nothing was written after it
	case whole > len(r.rest) && fits && !known:
		return r.skipBlock(at, unknownKind(kind)), nil
	case whole > len(r.rest):
		return r.skipBlock(at, "fragment ends after its "+map[bool]string{true: "log", false: "block"}[fits]), nil
	case isZero:
		return r.skipZeros(at), nil
	case mismatch:
		return r.skipBlock(at, "checksum mismatch"), nil
	case !known:
		return r.skip(Damage{Offset: at, Bytes: int64(whole), Reason: unknownKind(kind)}), nil
	default:
		payload := r.rest[FragmentHeaderLen:whole]
		r.rest = r.rest[whole:]
		return fragment{kind, at, payload}, nil
	}
}

// isKnown reports whether kind is a kind of LevelDB's fragments other than kindZero.
func isKnown(kind byte) bool { return kind >= kindFull && kind <= kindLast }

func unknownKind(kind byte) string { return fmt.Sprintf("fragment of unknown kind %d", kind) }

// skipBlock reports the rest of the block as damage, because the start of the next fragment is unknown. With
// findMore, it reports the bytes up to the next fragment that is found.
func (r *Reader) skipBlock(at int64, reason string) fragment {
	return r.skip(Damage{Offset: at, Bytes: int64(r.nextFragment()), Reason: reason})
}

// skip reports the next bytes as damage.
func (r *Reader) skip(d Damage) fragment {
	r.report(d)
	r.rest = r.rest[d.Bytes:]
	return fragment{kind: kindZero}
}

// skipZeros skips the rest of a block from a header of zeros on, like skipBlock. If the rest is only zeros, it
// reports nothing.
func (r *Reader) skipZeros(at int64) fragment {
	n := r.nextFragment()
	d := Damage{Offset: at, Bytes: int64(n), Reason: "header of zeros", Unread: len(bytes.TrimRight(r.rest[:n], "\x00")) > 0}
	if n == len(r.rest) {
		d.Reason = "bytes after a header of zeros are not read"
		if !d.Unread { // preallocated, and never written
			r.rest = nil
			return fragment{kind: kindZero}
		}
	}
	return r.skip(d)
}

func (r *Reader) readBlock() error {
	if r.eof {
		return io.EOF
	}
	n, err := io.ReadFull(r.r, r.block[:r.blockLen])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		r.eof, err = true, nil
	}
	r.rest, r.blockEnd, r.blockLen = r.block[:n], r.blockEnd+int64(n), blockSize
	r.budget = maxSearched
	return err
}
