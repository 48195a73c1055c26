package wal

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
)

// protobuf returns a record like those of exports: fields of protocol buffers, of about size bytes.
func protobuf(rng *rand.Rand, size int) []byte {
	var b []byte
	for len(b) < size {
		field := uint64(1 + rng.IntN(40))
		switch rng.IntN(3) {
		case 0: // a number
			b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3), rng.Uint64()>>rng.IntN(64))
		case 1: // 8 bytes
			b = binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, field<<3|1), rng.Uint64()>>rng.IntN(64))
		default: // text, or fields in a field
			text := make([]byte, rng.IntN(1+min(size, 1<<rng.IntN(18))))
			for i := range text {
				text[i] = byte(rng.IntN(1 << (1 + rng.IntN(8))))
			}
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, field<<3|2), uint64(len(text))), text...)
		}
	}
	return b
}

// randomSize returns a record size: small, or large enough to cross into other blocks.
func randomSize(rng *rand.Rand) int { return rng.IntN(1 << (1 + rng.IntN(17))) }

// randomBatch returns a batch that begins with a sequence number, and the number of its writes.
func randomBatch(rng *rand.Rand, sequence uint64) (string, int) {
	var b []byte
	n := 1 + rng.IntN(4)
	for range n {
		key, value := make([]byte, rng.IntN(20)), make([]byte, randomSize(rng))
		kind := byte(rng.IntN(2))
		if b = append(binary.AppendUvarint(append(b, kind), uint64(len(key))), key...); kind == 1 {
			b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
		}
	}
	return batch(sequence, uint32(n), string(b)), n
}

func hasNoBatches(t *testing.T, file []byte) bool {
	t.Helper()
	none, err := HasNoBatches(bytes.NewReader(file), int64(len(file)))
	noError(t, err)
	return none
}

// HasNoBatches is true for a file without batches, even if it ends within a record or in zeros. It is false if there
// is one batch, or damage.
func TestHasNoBatches(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Rounds(150, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var records [][]byte
		for range 2 + rng.IntN(30) {
			records = append(records, protobuf(rng, randomSize(rng)))
		}
		file := logOf(t, records...)
		if !hasNoBatches(t, file) || !hasNoBatches(t, append(slices.Clone(file), make([]byte, rng.IntN(70_000))...)) {
			t.Errorf("seed %d: a file of %d records is not found to have no batches", seed, len(records))
		}
		first := FragmentHeaderLen + len(records[0]) // end of the first record, unless it continues in another block
		if n := first + rng.IntN(len(file)-first+1); first < blockSize && !hasNoBatches(t, file[:n]) {
			t.Errorf("seed %d: the first %d bytes of %d are not found to have no batches", seed, n, len(file))
		}
		at := rng.IntN(len(file))
		changed := slices.Clone(file)
		changed[at] ^= byte(1 + rng.IntN(255))
		if hasNoBatches(t, changed) && at < len(file)-len(records[len(records)-1])-50 {
			t.Errorf("seed %d: a change at %d of %d is not noticed", seed, at, len(file))
		}
		one, _ := randomBatch(rng, 1+rng.Uint64N(1<<40))
		if mixed := slices.Insert(records, rng.IntN(len(records)+1), []byte(one)); hasNoBatches(t, logOf(t, mixed...)) {
			t.Errorf("seed %d: a file with a batch is found to have none", seed)
		}
	}
	for _, file := range [][]byte{nil, make([]byte, 100_000), logOf(t, []byte(batch(1, 0, "")))} {
		if hasNoBatches(t, file) {
			t.Errorf("a file of %d bytes without records is found to have no batches", len(file))
		}
	}
}

// However a log is damaged, HasNoBatches is false.
func TestDamagedLogHasBatches(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Rounds(150, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var records [][]byte
		for sequence := uint64(1 + rng.IntN(1000)); len(records) < 1+rng.IntN(20); {
			b, n := randomBatch(rng, sequence)
			records, sequence = append(records, []byte(b)), sequence+uint64(n)
		}
		sound := logOf(t, records...)
		for range 40 {
			file := damagedFile(rng, slices.Clone(sound))
			if hasNoBatches(t, file) {
				t.Errorf("seed %d: a damaged log of %d bytes is found to have no batches", seed, len(file))
			}
		}
	}
}

