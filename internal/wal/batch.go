package wal

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Write is one write of a batch. Each record of a log is a batch.
type Write struct {
	internalkey.Key
	Value  []byte
	Offset int64 // of the record in its Log, or 0
}

const batchHeaderLen = 12 // the sequence number of the first write, and the number of writes

// Writes yields the writes of a batch. Their keys and values are slices of record. An error ends the sequence. The
// writes before it are valid, as they are for LevelDB.
func Writes(record []byte) iter.Seq2[Write, error] {
	return func(yield func(Write, error) bool) {
		sequence, count, ok := batchHeader(record)
		if !ok {
			yield(Write{}, fmt.Errorf("batch of %d bytes, shorter than its header of %d", len(record), batchHeaderLen))
			return
		}
		rest, n := record[batchHeaderLen:], uint64(0)
		for ; len(rest) > 0; n++ {
			w, length := decodeWrite(rest)
			if length == 0 {
				yield(Write{}, fmt.Errorf("batch: write %d is malformed", n))
				return
			}
			if w.Sequence = sequence + n; w.Sequence > internalkey.MaxSequence || w.Sequence < n {
				yield(Write{}, fmt.Errorf("batch: sequence number %d exceeds %d", w.Sequence, uint64(internalkey.MaxSequence)))
				return
			}
			if !yield(w, nil) {
				return
			}
			rest = rest[length:]
		}
		if n != count {
			yield(Write{}, fmt.Errorf("batch has %s, but its header says %d", format.Plural(uint64(n), "write"), count))
		}
	}
}

// batchHeader returns the sequence number of the first write of a batch and the number of its writes. If the record
// is shorter than the header, ok is false.
func batchHeader(record []byte) (sequence, count uint64, ok bool) {
	if len(record) < batchHeaderLen {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64(record), uint64(binary.LittleEndian.Uint32(record[8:])), true
}

// decodeWrite decodes the write at the start of b and returns its length, or 0 if it is
// malformed.
func decodeWrite(b []byte) (w Write, length int) {
	if len(b) == 0 || internalkey.Kind(b[0]) > internalkey.Set {
		return w, 0
	}
	w.Kind = internalkey.Kind(b[0])
	at, ok := 1, false
	if w.UserKey, at, ok = lengthPrefixed(b, at); !ok {
		return w, 0
	}
	if w.Kind == internalkey.Set {
		if w.Value, at, ok = lengthPrefixed(b, at); !ok {
			return w, 0
		}
	}
	return w, at
}

// lengthPrefixed decodes a length and that many bytes at b[at:], and returns the end of the bytes.
func lengthPrefixed(b []byte, at int) (value []byte, end int, ok bool) {
	n, size := format.Uvarint(b[at:])
	if at += size; size == 0 || n > uint64(len(b)-at) {
		return nil, 0, false
	}
	end = at + int(n)
	return b[at:end:end], end, true
}

// recordHeadLen is the number of bytes of a record that HasNoBatches keeps. It is close to Firestore's limit for
// documents.
const recordHeadLen = 1 << 20

// HasNoBatches reports whether a file of size bytes is in LevelDB's log format, but none of its records is a write
// batch or resembles a damaged one. If the log is damaged, it returns false, since the records may be damaged
// batches. An incomplete record at the end is allowed. Batches without writes are ignored, because they could be
// anything. HasNoBatches checks only the first bytes of long records, and does not read the rest into memory.
func HasNoBatches(file io.ReaderAt, size int64) (bool, error) {
	damaged, others := false, 0
	r, err := NewLogReader(file, size, func(Damage) { damaged = true })
	if err != nil {
		return false, err
	}
	r.KeepHeads(recordHeadLen)
	for !damaged {
		record, _, err := r.Next()
		switch {
		case err == io.EOF:
			return others > 0 && !damaged, nil
		case err != nil:
			return false, err
		}
		writes, sound := countWrites(record)
		if sound && writes > 0 || !sound && resemblesBatch(record, r.RecordLen()) {
			return false, nil
		}
		if !sound {
			others++
		}
	}
	return false, nil
}

// countWrites returns the number of writes in a record, and whether the record is a sound batch.
func countWrites(record []byte) (n int, sound bool) {
	for _, err := range Writes(record) {
		if err != nil {
			return n, false
		}
		n++
	}
	return n, true
}

// resemblesBatch reports whether a record of length bytes, which starts with head and is no sound batch, looks like
// a damaged one. The sequence number and the kind of the first write must be valid, and so must either the number of
// writes or the first write. A protocol buffer can look like that by chance. The reverse is rare: most sequence
// numbers end in zero bytes, which start no field of a protocol buffer.
func resemblesBatch(head []byte, length int) bool {
	sequence, count, ok := batchHeader(head)
	if !ok || sequence > internalkey.MaxSequence || len(head) == batchHeaderLen || internalkey.Kind(head[batchHeaderLen]) > internalkey.Set {
		return false
	}
	if len(head) == length && isProtobuf(head) {
		return false
	}
	_, first := decodeWrite(head[batchHeaderLen:])
	return first > 0 || count > 0 && count <= uint64(length-batchHeaderLen)
}

// isProtobuf reports whether a record consists of the fields of a protocol buffer. Groups, which are deprecated,
// are not recognized.
func isProtobuf(b []byte) bool {
	for len(b) > 0 {
		tag, size := format.Uvarint(b)
		if number := tag >> 3; size == 0 || number == 0 || number >= 1<<29 {
			return false
		}
		at, ok := size, false
		switch tag & 7 {
		case 0:
			_, n := format.Uvarint(b[at:])
			at, ok = at+n, n > 0
		case 1:
			at, ok = at+8, true
		case 2:
			_, at, ok = lengthPrefixed(b, at)
		case 5:
			at, ok = at+4, true
		}
		if !ok || at > len(b) {
			return false
		}
		b = b[at:]
	}
	return true
}

// Fragment kinds that only logs of Pebble and RocksDB have. Their headers also contain the log number and, in
// Pebble's newer form, an offset.
const (
	kindRecyclable, recyclableHeaderLen = 5, 11
	kindWALSync, walSyncHeaderLen       = 9, 19
	kindEnd                             = 13
)

// StartsWithPebbleFragment reports whether b starts with a valid fragment as Pebble writes it, and RocksDB if it
// reuses old log files.
func StartsWithPebbleFragment(b []byte) bool {
	if len(b) < FragmentHeaderLen || b[6] < kindRecyclable || b[6] >= kindEnd {
		return false
	}
	header := recyclableHeaderLen
	if b[6] >= kindWALSync {
		header = walSyncHeaderLen
	}
	return checkedFragmentLen(b, header) > 0
}
