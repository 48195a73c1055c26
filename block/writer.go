package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// DefaultRestartInterval is LevelDB's default: a restart point every 16 entries.
const DefaultRestartInterval = 16

// A Writer builds blocks, one after another. Its methods are called in this order:
//
//	(Append* Finish Reset)*
//
// A Writer must not be used concurrently.
type Writer struct {
	interval  int
	order     rowblock.Order
	unordered int // bytes at the end of each key that are not in the bytewise order
	buf       []byte
	start     int // where in buf the block starts
	restarts  []uint32
	entries   int    // in the block
	left      int    // entries until the next restart point, or finished
	shared    int    // bytes that keys share since the last restart point
	lastKey   []byte // nil before the first Append
}

// finished is the value of Writer.left between Finish and Reset.
const finished = -1

// maxShared bounds the total number of bytes that keys share between two restart points, plus the length of the last
// key. A reader has to rebuild these keys: without a bound, a few stored bytes could cost more memory and work than
// a reader accepts from any file. With LevelDB's 16 entries and 4 KiB, only a key of nearly this length reaches the
// bound.
const maxShared = 1 << 20

// NewWriter returns a Writer for blocks whose keys are in that order. It sets a restart point every interval
// entries, and earlier if the keys since the last one would share more than 1 MiB. If interval is < 1, NewWriter
// returns an error.
func NewWriter(interval int, order Order) (*Writer, error) {
	if interval < 1 {
		return nil, fmt.Errorf("block: restart interval is %d (minimum 1)", interval)
	}
	w := &Writer{interval: interval, order: rowblock.Order(order), unordered: math.MaxInt}
	if w.order.Bytewise() && !order.Unchecked {
		w.unordered = order.Suffix
	}
	return w, nil
}

// Append adds an entry. If key is <= LastKey, which can be in the previous block, the error matches ErrOrder. Append
// does not keep the slices. If the block would exceed 4 GiB (1 GiB on a 32-bit machine), or after Finish, it returns an
// error. An error leaves the block unchanged.
func (w *Writer) Append(key, value []byte) error {
	shared := format.SharedLen(w.lastKey, key)
	if !w.differsUpward(shared, key) && !w.follows(key) {
		return fmt.Errorf("block: %w: %s after %s", ErrOrder, format.Quote(key), format.Quote(w.lastKey))
	}
	if !w.hasRoom(len(key), len(value)) {
		if err := w.makeRoom(uint64(len(key)) + uint64(len(value))); err != nil {
			return err
		}
	}
	if w.left <= 0 || shared > 0 && w.shared+len(key) > maxShared {
		if w.left == finished {
			return errors.New("block: Append after Finish: call Reset first")
		}
		w.restarts = append(w.restarts, uint32(len(w.buf)-w.start))
		w.left, w.shared, shared = w.interval, 0, 0
	}
	w.left--
	w.shared += shared
	w.entries++
	w.appendEntry(shared, key, value)
	w.setLastKey(key) // last: value can be the last key
	return nil
}

// appendEntry appends an entry. The caller has made room for it.
func (w *Writer) appendEntry(shared int, key, value []byte) {
	// append would store the whole slice header w.buf each time.
	n, unshared := len(w.buf), len(key)-shared
	if len(key)|len(value) < 0x80 {
		w.buf = w.buf[:n+3]
		w.buf[n], w.buf[n+1], w.buf[n+2] = byte(shared), byte(unshared), byte(len(value))
	} else {
		w.buf = binary.AppendUvarint(w.buf, uint64(shared))
		w.buf = binary.AppendUvarint(w.buf, uint64(unshared))
		w.buf = binary.AppendUvarint(w.buf, uint64(len(value)))
	}
	n = len(w.buf)
	w.buf = w.buf[:n+unshared+len(value)]
	if unshared <= 8 && len(key) >= 8 {
		putTail(w.buf[n:n+8], key, unshared)
	} else {
		copy(w.buf[n:], key[shared:])
	}
	copy(w.buf[n+unshared:], value)
}

