package progress

import "io"

// Reader returns a reader of r that adds the bytes read to the Bar.
func (b *Bar) Reader(r io.Reader) io.Reader { return io.TeeReader(r, b) }

// Write adds the bytes of p.
func (b *Bar) Write(p []byte) (int, error) {
	b.Add(int64(len(p)))
	return len(p), nil
}

// ReaderAt is like Reader for an io.ReaderAt.
func (b *Bar) ReaderAt(r io.ReaderAt) io.ReaderAt {
	if b == nil {
		return r
	}
	return readerAt{r, b}
}

type readerAt struct {
	io.ReaderAt
	bar *Bar
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bar.Add(int64(n))
	return n, err
}

// A Part is the share of the work for one file. It adds exactly the planned amount, however much of the file is
// read.
type Part struct {
	add  func(int64) // of the Bar
	left int64
}

// NewPart returns a Part of this much work. It calls add to add to the Bar.
func NewPart(add func(n int64), work int64) *Part { return &Part{add, work} }

// Add adds n to the work done, but no more than the amount left.
func (p *Part) Add(n int64) {
	n = min(n, p.left)
	p.left -= n
	p.add(n)
}

// Done adds the amount left.
func (p *Part) Done() { p.Add(p.left) }
