// Package progress shows the progress of a command on a terminal, and nothing elsewhere.
package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Bar shows how much work is done, at what rate, and how long the rest will take. It is
// safe for concurrent use. A nil *Bar shows nothing.
type Bar struct{ bar *progressbar.ProgressBar }

// Bytes returns a Bar that counts bytes on w, or nil if w is no terminal. A total of -1 is
// unknown.
func Bytes(w io.Writer, total int64, what string) *Bar {
	return newBar(w, total, what, progressbar.OptionShowBytes(true))
}

// Count returns a Bar that counts things such as entries.
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

// Add adds n to the work that is done.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.bar.Add64(n) // an error of the terminal is no error of the work
	}
}

// Done removes the Bar.
func (b *Bar) Done() {
	if b != nil {
		b.bar.Finish()
	}
}

// Reader returns a reader of r that adds the bytes read.
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

// ReaderAt returns a reader of r that adds the bytes read.
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