// putTail copies the last n <= 8 bytes of key to the start of dst. Both have at least 8 bytes. It overwrites all 8
// bytes of dst, which is faster than copying n bytes: the caller overwrites the rest later.
func putTail(dst, key []byte, n int) {
	binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(key[len(key)-8:])>>(64-8*n))
}

// maxOverhead is the maximum number of bytes that an entry takes besides its key and value: three lengths and a
// restart point. It leaves room for the 8 bytes that putTail writes, since the key has at least as many.
const maxOverhead = 3*binary.MaxVarintLen32 + 4

// hasRoom reports whether an entry fits into buf without growing it. Up to 1 GiB, the block is within the format's
// limit even with its restart points.
func (w *Writer) hasRoom(key, value int) bool {
	return key|value < 1<<29 && maxOverhead+key+value <= min(cap(w.buf), 1<<30)-len(w.buf)
}

// makeRoom makes room in buf for an entry whose key and value have size bytes together.
func (w *Writer) makeRoom(size uint64) error {
	const most = min(math.MaxUint32, math.MaxInt/2)
	if uint64(w.Size())+size > most-maxOverhead {
		return fmt.Errorf("block: entry of %d bytes after %d exceeds the maximum of %d",
			size, w.Size(), uint64(most-maxOverhead))
	}
	if need, n := int(size)+maxOverhead, len(w.buf); need > cap(w.buf)-n {
		w.buf = slices.Grow(w.buf, max(need, min(n, most-n))) // doubling: append adds a quarter
	}
	return nil
}

// differsUpward reports whether the first differing byte, at shared, proves that key is > the last key. This is the
// common case, and fast. If it is false, follows decides.
func (w *Writer) differsUpward(shared int, key []byte) bool {
	last := w.lastKey
	return shared < min(len(last), len(key))-w.unordered && last[shared] < key[shared]
}

// follows reports whether key is > the last key.
func (w *Writer) follows(key []byte) bool {
	return w.lastKey == nil || w.order.Unchecked || w.order.Compare(w.lastKey, key) < 0
}

// setLastKey copies key to lastKey, which is not nil afterwards, even if key is empty.
func (w *Writer) setLastKey(key []byte) {
	if w.lastKey == nil || len(key) > cap(w.lastKey) {
		w.lastKey = make([]byte, 0, max(len(key), 2*cap(w.lastKey)))
	}
	w.lastKey = w.lastKey[:len(key)]
	copy(w.lastKey, key)
}

// Size returns the block's size in bytes, as if Finish were called now.
func (w *Writer) Size() int {
	if w.left == finished {
		return len(w.buf) - w.start
	}
	return len(w.buf) - w.start + 4*max(len(w.restarts), 1) + 4
}

// Entries returns the number of entries in the block.
func (w *Writer) Entries() int { return w.entries }

// LastKey returns the last appended key until the next Append, or nil if there is none. Reset keeps it.
func (w *Writer) LastKey() []byte { return w.lastKey }

// Finish completes the block and returns it, appended to dst if ResetTo started it. The slice is valid until Reset or
// ResetTo, one of which must be called before the next Append.
func (w *Writer) Finish() []byte {
	if w.left == finished {
		return w.buf
	}
	if w.entries == 0 {
		w.restarts = append(w.restarts, 0)
	}
	for _, r := range w.restarts {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, r)
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(w.restarts)))
	w.left = finished
	return w.buf
}

// Reset starts a new block, in the memory of the previous one.
func (w *Writer) Reset() { w.ResetTo(w.buf[:0]) }

// ResetTo starts a new block that Finish will return appended to dst, which saves a copy. Until Finish, the caller must
// not use dst, up to its capacity.
func (w *Writer) ResetTo(dst []byte) {
	w.buf, w.start, w.restarts, w.entries, w.left = dst, len(dst), w.restarts[:0], 0, 0
}
