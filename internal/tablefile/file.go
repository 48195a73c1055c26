// Package tablefile reads the file of one table: footer, index, metaindex and data blocks, checked and decompressed,
// with a cache of data blocks. It knows neither filters nor what a user asks: package table does.
package tablefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
)

// Options say how a File is read.
type Options struct {
	Reporter      Reporter // makes the errors for damage
	Order         encoded.Order
	Codecs        []Codec // beside Snappy
	MaxBlockSize  int
	TailSize      int // how much of the end of the file Open reads at once; 0: each part by itself
	SkipChecksums bool
	Counters      *Counters // nil: nothing is counted
}

// Counters count reads of data blocks and what the Cache does.
type Counters struct {
	BlocksRead, BytesRead, CacheHits, CacheMisses, CacheEvictions *atomic.Uint64
}

// A File is the file of a table. It finds blocks by footer and index, and reads them. It is immutable once it is
// open, but for the search tree of the index.
type File struct {
	o      *Options
	src    io.ReaderAt
	slices Slicer   // src, if it hands out its bytes; else nil
	mapped *Mapping // src, if it is that; else nil
	closed *atomic.Bool

	Footer       Footer
	FooterErr    error  // damage that no lookup depends on
	FooterOffset uint64 // all blocks end before it
	Index        *Index // nil until it is read

	cached     []atomic.Pointer[decoded.Cached] // those of cachedFile; nil if there is no cache
	cachedFile *cachedFile
	cache      *Cache
}

// Init opens the file of the first size bytes of r, and reads the footer. When closed is set, reads return ErrClosed.
// If TailSize is set, the File has the end of the file in memory until DropTail.
func (f *File) Init(r io.ReaderAt, size int64, o *Options, closed *atomic.Bool) error {
	f.o, f.closed = o, closed
	if r == nil {
		return errors.New("table: the io.ReaderAt is nil")
	}
	if size < 0 {
		return fmt.Errorf("table: size is %d, want 0 or more", size)
	}
	if size < format.FooterLen {
		return f.Corrupt(FooterBlock, Handle{0, uint64(size)}, "file of %d bytes, want at least %d", size, format.FooterLen)
	}
	f.FooterOffset = uint64(size) - format.FooterLen
	if f.slices, _ = r.(Slicer); f.slices != nil {
		f.src = r
		f.mapped, _ = r.(*Mapping)
	} else if f.src = r; o.TailSize > 0 {
		if n := min(int64(o.TailSize), size, MaxReadSize); alloc.CheckLarge(uint64(n)) == nil { // else its blocks are read one by one
			f.src = readTail(r, size, make([]byte, n))
		}
	}
	return f.readFooter()
}

// readFooter reads the footer.
func (f *File) readFooter() error {
	var buf [format.FooterLen]byte
	if err := f.readAt(FooterBlock, buf[:], f.FooterOffset); err != nil {
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
	if len(bytes.TrimLeft(padding, "\x00")) > 0 {
		f.FooterErr = f.Corrupt(FooterBlock, f.FooterHandle(), "padding %x, want zeros: nothing else is wrong, and the table is read", padding)
	}
	return nil
}

// FooterHandle returns where the footer is.
func (f *File) FooterHandle() Handle { return Handle{f.FooterOffset, format.FooterLen} }

// DropTail frees the end of the file that Init has read. src is the source.
func (f *File) DropTail(src io.ReaderAt) { f.src = src }

// HandsOut reports whether the source hands out its bytes.
func (f *File) HandsOut() bool { return f.slices != nil }

// IsMapped reports whether the file is mapped into memory: what reads that runs in Guard.
func (f *File) IsMapped() bool { return f.mapped != nil }

// IsClosed reports whether reads return ErrClosed.
func (f *File) IsClosed() bool { return f.closed.Load() }

// Order returns the order of keys.
func (f *File) Order() *encoded.Order { return &f.o.Order }

// Clone returns a File that is read by itself, without the cache. It shares the index.
func (f *File) Clone() *File {
	c := *f
	c.cached, c.cachedFile, c.cache = nil, nil, nil
	return &c
}

// Memory returns how many bytes of memory the index takes, and what finds blocks in the cache.
func (f *File) Memory() int64 {
	x := f.Index
	size := int64(unsafe.Sizeof(*x)) + int64(len(f.cached))*int64(unsafe.Sizeof(f.cached[0]))
	if !x.inSource {
		size += int64(cap(x.stored.Entries)) + int64(cap(x.stored.Restarts))
	}
	if t := x.tree.Load(); t != nil {
		size += int64(t.memory())
	}
	return size
}

// InitBroken sets f to a file without blocks.
func (f *File) InitBroken(closed *atomic.Bool) {
	f.o, f.closed = new(Options), closed
	f.DropIndex()
}
