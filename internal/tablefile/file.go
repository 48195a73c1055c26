// Package tablefile reads the file of one table: footer, index, metaindex and data blocks, checked and decompressed,
// with a cache of data blocks. It knows neither filters nor queries: package table does.
package tablefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Options are the options of a File.
type Options struct {
	Reporter      Reporter // converts Damage into errors
	Order         rowblock.Order
	Codecs        map[byte]Codec // by the compression id of a block
	MaxBlockSize  int
	TailSize      int // how much of the file's tail Init reads at once; 0: each part is read separately
	SkipChecksums bool
	Counters      *Counters // nil: nothing is counted
}

// Counters count reads, and the hits, misses and evictions of the Cache.
type Counters struct {
	BlocksRead, BytesRead, PagesRead, CacheHits, CacheMisses, CacheEvictions *atomic.Uint64
}

// A File is a table's file. It locates blocks by the footer and the index, and reads them. An open File is
// immutable, except for the index's search tree.
type File struct {
	o      *Options
	src    io.ReaderAt
	slices Slicer       // src if it is a Slicer; else nil
	Mapped *Mapping     // src if it is a Mapping, whose readers run in Guard; else nil
	Closed *atomic.Bool // reads return ErrClosed
	tail   *Ahead       // the file's tail, until DropTail; nil if it is not in memory

	Footer       Footer
	FooterErr    error  // corruption that affects no lookup
	FooterOffset uint64 // all blocks end before it
	Index        *Index // nil until it is read
	Pages        *Pages // nil unless the table filter is read page by page

	KeyBudget int // bytes that an operation may allocate for data block keys that share bytes

	cached     []atomic.Pointer[rowblock.Cached] // the blocks of cachedFile; nil if there is no cache
	cachedFile *cachedFile
	cache      *Cache
}

// Init opens the table in the first size bytes of r, and reads the footer. Once closed is set, reads return
// ErrClosed. If TailSize is set, the File keeps the file's tail in memory until DropTail.
func (f *File) Init(r io.ReaderAt, size int64, o *Options, closed *atomic.Bool) error {
	f.o, f.Closed = o, closed
	if r == nil {
		return errors.New("table: the io.ReaderAt is nil")
	}
	if size < 0 {
		return fmt.Errorf("table: size is %d (minimum 0)", size)
	}
	if size < format.FooterLen {
		return f.Corrupt(FooterBlock, Handle{0, uint64(size)}, "file of %d bytes (minimum %d)", size, format.FooterLen)
	}
	f.FooterOffset = uint64(size) - format.FooterLen
	f.KeyBudget = f.Allow(dataKeyBudget)
	f.src = r
	if f.slices, _ = r.(Slicer); f.slices != nil {
		f.Mapped, _ = r.(*Mapping)
	} else if o.TailSize > 0 {
		f.tail = tailPool.Get().(*Ahead)
		n := min(int64(o.TailSize), size, MaxReadSize)
		_ = f.tail.Fill(noContext, f, FooterBlock, uint64(size-n), uint64(size)) // if it fails, an error names the part that cannot be read
	}
	return f.readFooter()
}

// readFooter reads the footer.
func (f *File) readFooter() error {
	var buf [format.FooterLen]byte
	if err := f.read(noContext, FooterBlock, buf[:], f.FooterOffset); err != nil {
		return err
	}
	footer, padding, err := decodeFooter(buf[:], f.FooterOffset)
	if err != nil {
		return f.Damaged(FooterBlock, f.FooterHandle(), err)
	}
	f.Footer = footer
	if meta, index := footer.Metaindex, footer.Index; index.Overlaps(meta) {
		return f.Corrupt(FooterBlock, f.FooterHandle(), "index at %d overlaps metaindex at %d", index.Offset, meta.Offset)
	}
	if zeros := [format.FooterLen]byte{}; !bytes.Equal(padding, zeros[:len(padding)]) {
		f.FooterErr = f.Corrupt(FooterBlock, f.FooterHandle(), "padding is %x, not zeros: %w", padding, format.ErrPadding)
	}
	return nil
}

// FooterHandle returns the footer's handle.
func (f *File) FooterHandle() Handle { return Handle{f.FooterOffset, format.FooterLen} }

// tailPool has the memory for tails.
var tailPool = sync.Pool{New: func() any { return new(Ahead) }}

// DropTail frees the file's tail, which Init read.
func (f *File) DropTail() {
	if f.tail != nil && cap(f.tail.bytes) <= maxPooledBlock {
		tailPool.Put(f.tail)
	}
	f.tail = nil
}

// HandsOut reports whether the source is a Slicer.
func (f *File) HandsOut() bool { return f.slices != nil }

// Order returns the order of keys.
func (f *File) Order() *rowblock.Order { return &f.o.Order }

// Clone returns a File without a cache that can be read independently. It shares the index.
func (f *File) Clone() File {
	c := *f
	c.cached, c.cachedFile, c.cache = nil, nil, nil
	return c
}

