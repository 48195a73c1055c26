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
