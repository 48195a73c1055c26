package block

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
)

// DefaultRestartInterval is LevelDB's: a restart point every 16 entries.
const DefaultRestartInterval = 16

// A Writer builds a block:
//
//	(Append* Finish Reset)*
//
// It serves one goroutine at a time.
type Writer struct {
	interval int
	buf      []byte
	start    int // where in buf the block starts
	restarts []uint32
	entries  int
	left     int // entries until the next restart point
	shared   int // bytes that keys have shared since the last one
	lastKey  []byte
}

// maxShared bounds how many bytes the keys from one restart point to the next share,
// together with the length of the last one. A reader puts such keys together: few bytes
// of a block could otherwise stand for more memory and work than a reader may take on
// the word of a file. LevelDB's defaults of 16 entries and 4 KiB reach it only with
// a key of nearly this length.
const maxShared = 1 << 20

// NewWriter returns a Writer with an empty block that gets a restart point
// every interval entries, and earlier where keys since the last one would share more
// than 1 MiB. An interval below 1 is an error.
func NewWriter(interval int) (*Writer, error) {
	if interval < 1 {
		return nil, fmt.Errorf("block: restart interval is %d, want at least 1", interval)
	}
	return &Writer{interval: interval}, nil
}

// Append adds an entry. Keys must strictly increase in the order that the block
// will be opened with; Append does not check that. Neither slice is kept.
// It is an error, and adds nothing, if the block would exceed the format's
// 4 GiB.
func (w *Writer) Append(key, value []byte) error {
	return w.AppendSharing(wire.SharedLen(w.lastKey, key), key, value)
}

// AppendSharing does what Append does with a key of which it is known how many
// bytes it shares with LastKey.
func (w *Writer) AppendSharing(shared int, key, value []byte) error {
	if uint64(w.Size())+uint64(len(key))+uint64(len(value)) > math.MaxUint32-64 {
		return fmt.Errorf("block: entry of %d bytes on %d exceeds 4 GiB", len(key)+len(value), w.Size())
	}
	if w.left == 0 || shared > 0 && w.shared+len(key) > maxShared {
		w.restarts = append(w.restarts, uint32(len(w.buf)-w.start))
		w.left, w.shared, shared = w.interval, 0, 0
	}
	w.left--
	w.shared += shared
	w.appendEntry(shared, key[shared:], value)
	w.lastKey = append(w.lastKey[:0], key...)
	w.entries++
	return nil
}

func (w *Writer) appendEntry(shared int, unshared, value []byte) {
	n := len(w.buf)
	if room := 3*binary.MaxVarintLen64 + len(unshared) + len(value); room > cap(w.buf)-n {
		w.buf = slices.Grow(w.buf, max(room, n)) // doubling: append would grow by a quarter
	}
	var buf []byte
	if shared|len(unshared)|len(value) < 0x80 {
		buf = w.buf[:n+3]
		buf[n], buf[n+1], buf[n+2] = byte(shared), byte(len(unshared)), byte(len(value))
	} else {
		buf = binary.AppendUvarint(w.buf, uint64(shared))
		buf = binary.AppendUvarint(buf, uint64(len(unshared)))
		buf = binary.AppendUvarint(buf, uint64(len(value)))
	}
	n = len(buf)
	w.buf = buf[:n+len(unshared)+len(value)]
	copy(w.buf[n:], unshared)
	copy(w.buf[n+len(unshared):], value)
}

// Size returns how many bytes the block would take if it were finished now.
func (w *Writer) Size() int {
	return len(w.buf) - w.start + 4*max(len(w.restarts), 1) + 4
}

// Entries returns how many entries the block has.
func (w *Writer) Entries() int { return w.entries }

// LastKey returns the key appended last, also after a Reset. It is valid until
// the next Append, and empty before the first.
func (w *Writer) LastKey() []byte { return w.lastKey }

// Finish completes the block and returns it, behind what ResetTo was given. It is
// valid until the Writer is Reset, which is what must follow.
func (w *Writer) Finish() []byte {
	if w.entries == 0 {
		w.restarts = append(w.restarts, 0)
	}
	for _, r := range w.restarts {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, r)
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(w.restarts)))
	return w.buf
}

// Reset starts a new block and keeps the memory of the old one.
func (w *Writer) Reset() { w.ResetTo(w.buf[:0]) }

// ResetTo starts a new block behind dst, which belongs to the Writer until
// Finish returns it with the block appended: so that a block is built where it
// is wanted.
func (w *Writer) ResetTo(dst []byte) {
	w.buf, w.start, w.restarts, w.entries, w.left = dst, len(dst), w.restarts[:0], 0, 0
}
