// Package progress shows on a terminal how far a command is, and nothing elsewhere.
package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Bar shows how much of some work is done, at what rate, and how long the rest takes.
// It is safe for concurrent use. A nil one shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// Bytes returns a Bar of bytes on w, if that is a terminal. A total of -1 is unknown.
func Bytes(w io.Writer, total int64, what string) *Bar {
	return newBar(w, total, what, progressbar.OptionShowBytes(true))
}

// Count returns a Bar of things that are counted, such as entries.
func Count(w io.Writer, total int64, what, unit string) *Bar {
	return newBar(w, total, what, progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit))
}

func newBar(w io.Writer, total int64, what string, o progressbar.Option, more ...progressbar.Option) *Bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	options := append(more, o,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)
	return &Bar{progressbar.NewOptions64(total, options...)}
}

// Add says that n more are done.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.bar.Add64(n) // which fails where the terminal does, and that is no failure of the work
	}
}

// Done removes the Bar.
func (b *Bar) Done() {
	if b != nil {
		b.bar.Finish()
	}
}

// Reader returns r, counting what is read.
func (b *Bar) Reader(r io.Reader) io.Reader {
	if b == nil {
		return r
	}
	return reader{r, b}
}

type reader struct {
	io.Reader
	bar *Bar
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bar.Add(int64(n))
	return n, err
}

// ReaderAt returns r, counting what is read.
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
