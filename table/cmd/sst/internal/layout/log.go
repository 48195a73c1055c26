package layout

import (
	"bufio"
	"encoding/binary"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wal"
)

// The kinds of records.
const (
	record      = "record"
	batch       = "batch"
	edit        = "edit"
	damaged     = "damaged"
	zeros       = "zeros"     // preallocated, but never written
	unreadBytes = "unread"    // after a header of zeros, LevelDB skips the rest of the block
	truncated   = "cut short" // an incomplete record at the end
)

// A Record is a record of a log or a MANIFEST, or bytes that are not a record.
type Record struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"` // without the fragment headers of a record
	Kind   string `json:"kind"`
	*Batch
	Damage string `json:"damage,omitempty"`

	// What a record has that is no batch.
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`

	contents []byte
}

// Problem returns Damage.
func (r Record) Problem() string { return r.Damage }

// Contents returns what a record has that is no batch. It is valid until the next row.
func (r *Record) Contents() []byte { return r.contents }

// A Batch describes a record of a log.
type Batch struct {
	Sequence uint64 `json:"sequence"` // sequence number of the first write
	Writes   int    `json:"writes"`
}

// Log yields the records of a log. Damaged parts are records too. An error is a read error.
func Log(src io.ReaderAt, size int64) iter.Seq2[Record, error] {
	return described(src, size, (*Record).readBatch)
}

// Records yields the records of a file in the format of logs that are not batches.
func Records(src io.ReaderAt, size int64) iter.Seq2[Record, error] {
	return described(src, size, func(r *Record) { r.Value, r.ValueBase64 = printable.StringOrBytes(r.contents) })
}

// described yields the records, each after describe.
func described(src io.ReaderAt, size int64, describe func(*Record)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range records(src, size) {
			if r.Kind == record {
				describe(&r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// readBatch counts the writes of the record.
func (r *Record) readBatch() {
	r.Kind, r.Batch = batch, new(Batch)
	for _, err := range wal.Writes(r.contents) {
		if err != nil {
			r.Damage = err.Error()
			break
		}
		r.Writes++
	}
	if len(r.contents) >= 8 {
		r.Sequence = binary.LittleEndian.Uint64(r.contents)
	}
}

// records yields the records with their contents, and what lies between them.
func records(src io.ReaderAt, size int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var damage []wal.Damage
		in := wal.NewReader(io.NewSectionReader(src, 0, size), func(d wal.Damage) {
			if !d.Unread { // between yields it
				damage = append(damage, d)
			}
		})
		for {
			before := in.Offset()
			damage = damage[:0]
			contents, offset, err := in.Next()
			if err == io.EOF {
				offset = min(in.Offset(), size)
			} else if err != nil {
				yield(Record{Offset: before, Kind: damaged, Damage: err.Error()}, err)
				return
			}
			if !between(src, before, offset, damage, yield) {
				return
			}
			if err == io.EOF {
				if offset < size {
					yield(Record{Offset: offset, Bytes: size - offset, Kind: truncated}, nil)
				}
				return
			}
			if !yield(Record{Offset: offset, Bytes: int64(len(contents)), Kind: record, contents: contents}, nil) {
				return
			}
		}
	}
}

// between yields what is damaged or not read between two records.
func between(src io.ReaderAt, start, end int64, damage []wal.Damage, yield func(Record, error) bool) (more bool) {
	for _, d := range damage {
		if !yield(Record{Offset: d.Offset, Bytes: d.Bytes, Kind: damaged, Damage: d.Reason}, nil) {
			return false
		}
	}
	if len(damage) > 0 || end-start < wal.FragmentHeaderLen { // fewer bytes are zeros at the end of a block
		return true
	}
	kind, err := unreadBytes, error(nil)
	if zero, readErr := isZero(io.NewSectionReader(src, start, end-start)); zero || readErr != nil {
		kind, err = zeros, readErr
	}
	return yield(Record{Offset: start, Bytes: end - start, Kind: kind}, err)
}

// isZero reports whether r has only zeros.
func isZero(r io.Reader) (bool, error) {
	in := bufio.NewReaderSize(r, 32<<10)
	for {
		c, err := in.ReadByte()
		if err == io.EOF {
			return true, nil
		}
		if err != nil || c != 0 {
			return false, err
		}
	}
}