// HasNoBatches is false for a log of damaged batches, each with a valid checksum.
func TestLogOfDamagedBatchesHasBatches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Rounds(150, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var records [][]byte
		for sequence := 1 + rng.Uint64N(1<<rng.IntN(40)); len(records) < 1+rng.IntN(20); {
			b, n := randomBatch(rng, sequence)
			records, sequence = append(records, damagedBatch(rng, []byte(b), n)), sequence+uint64(n)
		}
		if hasNoBatches(t, logOf(t, records...)) {
			t.Errorf("seed %d: a log of %d damaged batches is found to have no batches", seed, len(records))
		}
	}
}

// damagedBatch changes the count of a batch of n writes, or cuts its end.
func damagedBatch(rng *rand.Rand, b []byte, n int) []byte {
	switch rng.IntN(4) {
	case 0:
		return b[:batchHeaderLen+n+rng.IntN(len(b)-batchHeaderLen-n)] // a write has ≥ 2 bytes
	case 1:
		return b[:len(b)-1]
	case 2:
		binary.LittleEndian.PutUint32(b[8:], uint32(rng.IntN(n)))
	default:
		binary.LittleEndian.PutUint32(b[8:], rng.Uint32())
	}
	return b
}

func TestResemblesBatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, head string
		more       int // bytes of the record after its head
		want       bool
	}{
		{"a wrong count", batch(1, 5, "\x01\x01k\x01v"), 0, true},
		{"a count of 0", batch(1, 0, "\x01\x01k\x01v"), 0, true},
		{"a count of too many", batch(1, 1<<31, "\x00\x01k"), 0, true},
		{"a cut write", batch(1, 1, "\x01\x01"), 0, true},
		{"a cut write, and a count of too many", batch(1, 9, "\x01\x01"), 0, false},
		{"the highest sequence number", batch(1<<56-1, 9, "\x01\x01k\x01v"), 0, true},
		{"a sequence number that is too high", batch(1<<56, 9, "\x01\x01k\x01v"), 0, false},
		{"a kind of RocksDB", batch(1, 1, "\x05\x01\x01k\x01v"), 0, false},
		{"a header alone", batch(1, 1, ""), 0, false},
		{"less than a header", batch(1, 1, "")[:11], 0, false},
		{"a protocol buffer of zeros", "\x0a\x0d" + string(make([]byte, 13)), 0, false},
		{"a long batch", batch(1, 1000, "\x01\x01k\xff\xff\x7f"), 2 << 20, true},
		{"a long batch whose number is like the start of a field", batch(0x7f_ff_ff_0a, 1000, "\x01\x01k\xff\xff\x7f"), 2 << 20, true},
		{"a long text", "\x0a\xff\xff\x7fa text that goes on", 2 << 20, false},
	} {
		if got := resemblesBatch([]byte(tt.head), len(tt.head)+tt.more); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// damagedFile changes bytes, overwrites a range with zeros or with other parts, or truncates the file.
func damagedFile(rng *rand.Rand, file []byte) []byte {
	at := rng.IntN(len(file))
	to := min(len(file), at+1+rng.IntN(1<<rng.IntN(17)))
	switch rng.IntN(6) {
	case 0:
		return file[:at]
	case 1:
		return file[at:]
	case 2:
		clear(file[at:to])
	case 3:
		clear(file[at/4096*4096:])
	case 4:
		copy(file[at:to], file[rng.IntN(len(file)):])
	default:
		for i := at; i < to; i++ {
			file[i] ^= byte(rng.Uint32())
		}
	}
	return file
}

// Pebble's fragments are distinguished from LevelDB's and from anything else.
func TestStartsWithPebbleFragment(t *testing.T) {
	t.Parallel()
	for kind := range byte(16) {
		header := 7
		switch {
		case kind >= kindWALSync:
			header = walSyncHeaderLen
		case kind >= kindRecyclable:
			header = recyclableHeaderLen
		}
		b := append(make([]byte, header), "a batch"...)
		b[4], b[6] = 7, kind
		binary.LittleEndian.PutUint32(b, format.CRC(b[6:]))
		want := kind >= 5 && kind <= 12
		if got := StartsWithPebbleFragment(append(b, "more"...)); got != want {
			t.Errorf("a fragment of kind %d: %v, want %v", kind, got, want)
		}
		for i := range b {
			changed := slices.Clone(b)
			changed[i]++
			if StartsWithPebbleFragment(changed) || StartsWithPebbleFragment(b[:i]) {
				t.Errorf("kind %d: with another byte %d, or cut there, it is one", kind, i)
			}
		}
	}
}
