package tablefile

import (
	"errors"
	"fmt"
	"math"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// ReadIndex reads the index and sets f.Index. It verifies the checksum, and checks some entries. If own is set, the
// index is copied out of the source.
func (f *File) ReadIndex(own bool) error {
	h := f.Footer.Index
	s := Scratch{copies: own}
	contents, err := f.ReadInPlace(IndexBlock, h, &s)
	if err != nil {
		return err
	}
	x, err := f.newIndex(contents, &s)
	if err != nil {
		return f.Damaged(IndexBlock, h, err)
	}
	x.inSource = s.inSource
	f.Index = x
	return nil
}

// DropIndex sets f.Index to one without entries.
func (f *File) DropIndex() { f.Index = &Index{f: f} }

// newIndex returns the index stored in a block with these contents, which was read into s.
func (f *File) newIndex(contents []byte, s *Scratch) (*Index, error) {
	stored, err := format.SplitBlock(contents)
	sample := maxSample
	if err == nil && len(stored.Entries) > 0 && !isPlain(&stored) {
		// Checking all entries costs less than the conversion, during which the source's bytes may change.
		sample = math.MaxInt
		if contents, err = s.own(contents); err == nil {
			stored, err = f.plainIndex(contents)
		}
	}
	if err != nil {
		return nil, err
	}
	x := &Index{f: f, stored: stored}
	if len(stored.Entries) == 0 {
		return x, stored.CheckEmpty()
	}
	const minBlock = 1 + format.TrailerLen
	if x.N = stored.NumRestarts(); uint64(x.N) > f.FooterOffset/minBlock {
		return nil, fmt.Errorf("%d restart points, but the file has no space for more than %d data blocks", x.N, f.FooterOffset/minBlock)
	}
	return x, x.checkSome(sample)
}

// isPlain reports whether every entry is a restart point. It looks only at the first entry, since engines use one
// restart interval.
func isPlain(b *format.Block) bool {
	e, err := format.DecodeEntry(b.Entries, 0)
	return err != nil || e.End == len(b.Entries) || b.NumRestarts() > 1 && e.End >= b.Restart(1)
}

// plainIndex converts an index block with fewer restart points: it returns one in which every entry is a restart
// point. In the original a few bytes can stand for long separators, and a compressed one can have far more entries than
// the file has data blocks, so a budget bounds the size.
func (f *File) plainIndex(contents []byte) (format.Block, error) {
	w, err := block.NewWriter(1, block.Order{Unchecked: true})
	if err != nil {
		return format.Block{}, err
	}
	most := f.Allow(separatorBudget)
	err = format.Walk(contents, false, most, func(separator, stored []byte) error {
		if w.Size()+len(separator)+len(stored) > most {
			return fmt.Errorf("separators that share bytes and their handles take over %d bytes together, which is too much for a file of this size", most)
		}
		return w.Append(separator, stored)
	})
	if err != nil {
		return format.Block{}, err
	}
	return format.SplitBlock(w.Finish())
}

// maxSample is the number of entries of a plain index that are checked at first.
const maxSample = 8

// checkSome checks the form and the order of up to sample entries, including the first and the last. In most cases a
// wrong Comparer is noticed here.
func (x *Index) checkSome(sample int) error {
	c := indexChecker{x: x}
	n := min(x.N, sample)
	for k := range n {
		if err := c.check(int(uint64(k) * uint64(x.N-1) / uint64(max(n-1, 1)))); err != nil {
			return err
		}
	}
	x.dataEnd = c.handle.End()
	return nil
}

// An indexChecker checks entries of an index in ascending order.
type indexChecker struct {
	x         *Index
	separator []byte // of the last checked entry; nil if there is none
	handle    Handle

	// If text is not nil, separators are copied to it before they are compared, so that checked bytes cannot change.
	// Its capacity is the limit.
	text []byte
}

// copy appends separator to text, and returns the copy.
func (c *indexChecker) copy(separator []byte) ([]byte, error) {
	n := len(c.text)
	if len(separator) > cap(c.text)-n {
		return nil, errors.New("separators are too long together, or change while they are read")
	}
	c.text = append(c.text, separator...)
	return c.text[n:], nil
}

// check checks the form of entry i, and that its separator and data block come after those of the entry checked
// last.
func (c *indexChecker) check(i int) error {
	x := c.x
	e, h, err := x.decode(i)
	if err == nil && c.text != nil {
		e.separator, err = c.copy(e.separator)
	}
	if err != nil {
		return err
	}
	if c.separator != nil && !x.f.o.Order.Unchecked && x.f.o.Order.Compare(c.separator, e.separator) >= 0 {
		return format.NotAscending(int(x.start(i)), c.separator, e.separator)
	}
	if c.separator != nil {
		err = checkBehind(c.handle, h, e.separator)
	}
	c.separator, c.handle = e.separator, h
	return err
}

// CheckAll checks all entries, and calls visit with each.
func (x *Index) CheckAll(visit func(i int, separator []byte, h Handle)) error {
	c := indexChecker{x: x}
	for i := range x.N {
		if err := c.check(i); err != nil {
			return x.fail(err)
		}
		visit(i, c.separator, c.handle)
	}
	return nil
}
