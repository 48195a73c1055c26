package wal

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// A Write is one write of a batch. A record of a log is a batch.
type Write struct {
	table.InternalKey
	Value  []byte
	Offset int64 // of the record in its Log, or 0
}

const batchHeaderLen = 12 // the sequence number of the first write, and the number of writes

// Writes yields the writes of a batch. Their keys and values are slices of record. An error
// ends it. The writes before an error are valid, as they are for LevelDB.
func Writes(record []byte) iter.Seq2[Write, error] {
	return func(yield func(Write, error) bool) {
		if len(record) < batchHeaderLen {
			yield(Write{}, fmt.Errorf("batch of %d bytes, want ≥ %d", len(record), batchHeaderLen))
			return
		}
		sequence, count := binary.LittleEndian.Uint64(record), uint64(binary.LittleEndian.Uint32(record[8:]))
		rest, n := record[batchHeaderLen:], uint64(0)
		for ; len(rest) > 0; n++ {
			w, length := decodeWrite(rest)
			if length == 0 {
				yield(Write{}, fmt.Errorf("batch: write %d is malformed", n))
				return
			}
			if w.Sequence = sequence + n; w.Sequence > table.MaxSequence || w.Sequence < n {
				yield(Write{}, fmt.Errorf("batch: sequence number %d, want at most %d", w.Sequence, uint64(table.MaxSequence)))
				return
			}
			if !yield(w, nil) {
				return
			}
			rest = rest[length:]
		}
		if n != count {
			yield(Write{}, fmt.Errorf("batch has %s, want %d as its header says", format.Plural(uint64(n), "write"), count))
		}
	}
}

// FirstSequence returns the sequence number of the first write of a batch, of which the header must
// be there.
func FirstSequence(record []byte) (sequence uint64, ok bool) {
	if len(record) < batchHeaderLen {
		return 0, false
	}
	return binary.LittleEndian.Uint64(record), true
}

// decodeWrite decodes the write at the start of b and returns its length, or 0 if it is
// malformed.
func decodeWrite(b []byte) (w Write, length int) {
	w.Kind = table.Kind(b[0])
	if w.Kind > table.KindSet {
		return w, 0
	}
	at, ok := 1, false
	if w.UserKey, at, ok = lengthPrefixed(b, at); !ok {
		return w, 0
	}
	if w.Kind == table.KindSet {
		if w.Value, at, ok = lengthPrefixed(b, at); !ok {
			return w, 0
		}
	}
	return w, at
}

// lengthPrefixed decodes a length and as many bytes at b[at:], and returns where they end.
func lengthPrefixed(b []byte, at int) (value []byte, end int, ok bool) {
	n, size := format.Uvarint(b[at:])
	if at += size; size == 0 || n > uint64(len(b)-at) {
		return nil, 0, false
	}
	end = at + int(n)
	return b[at:end:end], end, true
}
