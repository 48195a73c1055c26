package wal

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/crc"
)

// HasNoBatches reports whether a file of size bytes is in the format of logs, and none of its records is a
// write batch. All of it must be sound but an incomplete record at its end: of a damaged log, a part that
// is no batch is damage. A batch without writes could be anything, and does not count.
func HasNoBatches(file io.ReaderAt, size int64) (bool, error) {
	damaged, others := false, 0
	r, err := NewLogReader(file, size, func(Damage) { damaged = true })
	if err != nil {
		return false, err
	}
	for !damaged {
		record, _, err := r.Next()
		switch {
		case err == io.EOF:
			return others > 0 && !damaged, nil
		case err != nil:
			return false, err
		}
		writes, sound := countWrites(record)
		if sound && writes > 0 {
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
	return end <= min(len(b), blockSize) && binary.LittleEndian.Uint32(b) == crc.Mask(crc32.Checksum(b[6:end], castagnoli))
}