// Memory returns the memory use of the index and of the table of cached blocks, in bytes.
func (f *File) Memory() int64 {
	x := f.Index
	size := int64(unsafe.Sizeof(*x)) + int64(len(f.cached))*slotSize
	if !x.inSource {
		size += int64(cap(x.stored.Entries)) + int64(cap(x.stored.Restarts))
	}
	if t := x.tree.Load(); t != nil {
		size += int64(t.memory())
	}
	return size
}

// InitBroken makes f a file without blocks.
func (f *File) InitBroken(closed *atomic.Bool) {
	f.o, f.Closed = new(Options), closed
	f.DropIndex()
}

// A Handle is a block's location in the file. Index entries, metaindex entries and the footer store it as two
// uvarints: offset, then length.
type Handle struct {
	Offset uint64 // in bytes from the start of the file
	Length uint64 // stored length in bytes, without the 5-byte trailer
}

// End returns the offset of the end of the block's trailer.
func (h Handle) End() uint64 { return h.Offset + h.Length + format.TrailerLen }

// Overlaps reports whether the two blocks share bytes of the file.
func (h Handle) Overlaps(g Handle) bool { return h.Offset < g.End() && g.Offset < h.End() }

// Append appends the stored form of h to dst.
func (h Handle) Append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, h.Offset), h.Length)
}

// DecodeHandle decodes the handle at the start of b, and returns it and its length. The block and its trailer must
// end by limit. In an index or a metaindex, more bytes may follow: LevelDB's reader ignores them, to allow
// extensions of the format.
func DecodeHandle(b []byte, limit uint64) (Handle, int, error) {
	offset, n := format.Uvarint(b)
	length, m := format.Uvarint(b[n:])
	if n == 0 || m == 0 {
		return Handle{}, 0, fmt.Errorf("handle %x is not two minimal varints", b[:min(len(b), 2*binary.MaxVarintLen64)])
	}
	if length == 0 {
		return Handle{}, 0, fmt.Errorf("handle of 0 bytes at %d", offset)
	}
	if offset > limit || length > limit-offset || limit-offset-length < format.TrailerLen {
		return Handle{}, 0, fmt.Errorf("handle of %d bytes at %d is not within the %d bytes before the footer", length, offset, limit)
	}
	return Handle{offset, length}, n + m, nil
}

// A Footer is the decoded footer, which ends the file.
type Footer struct{ Metaindex, Index Handle }

// checkData checks that a data block at h does not overlap the metaindex or the index.
func (f Footer) checkData(h Handle) error {
	for _, other := range []Handle{f.Metaindex, f.Index} {
		if h.Overlaps(other) {
			return fmt.Errorf("data block at %d overlaps the block at %d", h.Offset, other.Offset)
		}
	}
	return nil
}

// Append appends the 48 bytes of the footer to dst.
func (f Footer) Append(dst []byte) []byte {
	start := len(dst)
	dst = f.Index.Append(f.Metaindex.Append(dst))
	dst = append(dst, make([]byte, start+format.FooterLen-8-len(dst))...)
	return binary.LittleEndian.AppendUint64(dst, format.Magic)
}

// decodeFooter decodes b, the 48 bytes at offset at. The metaindex and the index must end by at. It also returns the
// padding between the handles and the magic number, which engines write as zeros and do not read.
func decodeFooter(b []byte, at uint64) (f Footer, padding []byte, err error) {
	if m := binary.LittleEndian.Uint64(b[format.FooterLen-8:]); m != format.Magic {
		return f, nil, fmt.Errorf("magic number is 0x%016x, not 0x%016x: not a LevelDB table, or truncated", m, uint64(format.Magic))
	}
	rest := b[:format.FooterLen-8]
	for _, h := range []*Handle{&f.Metaindex, &f.Index} {
		var n int
		if *h, n, err = DecodeHandle(rest, at); err != nil {
			return f, nil, err
		}
		rest = rest[n:]
	}
	return f, rest, nil
}

// A Budget bounds the memory that one operation may use for keys and messages: Fixed bytes, plus PerByte bytes for
// each byte of the file.
//
// A stored and decompressed block together take at most 1 + maxSnappyGain times the block's size in the file, since
// ReadStored and Snappy.Decode allocate no more than they need. A rowblock.Decoded takes at most 3 MiB, including
// outgrown memory. In total that is < 64 MiB plus 32 times the file size.
type Budget struct{ Fixed, PerByte uint64 }

// A key that shares bytes with the key before has to be rebuilt in memory. It can be as long as its decompressed
// block.
var (
	dataKeyBudget   = Budget{55 << 20, 3} // for an Iter, a lookup or Verify
	separatorBudget = Budget{1 << 20, 1}  // for an index whose separators share bytes
)

// Allow returns the budget in bytes for this file.
func (f *File) Allow(b Budget) int {
	return int(min(b.Fixed+b.PerByte*min(f.FooterOffset, math.MaxInt64/8), math.MaxInt))
}
