package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// A tableFile is the file of a table. It finds blocks by footer and index, and reads them. A
// Reader is a tableFile with filters and a cache. A Layout is a tableFile only.
type tableFile struct {
	name          string // of the file, for errors; "" if Open did not open it
	src           io.ReaderAt
	codecs        []Codec
	maxBlockSize  int
	skipChecksums bool
	order         block.Order // of keys

	footer       footer
	footerErr    error  // damage that no lookup depends on
	footerOffset uint64 // where the footer starts; all blocks end before it
	index        *index

	closed *atomic.Bool // the file can be closed
}

// openEnd sets f to the file of the first size bytes of r. If TailSize is set, f then has the
// end of the file in memory. openIndex reads footer and index from that.
func (f *tableFile) openEnd(name string, r io.ReaderAt, size int64, o *ReaderOptions) error {
	if r == nil {
		return errors.New("table: the io.ReaderAt is nil")
	}
	if size < 0 {
		return fmt.Errorf("table: size is %d, want 0 or more", size)
	}
	f.name, f.order = name, BlockOrder(o.Comparer)
	f.codecs, f.maxBlockSize, f.skipChecksums = o.Codecs, o.MaxBlockSize, o.SkipChecksums
	if size < format.FooterLen {
		return f.corrupt(FooterBlock, Handle{0, uint64(size)}, "file of %d bytes, want at least %d", size, format.FooterLen)
	}
	f.src, f.footerOffset = readTail(r, size, int64(o.TailSize)), uint64(size)-format.FooterLen
	return nil
}

// openIndex reads the footer, and the index at its handle.
func (f *tableFile) openIndex() error {
	var buf [format.FooterLen]byte
	if err := f.readAt(FooterBlock, buf[:], f.footerOffset); err != nil {
		return err
	}
	var padding []byte
	var err error
	if f.footer, padding, err = decodeFooter(buf[:], f.footerOffset); err != nil {
		return f.damaged(FooterBlock, f.footerHandle(), err)
	}
	if len(bytes.TrimLeft(padding, "\x00")) > 0 {
		f.footerErr = f.corrupt(FooterBlock, f.footerHandle(), "padding %x, want zeros: nothing else is wrong, and the table is read", padding)
	}
	if f.index, err = f.readIndex(f.footer.index); err != nil {
		return err
	}
	return f.checkOverlap()
}

// footerHandle returns where the footer is.
func (f *tableFile) footerHandle() Handle { return Handle{f.footerOffset, format.FooterLen} }

// checkOverlap checks that metaindex, index and data blocks do not overlap.
func (f *tableFile) checkOverlap() error {
	meta, index := f.footer.metaindex, f.footer.index
	if index.overlaps(meta) {
		return f.corrupt(FooterBlock, f.footerHandle(), "index at %d overlaps metaindex at %d", index.Offset, meta.Offset)
	}
	for _, h := range []Handle{meta, index} {
		if d, ok := f.index.overlapping(h); ok {
			return f.corrupt(IndexBlock, index, "data block at %d overlaps the block at %d", d.Offset, h.Offset)
		}
	}
	return nil
}
