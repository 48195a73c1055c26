package wal

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// recordHeadLen is how much of a record HasNoBatches keeps. Firestore limits documents to about as much.
const recordHeadLen = 1 << 20

// HasNoBatches reports whether a file of size bytes is in LevelDB's log format, and none of its records is a
// write batch or looks like a damaged one. Only a record at its end may be incomplete: if a log is damaged, its
// records may be damaged too. A batch without writes could be anything, and does not count.
// Long records are not read into memory: HasNoBatches checks their first bytes only.
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

// countWrites returns how many writes a record has, and whether it is a batch.
func countWrites(record []byte) (n int, sound bool) {
	for _, err := range Writes(record) {
		if err != nil {
			return n, false
		}
		n++
	}
	return n, true
}

// resemblesBatch reports whether a record of length bytes, which starts with head and is no sound batch, looks
// like a damaged one: its sequence number and the kind of its first write are valid, and so is the number of
// writes or the first write. A protocol buffer can look so by chance, but a batch is hardly ever one: most
// sequence numbers have zeros at their end, which start no field.
func resemblesBatch(head []byte, length int) bool {
	sequence, ok := FirstSequence(head)
	if !ok || sequence > table.MaxSequence || len(head) == batchHeaderLen || table.Kind(head[batchHeaderLen]) > table.KindSet {
		return false
	}
	if len(head) == length && isProtobuf(head) {
		return false
	}
	count := binary.LittleEndian.Uint32(head[batchHeaderLen-4:])
	_, first := decodeWrite(head[batchHeaderLen:])
	return first > 0 || count > 0 && uint64(count) <= uint64(length-batchHeaderLen)
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

// The kinds of fragments that only logs of Pebble and RocksDB have. Behind the header they have the number of
// the log, and in the newer form of Pebble an offset.
const (
	kindRecyclable, recyclableHeaderLen = 5, 11
	kindWALSync, walSyncHeaderLen       = 9, 19
	kindEnd                             = 13
)

// StartsWithPebbleFragment reports whether a valid fragment is at the start of b as Pebble writes it, and RocksDB
// if it uses the files of old logs again.
func StartsWithPebbleFragment(b []byte) bool {
	if len(b) < FragmentHeaderLen || b[6] < kindRecyclable || b[6] >= kindEnd {
		return false
	}
	header := recyclableHeaderLen
	if b[6] >= kindWALSync {
		header = walSyncHeaderLen
	}
	end := header + int(binary.LittleEndian.Uint16(b[4:]))
	return end <= min(len(b), blockSize) && binary.LittleEndian.Uint32(b) == format.MaskCRC(crc32.Checksum(b[6:end], castagnoli))
}
